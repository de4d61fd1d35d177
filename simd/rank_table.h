/* SPDX-License-Identifier: MIT */
/* The way back of ranks.h by a table: the byte of each unit from some block of a page on, filled as spans
 * come to it. So a span costs two look-ups. Before this file: RANK_COLD, for what is rarely called;
 * RANK_NAME(f), its name of f; rank_put(word, first, out), which writes first + the place of each set bit
 * of a word, in order, to out, where there is room for 64. */
#ifndef DSTOK_SIMD_RANK_TABLE_H
#define DSTOK_SIMD_RANK_TABLE_H

#include "ranks.h"

#define RANK_SECOND 0x8000u /* of a unit: the second of a pair, which is no start */
#define RANK_FEW    8u      /* spans that come before a table pays */
#define RANK_STEP   4u      /* blocks at a time */

typedef struct rank_table {
    uint64_t first, n; /* it holds the units [first, first + n) */
    size_t k;          /* the block that comes next */
    uint16_t byte[64 * DSTOK__PAGE_BLOCKS + 64];
} rank_table;

/* Marks the seconds among the units of a block. */
RANK_COLD void RANK_NAME(rank_mark)(uint64_t units, uint64_t seconds, uint16_t *byte) {
    for (; seconds != 0; seconds &= seconds - 1) {
        uint64_t below = (seconds & (0 - seconds)) - 1;
        byte[__builtin_popcountll(units & below)] |= RANK_SECOND;
    }
}

/* Fills it up to a unit of the page, and some blocks on. */
RANK_COLD void RANK_NAME(rank_extend)(const dstok__page *p, rank_table *t, uint64_t unit) {
    const size_t blocks = (size_t)((p->size + 63) / 64);
    while (unit >= t->first + t->n) {
        size_t end = blocks - t->k < RANK_STEP ? blocks : t->k + RANK_STEP;
        for (; t->k < end; t->k++) {
            uint64_t units = p->units[t->k];
            rank_put(units, (unsigned)(64 * t->k), t->byte + t->n);
            if (units != p->starts[t->k])
                RANK_NAME(rank_mark)(units, units & ~p->starts[t->k], t->byte + t->n);
            t->n = p->before[t->k + 1] - t->first;
        }
    }
}

RANK_COLD void RANK_NAME(rank_begin)(const dstok__page *p, rank_table *t, uint64_t unit) {
    size_t k = 0;
    while (p->before[k + 1] <= unit) k++;
    t->first = p->before[k];
    t->n = 0;
    t->k = k;
}

RANK_COLD size_t RANK_NAME(rank_bytes_of_one)(const dstok__page *p, uint64_t *places) {
    return rank_bytes(p, places, 1);
}

/* rank_bytes for many spans in about their order in the text. */
RANK_INLINE size_t rank_bytes_by_table(const dstok__page *p, uint64_t *places, size_t n) {
    const uint64_t at = p->at, high = p->before[(p->size + 63) / 64];
    size_t few = n < RANK_FEW ? n : RANK_FEW, i = rank_bytes(p, places, few);
    if (i < few || i == n || places[2 * i] < p->before[0] || places[2 * i] >= high) return i;
    rank_table t;
    RANK_NAME(rank_begin)(p, &t, places[2 * i]);
    for (; i < n; i++) {
        uint64_t begin = places[2 * i] - t.first, end = places[2 * i + 1] - t.first;
        if (end >= t.n && end < high - t.first) RANK_NAME(rank_extend)(p, &t, t.first + end);
        if (begin <= end && end < t.n) {
            unsigned from = t.byte[begin], to = t.byte[end];
            if (((from | to) & RANK_SECOND) == 0) {
                places[2 * i] = at + from;
                places[2 * i + 1] = at + to;
                continue;
            }
        }
        if (RANK_NAME(rank_bytes_of_one)(p, places + 2 * i) == 0)
            return i; /* goes back, is not on the page, or halves a pair */
    }
    return n;
}

#endif
