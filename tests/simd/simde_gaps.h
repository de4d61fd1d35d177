/* SPDX-License-Identifier: MIT */
/* The instructions that SIMDe 0.7 does not have, in plain C. A masked load touches the bytes of its
 * mask alone, as the instruction does. */
#ifndef DSTOK_TESTS_SIMDE_GAPS_H
#define DSTOK_TESTS_SIMDE_GAPS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline simde__m512i gap_maskz_loadu_epi8(uint64_t mask, const void *from) {
    const uint8_t *p = from;
    uint8_t got[64];
    for (int i = 0; i < 64; i++) got[i] = mask >> i & 1 ? p[i] : 0;
    return simde_mm512_loadu_si512(got);
}

static inline simde__m512i gap_maskz_compress_epi8(uint64_t mask, simde__m512i a) {
    uint8_t all[64], kept[64] = {0};
    size_t n = 0;
    memcpy(all, &a, 64);
    for (int i = 0; i < 64; i++) {
        if (mask >> i & 1) kept[n++] = all[i];
    }
    return simde_mm512_loadu_si512(kept);
}

static inline simde__m512i gap_cvtepu8_epi32(simde__m128i a) {
    uint8_t narrow[16];
    uint32_t wide[16];
    memcpy(narrow, &a, 16);
    for (int i = 0; i < 16; i++) wide[i] = narrow[i];
    return simde_mm512_loadu_si512(wide);
}

static inline uint64_t gap_testn_epi8_mask(simde__m512i a, simde__m512i b) {
    return ~simde_mm512_test_epi8_mask(a, b);
}

static inline simde__m512i gap_i32gather_epi32(simde__m512i at, const void *base, int scale) {
    int32_t places[16];
    uint32_t words[16];
    memcpy(places, &at, 64);
    for (int i = 0; i < 16; i++) memcpy(&words[i], (const uint8_t *)base + (ptrdiff_t)places[i] * scale, 4);
    return simde_mm512_loadu_si512(words);
}

static inline simde__m512i gap_mask_i32gather_epi32(simde__m512i none, uint16_t mask, simde__m512i at,
                                                    const void *base, int scale) {
    int32_t places[16];
    uint32_t words[16];
    memcpy(places, &at, 64);
    memcpy(words, &none, 64);
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1) memcpy(&words[i], (const uint8_t *)base + (ptrdiff_t)places[i] * scale, 4);
    return simde_mm512_loadu_si512(words);
}

static inline simde__m512i gap_alignr_epi32(simde__m512i high, simde__m512i low, int n) {
    uint32_t words[32];
    memcpy(words, &low, 64);
    memcpy(words + 16, &high, 64);
    return simde_mm512_loadu_si512(words + n);
}

static inline void gap_mask_storeu_epi32(void *to, uint16_t mask, simde__m512i a) {
    uint32_t words[16];
    memcpy(words, &a, 64);
    for (int i = 0; i < 16; i++)
        if (mask >> i & 1) memcpy((uint8_t *)to + 4 * i, &words[i], 4);
}

static inline uint16_t gap_mask_cmple_epi32_mask(uint16_t mask, simde__m512i a, simde__m512i b) {
    return (uint16_t)(mask & ~simde_mm512_cmpgt_epi32_mask(a, b));
}

static inline uint64_t gap_pdep_u64(uint64_t bits, uint64_t mask) {
    uint64_t put = 0;
    for (; mask != 0; mask &= mask - 1, bits >>= 1) put |= bits & 1 ? mask & (0 - mask) : 0;
    return put;
}

#define _mm256_zeroupper() ((void)0)
#undef _mm512_maskz_loadu_epi8
#define _mm512_maskz_loadu_epi8 gap_maskz_loadu_epi8
#undef _mm512_maskz_compress_epi8
#define _mm512_maskz_compress_epi8 gap_maskz_compress_epi8
#undef _mm512_cvtepu8_epi32
#define _mm512_cvtepu8_epi32 gap_cvtepu8_epi32
#undef _mm512_testn_epi8_mask
#define _mm512_testn_epi8_mask gap_testn_epi8_mask
#undef _mm512_i32gather_epi32
#define _mm512_i32gather_epi32 gap_i32gather_epi32
#undef _mm512_mask_i32gather_epi32
#define _mm512_mask_i32gather_epi32 gap_mask_i32gather_epi32
#undef _mm512_alignr_epi32
#define _mm512_alignr_epi32 gap_alignr_epi32
#undef _mm512_mask_storeu_epi32
#define _mm512_mask_storeu_epi32 gap_mask_storeu_epi32
#undef _mm512_mask_cmple_epi32_mask
#define _mm512_mask_cmple_epi32_mask gap_mask_cmple_epi32_mask
#undef _pdep_u64
#define _pdep_u64 gap_pdep_u64

#endif
