/* SPDX-License-Identifier: MIT */
/* Byte spans in other units against a table of every byte of the text. */
#include "../harness/t.h"
#include "../oracle/gen.h"

#include <dstok/align.h>

#include <stdlib.h>

#define MAX_TEXT 200

/* ---- the naive version: UTF-8 read by its definition, and for each byte the unit it belongs to ---- */

/* Length of the well-formed character at s (Unicode 16.0, table 3-7), or 0. */
static size_t character(const uint8_t *s, size_t n) {
    uint32_t c = s[0];
    size_t len = c < 0x80                ? 1
                 : c >= 0xC2 && c < 0xE0 ? 2
                 : c >= 0xE0 && c < 0xF0 ? 3
                 : c >= 0xF0 && c < 0xF5 ? 4
                                         : 0;
    if (len == 0 || len > n) return 0;
    c = len == 1 ? c : len == 2 ? c & 0x1F : len == 3 ? c & 0x0F : c & 0x07;
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    if ((len == 3 && c < 0x800) || (len == 4 && (c < 0x10000 || c > 0x10FFFF)) ||
        (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    return len;
}

/* Does some well-formed character begin with s[0, n)? */
static bool is_head(const uint8_t *s, size_t n) {
    static const uint8_t ends[] = {0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF};
    uint8_t try[4];
    memcpy(try, s, n);
    for (size_t a = 0; a < 6; a++) {
        for (size_t k = n; k < 4; k++) try[k] = k == n ? ends[a] : 0x80;
        for (size_t len = n; len <= 4; len++) {
            if (character(try, len) == len) return true;
        }
    }
    return false;
}

/* Length of the unit at s: a character, or a maximal subpart of one. */
static size_t unit_at(const uint8_t *s, size_t n, bool *good) {
    size_t len = character(s, n);
    *good = len > 0;
    if (len > 0) return len;
    len = 1;
    while (len < 3 && len < n && is_head(s, len + 1)) len++;
    return len;
}

typedef struct table {
    uint64_t first[MAX_TEXT + 1],
        behind[MAX_TEXT + 1]; /* of the character that holds the byte, in the unit */
    bool starts[MAX_TEXT + 1];
    uint64_t total;
} table;

static void fill(table *t, const uint8_t *s, size_t n, int unit) {
    uint64_t units = 0;
    for (size_t i = 0; i < n;) {
        bool good;
        size_t len = unit_at(s + i, n - i, &good);
        uint64_t width = unit == DSTOK_UNIT_UTF16 && good && len == 4 ? 2 : 1;
        for (size_t k = 0; k < len; k++) {
            t->first[i + k] = units;
            t->behind[i + k] = units + width;
            t->starts[i + k] = k == 0;
        }
        i += len;
        units += width;
    }
    t->total = t->first[n] = units;
    t->starts[n] = true;
}

/* A non-empty span is widened to whole characters; an empty one stays empty, at the character that holds its place. */
static dstok_span naive(const table *t, dstok_span s) {
    uint64_t begin = t->first[s.begin];
    if (s.begin == s.end) return (dstok_span){begin, begin};
    return (dstok_span){begin, t->behind[s.end - 1]};
}

/* ---- tests ---- */

static size_t random_spans(t_rng *rng, size_t len, dstok_span *spans, size_t max) {
    size_t n = 0, begin = 0, end = 0;
    while (n < max && begin <= len) {
        begin += t_below(rng, 4) == 0 ? 0 : t_below(rng, 4);
        if (end < begin) end = begin;
        end += t_below(rng, 5);
        if (begin > len || end > len) break;
        spans[n++] = (dstok_span){begin, end};
        if (t_below(rng, 2) == 0) begin = end;
    }
    for (size_t k = t_below(rng, 4) == 0 ? 1 + n / 8 : 0; k > 0 && n > 1; k--) { /* they need no order */
        dstok_span *a = &spans[t_below(rng, (uint32_t)n)], *b = &spans[t_below(rng, (uint32_t)n)], kept = *a;
        *a = *b;
        *b = kept;
    }
    return n;
}

static void check_text(t_rng *rng, const uint8_t *s, size_t len) {
    static table t;
    dstok_span spans[100], want[100];
    for (int unit = DSTOK_UNIT_CHAR; unit <= DSTOK_UNIT_UTF16; unit++) {
        fill(&t, s, len, unit);
        CHECK_EQ(dstok_text_length(s, len, unit), t.total);
        size_t n = random_spans(rng, len, spans, 100);
        for (size_t i = 0; i < n; i++) want[i] = naive(&t, spans[i]);
        CHECK_EQ(dstok_spans_convert(s, len, spans, n, unit), DSTOK_OK);
        bool same = n == 0 || memcmp(spans, want, n * sizeof *spans) == 0;
        CHECK(same);
        if (!same && t_failures < 4) gen_print(s, len);
    }
    size_t good = 0;
    while (good < len && character(s + good, len - good) > 0) good += character(s + good, len - good);
    CHECK_EQ(dstok_utf8_check(s, len), good);
}

static void test_random(void) {
    t_rng rng = {23};
    uint8_t buf[MAX_TEXT];
    for (int i = 0; i < 20000; i++) {
        size_t n = i % 2 == 0 ? gen_text(&rng, buf, MAX_TEXT) : gen_bytes(&rng, buf, MAX_TEXT);
        uint8_t *exact = malloc(n > 0 ? n : 1);
        memcpy(exact, buf, n);
        check_text(&rng, exact, n);
        free(exact);
    }
}

/* Every sequence of up to four bytes from the edges of table 3-7. */
static void test_edges(void) {
    static const uint8_t bytes[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                    0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    enum { K = sizeof bytes };
    t_rng rng = {29};
    for (uint32_t i = 0; i < K * K * K; i++) {
        uint8_t s[5] = {bytes[i % K], bytes[i / K % K], bytes[i / K / K], 0x80, 'a'};
        check_text(&rng, s, 3);
        check_text(&rng, s, 5);
    }
}

static void test_made(void) {
    dstok_span s[] = {{0, 1}, {1, 3}, {3, 4}, {4, 5}, {5, 7}}; /* i, blank + half of an arrow, ... */
    const dstok_span want[] = {{0, 1}, {1, 3}, {2, 3}, {2, 3}, {3, 5}};
    CHECK_EQ(dstok_spans_convert("i \xE2\xAD\xA2 j", 7, s, 5, DSTOK_UNIT_CHAR), DSTOK_OK);
    CHECK_MEM(s, want, sizeof want);
    dstok_span poo[] = {{0, 3}, {3, 4}, {4, 4}, {4, 8}};
    const dstok_span want_poo[] = {{0, 2}, {0, 2}, {2, 2}, {2, 4}};
    CHECK_EQ(dstok_spans_convert("\xF0\x9F\x92\xA9\xF0\x9F\x92\xA9", 8, poo, 4, DSTOK_UNIT_UTF16), DSTOK_OK);
    CHECK_MEM(poo, want_poo, sizeof want_poo);
    CHECK_EQ(dstok_text_length("\xF0\x9F\x92\xA9"
                               "a",
                               5, DSTOK_UNIT_BYTE),
             5);
    CHECK_EQ(dstok_text_length("", 0, DSTOK_UNIT_CHAR), 0);
}

static void test_errors(void) {
    dstok_span past[] = {{0, 4}}, turned[] = {{2, 1}};
    CHECK_EQ(dstok_spans_convert("abc", 3, past, 1, DSTOK_UNIT_CHAR), DSTOK_E_RANGE);
    CHECK_EQ(dstok_spans_convert("abc", 3, turned, 1, DSTOK_UNIT_UTF16), DSTOK_E_RANGE);
    /* Order does not matter: "\u00E9a\xFF\U0001F600b", back over whole and ill-formed characters. */
    dstok_span back[] = {{8, 9}, {4, 8}, {3, 4}, {2, 3}, {0, 2}, {1, 9}};
    CHECK_EQ(dstok_spans_convert("\xC3\xA9"
                                 "a\xFF\xF0\x9F\x98\x80"
                                 "b",
                                 9, back, 6, DSTOK_UNIT_CHAR),
             DSTOK_OK);
    static const dstok_span want[] = {{4, 5}, {3, 4}, {2, 3}, {1, 2}, {0, 1}, {0, 5}};
    CHECK_MEM(back, want, sizeof want);
    CHECK_EQ(dstok_spans_convert("abc", 3, past, 1, 3), DSTOK_E_INVAL);
    CHECK_EQ(dstok_spans_convert(NULL, 0, NULL, 0, DSTOK_UNIT_CHAR), DSTOK_OK);
}

int main(void) {
    test_random();
    test_edges();
    test_made();
    test_errors();
    return t_end();
}
