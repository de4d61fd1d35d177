/* SPDX-License-Identifier: MIT */
/* A hash map from byte strings to uint32_t: open addressing, linear probing, at most half full. */
#include "base.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct dstok__map_slot {
    const unsigned char *key; /* NULL: free */
    size_t n;
    uint32_t hash, value;
};

void dstok__map_init(dstok__map *m, const dstok_alloc *al) {
    *m = (dstok__map){.al = al};
}

void dstok__map_free(dstok__map *m) {
    if (m->slots != NULL) dstok__free(m->al, m->slots, (m->mask + 1) * sizeof *m->slots);
    m->slots = NULL;
    m->mask = m->count = 0;
}

uint64_t dstok__hash(const void *data, size_t n, uint64_t seed) {
    return XXH3_64bits_withSeed(data, n, seed);
}

static uint32_t hash_of(const dstok__map *m, const void *key, size_t n) {
    return (uint32_t)XXH3_64bits_withSeed(key, n, m->seed);
}

/* The slot that holds the key, or the free one where it belongs. */
static struct dstok__map_slot *find(const dstok__map *m, const void *key, size_t n, uint32_t hash) {
    for (size_t i = hash & m->mask;; i = (i + 1) & m->mask) {
        struct dstok__map_slot *s = &m->slots[i];
        if (s->key == NULL) return s;
        if (s->hash == hash && s->n == n && (n == 0 || memcmp(s->key, key, n) == 0)) return s;
    }
}

dstok_status dstok__map_reserve(dstok__map *m, size_t n) {
    if (n > UINT32_MAX / 2) return DSTOK_E_LIMIT;
    size_t size = 16;
    while (size < 2 * n) size *= 2;
    if (m->slots != NULL && size <= m->mask + 1) return DSTOK_OK;
    dstok__map bigger = {.al = m->al, .mask = size - 1, .count = m->count, .seed = m->seed};
    bigger.slots = dstok__alloc_zeroed(m->al, size, sizeof *bigger.slots);
    if (bigger.slots == NULL) return DSTOK_E_NOMEM;
    if (m->slots == NULL) bigger.seed = (uintptr_t)bigger.slots; /* address space layout is random */
    if (m->slots != NULL) {
        for (size_t i = 0; i <= m->mask; i++) {
            const struct dstok__map_slot *s = &m->slots[i];
            if (s->key != NULL) *find(&bigger, s->key, s->n, s->hash) = *s;
        }
    }
    dstok__map_free(m);
    *m = bigger;
    return DSTOK_OK;
}

dstok_status dstok__map_put(dstok__map *m, const void *key, size_t n, uint32_t value, uint32_t *old) {
    if (m->slots == NULL || 2 * (m->count + 1) > m->mask + 1) DSTOK_TRY(dstok__map_reserve(m, m->count + 1));
    uint32_t hash = hash_of(m, key, n);
    struct dstok__map_slot *s = find(m, key, n, hash);
    if (old != NULL) *old = s->key == NULL ? UINT32_MAX : s->value;
    if (s->key == NULL) {
        *s = (struct dstok__map_slot){.key = n == 0 ? (const unsigned char *)"" : key, .n = n, .hash = hash};
        m->count++;
    }
    s->value = value;
    return DSTOK_OK;
}

uint32_t dstok__map_get(const dstok__map *m, const void *key, size_t n) {
    if (m->slots == NULL) return UINT32_MAX;
    const struct dstok__map_slot *s = find(m, key, n, hash_of(m, key, n));
    return s->key == NULL ? UINT32_MAX : s->value;
}
