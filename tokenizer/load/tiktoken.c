/* SPDX-License-Identifier: MIT */
/* Loading rank files (tiktoken): one token a line, in base64, and its rank. */
#include "tiktoken.h"

#include <string.h>

#include "base64.h"

/* One line, without its end. */
typedef struct line {
    const char *text;
    size_t n, at; /* offset in the file */
    uint32_t number;
} line;

/* Whatever has no mark of another format comes here, so a bad first line says little about rank files. */
static dstok_status bad_line(const dstok__tiktoken *t, const line *l, const char *what) {
    return dstok__fail(t->err, DSTOK_E_FORMAT, l->at, l->number, "%s: %s (a line is base64, blank, rank)",
                       l->number > 1
                           ? "not a rank file"
                           : "no format of vocabularies that dstok knows (tokenizer.json, tekken.json, "
                             "SentencePiece, GGUF, .dstok), and not a rank file",
                       what);
}

/* Digits only, below the limit of ids. */
static dstok_status read_rank(const dstok__tiktoken *t, const line *l, const char *p, uint32_t *rank) {
    const char *end = l->text + l->n;
    uint64_t v = 0;
    if (p == end) return bad_line(t, l, "a line without a rank");
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return bad_line(t, l, "a rank must be a whole number");
        v = v * 10 + (uint64_t)(*p - '0');
        if (v >= DSTOK__MAX_IDS)
            return dstok__fail(t->err, DSTOK_E_LIMIT, l->at, l->number, "a rank is above the limit, %u",
                               DSTOK__MAX_IDS - 1);
    }
    *rank = (uint32_t)v;
    return DSTOK_OK;
}

/* The token's bytes, in t->scratch. */
static dstok_status read_bytes(dstok__tiktoken *t, const line *l, size_t n) {
    if (n / 4 * 3 > DSTOK__MAX_TOKEN_BYTES)
        return dstok__fail(t->err, DSTOK_E_LIMIT, l->at, l->number, "a token has more than %zu bytes",
                           DSTOK__MAX_TOKEN_BYTES);
    t->scratch.len = 0;
    dstok_status status = dstok__buf_reserve(&t->scratch, n);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "bytes in a token", t->scratch.max, t->err);
    if (n == 0 || !dstok__base64_decode(l->text, n, t->scratch.data, &t->scratch.len))
        return bad_line(t, l, "a token is not base64");
    return DSTOK_OK;
}

static dstok_status add_token(dstok__tiktoken *t, const line *l, uint32_t rank) {
    const char *bytes = (const char *)t->scratch.data;
    size_t n = t->scratch.len;
    dstok__quoted q;
    if (dstok__map_get(&t->tokens, bytes, n) != UINT32_MAX)
        return dstok__fail(t->err, DSTOK_E_DUPLICATE, l->at, l->number,
                           "the token \"%s\" stands in two lines", DSTOK__QUOTE(bytes, n, q));
    if (dstok__bits_has(&t->ranks, rank))
        return dstok__fail(t->err, DSTOK_E_DUPLICATE, l->at, l->number, "rank %u stands in two lines", rank);
    DSTOK_TRY(dstok__bits_add(&t->ranks, rank, t->err));
    DSTOK_TRY(dstok__spec_token(t->s, bytes, n, rank, t->err));
    const dstok__token *token = &t->s->tokens[t->s->n_tokens - 1];
    dstok_status status =
        dstok__map_put(&t->tokens, token->bytes, token->n, (uint32_t)t->s->n_tokens - 1, NULL);
    return status == DSTOK_OK ? status : dstok__spec_no_room(status, "tokens", DSTOK__MAX_IDS, t->err);
}

static dstok_status read_line(dstok__tiktoken *t, const line *l) {
    uint32_t rank = 0;
    const char *blank = memchr(l->text, ' ', l->n);
    if (blank == NULL) return bad_line(t, l, "a line without a blank");
    DSTOK_TRY(read_rank(t, l, blank + 1, &rank));
    DSTOK_TRY(read_bytes(t, l, (size_t)(blank - l->text)));
    return add_token(t, l, rank);
}

/* Lines end with LF or CR LF, the last one also with the file; empty lines may stand at the end alone. */
static dstok_status read_lines(dstok__tiktoken *t) {
    line empty = {0};
    uint32_t number = 1;
    for (size_t at = 0; at < t->n; number++) {
        line l = {.text = t->data + at, .at = at, .number = number};
        const char *end = memchr(l.text, '\n', t->n - at);
        l.n = end != NULL ? (size_t)(end - l.text) : t->n - at;
        at += l.n + 1;
        if (end != NULL && l.n > 0 && l.text[l.n - 1] == '\r') l.n--;
        if (l.n == 0) {
            if (empty.text == NULL) empty = l;
            continue;
        }
        if (empty.text != NULL) return bad_line(t, &empty, "an empty line");
        DSTOK_TRY(read_line(t, &l));
    }
    if (t->s->n_tokens == 0)
        return dstok__fail(t->err, DSTOK_E_TRUNCATED, t->n, number, "the file has no ranks");
    return DSTOK_OK;
}

/* Text may hold any byte; where one has no token, it has no id. */
static dstok_status warn_missing_bytes(dstok__tiktoken *t) {
    unsigned missing = 0, first = 0;
    for (unsigned b = 256; b-- > 0;) {
        char byte = (char)b;
        if (dstok__map_get(&t->tokens, &byte, 1) != UINT32_MAX) continue;
        missing++;
        first = b;
    }
    if (missing == 0) return DSTOK_OK;
    return dstok__spec_warn(t->s, t->err, "%u of the 256 single bytes have no token (the first is 0x%02X)",
                            missing, first);
}

static dstok_status load(dstok__tiktoken *t, const char *pattern, const char *meta, size_t meta_n) {
    if (t->n > DSTOK__MAX_FILE)
        return dstok__fail(t->err, DSTOK_E_LIMIT, 0, 0, "the file has more than %zu bytes", DSTOK__MAX_FILE);
    DSTOK_TRY(read_lines(t));
    DSTOK_TRY(warn_missing_bytes(t));
    return dstok__tiktoken_setup(t, pattern, meta, meta_n);
}

dstok_status dstok__load_tiktoken(dstok__spec *s, const char *data, size_t n, const char *pattern,
                                  const char *meta, size_t meta_n, dstok_error *err) {
    const dstok_alloc *al = s->arena.al;
    dstok__tiktoken t = {.s = s, .err = err, .data = data, .n = n};
    dstok__bits_init(&t.ranks, al);
    dstok__bits_init(&t.specials, al);
    dstok__map_init(&t.tokens, al);
    dstok__map_init(&t.added, al);
    dstok__buf_init(&t.scratch, al, DSTOK__MAX_FILE);
    s->format = "tiktoken";
    s->model = DSTOK__MODEL_RANKS;
    s->ignore_merges = true;
    dstok_status status = load(&t, pattern, meta, meta_n);
    dstok__bits_free(&t.ranks);
    dstok__bits_free(&t.specials);
    dstok__map_free(&t.tokens);
    dstok__map_free(&t.added);
    dstok__buf_free(&t.scratch);
    return status;
}
