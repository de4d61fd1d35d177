/* SPDX-License-Identifier: MIT */
/* Pieces that the cache does not know, a batch at a time. */
#ifndef DSTOK_BPE_MISSES_H
#define DSTOK_BPE_MISSES_H

#include "fast.h"

/* Puts into the cache what it lacks of the pieces of a batch, from the one numbered `from` on. Leaves out pieces of
 * more than DSTOK__TINY bytes, and those whose ids depend on what is around them. */
void dstok__learn_missed(dstok__fast *f, const dstok_tokenizer *tok, const dstok__batch *batch, size_t from);

#endif
