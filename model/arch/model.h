/* SPDX-License-Identifier: MIT */
/* A model in memory: its configuration and its weights, as a backend keeps them. */
#ifndef DSX_ARCH_MODEL_H
#define DSX_ARCH_MODEL_H

#include "backend.h"

#include <dsx/model.h>

struct dsx_backend {
    const dsx__backend_ops *ops;
};

typedef struct dsx__layer {
    dsx__matrix *role[DSX__EXPERT_GATE]; /* by dsx__role; NULL: the layer has no such part */
    dsx__matrix *(*experts)[3];          /* [n_experts]: gate, up, down; NULL: dense */
    double *router_bias;                 /* [n_experts], or NULL */
} dsx__layer;

struct dsx_model {
    dsx__config config;
    dsx__archive archive;
    const dsx__backend_ops *ops;
    void *be;
    dsx__matrix *embed, *final_norm, *head; /* head may be embed */
    dsx__layer *layers;
    dsx__kv_shape kv;
    double alibi;
    uint64_t n_parameters, weight_bytes;
    struct dsx__pool *pool; /* pages of all sessions: session/pages.c */
};

/* Keys and values of a token, all layers. */
dsx__kv_shape dsx__kv_shape_of(const dsx__config *c);

#endif
