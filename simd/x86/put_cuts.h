/* SPDX-License-Identifier: MIT */
/* What the tiers that find cuts by vectors share. Part of avx2.c and avx512.c. */
#ifndef DSTOK_SIMD_PUT_CUTS_H
#define DSTOK_SIMD_PUT_CUTS_H

#include <string.h>

/* Bit k of joins belongs to the k-th bit of asked. Reads up to nine bytes from the last one on. */
INLINE void put_cuts(const uint8_t *joins, const uint64_t *asked, size_t n, uint64_t *cuts) {
    for (size_t i = 0, at = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, joins + at / 8, sizeof bits);
        bits = bits >> (at % 8) | (uint64_t)joins[at / 8 + 8] << 1 << (63 - at % 8);
        cuts[i] |= _pdep_u64(~bits, asked[i]);
        at += (size_t)__builtin_popcountll(asked[i]);
    }
}

#endif
