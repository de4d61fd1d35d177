/* SPDX-License-Identifier: MIT */
/* Merging of a short piece of bytes to ids alone. */
#ifndef DSTOK_BPE_TINY_H
#define DSTOK_BPE_TINY_H

#include "pairs.h"

#define DSTOK__TINY 16u /* bytes of the longest such piece */

/* Merges the symbols ids[0, n), 1 <= n <= DSTOK__TINY, in place: lowest rank first, leftmost on ties.
 * Returns how many are left. */
size_t dstok__tiny_merge(const dstok__pairs *pairs, uint32_t *ids, size_t n);

#endif
