/* SPDX-License-Identifier: MIT */
/* Keys and values of a page in few bits. A head of a layer has a part for its keys and one for its values; a
 * token's row of a part is rounded by itself. Of keys their mean over the page is taken away first, for most of
 * a key is the same in all of them (Zhang et al. 2024). Numbers lie as in the page, keys [dim][64] and values
 * [64][dim]:
 *
 *   scales   64 d as fp16, one of each token
 *   least    int4: 64 m as fp16; int8: none, m = 0
 *   mean     keys: dim c as fp16; values: none, c = 0
 *   numbers  q; int8: a byte each; int4: token t < 32 has the low bits of a byte, token t + 32 the high bits
 *
 * and stand for fma(d, q, m + c). */
#ifndef DSX_QUANT_KV_H
#define DSX_QUANT_KV_H

#include "backend.h"

#define DSX__KV_MAX_DIM DSX__MAX_HEAD /* of a key or value */

typedef struct dsx__kv_part {
    bool four; /* int4 */
    uint32_t dim;
    uint16_t *d, *m, *mean; /* mean: NULL: it is of values */
    uint8_t *q;
} dsx__kv_part;

dsx__kv_part dsx__kv_part_of(const dsx__kv_shape *s, dsx__kv_format format, uint8_t *packed, uint32_t layer,
                             uint32_t head, bool keys);
/* Bytes of a page's parts. */
size_t dsx__kv_packed_bytes(const dsx__kv_shape *s, dsx__kv_format format);

/* Pages that stay as they are before the one that is read, for dsx_session_options.kv_recent. */
uint64_t dsx__kv_recent(uint64_t tokens);

/* The mean of dimension i of 64 keys: before all rows. */
void dsx__kv_pack_mean(const dsx__kv_part *p, uint32_t i, const float *keys);
/* Token t of a part; int4: of tokens t and t + 32 that with the lower number comes first. */
void dsx__kv_pack_row(const dsx__kv_part *p, uint32_t t, const float *row);
float dsx__kv_number(const dsx__kv_part *p, uint32_t t, uint32_t i);

#endif
