/* SPDX-License-Identifier: MIT */
/* What a vocabulary file says, in one shape for all formats: loaders fill it, the tokenizer is built from it. */
#ifndef DSTOK_LOAD_SPEC_H
#define DSTOK_LOAD_SPEC_H

#include "../base/base.h"
#include "../pretok/pretok.h"
#include "../text/normalize.h"

typedef struct dstok__token {
    const char *bytes; /* what the token decodes to; n bytes, in the arena */
    uint32_t n;
    uint32_t id;
    bool literal; /* its key has characters outside the byte-level map: it never equals a pretoken */
} dstok__token;

typedef struct dstok__merge {
    uint32_t left, right, product; /* ids; the rank is the index in the list */
} dstok__merge;

typedef struct dstok__added {
    const char *content; /* n bytes, in the arena */
    uint32_t n;
    uint32_t id;
    bool special, single_word, lstrip, rstrip, normalized;
    bool shadows; /* a model token of another text has this id, too: the id decodes to this one */
    bool
        is_named; /* a chat template or tokenizer_config.json names it: a control token, whatever else it is */
} dstok__added;

/* One item of a post-processor template for a single sequence. */
typedef struct dstok__template_item {
    bool is_text; /* the encoded text stands here; else id */
    uint32_t id;
} dstok__template_item;

typedef enum dstok__model_kind {
    DSTOK__MODEL_MERGES, /* a list of merges in rank order (tokenizer.json) */
    DSTOK__MODEL_RANKS /* token id = rank; any two neighbours whose joined bytes are a token merge (.tiktoken) */
} dstok__model_kind;

#define DSTOK__NO_ID UINT32_MAX

typedef struct dstok__spec {
    dstok__arena arena; /* every string below */
    const char *format; /* static: "tokenizer.json", "tiktoken", ... as inspect shows it */

    dstok__model_kind model;
    dstok__token *tokens; /* model tokens in file order, without those that are only added */
    size_t n_tokens, cap_tokens;
    dstok__merge *merges; /* MODEL_MERGES: rank = index; of equal pairs the last one counts */
    size_t n_merges, cap_merges;
    bool ignore_merges; /* a pretoken that is a token as a whole is not merged */
    bool fuse_unk;
    uint32_t unk_id; /* DSTOK__NO_ID: none */

    dstok__added *added; /* in file order, ids as the reference numbers them */
    size_t n_added, cap_added;

    dstok__norm_kind norms[DSTOK__MAX_NORMS];
    size_t n_norms;
    dstok__step steps[DSTOK__MAX_STEPS];
    size_t n_steps;
    bool
        prefix_space; /* ByteLevel(add_prefix_space) as the first step: a piece that starts otherwise gets a blank */

    dstok__template_item *template_items; /* NULL: just the text */
    size_t n_template, cap_template;

    const char **warnings; /* in the arena, NUL-terminated */
    size_t n_warnings, cap_warnings;
    size_t n_dropped; /* warnings that the last one only counts */
} dstok__spec;

void dstok__spec_init(dstok__spec *s, const dstok_alloc *al);
void dstok__spec_free(dstok__spec *s);

/* Appenders: each returns E_NOMEM or E_LIMIT (with err filled). Strings are copied into the arena. */
dstok_status dstok__spec_token(dstok__spec *s, const void *bytes, size_t n, uint32_t id, dstok_error *err);
dstok_status dstok__spec_merge(dstok__spec *s, uint32_t left, uint32_t right, uint32_t product,
                               dstok_error *err);
dstok_status dstok__spec_added(dstok__spec *s, const dstok__added *added, dstok_error *err);
dstok_status dstok__spec_template(dstok__spec *s, dstok__template_item item, dstok_error *err);
dstok_status dstok__spec_warn(dstok__spec *s, dstok_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies a string into the arena, with a NUL behind it. */
dstok_status dstok__spec_copy(dstok__spec *s, const void *bytes, size_t n, const char **copy,
                              dstok_error *err);

/* Fills *err for a growth that failed: E_NOMEM, or E_LIMIT with "too many <what>". Returns status. */
dstok_status dstok__spec_no_room(dstok_status status, const char *what, size_t max, dstok_error *err);

/* Limits of every loader (docs/formats.md lists them). */
#define DSTOK__MAX_FILE        ((size_t)1 << 30)   /* bytes of a vocabulary file */
#define DSTOK__MAX_ARENA       ((size_t)1 << 30)   /* bytes of all strings of a vocabulary */
#define DSTOK__MAX_IDS         ((uint32_t)1 << 24) /* ids are below this */
#define DSTOK__MAX_MERGES      ((size_t)1 << 25)
#define DSTOK__MAX_TOKEN_BYTES ((size_t)1 << 16) /* one token */
#define DSTOK__MAX_ADDED_BYTES 1024u             /* one added token's text */
#define DSTOK__MAX_ADDED       ((size_t)1 << 20)
#define DSTOK__MAX_TEMPLATE    ((size_t)4096) /* items of a template */
#define DSTOK__MAX_WARNINGS    64u            /* kept; the rest are counted in the last one */
#define DSTOK__MAX_JSON_DEPTH  64u

/* ---- loaders: data[0, n) is the whole file; offsets in errors are into it ---- */

/* tokenizer.json (hf.c). config (may be NULL): the text of tokenizer_config.json beside it. */
dstok_status dstok__load_hf(dstok__spec *s, const char *data, size_t n, const char *config, size_t config_n,
                            dstok_error *err);

/* Marks the added tokens that a chat template uses (hf_config.c). After dstok__load_hf. */
dstok_status dstok__load_chat_template(dstok__spec *s, const char *text, size_t n, dstok_error *err);

/* A rank file (tiktoken.c). pattern: a name of dstok__pattern_by_name, or a regular expression, or NULL = from meta
 * (the text of X.tiktoken.meta.json, may be NULL), else from the file's sha256, else an error that lists the names. */
dstok_status dstok__load_tiktoken(dstok__spec *s, const char *data, size_t n, const char *pattern,
                                  const char *meta, size_t meta_n, dstok_error *err);

#endif
