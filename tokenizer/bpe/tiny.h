/* SPDX-License-Identifier: MIT */
/* Merging of a short piece of bytes to ids alone, with a small memory of pairs asked lately: most pairs of
 * real text are among them, and the table of all pairs is too large for the nearer caches. */
#ifndef DSTOK_BPE_TINY_H
#define DSTOK_BPE_TINY_H

#include "pairs.h"

#define DSTOK__TINY      16u /* bytes of the longest such piece */
#define DSTOK__MEMO_BITS 12u /* 2^12 pairs, 64 KiB */

/* Ranks of pairs asked lately, by hash; of those that do not merge, too. */
typedef struct dstok__memo {
    struct {
        uint64_t key; /* left << 32 | right */
        uint64_t rank;
    } pairs[1u << DSTOK__MEMO_BITS];
} dstok__memo;

void dstok__memo_clear(dstok__memo *m);

/* Merges the symbols ids[0, n), 1 <= n <= DSTOK__TINY, in place: lowest rank first, leftmost on ties.
 * Returns how many are left. */
size_t dstok__tiny_merge(dstok__memo *m, const dstok__pairs *pairs, uint32_t *ids, size_t n);

#endif
