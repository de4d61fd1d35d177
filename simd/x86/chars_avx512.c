/* SPDX-License-Identifier: MIT */
/* AVX-512: begins of characters and lines. Places in other units are counted as with AVX2. */
#include "../tiers.h"

#if DSTOK__HAVE_X86
#include "../utf8_pairs.h"

#ifndef DSTOK__AVX512_ELSEWHERE /* a test brings the same instructions as plain code */
#include <immintrin.h>
#define AVX512                                                                                               \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,pclmul,popcnt")))
#endif
#define INLINE      static inline __attribute__((always_inline)) AVX512
#define RANK_INLINE INLINE
#define RANK_FILL_ONLY
#include "../ranks.h"

INLINE __m512i load(const uint8_t *p) {
    return _mm512_loadu_si512(p);
}
INLINE __m512i bytes(int c) {
    return _mm512_set1_epi8((char)c);
}
INLINE __m512i four_times(const uint8_t table[16]) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)table));
}

static const uint8_t one_before[64] = {
    63,  64,  65,  66,  67,  68,  69,  70,  71,  72,  73,  74,  75,  76,  77,  78,
    79,  80,  81,  82,  83,  84,  85,  86,  87,  88,  89,  90,  91,  92,  93,  94,
    95,  96,  97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110,
    111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126,
};

/* Bits where a tail may not follow the byte before it. `before` holds the block before c. */
INLINE uint64_t unfit(__m512i c, __m512i before) {
    const __m512i half = bytes(0x0F);
    __m512i first = _mm512_permutex2var_epi8(before, load(one_before), c);
    __m512i by_high = _mm512_and_si512(_mm512_srli_epi16(first, 4), half);
    __m512i by_low = _mm512_shuffle_epi8(four_times(dstok__utf8_first_low), _mm512_and_si512(first, half));
    __m512i second = _mm512_shuffle_epi8(four_times(dstok__utf8_second_high),
                                         _mm512_and_si512(_mm512_srli_epi16(c, 4), half));
    __m512i wrong =
        _mm512_and_si512(_mm512_shuffle_epi8(four_times(dstok__utf8_first_high), by_high), by_low);
    wrong = _mm512_and_si512(wrong, bytes(U8_LONG2 | U8_LONG3 | U8_LONG4 | U8_SURROGATE | U8_ABOVE));
    return _mm512_test_epi8_mask(wrong, second);
}

typedef struct state {
    __m512i last; /* the block before */
    uint64_t lead;
    dstok__char_carry carry;
} state;

INLINE state state_of(uint32_t before) {
    uint8_t last[64] = {0};
    for (int i = 0; i < 4; i++) last[60 + i] = (uint8_t)(before >> 8 * i);
    return (state){load(last), (uint64_t)(last[63] >= 0xC0) << 63, dstok__char_carry_of(before)};
}

INLINE dstok__chars block(const uint8_t *text, state *s) {
    __m512i c = load(text);
    uint64_t high = _mm512_movepi8_mask(c), lead, second;
    if (high == 0) {
        *s = (state){c, 0, {0, 0, 0, 0}};
        return (dstok__chars){~(uint64_t)0, 0};
    }
    lead = _mm512_cmpge_epu8_mask(c, bytes(0xC0));
    second = high & ~lead & (lead << 1 | s->lead >> 63) & ~unfit(c, s->last);
    dstok__char_masks m = {high & ~lead, second, _mm512_cmpge_epu8_mask(c, bytes(0xE0)),
                           _mm512_cmpge_epu8_mask(c, bytes(0xF0))};
    s->last = c;
    s->lead = lead;
    return dstok__chars_of(&m, &s->carry);
}

INLINE dstok__line_masks lines_in(const uint8_t *text) {
    __m512i c = load(text);
    dstok__line_masks m = {_mm512_cmpeq_epi8_mask(c, bytes('\n')), _mm512_cmpeq_epi8_mask(c, bytes('\r')), 0,
                           0, 0};
    if (_mm512_movepi8_mask(c) != 0) {
        m.e2 = _mm512_cmpeq_epi8_mask(c, bytes(0xE2));
        m.x80 = _mm512_cmpeq_epi8_mask(c, bytes(0x80));
        m.a8 = _mm512_cmpeq_epi8_mask(_mm512_or_si512(c, bytes(1)), bytes(0xA9));
    }
    return m;
}

#define CHARS_TARGET  AVX512
#define CHARS_NAME(f) dstok__##f##_avx512
#include "../char_loops.h"

#else
typedef int dstok__no_chars_avx512; /* ISO C wants a declaration in each file */
#endif
