/* SPDX-License-Identifier: MIT */
/* The bottom layer: error texts, growth and its limits, buffers, the arena, the hash map. */
#include "../../tokenizer/base/base.h"
#include "../harness/heap.h"
#include "../harness/t.h"

#include <stdlib.h>

static void test_names(void) {
    CHECK_STR(dstok_status_name(DSTOK_OK), "DSTOK_OK");
    CHECK_STR(dstok_status_name(DSTOK_E_NOMEM), "DSTOK_E_NOMEM");
    CHECK_STR(dstok_status_name(DSTOK_E_SPECIAL), "DSTOK_E_SPECIAL");
    CHECK_STR(dstok_status_name(9999), "DSTOK_E_?");
    CHECK_STR(dstok_status_name(-1), "DSTOK_E_?");
    /* Numbers are pinned. */
    CHECK_EQ(DSTOK_E_SPACE, 4);
    CHECK_EQ(DSTOK_E_NOMEM, 10);
    CHECK_EQ(DSTOK_E_UTF8, 20);
    CHECK_EQ(DSTOK_E_SPECIAL, 26);
    CHECK_EQ(DSTOK_E_BAD_ID, 30);
}

static void test_fail(void) {
    dstok_error err;
    CHECK_EQ(dstok__fail(NULL, DSTOK_E_IO, 1, 2, "x"), DSTOK_E_IO);
    CHECK_EQ(dstok__fail(&err, DSTOK_E_FORMAT, 7, 3, "byte %d", 65), DSTOK_E_FORMAT);
    CHECK_EQ(err.status, DSTOK_E_FORMAT);
    CHECK_EQ(err.offset, 7);
    CHECK_EQ(err.line, 3);
    CHECK_STR(err.text, "byte 65");
}

/* A text that is too long is cut between characters, at every place where the cut may fall. */
static void test_fail_long(void) {
    static const char *const characters[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t k = 0; k < 4; k++) {
        for (size_t pad = 0; pad < 4; pad++) {
            char text[700] = "";
            dstok_error err;
            memset(text, 'x', pad);
            while (strlen(text) < 600) strcat(text, characters[k]);
            CHECK_EQ(dstok__fail(&err, DSTOK_E_IO, 0, 0, "%s", text), DSTOK_E_IO);
            size_t n = strlen(err.text), width = strlen(characters[k]);
            CHECK(n < sizeof err.text && n + 4 >= sizeof err.text - 1);
            CHECK_EQ((n - pad) % width, 0);
            CHECK_MEM(err.text, text, n);
        }
    }
}

static void check_quote(const char *text, size_t n, size_t cap, const char *want) {
    char out[64];
    memset(out, '#', sizeof out);
    CHECK_STR(dstok__quote(text, n, out, cap), want);
    for (size_t i = cap; i < sizeof out; i++) CHECK_EQ(out[i], '#');
}

static void test_quote(void) {
    check_quote("abc", 3, 32, "abc");
    check_quote("a\"b\\c\n\x7F\0z", 9, 32, "a\\\"b\\\\c\\x0A\\x7F\\x00z");
    check_quote("", 0, 8, "");
    check_quote("abcdefghij", 10, 8, "abcd...");
    check_quote("\n\n\n", 3, 8, "\\x0A...");
    for (size_t cap = 8; cap < 20; cap++) { /* never half of a character */
        char out[32];
        dstok__quote("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC",
                     21, out, cap);
        size_t n = strlen(out);
        CHECK(n < cap && n >= 3 && (n - 3) % 3 == 0);
    }
}

static void test_alloc(void) {
    const dstok_alloc *al = &dstok__default_alloc;
    CHECK(dstok__alloc(al, 0) == NULL);
    CHECK(dstok__alloc_array(al, SIZE_MAX / 2, 3) == NULL);
    CHECK(dstok__alloc_zeroed(al, SIZE_MAX, 2) == NULL);
    uint8_t *p = dstok__alloc_zeroed(al, 100, 1);
    for (size_t i = 0; i < 100; i++) CHECK_EQ(p[i], 0);
    dstok__free(al, p, 100);
    dstok__free(al, NULL, 0);
}

static void test_grow(void) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    uint32_t *p = NULL;
    size_t cap = 0, calls = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_EQ(dstok__grow(&al, (void **)&p, &cap, i + 1, sizeof *p, 1000), DSTOK_OK);
        p[i] = i;
    }
    calls = heap.calls;
    CHECK(calls < 20); /* by half each time, not by one */
    CHECK_EQ(cap, 1000);
    CHECK_EQ(dstok__grow(&al, (void **)&p, &cap, 1001, sizeof *p, 1000), DSTOK_E_LIMIT);
    CHECK_EQ(dstok__grow(&al, (void **)&p, &cap, SIZE_MAX / 2, sizeof *p, SIZE_MAX), DSTOK_E_LIMIT);
    heap.fail_at = heap.calls + 1;
    CHECK_EQ(dstok__grow(&al, (void **)&p, &cap, 1001, sizeof *p, 5000), DSTOK_E_NOMEM);
    for (uint32_t i = 0; i < 1000; i++) CHECK_EQ(p[i], i);
    dstok__free(&al, p, cap * sizeof *p);
    CHECK_EQ(heap.live, 0);
}

static void test_buf(void) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok__buf b;
    dstok__buf_init(&b, &al, 40);
    CHECK_EQ(dstok__buf_append(&b, "abc", 3), DSTOK_OK);
    CHECK_EQ(dstok__buf_append(&b, NULL, 0), DSTOK_OK);
    CHECK_EQ(dstok__buf_push(&b, 'd'), DSTOK_OK);
    CHECK_EQ(dstok__buf_printf(&b, "%d-%s", 12, "x"), DSTOK_OK);
    CHECK_EQ(b.len, 8);
    CHECK_MEM(b.data, "abcd12-x", 8);
    CHECK_EQ(dstok__buf_append(&b, "0123456789012345678901234567890123456789", 33), DSTOK_E_LIMIT);
    CHECK_EQ(b.len, 8);
    CHECK_EQ(dstok__buf_append(&b, "0123456789012345678901234567890123456789", 32), DSTOK_OK);
    CHECK_EQ(dstok__buf_push(&b, 'x'), DSTOK_E_LIMIT);
    CHECK_EQ(dstok__buf_reserve(&b, SIZE_MAX), DSTOK_E_LIMIT);
    dstok__buf_free(&b);
    CHECK_EQ(heap.live, 0);
}

static void test_arena(void) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok__arena a;
    t_rng rng = {3};
    char *copies[500];
    char text[3000];
    dstok__arena_init(&a, &al, 1 << 22);
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)t_random(&rng);
    for (size_t i = 0; i < 500; i++) {
        copies[i] = dstok__arena_copy(&a, text + i, i * 5);
        CHECK(copies[i] != NULL && (uintptr_t)copies[i] % 8 == 0);
    }
    for (size_t i = 0; i < 500; i++) {
        CHECK_MEM(copies[i], text + i, i * 5);
        CHECK_EQ(copies[i][i * 5], 0);
    }
    CHECK(dstok__arena_alloc(&a, 1 << 23) == NULL);
    CHECK(dstok__arena_alloc(&a, SIZE_MAX) == NULL);
    CHECK(dstok__arena_copy(&a, text, SIZE_MAX) == NULL);
    dstok__arena_free(&a);
    CHECK_EQ(heap.live, 0);
    CHECK_EQ(heap.live_bytes, 0);
}

/* The map against an array that is looked through. */
static void test_map(void) {
    enum { N = 3000 };
    static char keys[N][8];
    static uint32_t values[N];
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok__map m;
    t_rng rng = {5};
    dstok__map_init(&m, &al);
    CHECK_EQ(dstok__map_get(&m, "a", 1), UINT32_MAX);
    size_t n = 0;
    for (int i = 0; i < 2 * N && n < N; i++) {
        char key[8];
        uint32_t old, value = (uint32_t)t_random(&rng) >> 1;
        size_t at = 0;
        snprintf(key, sizeof key, "%x", (unsigned)t_below(&rng, N));
        while (at < n && strcmp(keys[at], key) != 0) at++;
        CHECK_EQ(dstok__map_get(&m, key, strlen(key)), at < n ? values[at] : UINT32_MAX);
        if (at == n) strcpy(keys[n], key);
        CHECK_EQ(dstok__map_put(&m, keys[at], strlen(key), value, &old), DSTOK_OK);
        CHECK_EQ(old, at < n ? values[at] : UINT32_MAX);
        values[at] = value;
        n += at == n;
    }
    CHECK_EQ(m.count, n);
    CHECK_EQ(dstok__map_put(&m, NULL, 0, 7, NULL), DSTOK_OK); /* the empty key is a key */
    CHECK_EQ(dstok__map_get(&m, "", 0), 7);
    CHECK_EQ(dstok__map_put(&m, "a\0b", 3, 8, NULL), DSTOK_OK);
    CHECK_EQ(dstok__map_put(&m, "a\0c", 3, 9, NULL), DSTOK_OK);
    CHECK_EQ(dstok__map_get(&m, "a\0b", 3), 8);
    CHECK_EQ(dstok__map_reserve(&m, SIZE_MAX), DSTOK_E_LIMIT);
    dstok__map_free(&m);
    CHECK_EQ(heap.live, 0);
}

int main(void) {
    test_names();
    test_fail();
    test_fail_long();
    test_quote();
    test_alloc();
    test_grow();
    test_buf();
    test_arena();
    test_map();
    return t_end();
}
