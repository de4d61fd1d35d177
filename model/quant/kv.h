/* SPDX-License-Identifier: MIT */
/* Keys and values of a page in few bits. A head of a layer has a part for its keys and one for its values; a
 * token's row of a part is rounded by itself. Numbers lie as in the page, keys [dim][64] and values [64][dim]:
 *
 *   int8  64 scales d as fp16; 64 * dim int8 q; number = d * q
 *   int4  64 scales d, 64 least numbers m as fp16; 32 * dim bytes: that of token t < 32 has its q in the low
 *         bits, and that of token t + 32 in the high bits; fma(d, q, m) */
#ifndef DSX_QUANT_KV_H
#define DSX_QUANT_KV_H

#include "backend.h"

#define DSX__KV_MAX_DIM DSX__MAX_HEAD /* of a key or value */

typedef struct dsx__kv_part {
    bool four, is_keys; /* int4; [dim][64] */
    uint32_t dim;
    uint16_t *d, *m;
    uint8_t *q;
} dsx__kv_part;

dsx__kv_part dsx__kv_part_of(const dsx__kv_shape *s, dsx__kv_format format, uint8_t *packed, uint32_t layer,
                             uint32_t head, bool keys);
/* Bytes of a page's parts. */
size_t dsx__kv_packed_bytes(const dsx__kv_shape *s, dsx__kv_format format);

/* Pages that stay as they are before the one that is read, for dsx_session_options.kv_recent. */
uint64_t dsx__kv_recent(uint64_t tokens);

/* Token t of a part; int4: of tokens t and t + 32 that with the lower number comes first. */
void dsx__kv_pack_row(const dsx__kv_part *p, uint32_t t, const float *row);
float dsx__kv_number(const dsx__kv_part *p, uint32_t t, uint32_t i);

#endif
