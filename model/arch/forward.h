/* SPDX-License-Identifier: MIT */
/* The forward pass: rows of a chunk through all layers. */
#ifndef DSX_ARCH_FORWARD_H
#define DSX_ARCH_FORWARD_H

#include "arch/model.h"

/* The stream of some rows at some layers, kept on the way for a way back (backward.h). Row first + i of the
 * text is row i here. */
typedef struct dsx__record {
    uint64_t first;
    size_t cap;        /* rows there is room for */
    uint32_t from, to; /* layers */
    uint32_t every; /* each every-th of them, from the first on; behind the last one, too, where it is one */
    dsx__real *in;  /* [(to - from) / every + 1][cap][width]: before a layer */
    dsx__real *mid; /* [to - from][cap][width]: between a layer's two halves; NULL: not kept */
} dsx__record;

/* Who sees the rows that go into the maps of layers: n rows of `width` numbers. op is a DSX_OP_*; of the head's
 * rows layer is the number of layers. */
typedef struct dsx__watch {
    void (*see)(void *context, uint32_t layer, int op, const dsx__real *x, size_t n, size_t width);
    void *context;
} dsx__watch;

/* Room for one chunk of rows. What each array holds stands at its use in forward.c. */
typedef struct dsx__work {
    const dsx_model *model;
    size_t rows;
    dsx__real *x, *h, *q, *k, *v, *out;  /* residual stream, normalised rows, attention */
    dsx__real *latent;                   /* MLA: [rows][q_rank], then queries against the latent */
    dsx__real *gate, *up;                /* feed-forward */
    dsx__real *part, *part_out, *logits; /* experts: gathered rows, their result, router */
    double *cosine, *sine;
    struct dsx__choice *choices; /* experts: [rows] */
    const dsx__record *record;   /* NULL: nothing is kept */
    const dsx__watch *watch;     /* NULL: nobody */
    bool again;                  /* keys and values of these rows are in the pages already */
    uint64_t shift;              /* rows turn as if they stood so many tokens later */
} dsx__work;

dstok_status dsx__work_new(const dsx_model *model, size_t rows, dsx__work *out);
void dsx__work_free(dsx__work *w); /* accepts a zeroed one */
/* Bytes of dsx__work_new. */
uint64_t dsx__work_bytes(const dsx__config *c, size_t real_bytes, size_t rows);

/* The pages of a session. With a packed format a row in page p reads pages [n_sinks, p - n_recent) in
 * packed form: which ones depends on its position alone. */
typedef struct dsx__page_table {
    dsx__real *const *reals;
    uint8_t *const *packed;
    dsx__kv_format format;
    uint64_t n_sinks, n_recent;
} dsx__page_table;

/* Tokens ids[0, n), n <= rows, at positions [first, first + n): their keys and values go to the pages, w->x
 * gets the residual stream behind the last layer, [n][width]. Pages that come to lie far enough back are
 * packed. */
void dsx__forward(dsx__work *w, const dsx__page_table *pages, uint64_t first, const uint32_t *ids, size_t n);
/* The same from layer `from` up to `to`, with w->x as it comes. */
void dsx__forward_layers(dsx__work *w, const dsx__page_table *pages, uint64_t first, size_t n, uint32_t from,
                         uint32_t to);

#endif
