/* SPDX-License-Identifier: MIT */
/* Where characters and lines begin, as bits of blocks of 64 bytes, and pages of such blocks that turn
 * places in bytes into places in other units and back. A byte's bits need the three bytes before it and
 * none behind it. */
#ifndef DSTOK_SIMD_CHARS_H
#define DSTOK_SIMD_CHARS_H

#include <stddef.h>
#include <stdint.h>

/* Bit i belongs to byte i. A maximal ill-formed subpart is one character. */
typedef struct dstok__chars {
    uint64_t start;  /* begins a character */
    uint64_t fourth; /* the last byte of a character of four: the only ones of two UTF-16 units */
} dstok__chars;

#define DSTOK__PAGE_BLOCKS 64

enum { DSTOK__IN_BYTES, DSTOK__IN_CHARS, DSTOK__IN_UTF16 }; /* as DSTOK_UNIT_* */

/* Blocks that follow each other. `units` has a bit for each unit, in order: in UTF-16 the starts and the
 * fourth bytes, in bytes all. Where the text ends the byte behind it is a start, and the last one held. */
typedef struct dstok__page {
    uint64_t at, size;                       /* the bytes it holds: [at, at + size) */
    uint64_t before[DSTOK__PAGE_BLOCKS + 1]; /* units before each block, from the begin of the text on */
    uint64_t starts[DSTOK__PAGE_BLOCKS], units[DSTOK__PAGE_BLOCKS];
} dstok__page;

/* ... with the begins of lines. */
typedef struct dstok__line_page {
    dstok__page page;
    uint64_t begins[DSTOK__PAGE_BLOCKS];
    uint64_t lines[DSTOK__PAGE_BLOCKS + 1]; /* begins before each block, from the begin of the text on */
    uint64_t base[DSTOK__PAGE_BLOCKS + 1];  /* units before the last begin before each block */
} dstok__line_page;

/* ---- what the tiers share: bit algebra over blocks in order ---- */

/* Of one block; `second`: a byte that goes on with the lead before it. */
typedef struct dstok__char_masks {
    uint64_t tail, second;
    uint64_t three, four; /* E0-FF, F0-FF */
} dstok__char_masks;

/* The block before; zeros at the begin of a text. */
typedef struct dstok__char_carry {
    uint64_t second, third, three, four;
} dstok__char_carry;

static inline dstok__chars dstok__chars_of(const dstok__char_masks *m, dstok__char_carry *c) {
    uint64_t third = m->tail & (m->second << 1 | c->second >> 63) & (m->three << 2 | c->three >> 62);
    uint64_t fourth = m->tail & (third << 1 | c->third >> 63) & (m->four << 3 | c->four >> 61);
    *c = (dstok__char_carry){m->second, third, m->three, m->four};
    return (dstok__chars){~(m->second | third | fourth), fourth};
}

/* Of one block: 0A, 0D, E2, 80, A8-A9. */
typedef struct dstok__line_masks {
    uint64_t lf, cr, e2, x80, a8;
} dstok__line_masks;

typedef struct dstok__line_carry { /* the block before, and where U+2028 and U+2029 end in it */
    uint64_t lf, cr, e2, x80, separator;
} dstok__line_carry;

/* A line begins behind LF, behind CR unless with LF, behind U+2028 and U+2029. */
static inline uint64_t dstok__lines_of(const dstok__line_masks *m, dstok__line_carry *c) {
    uint64_t separator = m->a8 & (m->x80 << 1 | c->x80 >> 63) & (m->e2 << 2 | c->e2 >> 62);
    uint64_t lf = m->lf << 1 | c->lf >> 63, cr = m->cr << 1 | c->cr >> 63;
    uint64_t begins = lf | (cr & ~m->lf) | separator << 1 | c->separator >> 63;
    *c = (dstok__line_carry){m->lf, m->cr, m->e2, m->x80, separator};
    return begins;
}

/* The carries behind four bytes, the last one highest (scalar/chars.c). */
dstok__char_carry dstok__char_carry_of(uint32_t before);
dstok__line_carry dstok__line_carry_of(uint32_t before);

#endif
