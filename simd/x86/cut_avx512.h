/* SPDX-License-Identifier: MIT */
/* Exact cuts, sixteen places at a time. Part of avx512.c. */
#ifndef DSTOK_SIMD_CUT_AVX512_H
#define DSTOK_SIMD_CUT_AVX512_H

INLINE __m512i words_of(uint32_t n) {
    return _mm512_set1_epi32((int)n);
}

/* The keys of the characters that begin where these four bytes do: those behind them are taken away. */
INLINE __m512i keys_at(__m512i c) {
    const __m512i others = _mm512_setr_epi32(24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 16, 16, 8, 0);
    __m512i half = _mm512_srli_epi32(c, 4); /* its last four bits count */
    return _mm512_and_si512(c,
                            _mm512_srlv_epi32(words_of(UINT32_MAX), _mm512_permutexvar_epi32(half, others)));
}

/* Which of the words have a byte 80-BF at a bit. */
INLINE uint16_t has_tail(__m512i c, int bit) {
    return _mm512_cmpeq_epi32_mask(_mm512_and_si512(c, words_of(0xC0u << bit)), words_of(0x80u << bit));
}

/* The keys of the characters that end where these four bytes do. */
INLINE __m512i keys_before(__m512i c) {
    uint16_t two = _mm512_test_epi32_mask(c, words_of(0x80000000)), three = two & has_tail(c, 16),
             four = three & has_tail(c, 8);
    __m512i shift = _mm512_mask_mov_epi32(words_of(24), two, words_of(16));
    shift = _mm512_mask_mov_epi32(shift, three, words_of(8));
    shift = _mm512_mask_mov_epi32(shift, four, words_of(0));
    return _mm512_srlv_epi32(c, shift);
}

INLINE __m512i times(__m512i keys, uint32_t factor) {
    return _mm512_mullo_epi32(keys, words_of(factor));
}

/* Bit 0: the bit of a table at hash >> shift. */
INLINE __m512i bit_of(const uint64_t *table, __m512i hash, __m128i shift) {
    __m512i at = _mm512_srl_epi32(hash, shift),
            words = _mm512_i32gather_epi32(_mm512_srli_epi32(at, 5), table, 4);
    return _mm512_srlv_epi32(words, _mm512_and_si512(at, words_of(31)));
}

/* Bit k: the last of four bytes and the first of those behind them have a class in common. */
INLINE uint32_t torn_at(const dstok__cuts *c, __m512i before, __m512i from) {
    const uint8_t *edges = dstok__edges(c);
    __m512i last = _mm512_srli_epi32(before, 24), is_ascii = _mm512_andnot_si512(last, words_of(0x80));
    last = _mm512_ternarylogic_epi32(last, words_of(0x3F), _mm512_srli_epi32(is_ascii, 1),
                                     0xEA); /* (1st & 2nd) | 3rd */
    last = _mm512_permutex2var_epi8(load(edges + 64), last, load(edges + 128));
    __m512i first = _mm512_permutexvar_epi8(from, load(edges));
    uint16_t long_ones = _mm512_test_epi32_mask(from, words_of(0x80)); /* a first byte that is not ASCII */
    return long_ones & _mm512_test_epi32_mask(_mm512_and_si512(first, last), words_of(0xFF));
}

/* Bit k: the characters around the k-th place may join. */
INLINE uint32_t joins_at(const dstok__cuts *c, const uint8_t *text, const uint32_t *places) {
    const __m128i shift = _mm_cvtsi32_si128((int)c->shift),
                  part_shift = _mm_cvtsi32_si128(32 - DSTOK__PART_BITS);
    __m512i at = _mm512_loadu_si512(places);
    __m512i before = _mm512_i32gather_epi32(_mm512_sub_epi32(at, words_of(4)), text, 1);
    __m512i from = _mm512_i32gather_epi32(at, text, 1);
    __m512i left = times(keys_before(before), DSTOK__LEFT_FACTOR),
            right = times(keys_at(from), DSTOK__RIGHT_FACTOR);
    __m512i last = times(_mm512_srli_epi32(before, 24), DSTOK__LEFT_FACTOR);
    __m512i joins = bit_of(c->pairs, _mm512_add_epi32(left, right), shift);
    joins = _mm512_or_si512(joins, bit_of(c->parts, _mm512_add_epi32(last, right), part_shift));
    return _mm512_test_epi32_mask(joins, words_of(1)) | torn_at(c, before, from);
}

AVX512 static void dstok__cut_avx512(const dstok__cuts *c, const uint8_t *text, const uint64_t *asked,
                                     size_t n, uint32_t *places, uint64_t *cuts) {
    uint16_t joins[64 * 64 / 16 + 16];
    size_t n_places = dstok__positions_avx512(asked, n, places);
    for (size_t i = 0; i < 16 && n_places > 0; i++) places[n_places + i] = places[0];
    for (size_t i = 0; i < n_places; i += 16) joins[i / 16] = (uint16_t)joins_at(c, text, places + i);
    put_cuts((const uint8_t *)joins, asked, n, cuts);
}

#endif
