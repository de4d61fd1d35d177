/* SPDX-License-Identifier: MIT */
/* For each byte the places of its set bits, the lowest in the lowest byte; what follows them means nothing. */
#ifndef DSTOK_SIMD_PLACES_H
#define DSTOK_SIMD_PLACES_H

#include <stdint.h>

/* One byte from its halves: the places in the lower half and how many they are, the places in the upper half. */
#define PLACES(low, n, high) (uint64_t)(low) | (uint64_t)(high) << (8 * (n))
#define PLACES_16(high)                                                                                      \
    PLACES(0, 0, high), PLACES(0x00, 1, high), PLACES(0x01, 1, high), PLACES(0x0100, 2, high),               \
        PLACES(0x02, 1, high), PLACES(0x0200, 2, high), PLACES(0x0201, 2, high), PLACES(0x020100, 3, high),  \
        PLACES(0x03, 1, high), PLACES(0x0300, 2, high), PLACES(0x0301, 2, high), PLACES(0x030100, 3, high),  \
        PLACES(0x0302, 2, high), PLACES(0x030200, 3, high), PLACES(0x030201, 3, high),                       \
        PLACES(0x03020100, 4, high)

static const uint64_t dstok__places[256] = {
    PLACES_16(0),      PLACES_16(0x04),     PLACES_16(0x05),     PLACES_16(0x0504),
    PLACES_16(0x06),   PLACES_16(0x0604),   PLACES_16(0x0605),   PLACES_16(0x060504),
    PLACES_16(0x07),   PLACES_16(0x0704),   PLACES_16(0x0705),   PLACES_16(0x070504),
    PLACES_16(0x0706), PLACES_16(0x070604), PLACES_16(0x070605), PLACES_16(0x07060504),
};

#undef PLACES
#undef PLACES_16

#endif
