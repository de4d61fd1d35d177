/* SPDX-License-Identifier: MIT */
/* A heap of pairs, best first. Counts in it may be out of date; who pops an entry compares it with the pair. */
#include "train.h"

#define ARITY 8 /* children of an entry: fewer levels, and children lie side by side in memory */

void dstok__queue_init(dstok__queue *q, const dstok_alloc *al) {
    *q = (dstok__queue){.al = al};
}

void dstok__queue_free(dstok__queue *q) {
    dstok__free(q->al, q->items, q->cap * sizeof *q->items);
}

static bool better(const dstok__entry *a, const dstok__entry *b) {
    return a->count != b->count ? a->count > b->count : a->key < b->key;
}

dstok_status dstok__queue_push(dstok__queue *q, dstok__entry entry) {
    DSTOK_TRY(
        dstok__grow(q->al, (void **)&q->items, &q->cap, q->n + 1, sizeof *q->items, DSTOK__TRAIN_MAX_QUEUE));
    size_t at = q->n++;
    while (at > 0) {
        size_t parent = (at - 1) / ARITY;
        if (!better(&entry, &q->items[parent])) break;
        q->items[at] = q->items[parent];
        at = parent;
    }
    q->items[at] = entry;
    return DSTOK_OK;
}

/* Index of the best child of at, or n when it has none. */
static size_t best_child(const dstok__queue *q, size_t at) {
    size_t first = at * ARITY + 1, best = first;
    if (first >= q->n) return q->n;
    size_t end = first + ARITY < q->n ? first + ARITY : q->n;
    for (size_t child = first + 1; child < end; child++) {
        if (better(&q->items[child], &q->items[best])) best = child;
    }
    return best;
}

bool dstok__queue_pop(dstok__queue *q, dstok__entry *entry) {
    if (q->n == 0) return false;
    *entry = q->items[0];
    dstok__entry last = q->items[--q->n];
    size_t at = 0;
    for (size_t child; (child = best_child(q, at)) < q->n; at = child) {
        if (!better(&q->items[child], &last)) break;
        q->items[at] = q->items[child];
    }
    if (q->n > 0) q->items[at] = last;
    return true;
}
