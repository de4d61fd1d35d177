/* SPDX-License-Identifier: MIT */
/* An arena: chunks of growing size, freed together. */
#include "base.h"

#include <string.h>

struct dstok__arena_chunk {
    struct dstok__arena_chunk *next;
    size_t size; /* of data, bytes */
    _Alignas(8) unsigned char data[];
};

void dstok__arena_init(dstok__arena *a, const dstok_alloc *al, size_t max) {
    *a = (dstok__arena){.al = al, .max = max};
}

void dstok__arena_free(dstok__arena *a) {
    for (struct dstok__arena_chunk *c = a->chunks, *next; c != NULL; c = next) {
        next = c->next;
        dstok__free(a->al, c, sizeof *c + c->size);
    }
    a->chunks = NULL;
    a->used = a->total = 0;
}

void *dstok__arena_alloc(dstok__arena *a, size_t n) {
    if (n > SIZE_MAX - 7) return NULL;
    n = (n + 7) & ~(size_t)7;
    if (a->chunks == NULL || n > a->chunks->size - a->used) {
        size_t size = a->chunks == NULL ? 4096 : a->chunks->size * 2;
        if (size > (1u << 20)) size = 1u << 20;
        if (size < n) size = n;
        if (size > a->max || a->total > a->max - size) return NULL;
        struct dstok__arena_chunk *c = dstok__alloc(a->al, sizeof *c + size);
        if (c == NULL) return NULL;
        c->next = a->chunks;
        c->size = size;
        a->chunks = c;
        a->used = 0;
        a->total += size;
    }
    void *p = a->chunks->data + a->used;
    a->used += n;
    return p;
}

char *dstok__arena_copy(dstok__arena *a, const void *bytes, size_t n) {
    if (n == SIZE_MAX) return NULL;
    char *p = dstok__arena_alloc(a, n + 1);
    if (p == NULL) return NULL;
    if (n > 0) memcpy(p, bytes, n);
    p[n] = '\0';
    return p;
}
