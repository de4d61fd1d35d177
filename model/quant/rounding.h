/* SPDX-License-Identifier: MIT */
/* Numbers rounded to few bits: groups of weights (W8, W4), FP8, rows of activations, keys and values. */
#ifndef DSX_QUANT_ROUNDING_H
#define DSX_QUANT_ROUNDING_H

#include <stdint.h>

/* float to fp16, to nearest, ties to even; beyond its range the greatest finite one. */
uint16_t dsx__to_half(float x);

/* A group of n weights as small integers: element i is d * q[i] + m. The range that the integers cover
 * always includes 0, so
 * that no group, however far from 0, has a zero point out of range; d is an fp16 number, and never 0
 * unless all x are.
 *  w8  q in [-127, 127], m = 0
 *  w4  q in [0, 15], m = -d * zero with zero in [0, 15]: 0 is hit exactly */
void dsx__group_w8(const float *x, uint32_t n, int8_t *q, float *d, float *m);
void dsx__group_w4(const float *x, uint32_t n, int8_t *q, float *d, float *m);

/* FP8 E4M3 (Micikevicius et al. 2022, arXiv 2209.05433): sign, 4 bits of exponent, 3 of mantissa, no
 * infinity; the greatest number is 448. To nearest, ties to even, saturating; NaN stays NaN (0x7f). */
uint8_t dsx__to_fp8(float x);
float dsx__from_fp8(uint8_t code);

/* n numbers to int8, as one group: x[i] is about scale * q[i], q in [-127, 127], to nearest, ties to even.
 * For rows of activations, and for heads of keys and values. Returns scale, 0 for a row of zeros. */
float dsx__to_int8(const float *x, uint32_t n, int8_t *q);

/* Walsh-Hadamard transform of n = 2^k numbers, divided by sqrt(n): its own inverse. Spreads outliers over a
 * group. */
void dsx__hadamard(float *x, uint32_t n);

#endif
