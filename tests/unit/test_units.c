/* SPDX-License-Identifier: MIT */
/* Spans in bytes and other units, lines and columns, against a table of every byte of the text; on every
 * tier. */
#include "../../align/counter.h"
#include "../../align/units.h"
#include "../harness/t.h"
#include "../oracle/gen.h"

#include <dstok/align.h>

#include <stdlib.h>

#define MAX_TEXT  200
#define LONG_TEXT 300000 /* pages, marks, steps far back */
#define MAX_SPANS 400

static const dstok__simd *simd; /* the tier at hand */

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
    uint64_t first[LONG_TEXT + 1],
        behind[LONG_TEXT + 1]; /* of the character that holds the byte, in the unit */
    dstok_place place[LONG_TEXT + 1];
    size_t start[LONG_TEXT + 1]; /* where that character begins */
    uint64_t total;
} table;

static table t; /* of the text at hand */

/* Does a line begin with byte i > 0? */
static bool is_line(const uint8_t *s, size_t n, size_t i) {
    if (s[i - 1] == '\n') return true;
    if (s[i - 1] == '\r') return i == n || s[i] != '\n';
    return i >= 3 && s[i - 3] == 0xE2 && s[i - 2] == 0x80 && (s[i - 1] == 0xA8 || s[i - 1] == 0xA9);
}

static void fill(const uint8_t *s, size_t n, int unit) {
    uint64_t units = 0, line = 1, base = 0;
    for (size_t i = 0, len; i <= n; i += len) {
        bool good = false;
        len = i < n ? unit_at(s + i, n - i, &good) : 1;
        uint64_t width = unit == DSTOK_UNIT_UTF16 && good && len == 4 ? 2 : unit == DSTOK_UNIT_BYTE ? len : 1;
        if (i > 0 && is_line(s, n, i)) {
            line++;
            base = units;
        }
        for (size_t k = 0; k < len; k++) {
            t.first[i + k] = units;
            t.behind[i + k] = units + width;
            t.start[i + k] = i;
            t.place[i + k] = (dstok_place){line, units - base + 1 + (unit == DSTOK_UNIT_BYTE ? k : 0)};
        }
        if (i < n) units += width;
    }
    t.total = units;
}

/* A non-empty span is widened to whole characters; an empty one stays empty, at the character that holds
 * its place. */
static dstok_span naive(dstok_span s) {
    uint64_t begin = t.first[s.begin];
    if (s.begin == s.end) return (dstok_span){begin, begin};
    return (dstok_span){begin, t.behind[s.end - 1]};
}

/* ---- tests ---- */

static size_t random_spans(t_rng *rng, size_t len, dstok_span *spans, size_t max, uint32_t step) {
    size_t n = 0, begin = 0, end = 0;
    while (n < max && begin <= len) {
        begin += t_below(rng, 4) == 0 ? 0 : t_below(rng, step);
        if (end < begin) end = begin;
        end += t_below(rng, step + 1);
        if (begin > len || end > len) break;
        spans[n++] = (dstok_span){begin, end};
        if (t_below(rng, 2) == 0) begin = end;
    }
    for (size_t k = t_below(rng, 4) == 0 ? 1 + n / 2 : 0; k > 0 && n > 1; k--) { /* they need no order */
        dstok_span *a = &spans[t_below(rng, (uint32_t)n)], *b = &spans[t_below(rng, (uint32_t)n)], kept = *a;
        *a = *b;
        *b = kept;
    }
    return n;
}

static void same(bool is, const char *what, const uint8_t *s, size_t len) {
    t_checks++;
    if (is || ++t_failures > 8) return;
    fprintf(stderr, "%s: %s: %zu bytes: ", simd->name, what, len);
    gen_print(s, len < 300 ? len : 300);
}

/* Spans there and back. Behind the way back a span holds whole characters. */
static void check_spans(const uint8_t *s, size_t len, const dstok_span *bytes, size_t n, int unit) {
    static dstok_span spans[MAX_SPANS], want[MAX_SPANS];
    memcpy(spans, bytes, n * sizeof *spans);
    for (size_t i = 0; i < n; i++) want[i] = naive(spans[i]);
    CHECK_EQ(dstok__spans_convert(simd, s, len, spans, n, unit), DSTOK_OK);
    same(n == 0 || memcmp(spans, want, n * sizeof *spans) == 0, "spans", s, len);
    for (size_t i = 0; i < n; i++) {
        size_t begin = t.start[bytes[i].begin], end = bytes[i].end;
        if (bytes[i].begin == bytes[i].end)
            end = begin;
        else
            while (t.start[end] != end) end++;
        want[i] = (dstok_span){begin, end};
    }
    CHECK_EQ(dstok__spans_to_bytes(simd, s, len, spans, n, unit), DSTOK_OK);
    same(n == 0 || memcmp(spans, want, n * sizeof *spans) == 0, "spans back", s, len);
}

/* Every unit, or some of a long text, by itself: halves of UTF-16 pairs, too. */
static void check_units(t_rng *rng, const uint8_t *s, size_t len, int unit) {
    for (int round = 0; round < 6; round++) {
        dstok_span span, want;
        size_t a = t_below(rng, (uint32_t)len + 1), b = a + t_below(rng, (uint32_t)(len - a) + 1);
        span = (dstok_span){t.first[a], t.first[b]};
        want = (dstok_span){t.start[a], t.start[b]};
        if (unit == DSTOK_UNIT_UTF16 && a < len && t.behind[a] - t.first[a] == 2) span.begin++;
        if (unit == DSTOK_UNIT_UTF16 && b < len && t.behind[b] - t.first[b] == 2) {
            span.end++;
            if (span.begin != span.end) want.end += 4;
        }
        if (span.begin > span.end) continue;
        CHECK_EQ(dstok__spans_to_bytes(simd, s, len, &span, 1, unit), DSTOK_OK);
        same(memcmp(&span, &want, sizeof span) == 0, "a span of units", s, len);
    }
    dstok_span behind = {t.total, t.total + 1}, far = {t.total + 700, t.total + 700};
    CHECK_EQ(dstok__spans_to_bytes(simd, s, len, &behind, 1, unit), DSTOK_E_RANGE);
    CHECK_EQ(dstok__spans_to_bytes(simd, s, len, &far, 1, unit), DSTOK_E_RANGE);
}

static void check_places(const uint8_t *s, size_t len, const dstok_span *spans, size_t n, int unit) {
    static uint64_t bytes[2 * MAX_SPANS], back[2 * MAX_SPANS];
    static dstok_place places[2 * MAX_SPANS], want[2 * MAX_SPANS];
    n *= 2;
    memcpy(bytes, spans, n * sizeof *bytes);
    for (size_t i = 0; i < n; i++) want[i] = t.place[bytes[i]];
    CHECK_EQ(dstok__places_of(simd, s, len, bytes, n, unit, places), DSTOK_OK);
    same(n == 0 || memcmp(places, want, n * sizeof *want) == 0, "places", s, len);
    CHECK_EQ(dstok__places_to_bytes(simd, s, len, places, n, unit, back), DSTOK_OK);
    for (size_t i = 0; i < n && unit != DSTOK_UNIT_BYTE; i++) bytes[i] = t.start[bytes[i]];
    same(n == 0 || memcmp(bytes, back, n * sizeof *back) == 0, "places back", s, len);
    dstok_place end = t.place[len], next = {end.line + 1, 1}, wide = {end.line, end.column + 1},
                none[] = {{0, 1}, {1, 0}};
    CHECK_EQ(dstok__places_to_bytes(simd, s, len, &end, 1, unit, back), DSTOK_OK);
    CHECK_EQ(back[0], len);
    CHECK_EQ(dstok__places_to_bytes(simd, s, len, &next, 1, unit, back), DSTOK_E_RANGE);
    CHECK_EQ(dstok__places_to_bytes(simd, s, len, &wide, 1, unit, back), DSTOK_E_RANGE);
    CHECK_EQ(dstok__places_to_bytes(simd, s, len, none, 1, unit, back), DSTOK_E_RANGE);
    CHECK_EQ(dstok__places_to_bytes(simd, s, len, none + 1, 1, unit, back), DSTOK_E_RANGE);
    for (size_t i = 1; i <= len && i < MAX_TEXT; i++) { /* a column behind the break of a line */
        if (t.place[i].line == t.place[i - 1].line) continue;
        dstok_place past = {t.place[i - 1].line, t.place[i - 1].column + 1};
        if (unit == DSTOK_UNIT_UTF16 && t.behind[i - 1] - t.first[i - 1] == 2) past.column++;
        CHECK_EQ(dstok__places_to_bytes(simd, s, len, &past, 1, unit, back), DSTOK_E_RANGE);
    }
}

/* The same places, from a text that comes in pieces. */
static void check_counter(t_rng *rng, const uint8_t *s, size_t len, uint32_t step, int unit) {
    dstok__counter c = {0};
    for (size_t at = 0, n = 0; at <= len; at += n) {
        dstok__at is;
        dstok__counter_at(&c, at < len ? s[at] : -1, &is);
        bool good = is.byte == t.start[at] && is.line == t.place[at].line;
        if (unit == DSTOK_UNIT_CHAR)
            good = good && is.chars == t.first[at] && is.column == t.place[at].column;
        if (unit == DSTOK_UNIT_UTF16)
            good = good && is.utf16 == t.first[at] && is.column_utf16 == t.place[at].column;
        same(good, "a place in a stream", s, len);
        if (at == len) break;
        n = t_below(rng, 2 * step) + 1;
        if (n > len - at) n = len - at;
        uint8_t *piece = malloc(n);
        memcpy(piece, s + at, n);
        dstok__counter_feed(&c, simd, piece, n);
        free(piece);
    }
}

static void check_text(t_rng *rng, const uint8_t *s, size_t len, uint32_t step) {
    static dstok_span spans[MAX_SPANS];
    for (int unit = DSTOK_UNIT_BYTE; unit <= DSTOK_UNIT_UTF16; unit++) {
        fill(s, len, unit);
        size_t n = random_spans(rng, len, spans, MAX_SPANS, step);
        check_places(s, len, spans, n, unit);
        check_counter(rng, s, len, step, unit);
        if (unit == DSTOK_UNIT_BYTE) continue;
        CHECK_EQ(dstok__text_length(simd, s, len, unit), t.total);
        check_spans(s, len, spans, n, unit);
        check_units(rng, s, len, unit);
    }
    size_t good = 0;
    while (good < len && character(s + good, len - good) > 0) good += character(s + good, len - good);
    CHECK_EQ(dstok_utf8_check(s, len), good);
}

/* Sprinkles line breaks of all kinds, and what looks like them. */
static void add_lines(t_rng *rng, uint8_t *s, size_t len, uint32_t every) {
    static const char *const breaks[] = {"\n",           "\r",   "\r\n",     "\xE2\x80\xA8", "\xE2\x80\xA9",
                                         "\xE2\x80\xAA", "\n\r", "\xC2\x85", "\v",           "\f"};
    for (size_t k = 1 + len / every; k > 0; k--) {
        const char *line = breaks[t_below(rng, 10)];
        size_t n = strlen(line), at = t_below(rng, (uint32_t)len + 1);
        memcpy(s + at, line, n < len - at ? n : len - at);
    }
}

static void test_random(void) {
    t_rng rng = {23};
    uint8_t buf[MAX_TEXT];
    for (int i = 0; i < 6000; i++) {
        size_t n = i % 2 == 0 ? gen_text(&rng, buf, MAX_TEXT) : gen_bytes(&rng, buf, MAX_TEXT);
        if (i % 3 == 0) add_lines(&rng, buf, n, 20);
        uint8_t *exact = malloc(n > 0 ? n : 1);
        memcpy(exact, buf, n);
        check_text(&rng, exact, n, 4);
        free(exact);
    }
}

/* Texts of many pages, spans near each other and far from each other, in order and not. */
static void test_long(void) {
    t_rng rng = {31};
    uint8_t *buf = malloc(LONG_TEXT);
    for (int i = 0; i < 20; i++) {
        size_t len = 0, want = i % 4 == 3 ? LONG_TEXT : t_below(&rng, 30000);
        while (want - len >= 16) {
            size_t max = want - len < MAX_TEXT ? want - len : MAX_TEXT;
            if (i % 5 == 0) memset(buf + len, 'a', max);
            len += i % 5 == 0   ? max
                   : i % 2 == 0 ? gen_text(&rng, buf + len, max)
                                : gen_bytes(&rng, buf + len, max);
        }
        if (i % 3 != 0) add_lines(&rng, buf, len, i % 3 == 1 ? 100 : 100000);
        uint8_t *exact = malloc(len > 0 ? len : 1);
        memcpy(exact, buf, len);
        for (uint32_t step = 4; step < 2 * LONG_TEXT; step *= 20) check_text(&rng, exact, len, step);
        free(exact);
    }
    free(buf);
}

/* Every sequence of up to four bytes from the edges of table 3-7, over an edge of blocks, too. */
static void test_edges(void) {
    static const uint8_t bytes[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                    0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    enum { K = sizeof bytes };
    t_rng rng = {29};
    for (uint32_t i = 0; i < K * K * K; i++) {
        uint8_t s[70], *e = s + 58 + i % 7;
        memset(s, 'b', sizeof s);
        const uint8_t edge[5] = {bytes[i % K], bytes[i / K % K], bytes[i / K / K], 0x80, 'a'};
        check_text(&rng, edge, 3, 4);
        check_text(&rng, edge, 5, 4);
        memcpy(e, edge, 5);
        check_text(&rng, s, sizeof s, 4);
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
    uint64_t byte = 4;
    dstok_place place = {1, 1};
    dstok_span none = {0, 0}, swapped = {2, 1};
    CHECK_EQ(dstok_spans_to_bytes("abc", 3, past, 1, 3), DSTOK_E_INVAL);
    CHECK_EQ(dstok_spans_to_bytes("abc", 3, &swapped, 1, DSTOK_UNIT_CHAR), DSTOK_E_RANGE);
    CHECK_EQ(dstok_spans_to_bytes("abc", 3, &(dstok_span){3, 4}, 1, DSTOK_UNIT_BYTE), DSTOK_E_RANGE);
    CHECK_EQ(dstok_spans_to_bytes(NULL, 0, &none, 1, DSTOK_UNIT_CHAR), DSTOK_OK);
    CHECK_EQ(dstok_places("abc", 3, &byte, 1, DSTOK_UNIT_CHAR, &place), DSTOK_E_RANGE);
    CHECK_EQ(dstok_places("abc", 3, &byte, 1, -1, &place), DSTOK_E_INVAL);
    CHECK_EQ(dstok_places_to_bytes("abc", 3, &place, 1, 3, &byte), DSTOK_E_INVAL);
    place = (dstok_place){1, UINT64_MAX};
    CHECK_EQ(dstok_places_to_bytes("abc", 3, &place, 1, DSTOK_UNIT_CHAR, &byte), DSTOK_E_RANGE);
    place = (dstok_place){UINT64_MAX, 1};
    CHECK_EQ(dstok_places_to_bytes("abc", 3, &place, 1, DSTOK_UNIT_CHAR, &byte), DSTOK_E_RANGE);
    CHECK_EQ(dstok_places_to_bytes(NULL, 0, &(dstok_place){1, 1}, 1, DSTOK_UNIT_CHAR, &byte), DSTOK_OK);
    CHECK_EQ(byte, 0);
}

int main(void) {
    for (int tier = 0; tier < DSTOK__N_TIERS; tier++) {
        simd = dstok__simd_tier((dstok__tier)tier);
        if (simd == NULL) continue;
        fprintf(stderr, "%s\n", simd->name);
        test_random();
        test_edges();
        test_long();
    }
    test_made();
    test_errors();
    return t_end();
}
