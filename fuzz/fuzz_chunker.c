/* SPDX-License-Identifier: MIT */
/* Fuzz target: byte 0 chooses a vocabulary, 1 to 4 the options, 5 the sizes of feeds and of what the stream
 * below keeps, the rest is text. Chunks tile the text, hold the limit and have the ids of the whole, or of
 * themselves; feeds of any sizes give the same. */
#include "vocab_fuzz.h"

#include "../tokenizer/stream/chunker.h"
#include "../tokenizer/stream/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT 4096u

/* What is kept of chunks, and what they are held against. */
typedef struct seen {
    const dstok_chunker_options *o;
    const uint8_t *text;
    const dstok_tokens *whole; /* of the text; NULL: it has none */
    dstok_encoder *again;
    dstok_chunk chunks[MAX_TEXT];
    size_t n;
} seen;

static void check_ids(const seen *s, const dstok_chunk *c) {
    dstok_tokens t = {0};
    if (s->o->ids == DSTOK_CHUNK_SLICE) {
        require(c->tokens.end <= s->whole->n);
        const uint32_t *ids = s->whole->ids + c->tokens.begin;
        require(c->n == 0 || memcmp(c->ids, ids, c->n * sizeof *ids) == 0);
        require(c->n == 0 ||
                memcmp(c->spans, s->whole->spans + c->tokens.begin, c->n * sizeof *c->spans) == 0);
        return;
    }
    require(dstok_encode_view(s->again, c->text, c->text_len, s->o->encode, &t, NULL) == DSTOK_OK);
    require(t.n == c->n && (t.n == 0 || memcmp(t.ids, c->ids, t.n * sizeof *t.ids) == 0));
}

static int take(void *context, const dstok_chunk *c) {
    seen *s = context;
    uint64_t end = s->n > 0 ? s->chunks[s->n - 1].bytes.end : 0;
    require(s->n < MAX_TEXT && c->number == s->n);
    require(c->n <= s->o->max_tokens && c->tokens.end - c->tokens.begin == c->n);
    require(c->bytes.begin + c->n_overlap == end && c->bytes.end >= end);
    /* a character of too many tokens */
    require(c->bytes.end > end || (c->border == DSTOK_BORDER_TOKEN && s->o->ids == DSTOK_CHUNK_SLICE));
    require(c->text_len == c->bytes.end - c->bytes.begin);
    require(memcmp(c->text, s->text + c->bytes.begin, c->text_len) == 0);
    if (s->whole != NULL) check_ids(s, c);
    s->chunks[s->n] = *c;
    s->chunks[s->n].ids = NULL;
    s->chunks[s->n].spans = NULL;
    s->chunks[s->n++].text = NULL;
    return 0;
}

static dstok_chunker_options options_of(const uint8_t *data, dstok_encode_options *encode) {
    dstok_chunker_options o = DSTOK_CHUNKER_OPTIONS_INIT;
    o.max_tokens = 16 + data[2] % 200u;
    o.border = data[1] % 4;
    o.mode = data[1] / 4 % 4;
    o.ids = data[1] / 16 % 2;
    o.balance = data[1] / 32 % 2;
    o.min_tokens = data[3] % (o.max_tokens / 2 + 1);
    if (data[1] / 64 % 2) o.overlap = data[4] % (o.max_tokens / 2);
    if (o.overlap == 0 && data[1] / 128) o.overlap_sentences = data[4] % 5;
    *encode = (dstok_encode_options)DSTOK_ENCODE_OPTIONS_INIT;
    encode->special = data[4] % 5;
    encode->invalid = data[3] % 3;
    o.encode = encode;
    return o;
}

/* step 0: as it is. */
static dstok_status cut(const dstok_tokenizer *tok, seen *s, size_t n, size_t most, size_t step) {
    dstok_chunker *c = NULL;
    uint32_t state = (uint32_t)most;
    s->n = 0;
    dstok_status status = dstok_chunker_new(tok, s->o, take, s, &c, NULL);
    require(status == DSTOK_OK);
    if (step > 0 && c->source->stream != NULL) {
        c->source->stream->step = step;
        c->source->stream->hold = 20;
        dstok_chunker_reset(c);
    }
    for (size_t at = 0, k; at < n && status == DSTOK_OK; at += k) {
        state = state * 1664525u + 1013904223u;
        k = 1 + (state >> 8) % most;
        if (k > n - at) k = n - at;
        status = dstok_chunker_feed(c, s->text + at, k, NULL);
    }
    if (status == DSTOK_OK) status = dstok_chunker_finish(c, NULL);
    dstok_chunker_free(c);
    return status;
}

static void check(const dstok_tokenizer *tok, const dstok_chunker_options *o, const uint8_t *text, size_t n,
                  size_t sizes) {
    static seen whole, parts;
    dstok_tokens t = {0};
    dstok_encoder *enc = NULL, *again = NULL;
    require(dstok_encoder_new(tok, &enc) == DSTOK_OK && dstok_encoder_new(tok, &again) == DSTOK_OK);
    dstok_status right = dstok_encode_view(enc, text, n, o->encode, &t, NULL);
    whole.o = parts.o = o;
    whole.text = parts.text = text;
    whole.whole = parts.whole = right == DSTOK_OK ? &t : NULL;
    whole.again = parts.again = again;
    dstok_status status = cut(tok, &whole, n, n + 1, 0),
                 other = cut(tok, &parts, n, 1 + sizes % 200, 16 + sizes);
    if (right != DSTOK_OK) require(status != DSTOK_OK && other != DSTOK_OK);
    if (status == DSTOK_OK && n > 0) require(whole.chunks[whole.n - 1].bytes.end == n);
    if (status == DSTOK_OK && other != DSTOK_E_LIMIT) {
        require(other == DSTOK_OK && whole.n == parts.n);
        require(memcmp(whole.chunks, parts.chunks, whole.n * sizeof *whole.chunks) == 0);
    }
    dstok_encoder_free(enc);
    dstok_encoder_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dstok_encode_options encode;
    if (vocabularies[0] == NULL) open_vocabularies(NULL);
    if (size < 6) return 0;
    const dstok_tokenizer *tok = vocabularies[data[0] % N_VOCABULARIES];
    dstok_chunker_options o = options_of(data, &encode);
    size_t n = size - 6 < MAX_TEXT ? size - 6 : MAX_TEXT;
    uint8_t *text = malloc(n + (n == 0)); /* exact: a byte too many is seen */
    require(text != NULL);
    memcpy(text, data + 6, n);
    check(tok, &o, text, n, data[5]);
    free(text);
    return 0;
}
