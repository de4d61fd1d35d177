/* SPDX-License-Identifier: MIT */
/* Character maps: Precompiled and SentencePiece's normaliser as measured with tokenizers 0.23.3 and
 * sentencepiece 0.2.3,
 * grapheme clusters, broken maps. */
#include "../../tokenizer/text/charsmap.h"
#include "../../tokenizer/text/norm.h"
#include "../harness/heap.h"
#include "../harness/t.h"
#include "norm_util.h"

#include <stdlib.h>

enum { NO_LIMIT = 1 << 30, MAX_UNITS = 8192, MAX_TEXTS = 4096 };

#define TEXT(s) s, sizeof(s) - 1

static dstok__normalized norm;

/* ---- making a map ---- */

typedef struct rule {
    const char *from, *to;
} rule;

typedef struct blob {
    uint32_t units[MAX_UNITS];
    bool used[MAX_UNITS], is_base[MAX_UNITS];
    size_t n_units;
    char texts[MAX_TEXTS];
    size_t texts_n;
    uint8_t bytes[4 + 4 * MAX_UNITS + MAX_TEXTS];
    size_t n;
} blob;

static blob map; /* of `rules` */

/* A base of its own at which all labels (0: the text of the key itself) are free. */
static uint32_t free_base(blob *b, const bool labels[256]) {
    for (uint32_t base = 256;; base++) {
        bool good = !b->is_base[base];
        for (uint32_t c = 0; c < 256; c++)
            if (labels[c] && b->used[base ^ c]) good = false;
        if (!good) continue;
        b->is_base[base] = true;
        return base;
    }
}

/* Lays out the rules that begin with from[0, depth) of the first of them; returns the base. */
static uint32_t lay_out(blob *b, const rule *rules, size_t n, const char *key, size_t depth) {
    bool labels[256] = {false};
    uint32_t value = 0;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(rules[i].from, key, depth) != 0) continue;
        labels[(uint8_t)rules[i].from[depth]] = true;
        if (rules[i].from[depth] != '\0') continue;
        value = (uint32_t)b->texts_n;
        memcpy(b->texts + b->texts_n, rules[i].to, strlen(rules[i].to) + 1);
        b->texts_n += strlen(rules[i].to) + 1;
    }
    uint32_t base = free_base(b, labels);
    for (uint32_t c = 0; c < 256; c++)
        if (labels[c]) b->used[base ^ c] = true;
    if (labels[0]) b->units[base] = value | 1u << 31;
    for (uint32_t c = 1; c < 256; c++) {
        if (!labels[c]) continue;
        char next[64];
        memcpy(next, key, depth);
        next[depth] = (char)c;
        bool leaf = false;
        for (size_t i = 0; i < n; i++)
            if (strlen(rules[i].from) == depth + 1 && memcmp(rules[i].from, next, depth + 1) == 0)
                leaf = true;
        uint32_t child = lay_out(b, rules, n, next, depth + 1);
        b->units[base ^ c] = c | (leaf ? 1u << 8 : 0) | ((base ^ c) ^ child) << 10;
    }
    return base;
}

static void put32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static void write_blob(blob *b) {
    b->n_units = MAX_UNITS;
    while (b->n_units > 1 && !b->used[b->n_units - 1]) b->n_units--;
    put32(b->bytes, (uint32_t)b->n_units * 4);
    for (size_t i = 0; i < b->n_units; i++) put32(b->bytes + 4 + 4 * i, b->units[i]);
    memcpy(b->bytes + 4 + 4 * b->n_units, b->texts, b->texts_n);
    b->n = 4 + 4 * b->n_units + b->texts_n;
}

static void make_blob(blob *b, const rule *rules, size_t n) {
    memset(b, 0, sizeof *b);
    b->used[0] = true;
    b->units[0] = lay_out(b, rules, n, "", 0) << 10;
    write_blob(b);
}

static const rule rules[] = {
    {"a", "XYZ"},
    {"b", ""},
    {"c\u0301", "x"},
    {"\u0301", ""},
    {"\u00E9", "e\u0301\u0302"},
    {"e\u0301", " "},
    {"e", "E "},
    {"ooo", "  "},
    {"\u4E2D", " \u4E2D "},
    {"\u1100\u1161", "\uAC00"},
    {"\uAC00", "\u1100\u1161\u11A8"},
    {"\u0600", "P"},
    {"\u0915\u094D", "C"},
    {"\U0001F600", ":)"},
    {"\r", "A"},
    {"\r\n", "BC"},
    {"\u2581", " "},
    {"\u0308", " "},
    {"x", "y "},
};

static dstok__norm precompiled(const blob *b) {
    return (dstok__norm){
        .kind = DSTOK__NORM_PRECOMPILED, .pattern = (const char *)b->bytes, .pattern_n = b->n};
}

static dstok_status apply(const dstok__norm *op, const char *src, size_t len) {
    dstok__normalizer *z = NULL;
    dstok_status status = dstok__normalizer_new(&dstok__default_alloc, op, 1, &z, NULL);
    if (status == DSTOK_OK)
        status = dstok__normalize(&norm, z, NULL, (const uint8_t *)src, len, NO_LIMIT, NULL);
    if (status == DSTOK_OK) CHECK(norm.len <= dstok__normalizer_bound(z, len));
    dstok__normalizer_free(z);
    return status;
}

/* ---- Precompiled and SPM ---- */

static void check_result(const char *name, const char *src, const char *want, const char *want_places) {
    char places[256];
    write_places(&norm, src, places, sizeof places);
    bool same = norm.len == strlen(want) && memcmp(norm.text, want, norm.len) == 0 &&
                strcmp(places, want_places) == 0;
    CHECK(same);
    if (!same)
        fprintf(stderr, "%s \"%s\": \"%.*s\", places %s\n", name, src, (int)norm.len, (const char *)norm.text,
                places);
}

static const struct {
    const char *src, *want, *places;
} precompiled_cases[] = {
    {"", "", ""},
    {"ab", "XYZ", "0 0 1"},
    {"b", "", ""},
    {"ba", "XYZ", "0 0 0"},
    {"aba", "XYZXYZ", "0 0 1 2 2 2"},
    {"xb", "y ", "0 1"},
    {"e\u0301", "E ", "0 1"},
    {"a\u0301", "XYZ", "0 1 1"},
    {"c\u0301", "x", "0"},
    {"\u0301", "", ""},
    {"\u00E9b", "e\u0301\u0302", "0 0 1"},
    {"ooo", "ooo", "0 1 2"},
    {"\r\n", "A", "0"},
    {"\r", "A", "0"},
    {"\u4E2D", " \u4E2D ", "0 0 0"},
    {"\u1100\u1161", "\u1100\u1161", "0 1"},
    {"\uAC00\u11A8", "\u1100\u1161\u11A8\u11A8", "0 0 0 1"},
    {"\u0600a", "P", "0"},
    {"\u0600\u00E9", "P", "0"},
    {"\u0915\u094D\u0937\u0301", "\u0915\u094D\u0937", "0 1 2"},
    {"\u0937\u0301", "\u0937", "0"},
    {"\U0001F600a", ":)XYZ", "0 0 1 1 1"},
    {"\u0308b", " ", "0"},
    {"a\u0308", "XYZ", "0 1 1"},
    {"ab\u0301b", "XYZ", "0 0 1"},
    {"ebb", "E ", "0 1"},
    {"\u2581", " ", "0"},
    {"xx", "y y ", "0 0 1 1"},
    {"a\u200Db", "XYZ", "0 1 2"},
    {"\U0001F1E9\U0001F1EA\u0301", "\U0001F1E9\U0001F1EA", "0 1"},
};

static void test_precompiled(void) {
    dstok__norm op = precompiled(&map);
    for (size_t i = 0; i < sizeof precompiled_cases / sizeof *precompiled_cases; i++) {
        const char *src = precompiled_cases[i].src;
        CHECK_EQ(apply(&op, src, strlen(src)), DSTOK_OK);
        check_result("precompiled", src, precompiled_cases[i].want, precompiled_cases[i].places);
    }
}

enum {
    D = DSTOK__SPM_DUMMY_PREFIX,
    R = DSTOK__SPM_REMOVE_BLANKS,
    E = DSTOK__SPM_ESCAPE,
    S = DSTOK__SPM_SUFFIX
};

/* As measured, but for two things: inside a user-defined piece the places go on one by one, where
 * sentencepiece gives that of its first character; a suffix behind the whole text has the place of the last
 * byte, not of the one behind. */
static const struct {
    bool has_map;
    unsigned flags;
    const char *pieces;
    size_t pieces_n;
    const char *src, *want, *places;
} spm_cases[] = {
    {false, D | R | E, TEXT(""), "", "", ""},
    {false, D | R | E, TEXT(""), " ", "", ""},
    {false, D | R | E, TEXT(""), "  a  b ", "\u2581a\u2581b", "2 2 3 5"},
    {false, D | R | E, TEXT(""), "a", "\u2581a", "0 0"},
    {false, D | R | E, TEXT(""), "\u2581", "", ""},
    {false, D | R | E, TEXT(""), "a\u2581 ", "\u2581a", "0 0"},
    {false, D | E, TEXT(""), " a  b ", "\u2581\u2581a\u2581\u2581b\u2581", "0 0 1 2 3 4 5"},
    {false, 0, TEXT(""), " a  b ", " a  b ", "0 1 2 3 4 5"},
    {false, R, TEXT(""), " a  b ", "a b", "1 2 4"},
    {false, D | R | E | S, TEXT(""), " a  b ", "a\u2581b\u2581", "1 2 4 5"},
    {false, D | E | S, TEXT(""), " a ", "\u2581a\u2581\u2581", "0 1 2 2"},
    {false, D | R | S, TEXT(""), "a", "a ", "0 0"},
    {false, D | R | E | S, TEXT(""), " \u2581 ", "\u2581", "1"},
    {true, 0, TEXT(""), "aboooex", "XYZ  E y ", "0 0 0 2 2 5 5 6 6"},
    {true, D | R | E, TEXT(""), "xe\u0301a", "\u2581y\u2581XYZ", "0 0 0 3 3 3"},
    {true, D | R | E, TEXT(""), "\u4E2D\u4E2D", "\u2581\u4E2D\u2581\u4E2D", "0 0 0 1"},
    {true, R | E, TEXT(""), "x\u4E2D", "y\u2581\u4E2D", "0 0 1"},
    {true, D | E, TEXT(""), "c\u0301\u1100\u1161\u11A8", "\u2581x\uAC00\u11A8", "0 0 2 4"},
    {true, D | R | E, TEXT("ab\0abab\0e\u0301\0 x\0"), "aabababe\u0301b x x",
     "\u2581XYZabababe\u0301\u2581x\u2581x", "0 0 0 0 1 2 3 4 5 6 7 8 10 10 12 12"},
    {true, R | E, TEXT("b  \0 a\0"), "  ab  a", "ab\u2581\u2581XYZ", "1 3 3 3 6 6 6"},
    {true, 0, TEXT("oo\0o\0"), "ooooo", "ooooo", "0 1 2 3 4"},
};

static void test_spm(void) {
    for (size_t i = 0; i < sizeof spm_cases / sizeof *spm_cases; i++) {
        dstok__norm op = {
            .kind = DSTOK__NORM_SPM, .flags = spm_cases[i].flags, .content = spm_cases[i].pieces};
        op.content_n = spm_cases[i].pieces_n;
        if (spm_cases[i].has_map) op.pattern = (const char *)map.bytes, op.pattern_n = map.n;
        CHECK_EQ(apply(&op, spm_cases[i].src, strlen(spm_cases[i].src)), DSTOK_OK);
        check_result("spm", spm_cases[i].src, spm_cases[i].want, spm_cases[i].places);
    }
}

/* Blanks that go away leave edits behind, the prefix and the suffix have a source of no width. */
static void test_spm_edits(void) {
    static const struct {
        unsigned flags;
        const char *src;
        size_t n;
        dstok__edit want[5]; /* out, src, out_n, src_n */
    } cases[] = {
        {D | R | E, "  a  b ", 5, {{0, 0, 0, 2}, {0, 2, 3, 0}, {4, 3, 3, 1}, {7, 4, 0, 1}, {8, 6, 0, 1}}},
        {D | R | E | S, "a  ", 2, {{1, 1, 3, 0}, {4, 1, 0, 2}}},
        {D | E | S, "a", 1, {{1, 1, 3, 0}}},
        {D | R | E, "\u2581", 1, {{0, 0, 0, 3}}},
        {R, "  ", 1, {{0, 0, 0, 2}}},
        {0, " a", 0, {{0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dstok__norm op = {.kind = DSTOK__NORM_SPM, .flags = cases[i].flags};
        CHECK_EQ(apply(&op, cases[i].src, strlen(cases[i].src)), DSTOK_OK);
        check_edits(&norm, cases[i].want, cases[i].n, i);
    }
}

/* ---- grapheme clusters: the sizes of those of a text, in characters ---- */

static void test_graphemes(void) {
    static const struct {
        const char *text, *sizes;
    } cases[] = {
        {"ab", "11"},
        {"\r\n\r\r\n", "212"},
        {"a\u0301\u0323b", "31"},
        {"\u0301\n\u0301", "111"},
        {"a\u200Db\u200C", "22"},
        {"\u1100\u1161\u11A8\u11A8\u1161", "41"},
        {"\uAC00\u11A8\uAC01\u1161", "211"},
        {"\uAC01\u11A8\u1100\u1100\uAC00", "23"},
        {"\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7\U0001F1E9", "221"},
        {"\U0001F1E9\u0301\U0001F1EA", "21"},
        {"\u0600\U0001F1E9\U0001F1EA\U0001F1EB", "31"},
        {"\u0600\u0600a\u0600\n", "311"},
        {"\U0001F469\u200D\U0001F469\u200D\U0001F467\U0001F44D\U0001F3FD", "52"},
        {"\U0001F469\u200D\u200D\U0001F467a\u200D\U0001F467", "3121"},
        {"\U0001F469\u0301\u200D\u0301\U0001F467", "41"},
        {"\u0915\u094D\u0937\u0915\u0937", "311"},
        {"\u0915\u0301\u094D\u200D\u0937\u094D", "6"},
        {"\u0915\u094D\u200C\u0937", "31"},
        {"\u0915\u0903\u0E33a", "31"},
        {"\u1ACFa\u1ACF", "12"},              /* new in 17.0 */
        {"a\u05C8\u00A9\u200D\u00A9", "113"}, /* not even there yet */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *s = (const uint8_t *)cases[i].text;
        size_t len = strlen(cases[i].text), k = 0;
        char sizes[32];
        for (size_t pos = 0, end; pos < len && k < sizeof sizes - 1; pos = end) {
            end = pos + dstok__grapheme_end(s + pos, len - pos);
            unsigned heads = 0;
            for (size_t j = pos; j < end; j++) heads += is_head(cases[i].text[j]);
            sizes[k++] = (char)('0' + heads);
        }
        sizes[k] = '\0';
        CHECK_STR(sizes, cases[i].sizes);
    }
}

/* ---- broken maps ---- */

static dstok_status read_blob(const uint8_t *bytes, size_t n) {
    dstok__charsmap m;
    dstok_error err = {.status = DSTOK_OK};
    dstok_status status = dstok__charsmap_read(&dstok__default_alloc, (const char *)bytes, n, &m, &err);
    CHECK_EQ(status, err.status);
    return status;
}

static void test_broken(void) {
    static blob b;
    static const rule one[] = {{"a", "b"}};
    CHECK_EQ(read_blob(map.bytes, map.n), DSTOK_OK);
    CHECK_EQ(read_blob(map.bytes, 0), DSTOK_E_FORMAT);
    CHECK_EQ(read_blob(map.bytes, 3), DSTOK_E_FORMAT);
    CHECK_EQ(read_blob(map.bytes, 4 + 4 * map.n_units - 1), DSTOK_E_FORMAT);
    CHECK_EQ(read_blob((const uint8_t *)"\0\0\0\0abc", 7), DSTOK_E_FORMAT);
    CHECK_EQ(read_blob((const uint8_t *)"\2\0\0\0abcd", 8), DSTOK_E_FORMAT);
    make_blob(&b, one, 1);
    CHECK_EQ(read_blob(b.bytes, b.n), DSTOK_OK);
    b.bytes[b.n - 2] = 0xFF; /* the replacement is no UTF-8 */
    CHECK_EQ(read_blob(b.bytes, b.n), DSTOK_E_FORMAT);
    make_blob(&b, one, 1);
    b.units[b.units[0] >> 10 ^ 'a'] |= 0x7FFu << 20; /* a unit that points outside */
    write_blob(&b);
    CHECK_EQ(read_blob(b.bytes, b.n), DSTOK_E_FORMAT);
    make_blob(&b, one, 1);
    for (size_t i = 1; i < b.n_units; i++)
        if (b.units[i] >> 31 != 0) b.units[i] |= 0xFFFF; /* a text outside */
    write_blob(&b);
    CHECK_EQ(read_blob(b.bytes, b.n), DSTOK_E_FORMAT);
}

/* a trie that leads back to its root: every text is a key without an end. */
static void test_cycle(void) {
    static blob b;
    memset(&b, 0, sizeof b);
    b.units[0] = 256u << 10;
    b.used[256 ^ 'a'] = true;
    b.units[256 ^ 'a'] = (uint32_t)'a' | ((256u ^ 'a') ^ 256u) << 10;
    b.used[600] = true;
    write_blob(&b);
    enum { N = 1 << 18 };
    char *text = malloc(N);
    memset(text, 'a', N);
    dstok__norm op = {.kind = DSTOK__NORM_SPM, .pattern = (const char *)b.bytes, .pattern_n = b.n};
    CHECK_EQ(apply(&op, text, N), DSTOK_OK);
    CHECK_EQ(norm.len, N);
    free(text);
}

/* A forged unit with the label 0: no key holds a NUL, so it leads nowhere, and its text, longer than any may be, is not
 * used. */
static void test_nul(void) {
    static blob b;
    memset(&b, 0, sizeof b);
    b.units[0] = 256u << 10;
    b.units[256] = 1u << 8 | (256u ^ 300u) << 10;
    b.units[300] = 1u << 31;
    b.used[300] = true;
    for (b.texts_n = 0; b.texts_n < MAX_TEXTS; b.texts_n += 2) memcpy(b.texts + b.texts_n, "\u00E9", 2);
    write_blob(&b);
    dstok__norm op = precompiled(&b);
    for (int which = 0; which < 2; which++) {
        CHECK_EQ(apply(&op, "\0", 1), DSTOK_OK);
        CHECK(norm.len == 1 && norm.text[0] == '\0');
        op.kind = DSTOK__NORM_SPM;
    }
}

/* Every byte of a map changed in several ways: refused, or safe to run; results stay UTF-8 within the
 * bound. */
static void test_damaged(void) {
    const char *src =
        "ab e\u0301\u00E9 ooo\u4E2D\u1100\u1161\uAC00x \u0600a\u0915\u094D\u0937\U0001F600\r\n\u2581\u0308b";
    size_t len = strlen(src), n = map.n, refused = 0;
    uint8_t *bytes = malloc(n); /* of its exact size, for the sanitizer */
    static const uint8_t flips[] = {0x01, 0x02, 0x10, 0x80, 0xFF};
    for (size_t at = 0; at < n; at++) {
        if (at >= 4 && at < 4 + 4 * map.n_units && map.units[(at - 4) / 4] == 0) continue;
        for (size_t f = 0; f < sizeof flips; f++) {
            memcpy(bytes, map.bytes, n);
            bytes[at] ^= flips[f];
            dstok__norm op = precompiled(&map);
            op.pattern = (const char *)bytes;
            dstok_status status = apply(&op, src, len);
            refused += status != DSTOK_OK;
            CHECK(status == DSTOK_OK || status == DSTOK_E_FORMAT || status == DSTOK_E_LIMIT);
            op.kind = DSTOK__NORM_SPM;
            op.flags = D | R | E;
            CHECK_EQ(apply(&op, src, len), status);
        }
    }
    CHECK(refused > 50);
    free(bytes);
}

static void test_failing_heap(void) {
    dstok__norm op = {.kind = DSTOK__NORM_SPM, .content = "ab\0cd", .content_n = 5};
    op.pattern = (const char *)map.bytes, op.pattern_n = map.n;
    for (size_t fail_at = 1;; fail_at++) {
        t_heap heap = {.fail_at = fail_at};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok__normalizer *z = NULL;
        dstok_status status = dstok__normalizer_new(&al, &op, 1, &z, NULL);
        bool failed = heap.calls >= fail_at;
        CHECK_EQ(status, failed ? DSTOK_E_NOMEM : DSTOK_OK);
        dstok__normalizer_free(z);
        CHECK_EQ(heap.live, 0);
        if (!failed) break;
    }
    op.content = "a\0\xFF", op.content_n = 3;
    CHECK_EQ(apply(&op, "a", 1), DSTOK_E_FORMAT);
}

int main(void) {
    dstok__normalized_init(&norm, &dstok__default_alloc);
    norm.want_from = true;
    make_blob(&map, rules, sizeof rules / sizeof *rules);
    test_precompiled();
    test_spm();
    test_spm_edits();
    test_graphemes();
    test_broken();
    test_cycle();
    test_nul();
    test_damaged();
    test_failing_heap();
    dstok__normalized_free(&norm);
    return t_end();
}
