/* SPDX-License-Identifier: MIT */
/* Which functions this machine can run. */
#include "simd.h"

static const dstok__simd scalar = {
    DSTOK__TIER_SCALAR, "scalar", dstok__utf8_check, dstok__classify, dstok__find_byte, dstok__positions,
};

const dstok__simd *dstok__simd_tier(dstok__tier tier) {
    return tier == DSTOK__TIER_SCALAR ? &scalar : NULL;
}

const dstok__simd *dstok__simd_best(dstok__tier cap) {
    (void)cap;
    return &scalar;
}
