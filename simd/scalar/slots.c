/* SPDX-License-Identifier: MIT */
/* Keys of pieces and what their slots hold, one piece at a time. */
#include "../simd.h"

#include <stdbool.h>

void dstok__keys(const uint8_t *text, const uint32_t *places, size_t n, dstok__cached *table, unsigned bits,
                 dstok__key *keys, dstok__cached **slots) {
    for (size_t i = 0; i < n; i++) {
        keys[i] = dstok__key_of(text + places[i], places[i + 1] - places[i]);
        slots[i] = dstok__cache_at(table, bits, dstok__key_hash(keys[i]));
        __builtin_prefetch(slots[i]);
    }
}

size_t dstok__hits(const dstok__key *keys, dstok__cached *const *slots, size_t n, uint32_t **out) {
    uint32_t *at = *out;
    size_t i = 0;
    for (; i < n; i++) {
        const dstok__cached *slot = slots[i];
        bool is_first = dstok__key_is(slot, keys[i]);
        if (!is_first && !dstok__key_is(slot = dstok__cache_nth(slot, 1), keys[i])) break;
        memcpy(at, slot->ids, sizeof slot->ids + sizeof slot->n); /* what is too much is overwritten */
        at += slot->n;
        if (!is_first) dstok__cache_promote(slots[i], at);
    }
    *out = at;
    return i;
}

size_t dstok__absent(const dstok__key *keys, dstok__cached *const *slots, size_t n, uint32_t *out) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        out[found] = (uint32_t)i;
        found += !dstok__key_is(slots[i], keys[i]) && !dstok__key_is(dstok__cache_nth(slots[i], 1), keys[i]);
    }
    return found;
}
