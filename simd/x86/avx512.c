/* SPDX-License-Identifier: MIT */
/* AVX-512 with byte permutations and compression: a block of 64 bytes is one register, its masks are mask registers. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
/* Without optimisation GCC's intrinsics are macros, whose own masks change their signs. */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#include "../tiers.h"

#if DSTOK__HAVE_X86
#include "../json.h"

#ifndef DSTOK__AVX512_ELSEWHERE /* a test brings the same instructions as plain code */
#include <immintrin.h>
#define AVX512                                                                                               \
    __attribute__((                                                                                          \
        target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,pclmul,popcnt")))
#endif
#define INLINE static inline __attribute__((always_inline)) AVX512

INLINE __m512i load(const uint8_t *p) {
    return _mm512_loadu_si512(p);
}

/* The first n bytes, n < 64, and zeros; reads no more than those. */
INLINE __m512i load_some(const uint8_t *p, size_t n) {
    return _mm512_maskz_loadu_epi8(((uint64_t)1 << n) - 1, p);
}

INLINE __m512i bytes(int c) {
    return _mm512_set1_epi8((char)c);
}

INLINE __m512i add(__m512i a, int n) {
    return _mm512_add_epi8(a, bytes(n));
}

static const uint8_t counting[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

/* ---- classes ---- */

/* Classes of ASCII, and in a table of their own those of the other bytes, one bit each: IM, I4, I9 begin ideographs, I4
 * if a byte from B8 on follows, I9 if none from BE on does. */
enum { UP = 1, LO = 2, DI = 4, SI = 8, NL = 16, BL = 32, QU = 64, SL = 128 };
enum { IM = 1, I4 = 2, I9 = 4, B8 = 16, BE = 32, TA = 128 };

/* clang-format off */
static const uint8_t low_classes[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, BL, NL, BL, BL, NL, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    BL, SI, SI, SI, SI, SI, SI, SI | QU, SI, SI, SI, SI, SI, SI, SI, SI | SL,
    DI, DI, DI, DI, DI, DI, DI, DI, DI, DI, SI, SI, SI, SI, SI, SI,
    SI, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP,
    UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, SI, SI, SI, SI, SI,
    SI, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO,
    LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, SI, SI, SI, SI, 0,
};
enum { TB = TA | B8, TE = TB | BE, LE = B8 | BE };
static const uint8_t high_classes[128] = {
    TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA,
    TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA,
    TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA, TA,
    TA, TA, TA, TA, TA, TA, TA, TA, TB, TB, TB, TB, TB, TB, TE, TE,
    LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE,
    LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE,
    LE, LE, LE, LE, LE | I4, LE | IM, LE | IM, LE | IM, LE | IM, LE | I9, LE, LE, LE, LE, LE, LE,
    LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE, LE,
};
/* clang-format on */

INLINE uint64_t having(__m512i classes, int bit) {
    return _mm512_test_epi8_mask(classes, bytes(bit));
}

/* What each byte lets the one before it be: IM always, I4 and I9 as said above. Nothing is known about the byte after
 * the block, which is to let neither of the latter two. */
INLINE __m512i before_each(__m512i high) {
    __m512i next = _mm512_permutex2var_epi8(high, add(load(counting), 1), bytes(BE));
    __m512i from = _mm512_srli_epi16(next, 3);                                    /* B8 to I4, BE to I9 */
    return _mm512_ternarylogic_epi32(from, bytes(I4 | I9), bytes(IM | I9), 0x6A); /* (1st & 2nd) ^ 3rd */
}

INLINE void classify_block(__m512i c, const __m512i table[4], dstok__classes *out) {
    uint64_t above = _mm512_movepi8_mask(c);
    __m512i low = _mm512_maskz_permutex2var_epi8(~above, table[0], c, table[1]);
    __m512i high = _mm512_maskz_permutex2var_epi8(above, table[2], c, table[3]);
    out->upper = having(low, UP);
    out->lower = having(low, LO);
    out->digit = having(low, DI);
    out->sign = having(low, SI);
    out->newline = having(low, NL);
    out->blank = having(low, BL);
    out->high = above;
    out->tail = _mm512_movepi8_mask(high);
    out->ideograph = _mm512_test_epi8_mask(high, before_each(high));
    out->space = _mm512_cmpeq_epi8_mask(c, bytes(' '));
    out->quote = having(low, QU);
    out->slash = _mm512_movepi8_mask(low);
}

AVX512 static void dstok__classify_avx512(const uint8_t *text, size_t n, dstok__classes *out) {
    const __m512i table[4] = {load(low_classes), load(low_classes + 64), load(high_classes),
                              load(high_classes + 64)};
    for (size_t k = 0; k < n; k++) classify_block(load(text + 64 * k), table, out + k);
}

/* By the last six bits of a byte C0-FF: 1 for those that nfc_leads finds. */
/* clang-format off */
static const uint8_t nfc_leads[64] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0,
    0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1,
    1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};
/* clang-format on */

AVX512 static void dstok__nfc_leads_avx512(const uint8_t *text, size_t n, uint64_t *out) {
    const __m512i table = load(nfc_leads);
    for (size_t k = 0; k < n; k++) {
        __m512i c = load(text + 64 * k);
        uint64_t found = _mm512_cmpge_epu8_mask(c, bytes(0xC0));
        out[k] = found & having(_mm512_permutexvar_epi8(c, table), 1);
    }
}

/* ---- one of four bytes ---- */

INLINE uint64_t hits(__m512i c, const __m512i *want, size_t n) {
    uint64_t found = _mm512_cmpeq_epi8_mask(c, want[0]);
    for (size_t k = 1; k < n; k++) found |= _mm512_cmpeq_epi8_mask(c, want[k]);
    return found;
}

/* n is a constant in each copy. */
INLINE size_t find(const uint8_t *text, size_t len, const uint8_t *first, size_t n) {
    __m512i want[4];
    for (size_t k = 0; k < n; k++) want[k] = bytes(first[k]);
    size_t i = 0;
    for (; len - i >= 64; i += 64) {
        uint64_t hit = hits(load(text + i), want, n);
        if (hit != 0) return i + (size_t)__builtin_ctzll(hit);
    }
    uint64_t hit = hits(load_some(text + i, len - i), want, n) | (uint64_t)1 << (len - i);
    return i + (size_t)__builtin_ctzll(hit);
}

AVX512 static size_t dstok__find_byte_avx512(const uint8_t *text, size_t len, const uint8_t *first,
                                             size_t n) {
    const uint8_t four[4] = {first[0], first[n > 1 ? 1 : 0], first[n > 2 ? 2 : 0], first[n > 3 ? 3 : 0]};
    if (n == 1) return find(text, len, first, 1);
    if (n == 2) return find(text, len, first, 2);
    return find(text, len, four, 4);
}

/* ---- places of bits ---- */

/* Bytes 16 j .. 16 j + 15 of `places` as numbers of 32 bits above the base. */
INLINE void put16(uint32_t *to, __m512i places, int j, __m512i base) {
    __m512i from = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(counting + 16 * j)));
    __m512i wide = _mm512_maskz_permutexvar_epi8(0x1111111111111111, from, places);
    _mm512_storeu_si512(to + 16 * j, _mm512_add_epi32(wide, base));
}

AVX512 static size_t dstok__positions_avx512(const uint64_t *words, size_t n, uint32_t *out) {
    __m512i all = load(counting);
    uint32_t *to = out;
    for (size_t k = 0; k < n; k++) {
        if (words[k] == 0) continue;
        int count = __builtin_popcountll(words[k]);
        __m512i places = _mm512_maskz_compress_epi8(words[k], all), base = _mm512_set1_epi32((int)(64 * k));
        put16(to, places, 0, base);
        put16(to, places, 1, base);
        if (count > 32) {
            put16(to, places, 2, base);
            put16(to, places, 3, base);
        }
        to += count;
    }
    return (size_t)(to - out);
}

/* ---- JSON ---- */

INLINE __m512i four_times(const uint8_t table[16]) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)table));
}

/* dstok__prefix_xor: a product without carries, with ones alone. */
INLINE uint64_t prefix_xor(uint64_t bits) {
    __m128i ones = _mm_set1_epi8((char)0xFF), product;
    product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), ones, 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

AVX512 static void dstok__json_tokens_avx512(const uint8_t *text, size_t n, dstok__json_state *state,
                                             dstok__json_block *out) {
    const __m512i marks = four_times(dstok__mark_column), blanks = four_times(dstok__blank_column);
    const __m512i row = four_times(dstok__hex_row), column = four_times(dstok__hex_column);
    const __m512i letters = four_times(dstok__letter_hash);
    dstok__json_state now = *state;
    for (size_t k = 0; k < n; k++) {
        __m512i c = load(text + 64 * k), high = _mm512_and_si512(_mm512_srli_epi16(c, 4), bytes(0x0F));
        __m512i hash = _mm512_xor_si512(c, _mm512_and_si512(high, bytes(1)));
        uint64_t quote = _mm512_cmpeq_epi8_mask(c, bytes('"'));
        dstok__json_masks m = {
            .quote = quote,
            .backslash = _mm512_cmpeq_epi8_mask(c, bytes('\\')),
            .control = _mm512_cmplt_epu8_mask(c, bytes(0x20)),
            .mark = _mm512_cmpeq_epi8_mask(_mm512_or_si512(c, bytes(0x20)), _mm512_shuffle_epi8(marks, c)),
            .blank = _mm512_cmpeq_epi8_mask(c, _mm512_shuffle_epi8(blanks, c)),
            .letter = _mm512_cmpeq_epi8_mask(c, _mm512_shuffle_epi8(letters, hash)) | quote,
            .u = _mm512_cmpeq_epi8_mask(c, bytes('u')),
            .hex = _mm512_test_epi8_mask(_mm512_shuffle_epi8(row, high), _mm512_shuffle_epi8(column, c)),
        };
        uint64_t escaped = dstok__json_escaped(m.backslash, &now.escaped);
        dstok__json_block_of(&m, escaped, prefix_xor(m.quote & ~escaped), &now, out + k);
    }
    *state = now;
}

/* The escapes of a block: its letters become what they stand for, their backslashes are left out. *n: how many
 * bytes of the block there are, then how many are done; *stop: no more can be done. Returns which bytes to keep.
 * That *n changes is rare, and must be a branch: the next block should not wait for what this one holds. */
INLINE uint64_t unescape(__m512i *c, uint64_t backslash, const __m512i table[2], size_t *n, int *stop) {
    uint64_t carry = 0, escaped = dstok__json_escaped(backslash, &carry);
    uint64_t low = escaped & ~_mm512_movepi8_mask(*c);
    __m512i letters = _mm512_maskz_permutex2var_epi8(low, table[0], *c, table[1]);
    uint64_t good = _mm512_test_epi8_mask(letters, letters), bad = escaped & ~good;
    uint64_t kept = ~(backslash & ~escaped);
    *c = _mm512_mask_mov_epi8(*c, good, letters);
    if (__builtin_expect((bad | carry) != 0, 0)) {
        *stop |= bad != 0;
        *n = bad != 0 ? (size_t)__builtin_ctzll(bad) - 1 : 63; /* the next block begins with its backslash */
    }
    return *n < 64 ? kept & (((uint64_t)1 << *n) - 1) : kept;
}

AVX512 static size_t dstok__json_copy_avx512(const uint8_t *text, size_t len, uint8_t *out, size_t *n) {
    const __m512i table[2] = {load(dstok__json_letters), load(dstok__json_letters + 64)};
    uint8_t *to = out;
    size_t i = 0;
    for (int stop = 0; !stop;) {
        size_t part = len - i < 64 ? len - i : 64;
        __m512i c = part < 64 ? load_some(text + i, part) : load(text + i);
        uint64_t backslash = _mm512_cmpeq_epi8_mask(c, bytes('\\'));
        stop = part < 64;
        if (backslash == 0) {
            _mm512_storeu_si512(to, c);
            to += part;
        } else {
            uint64_t kept = unescape(&c, backslash, table, &part, &stop);
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(kept, c));
            to += __builtin_popcountll(kept);
        }
        i += part;
    }
    *n = (size_t)(to - out);
    return i;
}

/* ---- UTF-8 ---- */

/* clang-format off */
/* By the last six bits of a first byte, C0-FF: in which quarters of 80-BF its second byte may lie. C0, C1, F5-FF begin
 * nothing; overlong forms are out behind E0 and F0, surrogates behind ED, what is above U+10FFFF behind F4. */
static const uint8_t may_follow[64] = {
    0,  0,  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    12, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3,  15, 15,
    14, 15, 15, 15, 1,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
};

/* By the last six bits of a byte 80-BF: its quarter. */
static const uint8_t quarter[64] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
};
/* clang-format on */

/* The block before: its bytes, and which of them begin characters of at least two, three, four bytes. */
typedef struct utf8_before {
    __m512i c;
    uint64_t two, three, four;
} utf8_before;

INLINE int waits(const utf8_before *b) {
    return (b->two >> 63 | b->three >> 62 | b->four >> 61) != 0;
}

/* Not zero when something is wrong in a block, or at the end of the one before: tails that are not where leads want
 * them, second bytes that do not fit. A block of ASCII leaves b as it is: no character waits then. */
INLINE int utf8_wrong(__m512i c, utf8_before *b) {
    uint64_t high = _mm512_movepi8_mask(c);
    if (high == 0) return waits(b);
    uint64_t two = _mm512_cmpge_epu8_mask(c, bytes(0xC0)), three = _mm512_cmpge_epu8_mask(c, bytes(0xE0)),
             four = _mm512_cmpge_epu8_mask(c, bytes(0xF0));
    uint64_t second = two << 1 | b->two >> 63;
    uint64_t later = three << 2 | b->three >> 62 | four << 3 | b->four >> 61;
    __m512i first = _mm512_permutex2var_epi8(b->c, add(load(counting), 63), c);
    uint64_t unfit = _mm512_testn_epi8_mask(_mm512_permutexvar_epi8(first, load(may_follow)),
                                            _mm512_permutexvar_epi8(c, load(quarter)));
    *b = (utf8_before){c, two, three, four};
    return (((second | later) ^ (high & ~two)) | (second & unfit)) != 0;
}

INLINE int both_ascii(const uint8_t *p) {
    return _mm512_movepi8_mask(_mm512_or_si512(load(p), load(p + 64))) == 0;
}

AVX512 static size_t dstok__utf8_check_avx512(const uint8_t *text, size_t len) {
    utf8_before before = {_mm512_setzero_si512(), 0, 0, 0};
    size_t i = 0;
    while (len - i >= 64) {
        __m512i c = load(text + i);
        if (utf8_wrong(c, &before)) return dstok__utf8_check_from(text, len, i);
        i += 64;
        if (_mm512_movepi8_mask(c) != 0) continue;
        while (len - i >= 128 && both_ascii(text + i)) i += 128;
    }
    /* The zeros behind the end show a character that it cuts off. */
    return utf8_wrong(load_some(text + i, len - i), &before) ? dstok__utf8_check_from(text, len, i) : len;
}

/* ---- words of lines ---- */

AVX512 static void dstok__find_words_avx512(const uint64_t *const *lines, const uint64_t *keys, size_t n,
                                            uint64_t *out) {
    const __m512i none = _mm512_set1_epi64(-1);
    for (size_t i = 0; i < n; i++) {
        __m512i line = _mm512_loadu_si512(lines[i]);
        uint8_t hit =
            _mm512_cmpeq_epi64_mask(_mm512_srli_epi64(line, 24), _mm512_set1_epi64((long long)keys[i]));
        __m512i found = _mm512_mask_compress_epi64(none, hit, line);
        out[i] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(found));
    }
}

/* Before code without AVX, which is slow while the upper halves of registers are in use. Compilers do this of their
 * own, but with link-time optimisation GCC forgets it before calls within the library. */
INLINE void leave_avx(void) {
    _mm256_zeroupper();
}

/* ---- ranks of pairs ---- */

/* The pairs that begin with the bytes c[from, from + 16), as far as `here` goes; else alone. */
INLINE __m512i sixteen_pairs(const int32_t *pairs, __m512i c, int from, uint16_t here) {
    __m512i first = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(counting + from)));
    __m512i both =
        _mm512_or_si512(_mm512_slli_epi32(first, 8), _mm512_add_epi32(first, _mm512_set1_epi32(1)));
    __m512i at = _mm512_maskz_permutexvar_epi8(0x3333333333333333, both, c);
    return _mm512_mask_i32gather_epi32(_mm512_set1_epi32(INT32_MAX), here, at, pairs, 4);
}

/* Bit i: pair i merges as it is, whatever happens around it. */
INLINE uint32_t first_of(__m512i before, __m512i pair, __m512i behind) {
    __m512i rank = _mm512_srli_epi32(pair, 5);
    __m512i flags =
        _mm512_and_si512(_mm512_and_si512(before, _mm512_srli_epi32(behind, 1)), _mm512_srli_epi32(pair, 2));
    uint16_t is_lower = _mm512_cmpgt_epi32_mask(_mm512_srli_epi32(before, 5), rank);
    is_lower = _mm512_mask_cmple_epi32_mask(is_lower, rank, _mm512_srli_epi32(behind, 5));
    return _mm512_mask_test_epi32_mask(is_lower, flags, _mm512_set1_epi32(1));
}

INLINE __m512i placed(__m512i pairs, int first) {
    __m512i places = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(counting + first)));
    return _mm512_or_si512(_mm512_andnot_si512(_mm512_set1_epi32(31), pairs), places);
}

AVX512 static uint32_t dstok__byte_ranks_avx512(const int32_t *pairs, const uint8_t *text, size_t n,
                                                int32_t *ranks) {
    const __m512i alone = _mm512_set1_epi32(INT32_MAX);
    uint32_t here = ((uint32_t)1 << (n - 1)) - 1;
    __m512i c = load_some(text, n), a = sixteen_pairs(pairs, c, 0, (uint16_t)here), b = alone;
    if (n > 17) b = sixteen_pairs(pairs, c, 16, (uint16_t)(here >> 16));
    __m512i behind_a = _mm512_alignr_epi32(b, a, 1), before_b = _mm512_alignr_epi32(b, a, 15);
    uint32_t found = first_of(_mm512_alignr_epi32(a, alone, 15), a, behind_a) << 1;
    if (n > 17) found |= first_of(before_b, b, _mm512_alignr_epi32(alone, b, 1)) << 17;
    ranks[0] = INT32_MAX & ~31;
    _mm512_storeu_si512(ranks + 1, placed(a, 1));
    _mm512_mask_storeu_epi32(ranks + 17, 0x7FFF, placed(b, 17));
    leave_avx();
    return found;
}

#include "put_cuts.h"

#include "cut_avx512.h"
/* ---- keys and slots ---- */

INLINE __m512i four_at(const void *a, const void *b, const void *c, const void *d) {
    __m512i all = _mm512_castsi128_si512(_mm_loadu_si128(a));
    all = _mm512_inserti32x4(all, _mm_loadu_si128(b), 1);
    all = _mm512_inserti32x4(all, _mm_loadu_si128(c), 2);
    return _mm512_inserti32x4(all, _mm_loadu_si128(d), 3);
}

/* The keys of four pieces. lens: each length 16 times, as it stands in a key. */
INLINE __m512i four_keys(const uint8_t *text, const uint32_t *places, __m512i lens) {
    __m512i all = four_at(text + places[0], text + places[1], text + places[2], text + places[3]);
    uint64_t inside = _mm512_cmplt_epu8_mask(four_times(counting), lens), last = 0x8000800080008000;
    return _mm512_mask_mov_epi8(_mm512_maskz_mov_epi8(inside, all), last, lens);
}

AVX512 static void dstok__keys_avx512(const uint8_t *text, const uint32_t *places, size_t n,
                                      dstok__cached *table, unsigned bits, dstok__key *keys,
                                      dstok__cached **slots) {
    const __m512i low = _mm512_set1_epi64((long long)DSTOK__HASH_LOW);
    const __m512i factors = _mm512_mask_set1_epi64(low, 0xAA, (long long)DSTOK__HASH_HIGH);
    const __m512i base = _mm512_set1_epi64((long long)(uintptr_t)table);
    const __m512i whole =
        _mm512_set1_epi64(-(long long)sizeof *table); /* the slots' places end in five zeros */
    const __m128i shift = _mm_cvtsi32_si128((int)(64 - 5 - bits));
    const __m512i in_order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    const __m512i lane = _mm512_and_si512(_mm512_srli_epi16(load(counting), 2), bytes(12)); /* 4 (i / 16) */
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        __m256i begin = _mm256_loadu_si256((const __m256i *)(const void *)(places + i));
        __m256i end = _mm256_loadu_si256((const __m256i *)(const void *)(places + i + 1));
        __m256i len = _mm256_min_epu32(_mm256_sub_epi32(end, begin), _mm256_set1_epi32(DSTOK__KEY_LENGTH));
        __m512i lens = _mm512_castsi256_si512(len);
        __m512i a = four_keys(text, places + i, _mm512_permutexvar_epi8(lane, lens));
        __m512i b = four_keys(text, places + i + 4, _mm512_permutexvar_epi8(add(lane, 16), lens));
        _mm512_storeu_si512(keys + i, a);
        _mm512_storeu_si512(keys + i + 4, b);
        a = _mm512_mullo_epi64(a, factors);
        b = _mm512_mullo_epi64(b, factors);
        /* Of pieces 0, 4, 1, 5, 2, 6, 3, 7. */
        __m512i hash = _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
        __m512i at = _mm512_add_epi64(base, _mm512_and_si512(whole, _mm512_srl_epi64(hash, shift)));
        at = _mm512_permutexvar_epi64(in_order, at);
        /* In two halves: what is in the upper half of a store of 64 bytes is not passed on to a load at once. */
        _mm256_storeu_si256((__m256i *)(void *)(slots + i), _mm512_castsi512_si256(at));
        _mm256_storeu_si256((__m256i *)(void *)(slots + i + 4), _mm512_extracti64x4_epi64(at, 1));
        for (size_t k = 0; k < 8; k++) __builtin_prefetch(slots[i + k]);
    }
    leave_avx();
    dstok__keys(text, places + i, n - i, table, bits, keys + i, slots + i);
}

INLINE uint32_t *put_ids(uint32_t *at, const dstok__cached *slot) {
    _mm_storeu_si128((__m128i *)(void *)at, _mm_loadu_si128((const __m128i *)(const void *)slot->ids));
    return at + slot->n;
}

/* The slot, or where the two bits of it in `same` are not set the other one of its line. */
INLINE const dstok__cached *one_of_line(const dstok__cached *slot, unsigned same) {
    return (same & 3) == 3 ? slot : dstok__cache_nth(slot, 1);
}

/* Four pieces that are not all in their first slots; same: two bits for each, both set where it is. Returns `at` when
 * one of them is not in its line. */
AVX512 static uint32_t *put_four(const dstok__key *keys, dstok__cached *const *slots, unsigned same,
                                 uint32_t *at) {
    const dstok__cached *a = one_of_line(slots[0], same), *b = one_of_line(slots[1], same >> 2),
                        *c = one_of_line(slots[2], same >> 4), *d = one_of_line(slots[3], same >> 6);
    if (_mm512_cmpeq_epi64_mask(four_at(a, b, c, d), _mm512_loadu_si512(keys)) != 0xFF) return at;
    at = put_ids(put_ids(put_ids(put_ids(at, a), b), c), d);
    for (unsigned k = 0; k < 4; k++)
        if ((same >> 2 * k & 3) != 3) dstok__cache_promote(slots[k], at + k);
    return at;
}

AVX512 static size_t dstok__hits_avx512(const dstok__key *keys, dstok__cached *const *slots, size_t n,
                                        uint32_t **out) {
    uint32_t *at = *out;
    size_t i = 0;
    for (; n - i >= 4; i += 4) {
        const dstok__cached *a = slots[i], *b = slots[i + 1], *c = slots[i + 2], *d = slots[i + 3];
        unsigned same = _mm512_cmpeq_epi64_mask(four_at(a, b, c, d), _mm512_loadu_si512(keys + i));
        if (__builtin_expect(same == 0xFF, 1)) {
            at = put_ids(put_ids(put_ids(put_ids(at, a), b), c), d);
            continue;
        }
        uint32_t *end = put_four(keys + i, slots + i, same, at);
        if (end == at) break;
        at = end;
    }
    *out = at;
    leave_avx();
    return i + dstok__hits(keys + i, slots + i, n - i, out);
}

AVX512 static size_t dstok__absent_avx512(const dstok__key *keys, dstok__cached *const *slots, size_t n,
                                          uint32_t *out) {
    size_t found = 0, i = 0;
    for (; n - i >= 4; i += 4) {
        __m512i four = four_at(slots[i], slots[i + 1], slots[i + 2], slots[i + 3]);
        unsigned same = _mm512_cmpeq_epi64_mask(four, _mm512_loadu_si512(keys + i));
        for (unsigned rest = ~(same & same >> 1) & 0x55; rest != 0; rest &= rest - 1) {
            size_t at = i + (unsigned)__builtin_ctz(rest) / 2;
            out[found] = (uint32_t)at;
            found += !dstok__key_is(dstok__cache_nth(slots[at], 1), keys[at]);
        }
    }
    leave_avx();
    size_t more = dstok__absent(keys + i, slots + i, n - i, out + found);
    for (size_t k = found; k < found + more; k++) out[k] += (uint32_t)i;
    return found + more;
}

const dstok__simd dstok__simd_avx512 = {DSTOK__TIER_AVX512,        "avx512",
                                        dstok__utf8_check_avx512,  dstok__classify_avx512,
                                        dstok__find_byte_avx512,   dstok__positions_avx512,
                                        dstok__nfc_leads_avx512,   dstok__json_tokens_avx512,
                                        dstok__json_copy_avx512,   dstok__find_words_avx512,
                                        dstok__least_avx2,         dstok__byte_ranks_avx512,
                                        dstok__cut_avx512,         dstok__keys_avx512,
                                        dstok__hits_avx512,        dstok__absent_avx512,
                                        dstok__fill_page_avx512,   dstok__count_chars_avx512,
                                        dstok__line_begins_avx512, dstok__sum_lines_avx2,
                                        dstok__span_units_avx2,    dstok__span_bytes_avx2,
                                        dstok__line_places_avx2};

#else
typedef int dstok__no_avx512; /* ISO C wants a declaration in each file */
#endif
