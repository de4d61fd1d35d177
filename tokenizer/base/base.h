/* SPDX-License-Identifier: MIT */
/* The bottom layer: error reports, allocation with overflow checks, growable arrays and buffers. No dstok
 * logic. */
#ifndef DSTOK_BASE_BASE_H
#define DSTOK_BASE_BASE_H

#include <dstok/base.h>

#include <stdbool.h>

/* Passes a failure upwards. */
#define DSTOK_TRY(call)                                                                                      \
    do {                                                                                                     \
        dstok_status try_status_ = (call);                                                                   \
        if (try_status_ != DSTOK_OK) return try_status_;                                                     \
    } while (0)

/* Fills *err (NULL allowed) and returns status, so that a failure is one statement. The text is cut at a
 * character border when it is too long. offset may be DSTOK_NO_OFFSET, line 0. */
dstok_status dstok__fail(dstok_error *err, dstok_status status, uint64_t offset, uint32_t line,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Puts the head of a text into out (cap > 8), for messages; control characters, quotes and what is no UTF-8 are
 * escaped. */
const char *dstok__quote(const void *text, size_t n, char *out, size_t cap);

/* ---- allocation: al is never NULL here ---- */
extern const dstok_alloc dstok__default_alloc;

void *dstok__alloc(const dstok_alloc *al, size_t n);                    /* n may be 0: gives NULL */
void *dstok__alloc_array(const dstok_alloc *al, size_t n, size_t elem); /* NULL on overflow */
void *dstok__alloc_zeroed(const dstok_alloc *al, size_t n, size_t elem);

/* Zeroed memory that will be met at random, in large pages as far as possible: that saves most of the walks
 * through page tables, and most of the faults at first (pages.c). NULL as dstok__alloc. */
#define DSTOK__LARGE_PAGE ((size_t)2 << 20)
void *dstok__alloc_large(const dstok_alloc *al, size_t n);

void dstok__free(const dstok_alloc *al, void *p, size_t n); /* p may be NULL */

/* Makes room for need elements in the array *p of *cap elements, growing by half; never beyond max elements.
 * Returns E_LIMIT above max, E_NOMEM without memory; the array stays valid. */
dstok_status dstok__grow(const dstok_alloc *al, void **p, size_t *cap, size_t need, size_t elem, size_t max);

/* ---- a growable byte buffer with a maximum ---- */
typedef struct dstok__buf {
    const dstok_alloc *al;
    uint8_t *data;
    size_t len, cap, max;
} dstok__buf;

void dstok__buf_init(dstok__buf *b, const dstok_alloc *al, size_t max);
void dstok__buf_free(dstok__buf *b);
dstok_status dstok__buf_reserve(dstok__buf *b, size_t extra); /* room for extra more bytes */
dstok_status dstok__buf_append(dstok__buf *b, const void *bytes, size_t n);
dstok_status dstok__buf_push(dstok__buf *b, uint8_t byte);
dstok_status dstok__buf_printf(dstok__buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- an arena: many small allocations, freed together ---- */
typedef struct dstok__arena {
    const dstok_alloc *al;
    struct dstok__arena_chunk *chunks;
    size_t used, total, max; /* used in the first chunk; total and max over all chunks, bytes */
} dstok__arena;

void dstok__arena_init(dstok__arena *a, const dstok_alloc *al, size_t max);
void dstok__arena_free(dstok__arena *a);
void *dstok__arena_alloc(dstok__arena *a, size_t n); /* 8-byte aligned; NULL when out of memory */
char *dstok__arena_copy(dstok__arena *a, const void *bytes, size_t n); /* adds a NUL after the n bytes */

/* The number of CPUs that the process may use, at least 1. */
size_t dstok__cpus(void);

/* XXH3-64. */
uint64_t dstok__hash(const void *data, size_t n, uint64_t seed);

/* ---- a hash map from byte strings to uint32_t; keys are not copied and must outlive the map ---- */
typedef struct dstok__map {
    const dstok_alloc *al;
    struct dstok__map_slot *slots;
    size_t mask, count;
    uint64_t seed; /* of the hash: differs from map to map, so that no file can be made to collide */
} dstok__map;

void dstok__map_init(dstok__map *m, const dstok_alloc *al);
void dstok__map_free(dstok__map *m);
dstok_status dstok__map_reserve(dstok__map *m, size_t n);
/* Sets key -> value; *old (may be NULL) gets the value that stood there, or UINT32_MAX. */
dstok_status dstok__map_put(dstok__map *m, const void *key, size_t n, uint32_t value, uint32_t *old);
uint32_t dstok__map_get(const dstok__map *m, const void *key, size_t n); /* UINT32_MAX when absent */

#endif
