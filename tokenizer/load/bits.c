/* SPDX-License-Identifier: MIT */
/* A set of ids, as bits; it grows to the largest id. */
#include "bits.h"

#include <string.h>

void dstok__bits_init(dstok__bits *b, const dstok_alloc *al) {
    *b = (dstok__bits){.al = al};
}

void dstok__bits_free(dstok__bits *b) {
    dstok__free(b->al, b->bytes, b->n);
    dstok__bits_init(b, b->al);
}

bool dstok__bits_has(const dstok__bits *b, uint32_t id) {
    return id / 8 < b->n && (b->bytes[id / 8] >> id % 8 & 1) != 0;
}

dstok_status dstok__bits_add(dstok__bits *b, uint32_t id, dstok_error *err) {
    size_t old = b->n;
    dstok_status status = dstok__grow(b->al, (void **)&b->bytes, &b->n, id / 8 + 1, 1, DSTOK__MAX_IDS / 8);
    if (status != DSTOK_OK) return dstok__spec_no_room(status, "ids", DSTOK__MAX_IDS, err);
    memset(b->bytes + old, 0, b->n - old);
    b->bytes[id / 8] |= (uint8_t)(1u << id % 8);
    return DSTOK_OK;
}
