/* SPDX-License-Identifier: MIT */
/* What the families' algebra shares: runs of numbers, white space cut at line ends, contractions. */
#ifndef DSTOK_PRETOK_BLOCK_PARTS_H
#define DSTOK_PRETOK_BLOCK_PARTS_H

#include "blocks.h"
#include "scan.h"

#include <string.h>

DSTOK__EACH uint64_t dstok__letters(const dstok__kinds *k, bool is_ascii) {
    return k->upper | k->lower | (is_ascii ? 0 : k->caseless);
}

/* Marks; none in ASCII. */
DSTOK__EACH uint64_t dstok__marks(const dstok__kinds *k, bool is_ascii) {
    return is_ascii ? 0 : k->mark;
}

/* ---- \p{N}{1,3} ---- */

/* Begins of groups of up to three in runs of numbers. *before: how many of the run stand behind its last begin at the
 * end of the block before, 0 when it does not go on. */
static inline uint64_t dstok__cut_threes(const dstok__kinds *k, unsigned *before) {
    uint64_t number = k->number, starts = number & ~DSTOK__BEFORE(k, number);
    if (number == 0) {
        *before = 0;
    } else if ((number & k->high) != 0) {
        starts = dstok__count_threes(k, before);
    } else {
        if (*before != 0) {
            uint64_t upto = ((uint64_t)2 << (3 - *before)) - 1;
            if ((number & upto) == upto) starts |= (upto >> 1) + 1;
        }
        uint64_t inner = number & number << 1 & number << 2 & number << 3;
        for (uint64_t last = starts; (last = last << 3 & inner) != 0;) starts |= last;
        *before = number >> 63 ? (unsigned)__builtin_clzll(starts) + 1 : 0;
    }
    return starts;
}

/* ---- white space ---- */

/* Carried from block to block. */
typedef struct dstok__lines {
    uint64_t space, newline; /* bit 0: the last byte of the block before */
    uint64_t bit; /* a begin that holds only if its run of blanks, which goes on, ends in no newline */
    size_t block; /* where that is; bit = 0: there is none */
} dstok__lines;

/* The first byte of the run of ones in mask that ends below bit e. */
static inline uint64_t dstok__run_begin(uint64_t mask, unsigned e) {
    uint64_t below = ~mask & (((uint64_t)1 << e) - 1);
    return below == 0 ? 1 : (uint64_t)2 << (63 - (unsigned)__builtin_clzll(below));
}

/* The run of blanks that came from the blocks before ends in this one or not at all. */
static inline void dstok__settle(dstok__window *w, const dstok__kinds *k, uint64_t newline, dstok__lines *s) {
    if (k->blank == UINT64_MAX) return;
    if (newline & (k->blank + 1)) w->starts[s->block] &= ~s->bit;
    s->bit = 0;
}

/* White space as \s*[\r\n]+|\s+(?!\S)|\s+ cuts it. newline: the line ends that are not part of the pretoken
 * before; splits_of: what does not let go of the blank before it, in a block.
 * Sets nothing in w->starts but takes away begins of earlier blocks. */
DSTOK__EACH uint64_t dstok__cut_lines_of(dstok__window *w, size_t i, uint64_t newline,
                                         uint64_t splits_of(const dstok__kinds *k), bool is_ascii,
                                         dstok__lines *s) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t blank = k->blank, space = newline | blank;
    if (space == 0) {
        s->bit = s->space = s->newline = 0;
        return 0;
    }
    uint64_t begins = space & ~(space << 1 | s->space);
    uint64_t behind = blank & (newline << 1 | s->newline); /* first blanks behind a line end */
    if (s->bit != 0) dstok__settle(w, k, newline, s);
    for (uint64_t ends = newline & blank << 1; ends != 0; ends &= ends - 1)
        behind &= ~dstok__run_begin(blank, dstok__low_bit(ends));
    if (blank >> 63 && s->bit == 0) {
        uint64_t first = blank == UINT64_MAX ? 1 : (uint64_t)2 << (63 - (unsigned)__builtin_clzll(~blank));
        if (behind & first) {
            s->bit = first;
            s->block = i;
        }
    }
    s->space = space >> 63;
    s->newline = newline >> 63;
    bool narrow = is_ascii || (blank & k->high) == 0; /* blanks of one byte */
    return begins | behind | (blank & dstok__next_in(k, splits_of(k), splits_of(k + 1), narrow));
}

/* Behind the last block: a begin that still hangs in the air is not known, unless the text ends there. */
static inline void dstok__cut_lines_end(dstok__window *w, const dstok__lines *s) {
    if (s->bit == 0 || 64 * w->n >= w->len) return;
    dstok__limit_to(w, s->block, s->bit);
}

/* Line ends that follow a run directly, as many as there are, in the sense of x+[\r\n]*. behind: the places
 * behind such runs. *over: 1 when the last byte of the block before is one of them. */
static inline uint64_t dstok__absorbed(uint64_t newline, uint64_t behind, uint64_t *over) {
    uint64_t from = (behind | *over) & newline, all = 0;
    if (from != 0) all = dstok__flood(from, newline);
    *over = all >> 63;
    return all;
}

/* ---- contractions ---- */

/* quotes: first bytes in block i that may begin one. Returns the quotes that do; *ends takes the places
 * behind them, those in the next block go to *over. */
static inline uint64_t dstok__contractions(const dstok__window *w, size_t i, uint64_t quotes, bool any_case,
                                           uint64_t *ends, uint64_t *over) {
    uint64_t found = 0;
    for (; quotes != 0; quotes &= quotes - 1) {
        unsigned at = dstok__low_bit(quotes);
        size_t begin = 64 * i + at, n = dstok__contraction(w->text, w->len, begin, any_case) - begin;
        if (n == 0) continue;
        found |= (uint64_t)1 << at;
        if (at + n < 64) {
            *ends |= (uint64_t)1 << (at + n);
        } else {
            *over |= (uint64_t)1 << (at + n - 64);
        }
    }
    return found;
}

#endif
