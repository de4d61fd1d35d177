/* SPDX-License-Identifier: MIT */
/* Fuzz target: bytes 0 to 2 choose vocabulary, policies and a failing allocation, the rest is text. What
 * must hold of every encoding holds: tiling spans, equal counts, no control token from untrusted text,
 * decoding gives it back. */
#include "vocab_fuzz.h"

#include <dstok/align.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT 4096u

/* ---- an allocator that fails once, at a call the input names ---- */

static size_t calls, fail_at;

static void *fuzz_alloc(void *ctx, size_t n) {
    (void)ctx;
    return ++calls == fail_at ? NULL : malloc(n);
}
static void *fuzz_realloc(void *ctx, void *p, size_t old, size_t n) {
    (void)ctx;
    (void)old;
    return ++calls == fail_at ? NULL : realloc(p, n);
}
static void fuzz_free(void *ctx, void *p, size_t n) {
    (void)ctx;
    (void)n;
    free(p);
}
static const dstok_alloc allocator = {fuzz_alloc, fuzz_realloc, fuzz_free, NULL};

/* ---- what must hold ---- */

static void check_spans(const dstok_tokens *t, const uint8_t *text, size_t n, const dstok_report *report) {
    uint64_t covered = 0, left_out = 0, begin = 0;
    for (size_t i = 0; i < t->n; i++) {
        dstok_span s = t->spans[i];
        require(s.begin >= begin && s.end >= s.begin && s.end >= covered && s.end <= n);
        begin = s.begin;
        if (s.begin > covered) left_out += s.begin - covered;
        covered = s.end;
    }
    require(left_out + n - covered == report->n_dropped);
    dstok_span *spans = malloc((t->n + 1) * sizeof *spans);
    require(spans != NULL);
    for (int unit = DSTOK_UNIT_CHAR; unit <= DSTOK_UNIT_UTF16; unit++) {
        if (t->n > 0) memcpy(spans, t->spans, t->n * sizeof *spans);
        require(dstok_spans_convert(text, n, spans, t->n, unit) == DSTOK_OK);
        if (covered == n && t->n > 0) require(spans[t->n - 1].end == dstok_text_length(text, n, unit));
    }
    free(spans);
}

static void check_decoding(const dstok_tokenizer *tok, const dstok_tokens *t, const uint8_t *text, size_t n) {
    uint8_t *back = malloc(n + 1);
    size_t back_n = 0;
    require(back != NULL);
    require(dstok_decode(tok, t->ids, t->n, DSTOK_DECODE_LOSSLESS, 0, back, n, &back_n, NULL, NULL) ==
            DSTOK_OK);
    require(back_n == n && memcmp(back, text, n) == 0);
    free(back);
}

static void check_no_control(const dstok_tokenizer *tok, const dstok_tokens *t) {
    for (size_t i = 0; i < t->n; i++) { /* the unknown token stands for a character */
        bool is_control = (dstok_token_flags(tok, t->ids[i]) & DSTOK_TOKEN_CONTROL) != 0;
        require(!is_control || (t->flags[i] & DSTOK_FLAG_UNKNOWN));
    }
}

/* Cut in two anywhere, under one policy: the same as one call. */
static void check_segments(dstok_encoder *enc, const dstok_encode_options *o, const uint8_t *text, size_t n,
                           const dstok_tokens *want) {
    dstok_segment s[] = {{.len = n / 3, .special = o->special}, {.len = n - n / 3, .special = o->special}};
    dstok_tokens got = {0};
    uint32_t *ids = malloc((want->n + 1) * sizeof *ids);
    size_t n_want = want->n;
    require(ids != NULL);
    if (n_want > 0) memcpy(ids, want->ids, n_want * sizeof *ids);
    require(dstok_encode_segments(enc, text, n, s, 2, o, &got, NULL) == DSTOK_OK);
    require(got.n == n_want && (n_want == 0 || memcmp(got.ids, ids, n_want * sizeof *ids) == 0));
    free(ids);
}

static void check_count(dstok_encoder *enc, const dstok_encode_options *o, const uint8_t *text, size_t n,
                        size_t want) {
    size_t counted = 0;
    uint32_t *ids = malloc((want + 1) * sizeof *ids);
    require(ids != NULL);
    require(dstok_count(enc, text, n, o, &counted, NULL) == DSTOK_OK);
    require(counted == want);
    require(dstok_encode(enc, text, n, o, ids, NULL, NULL, want, &counted, NULL) == DSTOK_OK);
    require(counted == want);
    if (want > 0)
        require(dstok_encode(enc, text, n, o, ids, NULL, NULL, want - 1, &counted, NULL) == DSTOK_E_SPACE);
    free(ids);
}

static void check_all(int vocabulary, const dstok_encode_options *o, const uint8_t *text, size_t n) {
    const dstok_tokenizer *tok = vocabularies[vocabulary];
    dstok_encoder *enc = NULL;
    dstok_tokens t = {0};
    int is_valid = dstok_utf8_check(text, n) == n;
    require(dstok_encoder_new(tok, &enc) == DSTOK_OK);
    dstok_status status = dstok_encode_view(enc, text, n, o, &t, NULL);
    if (status == DSTOK_OK) {
        require(t.n <= dstok_encode_bound(tok, n, o));
        check_spans(&t, text, n, dstok_encode_report(enc));
        if (o->special == DSTOK_SPECIAL_SAFE) check_no_control(tok, &t);
        if (vocabulary < RANKS_NFC && (is_valid || o->invalid == DSTOK_INVALID_RAW))
            check_decoding(tok, &t, text, n);
        size_t n_tokens = t.n;
        check_segments(enc, o, text, n, &t);
        check_count(enc, o, text, n, n_tokens);
    } else if (status == DSTOK_E_UTF8) {
        require(!is_valid && o->invalid == DSTOK_INVALID_ERROR);
    } else {
        require(status == DSTOK_E_SPECIAL && o->special == DSTOK_SPECIAL_ERROR);
    }
    dstok_encoder_free(enc);
}

/* The same as what an encoder gives that has all the memory it wants, be it a refusal. */
static void check_same(int vocabulary, const dstok_encode_options *o, const uint8_t *text, size_t n,
                       dstok_status status, const dstok_tokens *got) {
    dstok_encoder *enc = NULL;
    dstok_tokens want = {0};
    require(dstok_encoder_new(vocabularies[vocabulary], &enc) == DSTOK_OK);
    require(dstok_encode_view(enc, text, n, o, &want, NULL) == status);
    require(got->n == want.n && (got->n == 0 || memcmp(got->ids, want.ids, got->n * sizeof *want.ids) == 0));
    dstok_encoder_free(enc);
}

/* The fail_at-th allocation fails: E_NOMEM, or the encoder gets on without a larger cache, as if nothing
 * had happened. */
static void check_no_memory(int vocabulary, const dstok_encode_options *o, const uint8_t *text, size_t n,
                            size_t k) {
    dstok_encoder *enc = NULL;
    dstok_tokens t = {0};
    calls = 0;
    fail_at = k;
    dstok_status status = dstok_encoder_new(vocabularies[vocabulary], &enc);
    if (status == DSTOK_OK) status = dstok_encode_view(enc, text, n, o, &t, NULL);
    bool failed = calls >= k;
    fail_at = 0;
    if (failed && status != DSTOK_E_NOMEM) check_same(vocabulary, o, text, n, status, &t);
    dstok_encoder_free(enc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (vocabularies[0] == NULL) open_vocabularies(&allocator);
    if (size < 3) return 0;
    int vocabulary = data[0] % N_VOCABULARIES;
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    static const uint32_t some[] = {256, 258, 300};
    uint32_t allowed[3];
    o.special = data[1] % 6;
    o.invalid = data[1] / 6 % 3;
    o.allowed = allowed;
    for (size_t i = 0; i < 3; i++)
        if (dstok_token_flags(vocabularies[vocabulary], some[i]) & DSTOK_TOKEN_ADDED)
            allowed[o.n_allowed++] = some[i];
    const uint8_t *text = data + 3;
    size_t n = size - 3 < MAX_TEXT ? size - 3 : MAX_TEXT;
    check_all(vocabulary, &o, text, n);
    if (data[2] > 0) check_no_memory(vocabulary, &o, text, n, data[2]);
    return 0;
}
