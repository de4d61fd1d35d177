/* SPDX-License-Identifier: MIT */
/* A prompt's text without some sentences of its sources, many times, and how likely the answer is then. */
#ifndef DSX_EXPLAIN_TEXTS_H
#define DSX_EXPLAIN_TEXTS_H

#include "explain/explain.h"

/* A sentence of a source, or a line.   bytes: with the white space before it; tokens: how many it has, by
 * bytes; score: the sum of its tokens' scores, where the explanation has some */
typedef struct dsx__unit {
    dstok_span bytes, core;
    size_t segment;
    double tokens, score;
} dsx__unit;

/* What becomes of the text is that of someone who deletes sentences in the sources: the sentences that are left are
 * put together (the first of a source begins without the white space before it), and all is made tokens anew. The
 * response keeps its tokens where one ends before it.
 *   gap   tokens keep the positions they had: what later rows see is what they would see if the keys of the tokens
 *         that are gone were hidden from all others
 *   swap  in place of a sentence stand common words, about as many as it had tokens */
typedef struct dsx__texts {
    dsx_prompt *p;
    dsx__explaining *e;
    dsx__unit *units;
    size_t n_units, n, cap;
    uint8_t *masks; /* [n][n_units]: 1: the sentence is kept */
    double *logprobs,
        *values;   /* [n]: of the tokens that are explained; log-odds of all, or difference to the foil */
    size_t n_rows; /* tokens that were read for all of them: less than they have together */
} dsx__texts;

dstok_status dsx__texts_new(dsx_prompt *p, dsx__explaining *e, dsx__texts *out, dstok_error *err);
void dsx__texts_free(dsx__texts *t); /* accepts a zeroed one */

/* A text more, mask [n_units]; which one it is, in *index: the one there is already, where there is one. */
bool dsx__texts_add(dsx__texts *t, const uint8_t *mask, size_t *index);
/* So many random ones, of which each sentence is kept with probability 1/2; all that there are, where they
 * are not more. Those that are there count, too; the same ones are drawn again for a stream. */
bool dsx__texts_add_random(dsx__texts *t, uint32_t n, uint64_t seed, uint64_t stream, size_t *index);
/* Logprobs and values of all. */
dstok_status dsx__texts_read(dsx__texts *t, dstok_error *err);

/* The bytes of a token that a stretch holds, as a share of the token's. */
double dsx__share(dstok_span token, dstok_span of);

/* log p - log(1 - p), from log p: finite. */
double dsx__log_odds(double logprob);

#endif
