/* SPDX-License-Identifier: MIT */
/* Mapping normalised ranges back to the source through the edits. */
#include "normalize.h"

void dstok__map_cursor_init(dstok__map_cursor *c, const dstok__normalized *n) {
    *c = (dstok__map_cursor){.n = n};
}

static int64_t shift_after(const dstok__edit *e) {
    return (int64_t)(e->src + e->src_n) - (int64_t)(e->out + e->out_n);
}

dstok_span dstok__map_range(dstok__map_cursor *c, size_t begin, size_t end) {
    const dstok__edit *edits = c->n->edits;
    size_t n = c->n->n_edits;
    for (; c->edit < n && edits[c->edit].out + edits[c->edit].out_n <= begin; c->edit++)
        c->shift = shift_after(&edits[c->edit]);
    size_t i = c->edit;
    bool inside = i < n && edits[i].out <= begin;
    uint64_t src = inside ? edits[i].src : (uint64_t)((int64_t)begin + c->shift);
    if (end <= begin) return (dstok_span){src, src};
    int64_t shift = c->shift;
    for (; i < n && edits[i].out < end; i++) {
        if (edits[i].out + edits[i].out_n > end) return (dstok_span){src, edits[i].src + edits[i].src_n};
        shift = shift_after(&edits[i]);
    }
    return (dstok_span){src, (uint64_t)((int64_t)end + shift)};
}

/* The first edit that ends behind pos. */
static size_t first_ending_behind(const dstok__normalized *n, size_t pos) {
    size_t lo = 0, hi = n->n_edits;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (n->edits[mid].out + n->edits[mid].out_n <= pos) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

void dstok__map_cursor_seek(dstok__map_cursor *c, size_t pos) {
    c->edit = first_ending_behind(c->n, pos);
    c->shift = c->edit == 0 ? 0 : shift_after(&c->n->edits[c->edit - 1]);
}

/* The first edit in [lo, n_edits) that does not begin before pos. */
static size_t first_not_before(const dstok__normalized *n, size_t lo, size_t pos) {
    size_t hi = n->n_edits;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (n->edits[mid].out < pos) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

dstok_span dstok__map_range_at(const dstok__normalized *n, size_t begin, size_t end) {
    size_t i = first_ending_behind(n, begin);
    int64_t shift = i == 0 ? 0 : shift_after(&n->edits[i - 1]);
    bool inside = i < n->n_edits && n->edits[i].out <= begin;
    uint64_t src = inside ? n->edits[i].src : (uint64_t)((int64_t)begin + shift);
    if (end <= begin) return (dstok_span){src, src};
    size_t stop = first_not_before(n, i, end);
    if (stop == i) return (dstok_span){src, (uint64_t)((int64_t)end + shift)};
    const dstok__edit *last = &n->edits[stop - 1];
    if (last->out + last->out_n > end) return (dstok_span){src, last->src + last->src_n};
    return (dstok_span){src, (uint64_t)((int64_t)end + shift_after(last))};
}

bool dstok__map_drops(const dstok__normalized *n) {
    for (size_t i = 0; i < n->n_edits; i++)
        if (n->edits[i].out_n == 0 && n->edits[i].src_n > 0) return true;
    return false;
}
