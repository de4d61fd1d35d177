/* SPDX-License-Identifier: MIT */
/* Pairs of two bytes: their ranks, and which of them may merge before their turn (pairs.h). */
#include "build.h"

/* Least ranks: by last byte << 8 | byte, of the pairs of a token that ends with the one and the other one;
 * by byte << 8 | first byte, of the pairs of a byte and a token that begins with the other one; by token, of
 * the pairs that it is part of. And the pairs of two bytes. */
typedef struct least {
    uint32_t *before, *behind, *of;
    const dstok__pair **pairs;
} least;

static inline void lower(uint32_t *to, uint32_t rank) {
    *to = rank < *to ? rank : *to;
}

static void note_pair(const dstok__build *b, least *l, const dstok__pair *p) {
    const uint8_t *strings = b->sections[DSTOK__S_STRINGS].data;
    const dstok__ref *texts = (const dstok__ref *)(const void *)b->sections[DSTOK__S_TEXTS].data;
    uint32_t left = (uint32_t)(p->key >> 32), right = (uint32_t)p->key;
    uint8_t last = strings[texts[left].at + texts[left].n - 1], first = strings[texts[right].at];
    unsigned seam = (unsigned)last << 8 | first;
    lower(&l->of[left], p->rank);
    lower(&l->of[right], p->rank);
    if (right == b->head.byte_ids[first]) lower(&l->before[seam], p->rank);
    if (left == b->head.byte_ids[last]) lower(&l->behind[seam], p->rank);
    if (left == b->head.byte_ids[last] && right == b->head.byte_ids[first]) l->pairs[seam] = p;
}

static int32_t entry(const least *l, size_t i, bool in_order) {
    const dstok__pair *p = l->pairs[i];
    uint32_t rank = p == NULL ? DSTOK__NO_RANK : p->rank;
    bool before = l->before[i] == rank, behind = l->behind[i] == rank,
         early = p != NULL && l->of[p->product] > rank;
    int flags = (before ? DSTOK__FIRST_BEFORE : 0) | (behind ? DSTOK__FIRST_BEHIND : 0) |
                (early ? DSTOK__MERGES_EARLY : 0);
    return dstok__placed(p != NULL && in_order ? p->product : rank) | flags;
}

dstok_status dstok__build_bytes(dstok__build *b, const dstok__pair *slots, size_t cap, bool in_order) {
    size_t n = DSTOK__BYTE_PAIRS, room = 2 * n + b->head.n_ids;
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_BYTE_PAIRS, n, sizeof(int32_t)));
    int32_t *of_bytes = (int32_t *)(void *)b->sections[DSTOK__S_BYTE_PAIRS].data;
    uint32_t *ranks = dstok__alloc_array(b->al, room, sizeof *ranks);
    least l = {.pairs = dstok__alloc_zeroed(b->al, n, sizeof *l.pairs)};
    bool fits = ranks != NULL && l.pairs != NULL;
    if (fits) {
        l.before = ranks;
        l.behind = ranks + n;
        l.of = ranks + 2 * n;
        for (size_t i = 0; i < room; i++) ranks[i] = DSTOK__NO_RANK;
        for (size_t i = 0; i < cap; i++)
            if (slots[i].rank != DSTOK__NO_RANK) note_pair(b, &l, &slots[i]);
        for (size_t i = 0; i < n; i++) of_bytes[i] = entry(&l, i, in_order);
    }
    dstok__free(b->al, ranks, room * sizeof *ranks);
    dstok__free(b->al, (void *)l.pairs, n * sizeof *l.pairs);
    return fits ? DSTOK_OK : DSTOK_E_NOMEM;
}
