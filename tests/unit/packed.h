/* SPDX-License-Identifier: MIT */
/* Packed tables of pairs for tests, made in the plainest way. */
#ifndef DSTOK_TESTS_UNIT_PACKED_H
#define DSTOK_TESTS_UNIT_PACKED_H

#include "../../tokenizer/bpe/pairs.h"

#include <stdlib.h>
#include <string.h>

static inline void swap(uint64_t *a, uint64_t *b) {
    uint64_t one = *a;
    *a = *b;
    *b = one;
}

/* The same pairs packed, as pairs.h says: each line is filled from the front, what finds none free goes to
 * the next, and then the last two of the line fall. lines: more than the pairs fill. */
static inline void put_packed(dstok__pairs *packed, const dstok__pairs *plain, size_t lines, uint64_t seed) {
    uint32_t n_ranks = 0;
    for (size_t i = 0; i < plain->cap; i++) {
        const dstok__pair *p = &plain->slots[i];
        if (p->rank != DSTOK__NO_RANK && p->rank >= n_ranks) n_ranks = p->rank + 1;
    }
    size_t cap = lines * DSTOK__PACKED_LINE;
    uint64_t *slots = malloc(cap * sizeof *slots);
    uint32_t *products = calloc(n_ranks + 1, sizeof *products);
    bool *passed = calloc(lines, sizeof *passed);
    memset(slots, 0xFF, cap * sizeof *slots);
    for (size_t i = 0; i < plain->cap; i++) {
        const dstok__pair *p = &plain->slots[i];
        if (p->rank == DSTOK__NO_RANK) continue;
        uint64_t key = p->key >> 32 << 20 | (uint32_t)p->key;
        size_t at = dstok__packed_home(key, seed, cap);
        for (; slots[at] != DSTOK__PACKED_FREE; at = (at + 1) % cap)
            if (at % 8 == 7) passed[at / 8] = true;
        slots[at] = key << 24 | p->rank;
        products[p->rank] = p->product;
    }
    for (size_t i = 0; i < lines; i++)
        if ((slots[8 * i + 6] > slots[8 * i + 7]) != passed[i]) swap(&slots[8 * i + 6], &slots[8 * i + 7]);
    free(passed);
    *packed = (dstok__pairs){
        .cap = cap, .count = plain->count, .seed = seed, .packed = slots, .products = products};
}

static inline void free_packed(dstok__pairs *p) {
    free((void *)(uintptr_t)p->packed);
    free((void *)(uintptr_t)p->products);
}

#endif
