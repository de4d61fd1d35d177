/* SPDX-License-Identifier: MIT */
/* Merging of one pretoken: lowest rank first, leftmost on ties, exactly as the references do. */
#ifndef DSTOK_BPE_MERGE_H
#define DSTOK_BPE_MERGE_H

#include "../../simd/simd.h"
#include "pairs.h"

/* A symbol of the pretoken while it is merged, and of the result. Positions are bytes of the pretoken. */
typedef struct dstok__symbol {
    uint32_t id;
    uint32_t begin, end;
} dstok__symbol;

/* The two ids that a product was made of. */
typedef struct dstok__split {
    uint32_t left, right;
} dstok__split;

typedef struct dstok__merge_scratch {
    const dstok_alloc *al;
    dstok__symbol *symbols;
    size_t cap;
    struct dstok__link *links; /* for long pretokens */
    size_t cap_links;
    uint64_t *heap;
    size_t cap_heap;
    uint32_t *window; /* parts.c */
    size_t cap_window;
} dstok__merge_scratch;

#define DSTOK__MAX_SYMBOLS ((size_t)1 << 31)

void dstok__merge_init(dstok__merge_scratch *s, const dstok_alloc *al);
void dstok__merge_free(dstok__merge_scratch *s);

/* Room for n symbols in s->symbols. */
dstok_status dstok__merge_reserve(dstok__merge_scratch *s, size_t n);

/* What merging asks besides the table. Flags are by id. */
typedef struct dstok__merge_rules {
    const dstok__pairs *pairs;
    const uint8_t *flags;
    uint8_t refused;         /* a merge whose product has one of these flags is left out */
    uint8_t noted;           /* a pair whose product has one of these is noted ... */
    dstok__split *splits;    /* ... here, by product: the one found last */
    const dstok__simd *simd; /* NULL: long pretokens are not merged in windows together */
} dstok__merge_rules;

/* Merges s->symbols[0, n) until no pair of neighbours is in the table; *n_out symbols are left, in order.
 * O(n) time but for vocabularies with very long tokens, O(n log n) in any case; O(n) memory; no recursion. */
dstok_status dstok__merge_run(dstok__merge_scratch *s, const dstok__merge_rules *rules, size_t n,
                              size_t *n_out);

#endif
