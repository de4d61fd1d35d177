/* SPDX-License-Identifier: MIT */
/* One layer at work on a chunk of rows: what the functions of forward.c and backward.c hand to one another. */
#ifndef DSX_ARCH_STEP_H
#define DSX_ARCH_STEP_H

#include "arch/forward.h"

/* One expert of one row, sorted by expert so that each sees all its rows at once. */
struct dsx__choice {
    double *weights;   /* [rows][n_used] */
    uint32_t *experts; /* [rows][n_used] */
    double *logits;    /* [rows][n_experts] */
    double *scratch;
    uint32_t *index; /* [rows] rows of one expert, and their weights */
    double *scale;
};

typedef struct dsx__step {
    dsx__work *w;
    const dsx_model *model;
    const dsx__config *c;
    const dsx__backend_ops *ops;
    void *be;
    uint32_t layer_number;
    const dsx__layer *layer;
    const dsx__page_table *pages;
    dsx__attention attention;
    dsx__rotation rotation;
    size_t n;
} dsx__step;

/* Rows [first, first + n) of a text, and then one layer after the other. */
void dsx__step_begin(dsx__step *s, dsx__work *w, const dsx__page_table *pages, uint64_t first, size_t n);
void dsx__step_layer(dsx__step *s, uint32_t l);

/* The queries of rows whose normalised stream is in w->h, as dsx__attention takes them: [n][heads][key_dim]. */
dsx__real *dsx__step_queries(const dsx__step *s);

/* Experts of the rows in w->h, to w->choices; and the rows of one of them: how many, in index and scale. */
void dsx__step_choose(const dsx__step *s);
size_t dsx__step_rows_of(const dsx__step *s, uint32_t e);

#endif
