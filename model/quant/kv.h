/* SPDX-License-Identifier: MIT */
/* Keys and values of a page in few bits. A head of a layer has a part for its keys and one for its values;
 * a part holds
 * DSX__PAGE rows, each rounded by itself:
 *
 *   int8  64 scales d as fp16; 64 rows of int8 q; element = d * q
 *   int4  64 scales d, 64 least values m as fp16; 64 rows of two elements a byte, the first in the low
 *   bits; d * q + m */
#ifndef DSX_QUANT_KV_H
#define DSX_QUANT_KV_H

#include "backend.h"

#define DSX__KV_MAX_DIM DSX__MAX_HEAD /* of a key or value */

/* Bytes of a part, of a head's two parts in all layers of a page, and where a head's parts begin. */
size_t dsx__kv_part_bytes(dsx__kv_format format, uint32_t dim);
size_t dsx__kv_packed_bytes(const dsx__kv_shape *s, dsx__kv_format format);
uint8_t *dsx__kv_head(const dsx__kv_shape *s, dsx__kv_format format, uint8_t *packed, uint32_t layer,
                      uint32_t head);

/* Pages that stay as they are before the one that is read, for dsx_session_options.kv_recent. */
uint64_t dsx__kv_recent(uint64_t tokens);

/* Row t of a part; dim is even. */
void dsx__kv_pack_row(dsx__kv_format format, const float *row, uint32_t dim, uint32_t t, uint8_t *part);
void dsx__kv_unpack_row(dsx__kv_format format, const uint8_t *part, uint32_t dim, uint32_t t, float *row);

#endif
