/* SPDX-License-Identifier: MIT */
/* Pieces that the cache does not know, many at a time. */
#ifndef DSTOK_BPE_MISSES_H
#define DSTOK_BPE_MISSES_H

#include "fast.h"

/* Puts into the cache what it lacks of the pieces [from, end) of the window, which have their keys. Leaves
 * out pieces of more than DSTOK__TINY bytes, and those whose ids depend on what is around them. */
void dstok__learn_missed(dstok__fast *f, const dstok_tokenizer *tok, size_t from, size_t end);

#endif
