/* SPDX-License-Identifier: MIT */
/* The inside of the GGUF loader: what its parts share. */
#ifndef DSTOK_LOAD_GGUF_H
#define DSTOK_LOAD_GGUF_H

#include "read.h"

typedef enum dstok__gguf_type {
    DSTOK__GGUF_U8,
    DSTOK__GGUF_I8,
    DSTOK__GGUF_U16,
    DSTOK__GGUF_I16,
    DSTOK__GGUF_U32,
    DSTOK__GGUF_I32,
    DSTOK__GGUF_F32,
    DSTOK__GGUF_BOOL,
    DSTOK__GGUF_STRING,
    DSTOK__GGUF_ARRAY,
    DSTOK__GGUF_U64,
    DSTOK__GGUF_I64,
    DSTOK__GGUF_F64,
    DSTOK__GGUF_N_TYPES,
    DSTOK__GGUF_ABSENT
} dstok__gguf_type;

/* One value, checked to lie inside the file. */
typedef struct dstok__gguf_value {
    dstok__gguf_type type;
    dstok__gguf_type elem; /* of an array */
    size_t at;             /* of a string's text, an array's first element, any other value itself */
    size_t n;              /* bytes of a string, elements of an array, else 1 */
} dstok__gguf_value;

/* The keys that are read. */
typedef enum dstok__gguf_key {
    DSTOK__GGUF_ARCHITECTURE,
    DSTOK__GGUF_MODEL,
    DSTOK__GGUF_PRE,
    DSTOK__GGUF_TOKENS,
    DSTOK__GGUF_SCORES,
    DSTOK__GGUF_TYPES,
    DSTOK__GGUF_MERGES,
    DSTOK__GGUF_CHARSMAP,
    DSTOK__GGUF_BOS,
    DSTOK__GGUF_EOS,
    DSTOK__GGUF_UNK,
    DSTOK__GGUF_ADD_BOS,
    DSTOK__GGUF_ADD_EOS,
    DSTOK__GGUF_ADD_PREFIX,
    DSTOK__GGUF_REMOVE_BLANKS,
    DSTOK__GGUF_N_KEYS
} dstok__gguf_key;

/* token_type */
enum {
    DSTOK__GGUF_UNDEFINED,
    DSTOK__GGUF_NORMAL,
    DSTOK__GGUF_UNKNOWN,
    DSTOK__GGUF_CONTROL,
    DSTOK__GGUF_USER_DEFINED,
    DSTOK__GGUF_UNUSED,
    DSTOK__GGUF_BYTE
};

typedef struct dstok__gguf {
    dstok__spec *s;
    dstok_error *err;
    const uint8_t *data; /* the file, or its head */
    size_t n;
    uint64_t n_pairs;
    dstok__gguf_value values[DSTOK__GGUF_N_KEYS];
    uint32_t n_tokens;
    dstok__map ids;     /* text of a token as the file has it -> id */
    dstok__arena names; /* of tokens without one */
    dstok__buf text;    /* scratch */
    bool default_bos;   /* add_bos_token where the file does not say */
} dstok__gguf;

/* ---- the file (gguf_file.c) ---- */

/* Checks the header and every key and value, and notes the known ones. */
dstok_status dstok__gguf_open(dstok__gguf *g);

/* A walk over the keys of a file that was opened. */
typedef struct dstok__gguf_iter {
    const dstok__gguf *g;
    uint64_t left;
    size_t at;
    const char *key;
    size_t key_n;
    dstok__gguf_value value;
} dstok__gguf_iter;
dstok__gguf_iter dstok__gguf_iterate(const dstok__gguf *g);
bool dstok__gguf_next(dstok__gguf_iter *it);

/* A walk over an array of strings. */
typedef struct dstok__gguf_strings {
    const dstok__gguf *g;
    size_t left, at; /* at: of the next one's length */
    const char *text;
    size_t n;
} dstok__gguf_strings;
dstok__gguf_strings dstok__gguf_strings_of(const dstok__gguf *g, dstok__gguf_key key);
bool dstok__gguf_next_string(dstok__gguf_strings *it);

bool dstok__gguf_has(const dstok__gguf *g, dstok__gguf_key key);
const char *dstok__gguf_name(dstok__gguf_key key);

/* Each reads a value that the file has; E_FORMAT, naming the key, where it has another type. An absent bool
 * leaves *value as it is. */
dstok_status dstok__gguf_string(const dstok__gguf *g, dstok__gguf_key key, const char **text, size_t *n);
dstok_status dstok__gguf_bool(const dstok__gguf *g, dstok__gguf_key key, bool *value);
dstok_status dstok__gguf_check_array(const dstok__gguf *g, dstok__gguf_key key, dstok__gguf_type elem,
                                     dstok__gguf_type or_elem, size_t at_least);
/* The number in a value of any integer type; false where it is none, or does not fit. */
bool dstok__gguf_integer(const dstok__gguf *g, const dstok__gguf_value *v, uint32_t *id);
/* Element i of an array of four-byte numbers. */
uint32_t dstok__gguf_word(const dstok__gguf *g, dstok__gguf_key key, size_t i);

/* ---- tokens (gguf_tokens.c) ---- */

/* Notes the texts of all tokens: unique, valid UTF-8, those without one named "[EMPTY_<id>]". */
dstok_status dstok__gguf_texts(dstok__gguf *g);
/* The text as it was noted. */
typedef struct dstok__gguf_token {
    const char *text;
    size_t n, at; /* at: place in the file */
    uint32_t id;
    int type;
    bool is_empty; /* it had no text: nothing can become it */
} dstok__gguf_token;
/* Calls fn for each token, in order of ids. */
typedef dstok_status dstok__gguf_token_fn(dstok__gguf *g, const dstok__gguf_token *t);
dstok_status dstok__gguf_each_token(dstok__gguf *g, dstok__gguf_token_fn *fn);
/* The token added last to the spec becomes an added token, too, looked for as content. */
dstok_status dstok__gguf_add(dstok__gguf *g, const dstok__gguf_token *t, const char *content, size_t n,
                             bool rstrip);

/* ---- the models: gguf_bpe.c, gguf_spm.c ---- */
dstok_status dstok__gguf_bpe(dstok__gguf *g);
dstok_status dstok__gguf_spm(dstok__gguf *g);

/* gguf_pre.c: the steps, normalizer and options of the pretokenizer of this name. */
dstok_status dstok__gguf_pretokenizer(dstok__gguf *g);

#endif
