/* SPDX-License-Identifier: MIT */
/* Pure functions on byte ranges. The versions in scalar/ are the definition of right. */
#ifndef DSTOK_SIMD_SIMD_H
#define DSTOK_SIMD_SIMD_H

#include <stddef.h>
#include <stdint.h>

/* First byte of text[0, len) that is not part of well-formed UTF-8, or len. */
size_t dstok__utf8_check(const uint8_t *text, size_t len);

/* Length of the maximal ill-formed subpart that begins at text[0], len > 0: how many bytes one U+FFFD
 * replaces (Unicode 16.0, 3.9, "U+FFFD Substitution of Maximal Subparts"). 0 when a well-formed character
 * begins there; *width (may be NULL) is then its length. */
size_t dstok__utf8_ill_formed(const uint8_t *text, size_t len, size_t *width);

#endif
