/* SPDX-License-Identifier: MIT */
/* The cache of an encoder: four slots for each hash, and four elsewhere when those are full. */
#include "cache.h"

#define FIRST_BITS 11u /* 64 KiB of slots to begin with */

#define LINES ((size_t)128) /* bytes of a pair of cache lines, which four slots fill */

static size_t alignment(unsigned bits) {
    return sizeof(dstok__cached) << bits >= DSTOK__LARGE_PAGE ? DSTOK__LARGE_PAGE : LINES;
}

static size_t block_size(unsigned bits) {
    return (sizeof(dstok__cached) << bits) + alignment(bits);
}

/* Of the bytes asked for, a quarter goes to the pool; the slots take the largest power of two that fits. */
void dstok__cache_init(dstok__cache *c, const dstok_alloc *al, size_t max) {
    *c = (dstok__cache){.al = al};
    size_t slots = max - max / 4;
    if (slots < block_size(FIRST_BITS)) return;
    c->max_bits = FIRST_BITS;
    while (block_size(c->max_bits + 1) <= slots && c->max_bits < 31) c->max_bits++;
    uint64_t pool = max / 4 / sizeof *c->pool;
    c->max_pool = pool < UINT32_MAX ? (size_t)pool : UINT32_MAX; /* places in it are numbers of 32 bits */
}

void dstok__cache_free(dstok__cache *c) {
    if (c->block != NULL) dstok__free(c->al, c->block, block_size(c->bits));
    dstok__free(c->al, c->pool, c->pool_cap * sizeof *c->pool);
    c->slots = c->block = NULL;
    c->pool = NULL;
}

/* Where a key is looked for when the four slots of its hash are full. */
static dstok__cached *elsewhere(dstok__cached *slots, unsigned bits, uint64_t hash) {
    return dstok__cache_at(slots, bits, hash * DSTOK__HASH_LOW);
}

/* A free slot of four, or NULL. */
static dstok__cached *free_of(dstok__cached *at) {
    for (size_t k = 0; k < 4; k++)
        if (dstok__cache_nth(at, k)->key.high == 0) return dstok__cache_nth(at, k);
    return NULL;
}

/* Puts a slot where its hash says or, when that is taken, in one of the other places. What came first stays where it
 * is: it is mostly what comes often. When all are full, one of three is forgotten, by turns. */
static void place(dstok__cached *slots, unsigned bits, const dstok__cached *one, size_t turn) {
    dstok__key key = {one->key.low, one->key.high & ~DSTOK__IN_POOL};
    uint64_t hash = dstok__key_hash(key);
    dstok__cached *at = dstok__cache_at(slots, bits, hash), *to = free_of(at);
    if (to == NULL) to = free_of(elsewhere(slots, bits, hash));
    if (to == NULL) to = dstok__cache_nth(at, 1 + turn % 3);
    *to = *one;
}

static void move_slots(const dstok__cache *c, dstok__cached *slots, unsigned bits) {
    if (c->slots == NULL) return;
    for (size_t i = 0; i < (size_t)1 << c->bits; i++)
        if (c->slots[i].key.high != 0) place(slots, bits, &c->slots[i], i);
}

static dstok__cached *slots_in(void *block, unsigned bits) {
    size_t align = alignment(bits);
    return (void *)(((uintptr_t)block + align - 1) & ~(uintptr_t)(align - 1));
}

void dstok__cache_grow(dstok__cache *c) {
    if (c->max_bits == 0 ||
        (c->slots != NULL && (c->bits >= c->max_bits || c->n_put < (size_t)1 << c->bits >> 2)))
        return;
    unsigned bits = c->slots == NULL ? FIRST_BITS : c->bits + 4 < c->max_bits ? c->bits + 4 : c->max_bits;
    size_t pool_cap = c->max_pool >> (c->max_bits - bits);
    void *block = dstok__alloc_large(c->al, block_size(bits));
    uint32_t *pool = dstok__alloc_array(c->al, pool_cap, sizeof *pool);
    if (block == NULL || pool == NULL) {
        dstok__free(c->al, block, block_size(bits));
        dstok__free(c->al, pool, pool_cap * sizeof *pool);
        return;
    }
    dstok__cached *slots = slots_in(block, bits);
    move_slots(c, slots, bits);
    if (c->pool_n > 0) memcpy(pool, c->pool, c->pool_n * sizeof *pool);
    dstok__cache_free(c);
    c->slots = slots;
    c->block = block;
    c->bits = bits;
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
    c->pool_n = 0;
    return true;
}

/* What a key does not say of a piece of more than 15 bytes stands in the pool before its ids: its length, and the rest
 * of its bytes. How many numbers that are. */
static size_t rest_size(size_t len) {
    return len <= DSTOK__KEY_BYTES ? 0 : 1 + (len - DSTOK__KEY_BYTES + 3) / 4;
}

static bool holds(const dstok__cache *c, const dstok__cached *slot, dstok__key key, const uint8_t *text,
                  size_t len) {
    if (slot->key.low != key.low || (slot->key.high & ~DSTOK__IN_POOL) != key.high) return false;
    if (len <= DSTOK__KEY_BYTES) return true;
    const uint32_t *rest = c->pool + slot->ids[0];
    return rest[0] == len && memcmp(rest + 1, text + DSTOK__KEY_BYTES, len - DSTOK__KEY_BYTES) == 0;
}

/* The slot of four that holds a piece, or NULL. */
static dstok__cached *holder(const dstok__cache *c, dstok__cached *at, dstok__key key, const uint8_t *text,
                             size_t len) {
    for (size_t k = 0; k < 4; k++)
        if (holds(c, dstok__cache_nth(at, k), key, text, len)) return dstok__cache_nth(at, k);
    return NULL;
}

/* What is found in the line beside the first slot changes places with it sometimes, so that in the long run the first
 * slot has what comes often; not each time, because two may come by turns. */
static dstok__cached *promote(dstok__cache *c, dstok__cached *at, dstok__cached *found) {
    if (found == at || found == dstok__cache_nth(at, 1) || ++c->n_beside % 8 != 0) return found;
    dstok__cached first = *at;
    *at = *found;
    *found = first;
    return at;
}

const uint32_t *dstok__cache_find(dstok__cache *c, dstok__cached *at, dstok__key key, const uint8_t *text,
                                  size_t len, size_t *n_ids) {
    if (len > DSTOK__LONG_BYTES) return NULL;
    dstok__cached *found = holder(c, at, key, text, len);
    if (found != NULL) {
        found = promote(c, at, found);
    } else if (free_of(at) == NULL) { /* only then anything was put elsewhere */
        found = holder(c, elsewhere(c->slots, c->bits, dstok__key_hash(key)), key, text, len);
    }
    if (found == NULL) return NULL;
    *n_ids = found->n;
    return found->key.high == key.high ? found->ids : c->pool + found->ids[0] + rest_size(len);
}

/* Puts the rest of the piece and its ids into the pool. False when there is no room. */
static bool put_in_pool(dstok__cache *c, dstok__cached *one, const uint8_t *text, size_t len,
                        const uint32_t *ids) {
    size_t rest = rest_size(len);
    if (!pool_reserve(c, rest + one->n)) return false;
    uint32_t *to = c->pool + c->pool_n;
    if (rest > 0) {
        to[0] = (uint32_t)len;
        memcpy(to + 1, text + DSTOK__KEY_BYTES, len - DSTOK__KEY_BYTES);
    }
    memcpy(to + rest, ids, one->n * sizeof *ids);
    one->ids[0] = (uint32_t)c->pool_n;
    one->key.high |= DSTOK__IN_POOL;
    c->pool_n += rest + one->n;
    return true;
}

void dstok__cache_put(dstok__cache *c, dstok__key key, const uint8_t *text, size_t len, const uint32_t *ids,
                      size_t n_ids) {
    dstok__cached one = {.key = key, .n = (uint32_t)n_ids};
    if (c->slots == NULL || n_ids == 0 || len > DSTOK__LONG_BYTES) return;
    if (len <= DSTOK__KEY_BYTES && n_ids <= DSTOK__SLOT_IDS) {
        memcpy(one.ids, ids, n_ids * sizeof *ids);
    } else if (!put_in_pool(c, &one, text, len, ids)) {
        return;
    }
    place(c->slots, c->bits, &one, c->n_put++);
}
