/* SPDX-License-Identifier: MIT */
/* Which tokens an output came from, by one pass forward and one back (arch/backward.h).
 *
 * What is explained is the sum of the log-odds of some tokens t of a text, with the other tokens' shares q of
 * the rest held: logit[t] - sum q[k] logit[k], q = softmax of all logits but that of t; or the difference to the
 * logit of another token (a foil). The way back ends at row `first`: a token before it gets what later rows took
 * from its values by attention, a token from there on what its own embedding gave. So all scores and the share of
 * biases add up to the value.
 *
 *   rows  first = the row behind the sources: no way back through the sources, short however long they are
 *   flow  first = 0: the token whose embedding brought it (DecompX, arXiv 2306.02873; ALTI-Logit, 2305.12535)
 *
 * Routing stands beside it and is never added: the sum over layers, heads and later rows of the attention weight
 * times the length of what the head makes of the token's value (Kobayashi et al. 2020, arXiv 2004.10102): where
 * these rows looked, whatever became of it. */
#ifndef DSX_EXPLAIN_ATTRIBUTE_H
#define DSX_EXPLAIN_ATTRIBUTE_H

#include <dsx/session.h>

#include <stdbool.h>

typedef struct dsx__aim {
    const uint32_t *ids;   /* the text */
    size_t from, to;       /* tokens that are explained, from >= 1 */
    const double *weights; /* of the tokens, [to - from]; NULL: 1 each */
    int64_t foil;          /* instead of token `from`, which alone is explained then; -1: none */
    size_t first;          /* below from */
    bool only_attention;   /* no way back: scores are mean attention weights of the rows before the tokens */
    uint64_t keep_bytes;   /* of rows kept on the way, beyond which they are computed again; 0: 1 GB */
    size_t chunk;          /* rows that pass at once; 0: 512. The same bits whatever it is */
} dsx__aim;

typedef struct dsx__attribution {
    size_t n;          /* to - 1: the tokens that could matter */
    double *scores;    /* [n] */
    double *routing;   /* [n] */
    double *logprobs;  /* [to - from] of the tokens that are explained */
    double value;      /* what is explained */
    double bias;       /* what biases gave */
    double first_mass; /* share of all attention that token 0 took */
} dsx__attribution;

/* Given back at every layer, for progress: done of all. Non-zero: stop, E_CANCELED. */
typedef int dsx__attribute_sink(void *context, uint64_t done, uint64_t all);

/* Features of heads for `at2`: [n_layers * n_heads][n] mean weights of the rows before the tokens. NULL: not
 * wanted. */
dstok_status dsx__attribute(const dsx_model *model, const dsx__aim *aim, float *heads,
                            dsx__attribute_sink *sink, void *context, dsx__attribution *out,
                            dstok_error *err);
void dsx__attribution_free(dsx__attribution *a); /* accepts a zeroed one */

/* Bytes that dsx__attribute takes beside the model, keys and values included. */
uint64_t dsx__attribute_bytes(const dsx_model *model, const dsx__aim *aim);

#endif
