/* SPDX-License-Identifier: MIT */
/* Spans of tokens from their lengths. */
#ifndef DSTOK_BPE_SPANS_H
#define DSTOK_BPE_SPANS_H

#include "model.h"

/* The spans and flags of ids[0, n), whose texts stand one behind the other in source[at, ...), all of them at
 * or before end: a byte-level vocabulary and text that no normaliser changed. DSTOK_FLAG_PARTIAL where a span
 * begins or ends inside a character; no other flag. Each id is below tok->n_ids. Reads source[at, end)
 * alone. */
void dstok__spans_from_ids(const dstok_tokenizer *tok, const uint8_t *source, const uint32_t *ids, size_t n,
                           uint64_t at, uint64_t end, dstok_span *spans, uint8_t *flags);

#endif
