/* SPDX-License-Identifier: MIT */
/* Words of lines, one at a time. */
#include "../simd.h"

void dstok__find_words(const uint64_t *const *lines, const uint64_t *keys, size_t n, uint64_t *out) {
    for (size_t i = 0; i < n; i++) {
        uint64_t found = UINT64_MAX;
        for (unsigned k = 0; k < 8; k++) found = lines[i][k] >> 24 == keys[i] ? lines[i][k] : found;
        out[i] = found;
    }
}
