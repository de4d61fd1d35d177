/* SPDX-License-Identifier: MIT */
/* Rank files: lines, where the pattern and the special tokens come from, each refusal; SHA-256 and base64 beneath. */
#include "load_util.h"

#include "tokenizer/load/base64.h"
#include "tokenizer/load/encodings.h"
#include "tokenizer/load/sha256.h"

typedef struct loaded {
    dstok__spec s;
    dstok_error err;
    dstok_status status;
} loaded;

static void load(loaded *l, const char *text, size_t n, const char *pattern, const char *meta) {
    l->err = (dstok_error){0};
    dstok__spec_init(&l->s, &dstok__default_alloc);
    l->status = dstok__load_tiktoken(&l->s, text, n, pattern, meta, meta != NULL ? strlen(meta) : 0, &l->err);
    if (l->status != DSTOK_OK) util_check_error(l->status, &l->err, n > 400 ? n : 400);
}

/* ---- beneath ---- */

static void check_sha256(const char *text, size_t repeat, const char *want) {
    size_t n = strlen(text) * repeat;
    char *all = malloc(n + 1), hex[65];
    if (all == NULL) exit(1);
    for (size_t i = 0; i < repeat; i++) memcpy(all + i * strlen(text), text, strlen(text));
    dstok__sha256_hex(all, n, hex);
    CHECK_STR(hex, want);
    free(all);
}

/* FIPS 180-4's examples, and lengths at the border of the last block (computed with sha256sum). */
static void test_sha256(void) {
    check_sha256("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_sha256("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_sha256("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    check_sha256("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    check_sha256("a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    check_sha256("a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    check_sha256("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

static void check_base64(const char *text, const char *want, size_t want_n) {
    uint8_t out[64];
    size_t n = 99;
    bool ok = dstok__base64_decode(text, strlen(text), out, &n);
    CHECK_EQ(ok, want != NULL);
    if (!ok || want == NULL) return;
    CHECK_EQ(n, want_n);
    if (n == want_n) CHECK_MEM(out, want, n);
}

static void test_base64(void) {
    check_base64("", "", 0);
    check_base64("Zg==", "f", 1);
    check_base64("Zm8=", "fo", 2);
    check_base64("Zm9v", "foo", 3);
    check_base64("Zm9vYg==", "foob", 4);
    check_base64("AAECA/+/", "\0\1\2\3\xFF\xBF", 6);
    static const char *const bad[] = {"Zg",   "Zg=",  "Zg===",  "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==",
                                      "Z-9v", "Zm_v", "Zm9v\n", "Zm 9", "=AAA", "A=AA", "AA=A"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) check_base64(bad[i], NULL, 0);
}

/* ---- the fixture ---- */

static void test_mini(void) {
    size_t n, meta_n;
    char *text = util_fixture("mini.tiktoken", &n), *meta = util_fixture("mini.tiktoken.meta.json", &meta_n);
    loaded l;
    load(&l, text, n, NULL, meta);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_STR(l.s.format, "tiktoken");
    CHECK_EQ(l.s.model, DSTOK__MODEL_RANKS);
    CHECK(l.s.ignore_merges && l.s.unk_id == DSTOK__NO_ID && l.s.n_merges == 0);
    CHECK_EQ(l.s.n_tokens, 263);
    CHECK(l.s.tokens[0].n == 1 && l.s.tokens[0].bytes[0] == 0 && l.s.tokens[0].id == 0);
    CHECK(l.s.tokens[262].n == 3 && memcmp(l.s.tokens[262].bytes, "\xE4\xB8\xAD", 3) == 0 &&
          !l.s.tokens[262].literal);
    CHECK_EQ(l.s.n_steps, 1);
    CHECK_STR(l.s.steps[0].pattern, "\\p{L}+|\\s+|.");
    CHECK(l.s.steps[0].kind == DSTOK__STEP_REGEX && l.s.steps[0].dialect == DSTOK__DIALECT_FANCY);
    CHECK(l.s.steps[0].behavior == DSTOK__REMOVED && l.s.steps[0].invert);
    CHECK_EQ(l.s.n_norms, 1); /* "normalizer_used_by_the_package" is no order */
    CHECK_EQ(l.s.norms[0].kind, DSTOK__NORM_NFC);
    CHECK_EQ(l.s.n_added, 2);
    CHECK(l.s.added[0].id == 300 && l.s.added[0].special && !l.s.added[0].normalized);
    CHECK(l.s.added[1].id == 301 && l.s.added[1].n == 5 && memcmp(l.s.added[1].content, "<|\0|>", 5) == 0);
    CHECK_EQ(l.s.n_warnings, 0);
    dstok__spec_free(&l.s);
    free(text);
    free(meta);
}

/* ---- lines ---- */

static const struct line_case {
    const char *text;
    dstok_status status;
    uint64_t offset;
    uint32_t line;
    const char *says;
} line_cases[] = {
    {"", DSTOK_E_TRUNCATED, 0, 1, "no ranks"},
    {"\n\n", DSTOK_E_TRUNCATED, 2, 3, "no ranks"},
    {"YQ== 0\n\nYg== 1\n", DSTOK_E_FORMAT, 7, 2, "an empty line"},
    {"YQ== 0\nYg==\n", DSTOK_E_FORMAT, 7, 2, "without a blank"},
    {"YQ== 0\nYg== \n", DSTOK_E_FORMAT, 7, 2, "without a rank"},
    {"YQ== 0\n 1\n", DSTOK_E_FORMAT, 7, 2, "not base64"},
    {"YQ== 0\nYg=== 1\n", DSTOK_E_FORMAT, 7, 2, "not base64"},
    {"YQ== 0\nYg== 1 \n", DSTOK_E_FORMAT, 7, 2, "whole number"},
    {"YQ== 0\nYg==  1\n", DSTOK_E_FORMAT, 7, 2, "whole number"},
    {"YQ== -1\n", DSTOK_E_FORMAT, 0, 1, "whole number"},
    {"YQ== 1.5\n", DSTOK_E_FORMAT, 0, 1, "whole number"},
    {"# A text\n", DSTOK_E_FORMAT, 0, 1, "no format of vocabularies that dstok knows (tokenizer.json, "},
    {"YQ== 0\nA text\n", DSTOK_E_FORMAT, 7, 2, "not a rank file: a rank must be a whole number"},
    {"YQ== 16777216\n", DSTOK_E_LIMIT, 0, 1, "above the limit, 16777215"},
    {"YQ== 99999999999999999999999\n", DSTOK_E_LIMIT, 0, 1, "above the limit"},
    {"YQ== 0\nYg== 1\nYQ== 2\n", DSTOK_E_DUPLICATE, 14, 3, "\"a\" stands in two lines"},
    {"YQ== 0\nYg== 1\nYw== 1\n", DSTOK_E_DUPLICATE, 14, 3, "rank 1 stands in two lines"},
    {"\xEF\xBB\xBFYQ== 0\n", DSTOK_E_FORMAT, 0, 1, "not base64"},
    {"{\"a\": 1}\n", DSTOK_E_FORMAT, 0, 1, "whole number"},
};

static void test_lines(void) {
    loaded l;
    for (size_t i = 0; i < sizeof line_cases / sizeof *line_cases; i++) {
        const struct line_case *c = &line_cases[i];
        int before = t_failures;
        load(&l, c->text, strlen(c->text), "x+|.", NULL);
        CHECK_EQ(l.status, c->status);
        CHECK_EQ(l.err.offset, c->offset);
        CHECK_EQ(l.err.line, c->line);
        CHECK(strstr(l.err.text, c->says) != NULL);
        if (t_failures > before) fprintf(stderr, "  case %zu: %s\n", i, l.err.text);
        dstok__spec_free(&l.s);
    }
    /* CR LF, no line end at the end, empty lines at the end, holes, any order of ranks. */
    static const char *const good[] = {"YQ== 7\r\nYg== 3\r\n", "YQ== 7\nYg== 3", "YQ== 7\nYg== 3\n\n\r\n\n"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        load(&l, good[i], strlen(good[i]), "x+|.", NULL);
        CHECK_EQ(l.status, DSTOK_OK);
        CHECK(l.s.n_tokens == 2 && l.s.tokens[0].id == 7 && l.s.tokens[1].id == 3);
        CHECK(util_warning(&l.s, "254 of the 256 single bytes have no token (the first is 0x00)") != NULL);
        dstok__spec_free(&l.s);
    }
}

/* ---- patterns and special tokens ---- */

static void check_setup(const char *text, size_t n, const char *pattern, const char *meta,
                        const char *want_pattern, size_t want_added) {
    loaded l;
    load(&l, text, n, pattern, meta);
    CHECK_EQ(l.status, DSTOK_OK);
    if (l.status != DSTOK_OK) fprintf(stderr, "  %s\n", l.err.text);
    CHECK_EQ(l.s.n_steps, 1);
    if (l.s.n_steps == 1) CHECK_STR(l.s.steps[0].pattern, want_pattern);
    CHECK_EQ(l.s.n_added, want_added);
    dstok__spec_free(&l.s);
}

static void check_bad_setup(const char *pattern, const char *meta, dstok_status status, const char *says) {
    loaded l;
    load(&l, "YQ== 0\nYg== 1\n", 14, pattern, meta);
    CHECK_EQ(l.status, status);
    CHECK(strstr(l.err.text, says) != NULL);
    if (strstr(l.err.text, says) == NULL) fprintf(stderr, "  %s\n", l.err.text);
    dstok__spec_free(&l.s);
}

static void test_sources(void) {
    static const char ab[] = "YQ== 0\nYg== 1\n",
                      meta[] = "{\"pattern\":\"m\",\"special_tokens\":{\"<m>\":5}}";
    check_setup(ab, 14, "a b|.", NULL, "a b|.", 0);
    check_setup(ab, 14, "a b|.", meta, "a b|.", 1);
    check_setup(ab, 14, NULL, meta, "m", 1);
    /* A name that brings no special tokens for this file: those of the meta file count. */
    check_setup(ab, 14, "cl100k_base", meta, dstok__pattern_by_name("cl100k_base"), 1);
    check_setup(ab, 14, "qwen2", meta, dstok__pattern_by_name("qwen2"), 1);
    check_setup(ab, 14, "qwen2", NULL, dstok__pattern_by_name("qwen2"), 0);
    check_bad_setup(NULL, NULL, DSTOK_E_INVAL, "cl100k_base");
    check_bad_setup(NULL, "{}", DSTOK_E_INVAL, "no pattern is known for this rank file");
    check_bad_setup("cl100k_bass", NULL, DSTOK_E_INVAL, "the pattern's name is not known");
    check_bad_setup("", NULL, DSTOK_E_INVAL, "");
    check_bad_setup(NULL, "{\"pattern\":5}", DSTOK_E_FORMAT, "meta.json: \"pattern\" must be a string");
    check_bad_setup(NULL, "{\"pattern\":\"\"}", DSTOK_E_INVAL, "the pattern is empty");
    check_bad_setup(NULL, "[", DSTOK_E_TRUNCATED, "meta.json: ");
    check_bad_setup("a|b", "{\"normalizer\":\"NFKC\"}", DSTOK_E_UNSUPPORTED, "normalizer \"NFKC\"");
    check_bad_setup("a|b", "{\"special_tokens\":[]}", DSTOK_E_FORMAT, "must be an object");
    check_bad_setup("a|b", "{\"special_tokens\":{\"x\":-1}}", DSTOK_E_FORMAT, "whole number");
    check_bad_setup("a|b", "{\"special_tokens\":{\"\":5}}", DSTOK_E_FORMAT, "1 to 1024 bytes");
    check_bad_setup("a|b", "{\"special_tokens\":{\"x\":1}}", DSTOK_E_DUPLICATE, "id 1 is a rank, too");
    check_bad_setup("a|b", "{\"special_tokens\":{\"x\":5,\"y\":5}}", DSTOK_E_DUPLICATE,
                    "id 5 is given to two");
    check_bad_setup("a|b", "{\"special_tokens\":{\"x\":5,\"x\":6}}", DSTOK_E_DUPLICATE, "stands twice");
}

/* A file with as many ranks as r50k_base is taken for it when that name is given; with another number it is not. */
static void test_names(void) {
    enum { N = 50256 };
    char *text = malloc(N * 16);
    size_t len = 0;
    if (text == NULL) exit(1);
    for (int i = 0; i < N; i++) {
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        len += (size_t)sprintf(text + len, "%c%c%cA %d\n", digits[i >> 12], digits[i >> 6 & 63],
                               digits[i & 63], i);
    }
    check_setup(text, len, "gpt2", NULL, dstok__pattern_by_name("gpt2"), 1);
    check_setup(text, len, "r50k_base", NULL, dstok__pattern_by_name("r50k_base"), 1);
    check_setup(text, len, "cl100k_base", NULL, dstok__pattern_by_name("cl100k_base"), 0);
    loaded l;
    load(&l, text, len, "r50k_base", NULL);
    CHECK(l.s.n_added == 1 && l.s.added[0].id == 50256 && l.s.added[0].special && !l.s.added[0].normalized);
    dstok__spec_free(&l.s);
    load(&l, text, len, "cl100k_base", NULL);
    CHECK(util_warning(&l.s, "50256 ranks and cl100k_base has 100256") != NULL);
    dstok__spec_free(&l.s);
    free(text);
}

/* Every known encoding has a pattern, and special tokens behind its ranks or, in p50k, in a hole between them. */
static void test_encodings(void) {
    for (size_t i = 0; dstok__pattern_name_at(i) != NULL; i++) {
        const dstok__encoding *e = dstok__encoding_by_name(dstok__pattern_name_at(i));
        if (e == NULL) continue;
        for (size_t k = 0; k < e->n_specials; k++)
            CHECK(e->specials[k].id >= e->n_ranks || e->specials[k].id == 50256);
        if (e->sha256 != NULL) CHECK(dstok__encoding_by_sha256(e->sha256) == e);
    }
    static const char *const names[] = {"gpt2",        "r50k_base",  "p50k_base",     "p50k_edit",
                                        "cl100k_base", "o200k_base", "o200k_harmony", "qwen2",
                                        "qwen3",       "qwen3.6",    "tekken"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(dstok__encoding_by_name(names[i]) != NULL);
        CHECK(dstok__pattern_by_name(names[i]) != NULL);
    }
    CHECK(dstok__encoding_by_name("") == NULL);
    CHECK(dstok__encoding_by_sha256("") == NULL);
}

int main(void) {
    test_sha256();
    test_base64();
    test_mini();
    test_lines();
    test_sources();
    test_names();
    test_encodings();
    return t_end();
}
