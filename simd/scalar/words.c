/* SPDX-License-Identifier: MIT */
/* What merging asks of its tables, one word at a time. */
#include "../simd.h"

void dstok__find_words(const uint64_t *const *lines, const uint64_t *keys, size_t n, uint64_t *out) {
    for (size_t i = 0; i < n; i++) {
        uint64_t found = UINT64_MAX;
        for (unsigned k = 0; k < 8; k++) found = lines[i][k] >> 24 == keys[i] ? lines[i][k] : found;
        out[i] = found;
    }
}

void dstok__least(const int32_t *const *rows, size_t n, int32_t *out) {
    for (size_t i = 0; i < n; i++) {
        int32_t least = rows[i][0];
        for (unsigned k = 1; k < 32; k++) least = rows[i][k] < least ? rows[i][k] : least;
        out[i] = least;
    }
}

uint32_t dstok__byte_ranks(const int32_t *pairs, const uint8_t *text, size_t n, int32_t *ranks) {
    const int32_t alone = INT32_MAX;
    int32_t before = alone, pair = n > 1 ? pairs[(size_t)text[0] << 8 | text[1]] : alone;
    uint32_t found = 0;
    for (int32_t i = 0; i < 32; i++) ranks[i] = (alone & ~31) | i;
    for (unsigned i = 1; i < n; i++) {
        int32_t behind = i + 1 < n ? pairs[(size_t)text[i] << 8 | text[i + 1]] : alone;
        int32_t rank = pair >> 5, flags = before & behind >> 1 & pair >> 2;
        ranks[i] = (pair & ~31) | (int32_t)i;
        found |= (uint32_t)((rank < before >> 5) & (rank <= behind >> 5) & flags & 1) << i;
        before = pair;
        pair = behind;
    }
    return found;
}
