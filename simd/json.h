/* SPDX-License-Identifier: MIT */
/* What the tiers share about JSON: sets of bytes, the bytes of escapes, and how tokens come from masks. */
#ifndef DSTOK_SIMD_JSON_H
#define DSTOK_SIMD_JSON_H

#include "simd.h"

/* The only blank in each column (lower half of a byte); where there is none, a byte of another column. */
static const uint8_t dstok__blank_column[16] = {0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0x09, 0x0A, 0, 0, 0x0D, 0, 0};

/* The same for the six marks with bit 5 set, which makes [ { and ] } of one kind, and of nothing else but
 * control characters a mark. */
static const uint8_t dstok__mark_column[16] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3A, 0x7B, 0x2C, 0x7D, 0, 0};

/* What a letter behind a backslash stands for; 0: it is no escape of two bytes. */
static const uint8_t dstok__json_letters[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* A byte is a hex digit when its row and its column have a bit in common: 1 for row 3, 2 for rows 4 and 6. */
static const uint8_t dstok__hex_row[16] = {0, 0, 0, 1, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t dstok__hex_column[16] = {1, 3, 3, 3, 3, 3, 3, 1, 1, 1, 0, 0, 0, 0, 0, 0};

/* Those letters but for the quote, with u among them, and what they stand for, by the lower half of the
 * letter with bit 0 turned where bit 4 is set; where there is none, a byte of another place. */
static const uint8_t dstok__letter_hash[16] = {0xFF, 0, 'b', 'r', 'u', 't',  'f', 0,
                                               0,    0, 0,   0,   0,   '\\', 'n', '/'};
static const uint8_t dstok__plain_hash[16] = {0, 0, '\b', '\r', 0, '\t', '\f', 0,
                                              0, 0, 0,    0,    0, '\\', '\n', '/'};

/* Which bytes of a block stand behind a backslash that is not escaped itself. *carry (0 or 1): whether the
 * first byte of the block does; then the same of the next block. Of a run of backslashes every second byte
 * is escaped, the one behind it included: those at odd places where the run begins at an even one, and the
 * other way round. */
static inline uint64_t dstok__json_escaped(uint64_t backslash, uint64_t *carry) {
    const uint64_t even = 0x5555555555555555u;
    uint64_t first = *carry;
    backslash &= ~first;
    uint64_t begins = backslash & ~(backslash << 1);
    /* The sum ends those runs in which a one is added: their bits are gone. */
    uint64_t from_even = backslash & ~(backslash + (begins & even));
    uint64_t from_odd = backslash & ~from_even;
    *carry = from_odd >> 63;
    return first | (from_even << 1 & ~even) | (from_odd << 1 & even);
}

/* Each bit is that of itself and all below it added up, modulo 2: ones from every second bit to the bit
 * before the next. */
static inline uint64_t dstok__prefix_xor(uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
}

/* The masks of a block. */
typedef struct dstok__json_masks {
    uint64_t quote, backslash;
    uint64_t control; /* 00-1F */
    uint64_t mark;    /* { } [ ] : , and control characters */
    uint64_t blank;   /* 09 0A 0D 20 */
    uint64_t letter;  /* what may stand behind a backslash */
    uint64_t u;
    uint64_t hex; /* digits */
} dstok__json_masks;

/* escaped: as dstok__json_escaped says; parity: dstok__prefix_xor of the quotes that are not escaped. */
static inline void dstok__json_block_of(const dstok__json_masks *m, uint64_t escaped, uint64_t parity,
                                        dstok__json_state *state, dstok__json_block *out) {
    uint64_t quotes = m->quote & ~escaped;
    /* From the quote that begins a string to the byte before the one that ends it. */
    uint64_t strings = parity ^ state->in_string;
    uint64_t marks = m->mark & ~m->control;
    uint64_t runs = ~(strings | quotes | marks | m->blank);
    out->tokens = quotes | (marks & ~strings) | (runs & ~(runs << 1 | state->in_run));
    escaped &= strings;
    uint64_t u = escaped & m->u, digits = (u << 1 | u << 2 | u << 3 | u << 4) | state->digits;
    out->faults = (m->control & strings) | (escaped & ~m->letter) | (digits & ~m->hex);
    state->in_string = 0 - (strings >> 63);
    state->digits = u >> 63 | u >> 62 | u >> 61 | u >> 60;
    state->in_run = runs >> 63;
}

#endif
