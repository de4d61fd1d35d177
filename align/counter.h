/* SPDX-License-Identifier: MIT */
/* Counts a stream that comes in pieces: where each place is, in code points, UTF-16 units, lines and
 * columns, without seeing a byte twice. Pieces may end inside a character, or between CR and LF. Feed up to
 * the place, then ask. */
#ifndef DSTOK_ALIGN_COUNTER_H
#define DSTOK_ALIGN_COUNTER_H

#include "../simd/simd.h"

/* Zeros at the begin of a text. */
typedef struct dstok__counter {
    uint64_t bytes;                    /* so far */
    uint64_t chars, fourths;           /* characters that began, and those of two UTF-16 units that ended */
    uint64_t lines;                    /* line breaks, but for one at the very end */
    uint64_t line_chars, line_fourths; /* where the line began */
    uint32_t before;                   /* the last four bytes */
} dstok__counter;

/* A place of the stream: that many units are before it. */
typedef struct dstok__at {
    uint64_t byte, chars, utf16;
    uint64_t line, column, column_utf16; /* from 1, as in dstok_place */
} dstok__at;

void dstok__counter_feed(dstok__counter *c, const dstok__simd *simd, const uint8_t *piece, size_t n);

/* The place behind what was fed; inside a character it is where that begins. `next` is the byte that
 * follows, -1 where the text ends: it tells whether a character goes on, and whether CR is a line break. */
void dstok__counter_at(const dstok__counter *c, int next, dstok__at *out);

/* Adds the characters and the fourth bytes of text[0, n) (dstok__simd.count_chars), n being any number. */
void dstok__count_part(const dstok__simd *simd, const uint8_t *text, size_t n, uint32_t before,
                       uint64_t count[2]);

#endif
