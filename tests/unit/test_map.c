/* SPDX-License-Identifier: MIT */
/* The map between text and tokens, against searches through all of both. */
#include "../harness/heap.h"
#include "align_gen.h"

#include <dstok/map.h>

#define MAX_TEXT 300

static uint8_t text[MAX_TEXT];
static size_t len, n;
static dstok_span spans[MAX_TEXT * 2];

static dstok_span naive_tokens(dstok_span bytes) {
    dstok_span found = {1, 0};
    for (size_t i = 0; i < n; i++) {
        bool is_here =
            bytes.begin == bytes.end
                ? spans[i].begin == bytes.begin && spans[i].end == bytes.begin
                : spans[i].begin < spans[i].end && spans[i].begin < bytes.end && spans[i].end > bytes.begin;
        if (!is_here) continue;
        if (found.begin > found.end) found.begin = i;
        found.end = i + 1;
    }
    return found;
}

static void check_range(const dstok_map *map, dstok_span bytes) {
    dstok_span got = dstok_map_tokens(map, bytes), want = naive_tokens(bytes);
    if (want.begin > want.end) { /* none: it stands where they would */
        CHECK_EQ(got.begin, got.end);
        CHECK(got.begin <= n);
        for (size_t i = 0; i < n; i++) {
            if (spans[i].begin == spans[i].end) continue;
            if (spans[i].end <= bytes.begin) CHECK(i < got.begin);
            if (spans[i].begin >= bytes.end && spans[i].begin > bytes.begin) CHECK(i >= got.begin);
        }
        return;
    }
    CHECK_EQ(got.begin, want.begin);
    CHECK_EQ(got.end, want.end);
}

static void check_kind(const dstok_map *map, int kind) {
    dstok_span all[MAX_TEXT], part;
    size_t want = 0;
    if (kind == DSTOK_MAP_CHAR) {
        for (size_t i = 0; i < len; i++) { /* a character: the bytes that convert to one place */
            dstok_span place = {i, i};
            CHECK_EQ(dstok_spans_convert(text, len, &place, 1, DSTOK_UNIT_CHAR), DSTOK_OK);
            if (i == 0 || place.begin >= want) all[want++].begin = i;
            all[want - 1].end = i + 1;
        }
        CHECK_EQ(want, dstok_text_length(text, len, DSTOK_UNIT_CHAR));
    } else {
        CHECK_EQ(dstok_breaks(text, len, kind, all, MAX_TEXT, &want), DSTOK_OK);
    }
    CHECK_EQ(dstok_map_count(map, kind), want);
    for (size_t i = 0; i < want; i++) {
        CHECK_EQ(dstok_map_part(map, kind, i, &part), DSTOK_OK);
        CHECK_EQ(part.begin, all[i].begin);
        CHECK_EQ(part.end, all[i].end);
        for (uint64_t b = part.begin; b < part.end; b++) CHECK_EQ(dstok_map_at(map, kind, b), i);
    }
    CHECK_EQ(dstok_map_part(map, kind, want, &part), DSTOK_E_RANGE);
    CHECK_EQ(dstok_map_at(map, kind, len), want);
    CHECK_EQ(dstok_map_at(map, kind, UINT64_MAX), want);
}

static void check_random(t_rng *rng) {
    len = make_text(rng, text, MAX_TEXT);
    n = make_spans(rng, len, spans, MAX_TEXT * 2);
    dstok_map_options o = DSTOK_MAP_OPTIONS_INIT;
    o.kinds = 0x3F;
    dstok_map *map = NULL;
    CHECK_EQ(dstok_map_new(text, len, spans, n, &o, &map, NULL), DSTOK_OK);
    for (int i = 0; i < 40; i++) {
        dstok_span range = {t_below(rng, (uint32_t)len + 1), 0};
        range.end = range.begin + t_below(rng, (uint32_t)(len - range.begin) + 1) / (1 + (unsigned)i / 4);
        check_range(map, range);
    }
    for (int kind = 0; kind <= DSTOK_MAP_CHAR; kind++) check_kind(map, kind);
    dstok_span far = {len + 5, len + 9}, back = {len, 0};
    CHECK_EQ(dstok_map_tokens(map, far).begin, dstok_map_tokens(map, (dstok_span){len, len}).begin);
    CHECK_EQ(dstok_map_tokens(map, back).begin, dstok_map_tokens(map, (dstok_span){0, 0}).begin);
    dstok_map_free(map);
}

static void test_redundancy(void) {
    static const char s[] = "the dog's \xE4\xBD\xA0\xE5\xA5\xBD, 42!"; /* the, dog's, two characters, 42 */
    static const dstok_span t[] = {{0, 0},   {0, 3},   {3, 7},   {7, 9},   {9, 12}, {12, 13},
                                   {13, 14}, {14, 16}, {16, 17}, {17, 20}, {20, 21}};
    dstok_map *map = NULL;
    dstok_redundancy r;
    CHECK_EQ(dstok_map_new(s, sizeof s - 1, t, sizeof t / sizeof *t, NULL, &map, NULL), DSTOK_OK);
    dstok_map_redundancy(map, &r);
    CHECK_EQ(r.n_tokens, 10);
    CHECK_EQ(r.n_chars, 17);
    CHECK_EQ(r.n_words, 5);
    CHECK_EQ(r.n_in_words, 1 + 2 + 2 + 2 + 1);
    CHECK_EQ(r.n_fragmented, 3);
    CHECK_EQ(r.n_partial, 4); /* 9-12 ends inside of a character, 12-13, 13-14 and 14-16 hold parts */
    CHECK_EQ(dstok_map_count(map, DSTOK_BREAK_WORD), 0);
    dstok_span part;
    CHECK_EQ(dstok_map_part(map, DSTOK_BREAK_WORD, 0, &part), DSTOK_E_STATE);
    CHECK_EQ(dstok_map_part(map, -1, 0, &part), DSTOK_E_STATE);
    CHECK_EQ(dstok_map_part(map, 99, 0, &part), DSTOK_E_STATE);
    dstok_map_free(map);
}

static void refused(dstok_span a, dstok_span b, uint64_t at) {
    dstok_span two[2];
    two[0] = a;
    two[1] = b;
    dstok_map *map = NULL;
    dstok_error err = {0};
    CHECK_EQ(dstok_map_new("abcd", 4, two, 2, NULL, &map, &err), DSTOK_E_RANGE);
    CHECK_EQ(err.offset, at);
    CHECK(map == NULL && strstr(err.text, "token") != NULL);
}

static void test_misuse(void) {
    dstok_map *map = NULL;
    dstok_map_options o = DSTOK_MAP_OPTIONS_INIT;
    refused((dstok_span){0, 2}, (dstok_span){2, 5}, 1);
    refused((dstok_span){2, 1}, (dstok_span){2, 3}, 0);
    refused((dstok_span){1, 3}, (dstok_span){0, 4}, 1);
    refused((dstok_span){1, 3}, (dstok_span){1, 2}, 1);
    o.kinds = 1u << 6;
    CHECK_EQ(dstok_map_new("a", 1, NULL, 0, &o, &map, NULL), DSTOK_E_INVAL);
    o.kinds = 0;
    o.struct_size = 0;
    CHECK_EQ(dstok_map_new("a", 1, NULL, 0, &o, &map, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_map_new(NULL, 1, NULL, 0, NULL, &map, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_map_new("a", 1, NULL, 1, NULL, &map, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_map_new("a", 1, NULL, 0, NULL, NULL, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_map_new("a", DSTOK_MAP_MAX_TEXT + 1, NULL, 0, NULL, &map, NULL), DSTOK_E_LIMIT);
    dstok_map_free(NULL);
}

/* Every allocation fails once: no memory, nothing kept. */
static void test_memory(void) {
    t_heap heap;
    memset(&heap, 0, sizeof heap);
    dstok_alloc al = t_heap_alloc(&heap);
    dstok_map_options o = DSTOK_MAP_OPTIONS_INIT;
    o.kinds = 0x3F;
    o.alloc = &al;
    for (size_t fail = 1;; fail++) {
        dstok_map *map = NULL;
        heap.calls = 0;
        heap.fail_at = fail;
        dstok_status status = dstok_map_new("One two. Three", 14, NULL, 0, &o, &map, NULL);
        CHECK(status == DSTOK_OK || (status == DSTOK_E_NOMEM && map == NULL));
        dstok_map_free(map);
        CHECK_EQ(heap.live, 0);
        if (status == DSTOK_OK) {
            CHECK(fail > 6);
            return;
        }
    }
}

int main(void) {
    t_rng rng = {11};
    test_redundancy();
    test_misuse();
    test_memory();
    for (int i = 0; i < 3000; i++) check_random(&rng);
    return t_end();
}
