/* SPDX-License-Identifier: MIT */
/* The inside of an encoder: scratch of one thread, and the sink that tokens go to. */
#ifndef DSTOK_BPE_ENCODER_H
#define DSTOK_BPE_ENCODER_H

#include "fast.h"
#include "merge.h"
#include "model.h"

/* Where tokens go: three arrays that grow together, or nothing but the count. */
typedef struct dstok__sink {
    const dstok_alloc *al;
    uint32_t *ids;
    dstok_span *spans;
    uint8_t *flags;
    size_t cap_ids, cap_spans, cap_flags;
    size_t n;
    bool store;
    bool ids_only; /* no spans, no flags */
    size_t enough; /* no more tokens are wanted once n is so much */
} dstok__sink;

/* Ends a call that has all tokens it wants; never given to the caller. */
#define DSTOK__ENOUGH ((dstok_status)-1000)

dstok_status dstok__sink_reserve(dstok__sink *s, size_t n); /* room for n tokens in all (piece.c) */
void dstok__sink_free(dstok__sink *s);                      /* it can be used again */

/* What of the tokens is kept: WANT_ALL is less where the options' ids_only says so. */
typedef enum dstok__wanted { DSTOK__WANT_COUNT, DSTOK__WANT_IDS, DSTOK__WANT_ALL } dstok__wanted;

struct dstok_encoder {
    const dstok_tokenizer *tok;
    struct dstok__worker *worker;   /* the thread of a pool that has it; NULL: none */
    dstok__pretok_scratch *scratch; /* NULL when neither steps nor normaliser need it */
    const dstok__simd *simd;
    dstok__fast *fast; /* NULL: there is no fast way */
    dstok__merge_scratch merge;
    dstok__split *splits;         /* by id, for tokens that are taken apart again; else NULL */
    struct dstok__unused *unused; /* a stack of such tokens */
    size_t cap_unused;
    dstok__normalized valid;   /* the whole text after ill-formed bytes were replaced */
    dstok__normalized stretch; /* text between two added tokens, normalised */
    dstok__sink out;
    dstok_report report;
};

/* As dstok_encode_view or dstok_count, but the tokens come behind those that the sink holds; of a text that
 * fails some may stand there. text may be NULL only with len = 0 (encode.c). */
dstok_status dstok__encode_more(dstok_encoder *enc, const void *text, size_t len,
                                const dstok_encode_options *options, dstok__wanted want, dstok_error *err);

void dstok__unused_free(dstok_encoder *enc); /* symbols.c */

#endif
