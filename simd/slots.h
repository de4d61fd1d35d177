/* SPDX-License-Identifier: MIT */
/* Keys of pieces and the slots of the cache from pieces to ids (bpe/cache.h), as far as whole batches of them are
 * worked on here. */
#ifndef DSTOK_SIMD_SLOTS_H
#define DSTOK_SIMD_SLOTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DSTOK__KEY_BYTES  15u  /* of a piece that a key takes */
#define DSTOK__KEY_LENGTH 127u /* in a key: so many bytes or more */
#define DSTOK__SLOT_IDS   3u

/* The first 15 bytes of a piece, zeros behind them if it is shorter, and its length in the last byte. */
typedef struct dstok__key {
    uint64_t low, high; /* high = 0: a free slot */
} dstok__key;

#define DSTOK__IN_POOL ((uint64_t)1 << 63) /* in key.high */

typedef struct dstok__cached {
    dstok__key
        key; /* with DSTOK__IN_POOL: ids[0] is where the rest of the piece and the ids begin in the pool */
    uint32_t ids[DSTOK__SLOT_IDS];
    uint32_t n;
} dstok__cached;

/* The key of a piece of n > 0 bytes; 16 bytes at p can be read. */
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
    size_t length = n < DSTOK__KEY_LENGTH ? n : DSTOK__KEY_LENGTH;
    if (n > DSTOK__KEY_BYTES) n = DSTOK__KEY_BYTES;
    memcpy(&key, p, sizeof key);
    key.low &= masks[n][0];
    key.high = (key.high & masks[n][1]) | (uint64_t)length << 56;
    return key;
}

#define DSTOK__HASH_LOW  0x9E3779B97F4A7C15u
#define DSTOK__HASH_HIGH 0xD6E8FEB86659FD93u

/* 64 bits, of which the upper ones depend on all of the key: two products, so that vectors can make it, too. */
static inline uint64_t dstok__key_hash(dstok__key key) {
    return key.low * DSTOK__HASH_LOW + key.high * DSTOK__HASH_HIGH;
}

/* The slot of 2^bits where a key is looked for first. */
static inline dstok__cached *dstok__cache_at(dstok__cached *slots, unsigned bits, uint64_t hash) {
    return slots + (hash >> (64 - bits));
}

/* Where it is looked for else, k = 1 ... 3: in the other slot of the same line of the processor's cache, and in those
 * of the line beside it, which the processor often brings at once. */
static inline dstok__cached *dstok__cache_nth(const dstok__cached *at, size_t k) {
    return (dstok__cached *)((uintptr_t)at ^ k * sizeof *at);
}

static inline int dstok__key_is(const dstok__cached *slot, dstok__key key) {
    return slot->key.low == key.low && slot->key.high == key.high;
}

/* What was found in the other slot of the line changes places with the first one sometimes, so that in the long run the
 * first slot has what comes often; not each time, because two may come by turns. at: where its ids went. */
static inline void dstok__cache_promote(dstok__cached *first, const uint32_t *at) {
    dstok__cached *other = dstok__cache_nth(first, 1), one = *first;
    if (((uintptr_t)at / sizeof *at) % 8 != 0) return;
    *first = *other;
    *other = one;
}

#endif
