/* SPDX-License-Identifier: MIT */
/* Loading tekken.json (mistral-common): a pattern, ranks in base64, and special tokens before them. */
#include "spec.h"

#include <stdio.h>
#include <string.h>

#include "base64.h"
#include "read.h"

/* The special tokens of files that do not list theirs, which versions up to 7 may do. */
static const char *const old_specials[] = {
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
};
#define N_OLD_SPECIALS (sizeof old_specials / sizeof *old_specials)

static const struct version {
    const char *name;
    bool has_old_specials;
} versions[] = {{"v1", true},   {"v2", true},   {"v3", true},  {"v7", true},
                {"v11", false}, {"v13", false}, {"v15", false}};

typedef struct tekken {
    dstok__reader r;
    dstok__json doc;
    dstok__buf text, bytes;      /* scratch: a string with escapes; a token */
    dstok__map tokens, specials; /* bytes -> index */
    bool has_old_specials;
    uint32_t n_tokens,
        n_specials; /* as the file states them; ids of tokens begin behind those of special tokens */
} tekken;

/* ---- config ---- */

static dstok_status read_version(tekken *t, size_t owner, size_t at) {
    const char *text;
    size_t n;
    dstok__quoted q;
    DSTOK_TRY(dstok__read_string(&t->r, owner, at, "\"version\"", &text, &n));
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        t->has_old_specials = versions[i].has_old_specials;
        if (dstok__text_is(text, n, versions[i].name)) return DSTOK_OK;
    }
    return dstok__json_fail(&t->doc, DSTOK_E_UNSUPPORTED, at, t->r.err,
                            "not supported: tekken version \"%s\"", DSTOK__QUOTE(text, n, q));
}

/* Matches are the pretokens; text between them has no tokens, as in tiktoken, which the reference runs. */
static dstok_status read_pattern(tekken *t, size_t owner, size_t at) {
    const char *text;
    dstok__step step = {.kind = DSTOK__STEP_REGEX,
                        .behavior = DSTOK__REMOVED,
                        .invert = true,
                        .dialect = DSTOK__DIALECT_FANCY};
    DSTOK_TRY(dstok__read_string(&t->r, owner, at, "\"pattern\"", &text, &step.n));
    if (step.n == 0) return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, at, t->r.err, "the pattern is empty");
    DSTOK_TRY(dstok__spec_copy(t->r.s, text, step.n, &step.pattern, t->r.err));
    t->r.s->steps[t->r.s->n_steps++] = step;
    return DSTOK_OK;
}

static dstok_status read_config(tekken *t, size_t at) {
    dstok__field f[] = {
        {"version", 0}, {"pattern", 0}, {"default_vocab_size", 0}, {"default_num_special_tokens", 0}};
    uint32_t size = 0;
    if (at == 0)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, t->doc.root, t->r.err, "\"config\" is missing");
    DSTOK_TRY(dstok__read_fields(&t->r, at, "\"config\"", f, sizeof f / sizeof *f));
    DSTOK_TRY(read_version(t, at, f[0].at));
    DSTOK_TRY(read_pattern(t, at, f[1].at));
    DSTOK_TRY(dstok__read_id(&t->r, at, f[2].at, "\"default_vocab_size\"", &size));
    DSTOK_TRY(dstok__read_id(&t->r, at, f[3].at, "\"default_num_special_tokens\"", &t->n_specials));
    if (size < t->n_specials)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, f[3].at, t->r.err,
                                "%u special tokens do not fit in a vocabulary of %u", t->n_specials, size);
    t->n_tokens = size - t->n_specials;
    return DSTOK_OK;
}

/* ---- vocab ---- */

static dstok_status no_room(const tekken *t, dstok_status status, const char *what, size_t max) {
    return status == DSTOK_OK ? status : dstok__spec_no_room(status, what, max, t->r.err);
}

/* The token's bytes, in t->bytes. */
static dstok_status read_bytes(tekken *t, size_t owner, size_t at) {
    const char *text;
    size_t n;
    DSTOK_TRY(dstok__read_string(&t->r, owner, at, "\"token_bytes\"", &text, &n));
    if (n / 4 * 3 > DSTOK__MAX_TOKEN_BYTES + 2)
        return dstok__json_fail(&t->doc, DSTOK_E_LIMIT, at, t->r.err, "a token has more than %zu bytes",
                                DSTOK__MAX_TOKEN_BYTES);
    t->bytes.len = 0;
    DSTOK_TRY(no_room(t, dstok__buf_reserve(&t->bytes, n), "bytes in a token", t->bytes.max));
    if (n > 0 && dstok__base64_decode(text, n, t->bytes.data, &t->bytes.len)) return DSTOK_OK;
    return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, at, t->r.err,
                            "\"token_bytes\" is not base64 of some bytes");
}

/* An entry of "vocab": its rank is its place in the list, and the first 256 are the bytes in order. */
static dstok_status add_token(tekken *t, size_t at, uint32_t index) {
    dstok__field f[] = {{"rank", 0}, {"token_bytes", 0}};
    uint32_t rank = 0;
    DSTOK_TRY(dstok__read_fields(&t->r, at, "an entry of \"vocab\"", f, sizeof f / sizeof *f));
    DSTOK_TRY(dstok__read_id(&t->r, at, f[0].at, "\"rank\"", &rank));
    if (rank != index)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, f[0].at, t->r.err,
                                "entry %u of \"vocab\" has rank %u", index, rank);
    DSTOK_TRY(read_bytes(t, at, f[1].at));
    const uint8_t *bytes = t->bytes.data;
    size_t n = t->bytes.len;
    if (index < 256 && (n != 1 || bytes[0] != index))
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, f[1].at, t->r.err,
                                "entry %u of \"vocab\" is not byte 0x%02X", index, index);
    uint32_t first = dstok__map_get(&t->tokens, bytes, n);
    if (first != UINT32_MAX)
        return dstok__json_fail(&t->doc, DSTOK_E_DUPLICATE, f[1].at, t->r.err,
                                "entries %u and %u of \"vocab\" are the same bytes", first, index);
    DSTOK_TRY(dstok__spec_token(t->r.s, bytes, n, t->n_specials + index, t->r.err));
    const dstok__token *token = &t->r.s->tokens[t->r.s->n_tokens - 1];
    return no_room(t, dstok__map_put(&t->tokens, token->text, token->n, index, NULL), "tokens",
                   DSTOK__MAX_IDS);
}

/* Entries behind the last one that counts are not looked at. */
static dstok_status read_vocab(tekken *t, size_t at) {
    dstok__json_iter it;
    uint32_t index = 0;
    DSTOK_TRY(dstok__read_array(&t->r, t->doc.root, at, "\"vocab\"", &it));
    while (index < t->n_tokens && dstok__json_next(&it)) DSTOK_TRY(add_token(t, it.value, index++));
    if (index < t->n_tokens)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, at, t->r.err,
                                "\"vocab\" has %u entries; %u are needed", index, t->n_tokens);
    if (index >= 256) return DSTOK_OK;
    return dstok__spec_warn(t->r.s, t->r.err,
                            "%u of the 256 single bytes have no token (the first is 0x%02X)", 256 - index,
                            index);
}

/* ---- special tokens ---- */

/* The next special token; at: its place, for errors. The reference never finds one in text. */
static dstok_status add_special(tekken *t, const char *text, size_t n, size_t at) {
    dstok__spec *s = t->r.s;
    dstok__quoted q;
    uint32_t id = (uint32_t)s->n_added;
    dstok__added a = {.content = text, .n = (uint32_t)n, .id = id, .special = true, .by_name_only = true};
    if (n == 0 || n > DSTOK__MAX_ADDED_BYTES)
        return dstok__json_fail(&t->doc, n == 0 ? DSTOK_E_FORMAT : DSTOK_E_LIMIT, at, t->r.err,
                                "a special token must have 1 to %u bytes", DSTOK__MAX_ADDED_BYTES);
    if (dstok__map_get(&t->specials, text, n) != UINT32_MAX)
        return dstok__json_fail(&t->doc, DSTOK_E_DUPLICATE, at, t->r.err,
                                "special tokens %u and %u are both \"%s\"",
                                dstok__map_get(&t->specials, text, n), id, DSTOK__QUOTE(text, n, q));
    DSTOK_TRY(dstok__spec_added(s, &a, t->r.err));
    const char *kept = s->added[s->n_added - 1].content;
    return no_room(t, dstok__map_put(&t->specials, kept, n, id, NULL), "special tokens", DSTOK__MAX_ADDED);
}

static dstok_status read_special(tekken *t, size_t at) {
    dstok__field f[] = {{"rank", 0}, {"token_str", 0}};
    uint32_t rank = 0, index = (uint32_t)t->r.s->n_added;
    const char *text;
    size_t n;
    DSTOK_TRY(dstok__read_fields(&t->r, at, "an entry of \"special_tokens\"", f, sizeof f / sizeof *f));
    DSTOK_TRY(dstok__read_id(&t->r, at, f[0].at, "\"rank\"", &rank));
    DSTOK_TRY(dstok__read_string(&t->r, at, f[1].at, "\"token_str\"", &text, &n));
    if (index >= t->n_specials)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, at, t->r.err,
                                "\"special_tokens\" has more than %u entries (default_num_special_tokens)",
                                t->n_specials);
    if (rank != index)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, f[0].at, t->r.err,
                                "entry %u of \"special_tokens\" has rank %u", index, rank);
    return add_special(t, text, n, f[1].at);
}

static dstok_status read_specials(tekken *t, size_t at) {
    dstok__json_iter it;
    DSTOK_TRY(dstok__read_array(&t->r, t->doc.root, at, "\"special_tokens\"", &it));
    while (dstok__json_next(&it)) DSTOK_TRY(read_special(t, it.value));
    return DSTOK_OK;
}

static dstok_status add_old_specials(tekken *t, size_t config) {
    if (!t->has_old_specials)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, config, t->r.err,
                                "\"special_tokens\" is missing, which only versions up to v7 may leave out");
    if (t->n_specials < N_OLD_SPECIALS)
        return dstok__json_fail(&t->doc, DSTOK_E_FORMAT, config, t->r.err,
                                "%u special tokens do not hold the %zu of files that list none",
                                t->n_specials, N_OLD_SPECIALS);
    for (size_t i = 0; i < N_OLD_SPECIALS; i++)
        DSTOK_TRY(add_special(t, old_specials[i], strlen(old_specials[i]), config));
    return DSTOK_OK;
}

/* Ids of special tokens that are not listed are called by their number. */
static dstok_status add_fillers(tekken *t, size_t config) {
    while (t->r.s->n_added < t->n_specials) {
        char text[32];
        int n = snprintf(text, sizeof text, "<SPECIAL_%zu>", t->r.s->n_added);
        DSTOK_TRY(add_special(t, text, (size_t)n, config));
    }
    return DSTOK_OK;
}

/* Prompts begin with <s>; </s> is put behind an answer that is complete, which a text by itself is not. */
static dstok_status set_template(tekken *t) {
    uint32_t id = dstok__map_get(&t->specials, "<s>", 3);
    if (id == UINT32_MAX) return DSTOK_OK;
    DSTOK_TRY(dstok__spec_template(t->r.s, (dstok__template_item){.id = id}, t->r.err));
    return dstok__spec_template(t->r.s, (dstok__template_item){.is_text = true}, t->r.err);
}

/* ---- all of it ---- */

static dstok_status load(tekken *t, const char *data, size_t n) {
    dstok__field f[] = {{"config", 0}, {"vocab", 0}, {"special_tokens", 0}};
    DSTOK_TRY(dstok__json_open(&t->doc, data, n, "", t->r.err));
    if (t->doc.has_bom)
        DSTOK_TRY(
            dstok__spec_warn(t->r.s, t->r.err, "the file starts with a byte order mark; it is ignored"));
    DSTOK_TRY(dstok__read_fields(&t->r, t->doc.root, "the file", f, sizeof f / sizeof *f));
    DSTOK_TRY(read_config(t, f[0].at));
    DSTOK_TRY(read_vocab(t, f[1].at));
    DSTOK_TRY(f[2].at != 0 ? read_specials(t, f[2].at) : add_old_specials(t, f[0].at));
    DSTOK_TRY(add_fillers(t, f[0].at));
    return set_template(t);
}

dstok_status dstok__load_tekken(dstok__spec *s, const char *data, size_t n, dstok_error *err) {
    const dstok_alloc *al = s->arena.al;
    tekken t = {.has_old_specials = false};
    t.r = (dstok__reader){.s = s, .doc = &t.doc, .scratch = &t.text, .err = err};
    dstok__buf_init(&t.text, al, DSTOK__MAX_FILE);
    dstok__buf_init(&t.bytes, al, DSTOK__MAX_FILE);
    dstok__map_init(&t.tokens, al);
    dstok__map_init(&t.specials, al);
    s->format = "tekken";
    s->model = DSTOK__MODEL_RANKS;
    s->ignore_merges = true;
    dstok_status status = load(&t, data, n);
    dstok__buf_free(&t.text);
    dstok__buf_free(&t.bytes);
    dstok__map_free(&t.tokens);
    dstok__map_free(&t.specials);
    return status;
}
