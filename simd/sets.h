/* SPDX-License-Identifier: MIT */
/* Classes from few sets: to take one bit of each byte out of registers costs the most, so each set holds several
 * classes, which bits 5, 6 and 7 of the bytes and the other sets tell apart. */
#ifndef DSTOK_SIMD_SETS_H
#define DSTOK_SIMD_SETS_H

#include "simd.h"

/* A byte (upper half: row, lower half: column) is in `word` when its row and its column have a bit in common: 1 for
 * rows 4 and 6, 2 for rows 5 and 7, 4 for row 3, 8 for row B, 16 for row E. */
static const uint8_t dstok__word_row[16] = {0, 0, 0, 4, 1, 2, 1, 2, 0, 0, 0, 8, 0, 0, 16, 0};
static const uint8_t dstok__word_column[16] = {6, 7, 7, 7, 7, 23, 23, 23, 31, 15, 11, 9, 9, 9, 9, 9};

/* The only member of a set in each column; where there is none, a byte of another column. */
static const uint8_t dstok__white_column[16] = {0x20, 0,    0,    0,    0,    0,    0,    0,
                                                0,    0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0xBE, 0xBF};
static const uint8_t dstok__odd_column[16] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0xE9, 0x0A, 0, 0, 0x0D, 0, 0x2F};
static const uint8_t dstok__even_column[16] = {1, 0, 0, 0, 0xE4, 0, 0, 0x27, 0, 0, 0, 0, 0, 0, 0, 0};

/* The same way, 1 to 8 for rows C to F: first bytes of characters that NFC may change (dstok__simd.nfc_leads). */
static const uint8_t dstok__nfc_row[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8};
static const uint8_t dstok__nfc_column[16] = {12, 4, 6, 4, 0, 0, 2, 2, 2, 2, 4, 2, 3, 3, 1, 6};

typedef struct dstok__sets {
    uint64_t bit5, bit6, bit7; /* of the bytes themselves */
    uint64_t word;             /* letters, digits, B8-BF, E5-E8 */
    uint64_t print;            /* 21-7E */
    uint64_t white;            /* 09-0D, 20, BE-BF */
    uint64_t odd;              /* 0A, 0D, 2F, E9 */
    uint64_t even;             /* 27, E4 */
} dstok__sets;

static inline void dstok__classes_of(const dstok__sets *s, dstok__classes *out) {
    uint64_t ascii = ~s->bit7, lead = s->bit7 & s->bit6, letter = s->word & s->bit6 & ascii;
    out->upper = letter & ~s->bit5;
    out->lower = letter & s->bit5;
    out->digit = s->word & ~s->bit6 & ascii;
    out->sign = s->print & ~s->word;
    out->newline = s->odd & s->white;
    out->blank = s->white & ~s->odd & ascii;
    out->high = s->bit7;
    out->tail = s->bit7 & ~s->bit6;
    /* E4 and E9 in the last byte have their second byte elsewhere. */
    uint64_t last = (uint64_t)1 << 63, from_b8 = s->bit7 & (s->bit6 | s->word),
             from_be = s->bit7 & (s->bit6 | s->white);
    out->ideograph = lead & (s->word | (s->even & from_b8 >> 1) | (s->odd & ~(from_be >> 1 | last)));
    out->space = s->white & s->bit5 & ascii;
    out->quote = s->even & ascii;
    out->slash = s->odd & s->print;
}

#endif
