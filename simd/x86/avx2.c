/* SPDX-License-Identifier: MIT */
/* AVX2: blocks of 64 bytes as two registers. */
#include "../tiers.h"

#if DSTOK__HAVE_X86
#include "../json.h"
#include "../places.h"
#include "../sets.h"
#include "../utf8_pairs.h"

#include <immintrin.h>
#include <string.h>

#define AVX2   __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) AVX2

INLINE __m256i load(const uint8_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* The first n bytes, n < 32, and zeros; reads no more than those: words of four bytes, then what is left. */
INLINE __m256i load_some(const uint8_t *p, size_t n) {
    const __m256i order = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i words = _mm256_set1_epi32((int)(n / 4));
    __m256i whole = _mm256_maskload_epi32((const int *)(const void *)p, _mm256_cmpgt_epi32(words, order));
    uint32_t left = 0;
    if (n >= 4) {
        memcpy(&left, p + n - 4, 4);
        left = (uint32_t)((uint64_t)left >> (32 - 8 * (n % 4)));
    } else {
        for (size_t k = 0; k < n; k++) left |= (uint32_t)p[k] << 8 * k;
    }
    return _mm256_or_si256(whole,
                           _mm256_and_si256(_mm256_cmpeq_epi32(words, order), _mm256_set1_epi32((int)left)));
}

INLINE __m256i twice(const uint8_t table[16]) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

INLINE uint64_t top_bits(__m256i a, __m256i b) {
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}

/* ---- classes ---- */

/* Not zero where the row and the column of a byte have a bit in common (sets.h). */
INLINE __m256i in_both(__m256i c, const uint8_t row[16], const uint8_t column[16]) {
    const __m256i half = _mm256_set1_epi8(0x0F);
    return _mm256_and_si256(_mm256_shuffle_epi8(twice(row), _mm256_and_si256(_mm256_srli_epi16(c, 4), half)),
                            _mm256_shuffle_epi8(twice(column), _mm256_and_si256(c, half)));
}

typedef struct sets { /* sets.h, of 32 bytes */
    __m256i word, print, white, odd, even;
} sets;

INLINE sets sets_of(__m256i c) {
    const __m256i half = _mm256_set1_epi8(0x0F);
    __m256i column = _mm256_and_si256(c, half), word = in_both(c, dstok__word_row, dstok__word_column);
    return (sets){
        .word = _mm256_cmpgt_epi8(word, _mm256_setzero_si256()),
        .print = _mm256_cmpgt_epi8(_mm256_add_epi8(c, _mm256_set1_epi8(1)), _mm256_set1_epi8(0x21)),
        .white = _mm256_cmpeq_epi8(c, _mm256_shuffle_epi8(twice(dstok__white_column), column)),
        .odd = _mm256_cmpeq_epi8(c, _mm256_shuffle_epi8(twice(dstok__odd_column), column)),
        .even = _mm256_cmpeq_epi8(c, _mm256_shuffle_epi8(twice(dstok__even_column), column)),
    };
}

INLINE void classify_block(const uint8_t *text, dstok__classes *out) {
    __m256i c = load(text), d = load(text + 32);
    __m256i c2 = _mm256_add_epi8(c, c), d2 = _mm256_add_epi8(d, d);
    sets s = sets_of(c), t = sets_of(d);
    dstok__sets all = {
        .bit5 = top_bits(_mm256_add_epi8(c2, c2), _mm256_add_epi8(d2, d2)),
        .bit6 = top_bits(c2, d2),
        .bit7 = top_bits(c, d),
        .word = top_bits(s.word, t.word),
        .print = top_bits(s.print, t.print),
        .white = top_bits(s.white, t.white),
        .odd = top_bits(s.odd, t.odd),
        .even = top_bits(s.even, t.even),
    };
    dstok__classes_of(&all, out);
}

AVX2 static void dstok__classify_avx2(const uint8_t *text, size_t n, dstok__classes *out) {
    for (size_t k = 0; k < n; k++) classify_block(text + 64 * k, out + k);
}

AVX2 static void dstok__nfc_leads_avx2(const uint8_t *text, size_t n, uint64_t *out) {
    const __m256i none = _mm256_setzero_si256();
    for (size_t k = 0; k < n; k++, text += 64) {
        __m256i c = in_both(load(text), dstok__nfc_row, dstok__nfc_column);
        __m256i d = in_both(load(text + 32), dstok__nfc_row, dstok__nfc_column);
        out[k] = top_bits(_mm256_cmpgt_epi8(c, none), _mm256_cmpgt_epi8(d, none));
    }
}

/* ---- one of four bytes ---- */

INLINE uint32_t hits(__m256i c, const __m256i *want, size_t n) {
    __m256i found = _mm256_cmpeq_epi8(c, want[0]);
    for (size_t k = 1; k < n; k++) found = _mm256_or_si256(found, _mm256_cmpeq_epi8(c, want[k]));
    return (uint32_t)_mm256_movemask_epi8(found);
}

/* n is a constant in each copy. */
INLINE size_t find(const uint8_t *text, size_t len, const uint8_t *first, size_t n) {
    __m256i want[4];
    for (size_t k = 0; k < n; k++) want[k] = _mm256_set1_epi8((char)first[k]);
    size_t i = 0;
    for (; len - i >= 32; i += 32) {
        uint32_t hit = hits(load(text + i), want, n);
        if (hit != 0) return i + (size_t)__builtin_ctz(hit);
    }
    uint32_t hit = hits(load_some(text + i, len - i), want, n) | (uint32_t)1 << (len - i);
    return i + (size_t)__builtin_ctz(hit);
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

/* ---- JSON ---- */

typedef struct json_sets { /* of 32 bytes */
    __m256i quote, backslash, control, mark, blank, letter, u, hex;
} json_sets;

/* The place of a byte in dstok__letter_hash. */
INLINE __m256i letter_hash(__m256i c) {
    return _mm256_xor_si256(c, _mm256_and_si256(_mm256_srli_epi16(c, 4), _mm256_set1_epi8(1)));
}

INLINE json_sets json_sets_of(__m256i c) {
    const __m256i half = _mm256_set1_epi8(0x0F), last = _mm256_set1_epi8(0x1F);
    __m256i quote = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('"'));
    __m256i letter = _mm256_cmpeq_epi8(c, _mm256_shuffle_epi8(twice(dstok__letter_hash), letter_hash(c)));
    __m256i row = _mm256_shuffle_epi8(twice(dstok__hex_row), _mm256_and_si256(_mm256_srli_epi16(c, 4), half));
    __m256i hex = _mm256_and_si256(row, _mm256_shuffle_epi8(twice(dstok__hex_column), c));
    return (json_sets){
        .quote = quote,
        .backslash = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('\\')),
        .control = _mm256_cmpeq_epi8(_mm256_max_epu8(c, last), last),
        .mark = _mm256_cmpeq_epi8(_mm256_or_si256(c, _mm256_set1_epi8(0x20)),
                                  _mm256_shuffle_epi8(twice(dstok__mark_column), c)),
        .blank = _mm256_cmpeq_epi8(c, _mm256_shuffle_epi8(twice(dstok__blank_column), c)),
        .letter = _mm256_or_si256(letter, quote),
        .u = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('u')),
        .hex = _mm256_cmpgt_epi8(hex, _mm256_setzero_si256()),
    };
}

AVX2 static void dstok__json_tokens_avx2(const uint8_t *text, size_t n, dstok__json_state *state,
                                         dstok__json_block *out) {
    dstok__json_state now = *state;
    for (size_t k = 0; k < n; k++, text += 64) {
        json_sets s = json_sets_of(load(text)), t = json_sets_of(load(text + 32));
        dstok__json_masks m = {
            .quote = top_bits(s.quote, t.quote),
            .backslash = top_bits(s.backslash, t.backslash),
            .control = top_bits(s.control, t.control),
            .mark = top_bits(s.mark, t.mark),
            .blank = top_bits(s.blank, t.blank),
            .letter = top_bits(s.letter, t.letter),
            .u = top_bits(s.u, t.u),
            .hex = top_bits(s.hex, t.hex),
        };
        uint64_t escaped = dstok__json_escaped(m.backslash, &now.escaped);
        dstok__json_block_of(&m, escaped, dstok__prefix_xor(m.quote & ~escaped), &now, out + k);
    }
    *state = now;
}

/* A byte of ones for each bit. */
INLINE __m256i spread(uint32_t bits) {
    const __m256i byte_of = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit_of = _mm256_set1_epi64x((long long)0x8040201008040201u);
    __m256i all = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), byte_of);
    return _mm256_cmpeq_epi8(_mm256_and_si256(all, bit_of), bit_of);
}

/* Writes those of 16 bytes whose bits are set, eight at a time; the next ones go over those too many. */
INLINE uint8_t *put_kept(uint8_t *to, __m128i c, uint32_t kept) {
    const uint64_t *low = &dstok__places[kept & 0xFF], *high = &dstok__places[kept >> 8 & 0xFF];
    __m128i from = _mm_loadl_epi64((const __m128i *)(const void *)low);
    _mm_storel_epi64((__m128i *)(void *)to, _mm_shuffle_epi8(c, from));
    to += __builtin_popcount(kept & 0xFF);
    from = _mm_loadl_epi64((const __m128i *)(const void *)high);
    _mm_storel_epi64((__m128i *)(void *)to, _mm_shuffle_epi8(_mm_unpackhi_epi64(c, c), from));
    return to + __builtin_popcount(kept >> 8 & 0xFF);
}

/* The escapes of 32 bytes: their letters become what they stand for, their backslashes are left out. *n: how
 * many bytes there are, then how many are done; *stop: no more can be done. Returns which bytes to keep.
 * That *n changes is rare, and must be a branch: the next bytes should not wait for what these hold. */
INLINE uint32_t unescape(__m256i *c, uint32_t backslash, size_t *n, int *stop) {
    uint64_t carry = 0, escaped = dstok__json_escaped(backslash, &carry);
    __m256i hash = letter_hash(*c), plain = _mm256_shuffle_epi8(twice(dstok__plain_hash), hash);
    __m256i letter = _mm256_cmpeq_epi8(*c, _mm256_shuffle_epi8(twice(dstok__letter_hash), hash));
    __m256i quote = _mm256_cmpeq_epi8(*c, _mm256_set1_epi8('"')),
            u = _mm256_cmpeq_epi8(*c, _mm256_set1_epi8('u'));
    uint32_t good = (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(_mm256_andnot_si256(u, letter), quote));
    uint64_t bad = escaped & ~(uint64_t)good, kept = ~(backslash & ~escaped);
    *c = _mm256_blendv_epi8(*c, plain, _mm256_and_si256(letter, spread((uint32_t)escaped)));
    if (__builtin_expect(bad != 0, 0)) { /* bit 32: the next bytes begin with this backslash */
        *n = (size_t)__builtin_ctzll(bad) - 1;
        *stop |= *n < 31;
    }
    return (uint32_t)kept & (uint32_t)(((uint64_t)1 << *n) - 1);
}

AVX2 static size_t dstok__json_copy_avx2(const uint8_t *text, size_t len, uint8_t *out, size_t *n) {
    const __m256i mark = _mm256_set1_epi8('\\');
    uint8_t *to = out;
    size_t i = 0;
    for (int stop = 0; !stop;) {
        size_t part = len - i < 32 ? len - i : 32;
        __m256i c = part < 32 ? load_some(text + i, part) : load(text + i);
        uint32_t backslash = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(c, mark));
        stop = part < 32;
        if (backslash == 0) {
            _mm256_storeu_si256((__m256i *)(void *)to, c);
            to += part;
        } else {
            uint32_t kept = unescape(&c, backslash, &part, &stop);
            to = put_kept(to, _mm256_castsi256_si128(c), kept);
            to = put_kept(to, _mm256_extracti128_si256(c, 1), kept >> 16);
        }
        i += part;
    }
    *n = (size_t)(to - out);
    return i;
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
    size_t n = len - i; /* the zeros behind the end show a character that it cuts off */
    __m256i c = n < 32 ? load_some(text + i, n) : load(text + i);
    __m256i d = n < 32 ? _mm256_setzero_si256() : load_some(text + i + 32, n - 32);
    return utf8_wrong(c, d, before) ? dstok__utf8_check_from(text, len, i) : len;
}

/* ---- words of lines ---- */

/* Four words, all ones where they do not have the key. */
INLINE __m256i keep_hits(const uint64_t *four, __m256i key) {
    __m256i words = load((const uint8_t *)(const void *)four);
    __m256i hit = _mm256_cmpeq_epi64(_mm256_srli_epi64(words, 24), key);
    return _mm256_or_si256(words, _mm256_xor_si256(hit, _mm256_set1_epi64x(-1)));
}

AVX2 static void dstok__find_words_avx2(const uint64_t *const *lines, const uint64_t *keys, size_t n,
                                        uint64_t *out) {
    for (size_t i = 0; i < n; i++) {
        __m256i key = _mm256_set1_epi64x((long long)keys[i]);
        __m256i four = _mm256_and_si256(keep_hits(lines[i], key), keep_hits(lines[i] + 4, key));
        __m128i two = _mm_and_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
        out[i] = (uint64_t)_mm_cvtsi128_si64(_mm_and_si128(two, _mm_unpackhi_epi64(two, two)));
    }
}

/* ---- ranks of pairs ---- */

INLINE __m256i eight_at(const int32_t *p) {
    return load((const uint8_t *)(const void *)p);
}

AVX2 void dstok__least_avx2(const int32_t *const *rows, size_t n, int32_t *out) {
    for (size_t i = 0; i < n; i++) {
        __m256i eight = _mm256_min_epi32(_mm256_min_epi32(eight_at(rows[i]), eight_at(rows[i] + 8)),
                                         _mm256_min_epi32(eight_at(rows[i] + 16), eight_at(rows[i] + 24)));
        __m128i four = _mm_min_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
        four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4E));
        out[i] = _mm_cvtsi128_si32(_mm_min_epi32(four, _mm_shuffle_epi32(four, 0xB1)));
    }
}

/* The pairs of eight bytes and those behind them, as far as `here` goes; else alone. */
INLINE __m256i eight_pairs(const int32_t *pairs, __m128i first, __m128i second, __m256i alone, __m256i here) {
    __m256i at =
        _mm256_or_si256(_mm256_slli_epi32(_mm256_cvtepu8_epi32(first), 8), _mm256_cvtepu8_epi32(second));
    return _mm256_mask_i32gather_epi32(alone, pairs, at, here, 4);
}

/* The last number of a before the first seven of b; the last seven of a before the first of b. */
INLINE __m256i last_before(__m256i a, __m256i b) {
    return _mm256_alignr_epi8(b, _mm256_permute2x128_si256(a, b, 0x21), 12);
}

INLINE __m256i first_behind(__m256i a, __m256i b) {
    return _mm256_alignr_epi8(_mm256_permute2x128_si256(a, b, 0x21), a, 4);
}

/* Bit i: pair i merges as it is, whatever happens around it. */
INLINE uint32_t first_of(__m256i before, __m256i pair, __m256i behind) {
    __m256i rank = _mm256_srli_epi32(pair, 5);
    __m256i flags =
        _mm256_and_si256(_mm256_and_si256(_mm256_slli_epi32(before, 31), _mm256_slli_epi32(behind, 30)),
                         _mm256_slli_epi32(pair, 29));
    __m256i is_lower = _mm256_cmpgt_epi32(_mm256_srli_epi32(before, 5), rank),
            is_higher = _mm256_cmpgt_epi32(rank, _mm256_srli_epi32(behind, 5));
    __m256i all = _mm256_andnot_si256(is_higher, _mm256_and_si256(is_lower, flags));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(all));
}

INLINE void put_ranks(int32_t *to, __m256i pairs, __m256i places) {
    __m256i ranks = _mm256_or_si256(_mm256_andnot_si256(_mm256_set1_epi32(31), pairs), places);
    _mm256_storeu_si256((__m256i *)(void *)to, ranks);
}

/* Up to 16 bytes: their 15 pairs are two registers. */
AVX2 static uint32_t dstok__byte_ranks_avx2(const int32_t *pairs, const uint8_t *text, size_t n,
                                            int32_t *ranks) {
    const __m256i alone = _mm256_set1_epi32(INT32_MAX), eight = _mm256_set1_epi32(8);
    const __m256i first = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8), second = _mm256_add_epi32(first, eight);
    if (n > 16) return dstok__byte_ranks(pairs, text, n, ranks);
    __m256i len = _mm256_set1_epi32((int)n);
    __m128i left = _mm_loadu_si128((const __m128i *)(const void *)text), right = _mm_srli_si128(left, 1);
    __m256i a = eight_pairs(pairs, left, right, alone, _mm256_cmpgt_epi32(len, first));
    __m256i b = eight_pairs(pairs, _mm_srli_si128(left, 8), _mm_srli_si128(right, 8), alone,
                            _mm256_cmpgt_epi32(len, second));
    ranks[0] = INT32_MAX & ~31;
    put_ranks(ranks + 1, a, first);
    put_ranks(ranks + 9, b, second);
    put_ranks(ranks + 17, alone, _mm256_add_epi32(second, eight));
    put_ranks(ranks + 24, alone, _mm256_setr_epi32(24, 25, 26, 27, 28, 29, 30, 31));
    return first_of(last_before(alone, a), a, first_behind(a, b)) << 1 |
           first_of(last_before(a, b), b, first_behind(b, alone)) << 9;
}

#include "put_cuts.h"

#include "cut_avx2.h"

const dstok__simd dstok__simd_avx2 = {DSTOK__TIER_AVX2,
                                      "avx2",
                                      dstok__utf8_check_avx2,
                                      dstok__classify_avx2,
                                      dstok__find_byte_avx2,
                                      dstok__positions_avx2,
                                      dstok__nfc_leads_avx2,
                                      dstok__json_tokens_avx2,
                                      dstok__json_copy_avx2,
                                      dstok__find_words_avx2,
                                      dstok__least_avx2,
                                      dstok__byte_ranks_avx2,
                                      dstok__cut_avx2,
                                      dstok__keys,
                                      dstok__hits,
                                      dstok__absent,
                                      dstok__fill_page_avx2,
                                      dstok__count_chars_avx2,
                                      dstok__line_begins_avx2,
                                      dstok__sum_lines_avx2,
                                      dstok__span_units_avx2,
                                      dstok__span_bytes_avx2,
                                      dstok__line_places_avx2};

#else
typedef int dstok__no_avx2; /* ISO C wants a declaration in each file */
#endif
