/* SPDX-License-Identifier: MIT */
/* Distinct pretokens and how often they occur. */
#include "train.h"

void dstok__words_init(dstok__words *w, const dstok_alloc *al) {
    *w = (dstok__words){.al = al};
    dstok__arena_init(&w->arena, al, SIZE_MAX); /* limited by bytes below */
    dstok__map_init(&w->map, al);
}

void dstok__words_free(dstok__words *w) {
    dstok__free(w->al, w->items, w->cap * sizeof *w->items);
    w->items = NULL;
    w->n = w->cap = 0;
    dstok__map_free(&w->map);
    dstok__arena_free(&w->arena);
}

static dstok_status add_new(dstok__words *w, const void *bytes, size_t n, uint64_t count) {
    if (n > DSTOK__TRAIN_MAX_WORD_BYTES - w->bytes) return DSTOK_E_LIMIT;
    DSTOK_TRY(
        dstok__grow(w->al, (void **)&w->items, &w->cap, w->n + 1, sizeof *w->items, DSTOK__TRAIN_MAX_WORDS));
    char *copy = dstok__arena_copy(&w->arena, bytes, n);
    if (copy == NULL) return DSTOK_E_NOMEM;
    DSTOK_TRY(dstok__map_put(&w->map, copy, n, (uint32_t)w->n, NULL));
    w->items[w->n++] = (dstok__word){.bytes = copy, .n = (uint32_t)n, .count = count};
    w->bytes += n;
    return DSTOK_OK;
}

dstok_status dstok__words_add(dstok__words *w, const void *bytes, size_t n, uint64_t count) {
    if (count > (uint64_t)INT64_MAX / n) return DSTOK_E_LIMIT;
    if (count * n > (uint64_t)INT64_MAX - w->symbols) return DSTOK_E_LIMIT;
    uint32_t index = dstok__map_get(&w->map, bytes, n);
    if (index == UINT32_MAX) {
        DSTOK_TRY(add_new(w, bytes, n, count));
    } else {
        w->items[index].count += count;
    }
    w->symbols += count * n;
    w->total += count;
    return DSTOK_OK;
}
