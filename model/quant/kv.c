/* SPDX-License-Identifier: MIT */
/* Rounding of keys and values: int8 by the greatest of a row, int4 between its least and its greatest. */
#include "quant/kv.h"

#include "quant/blocks.h"
#include "quant/rounding.h"

#include <math.h>
#include <string.h>

static size_t part_bytes(dsx__kv_format format, size_t dim) {
    return format == DSX__KV_INT4 ? 4 * DSX__PAGE + DSX__PAGE / 2 * dim : 2 * DSX__PAGE + DSX__PAGE * dim;
}

static size_t head_bytes(const dsx__kv_shape *s, dsx__kv_format format) {
    return part_bytes(format, s->key_dim) + part_bytes(format, s->value_dim);
}

size_t dsx__kv_packed_bytes(const dsx__kv_shape *s, dsx__kv_format format) {
    return head_bytes(s, format) * s->n_kv_heads * s->n_layers;
}

dsx__kv_part dsx__kv_part_of(const dsx__kv_shape *s, dsx__kv_format format, uint8_t *packed, uint32_t layer,
                             uint32_t head, bool keys) {
    uint8_t *at = packed + head_bytes(s, format) * ((size_t)layer * s->n_kv_heads + head) +
                  (keys ? 0 : part_bytes(format, s->key_dim));
    uint16_t *d = (uint16_t *)(void *)at;
    bool four = format == DSX__KV_INT4;

    return (dsx__kv_part){four, keys,          keys ? s->key_dim : s->value_dim,
                          d,    d + DSX__PAGE, at + (four ? 4 : 2) * DSX__PAGE};
}

uint64_t dsx__kv_recent(uint64_t tokens) {
    return ((tokens > 0 ? tokens : 128) + DSX__PAGE - 1) / DSX__PAGE;
}

/* The byte of a number. */
static uint8_t *byte_of(const dsx__kv_part *p, uint32_t t, uint32_t i) {
    size_t rows = p->four ? DSX__PAGE / 2 : DSX__PAGE, row = t % rows;

    return p->q + (p->is_keys ? i * rows + row : row * p->dim + i);
}

/* Integers of (x - m) / d, to the nearest, from low to high; 0 when d is. */
static void round_row(const float *x, uint32_t n, float d, float m, float low, float high, int8_t *q) {
    const float magic = 12582912.0f; /* 1.5 * 2^23: what is added to it becomes an integer */

    memset(q, 0, n);
    for (uint32_t i = 0; i < n && d > 0; i++) {
        float y = (x[i] - m) / d;

        y = y > low ? y : low;
        y = y < high ? y : high;
        q[i] = (int8_t)(y + magic - magic);
    }
}

static float rounded_half(uint16_t *to, float x) {
    *to = dsx__to_half(x);
    return dsx__half(*to);
}

static void pack_int8(const dsx__kv_part *p, uint32_t t, const float *row) {
    int8_t q[DSX__KV_MAX_DIM];
    float max = 0;

    for (uint32_t i = 0; i < p->dim; i++) max = fabsf(row[i]) > max ? fabsf(row[i]) : max;
    round_row(row, p->dim, rounded_half(&p->d[t], max / 127), 0, -127, 127, q);
    for (uint32_t i = 0; i < p->dim; i++) *byte_of(p, t, i) = (uint8_t)q[i];
}

static void pack_int4(const dsx__kv_part *p, uint32_t t, const float *row) {
    int8_t q[DSX__KV_MAX_DIM];
    float low = INFINITY, high = -INFINITY, d;

    for (uint32_t i = 0; i < p->dim; i++) {
        low = row[i] < low ? row[i] : low;
        high = row[i] > high ? row[i] : high;
    }
    d = rounded_half(&p->d[t], (high - low) / 15);
    round_row(row, p->dim, d, rounded_half(&p->m[t], low), 0, 15, q);
    for (uint32_t i = 0; i < p->dim; i++) {
        uint8_t *to = byte_of(p, t, i);

        *to = (uint8_t)(t < DSX__PAGE / 2 ? q[i] : *to | q[i] << 4);
    }
}

void dsx__kv_pack_row(const dsx__kv_part *p, uint32_t t, const float *row) {
    if (p->four)
        pack_int4(p, t, row);
    else
        pack_int8(p, t, row);
}

float dsx__kv_number(const dsx__kv_part *p, uint32_t t, uint32_t i) {
    uint8_t q = *byte_of(p, t, i);
    float d = dsx__half(p->d[t]);

    if (!p->four) return d * (float)(int8_t)q;
    return fmaf(d, (float)(t < DSX__PAGE / 2 ? q & 15 : q >> 4), dsx__half(p->m[t]));
}
