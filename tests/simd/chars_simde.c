/* SPDX-License-Identifier: MIT */
/* The AVX-512 tier's characters and lines once more, as in avx512_simde.c. */
#include "avx512_simde.h"

#include "../../simd/x86/chars_avx512.c"
