/* SPDX-License-Identifier: MIT */
/* The kernels for AVX2 with FMA and F16C. */
#include "cpu/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define NAME         "avx2"
#define SUFFIX       avx2
#define TARGET       __attribute__((target("avx2,fma,f16c")))
#define TILE_ROWS    6
#define TILE_VECTORS 1
#define DOT_TARGET   TARGET
#define DOT_ROWS     4
#define DOT_BIAS     0
#define ONE          static inline __attribute__((always_inline)) TARGET

typedef struct V {
    __m256 a, b;
} V;
typedef struct I {
    __m256i a, b;
} I;

#define BOTH(call) ((V){call(x.a, y.a), call(x.b, y.b)})

/* Ones in the first n of eight lanes. */
ONE __m256i first_lanes(size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

ONE V v_load(const float *p) {
    return (V){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
ONE V v_load_n(const float *p, size_t n) {
    __m256 low = _mm256_maskload_ps(p, first_lanes(n));

    return (V){low, n > 8 ? _mm256_maskload_ps(p + 8, first_lanes(n - 8)) : _mm256_setzero_ps()};
}
ONE void v_store(float *p, V v) {
    _mm256_storeu_ps(p, v.a);
    _mm256_storeu_ps(p + 8, v.b);
}
ONE void v_store_n(float *p, V v, size_t n) {
    _mm256_maskstore_ps(p, first_lanes(n), v.a);
    if (n > 8) _mm256_maskstore_ps(p + 8, first_lanes(n - 8), v.b);
}
ONE V v_set(float x) {
    return (V){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
ONE V v_add(V x, V y) {
    return BOTH(_mm256_add_ps);
}
ONE V v_sub(V x, V y) {
    return BOTH(_mm256_sub_ps);
}
ONE V v_mul(V x, V y) {
    return BOTH(_mm256_mul_ps);
}
ONE V v_div(V x, V y) {
    return BOTH(_mm256_div_ps);
}
ONE V v_max(V x, V y) {
    return BOTH(_mm256_max_ps);
}
ONE V v_fma(V x, V y, V z) {
    return (V){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
ONE V v_less(V x, V y, V yes, V no) {
    return (V){_mm256_blendv_ps(no.a, yes.a, _mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ)),
               _mm256_blendv_ps(no.b, yes.b, _mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ))};
}
ONE __m128i load8(const uint16_t *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
ONE V v_half(const uint16_t *p) {
    return (V){_mm256_cvtph_ps(load8(p)), _mm256_cvtph_ps(load8(p + 8))};
}
ONE __m256 widen(__m128i h) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}
ONE V v_bfloat(const uint16_t *p) {
    return (V){widen(load8(p)), widen(load8(p + 8))};
}
ONE __m256 shift_in(__m256 x, __m256 by) {
    __m256i n = _mm256_slli_epi32(_mm256_castps_si256(by), 23);

    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), n));
}
ONE V v_shift_in(V x, V y) {
    return BOTH(shift_in);
}
ONE I i_load(const uint32_t *p) {
    return (I){_mm256_loadu_si256((const __m256i *)(const void *)p),
               _mm256_loadu_si256((const __m256i *)(const void *)(p + 8))};
}
ONE __m256 nibble(__m256i x, int at) {
    return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(x, at), _mm256_set1_epi32(15)));
}
ONE V i_nibble(I x, int at) {
    return (V){nibble(x.a, at), nibble(x.b, at)};
}
ONE __m256 byte(__m256i x, int at) {
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(x, 24 - at), 24));
}
ONE V i_byte(I x, int at) {
    return (V){byte(x.a, at), byte(x.b, at)};
}
ONE __m256 fp8(__m256i x, int at) {
    __m256i bits = _mm256_and_si256(_mm256_srai_epi32(_mm256_slli_epi32(x, 24 - at), 4),
                                    _mm256_set1_epi32((int)0x87f00000));

    return _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0x1p120f));
}
ONE V i_fp8(I x, int at) {
    return (V){fp8(x.a, at), fp8(x.b, at)};
}
ONE __m256i widen8(const uint8_t *p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
ONE I i_widen(const uint8_t *p) {
    return (I){widen8(p), widen8(p + 8)};
}

#define BOTH_INTS(call) ((I){call(x.a, y.a), call(x.b, y.b)})

ONE I i_set(uint32_t x) {
    return (I){_mm256_set1_epi32((int)x), _mm256_set1_epi32((int)x)};
}
ONE I i_zero(void) {
    return i_set(0);
}
ONE I i_sub(I x, I y) {
    return BOTH_INTS(_mm256_sub_epi32);
}
ONE V i_float(I x) {
    return (V){_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)};
}
ONE I i_low(I x) {
    I y = i_set(0x0f0f0f0f);

    return BOTH_INTS(_mm256_and_si256);
}
ONE I i_high(I x) {
    return i_low((I){_mm256_srli_epi32(x.a, 4), _mm256_srli_epi32(x.b, 4)});
}
/* Products of two bytes, added as int16: at most 2 * 128 * 127, which fits. */
ONE __m256i dot4(__m256i sum, __m256i w, __m256i x) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1)));
}
ONE I i_dot4(I sum, I w, I x) {
    return (I){dot4(sum.a, w.a, x.a), dot4(sum.b, w.b, x.b)};
}
/* w as its magnitude, at most 128 and so unsigned; x takes its sign. */
ONE __m256i dot8(__m256i sum, __m256i w, __m256i x) {
    return dot4(sum, _mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
}
ONE I i_dot8(I sum, I w, I x) {
    return (I){dot8(sum.a, w.a, x.a), dot8(sum.b, w.b, x.b)};
}

#include "cpu/kernels.h"
#endif
