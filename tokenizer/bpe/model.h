/* SPDX-License-Identifier: MIT */
/* The inside of a tokenizer: what the encoder and the inspection calls read. */
#ifndef DSTOK_BPE_MODEL_H
#define DSTOK_BPE_MODEL_H

#include <dstok/tokenizer.h>

#include "../load/spec.h"
#include "../pretok/pretok.h"
#include "../text/added.h"
#include "pairs.h"

typedef struct dstok__piece { /* what one id decodes to */
    const uint8_t *bytes;     /* NULL: the id has no token */
    uint32_t n;
} dstok__piece;

struct dstok_tokenizer {
    dstok_alloc al;
    dstok__spec spec;     /* owns all strings; its token and merge lists are freed after building */
    uint32_t n_ids;       /* largest id + 1 */
    dstok__piece *pieces; /* by id */
    uint8_t *flags;       /* DSTOK_TOKEN_* by id */
    uint32_t n_tokens;    /* ids with a token */
    uint64_t n_merges;

    uint32_t byte_ids[256]; /* the token of a single byte, or DSTOK__NO_ID */
    dstok__pairs pairs;
    dstok__map by_bytes; /* whole pretokens: bytes -> id */
    bool whole_first;    /* a pretoken that is one token is not merged (ignore_merges, rank files) */
    bool control_merges; /* some merge or whole pretoken gives a control token: SAFE must look */

    dstok__added_set raw;        /* added tokens matched before normalisation */
    dstok__added_set normalized; /* ... and after it, by their normalised text */
    dstok__pretok *pretok;
    const char *normalizer; /* for info */
    const char **steps;     /* descriptions, spec.n_steps of them */
    uint64_t memory;        /* live bytes, counted while loading */
};

/* Builds a tokenizer from a filled spec, which it takes over (also on failure: the caller frees *spec only
 * when the call was never made). */
dstok_status dstok__model_build(dstok_tokenizer *tok, uint32_t load_flags, dstok_error *err);
void dstok__model_free(dstok_tokenizer *tok);

/* Is this text of control shape or in the short list of names (control.c)? */
bool dstok__is_control_text(const char *text, size_t n);

#endif
