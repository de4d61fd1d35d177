/* SPDX-License-Identifier: MIT */
/* What the map and the tracer share: characters of a text, and a check of spans. */
#ifndef DSTOK_ALIGN_MAP_H
#define DSTOK_ALIGN_MAP_H

#include <dstok/base.h>

/* Where the character ends that text[at] is inside of; `at` itself at a border of characters. */
size_t dstok__char_end(const uint8_t *text, size_t len, size_t at);

/* The code point of the character at text[at], at < len, and its length; U+FFFD for an ill-formed subpart. */
uint32_t dstok__code_at(const uint8_t *text, size_t len, size_t at, size_t *width);

/* E_RANGE, with the index of the token, where spans leave the text or decrease. */
dstok_status dstok__spans_check(const dstok_span *spans, size_t n, size_t len, dstok_error *err);

#endif
