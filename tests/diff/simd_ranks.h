/* SPDX-License-Identifier: MIT */
/* Ranks of pairs, for test_simd.c, in the midst of which this file stands. */
#ifndef DSTOK_TESTS_SIMD_RANKS_H
#define DSTOK_TESTS_SIMD_RANKS_H

/* Rows in which the least number is in any place, alone or not. */
static void test_least(const dstok__simd *simd) {
    enum { N = 40 };
    static int32_t words[32 * N], want[N + 1], got[N + 1];
    static const int32_t *rows[N];
    for (int round = 0; round < 400; round++) {
        uint32_t few = round % 2 == 0 ? UINT32_MAX : 40;
        for (size_t i = 0; i < 32 * N; i++) words[i] = (int32_t)t_below(&rng, few) - 20;
        for (size_t i = 0; i < N; i++) rows[i] = words + 32 * t_below(&rng, N);
        size_t n = t_below(&rng, N + 1);
        memset(got, 0xAA, sizeof got);
        memset(want, 0xAA, sizeof want);
        dstok__least(rows, n, want);
        simd->least(rows, n, got);
        t_checks++;
        if (memcmp(got, want, sizeof want) != 0) report(simd, "least: of rows", n, N);
    }
}

/* Ranks of which many are equal, with any flags; texts of few bytes, so that pairs come again. */
static void test_byte_ranks(const dstok__simd *simd) {
    static int32_t pairs[65536], got[33], want[33];
    for (uint32_t round = 0; round < 6000; round++) {
        uint32_t alphabet = 1 + t_below(&rng, 6), base = t_below(&rng, 251), ranks = 1 + t_below(&rng, 12);
        for (uint32_t i = 0; i < 36; i++) {
            uint32_t rank =
                t_below(&rng, 5) == 0 ? INT32_MAX >> 5 : t_below(&rng, ranks) << t_below(&rng, 20);
            pairs[(base + i / 6) << 8 | (base + i % 6)] = (int32_t)(rank << 5 | t_below(&rng, 8) | 24);
            if (t_below(&rng, 2) == 0) pairs[(base + i / 6) << 8 | (base + i % 6)] |= 7;
        }
        size_t n = 1 + t_below(&rng, 30), len = n < 16 ? 16 : n;
        uint8_t *text = at_edge(&in_area, len, round % 2);
        for (size_t i = 0; i < len; i++) text[i] = (uint8_t)(base + t_below(&rng, alphabet));
        memset(got, 0xAA, sizeof got);
        memset(want, 0xAA, sizeof want);
        uint32_t all = dstok__byte_ranks(pairs, text, n, want), some = simd->byte_ranks(pairs, text, n, got);
        t_checks++;
        if (some != all) report(simd, "byte_ranks: which come first", some, all);
        if (memcmp(got, want, sizeof want) != 0) report(simd, "byte_ranks: of bytes", n, n);
    }
}

#endif
