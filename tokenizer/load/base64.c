/* SPDX-License-Identifier: MIT */
/* Base64, read strictly. */
#include "base64.h"

/* The value of a digit, or -1. */
static int digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool dstok__base64_decode(const char *text, size_t n, uint8_t *out, size_t *out_n) {
    size_t padding = 0, len = 0;
    if (n % 4 != 0) return false;
    while (padding < 2 && padding < n && text[n - 1 - padding] == '=') padding++;
    for (size_t i = 0; i < n; i += 4) {
        size_t digits = i + 4 == n ? 4 - padding : 4;
        uint32_t v = 0;
        for (size_t k = 0; k < 4; k++) {
            int d = k < digits ? digit(text[i + k]) : 0;
            if (d < 0) return false;
            v = v << 6 | (uint32_t)d;
        }
        if ((digits == 2 && (v & 0xFFFF) != 0) || (digits == 3 && (v & 0xFF) != 0)) return false;
        for (size_t k = 0; k + 1 < digits; k++) out[len++] = (uint8_t)(v >> (16 - 8 * k));
    }
    *out_n = len;
    return true;
}
