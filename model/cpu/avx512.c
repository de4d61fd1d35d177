/* SPDX-License-Identifier: MIT */
/* The kernels for AVX-512 (F, BW, DQ, VL). */
#include "cpu/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define NAME         "avx512"
#define SUFFIX       avx512
#define TARGET       __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#define TILE_ROWS    12
#define TILE_VECTORS 2
#define DOT_TARGET   __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,avx512vnni")))
#define DOT_ROWS     12
#define DOT_BIAS     128
#define ONE          static inline __attribute__((always_inline)) TARGET

typedef __m512 V;
/* Not __m512i: GCC 12 keeps arrays of it in memory where their elements are converted to be worked on. */
typedef int I __attribute__((vector_size(64)));
#define M(x) ((__m512i)(x))

ONE V v_load(const float *p) {
    return _mm512_loadu_ps(p);
}
ONE V v_load_n(const float *p, size_t n) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
ONE void v_store(float *p, V v) {
    _mm512_storeu_ps(p, v);
}
ONE void v_store_n(float *p, V v, size_t n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v);
}
ONE V v_set(float x) {
    return _mm512_set1_ps(x);
}
ONE V v_add(V a, V b) {
    return _mm512_add_ps(a, b);
}
ONE V v_sub(V a, V b) {
    return _mm512_sub_ps(a, b);
}
ONE V v_mul(V a, V b) {
    return _mm512_mul_ps(a, b);
}
ONE V v_div(V a, V b) {
    return _mm512_div_ps(a, b);
}
ONE V v_max(V a, V b) {
    return _mm512_max_ps(a, b);
}
ONE V v_fma(V a, V b, V c) {
    return _mm512_fmadd_ps(a, b, c);
}
ONE V v_less(V a, V b, V x, V y) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}
ONE V v_half(const uint16_t *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
ONE V v_bfloat(const uint16_t *p) {
    __m256i h = _mm256_loadu_si256((const __m256i *)(const void *)p);

    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
ONE V v_shift_in(V x, V by) {
    __m512i n = _mm512_slli_epi32(_mm512_castps_si512(by), 23);

    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), n));
}
ONE I i_load(const uint32_t *p) {
    return (I)_mm512_loadu_si512(p);
}
/* A table of 16 floats is looked up by the lowest four bits of each lane. */
ONE V i_nibble(I x, int at) {
    const V numbers = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

    return _mm512_permutexvar_ps(_mm512_srli_epi32(M(x), (unsigned)at), numbers);
}
ONE V i_byte(I x, int at) {
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(M(x), (unsigned)(24 - at)), 24));
}
ONE V i_fp8(I x, int at) {
    __m512i bits = _mm512_and_si512(_mm512_srai_epi32(_mm512_slli_epi32(M(x), (unsigned)(24 - at)), 4),
                                    _mm512_set1_epi32((int)0x87f00000));

    return _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0x1p120f));
}
ONE I i_widen(const uint8_t *p) {
    return (I)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}

ONE I i_set(uint32_t x) {
    return (I)_mm512_set1_epi32((int)x);
}
ONE I i_zero(void) {
    return (I)_mm512_setzero_si512();
}
ONE I i_sub(I x, I y) {
    return (I)_mm512_sub_epi32(M(x), M(y));
}
ONE V i_float(I x) {
    return _mm512_cvtepi32_ps(M(x));
}
ONE I i_low(I x) {
    return (I)_mm512_and_si512(M(x), M(i_set(0x0f0f0f0f)));
}
ONE I i_high(I x) {
    return i_low((I)_mm512_srli_epi32(M(x), 4));
}
static inline __attribute__((always_inline)) DOT_TARGET I i_dot4(I sum, I w, I x) {
    return (I)_mm512_dpbusd_epi32(M(sum), M(w), M(x));
}
/* w + 128 is unsigned. */
static inline __attribute__((always_inline)) DOT_TARGET I i_dot8(I sum, I w, I x) {
    return (I)_mm512_dpbusd_epi32(M(sum), _mm512_xor_si512(M(w), M(i_set(0x80808080))), M(x));
}

#include "cpu/kernels.h"
#endif
