/* SPDX-License-Identifier: MIT */
/* Vocabularies of fuzz targets: the embedded one, a rank file of bytes and a few words with each of two meta
 * files, a tokenizer.json with every flag, one of the SentencePiece kind with holes, and a SentencePiece
 * model. */
#ifndef DSTOK_VOCAB_FUZZ_H
#define DSTOK_VOCAB_FUZZ_H

#include "../tokenizer/load/bytelevel.h"
#include "../tokenizer/text/utf8.h"

#include <dstok/tokenizer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int condition) {
    if (!condition) abort();
}

#define SPECIALS "\"special_tokens\":{\"<|a|>\":300,\"<|a|><|b|>\":301,\"<think>\":302}"
static const char *const metas[] = {
    "{" SPECIALS "}",
    "{\"pattern\":\"[a-z]+(?!x)| ?\\\\p{L}+|\\\\s+$|[^a-z]\"," SPECIALS ",\"normalizer\":\"NFC\"}",
};
enum { EMBEDDED, RANKS, RANKS_NFC, FLAGS, CHARACTERS, PIECES, N_VOCABULARIES };
static dstok_tokenizer *vocabularies[N_VOCABULARIES];

static size_t rank_file(char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (unsigned b = 0; b < 256; b++) {
        n += (size_t)sprintf(out + n, "%c%c== %u\n", digits[b >> 2], digits[(b & 3) << 4], b);
    }
    /* aa, aaaa, he, ll, hello, two blanks, E4 BD, A0 E5, <| , |> */
    return n + (size_t)sprintf(
                   out + n, "YWE= 256\nYWFhYQ== 257\naGU= 258\nbGw= 259\naGVsbG8= 260\nICA= 261\n5L0= 262\n"
                            "oOU= 263\nPHw= 264\nfD4= 265\n");
}

#define ADDED(content, special, single, strip, norm)                                                         \
    "{\"id\":0,\"content\":\"" content "\",\"single_word\":" single ",\"lstrip\":" strip                     \
    ",\"rstrip\":" strip ",\"normalized\":" norm ",\"special\":" special "}"

/* Bytes but z, whose id is the byte, and aa, aaaa. */
static size_t flags_file(char *out) {
    static const char head[] =
        "{\"version\":\"1.0\",\"added_tokens\":[" ADDED("<|a|>", "true", "false", "true", "false") "," ADDED(
            "lo", "false", "true", "false",
            "true") "," ADDED("[END]", "true", "false", "false",
                              "true") "],"
                                      "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":"
                                      "\"NFKC\"},{\"type\":\"Lowercase\"}]},"
                                      "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true},"
                                      "\"post_processor\":null,"
                                      "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\","
                                      "\"vocab\":{\"aa\":256,\"aaaa\":257";
    size_t n = (size_t)sprintf(out, "%s", head);
    for (unsigned b = 0; b < 256; b++) {
        uint8_t key[5] = {0};
        if (b == 'z') continue;
        dstok__utf8_put(key, dstok__bytelevel_char((uint8_t)b));
        n += (size_t)sprintf(out + n, ",\"%s%s\":%u", b == '"' || b == '\\' ? "\\" : "", (char *)key, b);
    }
    return n + (size_t)sprintf(out + n, "},\"merges\":[[\"a\",\"a\"],[\"aa\",\"aa\"]]}}");
}

#define META "\xE2\x96\x81"

/* Characters, the bytes but 7A and C3 as tokens, merges across both; the suffix of words has no bytes. */
static size_t characters_file(char *out) {
    static const char head[] =
        "{\"version\":\"1.0\",\"added_tokens\":[" ADDED("<s>", "true", "false", "true", "false") "," ADDED(
            "lo", "false", "true", "false",
            "true") "],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":"
                    "\"Prepend\",\"prepend\":\"" META
                    "\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" META
                    "\"}]},\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"" META
                    "\",\"prepend_scheme\":\"first\","
                    "\"split\":true},\"post_processor\":null,\"decoder\":{\"type\":\"ByteFallback\"},"
                    "\"model\":{\"type\":\"BPE\","
                    "\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true,\"end_of_word_suffix\":"
                    "\"_\",\"vocab\":{"
                    "\"<unk>\":0,\"a\":1,\"b\":2,\"b_\":3,\"" META "\":4,\"e\":5,\"ab_\":6,\"" META
                    "a\":7,\"<0x80><0x81>\":8";
    size_t n = (size_t)sprintf(out, "%s", head);
    for (unsigned b = 0; b < 256; b++) {
        if (b != 0x7A && b != 0xC3) n += (size_t)sprintf(out + n, ",\"<0x%02X>\":%u", b, 9 + b);
    }
    return n + (size_t)sprintf(out + n, "},\"merges\":[[\"a\",\"b_\"],[\"" META
                                        "\",\"a\"],[\"<0x80>\",\"<0x81>\"]]}}");
}

/* One piece of a SentencePiece model: its text, a score of minus its number, its type. */
static size_t put_piece(char *out, const char *text, uint8_t number, char type) {
    size_t k = strlen(text), n = 0;
    const char score[] = {0x15, 0, 0, (char)(number << 4), (char)(number > 7 ? 0xC1 : 0xC0), 0x18, type};
    out[n++] = 0x0A;
    out[n++] = (char)(k + 2 + sizeof score);
    out[n++] = 0x0A;
    out[n++] = (char)k;
    memcpy(out + n, text, k);
    memcpy(out + n + k, score, sizeof score);
    return n + k + sizeof score;
}

/* BPE with byte_fallback, the dummy prefix, and extra blanks taken away; two pieces that are not used. */
static size_t pieces_file(char *out) {
    static const char settings[] = "\x12\x05\x18\x02\x98\x02\x01\x1A\x06\x18\x01\x20\x01\x28\x01";
    static const struct {
        const char *text;
        char type;
    } own[] = {{"<unk>", 2}, {"<s>", 3}, {"<u>", 4},    {META "q", 4},  {"a", 1}, {"b", 5},
               {"ab", 5},    {"abb", 1}, {META "a", 1}, {META META, 1}, {META, 1}};
    size_t n = 0;
    char name[8];
    for (uint8_t i = 0; i < sizeof own / sizeof *own; i++)
        n += put_piece(out + n, own[i].text, i, own[i].type);
    for (unsigned b = 0; b < 256; b++) {
        sprintf(name, "<0x%02X>", b);
        n += put_piece(out + n, name, 0, 6);
    }
    memcpy(out + n, settings, sizeof settings - 1);
    return n + sizeof settings - 1;
}

static void open_one(int which, const char *data, size_t n, const dstok_load_options *options) {
    require(dstok_tokenizer_load_memory(data, n, NULL, 0, options, &vocabularies[which], NULL) == DSTOK_OK);
}

/* All of them, with memory from `al`. */
static void open_vocabularies(const dstok_alloc *al) {
    static char ranks[8192], flags[8192], characters[8192], pieces[8192];
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    size_t n = rank_file(ranks), n_flags = flags_file(flags);
    options.alloc = al;
    for (int i = 0; i < 2; i++) {
        options.pattern = i == 0 ? "cl100k_base" : NULL;
        require(dstok_tokenizer_load_memory(ranks, n, metas[i], strlen(metas[i]), &options,
                                            &vocabularies[RANKS + i], NULL) == DSTOK_OK);
    }
    options.pattern = NULL;
    open_one(FLAGS, flags, n_flags, &options);
    open_one(CHARACTERS, characters, characters_file(characters), &options);
    open_one(PIECES, pieces, pieces_file(pieces), &options);
    if (dstok_tokenizer_load_default(&options, &vocabularies[EMBEDDED], NULL) != DSTOK_OK) {
        vocabularies[EMBEDDED] = vocabularies[RANKS]; /* a build without it */
    }
}

#endif
