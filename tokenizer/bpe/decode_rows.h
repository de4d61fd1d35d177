/* SPDX-License-Identifier: MIT */
/* The quick part of decoding: tokens that come out as they are, whatever stands around them. Each has its
 * bytes in a row of fixed length, so that a token costs one place in memory and a copy without a branch. */
#ifndef DSTOK_BPE_DECODE_ROWS_H
#define DSTOK_BPE_DECODE_ROWS_H

#include "tables.h"

#define DSTOK__ROW_BYTES 15u
#define DSTOK__ROW_OTHER 255u       /* a row's n: see the tables */
#define DSTOK__MAX_ROWS  (1u << 20) /* ids from here on are looked up in the tables */
#define DSTOK__ROW_ROOM  (DSTOK__ROW_BYTES + 1)

/* What an id decodes to. Ids without a token, long tokens and those that somebody may want to leave out or to
 * treat in their own way (special ones, bytes) are DSTOK__ROW_OTHER. */
typedef struct dstok__row {
    uint8_t bytes[DSTOK__ROW_BYTES]; /* what stands behind n of them is anything */
    uint8_t n;
} dstok__row;

/* Rows of the first ids of a checked block. n: of all of them, at most DSTOK__MAX_ROWS. */
void dstok__rows_fill(const dstok__tables *t, dstok__row *rows, size_t n);

/* A list of ids that is decoded piece by piece. */
typedef struct dstok__rows {
    const dstok__tables *t;
    const dstok__row *rows;
    size_t n_rows;
    const uint32_t *ids;
    size_t n;     /* ids */
    uint8_t stop; /* flags of ids that are not for us */
} dstok__rows;

/* Asks for the rows of the first ids, a step that the calls below take for those further on. */
void dstok__rows_begin(const dstok__rows *r);

/* The bytes of ids[i, end) one behind the other in out, up to the first id that has no token, has a flag of
 * r->stop, or for which out[0, cap) may be too small (DSTOK__ROW_ROOM bytes are enough for a short token).
 * out[0, cap) may change behind them, too. *n_out  [out] bytes. Returns the index of that id, or end. */
size_t dstok__rows_copy(const dstok__rows *r, size_t i, size_t end, uint8_t *out, size_t cap, size_t *n_out);

/* As dstok__rows_copy with room for everything, but only counts. */
size_t dstok__rows_count(const dstok__rows *r, size_t i, size_t end, size_t *n_out);

#endif
