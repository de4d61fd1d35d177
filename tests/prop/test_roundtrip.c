/* SPDX-License-Identifier: MIT */
/* decode(encode(x)) = x for all bytes, wherever no normaliser and no dropping pattern is at work. */
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#include "../../data/vocab/default_vocab.h"

#include <stdlib.h>

#define MAX_TEXT 400
/* (The content of an added token that is also a key of the vocabulary, such as U+00E9, would take over that token: the
 * byte E9. The references do so too.) */
static const char added[] = "s:<|sys|>\n"
                            "n:  \n"
                            ":\xC3\xA9?\n"
                            "n:<think>\n";

#define RANKS_META                                                                                           \
    "{\"pattern\":\"\\\\p{L}+|\\\\s+|[^\\\\p{L}\\\\s]\",\"special_tokens\":{\"<|a|>\":300,\"<|a|><|b|>\":"   \
    "301}}"

static void check_text(const dstok_tokenizer *tok, dstok_encoder *enc, const char *name, const uint8_t *text,
                       size_t n, int special) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    options.special = special;
    options.invalid = DSTOK_INVALID_RAW;
    uint8_t *exact = malloc(n > 0 ? n : 1), *back = malloc(n > 0 ? n : 1);
    memcpy(exact, text, n);
    size_t back_n = 0;
    bool ok =
        dstok_encode_view(enc, exact, n, &options, &t, NULL) == DSTOK_OK &&
        dstok_decode(tok, t.ids, t.n, DSTOK_DECODE_LOSSLESS, 0, back, n, &back_n, NULL, NULL) == DSTOK_OK &&
        back_n == n && memcmp(back, text, n) == 0;
    t_checks++;
    t_failures += !ok;
    if (!ok && t_failures < 4) {
        fprintf(stderr, "%s, special %d: does not come back: ", name, special);
        gen_print(text, n < 500 ? n : 500);
    }
    free(exact);
    free(back);
}

/* The whole of a text: every byte value and every pair of them. */
static void check_pairs(const dstok_tokenizer *tok, dstok_encoder *enc, const char *name) {
    static uint8_t pairs[2 * 65536];
    for (size_t i = 0; i < 65536; i++) {
        pairs[2 * i] = (uint8_t)(i >> 8);
        pairs[2 * i + 1] = (uint8_t)i;
    }
    check_text(tok, enc, name, pairs, sizeof pairs, DSTOK_SPECIAL_SAFE);
    for (size_t i = 0; i < 65536; i++) check_text(tok, enc, name, pairs + 2 * i, 2, DSTOK_SPECIAL_SAFE);
}

static void check_tokenizer(dstok_tokenizer *tok, const char *name, unsigned rounds) {
    t_rng rng = {41};
    uint8_t text[MAX_TEXT];
    dstok_encoder *enc = fixture_encoder(tok);
    check_pairs(tok, enc, name);
    for (unsigned i = 0; i < rounds; i++) {
        size_t n = i % 3 == 0   ? gen_bytes(&rng, text, MAX_TEXT)
                   : i % 3 == 1 ? gen_text(&rng, text, MAX_TEXT)
                                : gen_tokens(&rng, tok, text, MAX_TEXT);
        check_text(tok, enc, name, text, n, (int)(i % 4));
    }
    fprintf(stderr, "%-24s %u texts\n", name, rounds);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

/* A rank file with NFC and broken bytes: the last pretoken is taken back, and a normaliser may have swapped it with the
 * one before. No mark may be lost or doubled by that, whichever way round they come out. */
static void test_swapped_marks(void) {
    static const char text[] = "x\xCC\x91\xD6\xA7\xF0";
    static const char *const wanted[] = {text, "x\xD6\xA7\xCC\x91\xF0"};
    static const char meta[] =
        "{\"pattern\":\"\\\\p{L}+|[^\\\\p{L}]\",\"special_tokens\":{},\"normalizer\":\"NFC\"}";
    dstok_tokenizer *tok = fixture_load_ranks(meta);
    dstok_encoder *enc = fixture_encoder(tok);
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    char back[32];
    size_t n = 0;
    options.invalid = DSTOK_INVALID_RAW;
    CHECK_EQ(dstok_encode_view(enc, text, sizeof text - 1, &options, &t, NULL), DSTOK_OK);
    CHECK_EQ(dstok_decode(tok, t.ids, t.n, DSTOK_DECODE_LOSSLESS, 0, back, sizeof back, &n, NULL, NULL),
             DSTOK_OK);
    CHECK_EQ(n, sizeof text - 1);
    CHECK(n == sizeof text - 1 && (memcmp(back, wanted[0], n) == 0 || memcmp(back, wanted[1], n) == 0));
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

static void check_shared(void) {
    static const char *const names[] = {"cl100k_base.tiktoken", "r50k_base.tiktoken",
                                        "deepseek_v3.tokenizer.json", "llama3_1.tokenizer.json",
                                        "whisper_large_v3.tokenizer.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        size_t n;
        dstok_tokenizer *tok = NULL;
        snprintf(path, sizeof path, "vocab/%s.xz", names[i]);
        const char *full = t_shared(path);
        char *data = full != NULL ? t_read(full, &n) : NULL;
        if (data == NULL) {
            fprintf(stderr, "%-24s SKIPPED: not in ../shared/vocab\n", names[i]);
            continue;
        }
        CHECK_EQ(dstok_tokenizer_load_memory(data, n, NULL, 0, NULL, &tok, NULL), DSTOK_OK);
        free(data);
        if (tok != NULL) check_tokenizer(tok, names[i], 6000);
    }
}

int main(void) {
    fixture f = fixture_words;
    check_tokenizer(fixture_load(&f, NULL), "fixture", 30000);
    f.added = added;
    check_tokenizer(fixture_load(&f, NULL), "fixture, added tokens", 30000);
    f.model = "\"ignore_merges\":true,";
    f.pre_tokenizer = "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}";
    check_tokenizer(fixture_load(&f, NULL), "fixture, no pattern", 30000);
    check_tokenizer(fixture_load_ranks(RANKS_META), "rank file", 30000);
    test_swapped_marks();
    if (dstok__default_vocab_size > 0) {
        dstok_tokenizer *tok = NULL;
        CHECK_EQ(dstok_tokenizer_load_default(NULL, &tok, NULL), DSTOK_OK);
        if (tok != NULL) check_tokenizer(tok, "embedded default", 30000);
    } else {
        fprintf(stderr, "%-24s SKIPPED: built without it\n", "embedded default");
    }
    check_shared();
    return t_end();
}
