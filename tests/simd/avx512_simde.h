/* SPDX-License-Identifier: MIT */
/* Plain code in place of AVX-512 instructions (SIMDe), and names of its own for what is made with it. */
#ifndef DSTOK_TESTS_AVX512_SIMDE_H
#define DSTOK_TESTS_AVX512_SIMDE_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#define SIMDE_NO_NATIVE
#include <simde/x86/avx512.h>
#include <simde/x86/clmul.h>

#include "simde_gaps.h"

#define DSTOK__AVX512_ELSEWHERE
#define AVX512                    /* an attribute would let the compiler use the instructions themselves */
#define dstok__simd_avx512        dstok__simd_avx512_simde
#define dstok__fill_page_avx512   dstok__fill_page_avx512_simde
#define dstok__count_chars_avx512 dstok__count_chars_avx512_simde
#define dstok__line_begins_avx512 dstok__line_begins_avx512_simde

#endif
