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
    size_t enough; /* so many tokens are wanted */
} dstok__sink;

/* Ends a call that has all tokens it wants; never given to the caller. */
#define DSTOK__ENOUGH ((dstok_status)-1000)

struct dstok_encoder {
    const dstok_tokenizer *tok;
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

void dstok__unused_free(dstok_encoder *enc); /* symbols.c */

#endif
