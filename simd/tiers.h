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

/* The second byte of a multi-byte character must lie in [low, high]; the others in [80, BF]. Returns the
 * length that the lead byte announces, 0 when it is no lead byte of several. */
static inline size_t dstok__utf8_lead(uint8_t lead, uint8_t *low, uint8_t *high) {
    *low = 0x80;
    *high = 0xBF;
    if (lead < 0xC2) return 0;
    if (lead < 0xE0) return 2;
    if (lead < 0xF0) {
        if (lead == 0xE0) *low = 0xA0;  /* overlong forms */
        if (lead == 0xED) *high = 0x9F; /* surrogates */
        return 3;
    }
    if (lead < 0xF5) {
        if (lead == 0xF0) *low = 0x90;  /* overlong forms */
        if (lead == 0xF4) *high = 0x8F; /* above U+10FFFF */
        return 4;
    }
    return 0;
}

/* Characters and lines are found in files of their own. */
#define DSTOK__CHARS_TIER(name)                                                                              \
    void dstok__fill_page_##name(const uint8_t *text, size_t n, uint32_t before, dstok__page *page,          \
                                 size_t k, int unit);                                                        \
    void dstok__count_chars_##name(const uint8_t *text, size_t n, uint32_t before, uint64_t count[2]);       \
    void dstok__line_begins_##name(const uint8_t *text, size_t n, uint32_t before, uint64_t *out);           \
    void dstok__sum_lines_##name(dstok__line_page *page, size_t k, size_t n);                                \
    size_t dstok__span_units_##name(const dstok__page *page, uint64_t *places, size_t n);                    \
    size_t dstok__span_bytes_##name(const dstok__page *page, uint64_t *places, size_t n);                    \
    size_t dstok__line_places_##name(const dstok__line_page *page, const uint64_t *bytes, size_t n,          \
                                     uint64_t *out)
DSTOK__CHARS_TIER(avx2);
DSTOK__CHARS_TIER(avx512);
DSTOK__CHARS_TIER(neon);
#undef DSTOK__CHARS_TIER

void dstok__least_avx2(const int32_t *const *rows, size_t n, int32_t *out); /* AVX-512 has nothing faster */

/* utf8_check of a text whose characters up to text[from] are all right, but for the last one, which may go
 * on there. */
size_t dstok__utf8_check_from(const uint8_t *text, size_t len, size_t from);

#endif
