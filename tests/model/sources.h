/* SPDX-License-Identifier: MIT */
/* What each token of a text gave to an output, forward: every number of the stream is kept as a sum of what
 * came from each token and from biases, with attention weights, scales of norms, gates and experts as they
 * are of the whole sums. n times the work of a forward pass, in plain loops; nothing of arch/forward.c,
 * arch/backward.c or a backend's arithmetic. Attention of DeepSeek is computed with keys and values of all
 * heads. */
#ifndef DSTOK_TESTS_SOURCES_H
#define DSTOK_TESTS_SOURCES_H

#include "explain/attribute.h"

typedef struct decomposed {
    size_t n;
    double *scores, *routing; /* [n] */
    double value, bias, first_mass;
    double *heads; /* [layers * heads][n] */
} decomposed;

/* model must be of the backend float64, whose tables give the numbers of a file. */
void decompose(const dsx_model *model, const dsx__aim *aim, decomposed *out);
void free_decomposed(decomposed *d);

#endif
