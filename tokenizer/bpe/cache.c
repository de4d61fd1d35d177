/* SPDX-License-Identifier: MIT */
/* The cache of an encoder: two slots for each hash, and two beside them. */
#include "cache.h"

#define FIRST_BITS  11u /* 64 KiB of slots to begin with */
#define FIRST_LONGS ((size_t)1 << 9)

#define LINE ((size_t)64) /* bytes of a cache line, which a pair of slots fills */

static size_t alignment(unsigned bits) {
    return sizeof(dstok__cached) << bits >= DSTOK__LARGE_PAGE ? DSTOK__LARGE_PAGE : LINE;
}

static size_t block_size(unsigned bits) {
    return (sizeof(dstok__cached) << bits) + alignment(bits);
}

/* Of the bytes asked for, an eighth goes to the pool and an eighth to long pieces at most; the slots take
 * the largest power of two that fits. */
void dstok__cache_init(dstok__cache *c, const dstok_alloc *al, size_t max) {
    *c = (dstok__cache){.al = al};
    size_t slots = max - max / 4;
    if (slots < block_size(FIRST_BITS)) return;
    c->max_bits = FIRST_BITS;
    while (block_size(c->max_bits + 1) <= slots && c->max_bits < 31) c->max_bits++;
    uint64_t pool = max / 8 / sizeof *c->pool;
    c->max_pool = pool < UINT32_MAX ? (size_t)pool : UINT32_MAX; /* places in it are numbers of 32 bits */
}

static size_t longs_for(const dstok__cache *c, unsigned bits) {
    size_t n = FIRST_LONGS << (bits - FIRST_BITS), max = c->max_pool * sizeof *c->pool / sizeof *c->longs;
    while (n > max && n > 1) n /= 2;
    return n;
}

void dstok__cache_free(dstok__cache *c) {
    if (c->block != NULL) dstok__free(c->al, c->block, block_size(c->bits));
    dstok__free(c->al, c->longs, c->n_longs * sizeof *c->longs);
    dstok__free(c->al, c->pool, c->pool_cap * sizeof *c->pool);
    c->slots = c->block = NULL;
    c->longs = NULL;
    c->pool = NULL;
}

/* The set beside that of `at`: the processor often brings both lines at once. */
static dstok__cached *neighbour(dstok__cached *slots, dstok__cached *at) {
    return slots + ((size_t)(at - slots) ^ 2);
}

/* Puts a slot in its set or, when that is full, beside it. What came first stays in front: it is mostly
 * what comes often. When all four are full the newer of the set goes beside it, and what it finds there is
 * forgotten. */
static void place(dstok__cached *slots, unsigned bits, const dstok__cached *one) {
    dstok__key key = {one->key.low, one->key.high & ~DSTOK__IN_POOL};
    dstok__cached *at = dstok__cache_at(slots, bits, dstok__key_hash(key)), *beside = neighbour(slots, at);
    if (at[0].key.high == 0) {
        at[0] = *one;
    } else if (at[1].key.high == 0) {
        at[1] = *one;
    } else if (beside[1].key.high == 0) {
        beside[1] = *one;
    } else {
        beside[1] = at[1];
        at[1] = *one;
    }
}

static void move_slots(const dstok__cache *c, dstok__cached *slots, unsigned bits) {
    if (c->slots == NULL) return;
    for (size_t i = (size_t)1 << c->bits;
         i-- > 0;) { /* backwards, so that the newer of two comes in front again */
        const dstok__cached *one = &c->slots[i];
        if (one->key.high != 0) place(slots, bits, one);
    }
}

static void move_longs(const dstok__cache *c, dstok__cached_long *longs, size_t n) {
    for (size_t i = 0; i < c->n_longs; i++)
        if (c->longs[i].n_bytes != 0) longs[c->longs[i].hash & (n - 1)] = c->longs[i];
}

static dstok__cached *slots_in(void *block, unsigned bits) {
    size_t align = alignment(bits);
    void *slots = (void *)(((uintptr_t)block + align - 1) & ~(uintptr_t)(align - 1));
    dstok__want_large_pages(slots, sizeof(dstok__cached) << bits);
    return slots;
}

void dstok__cache_grow(dstok__cache *c) {
    if (c->max_bits == 0 ||
        (c->slots != NULL && (c->bits >= c->max_bits || c->n_put < (size_t)1 << c->bits >> 2)))
        return;
    unsigned bits = c->slots == NULL ? FIRST_BITS : c->bits + 4 < c->max_bits ? c->bits + 4 : c->max_bits;
    size_t n_longs = longs_for(c, bits), pool_cap = c->max_pool >> (c->max_bits - bits);
    void *block = dstok__alloc_zeroed(c->al, block_size(bits), 1);
    dstok__cached_long *longs = dstok__alloc_zeroed(c->al, n_longs, sizeof *longs);
    uint32_t *pool = dstok__alloc_array(c->al, pool_cap, sizeof *pool);
    if (block == NULL || longs == NULL || pool == NULL) {
        dstok__free(c->al, block, block_size(bits));
        dstok__free(c->al, longs, n_longs * sizeof *longs);
        dstok__free(c->al, pool, pool_cap * sizeof *pool);
        return;
    }
    dstok__cached *slots = slots_in(block, bits);
    move_slots(c, slots, bits);
    move_longs(c, longs, n_longs);
    if (c->pool_n > 0) memcpy(pool, c->pool, c->pool_n * sizeof *pool);
    dstok__cache_free(c);
    c->slots = slots;
    c->block = block;
    c->bits = bits;
    c->longs = longs;
    c->n_longs = n_longs;
    c->pool = pool;
    c->pool_cap = pool_cap;
    c->n_put = 0;
}

/* Room for n numbers in the pool. When it is full all is forgotten: no slot may point at what is
 * overwritten. */
static bool pool_reserve(dstok__cache *c, size_t n) {
    if (n > c->pool_cap) return false;
    if (c->pool_cap - c->pool_n >= n) return true;
    memset(c->slots, 0, sizeof *c->slots << c->bits);
    memset(c->longs, 0, c->n_longs * sizeof *c->longs);
    c->pool_n = 0;
    return true;
}

static bool holds(const dstok__cached *slot, dstok__key key) {
    return slot->key.low == key.low && (slot->key.high & ~DSTOK__IN_POOL) == key.high;
}

const uint32_t *dstok__cache_find(dstok__cache *c, dstok__cached *at, dstok__key key, size_t *n) {
    dstok__cached *beside = dstok__cache_beside(c, at), *found = at;
    if (!holds(found, key) && !holds(++found, key)) {
        found = beside + !holds(beside, key);
        if (!holds(found, key)) return NULL;
        dstok__cached one = *found;
        *found = at[1];
        *(found = &at[1]) = one;
    }
    *n = found->n;
    return found->key.high == key.high ? found->ids : c->pool + found->ids[0];
}

void dstok__cache_put(dstok__cache *c, dstok__key key, const uint32_t *ids, size_t n) {
    dstok__cached one = {.key = key, .n = (uint32_t)n};
    if (c->slots == NULL || n == 0) return;
    if (n <= DSTOK__SLOT_IDS) {
        memcpy(one.ids, ids, n * sizeof *ids);
    } else {
        if (!pool_reserve(c, n)) return;
        memcpy(c->pool + c->pool_n, ids, n * sizeof *ids);
        one.ids[0] = (uint32_t)c->pool_n;
        one.key.high |= DSTOK__IN_POOL;
        c->pool_n += n;
    }
    place(c->slots, c->bits, &one);
    c->n_put++;
}

static uint64_t long_hash(const uint8_t *text, size_t n) {
    return dstok__hash(text, n, 0);
}

const uint32_t *dstok__cache_find_long(const dstok__cache *c, const uint8_t *text, size_t n, size_t *n_ids) {
    if (c->slots == NULL || n > DSTOK__LONG_BYTES) return NULL;
    uint64_t hash = long_hash(text, n);
    const dstok__cached_long *one = &c->longs[hash & (c->n_longs - 1)];
    if (one->hash != hash || one->n_bytes != n || memcmp(c->pool + one->at, text, n) != 0) return NULL;
    *n_ids = one->n_ids;
    return c->pool + one->at + (n + 3) / 4;
}

void dstok__cache_put_long(dstok__cache *c, const uint8_t *text, size_t n, const uint32_t *ids,
                           size_t n_ids) {
    size_t words = (n + 3) / 4;
    if (c->slots == NULL || n > DSTOK__LONG_BYTES || !pool_reserve(c, words + n_ids)) return;
    uint64_t hash = long_hash(text, n);
    c->longs[hash & (c->n_longs - 1)] =
        (dstok__cached_long){hash, (uint32_t)c->pool_n, (uint16_t)n, (uint16_t)n_ids};
    memcpy(c->pool + c->pool_n, text, n);
    memcpy(c->pool + c->pool_n + words, ids, n_ids * sizeof *ids);
    c->pool_n += words + n_ids;
}
