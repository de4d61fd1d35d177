/* SPDX-License-Identifier: MIT */
/* Merging of short pieces: symbols stay where they are, a mask says which of them live. */
#include "tiny.h"

#include <string.h>

#define NO_PAIR UINT64_MAX /* a key that no pair of ids has */

void dstok__memo_clear(dstok__memo *m) {
    for (size_t i = 0; i < sizeof m->pairs / sizeof *m->pairs; i++) m->pairs[i].key = NO_PAIR;
}

static inline const dstok__pair *look_up(dstok__memo *m, const dstok__pairs *pairs, uint32_t left,
                                         uint32_t right) {
    uint64_t key = (uint64_t)left << 32 | right;
    dstok__pair *memo =
        &m->pairs[(left * 0x9E3779B97F4A7C15u + right * 0xD6E8FEB86659FD93u) >> (64 - DSTOK__MEMO_BITS)];
    if (memo->key == key) return memo;
    const dstok__pair *found = dstok__pairs_get(pairs, left, right);
    *memo = (dstok__pair){key, found->rank, found->product};
    return memo;
}

/* The merge of the symbols at i and behind it: rank << 4 | i, so that the least is the one to make first. */
typedef struct merges {
    uint64_t order[DSTOK__TINY];
    uint32_t product[DSTOK__TINY];
} merges;

static inline void ask(merges *g, dstok__memo *m, const dstok__pairs *pairs, const uint32_t *ids, unsigned i,
                       unsigned j) {
    const dstok__pair *pair = look_up(m, pairs, ids[i], ids[j]);
    g->order[i] = (uint64_t)pair->rank << 4 | i;
    g->product[i] = pair->product;
}

#define NOTHING ((uint64_t)DSTOK__NO_RANK << 4) /* and all above it */

static inline uint64_t least(const merges *g, size_t n) {
    uint64_t best = g->order[0];
    for (size_t i = 1; i < n; i++) best = g->order[i] < best ? g->order[i] : best;
    return best;
}

size_t dstok__tiny_merge(dstok__memo *m, const dstok__pairs *pairs, uint32_t *ids, size_t n) {
    merges g;
    uint32_t alive = (1u << n) - 1; /* bit i: a symbol begins at i */
    for (unsigned i = 0; i + 1 < n; i++) ask(&g, m, pairs, ids, i, i + 1);
    g.order[n - 1] = NOTHING;
    for (uint64_t best; (best = least(&g, n)) < NOTHING;) {
        unsigned i = (unsigned)best & (DSTOK__TINY - 1);
        uint32_t behind = alive >> (i + 1) << (i + 1);
        unsigned j = (unsigned)__builtin_ctz(behind);
        ids[i] = g.product[i];
        alive &= ~(1u << j);
        g.order[j] = NOTHING;
        behind &= behind - 1;
        if (behind != 0) {
            ask(&g, m, pairs, ids, i, (unsigned)__builtin_ctz(behind));
        } else {
            g.order[i] = NOTHING;
        }
        uint32_t before = alive & ((1u << i) - 1);
        if (before != 0) ask(&g, m, pairs, ids, 31 - (unsigned)__builtin_clz(before), i);
    }
    size_t left = 0;
    for (; alive != 0; alive &= alive - 1) ids[left++] = ids[__builtin_ctz(alive)];
    return left;
}
