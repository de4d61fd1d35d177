/* SPDX-License-Identifier: MIT */
/* The parts of the trainer: counted words, special tokens to cut out, pair counts, the queue, the learnt vocabulary. */
#ifndef DSTOK_TRAIN_TRAIN_H
#define DSTOK_TRAIN_TRAIN_H

#include "../base/base.h"

/* Limits (docs/training.md lists them). */
#define DSTOK__TRAIN_MAX_IDS         ((uint32_t)1 << 24) /* what the loaders accept */
#define DSTOK__TRAIN_MAX_TOKEN       ((size_t)1 << 16)   /* bytes of one token; what the loaders accept */
#define DSTOK__TRAIN_MAX_TOKEN_BYTES ((size_t)1 << 30)   /* of all tokens together */
#define DSTOK__TRAIN_MAX_SPECIALS    ((size_t)4096)
#define DSTOK__TRAIN_MAX_SPECIAL     ((size_t)1024)           /* bytes of one special token */
#define DSTOK__TRAIN_MAX_WORDS       ((size_t)1 << 30)        /* distinct pretokens */
#define DSTOK__TRAIN_MAX_WORD_BYTES  ((size_t)UINT32_MAX)     /* of all distinct pretokens together */
#define DSTOK__TRAIN_MAX_PAIRS       ((size_t)1 << 30)        /* distinct pairs met */
#define DSTOK__TRAIN_MAX_POSTS       ((size_t)UINT32_MAX - 1) /* places where pairs are noted to occur */
#define DSTOK__TRAIN_MAX_QUEUE       ((size_t)1 << 31)
#define DSTOK__TRAIN_MAX_MERGES      ((size_t)1 << 25) /* what the loaders accept */

/* ---- words.c: distinct pretokens and how often they occur ---- */
typedef struct dstok__word {
    const char *bytes; /* in the arena */
    uint32_t n;
    uint64_t count;
} dstok__word;

typedef struct dstok__words {
    const dstok_alloc *al;
    dstok__arena arena;
    dstok__map map; /* bytes -> index in items */
    dstok__word *items;
    size_t n, cap;
    size_t bytes;     /* of all distinct words */
    uint64_t total;   /* occurrences */
    uint64_t symbols; /* sum of count x bytes; kept within int64_t, so that no pair count can overflow */
} dstok__words;

void dstok__words_init(dstok__words *w, const dstok_alloc *al);
void dstok__words_free(dstok__words *w);
/* n > 0. E_LIMIT when a limit or the range of 64-bit counts is passed; the words stay as they were. */
dstok_status dstok__words_add(dstok__words *w, const void *bytes, size_t n, uint64_t count);

/* ---- specials.c: special tokens, cut out of every text before it is counted ---- */
typedef struct dstok__special {
    const char *text; /* n bytes and a NUL, in the arena */
    size_t n;
} dstok__special;

typedef struct dstok__specials {
    const dstok_alloc *al;
    dstok__arena arena;
    dstok__special *items; /* in the caller's order: the index is the id */
    size_t n;
    uint32_t *sorted;    /* indexes, texts in falling order: of two that match, the longer one comes first */
    uint32_t first[257]; /* sorted[first[b], first[b + 1]) begin with the byte 255 - b */
} dstok__specials;

/* Copies the texts. E_INVAL for an empty or double one, for one that is not UTF-8, and for one that a tokenizer.json
 * could not tell from a token; E_LIMIT. */
dstok_status dstok__specials_new(dstok__specials *s, const dstok_alloc *al, const char *const *texts,
                                 size_t n, dstok_error *err);
void dstok__specials_free(dstok__specials *s);
/* The first special token at or after pos, the longest one there. Returns where it begins and sets *end; returns len
 * when there is none. */
size_t dstok__specials_find(const dstok__specials *s, const uint8_t *text, size_t len, size_t pos,
                            size_t *end);

/* ---- vocab.c: tokens and merges ---- */
typedef struct dstok__learnt_token {
    const char *bytes; /* in the arena */
    uint32_t n;
} dstok__learnt_token;

typedef struct dstok__learnt_merge {
    uint32_t left, right; /* ids */
} dstok__learnt_merge;

typedef struct dstok__learnt {
    const dstok_alloc *al;
    dstok__arena arena;
    dstok__map map; /* bytes -> id; without the special tokens */
    dstok__learnt_token *tokens;
    size_t n_tokens, cap_tokens;
    size_t bytes;        /* of all tokens */
    uint32_t n_specials; /* ids below are special tokens; 256 bytes follow */
    uint32_t byte_id[256];
    dstok__learnt_merge *merges;
    size_t n_merges, cap_merges;
    uint64_t last_count;
} dstok__learnt;

void dstok__learnt_init(dstok__learnt *v, const dstok_alloc *al);
void dstok__learnt_free(dstok__learnt *v);
/* Gives ids to the special tokens and then to the 256 bytes, in an order DSTOK_TRAIN_ORDER_*. */
dstok_status dstok__learnt_start(dstok__learnt *v, const dstok__specials *specials, int order);
/* Records the merge of two ids. *id  [out] the token of the joined bytes: the one that already is, or a new one. */
dstok_status dstok__learnt_merge_add(dstok__learnt *v, uint32_t left, uint32_t right, uint32_t *id);

/* The code point that stands for a byte in tokenizer.json, and whether a code point stands for one. */
uint32_t dstok__byte_char(uint8_t byte);
bool dstok__is_byte_char(uint32_t cp);

/* ---- pairs.c: how often each pair occurs, and in which words ---- */
#define DSTOK__NO_POST UINT32_MAX

typedef struct dstok__pair {
    uint64_t key;   /* left << 32 | right */
    int64_t count;  /* occurrences now, exactly */
    uint32_t posts; /* head of the list of words that may hold it, or DSTOK__NO_POST */
    uint32_t step;  /* the merge in which its count last rose */
} dstok__pair;

typedef struct dstok__post {
    uint32_t word, next;
} dstok__post;

typedef struct dstok__counted_pairs {
    const dstok_alloc *al;
    dstok__pair *items;
    size_t n, cap;
    uint32_t *slots; /* open addressing: index + 1, 0 = free; at most half full */
    size_t mask;
    dstok__post *posts;
    size_t n_posts, cap_posts;
    uint32_t free_post; /* list of released posts */
} dstok__counted_pairs;

void dstok__counted_pairs_init(dstok__counted_pairs *p, const dstok_alloc *al);
void dstok__counted_pairs_free(dstok__counted_pairs *p);
/* *index  [out] of the pair in items; a pair not met before is added with count 0. */
dstok_status dstok__counted_pairs_get(dstok__counted_pairs *p, uint32_t left, uint32_t right,
                                      uint32_t *index);
/* Notes that the word holds the pair; twice in a row is noted once. */
dstok_status dstok__counted_pairs_post(dstok__counted_pairs *p, uint32_t index, uint32_t word);
/* Gives back one post of a list that was taken from the pair; returns the next one. */
uint32_t dstok__counted_pairs_release(dstok__counted_pairs *p, uint32_t post);

/* ---- queue.c: the pair with the largest count; of equal ones the smaller left id, then the smaller right id ---- */
typedef struct dstok__entry {
    int64_t count;
    uint64_t key; /* left << 32 | right */
    uint32_t pair;
} dstok__entry;

typedef struct dstok__queue {
    const dstok_alloc *al;
    dstok__entry *items;
    size_t n, cap;
} dstok__queue;

void dstok__queue_init(dstok__queue *q, const dstok_alloc *al);
void dstok__queue_free(dstok__queue *q);
dstok_status dstok__queue_push(dstok__queue *q, dstok__entry entry);
bool dstok__queue_pop(dstok__queue *q, dstok__entry *entry); /* false: empty */

/* ---- learn.c: from counts to merges ---- */
typedef struct dstok__learn_options {
    uint32_t vocab_size;
    uint64_t min_frequency;  /* > 0 */
    size_t max_token_length; /* 0: no limit but DSTOK__TRAIN_MAX_TOKEN */
    int (*progress)(void *ctx, uint64_t done, uint64_t wanted);
    void *progress_ctx;
} dstok__learn_options;

/* Frees the words as soon as it has its own form of them. */
dstok_status dstok__learn(dstok__learnt *v, dstok__words *words, const dstok__learn_options *options,
                          dstok_error *err);

/* ---- json.c ---- */
/* Writes the vocabulary as a tokenizer.json; returns its size. Nothing is written beyond cap. */
size_t dstok__learnt_json(const dstok__learnt *v, const char *pattern, size_t pattern_n, char *out,
                          size_t cap);

#endif
