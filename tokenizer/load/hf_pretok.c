/* SPDX-License-Identifier: MIT */
/* The pre_tokenizer of tokenizer.json. */
#include "hf.h"

#include <string.h>

/* The pattern that ByteLevel(use_regex) applies first: GPT-2's. */
static const char gpt2_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

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

static dstok_status add_split(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"pattern", 0}, {"behavior", 0}, {"invert", 0}};
    dstok__step step = {.dialect = DSTOK__DIALECT_ONIG};
    bool is_regex;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Split", f, 3));
    DSTOK_TRY(dstok__hf_pattern(h, at, f[0].at, &is_regex, &step.pattern, &step.n));
    step.kind = is_regex ? DSTOK__STEP_REGEX : DSTOK__STEP_LITERAL;
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
    bool prefix, use_regex = true;
    if (h->byte_level)
        return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                "not supported: a second ByteLevel in pre_tokenizer");
    DSTOK_TRY(dstok__read_fields(&h->r, at, "ByteLevel", f, 2));
    DSTOK_TRY(dstok__read_bool(&h->r, at, f[0].at, "\"add_prefix_space\"", &prefix));
    if (f[1].at != 0) DSTOK_TRY(dstok__read_bool(&h->r, at, f[1].at, "\"use_regex\"", &use_regex));
    if (prefix) DSTOK_TRY(add_step(h, (dstok__step){.kind = DSTOK__STEP_PREFIX}, at));
    h->byte_level = true;
    if (!use_regex) return DSTOK_OK;
    dstok__step step = {.kind = DSTOK__STEP_REGEX,
                        .behavior = DSTOK__ISOLATED,
                        .dialect = DSTOK__DIALECT_ONIG,
                        .n = sizeof gpt2_pattern - 1};
    DSTOK_TRY(dstok__spec_copy(h->r.s, gpt2_pattern, step.n, &step.pattern, h->r.err));
    return add_step(h, step, at);
}

/* ---- Metaspace ---- */

static dstok_status read_scheme(dstok__hf *h, size_t owner, size_t at, dstok__prepend *prepend) {
    static const char *const names[] = {"never", "first", "always"};
    const char *text;
    size_t n;
    dstok__quoted q;
    *prepend = DSTOK__PREPEND_ALWAYS;
    if (at == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__read_string(&h->r, owner, at, "\"prepend_scheme\"", &text, &n));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!dstok__text_is(text, n, names[i])) continue;
        *prepend = (dstok__prepend)i;
        return DSTOK_OK;
    }
    return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err, "prepend_scheme \"%s\" is unknown",
                            DSTOK__QUOTE(text, n, q));
}

dstok_status dstok__hf_metaspace(dstok__hf *h, size_t at, dstok__prepend *prepend, bool *split) {
    dstok__field f[] = {{"prepend_scheme", 0}, {"add_prefix_space", 0}, {"split", 0}, {"str_rep", 0}};
    bool prefix = true;
    const char *unused;
    size_t unused_n;
    *split = true;
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Metaspace", f, 4));
    if (f[3].at != 0) DSTOK_TRY(dstok__read_string(&h->r, at, f[3].at, "\"str_rep\"", &unused, &unused_n));
    DSTOK_TRY(read_scheme(h, at, f[0].at, prepend));
    if (f[1].at != 0) DSTOK_TRY(dstok__read_bool(&h->r, at, f[1].at, "\"add_prefix_space\"", &prefix));
    if (f[2].at != 0) DSTOK_TRY(dstok__read_bool(&h->r, at, f[2].at, "\"split\"", split));
    if (prefix || *prepend == DSTOK__PREPEND_NEVER) return DSTOK_OK;
    return dstok__json_fail(&h->doc, DSTOK_E_FORMAT, at, h->r.err,
                            "Metaspace: add_prefix_space is false, but prepend_scheme is not \"never\" "
                            "(as in the reference, which does not load this either)");
}

static dstok_status add_metaspace(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"replacement", 0}};
    dstok__step step = {.kind = DSTOK__STEP_META};
    bool split;
    DSTOK_TRY(dstok__hf_metaspace(h, at, &step.prepend, &split));
    DSTOK_TRY(dstok__read_fields(&h->r, at, "Metaspace", f, 1));
    DSTOK_TRY(dstok__hf_char(h, at, f[0].at, "\"replacement\"", &step.pattern, &step.n));
    DSTOK_TRY(add_step(h, step, at));
    if (!split) return DSTOK_OK;
    step.kind = DSTOK__STEP_LITERAL;
    step.behavior = DSTOK__MERGED_WITH_NEXT;
    return add_step(h, step, at);
}

/* ---- others ---- */

static dstok_status add_whitespace(dstok__hf *h, size_t at) {
    return add_step(h, (dstok__step){.kind = DSTOK__STEP_WORDS, .behavior = DSTOK__REMOVED, .invert = true},
                    at);
}

static dstok_status add_whitespace_split(dstok__hf *h, size_t at) {
    return add_step(h, (dstok__step){.kind = DSTOK__STEP_BLANK, .behavior = DSTOK__REMOVED}, at);
}

static dstok_status add_bert(dstok__hf *h, size_t at) {
    DSTOK_TRY(add_whitespace_split(h, at));
    return add_step(h, (dstok__step){.kind = DSTOK__STEP_PUNCTUATION, .behavior = DSTOK__ISOLATED}, at);
}

static dstok_status add_delimiter(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"delimiter", 0}};
    dstok__step step = {.kind = DSTOK__STEP_LITERAL, .behavior = DSTOK__REMOVED};
    DSTOK_TRY(dstok__read_fields(&h->r, at, "CharDelimiterSplit", f, 1));
    DSTOK_TRY(dstok__hf_char(h, at, f[0].at, "\"delimiter\"", &step.pattern, &step.n));
    return add_step(h, step, at);
}

static dstok_status add_scripts(dstok__hf *h, size_t at) {
    return add_step(h, (dstok__step){.kind = DSTOK__STEP_SCRIPTS}, at);
}

static dstok_status add_fixed(dstok__hf *h, size_t at) {
    dstok__field f[] = {{"length", 0}};
    dstok__step step = {.kind = DSTOK__STEP_FIXED, .length = 5};
    DSTOK_TRY(dstok__read_fields(&h->r, at, "FixedLength", f, 1));
    DSTOK_TRY(dstok__hf_number(h, f[0].at, "\"length\"", &step.length));
    if (step.length > 0) return add_step(h, step, at);
    return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err, "not supported: FixedLength of 0");
}

static dstok_status add_part(dstok__hf *h, const char *type, size_t at) {
    static const struct {
        const char *type;
        dstok_status (*add)(dstok__hf *h, size_t at);
    } kinds[] = {{"Split", add_split},
                 {"Digits", add_digits},
                 {"Punctuation", add_punctuation},
                 {"ByteLevel", add_byte_level},
                 {"Metaspace", add_metaspace},
                 {"Whitespace", add_whitespace},
                 {"WhitespaceSplit", add_whitespace_split},
                 {"BertPreTokenizer", add_bert},
                 {"CharDelimiterSplit", add_delimiter},
                 {"UnicodeScripts", add_scripts},
                 {"FixedLength", add_fixed}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].type) != 0) continue;
        if (h->byte_level && !h->byte_mapped && kinds[i].add != add_byte_level) {
            DSTOK_TRY(add_step(h, (dstok__step){.kind = DSTOK__STEP_BYTE_MAP}, at));
            h->byte_mapped = true;
        }
        return kinds[i].add(h, at);
    }
    return dstok__hf_unsupported(h, at, "pre_tokenizer", type);
}

/* A Metaspace behind ByteLevel would put characters into the text that are no bytes. */
static dstok_status check_order(dstok__hf *h, size_t at) {
    const dstok__spec *s = h->r.s;
    bool mapped = false;
    for (size_t i = 0; i < s->n_steps; i++) {
        mapped |= s->steps[i].kind == DSTOK__STEP_BYTE_MAP;
        if (mapped && s->steps[i].kind == DSTOK__STEP_META)
            return dstok__json_fail(&h->doc, DSTOK_E_UNSUPPORTED, at, h->r.err,
                                    "not supported: Metaspace behind ByteLevel");
    }
    return DSTOK_OK;
}

dstok_status dstok__hf_pre_tokenizer(dstok__hf *h, size_t at) {
    DSTOK_TRY(dstok__hf_parts(h, at, "pre_tokenizer", "pretokenizers", add_part));
    h->r.s->char_atoms = !h->byte_level;
    return check_order(h, at);
}
