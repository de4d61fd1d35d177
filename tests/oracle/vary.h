/* SPDX-License-Identifier: MIT */
/* Made-up tokenizer.json files of the SentencePiece kind, with holes and ties, in random combinations. */
#ifndef DSTOK_TESTS_VARY_H
#define DSTOK_TESTS_VARY_H

#include "../harness/t.h"

/* A file in malloc'ed memory: characters (some left out), byte tokens (all, most or none), unk or none,
 * affixes, merges with
 * duplicates and several splits of a product, added tokens with all flags; any normalizer and pre_tokenizer
 * beside it. */
char *vary_json(t_rng *rng, size_t *n);

#endif
