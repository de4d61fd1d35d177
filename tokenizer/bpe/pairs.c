/* SPDX-License-Identifier: MIT */
/* Building the pair table. */
#include "pairs.h"

void dstok__pairs_init(dstok__pairs *p, const dstok_alloc *al) {
    *p = (dstok__pairs){.al = al};
}

void dstok__pairs_free(dstok__pairs *p) {
    dstok__free(p->al, p->slots, p->cap * sizeof *p->slots);
    p->slots = NULL;
    p->cap = 0;
}

/* A free slot's key is no pair of ids below 2^24. */
#define FREE_KEY UINT64_MAX

void dstok__pairs_clear(dstok__pairs *p) {
    for (size_t i = 0; i < p->cap; i++) p->slots[i] = (dstok__pair){FREE_KEY, DSTOK__NO_RANK, 0};
    p->count = 0;
}

static dstok__pair *slot_of(dstok__pairs *p, uint64_t key) {
    size_t i = dstok__pair_home(key, p->seed, p->cap);
    while (p->slots[i].key != key && p->slots[i].rank != DSTOK__NO_RANK) i = i + 1 == p->cap ? 0 : i + 1;
    return &p->slots[i];
}

dstok_status dstok__pairs_reserve(dstok__pairs *p, size_t n) {
    size_t cap = dstok__pairs_room(n);
    if (cap > UINT32_MAX) return DSTOK_E_LIMIT;
    if (cap <= p->cap) return DSTOK_OK;
    if (cap < 2 * p->cap) cap = 2 * p->cap;
    dstok__pairs bigger = {.al = p->al, .cap = cap, .seed = p->seed};
    bigger.slots = dstok__alloc_array(p->al, cap, sizeof *bigger.slots);
    if (bigger.slots == NULL) return DSTOK_E_NOMEM;
    if (p->slots == NULL)
        bigger.seed = (uintptr_t)bigger.slots * 0xD6E8FEB86659FD93u; /* addresses are random */
    dstok__pairs_clear(&bigger);
    for (size_t i = 0; i < p->cap; i++) {
        if (p->slots[i].rank != DSTOK__NO_RANK) *slot_of(&bigger, p->slots[i].key) = p->slots[i];
    }
    bigger.count = p->count;
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
