/* SPDX-License-Identifier: MIT */
/* The AVX-512 tier once more, with plain code in place of its instructions (SIMDe), for machines without them. */
#define SIMDE_ENABLE_NATIVE_ALIASES
#define SIMDE_NO_NATIVE
#include <simde/x86/avx512.h>
#include <simde/x86/clmul.h>

#include "simde_gaps.h"

#define DSTOK__AVX512_ELSEWHERE
#define AVX512             /* an attribute would let the compiler use the instructions themselves */
#define dstok__simd_avx512 dstok__simd_avx512_simde
#include "../../simd/x86/avx512.c"
