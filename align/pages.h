/* SPDX-License-Identifier: MIT */
/* A text by pages (simd/chars.h): the two read last stay at hand, and a text that is not read in order gets
 * marks, from which reading can begin. Allocates nothing. */
#ifndef DSTOK_ALIGN_PAGES_H
#define DSTOK_ALIGN_PAGES_H

#include <dstok/align.h>

#include "../simd/simd.h"

#define DSTOK__MARKS 512

/* What is known where a block begins. */
typedef struct dstok__mark {
    uint64_t byte, units;
    uint64_t lines, base; /* with lines: their begins so far, the units before the last one */
} dstok__mark;

typedef struct dstok__pages {
    const dstok__simd *simd;
    const uint8_t *text;
    size_t len;
    int unit, with_lines;
    dstok__line_page page[2]; /* size 0: holds nothing yet */
    int now;                  /* which of them was asked last */
    size_t room;              /* blocks of the next one that is filled */
    size_t n_marks, stride;   /* 0 until the text is read backwards */
    dstok__mark marks[DSTOK__MARKS];
} dstok__pages;

void dstok__pages_init(dstok__pages *p, const dstok__simd *simd, const void *text, size_t len, int unit,
                       int with_lines);

/* The page that holds a byte <= len. */
const dstok__line_page *dstok__pages_find(dstok__pages *p, uint64_t byte);

/* The same, filled anew so that the character of the byte, and one behind it, are on it whole. */
const dstok__line_page *dstok__pages_turn(dstok__pages *p, uint64_t byte);

/* The page with the byte of a unit, or of the begin of a line (from 1; line > 1); NULL when the text ends
 * before. */
const dstok__line_page *dstok__pages_find_unit(dstok__pages *p, uint64_t unit);
const dstok__line_page *dstok__pages_find_line(dstok__pages *p, uint64_t line);

/* The four bytes before text[at], zeros where there are none: what functions of simd/ ask for. */
uint32_t dstok__before(const uint8_t *text, uint64_t at);

#endif
