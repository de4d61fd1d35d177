/* SPDX-License-Identifier: MIT */
/* Which places of a text are asked about, and where it is cut. */
#include "cuts.h"

#include "../text/utf8.h"

#include <string.h>

/* The places of block i that are asked about: before and behind characters from U+0800 on, below the limit.
 * Begins of pretokens need no cut. */
static uint64_t asked_of(const dstok__window *w, size_t i) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t asked =
        k->lead3 | k->lead4 | k->lead3 << 3 | k->lead4 << 4 | k[-1].lead3 >> 61 | k[-1].lead4 >> 60;
    if (64 * i + 64 > w->limit) asked &= ((uint64_t)1 << (w->limit % 64)) - 1;
    return asked & ~w->starts[i];
}

/* Those of the places in block i around which four bytes at either side cannot be read: one by one. Returns
 * them. */
static uint64_t cut_edges(const dstok__cuts *c, const dstok__window *w, size_t i, uint64_t asked,
                          uint64_t *pieces) {
    uint64_t edges = i == 0 ? asked & 0xF : 0;
    if (64 * i + 68 > w->len)
        edges |= w->len < 64 * i + 4 ? asked : asked & UINT64_MAX << (w->len - 64 * i - 4) << 1;
    for (uint64_t rest = edges; rest != 0; rest &= rest - 1) {
        const uint8_t *p = w->text + 64 * i + dstok__low_bit(rest);
        if (!dstok__may_join(c, dstok__key_before(p), dstok__key_at(p))) *pieces |= rest & (0 - rest);
    }
    return edges;
}

void dstok__cut_window(const dstok__cuts *c, const dstok__simd *simd, const dstok__window *w,
                       uint64_t *pieces, uint32_t *places) {
    uint64_t asked[DSTOK__WINDOW];
    size_t n = (w->limit + 63) / 64;
    for (size_t i = 0; i < n; i++) {
        asked[i] = asked_of(w, i);
        if (i == 0 || i + 2 >= n) asked[i] &= ~cut_edges(c, w, i, asked[i], &pieces[i]);
    }
    simd->cut(c, w->text, asked, n, places, pieces);
}

size_t dstok__next_cut(const dstok__cuts *c, const uint8_t *text, size_t at, size_t end) {
    size_t width;
    if (c->pairs == NULL) return end;
    (void)dstok__utf8_get(text + at, &width);
    uint32_t left = dstok__char_key(text + at, width);
    for (at += width; at < end; at += width) {
        (void)dstok__utf8_get(text + at, &width);
        uint32_t right = dstok__char_key(text + at, width);
        if ((left > 0xFFFF || right > 0xFFFF) && !dstok__may_join(c, left, right)) return at;
        left = right;
    }
    return end;
}
