/* SPDX-License-Identifier: MIT */
/* Blocks of the GGUF formats taken apart: small integers, and a scale and minimum for each group of them. */
#ifndef DSX_QUANT_BLOCKS_H
#define DSX_QUANT_BLOCKS_H

#include "files/tensor.h"

#define DSX__MAX_BLOCK 256u

/* Element i is d * q, or d * q + m where the format has minimums, with d and m of group i / group. d, m and
 * d * q + m are float; in every format but Q6_K d * q is exact, so that a fused multiply-add gives the same
 * number. */
typedef struct dsx__block {
    int8_t q[DSX__MAX_BLOCK];
    float d[DSX__MAX_BLOCK / 16], m[DSX__MAX_BLOCK / 16];
} dsx__block;

typedef struct dsx__block_info {
    uint32_t group; /* elements that share d and m; 0: not a block format */
    bool has_min;
    int lowest, highest; /* q */
    bool half_scales;    /* a block is one group, and starts with d (and m) as fp16 */
} dsx__block_info;
extern const dsx__block_info dsx__blocks[DSX__N_FORMATS];

void dsx__block_split(dsx__format format, const uint8_t *data, dsx__block *out);

/* fp16 to float, exactly. */
float dsx__half(uint16_t bits);

#endif
