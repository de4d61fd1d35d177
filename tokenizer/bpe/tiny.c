/* SPDX-License-Identifier: MIT */
/* Merging of short pieces: symbols stay where they are, a mask says which of them live. */
#include "tiny.h"

#include <string.h>

#define NO_PAIR UINT64_MAX /* a key that no pair of ids has */

void dstok__memo_clear(dstok__memo *m) {
    for (size_t i = 0; i < sizeof m->pairs / sizeof *m->pairs; i++) m->pairs[i].key = NO_PAIR;
}

static inline uint32_t rank_of(dstok__memo *m, const dstok__pairs *pairs, uint32_t left, uint32_t right) {
    uint64_t key = (uint64_t)left << 32 | right;
    size_t at = (left * 0x9E3779B97F4A7C15u + right * 0xD6E8FEB86659FD93u) >> (64 - DSTOK__MEMO_BITS);
    if (m->pairs[at].key != key) {
        m->pairs[at].key = key;
        m->pairs[at].rank = pairs->packed != NULL ? dstok__packed_rank(pairs, left, right)
                                                  : dstok__pairs_get(pairs, left, right).rank;
    }
    return (uint32_t)m->pairs[at].rank;
}

/* The merges of the symbols at i and behind: rank << 4 | i, so that the least is the one to make first. */
static inline uint64_t ask(dstok__memo *m, const dstok__pairs *pairs, const uint32_t *ids, unsigned i,
                           unsigned j) {
    return (uint64_t)rank_of(m, pairs, ids[i], ids[j]) << 4 | i;
}

/* What the symbol at i and the one at j, whose rank is known, merge to. */
static inline uint32_t product_of(const dstok__pairs *pairs, uint32_t rank, const uint32_t *ids, unsigned i,
                                  unsigned j) {
    return pairs->packed != NULL ? pairs->products[rank] : dstok__pairs_get(pairs, ids[i], ids[j]).product;
}

#define NOTHING ((uint64_t)DSTOK__NO_RANK << 4) /* and all above it */

static inline uint64_t least(const uint64_t *order, size_t n) {
    uint64_t best = order[0];
    for (size_t i = 1; i < n; i++) best = order[i] < best ? order[i] : best;
    return best;
}

size_t dstok__tiny_merge(dstok__memo *m, const dstok__pairs *pairs, uint32_t *ids, size_t n) {
    uint64_t order[DSTOK__TINY];
    uint32_t alive = (1u << n) - 1; /* bit i: a symbol begins at i */
    for (unsigned i = 0; i + 1 < n; i++) order[i] = ask(m, pairs, ids, i, i + 1);
    order[n - 1] = NOTHING;
    for (uint64_t best; (best = least(order, n)) < NOTHING;) {
        unsigned i = (unsigned)best & (DSTOK__TINY - 1);
        uint32_t behind = alive >> (i + 1) << (i + 1), before = alive & ((1u << i) - 1);
        unsigned j = (unsigned)__builtin_ctz(behind);
        ids[i] = product_of(pairs, (uint32_t)(best >> 4), ids, i, j);
        alive &= ~(1u << j);
        order[j] = NOTHING;
        behind &= behind - 1;
        order[i] = behind != 0 ? ask(m, pairs, ids, i, (unsigned)__builtin_ctz(behind)) : NOTHING;
        if (before != 0) {
            unsigned k = 31 - (unsigned)__builtin_clz(before);
            order[k] = ask(m, pairs, ids, k, i);
        }
    }
    size_t left = 0;
    for (; alive != 0; alive &= alive - 1) ids[left++] = ids[__builtin_ctz(alive)];
    return left;
}
