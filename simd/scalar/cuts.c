/* SPDX-License-Identifier: MIT */
/* Cuts, one place at a time. */
#include "../simd.h"

void dstok__cut(const dstok__cuts *c, const uint8_t *text, const uint64_t *asked, size_t n, uint32_t *places,
                uint64_t *cuts) {
    (void)places;
    for (size_t i = 0; i < n; i++) {
        for (uint64_t rest = asked[i]; rest != 0; rest &= rest - 1) {
            const uint8_t *p = text + 64 * i + (unsigned)__builtin_ctzll(rest);
            if (!dstok__may_join(c, dstok__key_before(p), dstok__key_at(p))) cuts[i] |= rest & (0 - rest);
        }
    }
}
