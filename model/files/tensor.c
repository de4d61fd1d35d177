/* SPDX-License-Identifier: MIT */
/* Lists of tensors: sizes, order, and that none lies over another. */
#include "files/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *dsx__shape_text(const dsx__tensor *t, dsx__quoted out) {
    size_t n = 0;

    out[0] = '\0';
    for (uint32_t d = 0; d < t->n_dims && n + 24 < sizeof(dsx__quoted); d++)
        n += (size_t)snprintf(out + n, sizeof(dsx__quoted) - n, "[%" PRIu64 "]", t->shape[d]);
    return t->n_dims == 0 ? "a single number" : out;
}

static dstok_status too_large(const dsx__tensor *t, dstok_error *err) {
    dsx__quoted name;

    return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "tensor \"%s\" is larger than any file",
                     dsx__quote(t->name, strlen(t->name), name));
}

dstok_status dsx__tensor_size(dsx__tensor *t, dstok_error *err) {
    const uint64_t most = (uint64_t)1 << 56; /* elements: no file is so large */
    const dsx__format_info *f = &dsx__formats[t->format];
    uint64_t row = t->n_dims > 0 ? t->shape[t->n_dims - 1] : 1, n = row;
    dsx__quoted name;

    if (row % f->block != 0)
        return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                         "tensor \"%s\" has rows of %" PRIu64 " elements, no multiple of the %" PRIu32
                         " of a block of %s",
                         dsx__quote(t->name, strlen(t->name), name), row, f->block, f->name);
    if (row > most) return too_large(t, err);
    for (uint32_t d = 0; d + 1 < t->n_dims; d++) {
        if (t->shape[d] > most || (n > 0 && t->shape[d] > most / n)) return too_large(t, err);
        n *= t->shape[d];
    }
    t->n_bytes = n / f->block * f->bytes;
    return DSTOK_OK;
}

/* ---- lists */

dstok_status dsx__list_add(dsx__list *l, const dsx__tensor *t, const char *name, size_t n, dstok_error *err) {
    if (l->n == l->cap) {
        size_t cap = l->cap < 64 ? 64 : l->cap * 2;
        dsx__tensor *items = realloc(l->items, cap * sizeof *items);
        if (items == NULL) return dsx__no_memory(err);
        l->items = items;
        l->cap = cap;
    }
    char *copy = malloc(n + 1);
    if (copy == NULL) return dsx__no_memory(err);
    memcpy(copy, name, n);
    copy[n] = '\0';
    l->items[l->n] = *t;
    for (uint32_t d = t->n_dims; d < DSX__MAX_DIMS; d++) l->items[l->n].shape[d] = 1;
    l->items[l->n++].name = copy;
    return DSTOK_OK;
}

void dsx__list_free(dsx__list *l) {
    for (size_t i = 0; i < l->n; i++) free((char *)(uintptr_t)l->items[i].name);
    free(l->items);
    *l = (dsx__list){.items = NULL};
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const dsx__tensor *)a)->name, ((const dsx__tensor *)b)->name);
}

dstok_status dsx__list_sort(dsx__list *l, dstok_error *err) {
    dsx__quoted name;

    if (l->n > 0) qsort(l->items, l->n, sizeof *l->items, by_name);
    for (size_t i = 1; i < l->n; i++)
        if (strcmp(l->items[i - 1].name, l->items[i].name) == 0)
            return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "there are two tensors \"%s\"",
                             dsx__quote(l->items[i].name, strlen(l->items[i].name), name));
    return DSTOK_OK;
}

static int by_place(const void *a, const void *b) {
    const dsx__tensor *x = *(dsx__tensor *const *)a, *y = *(dsx__tensor *const *)b;

    if (x->data != y->data) return x->data < y->data ? -1 : 1;
    return x->n_bytes < y->n_bytes ? -1 : x->n_bytes > y->n_bytes;
}

dstok_status dsx__list_places(const dsx__list *l, size_t first, const uint8_t *begin, const uint8_t *end,
                              dstok_error *err) {
    size_t n = l->n - first;
    dstok_status status = DSTOK_OK;
    dsx__quoted name;
    const dsx__tensor **order = malloc((n + 1) * sizeof *order);

    if (order == NULL) return dsx__no_memory(err);
    for (size_t i = 0; i < n; i++) order[i] = &l->items[first + i];
    qsort(order, n, sizeof *order, by_place);
    const uint8_t *at = begin;
    for (size_t i = 0; i < n && status == DSTOK_OK; i++) {
        const dsx__tensor *t = order[i];
        if (t->data < at)
            status = dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "tensor \"%s\" lies over another one",
                               dsx__quote(t->name, strlen(t->name), name));
        else if (end != NULL && t->data > at)
            status =
                dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "no tensor holds the %zu bytes before \"%s\"",
                          (size_t)(t->data - at), dsx__quote(t->name, strlen(t->name), name));
        at = t->data + t->n_bytes;
    }
    if (status == DSTOK_OK && end != NULL && at != end)
        status = dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "no tensor holds the last %zu bytes",
                           (size_t)(end - at));
    free(order);
    return status;
}
