/* SPDX-License-Identifier: MIT */
/* A cache from the bytes of a piece to its ids, one for each encoder. What it holds never changes a result.
 * Pieces of up to 15 bytes have a slot of 32 bytes with room for three ids; longer pieces and longer
 * results lie in a pool. It starts small, grows while it learns, and is emptied when the pool is full: it
 * takes no more than was asked for, but for the moment when it moves to a larger place. */
#ifndef DSTOK_BPE_CACHE_H
#define DSTOK_BPE_CACHE_H

#include "../base/base.h"

#include <string.h>

#define DSTOK__KEY_BYTES  15u /* longest piece with a slot */
#define DSTOK__SLOT_IDS   3u
#define DSTOK__LONG_BYTES 256u /* longer pieces are not kept */

/* The bytes of a piece, zeros behind them, its length in the last byte. */
typedef struct dstok__key {
    uint64_t low, high; /* high = 0: a free slot */
} dstok__key;

typedef struct dstok__cached {
    dstok__key key; /* with DSTOK__IN_POOL: ids[0] is where the ids begin in the pool */
    uint32_t ids[DSTOK__SLOT_IDS];
    uint32_t n;
} dstok__cached;

#define DSTOK__IN_POOL ((uint64_t)1 << 63)  /* in key.high */
#define DSTOK__NO_KEY  ((dstok__key){0, 1}) /* no slot has it */

/* A piece of 16 to DSTOK__LONG_BYTES bytes: hash, and where its bytes and, behind them, its ids lie in the
 * pool. */
typedef struct dstok__cached_long {
    uint64_t hash;
    uint32_t at;
    uint16_t n_bytes, n_ids;
} dstok__cached_long;

typedef struct dstok__cache {
    const dstok_alloc *al;
    dstok__cached *slots; /* pairs of slots, one cache line each; NULL: no cache */
    void *block;          /* the memory that holds them */
    unsigned bits;        /* 2^bits slots */
    unsigned max_bits;
    size_t n_put; /* since the size changed */
    dstok__cached_long *longs;
    size_t n_longs; /* a power of two */
    uint32_t *pool;
    size_t pool_n, pool_cap, max_pool;
} dstok__cache;

/* An empty cache of at most max bytes in all; too few bytes for any use give no cache. Allocates nothing
 * yet. */
void dstok__cache_init(dstok__cache *c, const dstok_alloc *al, size_t max);
void dstok__cache_free(dstok__cache *c);

/* Makes room at first use and when much was put since. Failing that it stays as it is. */
void dstok__cache_grow(dstok__cache *c);

/* The key of a piece of 1 to 15 bytes; 16 bytes at p can be read. */
static inline dstok__key dstok__key_of(const uint8_t *p, size_t n) {
    static const uint64_t masks[DSTOK__KEY_BYTES + 1][2] = {
#define M(k) (((uint64_t)1 << (8 * (k))) - 1)
#define ALL  (~(uint64_t)0)
        {0, 0},      {M(1), 0},   {M(2), 0},   {M(3), 0},   {M(4), 0},   {M(5), 0},
        {M(6), 0},   {M(7), 0},   {ALL, M(0)}, {ALL, M(1)}, {ALL, M(2)}, {ALL, M(3)},
        {ALL, M(4)}, {ALL, M(5)}, {ALL, M(6)}, {ALL, M(7)},
#undef M
#undef ALL
    };
    dstok__key key;
    memcpy(&key, p, sizeof key);
    key.low &= masks[n][0];
    key.high = (key.high & masks[n][1]) | (uint64_t)n << 56;
    return key;
}

/* 64 well-mixed bits: the halves of a product of 128. */
static inline uint64_t dstok__key_hash(dstok__key key) {
    uint64_t a = key.low, b = key.high ^ 0xE7037ED1A0B428DBu;
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    a = (a ^ a >> 32) * 0x9E3779B97F4A7C15u;
    b = (b ^ b >> 32) * 0xD6E8FEB86659FD93u;
    return (a ^ a >> 29) + (b ^ b >> 32);
#endif
}

/* The two slots where a key is looked for first. */
static inline dstok__cached *dstok__cache_at(const dstok__cached *slots, unsigned bits, uint64_t hash) {
    return (dstok__cached *)(uintptr_t)slots + (hash >> (64 - bits) & ~(uint64_t)1);
}

static inline bool dstok__key_is(const dstok__cached *slot, dstok__key key) {
    return slot->key.low == key.low && slot->key.high == key.high;
}

/* Brings the second of two slots in front: it was asked for last. */
static inline void dstok__cache_swap(dstok__cached *at) {
    dstok__cached first = at[0];
    at[0] = at[1];
    at[1] = first;
}

/* Where a key is looked for next: the processor often brings both lines at once. */
static inline dstok__cached *dstok__cache_beside(const dstok__cache *c, const dstok__cached *at) {
    return c->slots + ((size_t)(at - c->slots) ^ 2);
}

/* Looks in the slots at `at`, beside them and in the pool. The ids, *n of them, or NULL. Valid until the
 * next put. */
const uint32_t *dstok__cache_find(dstok__cache *c, dstok__cached *at, dstok__key key, size_t *n);

/* Remembers ids[0, n) of a short piece, which is not in the cache. */
void dstok__cache_put(dstok__cache *c, dstok__key key, const uint32_t *ids, size_t n);

/* The ids of a long piece, or NULL. They lie in the pool until the next put. */
const uint32_t *dstok__cache_find_long(const dstok__cache *c, const uint8_t *text, size_t n, size_t *n_ids);
void dstok__cache_put_long(dstok__cache *c, const uint8_t *text, size_t n, const uint32_t *ids, size_t n_ids);

#endif
