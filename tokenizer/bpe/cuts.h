/* SPDX-License-Identifier: MIT */
/* Where pretokens are cut (simd/cuts.h has the tables): the places of a window, and of a text of any length. */
#ifndef DSTOK_BPE_CUTS_H
#define DSTOK_BPE_CUTS_H

#include "../../simd/cuts.h"
#include "../pretok/blocks.h"

/* Puts the cuts of a window, below its limit, among pieces, in which the begins of its pretokens are. places:
 * room for as many as the window has bytes, and 64 more. */
void dstok__cut_window(const dstok__cuts *c, const dstok__simd *simd, const dstok__window *w,
                       uint64_t *pieces, uint32_t *places);

/* The end of the piece that begins at text[at], at most end. */
size_t dstok__next_cut(const dstok__cuts *c, const uint8_t *text, size_t at, size_t end);

#endif
