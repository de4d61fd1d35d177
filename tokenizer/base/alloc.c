/* SPDX-License-Identifier: MIT */
/* The default allocator, and allocation helpers that check every multiplication. */
#include "base.h"

#include <stdlib.h>
#include <string.h>

static void *default_alloc(void *ctx, size_t n) {
    (void)ctx;
    return malloc(n);
}
static void *default_realloc(void *ctx, void *p, size_t old, size_t n) {
    (void)ctx;
    (void)old;
    return realloc(p, n);
}
static void default_free(void *ctx, void *p, size_t n) {
    (void)ctx;
    (void)n;
    free(p);
}
const dstok_alloc dstok__default_alloc = {default_alloc, default_realloc, default_free, NULL};

void *dstok__alloc(const dstok_alloc *al, size_t n) {
    return n == 0 ? NULL : al->alloc(al->ctx, n);
}

void *dstok__alloc_array(const dstok_alloc *al, size_t n, size_t elem) {
    if (elem != 0 && n > SIZE_MAX / elem) return NULL;
    return dstok__alloc(al, n * elem);
}

void *dstok__alloc_zeroed(const dstok_alloc *al, size_t n, size_t elem) {
    if (elem != 0 && n > SIZE_MAX / elem) return NULL;
    if (al->alloc == default_alloc && n * elem > 0)
        return calloc(n, elem); /* large ones are zero without being touched */
    void *p = dstok__alloc(al, n * elem);
    if (p != NULL) memset(p, 0, n * elem);
    return p;
}

void dstok__free(const dstok_alloc *al, void *p, size_t n) {
    if (p != NULL) al->free(al->ctx, p, n);
}

dstok_status dstok__grow(const dstok_alloc *al, void **p, size_t *cap, size_t need, size_t elem, size_t max) {
    if (need <= *cap) return DSTOK_OK;
    if (max > SIZE_MAX / elem) max = SIZE_MAX / elem;
    if (need > max) return DSTOK_E_LIMIT;
    size_t want = *cap + *cap / 2 + 16;
    if (want < need) want = need;
    if (want > max) want = max;
    void *q = al->realloc(al->ctx, *p, *cap * elem, want * elem);
    if (q == NULL) return DSTOK_E_NOMEM;
    *p = q;
    *cap = want;
    return DSTOK_OK;
}
