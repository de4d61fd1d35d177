/* SPDX-License-Identifier: MIT */
/* The inside of the tokenizer.json loader: what its parts share. */
#ifndef DSTOK_LOAD_HF_H
#define DSTOK_LOAD_HF_H

#include "bits.h"
#include "read.h"

typedef struct dstok__hf {
    dstok__reader r;
    dstok__json doc;   /* the text of tokenizer.json */
    dstok__map vocab;  /* key of model.vocab -> index in r.s->tokens */
    dstok__map added;  /* content of an added token -> index in r.s->added */
    dstok__arena keys; /* vocabulary keys that have escapes, decoded */
    dstok__bits taken; /* ids of the vocabulary */
    uint32_t first_added,
        next_id; /* ids of added tokens that are no keys: from the first up to the next free one */
    dstok__buf text, other, joined; /* scratch; text is r.scratch */
    bool byte_level;                /* the pre_tokenizer ends with ByteLevel */
    bool byte_fallback;
    bool has_double_key; /* some key stands twice in vocab */
} dstok__hf;

/* The members of "model", found but not yet read (hf_model.c). */
typedef struct dstok__hf_model {
    size_t at, vocab, merges, unk_token;
} dstok__hf_model;

/* hf_model.c, hf_merges.c: checks the model's type and options; then, in this order, its vocabulary and merges. */
dstok_status dstok__hf_model_open(dstok__hf *h, size_t at, dstok__hf_model *m);
dstok_status dstok__hf_vocab(dstok__hf *h, const dstok__hf_model *m);
dstok_status dstok__hf_merges(dstok__hf *h, const dstok__hf_model *m);

/* hf_added.c: numbers the added tokens as the reference does. After the vocabulary. at = 0: none. */
dstok_status dstok__hf_added(dstok__hf *h, size_t at);

/* hf_parts.c: visits the components under `at` (0: none), in order; those of a Sequence one by one, at any depth.
 * what names the member ("normalizer"), list the member of a Sequence that holds its parts. */
typedef dstok_status dstok__hf_part_fn(dstok__hf *h, const char *type, size_t at);
dstok_status dstok__hf_parts(dstok__hf *h, size_t at, const char *what, const char *list,
                             dstok__hf_part_fn *part);

/* E_UNSUPPORTED for a component; `later` lists types that exist but are not read yet, NULL at its end. */
dstok_status dstok__hf_unsupported(dstok__hf *h, size_t at, const char *what, const char *type,
                                   const char *const *later);

/* Each reads one member of the file; at = 0: it is absent. */
dstok_status dstok__hf_normalizer(dstok__hf *h, size_t at);
dstok_status dstok__hf_decoder(dstok__hf *h, size_t at);
dstok_status dstok__hf_pre_tokenizer(dstok__hf *h, size_t at);  /* hf_pretok.c */
dstok_status dstok__hf_post_processor(dstok__hf *h, size_t at); /* hf_post.c; after the added tokens */

/* hf_config.c: tokenizer_config.json. Last. */
dstok_status dstok__hf_config(dstok__hf *h, const char *data, size_t n);

/* The id of an added token, else of a vocabulary key, as the reference looks it up; DSTOK__NO_ID: none. */
uint32_t dstok__hf_id_of(const dstok__hf *h, const char *text, size_t n);

#endif
