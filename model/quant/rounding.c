/* SPDX-License-Identifier: MIT */
/* The nearest numbers of each format, found by arithmetic. */
#include "quant/rounding.h"

#include "quant/blocks.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float x) {
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

uint16_t dsx__to_half(float x) {
    float a = fabsf(x);
    uint32_t sign = bits_of(x) >> 16 & 0x8000, bits;

    if (isnan(x)) return 0x7e00;
    if (a > 65504) return (uint16_t)(sign | 0x7bff);
    if (a < 0x1p-14f) return (uint16_t)(sign | (uint32_t)lrintf(a * 0x1p24f));
    bits = bits_of(a);
    bits += 0xfff + (bits >> 13 & 1);
    return (uint16_t)(sign | ((bits >> 13) - (112u << 10)));
}

/* The fp16 number nearest to d, but none that is 0 where d is not. */
static float scale_of(float d) {
    float half = dsx__half(dsx__to_half(d));

    return d > 0 && half == 0 ? 0x1p-24f : half;
}

static int8_t nearest(float x, float low, float high) {
    x = nearbyintf(x);
    return (int8_t)(x > high ? high : x >= low ? x : low);
}

/* The greatest |x|; NaN where there is NaN or infinity. */
static float greatest_finite(const float *x, uint64_t n) {
    uint32_t most = 0;
    float max;

    for (uint64_t i = 0; i < n; i++) {
        uint32_t bits = bits_of(x[i]) & 0x7fffffff;

        most = bits > most ? bits : most;
    }
    memcpy(&max, &most, sizeof max);
    return isfinite(max) ? max : NAN;
}

void dsx__group_w8(const float *x, uint32_t n, int8_t *q, float *d, float *m) {
    *d = scale_of(greatest_finite(x, n) / 127);
    *m = 0;
    for (uint32_t i = 0; i < n; i++) q[i] = *d > 0 ? nearest(x[i] / *d, -127, 127) : 0;
}

void dsx__group_w4(const float *x, uint32_t n, int8_t *q, float *d, float *m) {
    float low = 0, high = 0, zero;

    for (uint32_t i = 0; i < n; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    *d = isnan(greatest_finite(x, n)) ? NAN : scale_of((high - low) / 15);
    zero = *d > 0 ? nearest(-low / *d, 0, 15) : 0;
    *m = -*d * zero;
    for (uint32_t i = 0; i < n; i++) q[i] = *d > 0 ? nearest(x[i] / *d + zero, 0, 15) : 0;
}

float dsx__from_fp8(uint8_t code) {
    int exponent = code >> 3 & 15, mantissa = code & 7;
    float x = exponent > 0 ? ldexpf((float)(8 + mantissa), exponent - 10) : ldexpf((float)mantissa, -9);

    if ((code & 0x7f) == 0x7f) return NAN;
    return code & 0x80 ? -x : x;
}

uint8_t dsx__to_fp8(float x) {
    uint32_t sign = bits_of(x) >> 24 & 0x80;
    float a = fabsf(x);
    int exponent;

    if (isnan(x)) return 0x7f;
    if (a >= 448) return (uint8_t)(sign | 0x7e);
    if (a < 0x1p-6f) return (uint8_t)(sign | (uint32_t)lrintf(a * 0x1p9f)); /* 8: the least normal number */
    (void)frexpf(a, &exponent); /* a in [2^(exponent - 1), 2^exponent) */
    /* mantissa with its leading one, 8 to 16; the carry of 16 goes to the exponent */
    return (uint8_t)(sign | ((uint32_t)(exponent + 5) * 8 + (uint32_t)lrintf(ldexpf(a, 4 - exponent))));
}

void dsx__hadamard(float *x, uint32_t n) {
    float factor = 1 / sqrtf((float)n);

    for (uint32_t step = 1; step < n; step *= 2)
        for (uint32_t i = 0; i < n; i += 2 * step)
            for (uint32_t k = i; k < i + step; k++) {
                float a = x[k], b = x[k + step];

                x[k] = a + b;
                x[k + step] = a - b;
            }
    for (uint32_t i = 0; i < n; i++) x[i] *= factor;
}

/* ---- rows of maps */

/* Blocks of the greatest power of two that divides n. */
static void turn(float *x, uint64_t n) {
    uint32_t block = (uint32_t)(n & (~n + 1));

    for (uint64_t i = 0; i < n; i += block) dsx__hadamard(x + i, block);
}

float dsx__round_row(const float *x, uint64_t n, int rows, float limit, int8_t *q) {
    float most = rows == DSX_ROWS_INT8 || rows == DSX_ROWS_INT8_FIXED ? 127.0f : 7.0f;
    float greatest = greatest_finite(x, n), by;
    const float magic =
        12582912.0f; /* 1.5 * 2^23: the lowest bits of a sum are the whole number nearest to x */

    if (limit > 0 && !isnan(greatest)) greatest = limit;
    by = greatest > 0 ? most / greatest : 0;
    for (uint64_t i = 0; i < n; i++) {
        float y = x[i] * by;

        y = y < -most ? -most : y > most ? most : y;
        q[i] = (int8_t)(uint8_t)bits_of(y + magic); /* of NaN: 0 */
    }
    return greatest / most;
}

void dsx__round_values(float *x, uint64_t n, int rows, float limit, int8_t *q) {
    float scale;

    if (rows == DSX_ROWS_INT4_HADAMARD) turn(x, n);
    scale = dsx__round_row(x, n, rows, limit, q);
    for (uint64_t i = 0; i < n; i++) x[i] = scale * (float)q[i];
    if (rows == DSX_ROWS_INT4_HADAMARD) turn(x, n);
}

/* ---- weights of maps */

/* The scale of a rectangle of FP8. */
static float fp8_scale(const float *w, uint64_t rows, uint64_t n, uint64_t stride) {
    float most = 0;

    for (uint64_t i = 0; i < rows && !isnan(most); i++) {
        float of_row = greatest_finite(w + i * stride, n);

        most = of_row <= most ? most : of_row;
    }
    return most / 448;
}

static void fp8_group(const float *w, dsx__group *g) {
    g->m = 0;
    for (uint32_t i = 0; i < g->n; i++) g->q[i] = g->d > 0 ? (int8_t)dsx__to_fp8(w[i] / g->d) : 0;
}

void dsx__round_weights(const dsx_format *f, const float *w, uint64_t rows, uint64_t columns,
                        void (*put)(void *context, uint64_t row, uint64_t at, const dsx__group *g),
                        void *context) {
    bool fp8 = f->weights == DSX_WEIGHTS_FP8, square = fp8 && f->group > 0;
    uint64_t step = fp8 ? DSX__MAX_GROUP : f->group, height = square ? rows : 1;
    dsx__group g = {0};

    for (uint64_t top = 0; top < rows; top += height)
        for (uint64_t at = 0; at < columns; at += step) {
            g.n = columns - at < step ? (uint32_t)(columns - at) : (uint32_t)step;
            if (square)
                g.d = fp8_scale(w + at, rows, g.n, columns);
            else if (fp8 && at == 0)
                g.d = fp8_scale(w + top * columns, 1, columns, columns);
            for (uint64_t i = top; i < top + height; i++) {
                const float *from = w + i * columns + at;

                if (fp8)
                    fp8_group(from, &g);
                else
                    (f->weights == DSX_WEIGHTS_W8 ? dsx__group_w8 : dsx__group_w4)(from, g.n, g.q, &g.d,
                                                                                   &g.m);
                put(context, i, at, &g);
            }
        }
}

typedef struct in_place {
    const dsx_format *f;
    uint64_t columns;
    float *w;
} in_place;

static void put_values(void *context, uint64_t row, uint64_t at, const dsx__group *g) {
    const in_place *p = context;

    for (uint32_t i = 0; i < g->n; i++) {
        float q = p->f->weights == DSX_WEIGHTS_FP8 ? dsx__from_fp8((uint8_t)g->q[i]) : (float)g->q[i];

        p->w[row * p->columns + at + i] = fmaf(g->d, q, g->m);
    }
}

void dsx__rows_read(const dsx__part *part, uint64_t from, uint64_t n, float *out) {
    for (uint64_t i = 0; i < n; i++)
        dsx__part_read(part, from + i, 0, part->columns, out + i * part->columns);
}

void dsx__weights_read(const dsx__part *part, const dsx_format *f, uint64_t from, uint64_t n, float *out) {
    bool turned = f->rows == DSX_ROWS_INT4_HADAMARD;
    uint64_t columns = part->columns;
    in_place p = {f, columns, out};

    dsx__rows_read(part, from, n, out);
    for (uint64_t i = 0; i < n && turned; i++) turn(out + i * columns, columns);
    if (f->weights >= DSX_WEIGHTS_W8) dsx__round_weights(f, out, n, columns, put_values, &p);
    for (uint64_t i = 0; i < n && turned; i++) turn(out + i * columns, columns);
}
