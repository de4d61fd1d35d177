/* SPDX-License-Identifier: MIT */
/* UTF-8 checking, one character at a time (Unicode 16.0, table 3-7). */
#include "../tiers.h"

#include <string.h>

size_t dstok__utf8_ill_formed(const uint8_t *text, size_t len, size_t *width) {
    size_t unused;
    if (width == NULL) width = &unused;
    if (text[0] < 0x80) {
        *width = 1;
        return 0;
    }
    uint8_t low, high;
    size_t want = dstok__utf8_lead(text[0], &low, &high), have = 1;
    if (want == 0) return 1;
    while (have < want && have < len && text[have] >= low && text[have] <= high) {
        low = 0x80;
        high = 0xBF;
        have++;
    }
    *width = have;
    return have == want ? 0 : have;
}

size_t dstok__utf8_check(const uint8_t *text, size_t len) {
    size_t i = 0, width;
    while (i < len) {
        uint64_t word;
        if (len - i >= 8) {
            memcpy(&word, text + i, 8);
            if ((word & 0x8080808080808080u) == 0) {
                i += 8;
                continue;
            }
        }
        if (dstok__utf8_ill_formed(text + i, len - i, &width) != 0) return i;
        i += width;
    }
    return len;
}

size_t dstok__utf8_check_from(const uint8_t *text, size_t len, size_t from) {
    for (size_t back = 1; back <= 3 && back <= from; back++) {
        if (text[from - back] >= 0xC0) {
            from -= back;
            break;
        }
        if (text[from - back] < 0x80) break;
    }
    return from + dstok__utf8_check(text + from, len - from);
}
