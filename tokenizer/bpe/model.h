/* SPDX-License-Identifier: MIT */
/* The inside of a tokenizer: what the encoder and the inspection calls read. */
#ifndef DSTOK_BPE_MODEL_H
#define DSTOK_BPE_MODEL_H

#include "decode_rows.h"
#include "tables.h"

/* Who holds the memory of a block. */
typedef enum dstok__block_kind {
    DSTOK__BLOCK_HEAP,   /* ours: freed with the tokenizer */
    DSTOK__BLOCK_MAPPED, /* a mapped file: unmapped with the tokenizer */
    DSTOK__BLOCK_STATIC  /* part of the program */
} dstok__block_kind;

struct dstok_tokenizer {
    dstok_alloc al;
    uint8_t *block; /* NULL until dstok__model_open */
    size_t block_n;
    dstok__block_kind block_kind;
    bool is_compiled; /* the block came from outside */
    dstok__tables t;

    uint32_t n_ids;   /* largest id + 1 */
    dstok__row *rows; /* of the first n_rows ids */
    size_t n_rows;
    const uint8_t *flags;        /* by id: DSTOK_TOKEN_*, DSTOK__TOKEN_*; 0: no token */
    const dstok__dec_plan *plan; /* how to decode */
    uint32_t options, unk_id;    /* DSTOK__T_*; DSTOK__NO_ID: none */
    const char *prefix, *suffix; /* of subwords */
    size_t prefix_n, suffix_n;

    dstok__added_set raw;          /* added tokens matched before normalisation */
    dstok__added_set normalized;   /* ... and after it, by their normalised text */
    dstok__normalizer *normalizer; /* NULL: none */
    dstok__pretok *pretok;
};

/* The bytes that an id with flags decodes to. */
static inline const uint8_t *dstok__token_bytes(const dstok_tokenizer *tok, uint32_t id, uint32_t *n) {
    dstok__ref ref = tok->t.tokens[id];
    *n = ref.n;
    return tok->t.strings + ref.at;
}

/* Makes tok, zeroed but for al, ready with a block, which it takes over (also on failure). is_file: see
 * dstok__tables_open. */
dstok_status dstok__model_open(dstok_tokenizer *tok, uint8_t *block, size_t n, dstok__block_kind kind,
                               bool is_file, uint32_t load_flags, dstok_error *err);
void dstok__model_free(dstok_tokenizer *tok);

#endif
