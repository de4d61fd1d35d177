/* SPDX-License-Identifier: MIT */
/* The byte-level alphabet by arithmetic: 188 bytes stand for themselves, the 68 others follow from U+0100 on. */
#include "bytelevel.h"

/* The bytes that are not their own character: 00-20, 7F-A0, AD. */
enum { FIRST = 0x100, LOW = 0x21, MIDDLE = 0x7F, MIDDLE_END = 0xA1, HYPHEN = 0xAD };

uint32_t dstok__bytelevel_char(uint8_t byte) {
    if (byte < LOW) return FIRST + byte;
    if (byte >= MIDDLE && byte < MIDDLE_END) return FIRST + LOW + (uint32_t)(byte - MIDDLE);
    if (byte == HYPHEN) return FIRST + LOW + (MIDDLE_END - MIDDLE);
    return byte;
}

int dstok__bytelevel_byte(uint32_t c) {
    if (c < FIRST) return c < LOW || (c >= MIDDLE && c < MIDDLE_END) || c == HYPHEN ? -1 : (int)c;
    c -= FIRST;
    if (c < LOW) return (int)c;
    c -= LOW;
    if (c < MIDDLE_END - MIDDLE) return (int)(MIDDLE + c);
    return c == MIDDLE_END - MIDDLE ? HYPHEN : -1;
}

bool dstok__bytelevel_decode(const char *text, size_t n, uint8_t *out, size_t *out_n) {
    const uint8_t *s = (const uint8_t *)text;
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = s[i];
        if (c >= 0xE0) return false; /* the alphabet has no character of three bytes or more */
        if (c >= 0xC0) {
            if (++i == n) return false;
            c = (c & 0x1F) << 6 | (s[i] & 0x3Fu);
        }
        int byte = dstok__bytelevel_byte(c);
        if (byte < 0) return false;
        out[len++] = (uint8_t)byte;
    }
    *out_n = len;
    return true;
}
