/* SPDX-License-Identifier: MIT */
/* An allocator for tests: every block carries its size, so that a wrong size at free is seen. */
#include "heap.h"

#include <stdlib.h>

#define HEADER 16

static void *heap_alloc(void *ctx, size_t n) {
    t_heap *h = ctx;
    if (++h->calls == h->fail_at) return NULL;
    unsigned char *p = malloc(n + HEADER);
    if (p == NULL) return NULL;
    memcpy(p, &n, sizeof n);
    h->live++;
    h->live_bytes += n;
    if (h->live_bytes > h->peak_bytes) h->peak_bytes = h->live_bytes;
    return p + HEADER;
}

static void heap_free(void *ctx, void *p, size_t n) {
    t_heap *h = ctx;
    unsigned char *block = (unsigned char *)p - HEADER;
    size_t stored;
    memcpy(&stored, block, sizeof stored);
    CHECK_EQ(n, stored);
    h->live--;
    h->live_bytes -= stored;
    free(block);
}

static void *heap_realloc(void *ctx, void *p, size_t old, size_t n) {
    void *q = heap_alloc(ctx, n);
    if (q == NULL || p == NULL) return q;
    memcpy(q, p, old < n ? old : n);
    heap_free(ctx, p, old);
    return q;
}

dstok_alloc t_heap_alloc(t_heap *heap) {
    return (dstok_alloc){heap_alloc, heap_realloc, heap_free, heap};
}
