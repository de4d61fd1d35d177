/* SPDX-License-Identifier: MIT */
/* Merging: a scan for the lowest rank in short pretokens, parts in long ones, a heap with a linked list where parts
 * do not do. */
#include "parts.h"

#include <string.h>

/* Up to this many symbols the scan is faster than the heap: it stays in a few cache lines and most words are
 * short. */
#define SHORT 48

struct dstok__link {
    uint32_t prev, next; /* indexes of symbols; NONE at the ends */
};
#define NONE UINT32_MAX

/* A pair that may merge: rank << 32 | index of its left symbol, so that comparing numbers gives the order
 * of merging. It is stale when the pair that now begins there has another rank; where the ranks are equal
 * the candidate counts for the pair that is there now. */
typedef uint64_t candidate;

void dstok__merge_init(dstok__merge_scratch *s, const dstok_alloc *al) {
    *s = (dstok__merge_scratch){.al = al};
}

void dstok__merge_free(dstok__merge_scratch *s) {
    dstok__free(s->al, s->symbols, s->cap * sizeof *s->symbols);
    dstok__free(s->al, s->links, s->cap_links * sizeof *s->links);
    dstok__free(s->al, s->heap, s->cap_heap * sizeof *s->heap);
    dstok__free(s->al, s->window, s->cap_window * sizeof *s->window);
    *s = (dstok__merge_scratch){.al = s->al};
}

dstok_status dstok__merge_reserve(dstok__merge_scratch *s, size_t n) {
    return dstok__grow(s->al, (void **)&s->symbols, &s->cap, n, sizeof *s->symbols, DSTOK__MAX_SYMBOLS);
}

typedef dstok__merge_rules rules;

static inline dstok__found find_pair(const rules *r, uint32_t left, uint32_t right, uint32_t *rank) {
    dstok__found p = dstok__pairs_get(r->pairs, left, right);
    *rank = p.rank;
    if (r->refused != 0 && p.rank != DSTOK__NO_RANK && (r->flags[p.product] & r->refused))
        *rank = DSTOK__NO_RANK;
    return p;
}

/* The same when two symbols become neighbours, which is noted. */
static inline dstok__found look_up(const rules *r, uint32_t left, uint32_t right, uint32_t *rank) {
    dstok__found p = find_pair(r, left, right, rank);
    if (r->noted != 0 && p.rank != DSTOK__NO_RANK && (r->flags[p.product] & r->noted))
        r->splits[p.product] = (dstok__split){left, right};
    return p;
}

static size_t merge_short(dstok__symbol *s, const rules *r, size_t n) {
    uint32_t rank[SHORT], product[SHORT]; /* of the pair (i, i + 1) */
    for (size_t i = 0; i + 1 < n; i++) product[i] = look_up(r, s[i].id, s[i + 1].id, &rank[i]).product;
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++) {
            if (rank[i] < rank[best]) best = i;
        }
        if (rank[best] == DSTOK__NO_RANK) break;
        s[best].id = product[best];
        s[best].end = s[best + 1].end;
        n--;
        memmove(&s[best + 1], &s[best + 2], (n - best - 1) * sizeof *s);
        if (best > 0) product[best - 1] = look_up(r, s[best - 1].id, s[best].id, &rank[best - 1]).product;
        if (best + 1 < n) {
            memmove(&rank[best + 1], &rank[best + 2], (n - best - 2) * sizeof *rank);
            memmove(&product[best + 1], &product[best + 2], (n - best - 2) * sizeof *product);
            product[best] = look_up(r, s[best].id, s[best + 1].id, &rank[best]).product;
        }
    }
    return n;
}

/* The heap has eight children a node: their keys fill one cache line, and 10^6 candidates are seven levels. */
#define WAYS 8

static void sift_up(candidate *heap, size_t i) {
    candidate c = heap[i];
    while (i > 0 && heap[(i - 1) / WAYS] > c) {
        heap[i] = heap[(i - 1) / WAYS];
        i = (i - 1) / WAYS;
    }
    heap[i] = c;
}

static void sift_down(candidate *heap, size_t n, size_t i) {
    candidate c = heap[i];
    for (size_t first = WAYS * i + 1; first < n; first = WAYS * i + 1) {
        size_t last = first + WAYS < n ? first + WAYS : n, least = first;
        for (size_t k = first + 1; k < last; k++) {
            if (heap[k] < heap[least]) least = k;
        }
        if (heap[least] >= c) break;
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = c;
}

/* The candidate of symbols i and j at the end of the heap array; false when they do not merge. */
static bool queue(candidate *heap, size_t n, const dstok__symbol *s, const rules *r, uint32_t i, uint32_t j) {
    uint32_t rank;
    look_up(r, s[i].id, s[j].id, &rank);
    heap[n] = (uint64_t)rank << 32 | i;
    return rank != DSTOK__NO_RANK;
}

/* Merges symbol i with the one behind it and queues the two new pairs. Returns the size of the heap. */
static size_t apply(dstok__symbol *s, struct dstok__link *links, candidate *heap, size_t n_heap,
                    const rules *r, uint32_t i, uint32_t product) {
    uint32_t j = links[i].next, after = links[j].next;
    s[i].id = product;
    s[i].end = s[j].end;
    links[i].next = after;
    links[j].next = j; /* dead */
    if (links[i].prev != NONE && queue(heap, n_heap, s, r, links[i].prev, i)) sift_up(heap, n_heap++);
    if (after != NONE) {
        links[after].prev = i;
        if (queue(heap, n_heap, s, r, i, after)) sift_up(heap, n_heap++);
    }
    return n_heap;
}

/* Links all symbols and makes a heap of all pairs. Returns its size. */
static size_t link_all(dstok__symbol *s, struct dstok__link *links, candidate *heap, const rules *r,
                       size_t n) {
    size_t n_heap = 0;
    for (uint32_t i = 0; i < n; i++) {
        links[i] = (struct dstok__link){i == 0 ? NONE : i - 1, i + 1 == n ? NONE : i + 1};
        if (i + 1 < n) n_heap += queue(heap, n_heap, s, r, i, i + 1);
    }
    for (size_t i = n_heap / WAYS + 1; i-- > 0;) {
        if (i < n_heap) sift_down(heap, n_heap, i);
    }
    return n_heap;
}

/* Every merge removes a symbol, takes one candidate away and adds at most two: 2 n candidates are enough. */
static size_t merge_long(dstok__merge_scratch *scratch, const rules *r, size_t n) {
    dstok__symbol *s = scratch->symbols;
    struct dstok__link *links = scratch->links;
    candidate *heap = scratch->heap;
    size_t n_heap = link_all(s, links, heap, r, n);
    while (n_heap > 0) {
        uint32_t i = (uint32_t)heap[0], wanted = (uint32_t)(heap[0] >> 32), rank;
        heap[0] = heap[--n_heap];
        if (n_heap > 0) sift_down(heap, n_heap, 0);
        uint32_t j = links[i].next;
        if (j == NONE || j == i) continue;
        dstok__found pair = find_pair(r, s[i].id, s[j].id, &rank);
        if (rank == wanted) n_heap = apply(s, links, heap, n_heap, r, i, pair.product);
    }
    size_t left = 0;
    for (uint32_t i = 0; i != NONE; i = links[i].next) s[left++] = s[i];
    return left;
}

static dstok_status merge_all(dstok__merge_scratch *s, const rules *r, size_t n, size_t *n_out) {
    DSTOK_TRY(dstok__grow(s->al, (void **)&s->links, &s->cap_links, n, sizeof *s->links, DSTOK__MAX_SYMBOLS));
    DSTOK_TRY(
        dstok__grow(s->al, (void **)&s->heap, &s->cap_heap, 2 * n, sizeof *s->heap, 2 * DSTOK__MAX_SYMBOLS));
    *n_out = merge_long(s, r, n);
    return DSTOK_OK;
}

dstok_status dstok__merge_run(dstok__merge_scratch *s, const dstok__merge_rules *r, size_t n, size_t *n_out) {
    *n_out = n;
    if (n < 2) return DSTOK_OK;
    if (n <= SHORT) {
        *n_out = merge_short(s->symbols, r, n);
        return DSTOK_OK;
    }
    *n_out = 0;
    if (r->noted == 0) DSTOK_TRY(dstok__merge_parts(s, r, n, n_out));
    return *n_out > 0 ? DSTOK_OK : merge_all(s, r, n, n_out);
}
