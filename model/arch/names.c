/* SPDX-License-Identifier: MIT */
/* What the parts of a model are called, and what shape they have: one table for both ways of naming. */
#include "arch/names.h"

#include "base.h"
#include "files/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which models, and which of their layers, have a part. */
typedef enum when {
    ALWAYS,
    UNTIED,   /* the head is not the embedding */
    PLAIN,    /* attention that is not latent */
    Q_DIRECT, /* queries are made in one step */
    QKV_BIAS,
    O_BIAS,
    QK_NORM,
    LATENT,
    KV_WHOLE, /* keys and values are made out of the latent by one matrix, or by two */
    KV_SPLIT,
    Q_LATENT, /* queries are made in two steps */
    DENSE,
    DENSE_BIAS,
    EXPERTS,
    ROUTER_BIAS,
    SHARED
} when;

/* An axis. */
typedef enum axis {
    NONE, /* there is no such axis */
    VOCAB,
    WIDTH,
    HEADS, /* all heads together, and so on */
    KV_HEADS,
    VALUES,
    HEAD, /* of one */
    VALUE,
    NOPE,
    N_HEADS,
    Q_RANK,
    KV_RANK,
    KV_A,
    KV_B,
    FFN,
    N_EXPERTS,
    EXPERT_FFN,
    SHARED_FFN
} axis;

/* Parts by role. GGUF keeps what a layer has several of in one tensor, with one more axis in front: `stack`. */
static const struct row {
    when when;
    axis stack, rows, columns;
    const char *hf, *gguf; /* %u: layer, then expert */
} rows[DSX__N_ROLES] = {
    [DSX__EMBED] = {ALWAYS, NONE, VOCAB, WIDTH, "model.embed_tokens.weight", "token_embd.weight"},
    [DSX__FINAL_NORM] = {ALWAYS, NONE, NONE, WIDTH, "model.norm.weight", "output_norm.weight"},
    [DSX__HEAD] = {UNTIED, NONE, VOCAB, WIDTH, "lm_head.weight", "output.weight"},
#define HF   "model.layers.%u."
#define GGUF "blk.%u."
    [DSX__ATTN_NORM] = {ALWAYS, NONE, NONE, WIDTH, HF "input_layernorm.weight", GGUF "attn_norm.weight"},
    [DSX__Q] = {Q_DIRECT, NONE, HEADS, WIDTH, HF "self_attn.q_proj.weight", GGUF "attn_q.weight"},
    [DSX__K] = {PLAIN, NONE, KV_HEADS, WIDTH, HF "self_attn.k_proj.weight", GGUF "attn_k.weight"},
    [DSX__V] = {PLAIN, NONE, KV_HEADS, WIDTH, HF "self_attn.v_proj.weight", GGUF "attn_v.weight"},
    [DSX__O] = {ALWAYS, NONE, WIDTH, VALUES, HF "self_attn.o_proj.weight", GGUF "attn_output.weight"},
    [DSX__Q_BIAS] = {QKV_BIAS, NONE, NONE, HEADS, HF "self_attn.q_proj.bias", GGUF "attn_q.bias"},
    [DSX__K_BIAS] = {QKV_BIAS, NONE, NONE, KV_HEADS, HF "self_attn.k_proj.bias", GGUF "attn_k.bias"},
    [DSX__V_BIAS] = {QKV_BIAS, NONE, NONE, KV_HEADS, HF "self_attn.v_proj.bias", GGUF "attn_v.bias"},
    [DSX__O_BIAS] = {O_BIAS, NONE, NONE, WIDTH, HF "self_attn.o_proj.bias", GGUF "attn_output.bias"},
    [DSX__Q_NORM] = {QK_NORM, NONE, NONE, HEAD, HF "self_attn.q_norm.weight", GGUF "attn_q_norm.weight"},
    [DSX__K_NORM] = {QK_NORM, NONE, NONE, HEAD, HF "self_attn.k_norm.weight", GGUF "attn_k_norm.weight"},
    [DSX__Q_A] = {Q_LATENT, NONE, Q_RANK, WIDTH, HF "self_attn.q_a_proj.weight", GGUF "attn_q_a.weight"},
    [DSX__Q_A_NORM] = {Q_LATENT, NONE, NONE, Q_RANK, HF "self_attn.q_a_layernorm.weight",
                       GGUF "attn_q_a_norm.weight"},
    [DSX__Q_B] = {Q_LATENT, NONE, HEADS, Q_RANK, HF "self_attn.q_b_proj.weight", GGUF "attn_q_b.weight"},
    [DSX__KV_A] = {LATENT, NONE, KV_A, WIDTH, HF "self_attn.kv_a_proj_with_mqa.weight",
                   GGUF "attn_kv_a_mqa.weight"},
    [DSX__KV_A_NORM] = {LATENT, NONE, NONE, KV_RANK, HF "self_attn.kv_a_layernorm.weight",
                        GGUF "attn_kv_a_norm.weight"},
    [DSX__KV_B] = {KV_WHOLE, NONE, KV_B, KV_RANK, HF "self_attn.kv_b_proj.weight", GGUF "attn_kv_b.weight"},
    [DSX__K_B] = {KV_SPLIT, N_HEADS, KV_RANK, NOPE, "", GGUF "attn_k_b.weight"},
    [DSX__V_B] = {KV_SPLIT, N_HEADS, VALUE, KV_RANK, "", GGUF "attn_v_b.weight"},
    [DSX__FFN_NORM] = {ALWAYS, NONE, NONE, WIDTH, HF "post_attention_layernorm.weight",
                       GGUF "ffn_norm.weight"},
    [DSX__GATE] = {DENSE, NONE, FFN, WIDTH, HF "mlp.gate_proj.weight", GGUF "ffn_gate.weight"},
    [DSX__UP] = {DENSE, NONE, FFN, WIDTH, HF "mlp.up_proj.weight", GGUF "ffn_up.weight"},
    [DSX__DOWN] = {DENSE, NONE, WIDTH, FFN, HF "mlp.down_proj.weight", GGUF "ffn_down.weight"},
    [DSX__GATE_BIAS] = {DENSE_BIAS, NONE, NONE, FFN, HF "mlp.gate_proj.bias", GGUF "ffn_gate.bias"},
    [DSX__UP_BIAS] = {DENSE_BIAS, NONE, NONE, FFN, HF "mlp.up_proj.bias", GGUF "ffn_up.bias"},
    [DSX__DOWN_BIAS] = {DENSE_BIAS, NONE, NONE, WIDTH, HF "mlp.down_proj.bias", GGUF "ffn_down.bias"},
    [DSX__ROUTER] = {EXPERTS, NONE, N_EXPERTS, WIDTH, HF "mlp.gate.weight", GGUF "ffn_gate_inp.weight"},
    [DSX__ROUTER_BIAS] = {ROUTER_BIAS, NONE, NONE, N_EXPERTS, HF "mlp.gate.e_score_correction_bias",
                          GGUF "exp_probs_b.bias"},
    [DSX__SHARED_GATE] = {SHARED, NONE, SHARED_FFN, WIDTH, HF "mlp.shared_experts.gate_proj.weight",
                          GGUF "ffn_gate_shexp.weight"},
    [DSX__SHARED_UP] = {SHARED, NONE, SHARED_FFN, WIDTH, HF "mlp.shared_experts.up_proj.weight",
                        GGUF "ffn_up_shexp.weight"},
    [DSX__SHARED_DOWN] = {SHARED, NONE, WIDTH, SHARED_FFN, HF "mlp.shared_experts.down_proj.weight",
                          GGUF "ffn_down_shexp.weight"},
    [DSX__EXPERT_GATE] = {EXPERTS, N_EXPERTS, EXPERT_FFN, WIDTH, HF "mlp.experts.%u.gate_proj.weight",
                          GGUF "ffn_gate_exps.weight"},
    [DSX__EXPERT_UP] = {EXPERTS, N_EXPERTS, EXPERT_FFN, WIDTH, HF "mlp.experts.%u.up_proj.weight",
                        GGUF "ffn_up_exps.weight"},
    [DSX__EXPERT_DOWN] = {EXPERTS, N_EXPERTS, WIDTH, EXPERT_FFN, HF "mlp.experts.%u.down_proj.weight",
                          GGUF "ffn_down_exps.weight"},
};

/* Tensors that hold nothing learned, or nothing that is needed: ends of names. */
static const char *const passed_over[] = {".rotary_emb.inv_freq", "rope_freqs.weight"};

typedef struct search {
    const dsx__archive *a;
    const dsx__config *c;
    bool *used; /* of each tensor */
    dstok_error *err;
} search;

static bool is_there(const dsx__config *c, when w, uint32_t layer) {
    bool latent = c->mla.kv_rank > 0, experts = dsx__has_experts(c, layer);
    const bool there[] = {
        [ALWAYS] = true,
        [UNTIED] = !c->tied_head,
        [PLAIN] = !latent,
        [Q_DIRECT] = !latent || c->mla.q_rank == 0,
        [QKV_BIAS] = c->qkv_bias,
        [O_BIAS] = c->o_bias,
        [QK_NORM] = c->qk_norm,
        [LATENT] = latent,
        [KV_WHOLE] = latent && !c->mla.split,
        [KV_SPLIT] = latent && c->mla.split,
        [Q_LATENT] = latent && c->mla.q_rank > 0,
        [DENSE] = !experts,
        [DENSE_BIAS] = !experts && c->mlp_bias,
        [EXPERTS] = experts,
        [ROUTER_BIAS] = experts && c->moe.has_bias,
        [SHARED] = experts && c->moe.n_shared > 0,
    };

    return there[w];
}

static uint64_t length(const dsx__config *c, axis a) {
    const uint64_t lengths[] = {
        [NONE] = 1,
        [VOCAB] = c->n_vocab,
        [WIDTH] = c->width,
        [HEADS] = (uint64_t)c->n_heads * c->head_dim,
        [KV_HEADS] = (uint64_t)c->n_kv_heads * c->head_dim,
        [VALUES] = (uint64_t)c->n_heads * dsx__value_dim(c),
        [HEAD] = c->head_dim,
        [VALUE] = dsx__value_dim(c),
        [NOPE] = c->mla.nope,
        [N_HEADS] = c->n_heads,
        [Q_RANK] = c->mla.q_rank,
        [KV_RANK] = c->mla.kv_rank,
        [KV_A] = (uint64_t)c->mla.kv_rank + c->mla.rope,
        [KV_B] = (uint64_t)c->n_heads * ((uint64_t)c->mla.nope + c->mla.value),
        [FFN] = c->ffn,
        [N_EXPERTS] = c->moe.n_experts,
        [EXPERT_FFN] = c->moe.width,
        [SHARED_FFN] = (uint64_t)c->moe.width * c->moe.n_shared,
    };

    return lengths[a];
}

/* ---- one tensor */

static dstok_status missing(const search *s, const char *name) {
    return dsx__fail(s->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                     "tensor \"%s\" is missing: a %s model of %" PRIu32 " layers has it", name,
                     dsx__arch_name(s->c->arch), s->c->n_layers);
}

static dstok_status check_shape(const search *s, const dsx__tensor *t, const dsx__tensor *want) {
    dsx__quoted found, expected;

    if (t->n_dims == want->n_dims && memcmp(t->shape, want->shape, sizeof t->shape) == 0) return DSTOK_OK;
    return dsx__fail(s->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "tensor \"%s\" has shape %s, expected %s",
                     want->name, dsx__shape_text(t, found), dsx__shape_text(want, expected));
}

/* The scales of a matrix in FP8, which have its name and "_scale_inv": they are what it is multiplied by. */
static dstok_status take_scales(search *s, const dsx__tensor *of, dsx__part *part) {
    char name[112];
    dsx__tensor want = {.name = name, .n_dims = 2, .shape = {1, 1, 1, 1}};
    const dsx__tensor *t;

    snprintf(name, sizeof name, "%s_scale_inv", of->name);
    if (!s->c->fp8 || of->n_dims != 2)
        return dsx__fail(s->err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET,
                         "not supported: tensor \"%s\" is F8_E4M3, without a quantization_config of FP8 in "
                         "blocks, or no matrix",
                         of->name);
    t = dsx__archive_find(s->a, name);
    if (t == NULL || t->format != DSX__F32)
        return dsx__fail(s->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "tensor \"%s\" is missing, or not F32",
                         name);
    for (int d = 0; d < 2; d++) want.shape[d] = (of->shape[d] + DSX__FP8_BLOCK - 1) / DSX__FP8_BLOCK;
    DSX_TRY(check_shape(s, t, &want));
    s->used[t - s->a->tensors] = true;
    part->scales = t->data;
    return DSTOK_OK;
}

void dsx__part_read(const dsx__part *p, uint64_t row, uint64_t from, uint64_t n, float *out) {
    uint64_t blocks = (p->columns + DSX__FP8_BLOCK - 1) / DSX__FP8_BLOCK;

    dsx__to_float(p->format,
                  p->data + row * dsx__row_bytes(p->format, p->columns) + dsx__row_bytes(p->format, from), n,
                  out);
    for (uint64_t i = 0; i < n && p->scales != NULL; i++) {
        float scale;

        dsx__to_float(DSX__F32, p->scales + 4 * (row / DSX__FP8_BLOCK * blocks + (from + i) / DSX__FP8_BLOCK),
                      1, &scale);
        out[i] *= scale;
    }
}

/* The tensor of a role, which must have the shape of its row. What is stacked comes as one part, with all
 * rows. */
static dstok_status take(search *s, dsx__role role, uint32_t layer, uint32_t expert, dsx__part *out) {
    const struct row *row = &rows[role];
    bool gguf = s->a->kind == DSX__GGUF;
    uint64_t n = length(s->c, row->rows), stack = gguf ? length(s->c, row->stack) : 1;
    char name[96];
    dsx__tensor want = {.name = name, .shape = {1, 1, 1, 1}};

    if (gguf && row->stack != NONE) want.shape[want.n_dims++] = stack;
    if (row->rows != NONE) want.shape[want.n_dims++] = n;
    want.shape[want.n_dims++] = length(s->c, row->columns);
    snprintf(name, sizeof name, gguf ? row->gguf : row->hf, layer, expert);
    const dsx__tensor *t = dsx__archive_find(s->a, name);
    if (t == NULL) return missing(s, name);
    DSX_TRY(check_shape(s, t, &want));
    s->used[t - s->a->tensors] = true;
    *out = (dsx__part){t->format, stack * n, length(s->c, row->columns), t->data, NULL};
    return t->format == DSX__F8_E4M3 ? take_scales(s, t, out) : DSTOK_OK;
}

/* ---- layers */

/* One matrix of each expert of a layer. */
static dstok_status take_experts(search *s, dsx__role role, uint32_t layer, dsx__part *experts) {
    uint32_t n = s->c->moe.n_experts, which = role - DSX__EXPERT_GATE;
    dsx__part all = {.data = NULL};

    if (s->a->kind == DSX__GGUF) DSX_TRY(take(s, role, layer, 0, &all));
    for (uint32_t e = 0; e < n; e++) {
        dsx__part *one = &experts[3 * e + which];
        if (all.data == NULL) {
            DSX_TRY(take(s, role, layer, e, one));
            continue;
        }
        *one = (dsx__part){all.format, all.rows / n, all.columns, NULL, NULL};
        one->data = all.data + e * one->rows * dsx__row_bytes(one->format, one->columns);
    }
    return DSTOK_OK;
}

static dstok_status take_layer(search *s, uint32_t layer, struct dsx__layer_parts *out) {
    if (dsx__has_experts(s->c, layer)) {
        out->experts = calloc((size_t)s->c->moe.n_experts * 3, sizeof *out->experts);
        if (out->experts == NULL) return dsx__no_memory(s->err);
    }
    for (int i = DSX__ATTN_NORM; i < DSX__N_ROLES; i++) {
        dsx__role role = (dsx__role)i;
        if (!is_there(s->c, rows[role].when, layer)) continue;
        if (role < DSX__EXPERT_GATE)
            DSX_TRY(take(s, role, layer, 0, &out->role[role]));
        else
            DSX_TRY(take_experts(s, role, layer, out->experts));
    }
    return DSTOK_OK;
}

/* ---- what is left */

/* A layer that predicts further tokens. */
static bool is_further_layer(const dsx__config *c, const char *name, bool gguf) {
    unsigned layer = 0;

    return c->n_more_layers > 0 && sscanf(name, gguf ? "blk.%9u." : "model.layers.%9u.", &layer) == 1 &&
           layer >= c->n_layers && layer < c->n_layers + c->n_more_layers;
}

static bool may_be_left(const search *s, const char *name) {
    size_t n = strlen(name);
    bool gguf = s->a->kind == DSX__GGUF;

    for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++) {
        size_t m = strlen(passed_over[i]);
        if (n >= m && strcmp(name + n - m, passed_over[i]) == 0) return true;
    }
    if (s->c->tied_head && strcmp(name, rows[DSX__HEAD].hf) == 0) return true; /* the embedding once more */
    return is_further_layer(s->c, name, gguf);
}

static dstok_status check_left(const search *s) {
    dsx__quoted q, shape;

    for (size_t i = 0; i < s->a->n_tensors; i++) {
        const dsx__tensor *t = &s->a->tensors[i];
        if (!s->used[i] && !may_be_left(s, t->name))
            return dsx__fail(s->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                             "tensor \"%s\" of shape %s is no part of a %s model of %" PRIu32 " layers",
                             dsx__quote(t->name, strlen(t->name), q), dsx__shape_text(t, shape),
                             dsx__arch_name(s->c->arch), s->c->n_layers);
    }
    return DSTOK_OK;
}

/* ---- all */

/* A head that is said to be the embedding, but is there and holds other numbers: it counts. */
static bool is_other_head(const search *s, dsx__role role) {
    const dsx__tensor *head = dsx__archive_find(s->a, rows[DSX__HEAD].hf),
                      *embed = dsx__archive_find(s->a, rows[DSX__EMBED].hf);

    return role == DSX__HEAD && head != NULL && embed != NULL &&
           (head->format != embed->format || head->n_bytes != embed->n_bytes ||
            memcmp(head->data, embed->data, (size_t)embed->n_bytes) != 0);
}

static dstok_status find_all(search *s, dsx__parts *out) {
    dsx__part *const whole[] = {&out->embed, &out->final_norm, &out->head};

    for (int i = DSX__EMBED; i < DSX__ATTN_NORM; i++) {
        dsx__role role = (dsx__role)i;
        if (is_there(s->c, rows[i].when, 0) || is_other_head(s, role)) DSX_TRY(take(s, role, 0, 0, whole[i]));
    }
    for (uint32_t i = 0; i < out->n_layers; i++) DSX_TRY(take_layer(s, i, &out->layers[i]));
    return check_left(s);
}

dstok_status dsx__parts_find(const dsx__archive *a, dsx__parts *out, dstok_error *err) {
    search s = {.a = a, .c = &a->config, .err = err};
    dstok_status status;

    *out = (dsx__parts){.n_layers = a->config.n_layers};
    out->layers = calloc(out->n_layers, sizeof *out->layers);
    s.used = calloc(a->n_tensors + 1, sizeof *s.used);
    status = out->layers == NULL || s.used == NULL ? dsx__no_memory(err) : find_all(&s, out);
    free(s.used);
    if (status != DSTOK_OK) dsx__parts_free(out);
    return status;
}

void dsx__parts_free(dsx__parts *p) {
    for (uint32_t i = 0; p->layers != NULL && i < p->n_layers; i++) free(p->layers[i].experts);
    free(p->layers);
    *p = (dsx__parts){.layers = NULL};
}
