/* SPDX-License-Identifier: MIT */
/* AVX2: begins of characters and lines, places in other units. */
#include "../tiers.h"

#if DSTOK__HAVE_X86
#include "../places.h"
#include "../utf8_pairs.h"

#include <immintrin.h>

#define AVX2         __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE       static inline __attribute__((always_inline)) AVX2
#define RANK_INLINE  INLINE
#define RANK_COLD    static __attribute__((noinline)) AVX2
#define RANK_NAME(f) f##_avx2
INLINE uint64_t rank_select(uint64_t word, uint64_t n) {
    return (uint64_t)__builtin_ctzll(_pdep_u64((uint64_t)1 << n, word));
}
#include "../ranks.h"

INLINE void rank_put(uint64_t word, unsigned first, uint16_t *out) {
    const __m256i places = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    if (word == ~(uint64_t)0) {
        for (unsigned i = 0; i < 64; i += 16)
            _mm256_storeu_si256((__m256i *)(void *)(out + i),
                                _mm256_add_epi16(places, _mm256_set1_epi16((short)(first + i))));
        return;
    }
    __m128i at = _mm_set1_epi16((short)first);
    for (unsigned i = 0; i < 8; i++, word >>= 8) {
        const void *byte = &dstok__places[word & 0xFF];
        _mm_storeu_si128((__m128i *)(void *)out, _mm_add_epi16(at, _mm_cvtepu8_epi16(_mm_loadl_epi64(byte))));
        out += __builtin_popcountll(word & 0xFF);
        at = _mm_add_epi16(at, _mm_set1_epi16(8));
    }
}
#include "../rank_table.h"

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

INLINE dstok__line_masks lines_in(const uint8_t *text) {
    pair c = load(text);
    dstok__line_masks m = {equal(c, '\n'), equal(c, '\r'), 0, 0, 0};
    if (top_bits(c) != 0) {
        pair even = {_mm256_or_si256(c.a, bytes(1)), _mm256_or_si256(c.b, bytes(1))};
        m.e2 = equal(c, 0xE2);
        m.x80 = equal(c, 0x80);
        m.a8 = equal(even, 0xA9);
    }
    return m;
}

#define CHARS_TARGET  AVX2
#define CHARS_NAME(f) dstok__##f##_avx2
#include "../char_loops.h"

AVX2 void dstok__sum_lines_avx2(dstok__line_page *page, size_t k, size_t n) {
    rank_lines(page, k, n);
}
AVX2 size_t dstok__span_units_avx2(const dstok__page *page, uint64_t *places, size_t n) {
    return rank_units(page, places, n);
}
AVX2 size_t dstok__span_bytes_avx2(const dstok__page *page, uint64_t *places, size_t n) {
    return rank_bytes_by_table(page, places, n);
}
AVX2 size_t dstok__line_places_avx2(const dstok__line_page *page, const uint64_t *bytes, size_t n,
                                    uint64_t *out) {
    return rank_places(page, bytes, n, out);
}

#else
typedef int dstok__no_chars_avx2; /* ISO C wants a declaration in each file */
#endif
