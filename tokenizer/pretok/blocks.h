/* SPDX-License-Identifier: MIT */
/* Pretokens as bit masks: 64 bytes of text at a time, class masks in, a mask of the places where pretokens
 * begin out. Each family's algebra is one function on plain 64-bit words (block_*.c) and gives what its
 * scanner (scan_*.c) gives. docs/pipeline.md has a worked block. */
#ifndef DSTOK_PRETOK_BLOCKS_H
#define DSTOK_PRETOK_BLOCKS_H

#include "../../simd/simd.h"

#include <stdbool.h>

#define DSTOK__WINDOW 64u /* blocks looked at together: 4 KiB of text */

/* The classes of 64 bytes: bit i belongs to byte i, and all bytes of a character have the class of the
 * character. The first twelve lie as in dstok__classes, which has them for ASCII. */
typedef struct dstok__kinds {
    uint64_t upper, lower, number, sign, newline,
        blank;                    /* each byte is in one of these or of the next three or four */
    uint64_t high;                /* bytes of characters above ASCII */
    uint64_t tail;                /* bytes behind the first of their character */
    uint64_t ideograph;           /* first bytes of most ideographs */
    uint64_t space, quote, slash; /* ' ' ' / */
    uint64_t caseless, mark, other;
    uint64_t valid;               /* bytes of the text: the last block may end early */
    uint64_t lead2, lead3, lead4; /* first bytes of characters of 2, 3, 4 bytes */
    uint64_t east;                /* U+3040..30FF, U+4E00..9FA5 */
} dstok__kinds;

/* What one call works on. blocks[0] is before the text and empty; blocks[n + 1] is what follows; one more
 * takes what runs over from it. */
typedef struct dstok__window {
    dstok__kinds blocks[DSTOK__WINDOW + 3];
    dstok__classes classes[DSTOK__WINDOW + 2]; /* one more, of which only the tails that begin it are known */
    uint64_t starts[DSTOK__WINDOW];
    const uint8_t *text; /* the window begins here, at the begin of a pretoken */
    size_t len;          /* of the text from there on: the window may end before it */
    size_t n;            /* blocks */
    size_t limit;        /* starts below this place of the window are right; from it on they are not known */
    bool has_high;       /* some byte is not ASCII */
} dstok__window;

/* Sets starts[0, n) and may lower limit. */
typedef void dstok__block_fn(dstok__window *w);

dstok__block_fn dstok__block_gpt2, dstok__block_smollm, dstok__block_smollm_split, dstok__block_cl100k,
    dstok__block_cl100k_tiktoken, dstok__block_qwen2, dstok__block_qwen35, dstok__block_seed_coder,
    dstok__block_minicpm5, dstok__block_o200k, dstok__block_tekken, dstok__block_deepseek_v3;

/* Reads up to max blocks of text[0, len), len > 0, which begins at the begin of a pretoken. */
void dstok__window_read(dstok__window *w, const dstok__simd *simd, const uint8_t *text, size_t len,
                        size_t max);

/* ---- for the functions of the families ---- is_ascii: neither the block nor its neighbours have a byte
 * above ASCII; the compiler then leaves out what is for them, so what takes it is compiled into each call. */
#define DSTOK__EACH static inline __attribute__((always_inline))

static inline bool dstok__is_ascii_block(const dstok__kinds *k) {
    return (k[-1].high | k[0].high | k[1].high) == 0;
}

/* A mask moved to the next byte: what stands before each byte. k points at the block. */
#define DSTOK__BEFORE(k, mask) ((k)[0].mask << 1 | (k)[-1].mask >> 63)

/* first bytes of characters whose next character begins in the set: here and behind are the set in this
 * block and in the next. */
DSTOK__EACH uint64_t dstok__next_in(const dstok__kinds *k, uint64_t here, uint64_t behind, bool is_ascii) {
    uint64_t next = (here >> 1 | behind << 63) & ~k->high;
    if (is_ascii) return next;
    next |= (here >> 2 | behind << 62) & k->lead2;
    next |= (here >> 3 | behind << 61) & k->lead3;
    return next | ((here >> 4 | behind << 60) & k->lead4);
}

/* The characters behind those whose first bytes are in mask; *over takes what falls into the next block,
 * and what fell into this one is in it before. */
DSTOK__EACH uint64_t dstok__step_over(const dstok__kinds *k, uint64_t mask, uint64_t *over, bool is_ascii) {
    uint64_t one = mask & ~k->high, in = *over;
    *over = mask >> 63;
    if (is_ascii) return in | mask << 1;
    uint64_t two = mask & k->lead2, three = mask & k->lead3, four = mask & k->lead4;
    *over = one >> 63 | two >> 62 | three >> 61 | four >> 60;
    return in | one << 1 | two << 2 | three << 3 | four << 4;
}

/* All places that can be reached from those in from by going over bytes in through, themselves included. */
static inline uint64_t dstok__reach(uint64_t from, uint64_t through) {
    return (((from & through) + through) ^ through) | from;
}

/* The same without the place behind the last byte gone over. */
static inline uint64_t dstok__flood(uint64_t from, uint64_t through) {
    return dstok__reach(from & through, through) & through;
}

/* dstok__cut_threes (block_parts.h) where some numbers are above ASCII: one by one. */
uint64_t dstok__count_threes(const dstok__kinds *k, unsigned *before);

static inline unsigned dstok__low_bit(uint64_t mask) {
    return (unsigned)__builtin_ctzll(mask);
}

static inline void dstok__limit_to(dstok__window *w, size_t block, uint64_t bad) {
    if (bad == 0) return;
    size_t at = 64 * block + dstok__low_bit(bad);
    if (at < w->limit) w->limit = at;
}

#endif
