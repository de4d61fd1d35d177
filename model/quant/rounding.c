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
    return (int8_t)(x < low ? low : x > high ? high : x);
}

static float greatest(const float *x, uint32_t n) {
    float max = 0;

    for (uint32_t i = 0; i < n; i++) max = fmaxf(max, fabsf(x[i]));
    return max;
}

void dsx__group_w8(const float *x, uint32_t n, int8_t *q, float *d, float *m) {
    *d = scale_of(greatest(x, n) / 127);
    *m = 0;
    for (uint32_t i = 0; i < n; i++) q[i] = *d > 0 ? nearest(x[i] / *d, -127, 127) : 0;
}

void dsx__group_w4(const float *x, uint32_t n, int8_t *q, float *d, float *m) {
    float low = 0, high = 0, zero;

    for (uint32_t i = 0; i < n; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    *d = scale_of((high - low) / 15);
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

float dsx__to_int8(const float *x, uint32_t n, int8_t *q) {
    float scale = greatest(x, n) / 127;

    for (uint32_t i = 0; i < n; i++) q[i] = scale > 0 ? nearest(x[i] / scale, -127, 127) : 0;
    return scale;
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
