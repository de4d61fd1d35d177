/* SPDX-License-Identifier: MIT */
/* The fast way through a text: windows of pretokens from bit masks, exact cuts, the cache, and merging for
 * what is not in it. The same ids as piece by piece (piece.c); docs/pipeline.md walks through it. */
#ifndef DSTOK_BPE_FAST_H
#define DSTOK_BPE_FAST_H

#include "../pretok/blocks.h"
#include "cache.h"
#include "model.h"
#include "tiny.h"

#define DSTOK__FAST_BARE 8u                   /* bytes without a token at most */
#define DSTOK__BATCH     128u                 /* pieces whose slots are fetched together */
#define DSTOK__PIECES    (64 * DSTOK__WINDOW) /* of a window at most */

/* The scratch of one encoder. */
typedef struct dstok__fast {
    void *memory; /* it lies in */
    const dstok__simd *simd;
    dstok__block_fn *block;
    uint8_t bare[DSTOK__FAST_BARE]; /* bytes of UTF-8 without a token */
    size_t n_bare;
    bool knows_bytes; /* every byte has a token, and it is known which join (raw.h) */
    dstok__cache cache;
    uint64_t pieces[DSTOK__WINDOW];      /* begins of pretokens and cuts */
    uint32_t places[DSTOK__PIECES + 65]; /* of them, and the end of the last one */
    size_t
        n_fetched; /* pieces that have their keys; memory brings their slots while those before are answered */
    /* Whole lines of the processor's cache: what is written eight at a time is read at once, one by one. */
    _Alignas(64) dstok__key keys[DSTOK__PIECES];
    _Alignas(64) dstok__cached *slots[DSTOK__PIECES];
    dstok__window window;
} dstok__fast;

/* Is there a fast way for this tokenizer? A family with masks, and merging from bytes of which nearly all
 * have a token. */
bool dstok__fast_knows(const dstok_tokenizer *tok);

/* ... and for this text: no byte of it is without a token. */
bool dstok__fast_takes(const dstok__fast *f, const uint8_t *text, size_t len);

dstok_status dstok__fast_new(const dstok_tokenizer *tok, const dstok__simd *simd, size_t cache_bytes,
                             dstok__fast **out);
void dstok__fast_free(const dstok_alloc *al, dstok__fast *f); /* NULL allowed */

#endif
