/* SPDX-License-Identifier: MIT */
/* Numbers rounded to few bits: groups of weights (W8, W4), FP8, rows of activations, keys and values. */
#ifndef DSX_QUANT_ROUNDING_H
#define DSX_QUANT_ROUNDING_H

#include "arch/names.h"

#include <dsx/policy.h>

/* float to fp16, to nearest, ties to even; beyond its range the greatest finite one. */
uint16_t dsx__to_half(float x);

/* A group of n weights as small integers: element i is d * q[i] + m. The range that the integers cover
 * always includes 0, so that no group, however far from 0, has a zero point out of range; d is an fp16
 * number, and never 0 unless all x are; NaN where one is NaN or infinite.
 *  w8  q in [-127, 127], m = 0
 *  w4  q in [0, 15], m = -d * zero with zero in [0, 15]: 0 is hit exactly */
void dsx__group_w8(const float *x, uint32_t n, int8_t *q, float *d, float *m);
void dsx__group_w4(const float *x, uint32_t n, int8_t *q, float *d, float *m);

/* FP8 E4M3 (Micikevicius et al. 2022, arXiv 2209.05433): sign, 4 bits of exponent, 3 of mantissa, no
 * infinity; the greatest number is 448. To nearest, ties to even, saturating; NaN stays NaN (0x7f). */
uint8_t dsx__to_fp8(float x);
float dsx__from_fp8(uint8_t code);

/* Walsh-Hadamard transform of n = 2^k numbers, divided by sqrt(n): its own inverse. Spreads outliers over a
 * group. */
void dsx__hadamard(float *x, uint32_t n);

/* ---- rows of a map's input, and the weights they meet */

/* x[i] is about scale * q[i], to nearest, ties to even; rows: DSX_ROWS_* of int8 or int4. Returns scale: 0
 * for a row of zeros, NaN for one that holds NaN or infinity. */
float dsx__round_row(const float *x, uint64_t n, int rows, float limit, int8_t *q);

/* The row as it is after rounding, scale * q[i]; rows: DSX_ROWS_* but FLOAT. With a Hadamard matrix it is
 * turned, rounded and turned back, as weights are: their products are those of what was turned. */
void dsx__round_values(float *x, uint64_t n, int rows, float limit, int8_t *q);

/* Rows [from, from + n) of a part as floats. */
void dsx__rows_read(const dsx__part *part, uint64_t from, uint64_t n, float *out);
/* The same as the format keeps them; from is a multiple of DSX__SQUARE, and n as much, or what is left. */
void dsx__weights_read(const dsx__part *part, const dsx_format *f, uint64_t from, uint64_t n, float *out);

/* Some weights of a row that share a scale: element i is d * q[i] + m, with FP8 d * dsx__from_fp8(q[i]). A
 * scale of FP8 is NaN where a weight is NaN or infinite: no code is NaN. */
#define DSX__MAX_GROUP 128u
typedef struct dsx__group {
    uint32_t n;
    float d, m;
    int8_t q[DSX__MAX_GROUP];
} dsx__group;

/* Rounds rows * columns numbers as W8, W4 or FP8, and gives every group to put; its first number is
 * [row][at]. With squares of FP8 the rows are those of one row of squares: 128 but for the last. */
#define DSX__SQUARE 128u
void dsx__round_weights(const dsx_format *f, const float *w, uint64_t rows, uint64_t columns,
                        void (*put)(void *context, uint64_t row, uint64_t at, const dsx__group *g),
                        void *context);

#endif
