/* SPDX-License-Identifier: MIT */
/* Rounding of keys and values: int8 by the greatest of a row, int4 between its least and its greatest. */
#include "quant/kv.h"

#include "quant/blocks.h"
#include "quant/rounding.h"

#include <math.h>

size_t dsx__kv_part_bytes(dsx__kv_format format, uint32_t dim) {
    return DSX__PAGE * (format == DSX__KV_INT4 ? 4 + (size_t)dim / 2 : 2 + (size_t)dim);
}

static size_t head_bytes(const dsx__kv_shape *s, dsx__kv_format format) {
    return dsx__kv_part_bytes(format, s->key_dim) + dsx__kv_part_bytes(format, s->value_dim);
}

size_t dsx__kv_packed_bytes(const dsx__kv_shape *s, dsx__kv_format format) {
    return head_bytes(s, format) * s->n_kv_heads * s->n_layers;
}

uint8_t *dsx__kv_head(const dsx__kv_shape *s, dsx__kv_format format, uint8_t *packed, uint32_t layer,
                      uint32_t head) {
    return packed + head_bytes(s, format) * ((size_t)layer * s->n_kv_heads + head);
}

uint64_t dsx__kv_recent(uint64_t tokens) {
    return ((tokens > 0 ? tokens : 128) + DSX__PAGE - 1) / DSX__PAGE;
}

static void put_half(uint8_t *p, float x) {
    uint16_t bits = dsx__to_half(x);

    p[0] = (uint8_t)bits;
    p[1] = (uint8_t)(bits >> 8);
}

static float get_half(const uint8_t *p) {
    return dsx__half((uint16_t)(p[0] | p[1] << 8));
}

static int code(float x, int low, int high) {
    x = nearbyintf(x);
    return x < (float)low ? low : x > (float)high ? high : (int)x;
}

static void pack_int8(const float *row, uint32_t dim, uint8_t *scale, uint8_t *q) {
    float max = 0, d;

    for (uint32_t i = 0; i < dim; i++) max = fmaxf(max, fabsf(row[i]));
    put_half(scale, max / 127);
    d = get_half(scale);
    for (uint32_t i = 0; i < dim; i++) q[i] = (uint8_t)(int8_t)(d > 0 ? code(row[i] / d, -127, 127) : 0);
}

static void pack_int4(const float *row, uint32_t dim, uint8_t *scale, uint8_t *least, uint8_t *q) {
    float low = INFINITY, high = -INFINITY, d, m;

    for (uint32_t i = 0; i < dim; i++) {
        low = fminf(low, row[i]);
        high = fmaxf(high, row[i]);
    }
    put_half(scale, (high - low) / 15);
    put_half(least, low);
    d = get_half(scale);
    m = get_half(least);
    for (uint32_t i = 0; i < dim; i += 2) {
        int first = d > 0 ? code((row[i] - m) / d, 0, 15) : 0,
            second = d > 0 ? code((row[i + 1] - m) / d, 0, 15) : 0;

        q[i / 2] = (uint8_t)(first | second << 4);
    }
}

void dsx__kv_pack_row(dsx__kv_format format, const float *row, uint32_t dim, uint32_t t, uint8_t *part) {
    if (format == DSX__KV_INT8)
        pack_int8(row, dim, part + 2 * t, part + 2 * DSX__PAGE + (size_t)t * dim);
    else
        pack_int4(row, dim, part + 2 * t, part + 2 * (DSX__PAGE + t),
                  part + 4 * DSX__PAGE + (size_t)t * dim / 2);
}

void dsx__kv_unpack_row(dsx__kv_format format, const uint8_t *part, uint32_t dim, uint32_t t, float *row) {
    float d = get_half(part + 2 * t), m;
    const uint8_t *q;

    if (format == DSX__KV_INT8) {
        q = part + 2 * DSX__PAGE + (size_t)t * dim;
        for (uint32_t i = 0; i < dim; i++) row[i] = d * (float)(int8_t)q[i];
        return;
    }
    q = part + 4 * DSX__PAGE + (size_t)t * dim / 2;
    m = get_half(part + 2 * (DSX__PAGE + t));
    for (uint32_t i = 0; i < dim; i++) row[i] = d * (float)(i % 2 ? q[i / 2] >> 4 : q[i / 2] & 15) + m;
}
