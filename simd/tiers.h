/* SPDX-License-Identifier: MIT */
/* Which tiers this build has, and their tables. */
#ifndef DSTOK_SIMD_TIERS_H
#define DSTOK_SIMD_TIERS_H

#include "simd.h"

#if !defined(DSTOK_SCALAR_ONLY) && defined(__GNUC__) && defined(__x86_64__)
#define DSTOK__HAVE_X86 1
extern const dstok__simd dstok__simd_avx2, dstok__simd_avx512;
#else
#define DSTOK__HAVE_X86 0
#endif

#if !defined(DSTOK_SCALAR_ONLY) && defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) &&       \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DSTOK__HAVE_NEON 1
extern const dstok__simd dstok__simd_neon;
#else
#define DSTOK__HAVE_NEON 0
#endif

/* utf8_check of a text whose characters up to text[from] are all right, but for the last one, which may go on there. */
size_t dstok__utf8_check_from(const uint8_t *text, size_t len, size_t from);

#endif
