/* SPDX-License-Identifier: MIT */
/* AVX2: begins of characters and lines, places in other units. */
#include "../tiers.h"

#if DSTOK__HAVE_X86
#include "../utf8_pairs.h"

#include <immintrin.h>

#define AVX2        __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE      static inline __attribute__((always_inline)) AVX2
#define RANK_INLINE INLINE
INLINE uint64_t rank_select(uint64_t word, uint64_t n) {
    return (uint64_t)__builtin_ctzll(_pdep_u64((uint64_t)1 << n, word));
}
#include "../ranks.h"

typedef struct pair { /* 64 bytes */
    __m256i a, b;
} pair;

INLINE __m256i bytes(int c) {
    return _mm256_set1_epi8((char)c);
}

INLINE pair load(const uint8_t *p) {
    return (pair){_mm256_loadu_si256((const __m256i *)(const void *)p),
                  _mm256_loadu_si256((const __m256i *)(const void *)(p + 32))};
}

INLINE __m256i twice(const uint8_t table[16]) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

INLINE uint64_t top_bits(pair p) {
    return (uint32_t)_mm256_movemask_epi8(p.a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(p.b) << 32;
}

/* Bytes from `low` on, which is 80 or more. */
INLINE uint64_t from(pair c, int low) {
    return top_bits((pair){_mm256_cmpeq_epi8(_mm256_max_epu8(c.a, bytes(low)), c.a),
                           _mm256_cmpeq_epi8(_mm256_max_epu8(c.b, bytes(low)), c.b)});
}

INLINE uint64_t equal(pair c, int byte) {
    return top_bits((pair){_mm256_cmpeq_epi8(c.a, bytes(byte)), _mm256_cmpeq_epi8(c.b, bytes(byte))});
}

/* All ones where a tail may follow the byte before it. `before` holds the 32 bytes before c. */
INLINE __m256i fits(__m256i c, __m256i before) {
    const __m256i half = bytes(0x0F),
                  faults = bytes(U8_LONG2 | U8_LONG3 | U8_LONG4 | U8_SURROGATE | U8_ABOVE);
    __m256i first = _mm256_alignr_epi8(c, _mm256_permute2x128_si256(before, c, 0x21), 15);
    __m256i by_high = _mm256_and_si256(_mm256_srli_epi16(first, 4), half);
    __m256i second = _mm256_and_si256(_mm256_srli_epi16(c, 4), half);
    __m256i wrong = _mm256_and_si256(
        _mm256_and_si256(_mm256_shuffle_epi8(twice(dstok__utf8_first_high), by_high),
                         _mm256_shuffle_epi8(twice(dstok__utf8_first_low), _mm256_and_si256(first, half))),
        _mm256_and_si256(_mm256_shuffle_epi8(twice(dstok__utf8_second_high), second), faults));
    return _mm256_cmpeq_epi8(wrong, _mm256_setzero_si256());
}

typedef struct state {
    __m256i last; /* the 32 bytes before */
    uint64_t lead;
    dstok__char_carry carry;
} state;

INLINE state state_of(uint32_t before) {
    return (state){_mm256_set_epi32((int)before, 0, 0, 0, 0, 0, 0, 0), (uint64_t)(before >= 0xC0000000) << 63,
                   dstok__char_carry_of(before)};
}

INLINE dstok__chars block(const uint8_t *text, state *s) {
    pair c = load(text);
    uint64_t high = top_bits(c), lead, second;
    if (high == 0) {
        *s = (state){c.b, 0, {0, 0, 0, 0}};
        return (dstok__chars){~(uint64_t)0, 0};
    }
    lead = from(c, 0xC0);
    second =
        high & ~lead & (lead << 1 | s->lead >> 63) & top_bits((pair){fits(c.a, s->last), fits(c.b, c.a)});
    dstok__char_masks m = {high & ~lead, second, from(c, 0xE0), from(c, 0xF0)};
    s->last = c.b;
    s->lead = lead;
    return dstok__chars_of(&m, &s->carry);
}

AVX2 void dstok__fill_page_avx2(const uint8_t *text, size_t n, uint32_t before, dstok__page *page, size_t k,
                                int unit) {
    state s = state_of(before);
    for (; n > 0; n--, text += 64) rank_fill(page, k++, block(text, &s), unit);
}

AVX2 void dstok__count_chars_avx2(const uint8_t *text, size_t n, uint32_t before, uint64_t count[2]) {
    state s = state_of(before);
    uint64_t starts = 0, fourths = 0;
    for (size_t k = 0; k < n; k++) {
        dstok__chars c = block(text + 64 * k, &s);
        starts += (uint64_t)__builtin_popcountll(c.start);
        fourths += (uint64_t)__builtin_popcountll(c.fourth);
    }
    count[0] += starts;
    count[1] += fourths;
}

AVX2 void dstok__line_begins_avx2(const uint8_t *text, size_t n, uint32_t before, uint64_t *out) {
    dstok__line_carry carry = dstok__line_carry_of(before);
    for (size_t k = 0; k < n; k++) {
        pair c = load(text + 64 * k);
        dstok__line_masks m = {equal(c, '\n'), equal(c, '\r'), 0, 0, 0};
        if (top_bits(c) != 0) {
            pair even = {_mm256_or_si256(c.a, bytes(1)), _mm256_or_si256(c.b, bytes(1))};
            m.e2 = equal(c, 0xE2);
            m.x80 = equal(c, 0x80);
            m.a8 = equal(even, 0xA9);
        }
        out[k] = dstok__lines_of(&m, &carry);
    }
}

AVX2 void dstok__sum_lines_avx2(dstok__line_page *page, size_t k, size_t n) {
    rank_lines(page, k, n);
}
AVX2 size_t dstok__span_units_avx2(const dstok__page *page, uint64_t *places, size_t n) {
    return rank_units(page, places, n);
}
AVX2 size_t dstok__span_bytes_avx2(const dstok__page *page, uint64_t *places, size_t n) {
    return rank_bytes(page, places, n);
}
AVX2 size_t dstok__line_places_avx2(const dstok__line_page *page, const uint64_t *bytes, size_t n,
                                    uint64_t *out) {
    return rank_places(page, bytes, n, out);
}

#else
typedef int dstok__no_chars_avx2; /* ISO C wants a declaration in each file */
#endif
