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
    dstok__normalizer *normalizer;  /* of the file; NULL: none */
    dstok__regex_scratch *regex;    /* ... if it needs one */
    dstok__normalized normalized;
    dstok__buf decoded; /* what a token decodes to */
    bool byte_level;    /* the pre_tokenizer has a ByteLevel: the model merges bytes */
    bool byte_mapped;   /* ... and steps behind it */
    bool byte_fallback;
    size_t affix_at;     /* where the last prefix or suffix of subwords stands; 0: none */
    size_t prefix_key_n; /* length of the prefix of subwords as it stands in the keys */
    bool has_double_key; /* some key stands twice in vocab */
} dstok__hf;

/* A token while it is being decoded, step by step; what it comes to has DSTOK__MAX_TOKEN_BYTES at most. */
#define DSTOK__MAX_DECODED ((size_t)1 << 20)

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

/* Puts the bytes that the token added last decodes to into the spec (hf_decoder.c). key: its text in the file, where it
 * stands at `at`. */
dstok_status dstok__hf_token_bytes(dstok__hf *h, size_t at, const char *key, size_t n);

/* What an added token of this text decodes to, in h->decoded (hf_decoder.c). is_mapped: a normalizer made byte-level
 * characters of it. *is_byte: as of a dstok__added. */
dstok_status dstok__hf_added_bytes(dstok__hf *h, size_t at, const char *text, size_t n, bool is_mapped,
                                   bool *is_byte);

/* The members that Metaspace has as pre_tokenizer and as decoder (hf_pretok.c). */
dstok_status dstok__hf_metaspace(dstok__hf *h, size_t at, dstok__prepend *prepend, bool *split);

/* {"Regex": "..."} or {"String": "..."}: the text, in the arena (hf_parts.c). */
dstok_status dstok__hf_pattern(dstok__hf *h, size_t owner, size_t at, bool *is_regex, const char **text,
                               size_t *n);

/* A string of exactly one character, in the arena (hf_parts.c). */
dstok_status dstok__hf_char(dstok__hf *h, size_t owner, size_t at, const char *what, const char **text,
                            size_t *n);

/* A whole number with a default (hf_parts.c). */
dstok_status dstok__hf_number(dstok__hf *h, size_t at, const char *what, uint32_t *value);

/* hf_parts.c: visits the components under `at` (0: none), in order; those of a Sequence one by one, at any depth.
 * what names the member ("normalizer"), list the member of a Sequence that holds its parts. */
typedef dstok_status dstok__hf_part_fn(dstok__hf *h, const char *type, size_t at);
dstok_status dstok__hf_parts(dstok__hf *h, size_t at, const char *what, const char *list,
                             dstok__hf_part_fn *part);

/* E_UNSUPPORTED for a component of a type that is not known. */
dstok_status dstok__hf_unsupported(dstok__hf *h, size_t at, const char *what, const char *type);

/* Each reads one member of the file; at = 0: it is absent. */
dstok_status dstok__hf_normalizer(dstok__hf *h, size_t at);     /* hf_norm.c */
dstok_status dstok__hf_decoder(dstok__hf *h, size_t at);        /* hf_decoder.c */
dstok_status dstok__hf_pre_tokenizer(dstok__hf *h, size_t at);  /* hf_pretok.c */
dstok_status dstok__hf_post_processor(dstok__hf *h, size_t at); /* hf_post.c; after the added tokens */

/* hf_config.c: tokenizer_config.json. Last. */
dstok_status dstok__hf_config(dstok__hf *h, const char *data, size_t n);

/* The id of an added token, else of a vocabulary key, as the reference looks it up; DSTOK__NO_ID: none. */
uint32_t dstok__hf_id_of(const dstok__hf *h, const char *text, size_t n);

#endif
