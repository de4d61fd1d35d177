/* SPDX-License-Identifier: MIT */
/* Tokens of a long pretoken from windows that overlap. What a window comes to is right for its own symbols;
 * near its ends it may be wrong for the text. Between two places where the tokens of two windows both have
 * bounds they have the same tokens: what stands between two bounds merges as if nothing was around it. With
 * one token in common, those of the left window up to it and those of the right one from it on are the
 * tokens of both together: any two neighbours among them are neighbours in one of the windows, and tokens
 * are right when each two neighbours are (parts.c). */
#include "lanes.h"

#define OVERLAP  8u                      /* symbols that two windows have in common */
#define STEP     (DSTOK__TINY - OVERLAP) /* from the begin of a window to that of the next one */
#define MAX_BACK 16u                     /* symbols before the first window's new ones at most */
#define NOWHERE  UINT32_MAX

bool dstok__lanes_follow(const dstok__merge_rules *rules) {
    return rules->simd != NULL && rules->pairs->packed != NULL && rules->refused == 0 && rules->noted == 0;
}

/* A window as a mask: where its tokens begin, and its end. */
static uint32_t bounds_of(const dstok__tiny *t) {
    return t->alive >> 1;
}

/* The same for the last tokens of a text, from the one that begins at from on. */
static uint32_t bounds_behind(const uint64_t *tokens, size_t n, size_t from, size_t end) {
    uint32_t bounds = (uint32_t)1 << (end - from);
    while (n > 0 && dstok__token_begin(tokens[n - 1]) >= from)
        bounds |= (uint32_t)1 << (dstok__token_begin(tokens[--n]) - from);
    return bounds;
}

/* The first of two places at least where both have bounds, or NOWHERE. */
static uint32_t first_common(uint32_t left, uint32_t right) {
    uint32_t both = left & right;
    return (both & (both - 1)) != 0 ? (uint32_t)__builtin_ctz(both) : NOWHERE;
}

/* Where the first window begins: with one of the last tokens, as far back as windows overlap; at: none will
 * do. */
static size_t begin_of_first(const uint64_t *tokens, size_t n, size_t at) {
    size_t from = at;
    while (n > 0 && at - from < OVERLAP) from = dstok__token_begin(tokens[--n]);
    return at - from > MAX_BACK ? at : from;
}

/* Loads the windows of s[from, n). Returns how many. */
static size_t load(dstok__tiny *lanes, const dstok__symbol *s, size_t n, size_t from) {
    for (size_t i = 0; i < DSTOK__LANES; i++, from += STEP) {
        size_t len = n - from < DSTOK__TINY ? n - from : DSTOK__TINY;
        for (size_t k = 0; k < len; k++) lanes[i].ids[k + 1] = s[from + k].id;
        dstok__tiny_begin(&lanes[i], len);
        if (from + len == n) return i + 1;
    }
    return DSTOK__LANES;
}

/* Puts the window's tokens that begin at `first` of it or behind; it begins at from. */
static size_t put_tokens(const dstok__tiny *t, size_t from, uint32_t first, uint64_t *out) {
    size_t n = 0;
    uint32_t begins = bounds_of(t) & (((uint32_t)1 << (t->end - 1)) - 1);
    for (uint32_t rest = begins >> first << first; rest != 0; rest &= rest - 1) {
        unsigned place = (unsigned)__builtin_ctz(rest);
        out[n++] = dstok__lane_token(t->ids[place + 1], from + place);
    }
    return n;
}

size_t dstok__merge_lanes(const dstok__merge_rules *rules, const dstok__symbol *s, size_t n, uint64_t *out,
                          size_t *n_out, size_t *at) {
    dstok__tiny lanes[DSTOK__LANES];
    size_t from = begin_of_first(out, *n_out, *at), n_tokens = *n_out, i;
    if (from == *at && from > 0) return 0;
    uint32_t before = bounds_behind(out, n_tokens, from, *at);
    size_t n_lanes = load(lanes, s, n, from);
    dstok__tiny_merge(rules->simd, rules->pairs, lanes, n_lanes);
    for (i = 0; i < n_lanes; i++, from += STEP) {
        uint32_t bounds = bounds_of(&lanes[i]), first = from == 0 ? 0 : first_common(before, bounds);
        if (first == NOWHERE) break;
        while (n_tokens > 0 && dstok__token_begin(out[n_tokens - 1]) >= from + first) n_tokens--;
        n_tokens += put_tokens(&lanes[i], from, first, out + n_tokens);
        *at = from + lanes[i].end - 1;
        before = bounds >> STEP;
    }
    *n_out = n_tokens;
    return i;
}
