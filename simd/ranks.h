/* SPDX-License-Identifier: MIT */
/* Places of spans in other units within one page (chars.h); each tier compiles them with its own bit
 * counting. Before this file: RANK_INLINE; rank_select(word, n), the place of the set bit n of a word, or
 * RANK_FILL_ONLY. */
#ifndef DSTOK_SIMD_RANKS_H
#define DSTOK_SIMD_RANKS_H

#include "chars.h"

/* Block k of a page, of which `before` is known up to it. */
RANK_INLINE void rank_fill(dstok__page *p, size_t k, dstok__chars c, int unit) {
    if (unit == DSTOK__IN_BYTES) c.start = ~(uint64_t)0;
    p->starts[k] = c.start;
    p->units[k] = unit == DSTOK__IN_UTF16 ? c.start | c.fourth : c.start;
    p->before[k + 1] = p->before[k] + (uint64_t)__builtin_popcountll(p->units[k]);
}

#ifndef RANK_FILL_ONLY
RANK_INLINE uint64_t rank_of(const dstok__page *p, uint64_t byte) {
    uint64_t below = ((uint64_t)1 << (byte & 63)) - 1;
    return p->before[byte >> 6] + (uint64_t)__builtin_popcountll(p->units[byte >> 6] & below);
}

RANK_INLINE int rank_starts(const dstok__page *p, uint64_t byte) {
    return (int)(p->starts[byte >> 6] >> (byte & 63) & 1);
}

/* The definition of dstok__simd.span_units. A span mostly begins where the one before it ends. */
RANK_INLINE size_t rank_units(const dstok__page *p, uint64_t *places, size_t n) {
    const uint64_t at = p->at, size = p->size;
    uint64_t last_byte = UINT64_MAX, last_unit = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t begin = places[2 * i] - at, end = places[2 * i + 1] - at, first = last_unit;
        if (begin > end || end >= size) return i;
        int is_empty = begin == end;
        if (begin != last_byte) {
            while (!rank_starts(p, begin)) {
                if (begin-- == 0) return i;
            }
            first = rank_of(p, begin);
        }
        if (!rank_starts(p, end)) {
            if (is_empty) end = begin;
            while (!rank_starts(p, end)) {
                if (++end == size) return i;
            }
        }
        last_byte = end;
        last_unit = rank_of(p, end);
        places[2 * i] = first;
        places[2 * i + 1] = last_unit;
    }
    return n;
}

/* A block in which units are looked up. */
typedef struct rank_block {
    size_t k;
    uint64_t before, held, units;
} rank_block;

/* Finds the block of a unit that the page holds. */
RANK_INLINE rank_block rank_move(const dstok__page *p, size_t k, uint64_t unit) {
    while (p->before[k] > unit) k--;
    while (p->before[k + 1] <= unit) k++;
    return (rank_block){k, p->before[k], p->before[k + 1] - p->before[k], p->units[k]};
}

RANK_INLINE uint64_t rank_byte(const dstok__page *p, uint64_t unit, rank_block *b) {
    if (unit - b->before >= b->held) *b = rank_move(p, b->k, unit);
    return 64 * b->k + rank_select(b->units, unit - b->before);
}

/* The definition of dstok__simd.span_bytes. The second unit of a pair is no start: begins go back to the
 * first byte of the character, ends to the one behind it. */
RANK_INLINE size_t rank_bytes(const dstok__page *p, uint64_t *places, size_t n) {
    const uint64_t at = p->at, low = p->before[0], high = p->before[(p->size + 63) / 64];
    rank_block b = {0, 0, 0, 0};
    uint64_t last_unit = UINT64_MAX, last_byte = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t begin = places[2 * i], end = places[2 * i + 1];
        if (begin > end || begin < low || end >= high) return i;
        uint64_t from = begin == last_unit ? last_byte : rank_byte(p, begin, &b), to = from;
        if (begin != end) to = rank_byte(p, end, &b);
        last_unit = end;
        last_byte = to;
        if (!rank_starts(p, from))
            from -= 3; /* maybe to before the page: that wraps back when `at` is added */
        if (!rank_starts(p, to)) to = begin == end ? from : to + 1;
        places[2 * i] = at + from;
        places[2 * i + 1] = at + to;
    }
    return n;
}

/* ---- lines ---- */

/* The definition of dstok__simd.sum_lines. */
RANK_INLINE void rank_lines(dstok__line_page *p, size_t k, size_t n) {
    for (; n > 0; n--, k++) {
        uint64_t begins = p->begins[k], has_any = 0 - (uint64_t)(begins != 0);
        uint64_t last = 63 ^ (unsigned)__builtin_clzll(begins | 1); /* of the begins */
        p->lines[k + 1] = p->lines[k] + (uint64_t)__builtin_popcountll(begins);
        p->base[k + 1] = (rank_of(&p->page, 64 * k + last) & has_any) | (p->base[k] & ~has_any);
    }
}

/* The definition of dstok__simd.line_places. No branch asks whether a line begins in the block of a byte: where
 * lines are short it would be guessed wrong all the time. */
RANK_INLINE size_t rank_places(const dstok__line_page *p, const uint64_t *bytes, size_t n, uint64_t *out) {
    const uint64_t first = p->page.at, size = p->page.size;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = bytes[i] - first;
        if (at >= size) return i;
        while (!rank_starts(&p->page, at)) {
            if (at-- == 0) return i;
        }
        size_t k = (size_t)(at >> 6);
        /* Of the block up to the byte, whose bit is the top one; and the units of its line before the block. */
        uint64_t begins = p->begins[k] << (~at & 63), units = p->page.units[k] << (~at & 63);
        uint64_t before = (p->page.before[k] - p->base[k]) & ((uint64_t)(begins != 0) - 1);
        units >>= 63 ^ (unsigned)__builtin_clzll(begins | 1);
        out[2 * i] = p->lines[k] + (uint64_t)__builtin_popcountll(begins) + 1;
        out[2 * i + 1] = before + (uint64_t)__builtin_popcountll(units);
    }
    return n;
}
#endif

#endif
