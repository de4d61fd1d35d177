/* SPDX-License-Identifier: MIT */
/* The way back from an output to what it was made of, with everything held that is not linear: attention
 * weights, scales of norms, silu of gates, the choice and weights of experts (DecompX, arXiv 2306.02873;
 * ALTI-Logit, arXiv 2305.12535). What is left is a sum: the output is what came in, each times its gradient,
 * and what biases gave. */
#ifndef DSX_ARCH_BACKWARD_H
#define DSX_ARCH_BACKWARD_H

#include "arch/forward.h"

/* Rows [first, first + n) of a text go back together. What they took by attention from tokens before `first`
 * is a share of these tokens, and goes no further. */
typedef struct dsx__backward {
    dsx__work *w; /* of as many rows as pass at once */
    const dsx__page_table *pages;
    uint64_t first;
    size_t n;
    dsx__real *g;               /* [n][width]: gradient of the stream; NULL: only attention is looked at */
    dsx__real *values;          /* [first + n][kv heads][value_dim]: gradient of one layer's values */
    dsx__real *zero;            /* [kv heads * value_dim, or width] */
    dsx__real *bias_row, *room; /* one bias; [rows of w][n_heads] twice */
    double *shares;             /* [first]: of the tokens before the rows, so far */
    double bias;                /* what biases gave, so far */
    /* Attention weights of one layer, summed over the rows from mass_from on: NULL, or [first + n][n_heads];
     * see gets them layer by layer. */
    dsx__real *mass;
    uint64_t mass_from;
    void (*see)(void *context, uint32_t layer, const dsx__real *mass);
    void *context;
} dsx__backward;

/* Room for rows [first, first + n); g is zero when there is one. False: out of memory, nothing is kept. */
bool dsx__backward_new(dsx__work *w, const dsx__page_table *pages, uint64_t first, size_t n, bool with_g,
                       bool with_mass, dsx__backward *out);
void dsx__backward_free(dsx__backward *b); /* accepts a zeroed one */
/* Bytes of dsx__backward_new. */
uint64_t dsx__backward_bytes(const dsx_model *m, size_t chunk, uint64_t first, size_t n, bool with_g,
                             bool with_mass);

/* From the layer before record->to down to record->from. */
void dsx__backward_layers(dsx__backward *b, const dsx__record *record);

#endif
