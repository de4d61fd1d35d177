/* SPDX-License-Identifier: MIT */
/* Sets of code points: insertion, the four set operations in one sweep, complement. */
#include "codeset.h"

#include <string.h>

#define MAX_RANGES (DSTOK__CODE_MAX / 2 + 1)

void dstok__codeset_init(dstok__codeset *s, const dstok_alloc *al) {
    *s = (dstok__codeset){.al = al};
}

void dstok__codeset_free(dstok__codeset *s) {
    dstok__free(s->al, s->ranges, s->cap * sizeof *s->ranges);
    dstok__codeset_init(s, s->al);
}

void dstok__codeset_clear(dstok__codeset *s) {
    s->n = 0;
}

static dstok_status reserve(dstok__codeset *s, size_t n) {
    return dstok__grow(s->al, (void **)&s->ranges, &s->cap, n, sizeof *s->ranges, MAX_RANGES);
}

/* The first range whose end is at or after cp; s->n when there is none. */
static size_t lower_bound(const dstok__codeset *s, uint32_t cp) {
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->ranges[mid].hi < cp) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

bool dstok__codeset_has(const dstok__codeset *s, uint32_t cp) {
    size_t i = lower_bound(s, cp);
    return i < s->n && s->ranges[i].lo <= cp;
}

dstok_status dstok__codeset_add(dstok__codeset *s, uint32_t lo, uint32_t hi) {
    size_t first = lower_bound(s, lo == 0 ? 0 : lo - 1), last = first; /* a touching range counts */
    while (last < s->n && s->ranges[last].lo <= hi + 1) last++;
    if (last > first) { /* swallow ranges [first, last) */
        if (s->ranges[first].lo < lo) lo = s->ranges[first].lo;
        if (s->ranges[last - 1].hi > hi) hi = s->ranges[last - 1].hi;
    } else {
        DSTOK_TRY(reserve(s, s->n + 1));
    }
    size_t tail = s->n - last;
    if (tail > 0) memmove(s->ranges + first + 1, s->ranges + last, tail * sizeof *s->ranges);
    s->ranges[first] = (dstok__range){lo, hi};
    s->n = first + 1 + tail;
    return DSTOK_OK;
}

/* The next place after cp where membership may change: DSTOK__CODE_MAX + 1 at the end. *i moves along. */
static uint32_t next_border(const dstok__codeset *s, size_t *i, uint32_t cp, bool *inside) {
    while (*i < s->n && s->ranges[*i].hi < cp) (*i)++;
    *inside = *i < s->n && s->ranges[*i].lo <= cp;
    if (*i == s->n) return DSTOK__CODE_MAX + 1;
    return *inside ? s->ranges[*i].hi + 1 : s->ranges[*i].lo;
}

dstok_status dstok__codeset_apply(dstok__codeset *a, dstok__set_op op, const dstok__codeset *b) {
    dstok__codeset out;
    dstok__codeset_init(&out, a->al);
    DSTOK_TRY(reserve(&out, a->n + b->n + 1)); /* each border of the result is a border of a or b */
    size_t i = 0, j = 0;
    for (uint32_t cp = 0; cp <= DSTOK__CODE_MAX;) {
        bool in_a, in_b;
        uint32_t end_a = next_border(a, &i, cp, &in_a), end_b = next_border(b, &j, cp, &in_b);
        uint32_t end = end_a < end_b ? end_a : end_b;
        if ((unsigned)op >> ((unsigned)in_a + 2 * (unsigned)in_b) & 1) {
            if (out.n > 0 && out.ranges[out.n - 1].hi + 1 == cp) {
                out.ranges[out.n - 1].hi = end - 1;
            } else {
                out.ranges[out.n++] = (dstok__range){cp, end - 1};
            }
        }
        cp = end;
    }
    dstok__codeset_free(a);
    *a = out;
    return DSTOK_OK;
}

dstok_status dstok__codeset_negate(dstok__codeset *s) {
    dstok__codeset all;
    dstok__range everything = {0, DSTOK__CODE_MAX};
    dstok__codeset_init(&all, s->al);
    all.ranges = &everything; /* borrowed: all is never freed */
    all.n = 1;
    return dstok__codeset_apply(s, DSTOK__SET_XOR, &all);
}
