/* SPDX-License-Identifier: MIT */
/* What a vocabulary file says, in one shape for all formats: loaders fill it, the tokenizer is built from it. */
#ifndef DSTOK_LOAD_SPEC_H
#define DSTOK_LOAD_SPEC_H

#include "../base/base.h"
#include "../bpe/decoder.h"
#include "../pretok/pretok.h"
#include "../text/normalize.h"

typedef struct dstok__token {
    const char *
        text; /* what the model matches: bytes (byte atoms) or UTF-8 with its affixes; n bytes, in the arena */
    uint32_t n;
    uint32_t id;
    const char
        *bytes; /* what it decodes to by itself (dstok__dec_token); bytes_n bytes; often the same as text */
    uint32_t bytes_n;
    float score; /* MODEL_SCORES */
    bool
        literal; /* no text becomes it: its key has characters outside the byte-level map, or it is a control, unknown
                       or byte piece of SentencePiece */
    bool is_byte; /* it decodes to a byte, and such tokens side by side to the text that they make together */
    bool is_unused; /* MODEL_SCORES: merges may pass through it, but it is taken apart again */
} dstok__token;

typedef struct dstok__merge {
    uint32_t left, right, product; /* ids; the rank is the index in the list */
} dstok__merge;

typedef struct dstok__added {
    const char *content; /* n bytes, in the arena */
    uint32_t n;
    uint32_t id;
    const char *bytes; /* what it decodes to; bytes_n bytes; NULL: its content */
    uint32_t bytes_n;
    bool special, single_word, lstrip, rstrip, normalized;
    bool is_byte;      /* as of a dstok__token */
    bool shadows;      /* a model token of another text has this id, too: the id decodes to this one */
    bool by_name_only; /* matched only where the caller lists it (SentencePiece control pieces are never found
                         in text) */
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
    DSTOK__MODEL_RANKS, /* token id = rank; any two neighbours whose joined bytes are a token merge (.tiktoken) */
    DSTOK__MODEL_SCORES /* any two neighbours whose joined text is a token merge, highest score first
                           (SentencePiece) */
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
    bool char_atoms;    /* merging starts from characters (SentencePiece style), not from bytes */
    bool byte_fallback; /* a character without a token becomes its bytes' tokens, if all of them have one */
    bool late_fallback; /* byte_fallback comes after merging (SentencePiece), not before it (Hugging Face) */
    uint32_t fallback_ids[256]; /* "<0x00>" ... "<0xFF>"; DSTOK__NO_ID: none */
    const char *prefix,
        *suffix; /* continuing_subword_prefix, end_of_word_suffix, as in token texts; NUL-terminated */
    size_t prefix_n, suffix_n; /* 0: none */
    bool fuse_unk;
    uint32_t unk_id; /* DSTOK__NO_ID: none */

    dstok__added *added; /* in file order, ids as the reference numbers them */
    size_t n_added, cap_added;

    dstok__norm norms[DSTOK__MAX_NORMS]; /* strings in the arena */
    size_t n_norms;
    dstok__step steps[DSTOK__MAX_STEPS]; /* strings in the arena */
    size_t n_steps;
    dstok__dec decs[DSTOK__MAX_DECS]; /* strings in the arena */
    size_t n_decs;
    bool trim_offsets;      /* hf spans: ByteLevel or Roberta as post_processor take blanks off the spans */
    bool trim_keeps_prefix; /* ... its add_prefix_space */

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
/* The token added last decodes to these bytes, not to its text. */
dstok_status dstok__spec_token_bytes(dstok__spec *s, const void *bytes, size_t n, dstok_error *err);
dstok_status dstok__spec_merge(dstok__spec *s, uint32_t left, uint32_t right, uint32_t product,
                               dstok_error *err);
dstok_status dstok__spec_added(dstok__spec *s, const dstok__added *added, dstok_error *err);
dstok_status dstok__spec_template(dstok__spec *s, dstok__template_item item, dstok_error *err);
dstok_status dstok__spec_warn(dstok__spec *s, dstok_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The byte that a token's name "<0x0A>" (in capitals) stands for, or -1. */
int dstok__byte_of_name(const char *text, size_t n);

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
 * (the text of X.tiktoken.meta.json, may be NULL), else from the file's sha256, else an error that lists the
 * names. */
dstok_status dstok__load_tiktoken(dstok__spec *s, const char *data, size_t n, const char *pattern,
                                  const char *meta, size_t meta_n, dstok_error *err);

/* tekken.json of mistral-common (tekken.c). */
dstok_status dstok__load_tekken(dstok__spec *s, const char *data, size_t n, dstok_error *err);

/* A SentencePiece model file (sentencepiece.c): BPE only. */
dstok_status dstok__load_sentencepiece(dstok__spec *s, const char *data, size_t n, dstok_error *err);
bool dstok__looks_like_sentencepiece(const char *data, size_t n);

/* The tokenizer metadata of a GGUF file (gguf.c): data may be the head of the file only, as long as it holds all
 * metadata. */
dstok_status dstok__load_gguf(dstok__spec *s, const char *data, size_t n, dstok_error *err);

#endif
