/* SPDX-License-Identifier: MIT */
/* Rounding of keys and values: int8 by the greatest of a row, int4 between its least and its greatest. */
#include "quant/kv.h"

#include "quant/blocks.h"
#include "quant/rounding.h"

#include <math.h>
#include <string.h>

/* Numbers of fp16 before the integers. */
static size_t n_halves(const dsx__kv_shape *s, dsx__kv_format format, bool keys) {
    return (format == DSX__KV_INT4 ? 2 : 1) * DSX__PAGE + (keys ? s->key_dim : 0);
}

static size_t part_bytes(const dsx__kv_shape *s, dsx__kv_format format, bool keys) {
    size_t n = (size_t)DSX__PAGE * (keys ? s->key_dim : s->value_dim);

    return 2 * n_halves(s, format, keys) + (format == DSX__KV_INT4 ? n / 2 : n);
}

static size_t head_bytes(const dsx__kv_shape *s, dsx__kv_format format) {
    return part_bytes(s, format, true) + part_bytes(s, format, false);
}

size_t dsx__kv_packed_bytes(const dsx__kv_shape *s, dsx__kv_format format) {
    return head_bytes(s, format) * s->n_kv_heads * s->n_layers;
}

dsx__kv_part dsx__kv_part_of(const dsx__kv_shape *s, dsx__kv_format format, uint8_t *packed, uint32_t layer,
                             uint32_t head, bool keys) {
    uint8_t *at = packed + head_bytes(s, format) * ((size_t)layer * s->n_kv_heads + head) +
                  (keys ? 0 : part_bytes(s, format, true));
    uint16_t *d = (uint16_t *)(void *)at, *end = d + n_halves(s, format, keys);

    return (dsx__kv_part){.four = format == DSX__KV_INT4,
                          .dim = keys ? s->key_dim : s->value_dim,
                          .d = d,
                          .m = d + DSX__PAGE,
                          .mean = keys ? end - s->key_dim : NULL,
                          .q = (uint8_t *)end};
}

uint64_t dsx__kv_recent(uint64_t tokens) {
    return ((tokens > 0 ? tokens : 128) + DSX__PAGE - 1) / DSX__PAGE;
}

/* The byte of a number. */
static uint8_t *byte_of(const dsx__kv_part *p, uint32_t t, uint32_t i) {
    size_t rows = p->four ? DSX__PAGE / 2 : DSX__PAGE, row = t % rows;

    return p->q + (p->mean != NULL ? i * rows + row : row * p->dim + i);
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

void dsx__kv_pack_mean(const dsx__kv_part *p, uint32_t i, const float *keys) {
    double sum = 0;

    for (uint32_t t = 0; t < DSX__PAGE; t++) sum += (double)keys[t];
    p->mean[i] = dsx__to_half((float)(sum / DSX__PAGE));
}

void dsx__kv_pack_row(const dsx__kv_part *p, uint32_t t, const float *row) {
    float rest[DSX__KV_MAX_DIM];

    for (uint32_t i = 0; p->mean != NULL && i < p->dim; i++) rest[i] = row[i] - dsx__half(p->mean[i]);
    (p->four ? pack_int4 : pack_int8)(p, t, p->mean != NULL ? rest : row);
}

float dsx__kv_number(const dsx__kv_part *p, uint32_t t, uint32_t i) {
    uint8_t byte = *byte_of(p, t, i);
    int q = !p->four ? (int8_t)byte : t < DSX__PAGE / 2 ? byte & 15 : byte >> 4;
    float m = p->four ? dsx__half(p->m[t]) : 0, mean = p->mean != NULL ? dsx__half(p->mean[i]) : 0;

    return fmaf(dsx__half(p->d[t]), (float)q, m + mean);
}
