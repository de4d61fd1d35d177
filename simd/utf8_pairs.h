/* SPDX-License-Identifier: MIT */
/* What is wrong with two bytes that follow each other, by three half-bytes: a bit stands when all three tables have it
 * (Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte", 2021). */
#ifndef DSTOK_SIMD_UTF8_PAIRS_H
#define DSTOK_SIMD_UTF8_PAIRS_H

#include <stdint.h>

enum {
    U8_CUT = 1,        /* a lead without its tail */
    U8_STRAY = 2,      /* a tail behind ASCII */
    U8_LONG2 = 4,      /* C0 C1: U+0000..U+007F in two bytes */
    U8_LONG3 = 8,      /* E0 80..9F: up to U+07FF in three */
    U8_LONG4 = 16,     /* F0 80..8F: up to U+FFFF in four; F5..FF 80..8F */
    U8_SURROGATE = 32, /* ED A0..BF */
    U8_ABOVE = 64,     /* F4..FF 90..BF: above U+10FFFF */
    U8_TAILS = 128,    /* two tails: right exactly where a lead of three or four bytes came before */
};

/* clang-format off */
/* By the upper half of the first byte: 0-7, 8-B, C, D, E, F. */
static const uint8_t dstok__utf8_first_high[16] = {
    U8_STRAY, U8_STRAY, U8_STRAY, U8_STRAY, U8_STRAY, U8_STRAY, U8_STRAY, U8_STRAY,
    U8_TAILS, U8_TAILS, U8_TAILS, U8_TAILS,
    U8_CUT | U8_LONG2, U8_CUT, U8_CUT | U8_LONG3 | U8_SURROGATE, U8_CUT | U8_LONG4 | U8_ABOVE,
};

/* By its lower half: 0, 1, 2-3, 4, 5-C, D, E-F. */
enum { U8_ANY = U8_CUT | U8_STRAY | U8_TAILS, U8_LATE = U8_ANY | U8_ABOVE | U8_LONG4 };
static const uint8_t dstok__utf8_first_low[16] = {
    U8_ANY | U8_LONG2 | U8_LONG3 | U8_LONG4, U8_ANY | U8_LONG2, U8_ANY, U8_ANY, U8_ANY | U8_ABOVE,
    U8_LATE, U8_LATE, U8_LATE, U8_LATE, U8_LATE, U8_LATE, U8_LATE, U8_LATE,
    U8_LATE | U8_SURROGATE, U8_LATE, U8_LATE,
};

/* By the upper half of the second byte: 0-7, 8, 9, A-B, C-F. */
enum { U8_TAIL = U8_STRAY | U8_TAILS | U8_LONG2 };
static const uint8_t dstok__utf8_second_high[16] = {
    U8_CUT, U8_CUT, U8_CUT, U8_CUT, U8_CUT, U8_CUT, U8_CUT, U8_CUT,
    U8_TAIL | U8_LONG3 | U8_LONG4, U8_TAIL | U8_LONG3 | U8_ABOVE,
    U8_TAIL | U8_SURROGATE | U8_ABOVE, U8_TAIL | U8_SURROGATE | U8_ABOVE,
    U8_CUT, U8_CUT, U8_CUT, U8_CUT,
};
/* clang-format on */

#endif
