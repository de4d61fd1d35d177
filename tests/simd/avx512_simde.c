/* SPDX-License-Identifier: MIT */
/* The AVX-512 tier once more, with plain code in place of its instructions (SIMDe), for machines without them. */
#include "avx512_simde.h"

#include "../../simd/x86/avx512.c"
