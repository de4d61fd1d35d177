/* SPDX-License-Identifier: MIT */
/* Small vocabularies made in memory, so that tests can say what they need in a few lines. */
#ifndef DSTOK_TESTS_FIXTURE_H
#define DSTOK_TESTS_FIXTURE_H

#include "../harness/t.h"

#include <dstok/tokenizer.h>

/* A tokenizer.json: byte b has id b, the product of merge i has id 256 + i (a product that was there before keeps its
 * id). normalizer and the like are JSON values; NULL stands for null, of pre_tokenizer for ByteLevel with the GPT-2
 * pattern. */
typedef struct fixture {
    const char *const (*merges)[2]; /* left and right, as bytes */
    size_t n_merges;
    const char *
        added; /* a line each: flags, a colon, the text; flags of s special, w single_word, l lstrip, r rstrip,
                          n normalized. NULL: none */
    const char *normalizer, *pre_tokenizer, *post_processor;
    const char *model;   /* more members of "model", each with a comma behind it */
    const char *without; /* bytes that get no token */
} fixture;

/* The file in malloc'ed memory. */
char *fixture_json(const fixture *f, size_t *n);

/* The file loaded; al may be NULL. A failure is a failed CHECK and the end of the test program. */
dstok_tokenizer *fixture_load(const fixture *f, const dstok_alloc *al);

/* A rank file in malloc'ed memory: byte b has rank b; then aa, aaaa, he, ll, hello. */
char *fixture_ranks(size_t *n);

/* That file loaded with a meta file (as X.tiktoken.meta.json); ends the program on failure. */
dstok_tokenizer *fixture_load_ranks(const char *meta);

/* An encoder, or a failed CHECK and the end of the test program. */
dstok_encoder *fixture_encoder(const dstok_tokenizer *tok);

/* h e l o and a few words, digits and blanks: merges that overlap and tie. */
extern const fixture fixture_words;

/* CHECKs that the encoder gives want[0, n) under a policy; `where` stands before the message. */
void fixture_check_ids(dstok_encoder *enc, const char *text, int special, const uint32_t *want, size_t n,
                       const char *where);

#endif
