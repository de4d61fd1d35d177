/* SPDX-License-Identifier: MIT */
/* Operations without character maps: texts and places as measured with tokenizers 0.23.3, edits, bounds. */
#include "../../data/unicode/unicode.h"
#include "../../tokenizer/text/normalize.h"
#include "../harness/t.h"
#include "norm_util.h"

#include <stdlib.h>
#include <utf8proc.h>

enum { MAX_OPS = 3, NO_LIMIT = 1 << 30 };

#define KIND(k)                                                                                              \
    { .kind = DSTOK__NORM_##k }
#define FLAGS(k, f)                                                                                          \
    { .kind = DSTOK__NORM_##k, .flags = (f) }
#define REPLACE(p, c)                                                                                        \
    { DSTOK__NORM_REPLACE, 0, p, c, sizeof(p) - 1, sizeof(c) - 1 }
#define REGEX(p, c)                                                                                          \
    { DSTOK__NORM_REPLACE_REGEX, 0, p, c, sizeof(p) - 1, sizeof(c) - 1 }
#define PREPEND(c)                                                                                           \
    { .kind = DSTOK__NORM_PREPEND, .content = (c), .content_n = sizeof(c) - 1 }
#define TEXT(s)  s, sizeof(s) - 1
#define BERT_ALL (DSTOK__BERT_CLEAN | DSTOK__BERT_CHINESE | DSTOK__BERT_STRIP_ACCENTS | DSTOK__BERT_LOWERCASE)

static dstok__normalized norm;
static dstok__regex_scratch *scratch;

static dstok__normalizer *make(const dstok__norm *ops, size_t n) {
    dstok__normalizer *z = NULL;
    CHECK_EQ(dstok__normalizer_new(&dstok__default_alloc, ops, n, &z, NULL), DSTOK_OK);
    return z;
}

static dstok_status apply(const dstok__norm *ops, size_t n, const void *src, size_t len) {
    dstok__normalizer *z = make(ops, n);
    dstok_status status = dstok__normalize(&norm, z, scratch, src, len, NO_LIMIT, NULL);
    CHECK(norm.len <= dstok__normalizer_bound(z, len));
    size_t each = dstok__normalizer_bound(z, 1);
    CHECK(dstok__normalizer_bound(z, len) <= each * len); /* cutting a text never makes room too small */
    dstok__normalizer_free(z);
    return status;
}

/* ---- texts and places ---- */

typedef struct place_case {
    dstok__norm ops[MAX_OPS];
    size_t n;
    const char *src;
    size_t src_n;
    const char *want;
    size_t want_n;
    const char *places; /* for each character of want the index of that of src whose place it has; -: none */
} place_case;

static const place_case place_cases[] = {
    {{FLAGS(STRIP, DSTOK__STRIP_LEFT | DSTOK__STRIP_RIGHT)},
     1,
     TEXT(" \t\u3000a b\u2003\n"),
     TEXT("a b"),
     "3 4 5"},
    {{FLAGS(STRIP, DSTOK__STRIP_LEFT)}, 1, TEXT("  a "), TEXT("a "), "2 3"},
    {{FLAGS(STRIP, DSTOK__STRIP_RIGHT)}, 1, TEXT("  a "), TEXT("  a"), "0 1 2"},
    {{FLAGS(STRIP, DSTOK__STRIP_LEFT | DSTOK__STRIP_RIGHT)}, 1, TEXT("  \u2028 "), TEXT(""), ""},
    {{FLAGS(STRIP, DSTOK__STRIP_RIGHT)},
     1,
     TEXT("\u00E9\u00E9\u00E9  "),
     TEXT("\u00E9\u00E9\u00E9"),
     "0 1 2"},
    {{KIND(STRIP_ACCENTS)}, 1, TEXT("e\u0301\u0323x\u0488\u0903"), TEXT("ex"), "0 3"},
    {{KIND(STRIP_ACCENTS)}, 1, TEXT("\u0301a"), TEXT("a"), "1"},
    {{KIND(STRIP_ACCENTS)}, 1, TEXT("a\U000111C9\u1CF2\u0897"), TEXT("a\U000111C9\u0897"), "0 1 3"},
    {{REPLACE(" ", "\u2581")}, 1, TEXT(" a  b "), TEXT("\u2581a\u2581\u2581b\u2581"), "0 1 2 3 4 5"},
    {{REPLACE("aa", "b")}, 1, TEXT("aaaaa"), TEXT("bba"), "1 3 4"},
    {{REPLACE("aab", "xyz")}, 1, TEXT("aaabaaab"), TEXT("axyzaxyz"), "0 3 3 3 4 7 7 7"},
    {{REPLACE("abab", "")}, 1, TEXT("ababab"), TEXT("ab"), "4 5"},
    {{REPLACE("ab", "ab")}, 1, TEXT("xaby"), TEXT("xaby"), "0 2 2 3"},
    {{REPLACE("", "-")}, 1, TEXT("a\u00E9"), TEXT("-a-\u00E9-"), "- 0 0 1 1"},
    {{REPLACE("", "-")}, 1, TEXT(""), TEXT(""), ""},
    {{REPLACE("a.b", "c")}, 1, TEXT("a.baxb"), TEXT("caxb"), "2 3 4 5"},
    {{REPLACE("\u00E9", "ee")}, 1, TEXT("\u00E9x\u00E9"), TEXT("eexee"), "0 0 1 2 2"},
    {{REGEX("\\s+", " ")}, 1, TEXT("a \t\nb  "), TEXT("a b "), "0 3 4 6"},
    {{REGEX("a*", "-")}, 1, TEXT("baab"), TEXT("-b-b-"), "- 0 2 3 3"},
    {{REGEX("^", "> ")}, 1, TEXT("ab\ncd"), TEXT("> ab\n> cd"), "- - 0 1 2 2 2 3 4"},
    {{REGEX("$", "<")}, 1, TEXT("ab"), TEXT("ab<"), "0 1 1"},
    {{REGEX("(?<=a)b", "")}, 1, TEXT("abb"), TEXT("ab"), "0 2"},
    {{REGEX("(?<=a)b", "")}, 1, TEXT(""), TEXT(""), ""},
    {{REGEX(".", "\u00E9")}, 1, TEXT("ab"), TEXT("\u00E9\u00E9"), "0 1"},
    {{PREPEND("\u2581")}, 1, TEXT("ab"), TEXT("\u2581ab"), "0 0 1"},
    {{PREPEND("\u2581x")}, 1, TEXT("\u00E9b"), TEXT("\u2581x\u00E9b"), "0 0 0 1"},
    {{PREPEND("\u2581")}, 1, TEXT(""), TEXT(""), ""},
    {{PREPEND("")}, 1, TEXT("\u00E9b"), TEXT("\u00E9b"), "- 1"},
    {{KIND(NMT)},
     1,
     TEXT("\000\001a\t\013\u200B\u2581\uFEFF\177\302\217\302\205"),
     TEXT("\000a    \302\205"),
     "0 2 3 5 6 7 10"},
    {{FLAGS(BERT, DSTOK__BERT_CLEAN)},
     1,
     TEXT("\000a\t\u200B\u3000\uFFFD\uE000\u0378\u2028"),
     TEXT("a  \u0378 "),
     "1 2 4 7 8"},
    {{FLAGS(BERT, DSTOK__BERT_CHINESE)},
     1,
     TEXT("a\u4E2D\u6587\U0002B820\U0002B920"),
     TEXT("a \u4E2D  \u6587 \U0002B820 \U0002B920 "),
     "0 1 1 1 2 2 2 3 4 4 4"},
    {{FLAGS(BERT, DSTOK__BERT_STRIP_ACCENTS)},
     1,
     TEXT("\u00E9e\u0301\u1734\u08E1"),
     TEXT("ee\u08E1"),
     "0 1 4"},
    {{FLAGS(BERT, DSTOK__BERT_LOWERCASE)}, 1, TEXT("\u0130A"), TEXT("i\u0307a"), "0 0 1"},
    {{FLAGS(BERT, BERT_ALL)},
     1,
     TEXT("\u00C9 \u4E2D\u0301\t\uAC00"),
     TEXT("e  \u4E2D  \u1100\u1161"),
     "0 1 2 2 2 4 5 5"},
    {{KIND(BYTE_LEVEL)},
     1,
     TEXT("a \u00E9\u4E2D\n"),
     TEXT("a\u0120\u00C3\u00A9\u00E4\u00B8\u0143\u010A"),
     "0 1 2 2 3 3 3 4"},
    {{KIND(NFC)}, 1, TEXT("e\u0301\u0323x"), TEXT("\u1EB9\u0301x"), "0 2 3"},
    {{KIND(NFC)}, 1, TEXT("\u00E9\u0323"), TEXT("\u1EB9\u0301"), "0 1"},
    {{KIND(NFD)}, 1, TEXT("\u00E9\u0323x"), TEXT("e\u0323\u0301x"), "0 1 1 2"},
    {{KIND(NFD)}, 1, TEXT("x\u0315\u0344\u0316"), TEXT("x\u0316\u0308\u0301\u0315"), "0 1 2 2 3"},
    {{KIND(NFKC)},
     1,
     TEXT("\uFDFA"),
     TEXT("\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064A\u0647 \u0648\u0633\u0644\u0645"),
     "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"},
    {{KIND(NFKC)}, 1, TEXT("\u1112\u1161\u11AB\u3300"), TEXT("\uD55C\u30A2\u30D1\u30FC\u30C8"), "0 3 3 3 3"},
    {{KIND(NFC)}, 1, TEXT("\u0344a\u0344"), TEXT("\u0308\u0301\u00E4\u0301"), "0 0 1 2"},
    {{KIND(NFC)}, 1, TEXT("a\u0323\u0307\u0344"), TEXT("\u1EA1\u0307\u0308\u0301"), "0 2 3 3"},
    {{PREPEND("\u2581"), REPLACE(" ", "\u2581")}, 2, TEXT("a b"), TEXT("\u2581a\u2581b"), "0 0 1 2"},
    {{KIND(NFD), KIND(STRIP_ACCENTS), KIND(LOWERCASE)}, 3, TEXT("\u00C9\u00E8"), TEXT("ee"), "0 1"},
    {{FLAGS(STRIP, DSTOK__STRIP_LEFT | DSTOK__STRIP_RIGHT), PREPEND("\u2581"), KIND(LOWERCASE)},
     3,
     TEXT("  A "),
     TEXT("\u2581a"),
     "2 2"},
    {{REGEX("\\s+", " "), KIND(NFKC), REPLACE("fi", "\uFB01")},
     3,
     TEXT(" \uFB01  fi"),
     TEXT(" \uFB01 \uFB01"),
     "0 1 3 5"},
    {{REPLACE("b", ""), PREPEND(">")}, 2, TEXT("ba"), TEXT(">a"), "1 1"},
    {{REGEX("^", "x"), REPLACE("x", "yz")}, 2, TEXT("ab"), TEXT("yzab"), "- - 0 1"},
    {{FLAGS(BERT, DSTOK__BERT_CHINESE), REPLACE(" ", "")}, 2, TEXT("a\u4E2D"), TEXT("a\u4E2D"), "0 1"},
    {{FLAGS(BERT, DSTOK__BERT_CHINESE), FLAGS(STRIP, DSTOK__STRIP_LEFT | DSTOK__STRIP_RIGHT)},
     2,
     TEXT("\u4E2D"),
     TEXT("\u4E2D"),
     "0"},
};

static void test_places(void) {
    norm.want_from = true;
    for (size_t i = 0; i < sizeof place_cases / sizeof *place_cases; i++) {
        const place_case *c = &place_cases[i];
        char places[256];
        CHECK_EQ(apply(c->ops, c->n, c->src, c->src_n), DSTOK_OK);
        write_places(&norm, c->src, places, sizeof places);
        bool same = norm.len == c->want_n && memcmp(norm.text, c->want, norm.len) == 0 &&
                    strcmp(places, c->places) == 0;
        CHECK(same);
        if (!same)
            fprintf(stderr, "case %zu: \"%.*s\", places %s\n", i, (int)norm.len, (const char *)norm.text,
                    places);
    }
    norm.want_from = false;
}

/* ---- edits ---- */

typedef struct edit_case {
    dstok__norm ops[MAX_OPS];
    size_t n_ops;
    const char *src;
    size_t n;
    dstok__edit want[4]; /* out, src, out_n, src_n */
} edit_case;

static const edit_case edit_cases[] = {
    {{FLAGS(STRIP, DSTOK__STRIP_LEFT | DSTOK__STRIP_RIGHT)}, 1, " a\u3000", 2, {{0, 0, 0, 1}, {1, 2, 0, 3}}},
    {{KIND(STRIP_ACCENTS)}, 1, "e\u0301\u0323x", 1, {{1, 1, 0, 4}}}, /* a run in one */
    {{REPLACE("ab", "xyz")}, 1, "ababc", 2, {{0, 0, 3, 2}, {3, 2, 3, 2}}},
    {{REPLACE("ab", "ab")}, 1, "ab", 0, {{0}}},
    {{REGEX("$", "!")}, 1, "a", 1, {{1, 1, 1, 0}}},
    {{PREPEND("\u2581")}, 1, "a", 1, {{0, 0, 3, 0}}},
    {{KIND(BYTE_LEVEL)}, 1, "a\u00E9", 2, {{1, 1, 2, 1}, {3, 2, 2, 1}}}, /* each byte by itself */
    {{FLAGS(BERT, DSTOK__BERT_CHINESE)}, 1, "\u4E2D", 2, {{0, 0, 1, 0}, {4, 3, 1, 0}}},
    /* in sequence */
    {{FLAGS(STRIP, DSTOK__STRIP_LEFT), PREPEND("_")}, 2, "  a", 2, {{0, 0, 0, 2}, {0, 2, 1, 0}}},
    {{PREPEND("_"), REPLACE("_", "__")}, 2, "a_", 2, {{0, 0, 2, 0}, {3, 1, 2, 1}}},
    {{PREPEND("_"), REPLACE("_a", "b")}, 2, "ac", 1, {{0, 0, 1, 1}}},
    {{FLAGS(BERT, DSTOK__BERT_CHINESE), REPLACE(" ", "")}, 2, "\u4E2D", 0, {{0}}}, /* put in and taken out */
    {{KIND(NFD), KIND(STRIP_ACCENTS)}, 2, "\u00E9x", 1, {{0, 0, 1, 2}}},
    {{REPLACE("b", ""), REPLACE("ac", "d")}, 2, "xabcx", 1, {{1, 1, 1, 3}}},
};

static void test_edits(void) {
    for (size_t i = 0; i < sizeof edit_cases / sizeof *edit_cases; i++) {
        const edit_case *c = &edit_cases[i];
        CHECK_EQ(apply(c->ops, c->n_ops, c->src, strlen(c->src)), DSTOK_OK);
        check_edits(&norm, c->want, c->n, i);
    }
}

/* Deleted text at the ends of a range is no part of it; the two ways to map agree. */
static void test_map(void) {
    static const dstok__norm ops[] = {KIND(STRIP_ACCENTS), PREPEND("_")};
    CHECK_EQ(apply(ops, 2, "\u0301a\u0301b\u0301", 8), DSTOK_OK); /* _ab */
    static const struct {
        size_t begin, end;
        uint64_t src_begin, src_end;
    } want[] = {{0, 0, 2, 2}, {0, 1, 2, 2}, {0, 2, 2, 3}, {1, 1, 2, 2},
                {1, 2, 2, 3}, {1, 3, 2, 6}, {2, 3, 5, 6}, {3, 3, 8, 8}};
    dstok__map_cursor c;
    dstok__map_cursor_init(&c, &norm);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        dstok_span a = dstok__map_range(&c, want[i].begin, want[i].end);
        dstok_span b = dstok__map_range_at(&norm, want[i].begin, want[i].end);
        CHECK(a.begin == b.begin && a.end == b.end);
        CHECK_EQ(a.begin, want[i].src_begin);
        CHECK_EQ(a.end, want[i].src_end);
    }
}

/* ---- every code point ---- */

/* A hash of which code points an operation takes away (2) or makes a blank (1), behind an x. */
static uint64_t hash_of_verdicts(const dstok__norm *op) {
    uint64_t hash = 1469598103934665603u;
    dstok__normalizer *z = make(op, 1);
    for (uint32_t cp = 0; cp <= DSTOK_UC_MAX; cp++) {
        if (cp >= 0xD800 && cp <= 0xDFFF) continue;
        uint8_t text[5] = {'x'};
        size_t n = 1 + (size_t)utf8proc_encode_char((utf8proc_int32_t)cp, text + 1);
        if (dstok__normalize(&norm, z, NULL, text, n, NO_LIMIT, NULL) != DSTOK_OK) return 0;
        unsigned verdict = norm.len == 1 ? 2 : norm.len == 2 && norm.text[1] == ' ' && cp != ' ' ? 1 : 0;
        if (verdict != 0) hash = (hash ^ (cp << 2 | verdict)) * 1099511628211u;
    }
    dstok__normalizer_free(z);
    return hash;
}

/* Measured: tokenizers 0.23.3. */
static const struct {
    dstok__norm op;
    uint64_t hash;
} verdicts[] = {
    {KIND(STRIP_ACCENTS), 0x21522220E5103E0Fu},
    {FLAGS(STRIP, DSTOK__STRIP_RIGHT), 0xD20501AF7CF3CBCBu},
    {KIND(NMT), 0xB427DEEBA8A4DAA0u},
    {FLAGS(BERT, DSTOK__BERT_CLEAN), 0x394DFBBDAADEE860u},
    {FLAGS(BERT, DSTOK__BERT_STRIP_ACCENTS), 0x50213AA2829CFA3u},
    {FLAGS(BERT, DSTOK__BERT_CLEAN | DSTOK__BERT_STRIP_ACCENTS), 0xDF4B92CB0777697Au},
};

static void test_every_code_point(void) {
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        bool same = hash_of_verdicts(&verdicts[i].op) == verdicts[i].hash;
        CHECK(same);
        if (!same) fprintf(stderr, "operation %zu of verdicts\n", i);
    }
}

/* ---- long texts, refusals ---- */

/* A pattern that nearly matches everywhere: time is linear. */
static void test_hostile_pattern(void) {
    enum { N = 1 << 20, PATTERN = 1 << 16 };
    char *text = malloc(N), *pattern = malloc(PATTERN);
    memset(text, 'a', N);
    memset(pattern, 'a', PATTERN);
    pattern[PATTERN - 1] = 'b';
    dstok__norm op = {.kind = DSTOK__NORM_REPLACE, .pattern = pattern, .pattern_n = PATTERN};
    CHECK_EQ(apply(&op, 1, text, N), DSTOK_OK);
    CHECK(norm.len == N && norm.n_edits == 0);
    text[N - 1] = 'b';
    CHECK_EQ(apply(&op, 1, text, N), DSTOK_OK);
    CHECK_EQ(norm.len, N - PATTERN);
    free(text);
    free(pattern);
}

static void test_refusals(void) {
    dstok__norm ops[DSTOK__MAX_NORMS + 1] = {KIND(NFC)};
    dstok__normalizer *z = NULL;
    dstok_error err;
    CHECK_EQ(dstok__normalizer_new(&dstok__default_alloc, ops, DSTOK__MAX_NORMS + 1, &z, &err),
             DSTOK_E_LIMIT);
    CHECK(z == NULL);
    CHECK_EQ(dstok__normalizer_new(&dstok__default_alloc, ops, 0, &z, &err), DSTOK_OK);
    CHECK(z == NULL);
    ops[1] = (dstok__norm)REGEX("(?<x", "");
    CHECK(dstok__normalizer_new(&dstok__default_alloc, ops, 2, &z, &err) != DSTOK_OK);
    CHECK(z == NULL && err.status != DSTOK_OK);
    ops[1] = (dstok__norm)REGEX("(a+)+$", "");
    CHECK_EQ(dstok__normalizer_new(&dstok__default_alloc, ops, 2, &z, &err), DSTOK_OK);
    CHECK(dstok__normalizer_needs_regex(z));
    dstok__normalizer_free(z);
    z = make(ops, 1);
    CHECK(!dstok__normalizer_needs_regex(z));
    dstok__normalizer_free(z);
}

int main(void) {
    dstok__normalized_init(&norm, &dstok__default_alloc);
    CHECK_EQ(dstok__regex_scratch_new(&dstok__default_alloc, &scratch), DSTOK_OK);
    test_places();
    test_edits();
    test_map();
    test_every_code_point();
    test_hostile_pattern();
    test_refusals();
    dstok__regex_scratch_free(scratch);
    dstok__normalized_free(&norm);
    return t_end();
}
