/* SPDX-License-Identifier: MIT */
/* The pair table: which two neighbouring tokens merge, at what rank, into what. */
#ifndef DSTOK_BPE_PAIRS_H
#define DSTOK_BPE_PAIRS_H

#include "../base/base.h"

#define DSTOK__NO_RANK UINT32_MAX

typedef struct dstok__pair {
    uint64_t key; /* left << 32 | right */
    uint32_t rank, product;
} dstok__pair;

/* Open addressing with linear probing, at most two thirds full; a free slot has rank DSTOK__NO_RANK. The
 * slots may be part of a tokenizer's tables (tables.h); then they are only read. There the same table may
 * be packed: slots of eight bytes, left << 44 | right << 24 | rank, in lines of eight that are filled from
 * the front, and the products by rank. Where some pair found a line full and went on to the next one, the
 * last two slots of the line are in falling order. A lookup is mostly one cache line and no branch that
 * cannot be foreseen. Mostly the products are in the order of the ranks; then their ids serve as ranks. */
typedef struct dstok__pairs {
    const dstok_alloc *al;
    dstok__pair *slots;
    size_t cap, count; /* cap < 2^32 */
    uint64_t seed;     /* of the hash: differs from table to table, so that no file can be made to collide */
    const uint64_t *packed;   /* cap slots; NULL: not packed */
    const uint32_t *products; /* by rank; NULL: the rank is the product */
    const int32_t *of_bytes;  /* of a packed table: by left << 8 | right, two bytes of text, what
                                 dstok__placed says of their tokens; NULL: not there */
} dstok__pairs;

#define DSTOK__BYTE_PAIRS 65536u

#define DSTOK__PACKED_LINE  8u /* slots */
#define DSTOK__PACKED_FREE  UINT64_MAX
#define DSTOK__PACKED_IDS   ((1u << 20) - 1) /* ids that fit are below it */
#define DSTOK__PACKED_RANKS (1u << 24)       /* ... and ranks */

/* The rank of a pair of a packed table with five bits below it, for its place in a piece or for flags. */
#define DSTOK__NO_PLACED (INT32_MAX & ~31)
static inline int32_t dstok__placed(uint32_t rank) {
    return rank == DSTOK__NO_RANK ? DSTOK__NO_PLACED : (int32_t)(rank << 5);
}

/* Flags of a pair of bytes: no pair of a longer token that ends with the first one, and the second one, has
 * a lower rank; no pair of the first one, and a longer token that begins with the second one, has; the token
 * that the two make is part of pairs of higher rank only. */
#define DSTOK__FIRST_BEFORE 1
#define DSTOK__FIRST_BEHIND 2
#define DSTOK__MERGES_EARLY 4

/* All slots free. */
void dstok__pairs_clear(dstok__pairs *p);

void dstok__pairs_init(dstok__pairs *p, const dstok_alloc *al);
void dstok__pairs_free(dstok__pairs *p);
dstok_status dstok__pairs_reserve(dstok__pairs *p, size_t n); /* room for n pairs in all */
/* Sets a pair, replacing what stood there; room must have been reserved. Returns whether it is new. */
bool dstok__pairs_put(dstok__pairs *p, uint32_t left, uint32_t right, uint32_t rank, uint32_t product);

/* A table of this many slots holds n pairs. */
static inline size_t dstok__pairs_room(size_t n) {
    return n + n / 2 + 16;
}

/* Slots of a packed table for n pairs: few lines are then too full. */
static inline size_t dstok__packed_room(size_t n) {
    return ((n + n / 4 * 3) / DSTOK__PACKED_LINE + 1) * DSTOK__PACKED_LINE;
}

/* Where the search for a pair begins. */
static inline size_t dstok__pair_home(uint64_t key, uint64_t seed, size_t cap) {
    key ^= seed;
    key = (key ^ key >> 32) * 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio: spreads neighbouring ids */
    return (size_t)((key >> 32) * cap >> 32);
}

/* The first slot of the line where the search for a pair begins in a packed table of cap slots. */
static inline size_t dstok__packed_home(uint64_t key, uint64_t seed, size_t cap) {
    return dstok__pair_home(key, seed, cap / DSTOK__PACKED_LINE) * DSTOK__PACKED_LINE;
}

/* Does a search that did not find its pair in this line go on? */
static inline bool dstok__packed_goes_on(const uint64_t *line) {
    return line[DSTOK__PACKED_LINE - 2] > line[DSTOK__PACKED_LINE - 1];
}

/* The rank of the pair with this key in a packed table; line: where the search begins. */
static inline uint32_t dstok__packed_rank_at(const dstok__pairs *p, const uint64_t *line, uint64_t key) {
    for (;;) {
        uint64_t found = DSTOK__PACKED_FREE;
        for (unsigned k = 0; k < DSTOK__PACKED_LINE; k++) found = line[k] >> 24 == key ? line[k] : found;
        if (found != DSTOK__PACKED_FREE) return (uint32_t)found & (DSTOK__PACKED_RANKS - 1);
        if (!dstok__packed_goes_on(line)) return DSTOK__NO_RANK;
        line = line + DSTOK__PACKED_LINE == p->packed + p->cap ? p->packed : line + DSTOK__PACKED_LINE;
    }
}

static inline uint32_t dstok__packed_rank(const dstok__pairs *p, uint32_t left, uint32_t right) {
    uint64_t key = (uint64_t)left << 20 | right;
    return dstok__packed_rank_at(p, p->packed + dstok__packed_home(key, p->seed, p->cap), key);
}

/* What a pair of a packed table merges to, by its rank. */
static inline uint32_t dstok__product_of(const dstok__pairs *p, uint32_t rank) {
    return p->products != NULL ? p->products[rank] : rank;
}

/* What two symbols merge to; rank = DSTOK__NO_RANK: they do not. */
typedef struct dstok__found {
    uint32_t rank, product;
} dstok__found;

static inline dstok__found dstok__pairs_get(const dstok__pairs *p, uint32_t left, uint32_t right) {
    if (p->packed != NULL) {
        uint32_t rank = dstok__packed_rank(p, left, right);
        return (dstok__found){rank, rank == DSTOK__NO_RANK ? 0 : dstok__product_of(p, rank)};
    }
    uint64_t key = (uint64_t)left << 32 | right;
    for (size_t i = dstok__pair_home(key, p->seed, p->cap);; i = i + 1 == p->cap ? 0 : i + 1) {
        const dstok__pair *slot = &p->slots[i];
        if (slot->key == key || slot->rank == DSTOK__NO_RANK)
            return (dstok__found){slot->rank, slot->product};
    }
}

#endif
