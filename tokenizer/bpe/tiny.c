/* SPDX-License-Identifier: MIT */
/* Merging of short pieces: symbols stay where they are, a mask says which of them live. */
#include "tiny.h"

static inline uint32_t rank_of(const dstok__pairs *pairs, uint32_t left, uint32_t right) {
    if (pairs->packed != NULL) return dstok__packed_rank(pairs, left, right);
    return dstok__pairs_get(pairs, left, right).rank;
}

/* What the symbol at i and the one at j, whose rank is known, merge to. */
static inline uint32_t product_of(const dstok__pairs *pairs, uint32_t rank, const uint32_t *ids, unsigned i,
                                  unsigned j) {
    return pairs->packed != NULL ? pairs->products[rank] : dstok__pairs_get(pairs, ids[i], ids[j]).product;
}

/* The first of the least ranks, as rank << 4 | place. Two halves at a time, and no branch, which nobody
 * could foresee. */
static inline uint64_t first_least(const uint32_t *ranks, size_t n) {
    uint64_t even = (uint64_t)ranks[0] << 4, odd = (uint64_t)ranks[1] << 4 | 1;
    for (size_t i = 2; i < n; i += 2) {
        uint64_t a = (uint64_t)ranks[i] << 4 | i, b = (uint64_t)ranks[i + 1] << 4 | (i + 1);
        even ^= (even ^ a) & (0 - (uint64_t)(a < even));
        odd ^= (odd ^ b) & (0 - (uint64_t)(b < odd));
    }
    return even < odd ? even : odd;
}

#define NOTHING ((uint64_t)DSTOK__NO_RANK << 4)

size_t dstok__tiny_merge(const dstok__pairs *pairs, uint32_t *ids, size_t n) {
    uint32_t ranks[DSTOK__TINY + 2]; /* by place: of the symbol there and the one behind */
    uint32_t alive = (1u << n) - 1;  /* bit i: a symbol begins at i */
    for (unsigned i = 0; i + 1 < n; i++) ranks[i] = rank_of(pairs, ids[i], ids[i + 1]);
    for (size_t i = n - 1; i < n + 2; i++) ranks[i] = DSTOK__NO_RANK;
    for (uint64_t best; (best = first_least(ranks, n)) < NOTHING;) {
        unsigned i = (unsigned)best & (DSTOK__TINY - 1);
        uint32_t behind = alive >> (i + 1) << (i + 1), before = alive & ((1u << i) - 1);
        unsigned j = (unsigned)__builtin_ctz(behind);
        ids[i] = product_of(pairs, ranks[i], ids, i, j);
        alive &= ~(1u << j);
        ranks[j] = ranks[i] = DSTOK__NO_RANK;
        behind &= behind - 1;
        if (behind != 0) ranks[i] = rank_of(pairs, ids[i], ids[__builtin_ctz(behind)]);
        if (before != 0) {
            unsigned k = 31 - (unsigned)__builtin_clz(before);
            ranks[k] = rank_of(pairs, ids[k], ids[i]);
        }
    }
    size_t left = 0;
    for (; alive != 0; alive &= alive - 1) ids[left++] = ids[__builtin_ctz(alive)];
    return left;
}
