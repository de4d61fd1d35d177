/* SPDX-License-Identifier: MIT */
/* Long pretokens by short windows, many of which are merged together (tiny.h). */
#ifndef DSTOK_BPE_LANES_H
#define DSTOK_BPE_LANES_H

#include "merge.h"
#include "tiny.h"

#define DSTOK__LANES 16u

/* A token of a long pretoken: its id, and the first of the symbols that it is made of. */
static inline uint64_t dstok__lane_token(uint32_t id, size_t begin) {
    return (uint64_t)id << 32 | (uint32_t)begin;
}

static inline size_t dstok__token_begin(uint64_t token) {
    return (uint32_t)token;
}

/* Can these rules be followed here? */
bool dstok__lanes_follow(const dstok__merge_rules *rules);

/* out[0, *n_out) are the tokens of s[0, *at), *at < n; goes on with them for up to some hundred symbols
 * more. Returns how many windows were good for something; fewer than DSTOK__LANES: the next one was not, or
 * s ends. */
size_t dstok__merge_lanes(const dstok__merge_rules *rules, const dstok__symbol *s, size_t n, uint64_t *out,
                          size_t *n_out, size_t *at);

#endif
