/* SPDX-License-Identifier: MIT */
/* Merging of many short pieces together: the same as merge.h says for each, but what one waits for from the
 * packed table of pairs comes while the others go on. */
#ifndef DSTOK_BPE_TINY_H
#define DSTOK_BPE_TINY_H

#include "../../simd/simd.h"
#include "pairs.h"

#define DSTOK__TINY       30u /* symbols of a piece at most */
#define DSTOK__TINY_MERGE 32u /* pieces merged together */

/* A piece. Symbols stay where they are, from place 1 on; a mask says which of them live. Before the first
 * and behind the last one lives a symbol that merges with nothing. */
typedef struct dstok__tiny {
    uint32_t ids[DSTOK__TINY + 2];
    _Alignas(64)
        int32_t ranks[DSTOK__TINY + 2]; /* rank << 5 | place, of the symbol at the place and the next one */
    uint32_t alive;                     /* bit i: a symbol begins at place i */
    uint32_t end;                       /* the place behind the last symbol */
    uint32_t early;                     /* bit i: the symbols at the place i and the next one merge first */
    bool has_ranks;
} dstok__tiny;

/* A piece of n symbols, 1 to DSTOK__TINY, which are in ids from ids[1] on. */
void dstok__tiny_begin(dstok__tiny *t, size_t n);

/* The same where the symbols are those of the bytes text[0, n), 16 bytes of text can be read, and there is
 * a table of pairs of bytes. */
void dstok__tiny_begin_bytes(dstok__tiny *t, const dstok__simd *simd, const dstok__pairs *pairs,
                             const uint8_t *text, size_t n);

/* Merges up to DSTOK__TINY_MERGE pieces by a packed table. */
void dstok__tiny_merge(const dstok__simd *simd, const dstok__pairs *pairs, dstok__tiny *pieces, size_t n);

/* The ids of a merged piece to ids, which has room for all it had. Returns how many. */
size_t dstok__tiny_ids(const dstok__tiny *t, uint32_t *ids);

#endif
