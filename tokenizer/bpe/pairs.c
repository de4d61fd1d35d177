/* SPDX-License-Identifier: MIT */
/* Building the pair table. */
#include "pairs.h"

void dstok__pairs_init(dstok__pairs *p, const dstok_alloc *al) {
    *p = (dstok__pairs){.al = al};
}

void dstok__pairs_free(dstok__pairs *p) {
    if (p->slots != NULL) dstok__free(p->al, p->slots, (p->mask + 1) * sizeof *p->slots);
    p->slots = NULL;
}

/* A free slot's key is no pair of ids below 2^24. */
#define FREE_KEY UINT64_MAX

static dstok__pair *slot_of(dstok__pairs *p, uint64_t key) {
    size_t i = dstok__pair_hash(key, p->seed) & p->mask;
    while (p->slots[i].key != key && p->slots[i].rank != DSTOK__NO_RANK) i = (i + 1) & p->mask;
    return &p->slots[i];
}

dstok_status dstok__pairs_reserve(dstok__pairs *p, size_t n) {
    size_t size = 16;
    while (size / 2 < n) {
        if (size > SIZE_MAX / 4) return DSTOK_E_LIMIT;
        size *= 2;
    }
    if (p->slots != NULL && size <= p->mask + 1) return DSTOK_OK;
    dstok__pairs bigger = {.al = p->al, .mask = size - 1, .count = p->count, .seed = p->seed};
    bigger.slots = dstok__alloc_array(p->al, size, sizeof *bigger.slots);
    if (bigger.slots == NULL) return DSTOK_E_NOMEM;
    if (p->slots == NULL)
        bigger.seed = (uintptr_t)bigger.slots * 0xD6E8FEB86659FD93u; /* addresses are random */
    for (size_t i = 0; i < size; i++) bigger.slots[i] = (dstok__pair){FREE_KEY, DSTOK__NO_RANK, 0};
    for (size_t i = 0; p->slots != NULL && i <= p->mask; i++) {
        if (p->slots[i].rank != DSTOK__NO_RANK) *slot_of(&bigger, p->slots[i].key) = p->slots[i];
    }
    dstok__pairs_free(p);
    *p = bigger;
    return DSTOK_OK;
}

bool dstok__pairs_put(dstok__pairs *p, uint32_t left, uint32_t right, uint32_t rank, uint32_t product) {
    dstok__pair *slot = slot_of(p, (uint64_t)left << 32 | right);
    bool is_new = slot->rank == DSTOK__NO_RANK;
    *slot = (dstok__pair){(uint64_t)left << 32 | right, rank, product};
    p->count += is_new;
    return is_new;
}
