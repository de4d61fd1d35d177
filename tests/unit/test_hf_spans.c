/* SPDX-License-Identifier: MIT */
/* Spans in Hugging Face's style, in code points, against what tokenizers 0.23.3 gave. */
#include "../harness/t.h"

#include <dstok/align.h>
#include <dstok/tokenizer.h>

#include <stdlib.h>

#define G    "\xC4\xA0"     /* the blank in the byte-level alphabet */
#define META "\xE2\x96\x81" /* U+2581 */
#define WIDE "\xE3\x80\x80" /* U+3000, a blank */
#define NI   "\xE4\xBD\xA0"

#define ADDED(id, lstrip)                                                                                    \
    "\"added_tokens\":[{\"id\":" id ",\"content\":\"<x>\",\"single_word\":false,\"rstrip\":false,"           \
    "\"lstrip\":" lstrip ",\"normalized\":false,\"special\":false}]"

/* The post_processor takes blanks off the spans, but for the one that stands before the first token. */
static const char prefix[] =
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"" G "\":0,\"a\":1,\"" G "a\":2,\"" G G "\":3,\"" G G "a\":4},"
    "\"merges\":[[\"" G "\",\"a\"],[\"" G "\",\"" G "\"],[\"" G G "\",\"a\"]]}," ADDED(
        "5",
        "true") ","
                "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":false},"
                "\"post_processor\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true}"
                "}";

/* The same of characters, where any blank is one. */
static const char chars[] =
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"\\n\":1,\"" WIDE "\":2,\"b\":3,\"" WIDE "\\n\":4,"
    "\"<u>\":5},\"merges\":[[\"" WIDE "\",\"\\n\"]],\"unk_token\":\"<u>\",\"fuse_unk\":true},"
    "\"post_processor\":{\"type\":\"RobertaProcessing\",\"sep\":[\"b\",3],\"cls\":[\"a\",0],"
    "\"add_prefix_space\":false,\"trim_offsets\":true}}";

/* What a normalizer puts before anything else stands nowhere; elsewhere it has the place of what is before it. */
static const char inserts[] =
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"_\":1},\"merges\":[]}," ADDED(
        "2",
        "false") ",\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"b*\"},\"content\":\"_\"}}";

/* Characters without a token are not counted: all behind them in the pretoken moves to the left. */
static const char holes[] =
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"e\":1,\"\xCC\x81\":2,\"\xCC\xA3\":3},"
    "\"merges\":[]},\"normalizer\":{\"type\":\"NFD\"}}";

/* Two pieces that both stand at the begin of the input, and so both get a prefix. */
static const char first[] =
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"" META "\":0,\"X\":1},\"merges\":[]},"
    "\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"" META "\"},"
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":["
    "{\"type\":\"Split\",\"pattern\":{\"String\":\"" META "\"},\"behavior\":\"Isolated\",\"invert\":false},"
    "{\"type\":\"Metaspace\",\"replacement\":\"" META "\",\"prepend_scheme\":\"first\",\"split\":false}]}}";

#define MAX_TOKENS 5

static const struct {
    const char *file, *text;
    uint32_t ids[MAX_TOKENS];
    dstok_span spans[MAX_TOKENS];
    size_t n;
} rows[] = {
    {prefix, "a", {2}, {{0, 1}}, 1},
    {prefix, " a", {2}, {{0, 2}}, 1},
    {prefix, "  a", {0, 2}, {{0, 0}, {2, 3}}, 2},
    {prefix, "  ", {3}, {{2, 2}}, 1},
    {prefix, "a a", {2, 2}, {{0, 1}, {2, 3}}, 2},
    {prefix, "a " WIDE "<x>a", {2, 5, 2}, {{0, 1}, {3, 6}, {7, 7}}, 3},
    {prefix, "  <x>a", {5, 2}, {{2, 5}, {6, 6}}, 2},
    {chars, "\n", {0, 1, 3}, {{0, 0}, {1, 1}, {0, 0}}, 3},
    {chars, NI WIDE "\nb", {0, 5, 4, 3, 3}, {{0, 0}, {0, 1}, {3, 3}, {3, 4}, {0, 0}}, 5},
    {chars, "b" WIDE "b", {0, 3, 2, 3, 3}, {{0, 0}, {0, 1}, {2, 2}, {2, 3}, {0, 0}}, 5},
    {chars, NI NI "a", {0, 5, 0, 3}, {{0, 0}, {0, 2}, {2, 3}, {0, 0}}, 4},
    {inserts, "<x>a", {2, 1, 0, 1}, {{0, 3}, {3, 3}, {3, 4}, {3, 4}}, 4},
    {inserts, "a", {1, 0, 1}, {{0, 0}, {0, 1}, {0, 1}}, 3},
    {inserts, "ba", {1, 0, 1}, {{0, 1}, {1, 2}, {1, 2}}, 3},
    {inserts, "aba", {1, 0, 1, 0, 1}, {{0, 0}, {0, 1}, {1, 2}, {2, 3}, {2, 3}}, 5},
    {holes, "xa", {0}, {{0, 1}}, 1},
    {holes, "e\xCC\x81\xCC\xA3", {1, 3, 2}, {{0, 1}, {1, 2}, {2, 3}}, 3},
    {holes, "a\xC3\xA9x\xC3\xA9", {0, 1, 2, 1, 2}, {{0, 1}, {1, 2}, {1, 2}, {2, 3}, {3, 4}}, 5},
    {first, "X", {0, 0, 1}, {{0, 1}, {0, 1}, {0, 1}}, 3},
    {first, "XX", {0, 0, 1, 1}, {{0, 1}, {0, 1}, {0, 1}, {1, 2}}, 4},
    {first, " X", {0, 0, 1}, {{0, 1}, {0, 1}, {1, 2}}, 3},
};

/* Both styles give the same ids. */
static void check_row(dstok_encoder *enc, size_t i) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.special = DSTOK_SPECIAL_PARSE;
    options.add_special = 1;
    uint32_t ids[2 * MAX_TOKENS];
    dstok_span spans[2 * MAX_TOKENS];
    size_t len = strlen(rows[i].text), n = 0;
    for (int style = DSTOK_SPANS_EXACT; style <= DSTOK_SPANS_HF; style++) {
        options.span_style = style;
        CHECK_EQ(dstok_encode(enc, rows[i].text, len, &options, ids, spans, NULL, 2 * MAX_TOKENS, &n, NULL),
                 DSTOK_OK);
        CHECK_EQ(n, rows[i].n);
        CHECK_MEM(ids, rows[i].ids, rows[i].n * sizeof *ids);
    }
    CHECK_EQ(dstok_spans_convert(rows[i].text, len, spans, n, DSTOK_UNIT_CHAR), DSTOK_OK);
    CHECK_MEM(spans, rows[i].spans, rows[i].n * sizeof *spans);
    for (size_t k = 0; k < n && memcmp(spans, rows[i].spans, rows[i].n * sizeof *spans) != 0; k++)
        fprintf(stderr, "row %zu: [%d, %d]\n", i, (int)spans[k].begin, (int)spans[k].end);
}

/* A normalizer that leaves nothing of an added token: the reference would find it everywhere. */
static void test_refused(void) {
    static const char file[] =
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},\"normalizer\":{\"type\":\"Strip\","
        "\"strip_left\":true,\"strip_right\":true},\"added_tokens\":[{\"id\":1,\"content\":\" \","
        "\"single_word\":false,\"rstrip\":false,\"lstrip\":false,\"normalized\":true,\"special\":false}]}";
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.status = DSTOK_OK};
    CHECK_EQ(dstok_tokenizer_load_memory(file, strlen(file), NULL, 0, NULL, &tok, &err), DSTOK_E_UNSUPPORTED);
    CHECK(strstr(err.text, "leaves nothing") != NULL);
}

int main(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dstok_tokenizer *tok = NULL;
        dstok_encoder *enc = NULL;
        dstok_error err = {.status = DSTOK_OK};
        dstok_status status =
            dstok_tokenizer_load_memory(rows[i].file, strlen(rows[i].file), NULL, 0, NULL, &tok, &err);
        CHECK_EQ(status, DSTOK_OK);
        if (status != DSTOK_OK) fprintf(stderr, "%s\n", err.text);
        if (status == DSTOK_OK) status = dstok_encoder_new(tok, &enc);
        if (status == DSTOK_OK) check_row(enc, i);
        dstok_encoder_free(enc);
        dstok_tokenizer_free(tok);
    }
    test_refused();
    return t_end();
}
