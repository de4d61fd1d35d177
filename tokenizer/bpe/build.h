/* SPDX-License-Identifier: MIT */
/* Building the tables of a tokenizer: what the files of this task share. */
#ifndef DSTOK_BPE_BUILD_H
#define DSTOK_BPE_BUILD_H

#include "merge.h"
#include "tables.h"

/* The tables while they are built: each section grows in a buffer of its own. */
typedef struct dstok__build {
    const dstok__spec *s;
    const dstok_alloc *al;
    dstok_error *err;
    dstok__head head;
    dstok__buf sections[DSTOK__N_SECTIONS];
    dstok__map by_text; /* texts that the model matches -> id; bare characters from n_ids on */
} dstok__build;

static inline uint8_t *dstok__build_flags(dstok__build *b) {
    return b->sections[DSTOK__S_FLAGS].data;
}

/* Adds bytes to the strings; with a NUL behind them where is_text. */
dstok_status dstok__build_string(dstok__build *b, const void *bytes, size_t n, bool is_text, dstok__ref *ref);

/* Adds an element to a section. */
dstok_status dstok__build_row(dstok__build *b, dstok__section section, const void *row, size_t size);

/* Room for n zeroed elements in a section that is empty. */
dstok_status dstok__build_zeroed(dstok__build *b, dstok__section section, size_t n, size_t size);

/* All pairs that merge, by the rule of the model (build_pairs.c). After the texts of all tokens. */
dstok_status dstok__build_pairs(dstok__build *b);

/* The table from texts to ids (build_pairs.c). After the pairs, which may add bare characters. */
dstok_status dstok__build_slots(dstok__build *b);

/* What only speed needs (build_fast.c). After the pairs. */
dstok_status dstok__build_fast(dstok__build *b);

/* Replaces the table of pairs by a packed one where ids and ranks allow it, and makes the table of atoms
 * (build_packed.c, build_atoms.c). lasts: by id, the two that a whole token's bytes merge to last. */
dstok_status dstok__build_packed(dstok__build *b, const dstok__split *lasts);
dstok_status dstok__build_atoms(dstok__build *b, const dstok__split *lasts);

/* The table of pairs of bytes (build_bytes.c) of the pairs in slots. in_order: the products are the ranks. */
dstok_status dstok__build_bytes(dstok__build *b, const dstok__pair *slots, size_t cap, bool in_order);

/* Where pretokens may be cut, and where characters are torn (build_cuts.c). After the atoms. */
dstok_status dstok__build_cuts(dstok__build *b);

/* Which bytes the tokens hold side by side (build_joins.c). */
dstok_status dstok__build_joins(dstok__build *b);

/* The format, the normaliser and the steps in words (build_words.c). */
dstok_status dstok__build_words(dstok__build *b);

/* Is this text of control shape or in the short list of names (control.c)? */
bool dstok__is_control_text(const char *text, size_t n);

#endif
