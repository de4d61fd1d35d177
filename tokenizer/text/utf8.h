/* SPDX-License-Identifier: MIT */
/* Reading and writing single code points of text that is known to be valid UTF-8. */
#ifndef DSTOK_TEXT_UTF8_H
#define DSTOK_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool dstok__is_continuation(uint8_t byte) {
    return (byte & 0xC0) == 0x80;
}

/* The code point at s; *width is its length. */
static inline uint32_t dstok__utf8_get(const uint8_t *s, size_t *width) {
    if (s[0] < 0x80) {
        *width = 1;
        return s[0];
    }
    if (s[0] < 0xE0) {
        *width = 2;
        return (uint32_t)(s[0] & 0x1F) << 6 | (s[1] & 0x3Fu);
    }
    if (s[0] < 0xF0) {
        *width = 3;
        return (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3Fu);
    }
    *width = 4;
    return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 | (uint32_t)(s[2] & 0x3F) << 6 |
           (s[3] & 0x3Fu);
}

/* The code point that ends before s[0]; the text begins somewhere before. */
static inline uint32_t dstok__utf8_before(const uint8_t *s, size_t *width) {
    const uint8_t *p = s - 1;
    while (dstok__is_continuation(*p)) p--;
    return dstok__utf8_get(p, width);
}

/* Writes cp (a scalar value) to s[0..4); returns its length. */
static inline size_t dstok__utf8_put(uint8_t *s, uint32_t cp) {
    if (cp < 0x80) {
        s[0] = (uint8_t)cp;
        return 1;
    }
    if (cp < 0x800) {
        s[0] = (uint8_t)(0xC0 | cp >> 6);
        s[1] = (uint8_t)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        s[0] = (uint8_t)(0xE0 | cp >> 12);
        s[1] = (uint8_t)(0x80 | (cp >> 6 & 0x3F));
        s[2] = (uint8_t)(0x80 | (cp & 0x3F));
        return 3;
    }
    s[0] = (uint8_t)(0xF0 | cp >> 18);
    s[1] = (uint8_t)(0x80 | (cp >> 12 & 0x3F));
    s[2] = (uint8_t)(0x80 | (cp >> 6 & 0x3F));
    s[3] = (uint8_t)(0x80 | (cp & 0x3F));
    return 4;
}

#endif
