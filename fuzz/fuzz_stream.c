/* SPDX-License-Identifier: MIT */
/* Fuzz target: bytes 0 and 1 choose vocabulary and policies, 2 and 3 the sizes of feeds and of what a stream
 * keeps, the rest is text, and a list of ids. A stream gives what one call gives, a decoder what
 * dstok_decode does. */
#include "vocab_fuzz.h"

#include "../tokenizer/stream/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT  4096u
#define MAX_BYTES (64u * MAX_TEXT)

/* ---- sizes of feeds ---- */

static uint32_t state;

static size_t any_size(size_t most, size_t left) {
    state = state * 1664525u + 1013904223u;
    size_t n = 1 + (state >> 16) % most;
    return n < left ? n : left;
}

/* ---- encoding ---- */

typedef struct tokens {
    uint32_t ids[2 * MAX_TEXT];
    dstok_span spans[2 * MAX_TEXT];
    uint8_t flags[2 * MAX_TEXT];
    size_t n;
} tokens;

static void append(tokens *all, const dstok_tokens *t) {
    require(t->n <= 2 * MAX_TEXT - all->n);
    if (t->n == 0) return;
    memcpy(all->ids + all->n, t->ids, t->n * sizeof *t->ids);
    memcpy(all->spans + all->n, t->spans, t->n * sizeof *t->spans);
    memcpy(all->flags + all->n, t->flags, t->n);
    all->n += t->n;
}

static dstok_status feed_all(dstok_stream *s, const uint8_t *text, size_t n, size_t most, tokens *all) {
    dstok_tokens t = {0};
    dstok_status status = DSTOK_OK;
    all->n = 0;
    for (size_t i = 0, k; i < n && status == DSTOK_OK; i += k) {
        k = any_size(most, n - i);
        uint8_t *exact = malloc(k);
        require(exact != NULL);
        memcpy(exact, text + i, k);
        status = dstok_stream_feed(s, exact, k, &t, NULL);
        free(exact);
        if (status == DSTOK_OK) append(all, &t);
    }
    if (status == DSTOK_OK) status = dstok_stream_finish(s, &t, NULL);
    if (status == DSTOK_OK) append(all, &t);
    return status;
}

static void check_stream(dstok_stream *s, const dstok_tokenizer *tok, const dstok_encode_options *o,
                         const uint8_t *text, size_t n, size_t most) {
    static tokens got;
    dstok_tokens want = {0};
    dstok_encoder *enc = NULL;
    require(dstok_encoder_new(tok, &enc) == DSTOK_OK);
    dstok_status right = dstok_encode_view(enc, text, n, o, &want, NULL);
    dstok_status status = feed_all(s, text, n, most, &got);
    if (right != DSTOK_OK || status == DSTOK_E_LIMIT) {
        require(status != DSTOK_OK);
    } else {
        require(status == DSTOK_OK && got.n == want.n);
        require(want.n == 0 || (memcmp(got.ids, want.ids, want.n * sizeof *want.ids) == 0 &&
                                memcmp(got.spans, want.spans, want.n * sizeof *want.spans) == 0 &&
                                memcmp(got.flags, want.flags, want.n) == 0));
        require(memcmp(dstok_stream_report(s), dstok_encode_report(enc), sizeof(dstok_report)) == 0);
    }
    dstok_encoder_free(enc);
    dstok_stream_reset(s);
}

/* ---- decoding ---- */

static dstok_status push_all(dstok_decoder *d, const uint32_t *ids, size_t n, size_t most, uint8_t *out,
                             size_t *n_out) {
    const void *bytes = NULL;
    size_t k = 0;
    *n_out = 0;
    for (size_t i = 0, m; i < n; i += m) {
        m = any_size(most, n - i);
        dstok_status status = dstok_decoder_push(d, ids + i, m, &bytes, &k, NULL);
        if (status != DSTOK_OK) return status;
        memcpy(out + *n_out, bytes, k);
        *n_out += k;
    }
    dstok_status status = dstok_decoder_finish(d, &bytes, &k, NULL);
    if (status != DSTOK_OK) return status;
    memcpy(out + *n_out, bytes, k);
    *n_out += k;
    return DSTOK_OK;
}

static void check_decoder(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode, int skip,
                          size_t most) {
    static uint8_t want[MAX_BYTES], got[MAX_BYTES];
    size_t n_want = 0, n_got = 0, unknown = 0;
    dstok_decoder *d = NULL;
    dstok_status right = dstok_decode(tok, ids, n, mode, skip, want, sizeof want, &n_want, &unknown, NULL);
    require(right != DSTOK_E_SPACE);
    require(dstok_decoder_new(tok, mode, skip, &d, NULL) == DSTOK_OK);
    dstok_status status = push_all(d, ids, n, most, got, &n_got);
    require((status == DSTOK_OK) == (right == DSTOK_OK));
    if (status == DSTOK_OK) {
        require(n_got == n_want && memcmp(got, want, n_got) == 0);
        require(dstok_decoder_unknown(d, NULL) == unknown);
    }
    dstok_decoder_free(d);
}

static size_t ids_of(const dstok_tokenizer *tok, const uint8_t *data, size_t size, uint32_t *ids) {
    dstok_info info = DSTOK_INFO_INIT;
    size_t n = 0;
    require(dstok_tokenizer_info(tok, &info) == DSTOK_OK);
    for (; n < size && n < 400; n++) {
        ids[n] = data[n];
        if (n % 5 == 0) ids[n] = (uint32_t)((data[n] * 0x9E3779B1u >> 8) % (info.n_ids + 2));
    }
    return n;
}

/* ---- one input ---- */

static dstok_encode_options options_of(const dstok_tokenizer *tok, uint8_t byte) {
    static const uint32_t some[] = {256, 258, 300};
    static uint32_t allowed[3];
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    o.special = byte % 6;
    o.invalid = byte / 6 % 3;
    o.strict = byte / 18 % 4 == 3;
    o.add_special = byte / 72 % 2;
    o.allowed = allowed;
    for (size_t i = 0; i < 3; i++)
        if (dstok_token_flags(tok, some[i]) & DSTOK_TOKEN_ADDED) allowed[o.n_allowed++] = some[i];
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint32_t ids[400];
    if (vocabularies[0] == NULL) open_vocabularies(NULL);
    if (size < 4) return 0;
    const dstok_tokenizer *tok = vocabularies[data[0] % N_VOCABULARIES];
    dstok_encode_options o = options_of(tok, data[1]);
    size_t n = size - 4 < MAX_TEXT ? size - 4 : MAX_TEXT, most = 1 + data[3] % 64u;
    dstok_stream *s = NULL;
    state = (uint32_t)(data[2] << 8 | data[3]);
    dstok_status status = dstok_stream_new(tok, &o, NULL, &s, NULL);
    require(status == DSTOK_OK || status == DSTOK_E_UNSUPPORTED);
    if (status == DSTOK_OK) {
        s->step = 16 + data[2] % 128u;
        s->hold = 8 + data[3];
        dstok_stream_reset(s);
        check_stream(s, tok, &o, data + 4, n, most);
    }
    dstok_stream_free(s);
    size_t n_ids = ids_of(tok, data + 4, n, ids);
    for (int mode = 0; mode < 8; mode++) check_decoder(tok, ids, n_ids, mode / 2, mode % 2, most);
    return 0;
}
