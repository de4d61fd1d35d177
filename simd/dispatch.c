/* SPDX-License-Identifier: MIT */
/* Which functions this machine can run. */
#include "tiers.h"

static const dstok__simd scalar = {
    DSTOK__TIER_SCALAR, "scalar",          dstok__utf8_check,  dstok__classify,    dstok__find_byte,
    dstok__positions,   dstok__nfc_leads,  dstok__json_tokens, dstok__json_copy,   dstok__find_words,
    dstok__least,       dstok__byte_ranks, dstok__cut,         dstok__keys,        dstok__hits,
    dstok__absent,      dstok__fill_page,  dstok__count_chars, dstok__line_begins, dstok__sum_lines,
    dstok__span_units,  dstok__span_bytes, dstok__line_places};

#if DSTOK__HAVE_X86
/* What the compiler's runtime found out before main(): the CPU's features as far as the system keeps their registers.
 * __builtin_cpu_init only reads when that has been done. */
static int has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("pclmul");
}
#endif

const dstok__simd *dstok__simd_tier(dstok__tier tier) {
    switch (tier) {
    case DSTOK__TIER_SCALAR:
        return &scalar;
#if DSTOK__HAVE_X86
    case DSTOK__TIER_AVX2:
        return has_avx2() ? &dstok__simd_avx2 : NULL;
    case DSTOK__TIER_AVX512:
        return has_avx512() ? &dstok__simd_avx512 : NULL;
#endif
#if DSTOK__HAVE_NEON
    case DSTOK__TIER_NEON: /* every AArch64 has it */
        return &dstok__simd_neon;
#endif
    default:
        return NULL;
    }
}

const dstok__simd *dstok__simd_best(dstok__tier cap) {
    for (int tier = DSTOK__N_TIERS - 1; tier > DSTOK__TIER_SCALAR; tier--) {
        const dstok__simd *simd = tier <= (int)cap ? dstok__simd_tier((dstok__tier)tier) : NULL;
        if (simd != NULL) return simd;
    }
    return &scalar;
}
