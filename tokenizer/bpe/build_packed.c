/* SPDX-License-Identifier: MIT */
/* The packed table of pairs, for vocabularies of bytes. It leaves out pairs that no text can bring
 * together: whatever stands around a token's bytes, as long as nothing was merged across their ends they
 * merge in the same order as by themselves. So a token is made of one pair only, the last one of its own
 * bytes; other splits of it, which rank files and files made from them have, are never met. */
#include "build.h"

/* Merging is the same everywhere only when it is never refused. */
static bool may_leave_out(const dstok__build *b) {
    return !(b->head.options & (DSTOK__T_CONTROL_MERGES | DSTOK__T_UNUSED));
}

/* Keeps the pairs that can be met; the others' slots become free. */
static size_t leave_out(dstok__pair *slots, size_t cap, const dstok__split *lasts) {
    size_t n = 0;
    for (size_t i = 0; i < cap; i++) {
        dstok__pair *p = &slots[i];
        if (p->rank == DSTOK__NO_RANK) continue;
        dstok__split last = lasts[p->product];
        if (p->key == ((uint64_t)last.left << 32 | last.right)) {
            n++;
        } else {
            p->rank = DSTOK__NO_RANK;
        }
    }
    return n;
}

static size_t ranks_of(const dstok__pair *slots, size_t cap) {
    size_t n = 0;
    for (size_t i = 0; i < cap; i++)
        if (slots[i].rank != DSTOK__NO_RANK && slots[i].rank >= n) n = (size_t)slots[i].rank + 1;
    return n;
}

/* The products by rank, DSTOK__NO_ID where there is none; false when they are no function of it. */
static bool list_products(const dstok__pair *slots, size_t cap, uint32_t *products, size_t n) {
    for (size_t i = 0; i < n; i++) products[i] = DSTOK__NO_ID;
    for (size_t i = 0; i < cap; i++) {
        if (slots[i].rank == DSTOK__NO_RANK) continue;
        uint32_t *product = &products[slots[i].rank];
        if (*product != DSTOK__NO_ID && *product != slots[i].product) return false;
        *product = slots[i].product;
    }
    return true;
}

/* Are the products in the order of the ranks? Then their ids can be the ranks. */
static bool is_in_order(const uint32_t *products, size_t n) {
    uint32_t next = 0; /* least id that may come */
    for (size_t i = 0; i < n; i++) {
        if (products[i] == DSTOK__NO_ID) continue;
        if (products[i] < next) return false;
        next = products[i] + 1;
    }
    return true;
}

/* The order of the last two slots says whether a search goes on. */
static void set_order(uint64_t *line, bool goes_on) {
    uint64_t *two = line + DSTOK__PACKED_LINE - 2, one = two[0];
    if (dstok__packed_goes_on(line) == goes_on) return;
    two[0] = two[1];
    two[1] = one;
}

static void put_packed(uint64_t *packed, size_t cap, uint64_t seed, const dstok__pair *p, uint32_t rank) {
    uint64_t key = p->key >> 32 << 20 | (uint32_t)p->key;
    for (size_t i = dstok__packed_home(key, seed, cap);;
         i = i + DSTOK__PACKED_LINE == cap ? 0 : i + DSTOK__PACKED_LINE) {
        uint64_t *line = packed + i;
        size_t k = 0;
        while (k < DSTOK__PACKED_LINE && line[k] != DSTOK__PACKED_FREE) k++;
        if (k < DSTOK__PACKED_LINE) {
            line[k] = key << 24 | rank;
            if (k == DSTOK__PACKED_LINE - 1) set_order(line, false);
            return;
        }
        set_order(line, true);
    }
}

static dstok_status pack(dstok__build *b, const dstok__pair *slots, size_t cap, size_t n) {
    dstok__buf *products = &b->sections[DSTOK__S_PRODUCTS];
    bool in_order =
        is_in_order((const uint32_t *)(const void *)products->data, products->len / sizeof(uint32_t));
    size_t packed_cap = dstok__packed_room(n);
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_PACKED, packed_cap, sizeof(uint64_t)));
    uint64_t *packed = (uint64_t *)(void *)b->sections[DSTOK__S_PACKED].data;
    for (size_t i = 0; i < packed_cap; i++) packed[i] = DSTOK__PACKED_FREE;
    for (size_t i = 0; i < cap; i++) {
        const dstok__pair *p = &slots[i];
        if (p->rank != DSTOK__NO_RANK)
            put_packed(packed, packed_cap, b->head.seed, p, in_order ? p->product : p->rank);
    }
    b->sections[DSTOK__S_PAIRS].len = 0;
    DSTOK_TRY(dstok__build_bytes(b, slots, cap, in_order));
    if (in_order) products->len = 0;
    uint32_t *by_rank = (uint32_t *)(void *)products->data;
    for (size_t i = 0; i < products->len / sizeof *by_rank; i++)
        if (by_rank[i] == DSTOK__NO_ID) by_rank[i] = 0; /* a rank that no pair has */
    return DSTOK_OK;
}

dstok_status dstok__build_packed(dstok__build *b, const dstok__split *lasts) {
    dstok__buf *plain = &b->sections[DSTOK__S_PAIRS], *products = &b->sections[DSTOK__S_PRODUCTS];
    dstok__pair *slots = (dstok__pair *)(void *)plain->data;
    size_t cap = plain->len / sizeof *slots, n_pairs = b->head.n_merges, n = ranks_of(slots, cap);
    if (n == 0 || n > DSTOK__PACKED_RANKS || n > 4 * cap || b->head.n_ids > DSTOK__PACKED_IDS)
        return DSTOK_OK;
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_PRODUCTS, n, sizeof(uint32_t)));
    if (!list_products(slots, cap, (uint32_t *)(void *)products->data, n)) {
        products->len = 0;
        return DSTOK_OK;
    }
    if (may_leave_out(b)) {
        n_pairs = leave_out(slots, cap, lasts);
        (void)list_products(slots, cap, (uint32_t *)(void *)products->data, n);
        DSTOK_TRY(dstok__build_atoms(b, lasts));
    }
    return pack(b, slots, cap, n_pairs);
}
