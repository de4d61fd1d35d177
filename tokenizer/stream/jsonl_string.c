/* SPDX-License-Identifier: MIT */
/* Strings of JSON without their escapes. */
#include "jsonl.h"

#include "../text/utf8.h"

/* By byte: the value of a hex digit. */
static const uint8_t hex_values[256] = {
    ['1'] = 1,  ['2'] = 2,  ['3'] = 3,  ['4'] = 4,  ['5'] = 5,  ['6'] = 6,  ['7'] = 7,
    ['8'] = 8,  ['9'] = 9,  ['A'] = 10, ['B'] = 11, ['C'] = 12, ['D'] = 13, ['E'] = 14,
    ['F'] = 15, ['a'] = 10, ['b'] = 11, ['c'] = 12, ['d'] = 13, ['e'] = 14, ['f'] = 15,
};

static uint32_t hex4(const uint8_t *s) {
    return (uint32_t)hex_values[s[0]] << 12 | (uint32_t)hex_values[s[1]] << 8 |
           (uint32_t)hex_values[s[2]] << 4 | hex_values[s[3]];
}

static bool is_surrogate(uint32_t c) {
    return c >= 0xD800 && c < 0xE000;
}

/* The code point of the \u at s, n >= 6 bytes; *used: its bytes. Half of a pair gives its own value. */
static uint32_t code_at(const uint8_t *s, size_t n, size_t *used) {
    uint32_t c = hex4(s + 2), low;
    *used = 6;
    if (c < 0xD800 || c > 0xDBFF || n < 12 || s[6] != '\\' || s[7] != 'u') return c;
    low = hex4(s + 8);
    if (low < 0xDC00 || low > 0xDFFF) return c;
    *used = 12;
    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

/* Copies the \u that stand behind each other at text: they often come in runs. Returns how much of text is
 * done. */
static size_t copy_codes(const uint8_t *text, size_t len, bool replace, uint8_t *out, size_t *n) {
    size_t i = 0, count = 0;
    while (len - i >= 6 && text[i] == '\\' && text[i + 1] == 'u') {
        size_t used;
        uint32_t c = code_at(text + i, len - i, &used);
        if (is_surrogate(c) && !replace) break;
        count += dstok__utf8_put(out + count, is_surrogate(c) ? 0xFFFD : c);
        i += used;
    }
    *n = count;
    return i;
}

size_t dstok__jsonl_unescape(const dstok__simd *simd, const uint8_t *text, size_t len, bool replace,
                             uint8_t *out, size_t *n) {
    size_t i = 0, count = 0, more;
    while (i < len) {
        i += simd->json_copy(text + i, len - i, out + count, &more);
        count += more;
        if (i == len) break;
        size_t done = copy_codes(text + i, len - i, replace, out + count, &more);
        if (done == 0) break;
        i += done;
        count += more;
    }
    *n = count;
    return i;
}
