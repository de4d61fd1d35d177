/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648, section 4), read strictly. */
#ifndef DSTOK_LOAD_BASE64_H
#define DSTOK_LOAD_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes text[0, n) into out, which has room for n / 4 * 3 bytes. False for anything but the one right spelling of
 * some bytes: wrong length, foreign characters, padding elsewhere than at the end, left-over bits that are not zero. */
bool dstok__base64_decode(const char *text, size_t n, uint8_t *out, size_t *out_n);

#endif
