/* SPDX-License-Identifier: MIT */
/* Exact cuts, eight places at a time. Part of avx2.c. */
#ifndef DSTOK_SIMD_CUT_AVX2_H
#define DSTOK_SIMD_CUT_AVX2_H

/* Four bytes at each of eight places. */
INLINE __m256i gather_at(const void *base, __m256i places, int scale_is_4) {
    return scale_is_4 ? _mm256_i32gather_epi32(base, places, 4) : _mm256_i32gather_epi32(base, places, 1);
}

/* By the upper half of a first byte: how many bits of 32 are not its character's. */
static const uint8_t bits_of_others[16] = {24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 16, 16, 8, 0};

/* The keys of the characters that begin where these four bytes do: those behind them are taken away. */
INLINE __m256i keys_at(__m256i c) {
    const __m256i others = twice(bits_of_others);
    __m256i half = _mm256_and_si256(_mm256_srli_epi32(c, 4), _mm256_set1_epi32(0x0F));
    half = _mm256_or_si256(half, _mm256_set1_epi32((int)0x80808000)); /* zeros in the other bytes */
    return _mm256_and_si256(c, _mm256_srlv_epi32(_mm256_set1_epi32(-1), _mm256_shuffle_epi8(others, half)));
}

INLINE __m256i choose(__m256i by_sign, __m256i set, __m256i unset) {
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(unset), _mm256_castsi256_ps(set), _mm256_castsi256_ps(by_sign)));
}

/* The keys of the characters that end where these four bytes do. */
INLINE __m256i keys_before(__m256i c) {
    __m256i tails = _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), c);
    __m256i longer = choose(_mm256_slli_epi32(tails, 16), c, _mm256_srli_epi32(c, 8));
    longer = choose(_mm256_slli_epi32(tails, 8), longer, _mm256_srli_epi32(c, 16));
    return choose(tails, longer, _mm256_srli_epi32(c, 24));
}

INLINE __m256i times(__m256i keys, uint32_t factor) {
    return _mm256_mullo_epi32(keys, _mm256_set1_epi32((int)factor));
}

/* Bit 0: the bit of a table at hash >> shift. */
INLINE __m256i bit_of(const uint64_t *table, __m256i hash, __m128i shift) {
    __m256i at = _mm256_srl_epi32(hash, shift), words = gather_at(table, _mm256_srli_epi32(at, 5), 1);
    return _mm256_srlv_epi32(words, _mm256_and_si256(at, _mm256_set1_epi32(31)));
}

/* A byte of a table of 64 by the last six bits of each word's lowest byte; the others are 0. */
INLINE __m256i look_up_64(const uint8_t *table, __m256i c) {
    const __m256i half = _mm256_set1_epi32(0x0F), others = _mm256_set1_epi32((int)0x80808000);
    __m256i at = _mm256_or_si256(_mm256_and_si256(c, half), others), odd = _mm256_slli_epi32(c, 27);
    __m256i low =
        choose(odd, _mm256_shuffle_epi8(twice(table + 16), at), _mm256_shuffle_epi8(twice(table), at));
    __m256i high =
        choose(odd, _mm256_shuffle_epi8(twice(table + 48), at), _mm256_shuffle_epi8(twice(table + 32), at));
    return choose(_mm256_slli_epi32(c, 26), high, low);
}

/* The sign is set where the last of four bytes and the first of those behind them have a class in common. */
INLINE __m256i torn_at(const dstok__cuts *c, __m256i before, __m256i from) {
    const uint8_t *edges = dstok__edges(c);
    __m256i last = _mm256_srli_epi32(before, 24);
    __m256i is_ascii = _mm256_andnot_si256(before, _mm256_set1_epi32((int)0x80000000));
    __m256i classes = choose(is_ascii, look_up_64(edges + 128, last), look_up_64(edges + 64, last));
    classes = _mm256_and_si256(classes, look_up_64(edges, from));
    __m256i long_ones = _mm256_slli_epi32(from, 24); /* the sign: a first byte that is not ASCII */
    return _mm256_and_si256(long_ones, _mm256_cmpgt_epi32(classes, _mm256_setzero_si256()));
}

/* Bit k: the characters around the k-th place may join. */
INLINE uint32_t joins_at(const dstok__cuts *c, const uint8_t *text, const uint32_t *places) {
    const __m128i shift = _mm_cvtsi32_si128((int)c->shift),
                  part_shift = _mm_cvtsi32_si128(32 - DSTOK__PART_BITS);
    __m256i at = load((const uint8_t *)(const void *)places);
    __m256i before = gather_at(text, _mm256_sub_epi32(at, _mm256_set1_epi32(4)), 0),
            from = gather_at(text, at, 0);
    __m256i left = times(keys_before(before), DSTOK__LEFT_FACTOR),
            right = times(keys_at(from), DSTOK__RIGHT_FACTOR);
    __m256i last = times(_mm256_srli_epi32(before, 24), DSTOK__LEFT_FACTOR);
    __m256i joins = bit_of(c->pairs, _mm256_add_epi32(left, right), shift);
    joins = _mm256_or_si256(joins, bit_of(c->parts, _mm256_add_epi32(last, right), part_shift));
    joins = _mm256_or_si256(_mm256_slli_epi32(joins, 31), torn_at(c, before, from));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(joins));
}

AVX2 static void dstok__cut_avx2(const dstok__cuts *c, const uint8_t *text, const uint64_t *asked, size_t n,
                                 uint32_t *places, uint64_t *cuts) {
    uint8_t joins[64 * 64 / 8 + 16];
    size_t n_places = dstok__positions_avx2(asked, n, places);
    for (size_t i = 0; i < 8 && n_places > 0; i++) places[n_places + i] = places[0];
    for (size_t i = 0; i < n_places; i += 8) joins[i / 8] = (uint8_t)joins_at(c, text, places + i);
    put_cuts(joins, asked, n, cuts);
}

#endif
