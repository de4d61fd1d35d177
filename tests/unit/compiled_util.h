/* SPDX-License-Identifier: MIT */
/* What the tests of compiled vocabularies share: three of them, and changed copies of their bytes. */
#ifndef DSTOK_TESTS_COMPILED_UTIL_H
#define DSTOK_TESTS_COMPILED_UTIL_H

#include "../../tokenizer/bpe/tables.h"
#include "../harness/t.h"
#include "../oracle/fixture.h"

#include <stdlib.h>

/* Vocabularies that between them have every part: scanner and PCRE2, byte and character atoms, normalisers,
 * steps that rewrite, decoder rules, template. */
static const char *const pairs[][2] = {{"h", "e"},    {"l", "l"}, {"he", "ll"},
                                       {"hell", "o"}, {" ", "w"}, {"l", "o"}};

static const fixture bytes_fixture = {
    .merges = pairs,
    .n_merges = sizeof pairs / sizeof *pairs,
    .added = "s:<s>\nsn:</s>\nslr:<|end|>\nw:LOW\nn:oo",
    .normalizer = "{\"type\":\"NFC\"}",
    .post_processor =
        "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
        "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<s>\":{\"id\":"
        "\"<s>\",\"ids\":[262],\"tokens\":[\"<s>\"]}}}",
};

static const char chars_json[] =
    "{\"version\":\"1.0\",\"added_tokens\":["
    "{\"id\":0,\"content\":\"<unk>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":"
    "false,"
    "\"special\":true},"
    "{\"id\":1,\"content\":\"<s>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":true,\"normalized\":"
    "true,"
    "\"special\":true}],"
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":"
    "\"\xE2\x96\x81\"},"
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xE2\x96\x81\"},"
    "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"[0-9]{2,}\"},\"content\":\"0\"}]},"
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":"
    "\"[.,]+\"},"
    "\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\","
    "\"prepend_scheme\":\"first\",\"split\":true}]},"
    "\"post_processor\":null,"
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":"
    "\"\xE2\x96\x81\"},"
    "\"content\":\" \"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" "
    "\","
    "\"start\":1,\"stop\":0}]},"
    "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true,\"vocab\":{"
    "\"<unk>\":0,\"<s>\":1,\"<0xC3>\":2,\"<0xA9>\":3,\"\xE2\x96\x81\":4,\"h\":5,\"e\":6,\"l\":7,\"o\":8,"
    "\"w\":9,"
    "\"he\":10,\"ll\":11,\"\xE2\x96\x81w\":12,\"lo\":13},\"merges\":[[\"h\",\"e\"],[\"l\",\"l\"],"
    "[\"\xE2\x96\x81\",\"w\"],[\"l\",\"o\"]]}}";

/* Merges that are not in the order of their products, so that these have a table of their own. */
static const char products_json[] =
    "{\"version\":\"1.0\",\"added_tokens\":[],\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\","
    "\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true},\"post_processor\":null,"
    "\"decoder\":null,"
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"bc\":3,\"ab\":4},"
    "\"merges\":[[\"a\",\"b\"],[\"b\",\"c\"]]}}";

static inline dstok_status load(const void *data, size_t n, const dstok_alloc *al, dstok_tokenizer **tok,
                                dstok_error *err) {
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    options.alloc = al;
    return dstok_tokenizer_load_memory(data, n, NULL, 0, &options, tok, err);
}

#define N_SOURCES 3

/* One of them, from its source. */
static inline dstok_tokenizer *load_source(int which) {
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.text = ""};
    const char *json = which == 1 ? chars_json : products_json;
    if (which == 0) return fixture_load(&bytes_fixture, NULL);
    CHECK_EQ(load(json, strlen(json), NULL, &tok, &err), DSTOK_OK);
    if (tok == NULL) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return tok;
}

/* ---- blocks ---- */

/* Makes the checksum right. */
static inline void seal(uint8_t *block, size_t n) {
    dstok__head head;
    if (n < sizeof head) return;
    memcpy(&head, block, sizeof head);
    head.checksum = dstok__hash(block + DSTOK__CHECKED_FROM, n - DSTOK__CHECKED_FROM, 0);
    memcpy(block, &head, sizeof head);
}

/* A copy of the block of load_source(which). */
static inline uint8_t *copy_block(int which, size_t *n) {
    dstok_tokenizer *tok = load_source(which);
    const void *bytes = dstok_tokenizer_compiled(tok, n);
    uint8_t *block = malloc(*n);
    if (block == NULL) exit(1);
    memcpy(block, bytes, *n);
    dstok_tokenizer_free(tok);
    return block;
}

static inline void *section(uint8_t *block, dstok__section s) {
    return block + ((dstok__head *)(void *)block)->sections[s].at;
}

/* The sealed block must not open, and says why; NULL: it must. */
static inline void check_opens(uint8_t *block, size_t n, const char *says) {
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.text = ""};
    seal(block, n);
    CHECK_EQ(load(block, n, NULL, &tok, &err), says == NULL ? DSTOK_OK : DSTOK_E_FORMAT);
    bool said = says == NULL || strstr(err.text, says) != NULL;
    CHECK(said);
    if (!said) fprintf(stderr, "  it says: %s\n", err.text);
    dstok_tokenizer_free(tok);
}

#endif
