/* SPDX-License-Identifier: MIT */
/* Pair counts in a hash table, and for each pair the words that may hold it, as lists in one pool. */
#include "train.h"

#include <string.h>

void dstok__counted_pairs_init(dstok__counted_pairs *p, const dstok_alloc *al) {
    *p = (dstok__counted_pairs){.al = al, .free_post = DSTOK__NO_POST};
}

void dstok__counted_pairs_free(dstok__counted_pairs *p) {
    dstok__free(p->al, p->items, p->cap * sizeof *p->items);
    dstok__free(p->al, p->posts, p->cap_posts * sizeof *p->posts);
    if (p->slots != NULL) dstok__free(p->al, p->slots, (p->mask + 1) * sizeof *p->slots);
}

/* Both ids reach all bits (the finaliser of splitmix64, a public-domain generator). */
static uint64_t mix(uint64_t key) {
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9u;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EBu;
    return key ^ (key >> 31);
}

/* The slot that holds the key, or the free one where it belongs. */
static uint32_t *find(const dstok__counted_pairs *p, uint64_t key) {
    for (size_t i = mix(key) & p->mask;; i = (i + 1) & p->mask) {
        uint32_t slot = p->slots[i];
        if (slot == 0 || p->items[slot - 1].key == key) return &p->slots[i];
    }
}

static dstok_status rehash(dstok__counted_pairs *p, size_t size) {
    uint32_t *slots = dstok__alloc_zeroed(p->al, size, sizeof *slots);
    if (slots == NULL) return DSTOK_E_NOMEM;
    if (p->slots != NULL) dstok__free(p->al, p->slots, (p->mask + 1) * sizeof *p->slots);
    p->slots = slots;
    p->mask = size - 1;
    for (size_t i = 0; i < p->n; i++) *find(p, p->items[i].key) = (uint32_t)i + 1;
    return DSTOK_OK;
}

dstok_status dstok__counted_pairs_get(dstok__counted_pairs *p, uint32_t left, uint32_t right,
                                      uint32_t *index) {
    uint64_t key = (uint64_t)left << 32 | right;
    if (p->slots == NULL) DSTOK_TRY(rehash(p, 1024));
    uint32_t *slot = find(p, key);
    if (*slot == 0) {
        DSTOK_TRY(dstok__grow(p->al, (void **)&p->items, &p->cap, p->n + 1, sizeof *p->items,
                              DSTOK__TRAIN_MAX_PAIRS));
        if (2 * (p->n + 1) > p->mask + 1) {
            DSTOK_TRY(rehash(p, 2 * (p->mask + 1)));
            slot = find(p, key);
        }
        p->items[p->n++] = (dstok__pair){.key = key, .posts = DSTOK__NO_POST};
        *slot = (uint32_t)p->n;
    }
    *index = *slot - 1;
    return DSTOK_OK;
}

dstok_status dstok__counted_pairs_post(dstok__counted_pairs *p, uint32_t index, uint32_t word) {
    dstok__pair *pair = &p->items[index];
    if (pair->posts != DSTOK__NO_POST && p->posts[pair->posts].word == word) return DSTOK_OK;
    uint32_t post = p->free_post;
    if (post != DSTOK__NO_POST) {
        p->free_post = p->posts[post].next;
    } else {
        DSTOK_TRY(dstok__grow(p->al, (void **)&p->posts, &p->cap_posts, p->n_posts + 1, sizeof *p->posts,
                              DSTOK__TRAIN_MAX_POSTS));
        post = (uint32_t)p->n_posts++;
    }
    p->posts[post] = (dstok__post){.word = word, .next = pair->posts};
    pair->posts = post;
    return DSTOK_OK;
}

uint32_t dstok__counted_pairs_release(dstok__counted_pairs *p, uint32_t post) {
    uint32_t next = p->posts[post].next;
    p->posts[post].next = p->free_post;
    p->free_post = post;
    return next;
}
