/* SPDX-License-Identifier: MIT */
/* The parts of a model, what each is called in files, and what shape it must have. */
#ifndef DSX_ARCH_NAMES_H
#define DSX_ARCH_NAMES_H

#include "files/archive.h"

typedef enum dsx__role {
    DSX__EMBED,      /* [vocab][width] */
    DSX__FINAL_NORM, /* [width] */
    DSX__HEAD,       /* [vocab][width] */
    /* of each layer, from here on */
    DSX__ATTN_NORM,
    DSX__Q,
    DSX__K,
    DSX__V,
    DSX__O,
    DSX__Q_BIAS,
    DSX__K_BIAS,
    DSX__V_BIAS,
    DSX__O_BIAS,
    DSX__Q_NORM,
    DSX__K_NORM, /* [head_dim] */
    DSX__Q_A,
    DSX__Q_A_NORM,
    DSX__Q_B, /* MLA: [q_rank][width], [q_rank], [heads*(nope+rope)][q_rank] */
    DSX__KV_A,
    DSX__KV_A_NORM,
    DSX__KV_B, /* [kv_rank+rope][width], [kv_rank], [heads*(nope+value)][kv_rank] */
    DSX__K_B,
    DSX__V_B, /* KV_B in two parts: [heads*kv_rank][nope], which is turned around, and [heads*value][kv_rank] */
    DSX__FFN_NORM,
    DSX__GATE,
    DSX__UP,
    DSX__DOWN,
    DSX__GATE_BIAS,
    DSX__UP_BIAS,
    DSX__DOWN_BIAS,
    DSX__ROUTER,
    DSX__ROUTER_BIAS, /* [experts][width], [experts] */
    DSX__SHARED_GATE,
    DSX__SHARED_UP,
    DSX__SHARED_DOWN,
    /* of each expert, from here on */
    DSX__EXPERT_GATE,
    DSX__EXPERT_UP,
    DSX__EXPERT_DOWN,
    DSX__N_ROLES
} dsx__role;

/* Where a part lies. A part of a stacked tensor (GGUF keeps all experts of a layer in one) is a view. */
typedef struct dsx__part {
    dsx__format format;
    uint64_t rows, columns; /* a vector is [1][n] */
    const uint8_t *data;
    const uint8_t *scales; /* F8_E4M3: F32, one for each 128 x 128; else NULL */
} dsx__part;

#define DSX__FP8_BLOCK 128u

/* Elements [from, from + n) of a row as float; from and n are multiples of the format's block. */
void dsx__part_read(const dsx__part *p, uint64_t row, uint64_t from, uint64_t n, float *out);

/* All parts of a model: one for the model, layers and experts of layers. NULL data: the model has no such
 * part. */
typedef struct dsx__parts {
    dsx__part embed, final_norm, head;
    struct dsx__layer_parts {
        dsx__part role[DSX__EXPERT_GATE]; /* those below ATTN_NORM stay empty */
        dsx__part *experts;               /* [n_experts][3]: gate, up, down */
    } * layers;
    uint32_t n_layers;
} dsx__parts;

/* Finds every part, checks shapes, and that each tensor of the file is used once. E_FORMAT names the
 * missing, extra or misshaped tensor. Buffers that hold nothing learned (rotary frequencies) may be there
 * and are passed over. */
dstok_status dsx__parts_find(const dsx__archive *a, dsx__parts *out, dstok_error *err);
void dsx__parts_free(dsx__parts *p);

#endif
