/* SPDX-License-Identifier: MIT */
/* Faults for loaders of one file: every allocation failed once, every length cut, many damaged copies. */
#ifndef DSTOK_TESTS_LOAD_DAMAGE_H
#define DSTOK_TESTS_LOAD_DAMAGE_H

#include "load_util.h"

typedef dstok_status damage_load(dstok__spec *s, const char *data, size_t n, dstok_error *err);

/* Loads data[0, n) from memory of exactly that size; what fails must say so, and nothing may stay behind. */
static inline dstok_status damage_try(damage_load *load, const char *data, size_t n, size_t fail_at) {
    t_heap heap = {.fail_at = fail_at};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok_error err = {0};
    dstok__spec s;
    char *exact = malloc(n + (n == 0));
    if (exact == NULL) exit(1);
    if (n > 0) memcpy(exact, data, n);
    dstok__spec_init(&s, &al);
    dstok_status status = load(&s, exact, n, &err);
    if (status != DSTOK_OK) {
        CHECK_EQ(err.status, status);
        CHECK(err.text[0] != '\0');
        CHECK(err.offset <= n || err.offset == DSTOK_NO_OFFSET);
        CHECK(status != DSTOK_E_NOMEM || (fail_at > 0 && strstr(err.text, "out of memory") != NULL));
    }
    dstok__spec_free(&s);
    CHECK_EQ(heap.live, 0);
    free(exact);
    return status;
}

static inline void damage_allocations(damage_load *load, const char *data, size_t n) {
    dstok_status status = DSTOK_E_NOMEM;
    size_t k = 0;
    while (status != DSTOK_OK && k < 5000) {
        status = damage_try(load, data, n, ++k);
        if (status != DSTOK_OK) CHECK_EQ(status, DSTOK_E_NOMEM);
    }
    CHECK_EQ(status, DSTOK_OK);
    CHECK(k > 5);
}

/* Cut anywhere, the file must not load. */
static inline void damage_lengths(damage_load *load, const char *data, size_t n) {
    for (size_t cut = 0; cut < n; cut++) CHECK(damage_try(load, data, cut, 0) != DSTOK_OK);
}

/* data has room for n + 40 bytes. */
static inline size_t damage_once(t_rng *rng, char *data, size_t n) {
    size_t at = t_below(rng, (uint32_t)n), len = 1 + t_below(rng, 40);
    if (len > n - at) len = n - at;
    switch (t_below(rng, 6)) {
    case 0:
        data[at] = (char)(data[at] ^ 1 << t_below(rng, 8));
        return n;
    case 1:
        data[at] = (char)t_random(rng);
        return n;
    case 2: /* drop a slice */
        memmove(data + at, data + at + len, n - at - len);
        return n > len ? n - len : n;
    case 3: /* double a slice */
        memmove(data + at + len, data + at, n - at);
        return n + len;
    case 4: /* a slice from elsewhere over this one */
        memmove(data + at, data + t_below(rng, (uint32_t)(n - len + 1)), len);
        return n;
    default: /* a number as large as can be */
        memset(data + at, 0xFF, len < 10 ? len : 10);
        return n;
    }
}

/* Some damage is harmless, most is not: both must be seen. */
static inline void damage_many(damage_load *load, const char *data, size_t n, uint64_t seed, int times) {
    int loaded = 0;
    char *work = malloc(n + 3 * 40);
    if (work == NULL) exit(1);
    for (int i = 0; i < times; i++) {
        t_rng rng = {seed + (uint64_t)i};
        int before = t_failures;
        size_t len = n;
        memcpy(work, data, n);
        for (uint32_t k = 1 + t_below(&rng, 3); k > 0; k--) len = damage_once(&rng, work, len);
        loaded += damage_try(load, work, len, 0) == DSTOK_OK;
        if (t_failures > before) fprintf(stderr, "  seed %llu\n", (unsigned long long)(seed + (uint64_t)i));
    }
    free(work);
    CHECK(loaded > times / 200);
    CHECK(loaded < times * 9 / 10);
}

#endif
