/* SPDX-License-Identifier: MIT */
/* The kernels in plain C: what all others must equal bit for bit. */
#include "cpu/cpu.h"
#include "quant/blocks.h"

#include <math.h>
#include <string.h>

#define NAME   "scalar"
#define SUFFIX scalar
#define TARGET
#define TILE_ROWS    1
#define TILE_VECTORS 1
#define DOT_TARGET
#define DOT_ROWS 1
#define DOT_BIAS 0

typedef struct V {
    float f[16];
} V;
typedef struct I {
    uint32_t u[16];
} I;

#define EACH(type, expression)                                                                               \
    do {                                                                                                     \
        type each;                                                                                           \
        for (int i = 0; i < 16; i++) each.f[i] = (expression);                                               \
        return each;                                                                                         \
    } while (0)

static inline V v_load(const float *p) {
    EACH(V, p[i]);
}
static inline V v_load_n(const float *p, size_t n) {
    EACH(V, (size_t)i < n ? p[i] : 0.0f);
}
static inline void v_store(float *p, V v) {
    memcpy(p, v.f, sizeof v.f);
}
static inline void v_store_n(float *p, V v, size_t n) {
    memcpy(p, v.f, n * sizeof *p);
}
static inline V v_set(float x) {
    EACH(V, x);
}
static inline V v_add(V a, V b) {
    EACH(V, a.f[i] + b.f[i]);
}
static inline V v_sub(V a, V b) {
    EACH(V, a.f[i] - b.f[i]);
}
static inline V v_mul(V a, V b) {
    EACH(V, a.f[i] * b.f[i]);
}
static inline V v_div(V a, V b) {
    EACH(V, a.f[i] / b.f[i]);
}
static inline V v_max(V a, V b) {
    EACH(V, a.f[i] > b.f[i] ? a.f[i] : b.f[i]);
}
static inline V v_fma(V a, V b, V c) {
    EACH(V, fmaf(a.f[i], b.f[i], c.f[i]));
}
static inline V v_less(V a, V b, V x, V y) {
    EACH(V, a.f[i] < b.f[i] ? x.f[i] : y.f[i]);
}

static inline float of_bits(uint32_t bits) {
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t to_bits(float f) {
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline V v_half(const uint16_t *p) {
    EACH(V, dsx__half(p[i]));
}
static inline V v_bfloat(const uint16_t *p) {
    EACH(V, of_bits((uint32_t)p[i] << 16));
}
static inline V v_shift_in(V x, V by) {
    EACH(V, of_bits(to_bits(x.f[i]) + (to_bits(by.f[i]) << 23)));
}

static inline I i_load(const uint32_t *p) {
    I x;

    memcpy(x.u, p, sizeof x.u);
    return x;
}
static inline V i_nibble(I x, int at) {
    EACH(V, (float)(x.u[i] >> at & 15));
}
static inline V i_byte(I x, int at) {
    EACH(V, (float)(int8_t)(uint8_t)(x.u[i] >> at));
}
static inline V i_fp8(I x, int at) {
    EACH(V, of_bits((x.u[i] >> at & 0x80) << 24 | (x.u[i] >> at & 0x7f) << 20) * 0x1p120f);
}
static inline I i_widen(const uint8_t *p) {
    I x;

    for (int i = 0; i < 16; i++) x.u[i] = p[i];
    return x;
}

/* ---- integers */

#define EACH_INT(expression)                                                                                 \
    do {                                                                                                     \
        I each;                                                                                              \
        for (int i = 0; i < 16; i++) each.u[i] = (expression);                                               \
        return each;                                                                                         \
    } while (0)

static inline I i_set(uint32_t x) {
    EACH_INT(x);
}
static inline I i_zero(void) {
    return i_set(0);
}
static inline I i_sub(I a, I b) {
    EACH_INT(a.u[i] - b.u[i]);
}
static inline V i_float(I x) {
    EACH(V, (float)(int32_t)x.u[i]);
}
static inline I i_low(I x) {
    EACH_INT(x.u[i] & 0x0f0f0f0f);
}
static inline I i_high(I x) {
    EACH_INT(x.u[i] >> 4 & 0x0f0f0f0f);
}
static inline int byte_of(uint32_t x, int i) {
    return (int8_t)(uint8_t)(x >> 8 * i);
}
static inline I i_dot8(I sum, I w, I x) {
    EACH_INT(sum.u[i] +
             (uint32_t)(byte_of(w.u[i], 0) * byte_of(x.u[i], 0) + byte_of(w.u[i], 1) * byte_of(x.u[i], 1) +
                        byte_of(w.u[i], 2) * byte_of(x.u[i], 2) + byte_of(w.u[i], 3) * byte_of(x.u[i], 3)));
}
static inline I i_dot4(I sum, I w, I x) {
    return i_dot8(sum, w, x);
}

#include "cpu/kernels.h"
