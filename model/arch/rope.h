/* SPDX-License-Identifier: MIT */
/* Rotary positions: angles of every scaling scheme, in double. */
#ifndef DSX_ARCH_ROPE_H
#define DSX_ARCH_ROPE_H

#include "arch/config.h"

/* Dimensions of a head that turn. */
uint32_t dsx__rope_dims(const dsx__config *c);

/* cos and sin of positions [first, first + n), shape [n][dims / 2] each, with yarn's factor on both. */
void dsx__rope_table(const dsx__config *c, uint64_t first, size_t n, double *cosine, double *sine);

/* What q.k is multiplied by before the softmax. */
double dsx__attention_scale(const dsx__config *c);

#endif
