/* SPDX-License-Identifier: MIT */
/* The pre_tokenizer of tokenizer.json: its steps up to ByteLevel, which must be the last. */
#include "hf.h"

#include <string.h>

/* The pattern that ByteLevel(use_regex) applies first: GPT-2's. */
static const char gpt2_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static const char *const later_pre_tokenizers[] = {
    "BertPreTokenizer", "CharDelimiterSplit", "Delimiter",   "Metaspace", "Whitespace",
    "WhitespaceSplit",  "UnicodeScripts",     "FixedLength", NULL};

static dstok_status add_step(dstok__hf *h, dstok__step step, size_t at) {
    dstok__spec *s = h->r.s;
    if (s->n_steps == DSTOK__MAX_STEPS)
        return dstok__json_fail(&h->doc, DSTOK_E_LIMIT, at, h->r.err, "more than %d pre_tokenizer steps",
                                DSTOK__MAX_STEPS);
    s->steps[s->n_steps++] = step;
    return DSTOK_OK;
}

static dstok_status read_behavior(dstok__hf *h, size_t owner, size_t at, dstok__behavior *behavior) {
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                                        "Contiguous"};
    const char *text;
    size_t n;
    dstok__quoted q;
    DSTOK_TRY(dstok__read_string(&h->r, owner, at, "\"behavior\"", &text, &n));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!dstok__text_is(text, n, names[i])) continue;
        *behavior = (dstok__behavior)i;
        return DSTOK_OK;
    }
    return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                            "not supported: behavior \"%s\" is unknown", DSTOK__QUOTE(text, n, q));
}

/* {"Regex": "..."} or {"String": "..."}. */
static dstok_status read_pattern(dstok__hf *h, size_t owner, size_t at, dstok__step *step) {
    dstok__field f[] = {{"Regex", 0}, {"String", 0}};
    const char *text;
    if (at == 0) return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, owner, h->r.err, "\"pattern\" is missing");
    DSTOK_TRY(dstok__read_fields(&h->r, at, "\"pattern\"", f, 2));
    if ((f[0].at == 0) == (f[1].at == 0))
        return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err,
                                "\"pattern\" must hold either \"Regex\" or \"String\"");
    step->kind = f[0].at != 0 ? DSTOK__STEP_REGEX : DSTOK__STEP_LITERAL;
    DSTOK_TRY(dstok__read_string(&h->r, at, f[0].at + f[1].at, "the pattern", &text, &step->n));
    if (step->n == 0)
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                "not supported: an empty pattern");
    return dstok__spec_copy(h->r.s, text, step->n, &step->pattern, h->r.err);
}

static dstok_status add_split(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"pattern", 0}, {"behavior", 0}, {"invert", 0}};
    dstok__step step = {.dialect = DSTOK__DIALECT_ONIG};
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Split", f, 3));
    DSTOK_TRY(read_pattern(h, at, f[0].at, &step));
    DSTOK_TRY(read_behavior(h, at, f[1].at, &step.behavior));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[2].at, "\"invert\"", &step.invert));
    return add_step(h, step, at);
}

static dstok_status add_digits(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"individual_digits", 0}};
    bool individual;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Digits", f, 1));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[0].at, "\"individual_digits\"", &individual));
    dstok__step step = {.kind = DSTOK__STEP_DIGITS,
                        .behavior = individual ? DSTOK__ISOLATED : DSTOK__CONTIGUOUS};
    return add_step(h, step, at);
}

static dstok_status add_punctuation(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"behavior", 0}};
    dstok__step step = {.kind = DSTOK__STEP_PUNCTUATION, .behavior = DSTOK__ISOLATED};
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Punctuation", f, 1));
    if (f[0].at != 0) DSTOK_TRY(read_behavior(h, at, f[0].at, &step.behavior));
    return add_step(h, step, at);
}

static dstok_status add_byte_level(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"add_prefix_space", 0}, {"use_regex", 0}};
    dstok__spec *s = h->r.s;
    bool use_regex = true;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "ByteLevel", f, 2));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[0].at, "\"add_prefix_space\"", &s->prefix_space));
    if (f[1].at != 0) DSTOK_TRY(dstok__read_bool(&h->r, at, f[1].at, "\"use_regex\"", &use_regex));
    if (s->prefix_space && s->n_steps > 0)
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                "not supported yet: ByteLevel with add_prefix_space behind other steps");
    h->byte_level = true;
    if (!use_regex) return DSTOK_OK;
    dstok__step step = {.kind = DSTOK__STEP_REGEX,
                        .behavior = DSTOK__ISOLATED,
                        .dialect = DSTOK__DIALECT_ONIG,
                        .n = sizeof gpt2_pattern - 1};
    DSTOK_TRY(dstok__spec_copy(s, gpt2_pattern, step.n, &step.pattern, h->r.err));
    return add_step(h, step, at);
}

static dstok_status add_part(dstok__hf *h, const char *type, size_t at) {
    static const struct {
        const char *type;
        dstok_status (*add)(dstok__hf *h, size_t at);
    } kinds[] = {{"Split", add_split},
                 {"Digits", add_digits},
                 {"Punctuation", add_punctuation},
                 {"ByteLevel", add_byte_level}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].type) != 0) continue;
        /* Steps behind ByteLevel see its characters, not the text's. */
        if (h->byte_level)
            return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                    "not supported yet: pre_tokenizer \"%s\" behind ByteLevel", type);
        return kinds[i].add(h, at);
    }
    return dstok__hf_unsupported(h, at, "pre_tokenizer", type, later_pre_tokenizers);
}

dstok_status dstok__hf_pre_tokenizer(dstok__hf *h, size_t at) {
    DSTOK_TRY(dstok__hf_parts(h, at, "pre_tokenizer", "pretokenizers", add_part));
    if (h->byte_level) return DSTOK_OK;
    size_t place = at != 0 ? at : h->doc.root;
    if (h->byte_fallback)
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, place, h->r.err,
                                "not supported yet: byte_fallback");
    return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, place, h->r.err,
                            "not supported yet: a pre_tokenizer without ByteLevel");
}
