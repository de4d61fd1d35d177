/* SPDX-License-Identifier: MIT */
/* A cache from the bytes of a piece to its ids, one for each encoder. What it holds never changes a result.
 * A piece has a slot of 32 bytes with room for 15 of its bytes and three ids; the rest of longer pieces and
 * longer results lie in a pool. It starts small, grows while it learns, and is emptied when the pool is full: it
 * takes no more than was asked for, but for the moment when it moves to a larger place. */
#ifndef DSTOK_BPE_CACHE_H
#define DSTOK_BPE_CACHE_H

#include "../../simd/slots.h"
#include "../base/base.h"

#define DSTOK__LONG_BYTES 256u /* longer pieces are not kept */

typedef struct dstok__cache {
    const dstok_alloc *al;
    dstok__cached *slots; /* four in a pair of cache lines; NULL: no cache */
    void *block;          /* the memory that holds them */
    unsigned bits;        /* 2^bits slots */
    unsigned max_bits;
    size_t n_put;    /* since the size changed */
    size_t n_beside; /* found in another slot than the first */
    uint32_t *pool;
    size_t pool_n, pool_cap, max_pool;
} dstok__cache;

/* An empty cache of at most max bytes in all; too few bytes for any use give no cache. Allocates nothing
 * yet. */
void dstok__cache_init(dstok__cache *c, const dstok_alloc *al, size_t max);
void dstok__cache_free(dstok__cache *c);

/* Makes room at first use and when much was put since. Failing that it stays as it is. */
void dstok__cache_grow(dstok__cache *c);

/* Looks for a piece, in `at` first (dstok__cache_at). The ids, *n_ids of them, or NULL. Valid until the next put. */
const uint32_t *dstok__cache_find(dstok__cache *c, dstok__cached *at, dstok__key key, const uint8_t *text,
                                  size_t len, size_t *n_ids);

/* Remembers the ids of a piece that is not in the cache. */
void dstok__cache_put(dstok__cache *c, dstok__key key, const uint8_t *text, size_t len, const uint32_t *ids,
                      size_t n_ids);

#endif
