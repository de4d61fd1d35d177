/* SPDX-License-Identifier: MIT */
/* Spans from the lengths of tokens: against what the encoder says, and against a naive version on any ids. */
#define _DEFAULT_SOURCE /* MAP_ANON */
#include "decode_util.h"

#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#include "../../tokenizer/bpe/spans.h"

#define MAX_TEXT 3000

static t_rng rng = {5};
static dstok_tokenizer *tok;
static uint8_t *edge; /* the source ends here */

static bool is_inside(const uint8_t *source, uint64_t at, uint64_t begin, uint64_t end) {
    return at >= begin && at < end && source[at] >= 0x80 && source[at] <= 0xBF;
}

/* The texts of ids[0, n) are what stands at source + at. */
static void check(const uint8_t *source, const uint32_t *ids, size_t n, uint64_t at, uint64_t end) {
    static dstok_span spans[MAX_TEXT + 1];
    static uint8_t flags[MAX_TEXT + 1];
    uint64_t begin = at, n_bad = 0;
    memset(spans, 0xAA, sizeof spans);
    memset(flags, 0xAA, sizeof flags);
    dstok__spans_from_ids(tok, source, ids, n, at, end, spans, flags);
    for (size_t i = 0; i < n; i++) {
        uint64_t next = at + tok->t.texts[ids[i]].n;
        bool is_partial = is_inside(source, at, begin, end) || is_inside(source, next, begin, end);
        n_bad +=
            spans[i].begin != at || spans[i].end != next || flags[i] != (is_partial ? DSTOK_FLAG_PARTIAL : 0);
        at = next;
    }
    CHECK_EQ(n_bad, 0);
    CHECK_EQ(spans[n].begin, 0xAAAAAAAAAAAAAAAA);
    CHECK_EQ(flags[n], 0xAA);
}

/* As the encoder has them: text and bytes, whole and from the middle on. */
static void test_encoded(void) {
    dstok_encoder *enc = fixture_encoder(tok);
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.invalid = DSTOK_INVALID_RAW;
    options.special = DSTOK_SPECIAL_PLAIN;
    static uint8_t text[MAX_TEXT], flags[MAX_TEXT];
    static dstok_span spans[MAX_TEXT];
    size_t n_partial = 0;
    for (int i = 0; i < 3000; i++) {
        dstok_tokens t;
        size_t n = 16 + t_below(&rng, i % 8 == 0 ? MAX_TEXT - 16 : 60);
        n = i % 2 == 0 ? gen_text(&rng, text, n) : gen_bytes(&rng, text, n);
        uint8_t *source = edge - n;
        memcpy(source, text, n);
        CHECK_EQ(dstok_encode_view(enc, source, n, &options, &t, NULL), DSTOK_OK);
        dstok__spans_from_ids(tok, source, t.ids, t.n, 0, n, spans, flags);
        CHECK(t.n == 0 || memcmp(spans, t.spans, t.n * sizeof *spans) == 0);
        CHECK(i % 2 == 1 || t.n == 0 || memcmp(flags, t.flags, t.n) == 0);
        for (size_t k = 0; k < t.n; k++) n_partial += flags[k];
        check(source, t.ids, t.n, 0, n);
        size_t from = t_below(&rng, (uint32_t)t.n + 1), to = from + t_below(&rng, (uint32_t)(t.n - from) + 1);
        uint64_t at = from == t.n ? n : t.spans[from].begin, end = to == t.n ? n : t.spans[to].begin;
        check(source, t.ids + from, to - from, at, end);
        check(source, t.ids + from, to - from, at, n); /* more text behind them */
    }
    CHECK(n_partial > 100);
    dstok_encoder_free(enc);
}

/* Any list of ids, long enough that lengths are looked up ahead; it ends at an edge, too. */
static void test_lists(void) {
    static uint8_t *ids_edge;
    ids_edge = util_edge();
    for (int i = 0; i < 2000; i++) {
        size_t n = t_below(&rng, 300), size = 0;
        uint32_t *ids = (uint32_t *)(void *)ids_edge - n;
        for (size_t k = 0; k < n; k++) {
            do ids[k] = t_below(&rng, tok->n_ids);
            while (tok->t.texts[ids[k]].n == 0);
            size += tok->t.texts[ids[k]].n;
        }
        uint8_t *source = edge - size, *p = source;
        for (size_t k = 0; k < n; k++) {
            dstok__ref ref = tok->t.texts[ids[k]];
            memcpy(p, tok->t.strings + ref.at, ref.n);
            p += ref.n;
        }
        check(source, ids, n, 0, size);
        uint64_t before = t_below(&rng, 9);
        check(source - before, ids, n, before, before + size);
    }
}

int main(void) {
    fixture f = fixture_words;
    tok = fixture_load(&f, NULL);
    edge = util_edge();
    test_encoded();
    test_lists();
    dstok_tokenizer_free(tok);
    return t_end();
}
