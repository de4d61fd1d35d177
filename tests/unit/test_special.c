/* SPDX-License-Identifier: MIT */
/* Policies for added tokens on a made-up vocabulary with every flag; PARSE and TEXT as Hugging Face tokenizers 0.23.3
 * answered for the same file. */
#include "../harness/t.h"
#include "../oracle/fixture.h"

#include <stdlib.h>

#define BAR "\xEF\xBD\x9C" /* U+FF5C, full-width bar */
/* Ids follow the 283 tokens of the words: in file order. */
enum { SYS = 283, SYS_USER, USER, MASK, CAT, BLANKS, WIDE_USER, THINK, END, CAFE, YES };
static const char added[] = "s:<|sys|>\n"
                            "s:<|sys|><|user|>\n"
                            "sr:<|user|>\n"
                            "slr:<mask>\n"
                            "wn:cat\n"
                            "n:  \n"
                            "n:<" BAR "User" BAR ">\n"
                            ":<think>\n"
                            "sn:[END]\n"
                            "wlrn:caf\xC3\xA9\n"
                            "n:Yes\n";
static const char *const normalizers[] = {NULL, "{\"type\":\"Lowercase\"}", "{\"type\":\"NFC\"}"};

static dstok_tokenizer *tok;
static dstok_encoder *enc;

static void open_with(const char *normalizer) {
    fixture f = fixture_words;
    f.added = added;
    f.normalizer = normalizer;
    tok = fixture_load(&f, NULL);
    enc = fixture_encoder(tok);
}

static void close_both(void) {
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

/* ---- as Hugging Face ---- */

static const struct answer {
    int normalizer, special;
    const char *text;
    uint32_t ids[20];
    size_t n;
} answers[] = {
    {0, DSTOK_SPECIAL_PARSE, "a<|sys|>b", {97, SYS, 98}, 3},
    {0, DSTOK_SPECIAL_PARSE, "<|sys|><|user|>  x", {SYS_USER, BLANKS, 120}, 3},
    {0, DSTOK_SPECIAL_PARSE, "<|sys|> <|user|>  x", {SYS, 32, USER, 120}, 4},
    {0, DSTOK_SPECIAL_PARSE, "<|user|><mask>", {USER, MASK}, 2},
    {0, DSTOK_SPECIAL_PARSE, "a  <mask> \n b", {97, MASK, 98}, 3},
    {0, DSTOK_SPECIAL_PARSE, "a cat b", {97, 32, CAT, 32, 98}, 5},
    {0, DSTOK_SPECIAL_PARSE, "cats", {99, 97, 116, 115}, 4},
    {0, DSTOK_SPECIAL_PARSE, "_cat cat.", {95, 99, 97, 116, 32, CAT, 46}, 7},
    {0, DSTOK_SPECIAL_PARSE, "  a  b   c    ", {BLANKS, 97, BLANKS, 98, BLANKS, 32, 99, BLANKS, BLANKS}, 9},
    {0, DSTOK_SPECIAL_PARSE, "x<" BAR "User" BAR ">y", {120, WIDE_USER, 121}, 3},
    {0, DSTOK_SPECIAL_PARSE, "<think>no", {THINK, 110, 111}, 3},
    {0, DSTOK_SPECIAL_PARSE, "[END]", {END}, 1},
    {0, DSTOK_SPECIAL_PARSE, "[end]", {91, 101, 110, 100, 93}, 5},
    {0, DSTOK_SPECIAL_PARSE, "YES yes Yes", {89, 69, 83, 32, 121, 101, 115, 32, YES}, 9},
    {0, DSTOK_SPECIAL_PARSE, "cafe\xCC\x81 x", {99, 97, 102, 101, 204, 129, 32, 120}, 8},
    {0, DSTOK_SPECIAL_PARSE, "CAF\xC3\x89", {67, 65, 70, 195, 137}, 5},
    {0, DSTOK_SPECIAL_PARSE, "<|SYS|>", {60, 124, 83, 89, 83, 124, 62}, 7},
    {0, DSTOK_SPECIAL_PARSE, "hello world", {259, 266}, 2},
    {0, DSTOK_SPECIAL_PARSE, "<mask><mask>", {MASK, MASK}, 2},
    {0, DSTOK_SPECIAL_PARSE, "<|user|>   <|user|>", {USER, USER}, 2},
    {0, DSTOK_SPECIAL_PARSE, "x cat<|sys|>cat y", {120, 32, CAT, SYS, CAT, 32, 121}, 7},
    {0, DSTOK_SPECIAL_PARSE, "a<|sys|>\xC2\xA0<mask>\xC2\x85z", {97, SYS, MASK, 122}, 4},
    {0, DSTOK_SPECIAL_PARSE, "<" BAR "User" BAR "><|sys|>", {WIDE_USER, SYS}, 2},
    {0, DSTOK_SPECIAL_TEXT, "a<|sys|>b", {97, 60, 124, 115, 121, 115, 124, 62, 98}, 9},
    {0,
     DSTOK_SPECIAL_TEXT,
     "<|sys|><|user|>  x",
     {60, 124, 115, 121, 115, 124, 62, 60, 124, 117, 115, 101, 114, 124, 62, BLANKS, 120},
     17},
    {0,
     DSTOK_SPECIAL_TEXT,
     "<|user|><mask>",
     {60, 124, 117, 115, 101, 114, 124, 62, 60, 109, 97, 115, 107, 62},
     14},
    {0, DSTOK_SPECIAL_TEXT, "a  <mask> \n b", {97, BLANKS, 60, 109, 97, 115, 107, 62, 32, 10, 32, 98}, 12},
    {0, DSTOK_SPECIAL_TEXT, "[END]", {91, 69, 78, 68, 93}, 5},
    {0,
     DSTOK_SPECIAL_TEXT,
     "<|user|>   <|user|>",
     {60, 124, 117, 115, 101, 114, 124, 62, BLANKS, 32, 60, 124, 117, 115, 101, 114, 124, 62},
     18},
    {0,
     DSTOK_SPECIAL_TEXT,
     "x cat<|sys|>cat y",
     {120, 32, CAT, 60, 124, 115, 121, 115, 124, 62, CAT, 32, 121},
     13},
    {0, DSTOK_SPECIAL_TEXT, "<" BAR "User" BAR "><|sys|>", {WIDE_USER, 60, 124, 115, 121, 115, 124, 62}, 8},
    {0, DSTOK_SPECIAL_TEXT, "<think>no", {THINK, 110, 111}, 3},
    {1, DSTOK_SPECIAL_PARSE, "[end]", {END}, 1},
    {1, DSTOK_SPECIAL_PARSE, "YES yes Yes", {YES, 32, YES, 32, YES}, 5},
    {1, DSTOK_SPECIAL_PARSE, "CAF\xC3\x89", {CAFE}, 1},
    {1, DSTOK_SPECIAL_PARSE, "<|SYS|>", {60, 124, 115, 121, 115, 124, 62}, 7},
    {1, DSTOK_SPECIAL_TEXT, "[END]", {91, 101, 110, 100, 93}, 5},
    {2, DSTOK_SPECIAL_PARSE, "cafe\xCC\x81 x", {CAFE, 120}, 2},
};

static void test_as_reference(void) {
    for (int n = 0; n < 3; n++) {
        open_with(normalizers[n]);
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
            const struct answer *a = &answers[i];
            if (a->normalizer == n) fixture_check_ids(enc, a->text, a->special, a->ids, a->n, "reference");
        }
        close_both();
    }
}

/* ---- our own policies ---- */

static void check_one(const char *text, int special, const uint32_t *want, size_t n) {
    fixture_check_ids(enc, text, special, want, n, "policy");
}

/* No control token, whatever the file calls it; other added tokens match. */
static void test_safe(void) {
    static const char *const texts[] = {
        "<|sys|>", "<|sys|><|user|>", "<|user|>", "<mask>", "<" BAR "User" BAR ">", "<think>", "[END]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dstok_tokens got = {0};
        CHECK_EQ(dstok_encode_view(enc, texts[i], strlen(texts[i]), NULL, &got, NULL), DSTOK_OK);
        CHECK_EQ(got.n, strlen(texts[i])); /* no merge applies: one token a byte */
        const dstok_report *r = dstok_encode_report(enc);
        CHECK(r->n_special_text >= 1);
        CHECK_EQ(r->first_special, 0);
    }
    check_one("a cat  b", DSTOK_SPECIAL_SAFE, (const uint32_t[]){97, 32, CAT, BLANKS, 98}, 5);
    /* A shorter token that is no control token may match inside of control text. */
    check_one("Yes<|sys|>cat", DSTOK_SPECIAL_SAFE,
              (const uint32_t[]){YES, 60, 124, 115, 121, 115, 124, 62, CAT}, 9);
    /* What controls would take in of blanks around them stays text too. */
    check_one("a <mask> b", DSTOK_SPECIAL_SAFE, (const uint32_t[]){97, 32, 60, 109, 97, 115, 107, 62, 32, 98},
              10);
}

static void test_plain(void) {
    check_one("cat  ", DSTOK_SPECIAL_PLAIN, (const uint32_t[]){99, 97, 116, 267}, 4);
    check_one("Yes<think>", DSTOK_SPECIAL_PLAIN,
              (const uint32_t[]){89, 101, 115, 60, 116, 104, 105, 110, 107, 62}, 10);
}

static void check_error(const char *text, uint64_t offset) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens got = {0};
    dstok_error err = {.status = DSTOK_OK};
    options.special = DSTOK_SPECIAL_ERROR;
    CHECK_EQ(dstok_encode_view(enc, text, strlen(text), &options, &got, &err), DSTOK_E_SPECIAL);
    CHECK_EQ(err.status, DSTOK_E_SPECIAL);
    CHECK_EQ(err.offset, offset);
    CHECK(err.text[0] != '\0');
}

static void test_error(void) {
    check_error("<|sys|>", 0);
    check_error("ab  <mask>", 4); /* where the token begins, not the blanks before it */
    check_error("x<" BAR "User" BAR ">", 1);
    check_error("cat <think>", 4);
    check_one("cat", DSTOK_SPECIAL_ERROR, (const uint32_t[]){CAT}, 1);
}

static void test_list(void) {
    static const uint32_t allowed[] = {USER, THINK};
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens got = {0};
    options.special = DSTOK_SPECIAL_LIST;
    options.allowed = allowed;
    options.n_allowed = 2;
    const char text[] = "<|sys|><|user|> cat<think>";
    const uint32_t want[] = {60, 124, 115, 121, 115, 124, 62, USER, CAT, THINK};
    CHECK_EQ(dstok_encode_view(enc, text, strlen(text), &options, &got, NULL), DSTOK_OK);
    CHECK_EQ(got.n, 10);
    CHECK(got.n == 10 && memcmp(got.ids, want, sizeof want) == 0);
    CHECK_EQ(dstok_encode_report(enc)->n_special_text, 1);
}

/* Every control text is counted once, and the first is the leftmost, in whatever order they are met. */
static void test_report(void) {
    const char text[] = "ab<" BAR "User" BAR "> [END] <think> <|sys|>";
    dstok_tokens got = {0};
    CHECK_EQ(dstok_encode_view(enc, text, strlen(text), NULL, &got, NULL), DSTOK_OK);
    CHECK_EQ(dstok_encode_report(enc)->n_special_text, 4);
    CHECK_EQ(dstok_encode_report(enc)->first_special, 2);
}

/* Flags and spans of a token with blanks around it. */
static void test_flags(void) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens got = {0};
    options.special = DSTOK_SPECIAL_PARSE;
    CHECK_EQ(dstok_encode_view(enc, "a  <mask>\n hello", 16, &options, &got, NULL), DSTOK_OK);
    CHECK_EQ(got.n, 3);
    CHECK_EQ(got.spans[1].begin, 1);
    CHECK_EQ(got.spans[1].end, 11);
    CHECK_EQ(got.flags[0], 0);
    CHECK_EQ(got.flags[1], DSTOK_FLAG_ADDED);
    uint32_t special = DSTOK_TOKEN_EXISTS | DSTOK_TOKEN_ADDED | DSTOK_TOKEN_SPECIAL | DSTOK_TOKEN_CONTROL;
    CHECK_EQ(dstok_token_flags(tok, SYS), special);
    CHECK_EQ(dstok_token_flags(tok, WIDE_USER), special & ~DSTOK_TOKEN_SPECIAL);
    CHECK_EQ(dstok_token_flags(tok, THINK), special & ~DSTOK_TOKEN_SPECIAL);
    CHECK_EQ(dstok_token_flags(tok, CAT), DSTOK_TOKEN_EXISTS | DSTOK_TOKEN_ADDED);
    CHECK_EQ(dstok_token_flags(tok, 'a'), DSTOK_TOKEN_EXISTS);
}

/* ---- control tokens that plain merging would give ---- */

static const char *const control_merges[][2] = {{"<", "|"}, {"|", ">"}, {"<|", "a"}, {"<|a", "|>"}};

static void test_control_from_merges(void) {
    const uint32_t as_token[] = {259}, as_text[] = {258, 257};
    for (int ignore_merges = 0; ignore_merges < 2; ignore_merges++) {
        fixture f = {.merges = control_merges, .n_merges = 4};
        f.added = "s:<|a|>\n";
        f.pre_tokenizer = "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}";
        if (ignore_merges) f.model = "\"ignore_merges\":true,";
        tok = fixture_load(&f, NULL);
        enc = fixture_encoder(tok);
        check_one("<|a|>", DSTOK_SPECIAL_PARSE, as_token, 1);
        check_one("<|a|>", DSTOK_SPECIAL_PLAIN, as_token, 1); /* as the references do */
        check_one("<|a|>", DSTOK_SPECIAL_TEXT, as_token, 1);
        check_one("<|a|>", DSTOK_SPECIAL_SAFE, as_text, 2);
        check_one("<|a|>", DSTOK_SPECIAL_LIST, as_text, 2); /* nothing is listed */
        close_both();
    }
}

int main(void) {
    test_as_reference();
    open_with(NULL);
    test_safe();
    test_plain();
    test_error();
    test_list();
    test_report();
    test_flags();
    close_both();
    test_control_from_merges();
    return t_end();
}
