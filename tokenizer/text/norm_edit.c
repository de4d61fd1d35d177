/* SPDX-License-Identifier: MIT */
/* How an operation writes its result: text, edits, places, and joining them with those of before. */
#include "norm.h"
#include "utf8.h"

#include <string.h>

/* ---- edits ---- */

/* Each edit but an insertion stands for source bytes of its own, and insertions for text of the result. */
static dstok_status grow_edits(const dstok_alloc *al, dstok__edit **edits, size_t *cap, size_t need) {
    return dstok__grow(al, (void **)edits, cap, need, sizeof **edits, SIZE_MAX);
}

static dstok_status set_edit(dstok__edit *e, size_t out, size_t out_n, size_t src, size_t src_n) {
    if (out_n > UINT32_MAX || src_n > UINT32_MAX) return DSTOK_E_LIMIT;
    *e = (dstok__edit){out, src, (uint32_t)out_n, (uint32_t)src_n};
    return DSTOK_OK;
}

dstok_status dstok__norm_push_edit(dstok__normalized *n, size_t out, size_t out_n, size_t src, size_t src_n) {
    DSTOK_TRY(grow_edits(n->buf.al, &n->later, &n->cap_later, n->n_later + 1));
    DSTOK_TRY(set_edit(&n->later[n->n_later], out, out_n, src, src_n));
    n->n_later++;
    return DSTOK_OK;
}

dstok_status dstok__norm_copy(dstok__norm_pass *p, size_t pos) {
    DSTOK_TRY(dstok__buf_append(&p->n->spare, p->src + p->copied, pos - p->copied));
    p->copied = pos;
    return DSTOK_OK;
}

dstok_status dstok__norm_edit(dstok__norm_pass *p, size_t begin, size_t end, size_t out_n, size_t place) {
    DSTOK_TRY(dstok__norm_copy(p, begin));
    p->copied = end;
    DSTOK_TRY(dstok__norm_push_edit(p->n, p->n->spare.len, out_n, begin, end - begin));
    if (p->places_itself) return DSTOK_OK;
    DSTOK_TRY(dstok__norm_keep_places(p, begin));
    p->placed = end;
    return dstok__norm_place(p, place, out_n);
}

dstok_status dstok__norm_put(dstok__norm_pass *p, size_t begin, size_t end, const void *bytes, size_t out_n,
                             size_t place) {
    DSTOK_TRY(dstok__norm_edit(p, begin, end, out_n, place));
    return dstok__buf_append(&p->n->spare, bytes, out_n);
}

/* Joins n->edits (source to middle) with n->later (middle to result): edits that overlap in the middle become
 * one. The shifts are differences of positions, in arithmetic modulo 2^64. */
static dstok_status join_edits(dstok__normalized *n) {
    size_t n_a = n->n_edits, n_b = n->n_later, i = 0, j = 0, to = 0;
    DSTOK_TRY(grow_edits(n->buf.al, &n->edits, &n->cap_edits, n_a + n_b));
    dstok__edit *a = n->edits + n_b; /* out of the way: writing never overtakes reading */
    const dstok__edit *b = n->later;
    memmove(a, n->edits, n_a * sizeof *a);
    size_t src_shift = 0, out_shift = 0;
    while (i < n_a || j < n_b) {
        bool take_a = j == n_b || (i < n_a && a[i].out <= b[j].src), take_b = !take_a;
        size_t begin = take_a ? a[i].out : b[j].src, end = begin;
        size_t src = begin + src_shift, out = begin + out_shift;
        while (take_a || take_b) {
            size_t edit_end = take_a ? a[i].out + a[i].out_n : b[j].src + b[j].src_n;
            if (edit_end > end) end = edit_end;
            if (take_a) {
                src_shift = a[i].src + a[i].src_n - edit_end;
                i++;
            } else {
                out_shift = b[j].out + b[j].out_n - edit_end;
                j++;
            }
            take_a = i < n_a && a[i].out < end;
            take_b = !take_a && j < n_b && b[j].src < end;
        }
        size_t out_n = end + out_shift - out, src_n = end + src_shift - src;
        if (out_n == 0 && src_n == 0) continue; /* what was put in was taken out again */
        DSTOK_TRY(set_edit(&n->edits[to++], out, out_n, src, src_n));
    }
    n->n_edits = to;
    return DSTOK_OK;
}

/* The edits of the pass become those of n, or join them. */
static dstok_status adopt_edits(dstok__normalized *n) {
    if (n->n_edits != 0) return join_edits(n);
    dstok__edit *edits = n->edits;
    size_t cap = n->cap_edits;
    n->edits = n->later, n->n_edits = n->n_later, n->cap_edits = n->cap_later;
    n->later = edits, n->cap_later = cap;
    return DSTOK_OK;
}

/* ---- places ---- */

static dstok_status grow_places(dstok__norm_pass *p, size_t more) {
    dstok__normalized *n = p->n;
    return dstok__grow(n->buf.al, (void **)&n->spare_from, &n->cap_spare_from, p->n_from + more,
                       sizeof *n->spare_from, n->buf.max);
}

dstok_status dstok__norm_keep_places(dstok__norm_pass *p, size_t pos) {
    if (!p->n->want_from || pos <= p->placed) return DSTOK_OK;
    size_t n = pos - p->placed;
    DSTOK_TRY(grow_places(p, n));
    memcpy(p->n->spare_from + p->n_from, p->n->from + p->placed, n * sizeof *p->n->from);
    p->n_from += n;
    p->placed = pos;
    return DSTOK_OK;
}

dstok_status dstok__norm_place(dstok__norm_pass *p, size_t place, size_t n) {
    if (!p->n->want_from || n == 0) return DSTOK_OK;
    DSTOK_TRY(grow_places(p, n));
    uint32_t value = place < p->len ? p->n->from[place] : DSTOK__NOWHERE;
    for (size_t i = 0; i < n; i++) p->n->spare_from[p->n_from++] = value;
    return DSTOK_OK;
}

static size_t next_char(const dstok__norm_pass *p, size_t pos) {
    size_t width = 0;
    if (pos < p->len) dstok__utf8_get(p->src + pos, &width);
    return pos + width;
}

dstok_status dstok__norm_walk(dstok__norm_pass *p, size_t *at, size_t size, int32_t change) {
    if (!p->n->want_from) return DSTOK_OK;
    if (change > 0) return dstok__norm_place(p, *at == 0 ? DSTOK__NORM_NO_PLACE : *at - 1, size);
    DSTOK_TRY(dstok__norm_place(p, *at, size));
    for (; change <= 0 && *at < p->len; change++) *at = next_char(p, *at);
    return DSTOK_OK;
}

/* ---- one operation ---- */

/* from[] and its spare change places. */
static dstok_status adopt_places(dstok__norm_pass *p) {
    dstok__normalized *n = p->n;
    if (!n->want_from) return DSTOK_OK;
    if (!p->places_itself) DSTOK_TRY(dstok__norm_keep_places(p, p->len));
    uint32_t *from = n->from;
    size_t cap = n->cap_from;
    n->from = n->spare_from, n->cap_from = n->cap_spare_from;
    n->spare_from = from, n->cap_spare_from = cap;
    return DSTOK_OK;
}

dstok_status dstok__norm_run(dstok__normalized *n, const dstok__norm_op *op, dstok__regex_scratch *scratch,
                             dstok_error *err) {
    dstok__norm_pass p = {.n = n, .src = n->text, .len = n->len, .scratch = scratch, .err = err};
    n->spare.len = n->n_later = 0;
    DSTOK_TRY(op->apply(&p, op));
    DSTOK_TRY(adopt_places(&p));
    if (n->n_later == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__norm_copy(&p, p.len));
    DSTOK_TRY(adopt_edits(n));
    dstok__buf result = n->spare;
    n->spare = n->buf;
    n->buf = result;
    if (result.len > 0) n->text = result.data; /* else there may be no memory yet: any pointer will do */
    n->len = result.len;
    return DSTOK_OK;
}
