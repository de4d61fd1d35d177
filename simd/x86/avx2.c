/* SPDX-License-Identifier: MIT */
/* AVX2: blocks of 64 bytes as two registers. */
#include "../tiers.h"

#if DSTOK__HAVE_X86
#include "../utf8_pairs.h"
#include "places.h"

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) AVX2

INLINE __m256i load(const uint8_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE __m256i twice(const uint8_t table[16]) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

INLINE uint64_t top_bits(__m256i a, __m256i b) {
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}

/* ---- classes ---- */

/* Taking the top bits of a register out costs the most, so each set that is taken out holds several classes, which bits
 * 5, 6 and 7 of the bytes and the other sets tell apart. */
typedef struct sets {
    __m256i word;  /* letters, digits, B8-BF, E5-E8 */
    __m256i print; /* 21-7E */
    __m256i white; /* 09-0D, 20, BE-BF */
    __m256i odd;   /* 0A, 0D, 2F, E9 */
    __m256i even;  /* 27, E4 */
} sets;

/* A byte is in `word` when a bit stands in both: 1 for rows 4 and 6, 2 for rows 5 and 7, 4 for row 3, 8 for row B,
 * 16 for row E. */
static const uint8_t word_row[16] = {0, 0, 0, 4, 1, 2, 1, 2, 0, 0, 0, 8, 0, 0, 16, 0};
static const uint8_t word_column[16] = {6, 7, 7, 7, 7, 23, 23, 23, 31, 15, 11, 9, 9, 9, 9, 9};

/* The only member of a set in each column; where there is none, a byte of another column. */
static const uint8_t white_column[16] = {0x20, 0,    0,    0,    0,    0,    0,    0,
                                         0,    0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0xBE, 0xBF};
static const uint8_t odd_column[16] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0xE9, 0x0A, 0, 0, 0x0D, 0, 0x2F};
static const uint8_t even_column[16] = {1, 0, 0, 0, 0xE4, 0, 0, 0x27, 0, 0, 0, 0, 0, 0, 0, 0};

INLINE sets sets_of(__m256i c) {
    const __m256i half = _mm256_set1_epi8(0x0F);
    __m256i column = _mm256_and_si256(c, half), row = _mm256_and_si256(_mm256_srli_epi16(c, 4), half);
    __m256i word = _mm256_and_si256(_mm256_shuffle_epi8(twice(word_row), row),
                                    _mm256_shuffle_epi8(twice(word_column), column));
    return (sets){
        .word = _mm256_cmpgt_epi8(word, _mm256_setzero_si256()),
        .print = _mm256_cmpgt_epi8(_mm256_add_epi8(c, _mm256_set1_epi8(1)), _mm256_set1_epi8(0x21)),
        .white = _mm256_cmpeq_epi8(c, _mm256_shuffle_epi8(twice(white_column), column)),
        .odd = _mm256_cmpeq_epi8(c, _mm256_shuffle_epi8(twice(odd_column), column)),
        .even = _mm256_cmpeq_epi8(c, _mm256_shuffle_epi8(twice(even_column), column)),
    };
}

INLINE void classify_block(const uint8_t *text, dstok__classes *out) {
    __m256i c = load(text), d = load(text + 32);
    __m256i c2 = _mm256_add_epi8(c, c), d2 = _mm256_add_epi8(d, d);
    sets s = sets_of(c), t = sets_of(d);
    uint64_t bit7 = top_bits(c, d), bit6 = top_bits(c2, d2);
    uint64_t bit5 = top_bits(_mm256_add_epi8(c2, c2), _mm256_add_epi8(d2, d2));
    uint64_t word = top_bits(s.word, t.word), print = top_bits(s.print, t.print);
    uint64_t white = top_bits(s.white, t.white), odd = top_bits(s.odd, t.odd),
             even = top_bits(s.even, t.even);

    uint64_t lead = bit7 & bit6, ascii = ~bit7, letter = word & bit6 & ascii;
    out->upper = letter & ~bit5;
    out->lower = letter & bit5;
    out->digit = word & ascii & ~bit6;
    out->sign = print & ~word;
    out->newline = odd & white;
    out->blank = white & ascii & ~odd;
    out->high = bit7;
    out->tail = bit7 & ~bit6;
    /* E4 and E9 in the last byte have their second byte elsewhere. */
    uint64_t from_b8 = bit7 & (bit6 | word), from_be = bit7 & (bit6 | white), last = (uint64_t)1 << 63;
    out->ideograph = lead & (word | (even & from_b8 >> 1) | (odd & ~(from_be >> 1 | last)));
    out->space = white & ascii & bit5;
    out->quote = even & ascii;
    out->slash = odd & print;
}

AVX2 static void dstok__classify_avx2(const uint8_t *text, size_t n, dstok__classes *out) {
    for (size_t k = 0; k < n; k++) classify_block(text + 64 * k, out + k);
}

/* ---- one of four bytes ---- */

INLINE uint32_t hits32(__m256i c, const __m256i *want, size_t n) {
    __m256i found = _mm256_cmpeq_epi8(c, want[0]);
    for (size_t k = 1; k < n; k++) found = _mm256_or_si256(found, _mm256_cmpeq_epi8(c, want[k]));
    return (uint32_t)_mm256_movemask_epi8(found);
}

INLINE uint32_t hits16(const uint8_t *p, const __m256i *want, size_t n) {
    __m128i c = _mm_loadu_si128((const __m128i *)(const void *)p);
    return hits32(_mm256_castsi128_si256(c), want, n) & 0xFFFF;
}

/* n is a constant in each copy. What is left at the end is read once more together with bytes before it. */
INLINE size_t find(const uint8_t *text, size_t len, const uint8_t *first, size_t n) {
    __m256i want[4];
    for (size_t k = 0; k < n; k++) want[k] = _mm256_set1_epi8((char)first[k]);
    size_t i = 0;
    for (; len - i >= 32; i += 32) {
        uint32_t hit = hits32(load(text + i), want, n);
        if (hit != 0) return i + (size_t)__builtin_ctz(hit);
    }
    if (len < 16) return dstok__find_byte(text, len, first, n);
    if (len - i > 16) {
        uint32_t hit = hits16(text + i, want, n);
        if (hit != 0) return i + (size_t)__builtin_ctz(hit);
    }
    uint32_t hit = i < len ? hits16(text + len - 16, want, n) : 0;
    return hit != 0 ? len - 16 + (size_t)__builtin_ctz(hit) : len;
}

AVX2 static size_t dstok__find_byte_avx2(const uint8_t *text, size_t len, const uint8_t *first, size_t n) {
    const uint8_t four[4] = {first[0], first[n > 1 ? 1 : 0], first[n > 2 ? 2 : 0], first[n > 3 ? 3 : 0]};
    if (n == 1) return find(text, len, first, 1);
    if (n == 2) return find(text, len, first, 2);
    return find(text, len, four, 4);
}

/* ---- places of bits ---- */

AVX2 static size_t dstok__positions_avx2(const uint64_t *words, size_t n, uint32_t *out) {
    uint32_t *to = out;
    for (size_t k = 0; k < n; k++) {
        uint64_t word = words[k];
        if (word == 0) continue;
        __m256i base = _mm256_set1_epi32((int)(64 * k));
        for (int j = 0; j < 8;
             j++, word >>= 8) { /* eight numbers each time; the next ones go over those too many */
            __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)&dstok__places[word & 0xFF]);
            __m256i place = _mm256_add_epi32(base, _mm256_cvtepu8_epi32(eight));
            _mm256_storeu_si256((__m256i *)(void *)to, place);
            to += __builtin_popcountll(word & 0xFF);
            base = _mm256_add_epi32(base, _mm256_set1_epi32(8));
        }
    }
    return (size_t)(to - out);
}

/* ---- UTF-8 ---- */

/* The bytes n before those of c, where `before` holds the 32 bytes before c. */
#define BACK(c, before, n) _mm256_alignr_epi8(c, _mm256_permute2x128_si256(before, c, 0x21), 16 - (n))

/* Not zero where a byte does not go with those before it (utf8_pairs.h). */
INLINE __m256i utf8_errors(__m256i c, __m256i before) {
    const __m256i half = _mm256_set1_epi8(0x0F);
    __m256i first = BACK(c, before, 1);
    __m256i by_high = _mm256_and_si256(_mm256_srli_epi16(first, 4), half);
    __m256i second = _mm256_and_si256(_mm256_srli_epi16(c, 4), half);
    __m256i wrong = _mm256_and_si256(
        _mm256_and_si256(_mm256_shuffle_epi8(twice(dstok__utf8_first_high), by_high),
                         _mm256_shuffle_epi8(twice(dstok__utf8_first_low), _mm256_and_si256(first, half))),
        _mm256_shuffle_epi8(twice(dstok__utf8_second_high), second));
    /* Saturated: the top bit stands two bytes behind E0-FF and three bytes behind F0-FF. */
    __m256i third = _mm256_subs_epu8(BACK(c, before, 2), _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth = _mm256_subs_epu8(BACK(c, before, 3), _mm256_set1_epi8(0xF0 - 0x80));
    __m256i tails = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)U8_TAILS));
    return _mm256_xor_si256(wrong, tails);
}

/* Not zero when a character goes on behind c. */
INLINE __m256i utf8_open(__m256i c) {
    const __m256i most = _mm256_setr_epi64x(-1, -1, -1, (long long)0xBFDFEFFFFFFFFFFFu);
    return _mm256_subs_epu8(c, most);
}

/* Not zero when something is wrong in 64 bytes, or at the end of those before. */
INLINE int utf8_wrong(__m256i c, __m256i d, __m256i before) {
    if (_mm256_movemask_epi8(_mm256_or_si256(c, d)) == 0) {
        __m256i open = utf8_open(before);
        return !_mm256_testz_si256(open, open);
    }
    __m256i wrong = _mm256_or_si256(utf8_errors(c, before), utf8_errors(d, c));
    return !_mm256_testz_si256(wrong, wrong);
}

AVX2 static size_t dstok__utf8_check_avx2(const uint8_t *text, size_t len) {
    __m256i before = _mm256_setzero_si256();
    size_t i = 0;
    for (; len - i >= 64; i += 64) {
        __m256i c = load(text + i), d = load(text + i + 32);
        if (utf8_wrong(c, d, before)) return dstok__utf8_check_from(text, len, i);
        before = d;
    }
    uint8_t rest[64] = {0}; /* the zeros show a character that the end cuts off */
    memcpy(rest, text + i, len - i);
    return utf8_wrong(load(rest), load(rest + 32), before) ? dstok__utf8_check_from(text, len, i) : len;
}

const dstok__simd dstok__simd_avx2 = {
    DSTOK__TIER_AVX2,      "avx2", dstok__utf8_check_avx2, dstok__classify_avx2, dstok__find_byte_avx2,
    dstok__positions_avx2,
};

#else
typedef int dstok__no_avx2; /* ISO C wants a declaration in each file */
#endif
