/* SPDX-License-Identifier: MIT */
/* The inside of the rank file loader: what its parts share. */
#ifndef DSTOK_LOAD_TIKTOKEN_H
#define DSTOK_LOAD_TIKTOKEN_H

#include "bits.h"
#include "read.h"

typedef struct dstok__tiktoken {
    dstok__spec *s;
    dstok_error *err;
    const char *data; /* the rank file */
    size_t n;
    dstok__map tokens;           /* bytes -> index in s->tokens */
    dstok__map added;            /* special tokens of meta.json: text -> id */
    dstok__bits ranks, specials; /* ids of ranks and of special tokens */
    dstok__buf scratch;
    dstok__json doc; /* meta.json, where there is one */
} dstok__tiktoken;

/* tiktoken_setup.c: the pattern, special tokens and normalizer, which the ranks themselves do not tell. After them. */
dstok_status dstok__tiktoken_setup(dstok__tiktoken *t, const char *pattern, const char *meta, size_t meta_n);

#endif
