/* SPDX-License-Identifier: MIT */
/* dstok_encode_stage: each stage finds what scanner, cuts and encoding find one after another; wrong calls. */
#include "../../tokenizer/bpe/encoder.h"
#include "../../tokenizer/bpe/cuts.h"
#include "../../tokenizer/text/utf8.h"
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/hard.h"

#include <stdlib.h>

#define MAX_TEXT 20000u

static size_t stage(dstok_encoder *enc, int which, const uint8_t *text, size_t len) {
    size_t n = SIZE_MAX;
    CHECK_EQ(dstok_encode_stage(enc, which, text, len, &n, NULL), DSTOK_OK);
    return n;
}

/* Cuts of a pretoken, asked at each of its borders. */
static size_t count_cuts(const dstok__cuts *c, const uint8_t *text, size_t len) {
    size_t n = 0, at = 0, width;
    if (c->pairs == NULL) return 0;
    uint32_t before = 0;
    for (bool was_long = false; at < len; at += width) {
        (void)dstok__utf8_get(text + at, &width);
        uint32_t key = dstok__char_key(text + at, width);
        if (at > 0 && (was_long || width > 2) && !dstok__may_join(c, before, key)) n++;
        before = key;
        was_long = width > 2;
    }
    return n;
}

static size_t n_cuts; /* in all texts */

static void check_text(dstok_encoder *enc, const uint8_t *text, size_t len) {
    dstok_encode_options plain = DSTOK_ENCODE_OPTIONS_INIT;
    const dstok__family *family = dstok__pretok_family(enc->tok->pretok);
    size_t pretokens = 0, cuts = 0, tokens = 0;
    for (size_t at = 0, end; at < len; at = end, pretokens++) {
        end = family->scan(text, len, at);
        cuts += count_cuts(&enc->tok->t.cuts, text + at, end - at);
    }
    plain.special = DSTOK_SPECIAL_PLAIN;
    CHECK_EQ(dstok_count(enc, text, len, &plain, &tokens, NULL), DSTOK_OK);
    CHECK_EQ(stage(enc, DSTOK_STAGE_UTF8, text, len), len);
    size_t blocks = stage(enc, DSTOK_STAGE_CLASSIFY, text, len), windows = len / 4093 + 1;
    CHECK(blocks >= (len + 63) / 64 && blocks <= (len + 63) / 64 + windows);
    CHECK_EQ(stage(enc, DSTOK_STAGE_BOUNDARIES, text, len), pretokens);
    CHECK_EQ(stage(enc, DSTOK_STAGE_PIECES, text, len), pretokens + cuts);
    CHECK_EQ(stage(enc, DSTOK_STAGE_PROBE, text, len), tokens);
    n_cuts += cuts;
}

/* Texts of all kinds, in memory that ends with them, on each tier. */
static void check_texts(const dstok_tokenizer *tok, uint64_t state) {
    static uint8_t text[MAX_TEXT];
    t_rng rng = {state};
    for (int simd = DSTOK_SIMD_SCALAR; simd <= DSTOK_SIMD_NEON; simd++) {
        dstok_encoder_options options = DSTOK_ENCODER_OPTIONS_INIT;
        dstok_encoder *enc = NULL;
        options.simd = simd;
        if (dstok_simd_name(simd) == NULL) continue;
        CHECK_EQ(dstok_encoder_new_with(tok, &options, &enc, NULL), DSTOK_OK);
        for (unsigned i = 0; i < 20 * HARD_KINDS && enc != NULL && t_failures < 9; i++) {
            size_t len = hard_text(&rng, i, text, i % 3 == 0 ? MAX_TEXT : 500);
            uint8_t *exact = malloc(len + 1);
            if (exact == NULL) exit(1);
            memcpy(exact + 1, text, len);
            check_text(enc, exact + 1, len);
            free(exact);
        }
        dstok_encoder_free(enc);
    }
}

static void test_made(void) {
    for (uint64_t seed = 1; seed < 4; seed++) {
        hard_merges m;
        t_rng rng = {seed};
        hard_merges_make(&m, &rng, 450, false);
        fixture f = hard_fixture(&m);
        dstok_tokenizer *tok = fixture_load(&f, NULL);
        check_texts(tok, 77 + seed);
        dstok_tokenizer_free(tok);
        hard_merges_free(&m);
    }
}

static void test_default(void) {
    dstok_tokenizer *tok = NULL;
    if (dstok_tokenizer_load_default(NULL, &tok, NULL) != DSTOK_OK) return; /* built without it */
    check_texts(tok, 5);
    dstok_tokenizer_free(tok);
}

static void check_fails(dstok_encoder *enc, int which, const void *text, size_t len, int status,
                        uint64_t place, const char *word) {
    dstok_error err = {0};
    size_t n = 7;
    CHECK_EQ(dstok_encode_stage(enc, which, text, len, &n, &err), status);
    CHECK_EQ(n, 7);
    CHECK_EQ(err.status, status);
    CHECK_EQ(err.offset, place);
    CHECK(strstr(err.text, word) != NULL);
}

static void test_wrong_calls(void) {
    fixture slow = fixture_words, bare = fixture_words;
    bare.without = "z";
    slow.pre_tokenizer = "{\"type\":\"Whitespace\"}";
    dstok_tokenizer *tok = fixture_load(&fixture_words, NULL), *slow_tok = fixture_load(&slow, NULL),
                    *bare_tok = fixture_load(&bare, NULL);
    dstok_encoder *enc = fixture_encoder(tok), *slow_enc = fixture_encoder(slow_tok),
                  *bare_enc = fixture_encoder(bare_tok);
    size_t n = 7;
    CHECK_EQ(dstok_encode_stage(enc, DSTOK_STAGE_UTF8, "a", 1, NULL, NULL), DSTOK_E_INVAL);
    check_fails(NULL, DSTOK_STAGE_UTF8, "a", 1, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "NULL");
    check_fails(enc, DSTOK_STAGE_UTF8, NULL, 1, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "NULL");
    check_fails(enc, 0, "a", 1, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "unknown stage 0");
    check_fails(enc, DSTOK_STAGE_PROBE + 1, "a", 1, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "unknown stage 6");
    check_fails(enc, DSTOK_STAGE_PROBE, "a", DSTOK_MAX_INPUT + 1, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, "at most");
    for (int which = DSTOK_STAGE_UTF8; which <= DSTOK_STAGE_PROBE; which++) {
        check_fails(enc, which, "ab\xFFz", 4, DSTOK_E_UTF8, 2, "0xFF");
        CHECK_EQ(stage(enc, which, NULL, 0), 0);
        CHECK(stage(bare_enc, which, (const uint8_t *)"ab", 2) > 0);
        if (which == DSTOK_STAGE_UTF8) continue;
        check_fails(slow_enc, which, "a", 1, DSTOK_E_STATE, DSTOK_NO_OFFSET, "piece by piece");
        check_fails(bare_enc, which, "az", 2, DSTOK_E_STATE, DSTOK_NO_OFFSET, "without a token");
    }
    CHECK_EQ(stage(slow_enc, DSTOK_STAGE_UTF8, (const uint8_t *)"abc", 3), 3);
    CHECK_EQ(stage(bare_enc, DSTOK_STAGE_UTF8, (const uint8_t *)"abz", 3), 3);
    CHECK_EQ(dstok_count(enc, "hello world", 11, NULL, &n, NULL), DSTOK_OK); /* an encoder as before */
    CHECK_EQ(n, 2);
    dstok_encoder_free(enc);
    dstok_encoder_free(slow_enc);
    dstok_encoder_free(bare_enc);
    dstok_tokenizer_free(tok);
    dstok_tokenizer_free(bare_tok);
    dstok_tokenizer_free(slow_tok);
}

int main(void) {
    test_made();
    test_default();
    test_wrong_calls();
    CHECK(n_cuts > 1000);
    return t_end();
}
