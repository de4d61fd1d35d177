/* SPDX-License-Identifier: MIT */
/* The byte-level alphabet: each byte has one printable character, as in GPT-2's vocabulary files. */
#ifndef DSTOK_LOAD_BYTELEVEL_H
#define DSTOK_LOAD_BYTELEVEL_H

#include "../base/base.h"

/* The character of a byte: the byte itself where that is printable and no blank, else U+0100 and up in byte order. */
uint32_t dstok__bytelevel_char(uint8_t byte);

/* The byte of a character, or -1 when the alphabet does not have it. */
int dstok__bytelevel_byte(uint32_t c);

/* The bytes that a text in this alphabet stands for. text is valid UTF-8; out has room for n bytes.
 * False (out unspecified) when some character is not in the alphabet. */
bool dstok__bytelevel_decode(const char *text, size_t n, uint8_t *out, size_t *out_n);

#endif
