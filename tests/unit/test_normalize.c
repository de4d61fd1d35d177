/* SPDX-License-Identifier: MIT */
/* The normalisers: texts, edits and their hulls, kinds in sequence, mapping back, long runs, limits,
 * failures. */
#include "../../data/unicode/unicode.h"
#include "../../tokenizer/text/normalize.h"
#include "../harness/heap.h"
#include "../harness/t.h"
#include "norm_util.h"
#include "unicode_golden.h"

#include <stdlib.h>
#include <utf8proc.h>
#include <xxhash.h>

#define NFC   DSTOK__NORM_NFC
#define NFD   DSTOK__NORM_NFD
#define NFKC  DSTOK__NORM_NFKC
#define NFKD  DSTOK__NORM_NFKD
#define LOWER DSTOK__NORM_LOWERCASE

enum { NO_LIMIT = 1 << 30 };

static dstok__normalized norm;

static dstok__normalizer *make(const dstok__norm_kind *kinds, size_t n) {
    dstok__norm ops[DSTOK__MAX_NORMS] = {0};
    dstok__normalizer *z = NULL;
    for (size_t i = 0; i < n; i++) ops[i].kind = kinds[i];
    CHECK_EQ(dstok__normalizer_new(&dstok__default_alloc, ops, n, &z, NULL), DSTOK_OK);
    return z;
}

static dstok_status apply(const dstok__norm_kind *kinds, size_t n, const void *src, size_t len, size_t max) {
    dstok__normalizer *z = make(kinds, n);
    dstok_status status = dstok__normalize(&norm, z, NULL, src, len, max, NULL);
    CHECK(status != DSTOK_OK || norm.len <= dstok__normalizer_bound(z, len));
    dstok__normalizer_free(z);
    return status;
}

static dstok_status normalize(dstok__norm_kind kind, const char *src, size_t len, size_t max) {
    return apply(&kind, 1, src, len, max);
}

/* ---- texts ---- */

typedef struct text_case {
    dstok__norm_kind kind;
    const char *src, *want;
} text_case;

static const text_case texts[] = {
    {NFC, "", ""},
    {NFC, "plain ASCII, longer than a block", "plain ASCII, longer than a block"},
    {NFC, "e\u0301", "\u00E9"},
    {NFC, "\u00E9", "\u00E9"},
    {NFD, "\u00E9", "e\u0301"},
    {NFC, "\u0301e", "\u0301e"},
    {NFC, "12345678e\u0301", "12345678\u00E9"},
    {NFC, "e\u0301e\u0301 e\u0301", "\u00E9\u00E9 \u00E9"},
    {NFC, "\u212B", "\u00C5"},
    {NFC, "\u2126\u212A", "\u03A9K"},
    {NFD, "\u212B", "A\u030A"},
    {NFC, "\u1E9B\u0323", "\u1E9B\u0323"},
    {NFD, "\u1E9B\u0323", "\u017F\u0323\u0307"},
    {NFKC, "\u1E9B\u0323", "\u1E69"},
    {NFKD, "\u1E9B\u0323", "s\u0323\u0307"},
    /* compatibility characters */
    {NFC, "\uFB01\uFF21\u2460\u00A0", "\uFB01\uFF21\u2460\u00A0"},
    {NFKC, "\uFB01\uFF21\u2460\u00A0", "fiA1 "},
    {NFKC, "\u3300", "\u30A2\u30D1\u30FC\u30C8"},
    {NFKD, "\u3300", "\u30A2\u30CF\u309A\u30FC\u30C8"},
    {NFKC, "\uFF76\uFF9E", "\u30AC"},
    {NFKC, "\uFDFA",
     "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064A\u0647 \u0648\u0633\u0644\u0645"},
    /* composition exclusions: script-specific, and what decomposes to marks alone */
    {NFC, "\u0915\u093C", "\u0915\u093C"},
    {NFC, "\u0958", "\u0915\u093C"},
    {NFC, "\u0344", "\u0308\u0301"},
    {NFC, "\u2ADC", "\u2ADD\u0338"},
    /* both halves starters */
    {NFC, "\u09C7\u09BE", "\u09CB"},
    {NFC, "\u0DD9\u0DCF\u0DCA", "\u0DDD"},
    {NFC, "\u30AB\u3099", "\u30AC"},
    /* Hangul */
    {NFC, "\u1112\u1161\u11AB", "\uD55C"},
    {NFC, "\uD558\u11AB", "\uD55C"},
    {NFC, "\uD558\u11A7", "\uD558\u11A7"},
    {NFC, "\uD55C\u11AB", "\uD55C\u11AB"},
    {NFC, "\u1161\u11AB", "\u1161\u11AB"},
    {NFD, "\uD55C\uAE00", "\u1112\u1161\u11AB\u1100\u1173\u11AF"},
    {NFC, "\u1112\u0301\u1161", "\u1112\u0301\u1161"},
    /* ordering and blocking */
    {NFC, "a\u0301\u0323", "\u1EA1\u0301"},
    {NFC, "\u00E9\u0323", "\u1EB9\u0301"},
    {NFC, "a\u0321\u0301", "\u00E1\u0321"},
    {NFC, "a\u0315\u0300\u05AEb", "\u00E0\u05AE\u0315b"},
    {NFC, "a\u0305\u0301", "a\u0305\u0301"},
    {NFC, "\u1100\u0300\u1161", "\u1100\u0300\u1161"},
    {NFD, "\u0301\u0323\u0301", "\u0323\u0301\u0301"},
    {NFC, "Z\u0351\u036B\u0343A\u0334\u0328", "Z\u0351\u036B\u0313\u0104\u0334"},
    /* younger than 9.0: left alone, not a mark to step around, and never composed to */
    {NFKC, "\u32FF", "\u32FF"},
    {NFKC, "\U000107A5", "\U000107A5"},
    {NFC, "a\u1DF6\u0323", "a\u1DF6\u0323"},
    {NFC, "a\u1DF5\u0323", "\u1EA1\u1DF5"},
    {NFC, "\U000105D2\u0307", "\U000105D2\u0307"},
    {NFD, "\U00011938", "\U00011938"},
    {NFC, "\U00011935\U00011930", "\U00011935\U00011930"},
    {NFC, "\U0001112F\U00011127", "\U0001112F\U00011127"},
    {NFC, "\U00011131\U00011127", "\U0001112E"},
    {NFC, "\U0001F600\u0301\U0010FFFF", "\U0001F600\u0301\U0010FFFF"},
    /* lower case: a character at a time */
    {LOWER, "THE Quick 12345 @[`{ ZZZZZZZZZ", "the quick 12345 @[`{ zzzzzzzzz"},
    {LOWER, "\u00C4\u0130I", "\u00E4i\u0307i"},
    {LOWER, "\u039F\u03A3 \u03A3\u03C2", "\u03BF\u03C3 \u03C3\u03C2"},
    {LOWER, "\u01C5\u1E9E\u212A\u2126", "\u01C6\u00DFk\u03C9"},
    {LOWER, "\u023A\u2C62", "\u2C65\u026B"},
    {LOWER, "\u13A0\u1C90", "\uAB70\u10D0"},
    {LOWER, "\u1C89\uA7CB\uA7DC\U00010D50\U00010D65", "\u1C8A\u0264\u019B\U00010D70\U00010D85"},
    {LOWER, "\uA7CE\U00016EA0\U00016EB8\U00016EB9", "\uA7CF\U00016EBB\U00016ED3\U00016EB9"},
};

static void test_texts(void) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const text_case *c = &texts[i];
        CHECK_EQ(normalize(c->kind, c->src, strlen(c->src), NO_LIMIT), DSTOK_OK);
        bool same = norm.len == strlen(c->want) && memcmp(norm.text, c->want, norm.len) == 0;
        CHECK(same);
        if (!same)
            fprintf(stderr, "text %zu, \"%s\": \"%.*s\"\n", i, c->src, (int)norm.len,
                    (const char *)norm.text);
        CHECK((strcmp(c->src, c->want) == 0) == (norm.text == (const uint8_t *)c->src));
        CHECK((norm.n_edits == 0) == (strcmp(c->src, c->want) == 0));
    }
}

/* One changed character at every place of a text, in memory that ends with the text. */
static void test_places(void) {
    for (size_t len = 3; len < 40; len++) {
        for (size_t at = 0; at + 3 <= len; at++) {
            char *src = malloc(len);
            memset(src, 'x', len);
            memcpy(src + at, "e\u0301", 3);
            CHECK_EQ(normalize(NFC, src, len, NO_LIMIT), DSTOK_OK);
            CHECK(norm.len == len - 1 && memcmp(norm.text + at, "\u00E9", 2) == 0);
            CHECK(norm.n_edits == 1 && norm.edits[0].out == at && norm.edits[0].src == at);
            memcpy(src + at, at % 2 == 0 ? "xAx" : "xZx", 3);
            CHECK_EQ(normalize(LOWER, src, len, NO_LIMIT), DSTOK_OK);
            CHECK(norm.len == len && norm.text[at + 1] == (at % 2 == 0 ? 'a' : 'z') && norm.n_edits == 1);
            free(src);
        }
    }
}

/* ---- every code point, and many pairs ---- */

static uint8_t *put(uint8_t *to, uint32_t cp) {
    return to + utf8proc_encode_char((utf8proc_int32_t)cp, to);
}

static size_t write_alone(uint8_t *text) {
    uint8_t *to = text;
    for (uint32_t cp = 0; cp <= DSTOK_UC_MAX; cp++)
        if (cp < 0xD800 || cp > 0xDFFF) to = put(put(to, cp), '\n');
    return (size_t)(to - text);
}

static size_t write_pairs(uint8_t *text) {
    static const uint32_t blocks[][2] = {{0x20, 0x5FF},    {0x1100, 0x11FF}, {0x1B00, 0x1B7F},
                                         {0x1E00, 0x1FFF}, {0x3040, 0x30FF}, {0xAC00, 0xAC3F}};
    uint8_t *to = text;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        for (uint32_t first = blocks[b][0]; first <= blocks[b][1]; first++) {
            if (!dstok__uc_in(first, DSTOK_UC_L) || !(dstok__uc_record(first) & DSTOK_UC_IN_9)) continue;
            for (uint32_t second = 0; second < 0x12000; second++)
                if (dstok__uc_record(second) & DSTOK_UC_NFC_SECOND)
                    to = put(put(put(to, first), second), '\n');
        }
    }
    return (size_t)(to - text);
}

static void check_hash(dstok__norm_kind kind, const uint8_t *text, size_t len, uint64_t golden) {
    CHECK_EQ(apply(&kind, 1, text, len, NO_LIMIT), DSTOK_OK);
    bool same = XXH64(norm.text, norm.len & ~(size_t)31, 0) == golden;
    CHECK(same);
    if (!same) fprintf(stderr, "kind %d: hash differs\n", (int)kind);
}

static void test_all(void) {
    uint8_t *text = malloc(8 << 20);
    size_t len = write_alone(text);
    check_hash(NFC, text, len, GOLDEN_NFC_ALONE);
    check_hash(NFD, text, len, GOLDEN_NFD_ALONE);
    check_hash(NFKC, text, len, GOLDEN_NFKC_ALONE);
    check_hash(NFKD, text, len, GOLDEN_NFKD_ALONE);
    check_hash(LOWER, text, len,
               0x4DDC3A0693816E1Cu); /* measured: tokenizers 0.23.3, normalizers.Lowercase() */
    len = write_pairs(text);
    check_hash(NFC, text, len, GOLDEN_NFC_PAIRS);
    check_hash(NFD, text, len, GOLDEN_NFD_PAIRS);
    check_hash(NFKC, text, len, GOLDEN_NFKC_PAIRS);
    check_hash(NFKD, text, len, GOLDEN_NFKD_PAIRS);
    free(text);
}

/* Our flags and the data of the utf8proc we run with say the same of every code point of the view. */
static void test_utf8proc_agrees(void) {
    int wrong = 0;
    for (uint32_t cp = 0; cp <= DSTOK_UC_MAX; cp++) {
        if (cp == 0xD800) cp = 0xE000;
        unsigned record = dstok__uc_record(cp);
        if ((record & DSTOK_UC_IN_9) == 0) continue;
        utf8proc_int32_t parts[32];
        int unused = 0;
        for (int compat = 0; compat < 2; compat++) {
            utf8proc_option_t how = UTF8PROC_DECOMPOSE | (compat ? UTF8PROC_COMPAT : 0);
            utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)cp, parts, 32, how, &unused);
            bool kept = n == 1 && parts[0] == (utf8proc_int32_t)cp;
            bool inert = kept && utf8proc_get_property((utf8proc_int32_t)cp)->combining_class == 0;
            if (inert != ((record & (compat ? DSTOK_UC_NFKD_INERT : DSTOK_UC_NFD_INERT)) != 0)) wrong++;
        }
    }
    CHECK_EQ(wrong, 0);
}

/* ---- edits ---- */

typedef struct edit_case {
    dstok__norm_kind kinds[3];
    size_t n_kinds;
    const char *src;
    size_t n;
    dstok__edit want[4]; /* out, src, out_n, src_n */
} edit_case;

static const edit_case edit_cases[] = {
    {{NFC}, 1, "e\u0301", 1, {{0, 0, 2, 3}}},
    {{NFC}, 1, "xe\u0301ye\u0301", 2, {{1, 1, 2, 3}, {4, 5, 2, 3}}},
    {{NFC}, 1, "e\u0301e\u0301", 2, {{0, 0, 2, 3}, {2, 3, 2, 3}}}, /* neighbours stay apart */
    {{NFKC}, 1, "\uFB01", 1, {{0, 0, 2, 3}}},
    {{NFKC}, 1, "\uFB01\uFB01", 2, {{0, 0, 2, 3}, {2, 3, 2, 3}}},
    {{NFD}, 1, "a\u00E9", 1, {{1, 1, 3, 2}}},
    {{NFC}, 1, "a\u0321\u0301", 1, {{0, 0, 4, 5}}}, /* joined across another mark: one hull */
    {{NFC}, 1, "\u00E9\u0331", 0, {{0}}},           /* taken apart and put together again */
    {{NFC}, 1, "e\u0331\u0301", 1, {{0, 0, 4, 5}}},
    {{NFD}, 1, "x\u0301\u0323y", 1, {{1, 1, 4, 4}}},            /* reordered: the hull of the stretch */
    {{NFD}, 1, "x\u0323\u0301\u0316\u0301", 1, {{3, 3, 4, 4}}}, /* only where the order changed */
    {{NFC}, 1, "A\u030A\u212B", 2, {{0, 0, 2, 3}, {2, 3, 2, 3}}},
    {{NFC}, 1, "\u1112\u1161\u11AB", 1, {{0, 0, 3, 9}}},
    {{LOWER}, 1, "aBC", 2, {{1, 1, 1, 1}, {2, 2, 1, 1}}},
    {{LOWER}, 1, "\u0130x", 1, {{0, 0, 3, 2}}},
    {{LOWER}, 1, "\u023A", 1, {{0, 0, 3, 2}}},
    /* in sequence */
    {{NFD, NFC}, 2, "\u00E9", 1, {{0, 0, 2, 2}}},
    {{NFKC, LOWER}, 2, "\uFF21b\uFF23", 2, {{0, 0, 1, 3}, {2, 4, 1, 3}}},
    {{NFKC, LOWER}, 2, "a\u2122B", 2, {{1, 1, 2, 3}, {3, 4, 1, 1}}}, /* two edits of one source character */
    {{LOWER, NFC}, 2, "xE\u0301Y", 2, {{1, 1, 2, 3}, {3, 4, 1, 1}}},
    {{NFKD, NFC, LOWER}, 3, "\uFB01E\u0301\u1E9B\u0323", 3, {{0, 0, 2, 3}, {2, 3, 2, 3}, {4, 6, 3, 5}}},
    {{NFD, NFC}, 2, "xu\u0344y", 1, {{1, 1, 2, 3}}}, /* the second edit begins before the first */
    {{NFC, NFC}, 2, "e\u0301", 1, {{0, 0, 2, 3}}},
};

static void test_edits(void) {
    for (size_t i = 0; i < sizeof edit_cases / sizeof *edit_cases; i++) {
        const edit_case *c = &edit_cases[i];
        CHECK_EQ(apply(c->kinds, c->n_kinds, c->src, strlen(c->src), NO_LIMIT), DSTOK_OK);
        check_edits(&norm, c->want, c->n, i);
    }
}

/* ---- mapping back ---- */

static void check_span(dstok__map_cursor *c, size_t begin, size_t end, uint64_t want_begin,
                       uint64_t want_end) {
    dstok_span span = dstok__map_range(c, begin, end);
    CHECK_EQ(span.begin, want_begin);
    CHECK_EQ(span.end, want_end);
    span = dstok__map_range_at(&norm, begin, end);
    CHECK_EQ(span.begin, want_begin);
    CHECK_EQ(span.end, want_end);
}

static void test_map(void) {
    dstok__map_cursor c;
    const char *src = "ab e\u0301 \uFB01 cd"; /* a0 b1 sp2 e3 mark4-5 sp6 fi7-9 sp10 c11 d12 */
    CHECK_EQ(normalize(NFKC, src, strlen(src), NO_LIMIT),
             DSTOK_OK); /* a0 b1 sp2 e'3-4 sp5 f6 i7 sp8 c9 d10 */
    dstok__map_cursor_init(&c, &norm);
    check_span(&c, 0, 2, 0, 2);
    check_span(&c, 2, 3, 2, 3);
    check_span(&c, 3, 3, 3, 3);
    check_span(&c, 3, 4, 3, 6); /* half of the composed character */
    check_span(&c, 4, 5, 3, 6);
    check_span(&c, 5, 7, 6, 10); /* a space and half of the ligature */
    check_span(&c, 7, 7, 7, 7);  /* an empty range inside an edit */
    check_span(&c, 7, 8, 7, 10);
    check_span(&c, 8, 11, 10, 13);
    check_span(&c, 11, 11, 13, 13);
    dstok__map_cursor_init(&c, &norm);
    check_span(&c, 0, 11, 0, 13);
    dstok__map_cursor_init(&c, &norm);
    check_span(&c, 4, 9, 3, 11); /* from inside one edit over another */
    CHECK_EQ(normalize(NFKC, "abc", 3, NO_LIMIT), DSTOK_OK);
    dstok__map_cursor_init(&c, &norm);
    check_span(&c, 1, 3, 1, 3);
}

static dstok_status piece(const char *src, const char *blank, const char *prefix, size_t max) {
    return dstok__normalize_piece(&norm, (const uint8_t *)src, strlen(src), blank, prefix, max);
}

static void test_piece(void) {
    dstok__map_cursor c;
    CHECK_EQ(piece("a bc", "\u2581", "\u2581", NO_LIMIT), DSTOK_OK);
    CHECK(norm.len == 9 && memcmp(norm.text, "\u2581a\u2581bc", 9) == 0);
    dstok__map_cursor_init(&c, &norm);
    check_span(&c, 0, 3, 0, 0);
    check_span(&c, 0, 4, 0, 1);
    check_span(&c, 4, 7, 1, 2);
    check_span(&c, 7, 9, 2, 4);
    dstok__map_cursor_init(&c, &norm);
    check_span(&c, 0, 9, 0, 4);
    const char *src = "abc"; /* unchanged text is not copied */
    CHECK_EQ(piece(src, "\u2581", NULL, NO_LIMIT), DSTOK_OK);
    CHECK(norm.text == (const uint8_t *)src && norm.n_edits == 0);
    CHECK_EQ(piece(src, NULL, " ", NO_LIMIT), DSTOK_OK);
    CHECK(norm.len == 4 && memcmp(norm.text, " abc", 4) == 0 && norm.n_edits == 1);
    CHECK_EQ(piece("", "\u2581", "\u2581", NO_LIMIT),
             DSTOK_OK); /* as the reference: nothing before nothing */
    CHECK_EQ(norm.len, 0);
    CHECK_EQ(piece(src, NULL, " ", 3), DSTOK_E_LIMIT);
    norm.want_from = true;
    CHECK_EQ(piece("a b", "\u2581", "--", NO_LIMIT), DSTOK_OK);
    static const uint32_t from[] = {0, 0, 0, 1, 1, 1, 2};
    CHECK(norm.len == 7 && memcmp(norm.from, from, sizeof from) == 0);
    norm.want_from = false;
}

/* ---- long runs, limits, failures ---- */

/* Alternating marks of classes 230 and 220 behind a letter: sorted, all 220s come first. */
static void test_long_run(void) {
    enum { N = 100000 };
    size_t len = 1 + 2 * (size_t)N;
    char *src = malloc(len);
    src[0] = 'x';
    for (size_t i = 0; i < N; i++) memcpy(src + 1 + 2 * i, i % 2 == 0 ? "\u0301" : "\u0316", 2);
    CHECK_EQ(normalize(NFC, src, len, NO_LIMIT), DSTOK_OK);
    CHECK_EQ(norm.len, len);
    for (size_t i = 0; i < N; i++) {
        bool right = memcmp(norm.text + 1 + 2 * i, i < N / 2 ? "\u0316" : "\u0301", 2) == 0;
        if (!right) {
            CHECK(right);
            break;
        }
    }
    /* the first mark in the result was the second, the last was the last but one: one hull holds all */
    CHECK(norm.n_edits == 1 && norm.edits[0].src == 1 && norm.edits[0].src_n == len - 1);
    for (size_t i = 0; i < N; i++) memcpy(src + 1 + 2 * i, i < N / 2 ? "\u0316" : "\u0301", 2);
    CHECK_EQ(normalize(NFD, src, len, NO_LIMIT), DSTOK_OK);
    CHECK(norm.text == (uint8_t *)src && norm.n_edits == 0);
    free(src);
}

static void test_limits(void) {
    CHECK_EQ(normalize(NFD, "\u00E9\u00E9", 4, 6), DSTOK_OK);
    CHECK_EQ(normalize(NFD, "\u00E9\u00E9", 4, 5), DSTOK_E_LIMIT);
    CHECK_EQ(normalize(NFD, "x\u00E9abcdef", 9, 9), DSTOK_E_LIMIT); /* met in the rest after the edit */
    CHECK_EQ(normalize(NFC, "abc", 3, 2), DSTOK_E_LIMIT);
    CHECK_EQ(normalize(NFC, "abc", 3, 3), DSTOK_OK);
    CHECK_EQ(normalize(NFC, "e\u0301", 3, 2), DSTOK_OK); /* the result counts, not the source */
    CHECK_EQ(dstok__normalize(&norm, NULL, NULL, (const uint8_t *)"E\u0301", 3, 3, NULL), DSTOK_OK);
    CHECK(norm.len == 3 && norm.n_edits == 0);
    CHECK_EQ(dstok__normalizer_bound(NULL, 3), 3);
    CHECK(!dstok__normalizer_needs_regex(NULL));
    dstok_error err;
    dstok__normalizer *z = make((const dstok__norm_kind[]){NFD}, 1);
    CHECK_EQ(dstok__normalize(&norm, z, NULL, (const uint8_t *)"\u00E9", 2, 2, &err), DSTOK_E_LIMIT);
    CHECK_EQ(err.status, DSTOK_E_LIMIT);
    CHECK_EQ(dstok__normalizer_bound(z, SIZE_MAX / 2), SIZE_MAX);
    dstok__normalizer_free(z);
}

static void test_failing_heap(void) {
    static const dstok__norm ops[] = {
        {.kind = NFKD},
        {.kind = NFC},
        {.kind = LOWER},
        {.kind = DSTOK__NORM_REPLACE, .pattern = " ", .pattern_n = 1, .content = "\u2581", .content_n = 3},
        {.kind = DSTOK__NORM_PREPEND, .content = "\u2581", .content_n = 3},
        {.kind = DSTOK__NORM_SPM, .content = "pl\0x\0", .content_n = 5, .flags = DSTOK__SPM_DUMMY_PREFIX},
    };
    const uint8_t *src =
        (const uint8_t *)"x\u0301\u0316\u0301 \uFB01 \u1112\u1161\u11ABE\u0301 \u0130 plain text";
    size_t len = strlen((const char *)src);
    for (size_t fail_at = 1;; fail_at++) {
        t_heap heap = {.fail_at = fail_at};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok__normalized n;
        dstok__normalizer *z = NULL;
        dstok__normalized_init(&n, &al);
        n.want_from = true;
        dstok_status status = dstok__normalizer_new(&al, ops, sizeof ops / sizeof *ops, &z, NULL);
        if (status == DSTOK_OK) status = dstok__normalize(&n, z, NULL, src, len, NO_LIMIT, NULL);
        bool failed = heap.calls >= fail_at;
        CHECK_EQ(status, failed ? DSTOK_E_NOMEM : DSTOK_OK);
        heap.fail_at = 0; /* the object can still be used, and freed */
        if (z == NULL)
            CHECK_EQ(dstok__normalizer_new(&al, ops, sizeof ops / sizeof *ops, &z, NULL), DSTOK_OK);
        CHECK_EQ(dstok__normalize(&n, z, NULL, src, len, NO_LIMIT, NULL), DSTOK_OK);
        const char *want =
            " \u2581x\u0316\u0301\u0301\u2581fi\u2581\uD55C\u00E9\u2581i\u0307\u2581plain\u2581text";
        CHECK(n.len == strlen(want) && memcmp(n.text, want, n.len) == 0);
        dstok__normalizer_free(z);
        dstok__normalized_free(&n);
        CHECK_EQ(heap.live, 0);
        if (!failed) break;
    }
}

int main(void) {
    dstok__normalized_init(&norm, &dstok__default_alloc);
    test_texts();
    test_places();
    test_all();
    test_utf8proc_agrees();
    test_edits();
    test_map();
    test_piece();
    test_long_run();
    test_limits();
    test_failing_heap();
    dstok__normalized_free(&norm);
    return t_end();
}
