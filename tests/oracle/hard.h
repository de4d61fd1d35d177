/* SPDX-License-Identifier: MIT */
/* Text that is hard for masks, cuts and caches, and small vocabularies whose tokens come from it. */
#ifndef DSTOK_TESTS_HARD_H
#define DSTOK_TESTS_HARD_H

#include "fixture.h"

/* Kinds of text: parts in any order; parts at the edges of blocks and windows; long runs; few characters in
 * any order; east Asian and Latin mixed; emoji; marks that NFC joins; words of all lengths, again and again;
 * characters of all planes; base64, numbers and signs; gen_text. */
#define HARD_KINDS 11u

/* Valid UTF-8 of one kind, at most max bytes, max >= 64. Returns how many. */
size_t hard_text(t_rng *rng, unsigned kind, uint8_t *out, size_t max);

/* Takes bytes out and changes some, so that most texts are no UTF-8 any more. Returns the new length. */
size_t hard_damage(t_rng *rng, uint8_t *text, size_t len);

/* Merges of random neighbours in hard text: their products cross all borders, of characters and of pretokens.
 * is_shuffled: ranks in any order, so that some tokens are not what their own bytes merge to. */
typedef struct hard_merges {
    char (*texts)[64]; /* single bytes, then products */
    const char *(*merges)[2];
    size_t n;
} hard_merges;
void hard_merges_make(hard_merges *m, t_rng *rng, size_t n, bool is_shuffled);
void hard_merges_free(hard_merges *m);

/* A fixture of these merges; valid as long as they are. */
fixture hard_fixture(const hard_merges *m);

/* Files in malloc'ed memory of all bytes and the products, in their order: a rank file, and a tekken.json
 * with a template. */
char *hard_ranks(const hard_merges *m, size_t *n);
char *hard_tekken(const hard_merges *m, const char *pattern, size_t *n);

/* A text in quotes, for JSON, in malloc'ed memory. */
char *hard_json_string(const char *text);

#endif
