/* SPDX-License-Identifier: MIT */
/* The inside of the oracle: plain sorted lists. */
#ifndef DSTOK_TESTS_ORACLE_INSIDE_H
#define DSTOK_TESTS_ORACLE_INSIDE_H

#include "oracle.h"

#include <jansson.h>

#include "../../tokenizer/pretok/pretok.h"
#include "../../tokenizer/text/normalize.h"

#define NO_ID UINT32_MAX

typedef struct token {
    uint8_t *
        bytes; /* as it is looked for: bytes of byte-level vocabularies, else UTF-8; with prefix and suffix */
    size_t n;
    uint32_t id;
} token;

typedef struct merge {
    uint32_t left, right; /* ids */
    uint32_t rank, product;
} merge;

typedef struct added {
    uint8_t *text; /* as it is looked for: normalised when `normalized` */
    size_t n;
    uint32_t id;
    bool special, single_word, lstrip, rstrip, normalized;
} added;

struct oracle {
    token *tokens; /* sorted by bytes */
    size_t n_tokens;
    merge *merges; /* sorted by left, right, rank; unused for rank files */
    size_t n_merges;
    added *added;
    size_t n_added;
    bool is_ranks;      /* a .tiktoken file: token id = rank */
    bool whole_pieces;  /* a pretoken that is a token is not merged */
    bool by_characters; /* merging starts from characters, not from bytes */
    bool byte_fallback;
    char *prefix, *suffix; /* of inner and of last parts of a word; "" when there is none */
    bool fuse_unk;
    uint32_t unk;
    dstok__norm norms[DSTOK__MAX_NORMS];
    char *norm_texts[2 * DSTOK__MAX_NORMS]; /* what the norms point at */
    size_t n_norms;
    dstok__normalizer *normalizer;
    dstok__step steps[DSTOK__MAX_STEPS];
    char *patterns[DSTOK__MAX_STEPS]; /* what the steps point at */
    size_t n_steps;
    dstok__pretok *pretok;
    dstok__pretok_scratch *scratch;
    dstok__normalized normalized;
};

/* Fills steps, norms and tools from the parts of a tokenizer.json (parts.c); false, with a word on stderr,
 * when there is
 * one that the oracle does not have. */
bool oracle_read_normalizer(oracle *o, json_t *part);
bool oracle_read_pretokenizer(oracle *o, json_t *part);
bool oracle_add_step(oracle *o, dstok__step step, const char *pattern);
bool oracle_make_tools(oracle *o);
bool oracle_refuse(const char *what);

/* The id of the token with these bytes, or NO_ID (vocab.c). */
uint32_t oracle_find(const oracle *o, const uint8_t *bytes, size_t n);

/* The merge of two neighbours, or NULL (vocab.c). */
const merge *oracle_merge(const oracle *o, uint32_t left, uint32_t right);

/* malloc, or the end of the test (vocab.c). */
void *oracle_memory(size_t n);

#endif
