/* SPDX-License-Identifier: MIT */
/* Pieces that the cache does not know, a batch at a time. */
#ifndef DSTOK_BPE_MISSES_H
#define DSTOK_BPE_MISSES_H

#include "fast.h"

/* Puts into the cache what it lacks of the pieces [from, n) of a batch, whose keys and slots are known and
 * which begin and end at places. Leaves out pieces of more than DSTOK__TINY bytes, and those whose ids
 * depend on what is around them. */
void dstok__learn_missed(dstok__fast *f, const dstok_tokenizer *tok, const uint32_t *places, size_t from,
                         size_t n);

#endif
