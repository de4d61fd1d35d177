/* SPDX-License-Identifier: MIT */
/* Opening a model: the archive, its parts, and each part given to the backend. */
#include "arch/open.h"

#include "quant/policy.h"
#include "session/pages.h"

#include <stdlib.h>
#include <string.h>

static const dsx_backend cpu = {&dsx__backend_cpu}, float64 = {&dsx__backend_float64};

const dsx_backend *dsx_backend_cpu(void) {
    return &cpu;
}

const dsx_backend *dsx_backend_float64(void) {
    return &float64;
}

bool dsx__options_are_valid(const dsx_model_options *o) {
    return o->struct_size == sizeof *o && o->simd >= DSX_SIMD_AUTO && o->simd <= DSX_SIMD_AVX512 &&
           o->weights >= 0 && o->weights <= DSX_WEIGHTS_FP8 &&
           (o->mla == DSX_MLA_LATENT || o->mla == DSX_MLA_HEADS) &&
           (o->group == 0 || (o->group == 32 && o->weights != DSX_WEIGHTS_FP8) ||
            (o->group == 64 && o->weights != DSX_WEIGHTS_FP8) || o->group == 128);
}

dstok_status dsx__open(const char *path, const dsx_model_options *o, dsx__archive *out, dstok_error *err) {
    DSX_TRY(dsx__archive_open(path, out, err));
    out->config.mla.expand = o->mla == DSX_MLA_HEADS && out->config.mla.kv_rank > 0;
    return DSTOK_OK;
}

const dsx__backend_ops *dsx__backend_of(const dsx_model_options *o) {
    return (o->backend != NULL ? o->backend : &cpu)->ops;
}

dstok_status dsx__policy_fits(const dsx_model_options *o, uint32_t n_layers, dstok_error *err) {
    if (o->policy == NULL || dsx_policy_layers(o->policy) == n_layers) return DSTOK_OK;
    return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "the policy is for %u layers, the model has %u",
                     (unsigned)dsx_policy_layers(o->policy), (unsigned)n_layers);
}

dsx_format dsx__format_of(const dsx_model_options *o, uint32_t layer, int op) {
    bool has_group = o->weights >= DSX_WEIGHTS_W8;
    dsx_format f = {o->weights, has_group ? o->group : 0, DSX_ROWS_FLOAT, 0};

    if (o->policy != NULL)
        (void)dsx_policy_get(o->policy, layer, op, &f);
    else if (op == DSX_OP_HEAD && has_group)
        f = (dsx_format){DSX_WEIGHTS_FILE, 0, DSX_ROWS_FLOAT, 0};
    if (f.group == 0 && (f.weights == DSX_WEIGHTS_W8 || f.weights == DSX_WEIGHTS_W4)) f.group = 64;
    return f;
}

size_t dsx__kv_layer_reals(const dsx__kv_shape *s) {
    return ((size_t)s->key_dim + s->value_dim) * s->n_kv_heads * DSX__PAGE;
}

size_t dsx__kv_page_reals(const dsx__kv_shape *s) {
    return dsx__kv_layer_reals(s) * s->n_layers;
}

dsx__kv_shape dsx__kv_shape_of(const dsx__config *c) {
    if (c->mla.kv_rank > 0 && !c->mla.expand)
        return (dsx__kv_shape){c->n_layers, 1, c->mla.kv_rank + c->mla.rope, c->mla.kv_rank};
    return (dsx__kv_shape){c->n_layers, c->n_kv_heads, c->head_dim, dsx__value_dim(c)};
}

/* ---- loading */

static dstok_status load(dsx_model *m, const dsx__part *part, const dsx_format *format, dsx__matrix **out,
                         dstok_error *err) {
    dstok_status status;

    if (part->data == NULL) return DSTOK_OK;
    status = m->ops->load(m->be, part, format, out, err);
    if (status != DSTOK_OK) return status;
    m->n_parameters += part->rows * part->columns;
    m->weight_bytes += m->ops->bytes(*out);
    return DSTOK_OK;
}

/* How a part of a layer is loaded; NULL: it is no map. Routers keep their precision. Maps of single heads
 * take their rows as they are. */
static const dsx_format *format_of_role(const dsx_model_options *o, uint32_t layer, int role,
                                        dsx_format *out) {
    static const signed char op[DSX__N_ROLES] = {
        [DSX__Q] = 1 + DSX_OP_QKV,
        [DSX__K] = 1 + DSX_OP_QKV,
        [DSX__V] = 1 + DSX_OP_QKV,
        [DSX__Q_A] = 1 + DSX_OP_QKV,
        [DSX__Q_B] = 1 + DSX_OP_QKV,
        [DSX__KV_A] = 1 + DSX_OP_QKV,
        [DSX__KV_B] = 1 + DSX_OP_QKV,
        [DSX__K_B] = 1 + DSX_OP_QKV,
        [DSX__V_B] = 1 + DSX_OP_QKV,
        [DSX__O] = 1 + DSX_OP_OUT,
        [DSX__GATE] = 1 + DSX_OP_UP,
        [DSX__UP] = 1 + DSX_OP_UP,
        [DSX__DOWN] = 1 + DSX_OP_DOWN,
        [DSX__SHARED_GATE] = 1 + DSX_OP_UP,
        [DSX__SHARED_UP] = 1 + DSX_OP_UP,
        [DSX__SHARED_DOWN] = 1 + DSX_OP_DOWN,
        [DSX__EXPERT_GATE] = 1 + DSX_OP_UP,
        [DSX__EXPERT_UP] = 1 + DSX_OP_UP,
        [DSX__EXPERT_DOWN] = 1 + DSX_OP_DOWN,
    };

    *out = (dsx_format){DSX_WEIGHTS_FILE, 0, DSX_ROWS_FLOAT, 0};
    if (role == DSX__ROUTER) return out;
    if (op[role] == 0) return NULL;
    *out = dsx__format_of(o, layer, op[role] - 1);
    if (role == DSX__KV_B || role == DSX__K_B || role == DSX__V_B) out->rows = DSX_ROWS_FLOAT;
    return out;
}

void dsx__parts_each(const dsx__config *c, const dsx__parts *parts, const dsx_model_options *o,
                     void (*f)(void *context, const dsx__part *part, const dsx_format *format),
                     void *context) {
    dsx_format format = dsx__format_of(o, 0, DSX_OP_HEAD);

    f(context, &parts->embed, parts->head.data != NULL ? NULL : &format);
    f(context, &parts->final_norm, NULL);
    if (parts->head.data != NULL) f(context, &parts->head, &format);
    for (uint32_t l = 0; l < parts->n_layers; l++) {
        const struct dsx__layer_parts *layer = &parts->layers[l];

        for (int i = DSX__ATTN_NORM; i < DSX__EXPERT_GATE; i++)
            if (layer->role[i].data != NULL) f(context, &layer->role[i], format_of_role(o, l, i, &format));
        for (uint32_t e = 0; layer->experts != NULL && e < 3 * c->moe.n_experts; e++)
            f(context, &layer->experts[e], format_of_role(o, l, DSX__EXPERT_GATE + (int)(e % 3), &format));
    }
}

static dstok_status load_experts(dsx_model *m, const dsx_model_options *o, uint32_t layer,
                                 const dsx__part *parts, dstok_error *err) {
    uint32_t n = m->config.moe.n_experts;
    dsx__layer *to = &m->layers[layer];
    dsx_format format;

    if (parts == NULL) return DSTOK_OK;
    to->experts = calloc(n, sizeof *to->experts);
    if (to->experts == NULL) return DSTOK_E_NOMEM;
    for (uint32_t i = 0; i < 3 * n; i++)
        DSX_TRY(load(m, &parts[i], format_of_role(o, layer, DSX__EXPERT_GATE + (int)(i % 3), &format),
                     &to->experts[i / 3][i % 3], err));
    return DSTOK_OK;
}

/* The bias of a router is added on the host. */
static dstok_status load_router_bias(const dsx_model *m, const dsx__part *part, dsx__layer *to) {
    uint32_t n = m->config.moe.n_experts;
    float *row;

    if (part->data == NULL) return DSTOK_OK;
    row = malloc(n * sizeof *row);
    to->router_bias = malloc(n * sizeof *to->router_bias);
    if (row != NULL && to->router_bias != NULL) {
        dsx__part_read(part, 0, 0, n, row);
        for (uint32_t i = 0; i < n; i++) to->router_bias[i] = (double)row[i];
    }
    free(row);
    return row != NULL && to->router_bias != NULL ? DSTOK_OK : DSTOK_E_NOMEM;
}

static dstok_status load_layer(dsx_model *m, const dsx_model_options *o, uint32_t layer,
                               const struct dsx__layer_parts *parts, dstok_error *err) {
    dsx__layer *to = &m->layers[layer];
    dsx_format format;

    DSX_TRY(load_router_bias(m, &parts->role[DSX__ROUTER_BIAS], to));
    for (int i = DSX__ATTN_NORM; i < DSX__EXPERT_GATE; i++)
        if (i != DSX__ROUTER_BIAS)
            DSX_TRY(load(m, &parts->role[i], format_of_role(o, layer, i, &format), &to->role[i], err));
    return load_experts(m, o, layer, parts->experts, err);
}

static dstok_status load_all(dsx_model *m, const dsx_model_options *o, const dsx__parts *parts,
                             dstok_error *err) {
    dsx_format head = dsx__format_of(o, 0, DSX_OP_HEAD);

    DSX_TRY(load(m, &parts->embed, parts->head.data != NULL ? NULL : &head, &m->embed, err));
    DSX_TRY(load(m, &parts->final_norm, NULL, &m->final_norm, err));
    DSX_TRY(load(m, &parts->head, &head, &m->head, err));
    if (m->head == NULL) m->head = m->embed;
    m->layers = calloc(m->config.n_layers, sizeof *m->layers);
    if (m->layers == NULL) return DSTOK_E_NOMEM;
    for (uint32_t l = 0; l < m->config.n_layers; l++) DSX_TRY(load_layer(m, o, l, &parts->layers[l], err));
    return DSTOK_OK;
}

/* Nothing is loaded when it cannot fit. What is left of max_bytes is for pages. */
static dstok_status check_budget(const dsx_model *m, const dsx_model_options *o, uint64_t weights,
                                 uint64_t *left, dstok_error *err) {
    uint64_t page = dsx__kv_page_reals(&m->kv) * m->ops->real_bytes;

    *left = UINT64_MAX;
    if (o->max_bytes == 0) return DSTOK_OK;
    if (weights > o->max_bytes || o->max_bytes - weights < page)
        return dsx__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET,
                         "weights and one page of keys and values need %llu bytes, %llu are allowed",
                         (unsigned long long)(weights + page), (unsigned long long)o->max_bytes);
    *left = o->max_bytes - weights;
    return DSTOK_OK;
}

static dstok_status open_parts(dsx_model *m, const dsx_model_options *o, dstok_error *err) {
    dsx__backend_options options = {o->n_threads, o->simd, 0};
    dsx__parts parts = {0};
    uint64_t left = 0, n;
    dstok_status status = dsx__policy_fits(o, m->config.n_layers, err);

    if (status == DSTOK_OK) status = dsx__parts_find(&m->archive, &parts, err);
    if (status == DSTOK_OK) options.weight_bytes = dsx__plan_weights(&m->config, &parts, o, &n);
    if (status == DSTOK_OK) status = check_budget(m, o, options.weight_bytes, &left, err);
    if (status == DSTOK_OK) status = m->ops->open(&options, &m->be, err);
    if (status == DSTOK_OK) status = load_all(m, o, &parts, err);
    if (status == DSTOK_OK) status = dsx__pool_new(m, left, &m->pool);
    dsx__parts_free(&parts);
    return status;
}

dstok_status dsx_model_open(const char *path, const dsx_model_options *options, dsx_model **out,
                            dstok_error *err) {
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    dsx_model *m;
    dstok_status status;

    DSX_TRY(dsx__take_options(&o, options, sizeof o, "dsx_model_options", err));
    if (path == NULL || out == NULL || !dsx__options_are_valid(&o))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_model_open: an argument is out of its domain");
    m = calloc(1, sizeof *m);
    if (m == NULL) return dsx__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, "out of memory for a model");
    m->ops = dsx__backend_of(&o);
    m->alibi = o.alibi;
    status = dsx__open(path, &o, &m->archive, err);
    m->config = m->archive.config;
    if (status == DSTOK_OK) m->kv = dsx__kv_shape_of(&m->config);
    if (status == DSTOK_OK) status = open_parts(m, &o, err);
    if (status == DSTOK_E_NOMEM)
        (void)dsx__fail(err, status, DSTOK_NO_OFFSET, "out of memory for the weights of a model");
    if (status == DSTOK_OK)
        *out = m;
    else
        dsx_model_free(m);
    return status;
}

static void unload_layer(dsx_model *m, dsx__layer *layer) {
    for (int i = 0; i < DSX__EXPERT_GATE; i++) m->ops->unload(m->be, layer->role[i]);
    for (uint32_t e = 0; layer->experts != NULL && e < m->config.moe.n_experts; e++)
        for (int i = 0; i < 3; i++) m->ops->unload(m->be, layer->experts[e][i]);
    free(layer->experts);
    free(layer->router_bias);
}

void dsx_model_free(dsx_model *m) {
    if (m == NULL) return;
    dsx__pool_free(m->pool);
    for (uint32_t l = 0; m->layers != NULL && l < m->config.n_layers; l++) unload_layer(m, &m->layers[l]);
    free(m->layers);
    if (m->head != m->embed) m->ops->unload(m->be, m->head);
    m->ops->unload(m->be, m->embed);
    m->ops->unload(m->be, m->final_norm);
    if (m->be != NULL) m->ops->close(m->be);
    dsx__archive_close(&m->archive);
    free(m);
}

dstok_status dsx_model_describe(const dsx_model *m, dsx_model_info *info) {
    const dsx__config *c;

    if (m == NULL || info == NULL || info->struct_size != sizeof *info) return DSTOK_E_INVAL;
    c = &m->config;
    *info = (dsx_model_info){
        .struct_size = sizeof *info,
        .arch = dsx__arch_name(c->arch),
        .backend = m->ops->name,
        .tokenizer = m->archive.tokenizer,
        .chat = m->archive.chat,
        .n_layers = c->n_layers,
        .width = c->width,
        .n_heads = c->n_heads,
        .n_kv_heads = c->n_kv_heads,
        .head_dim = c->head_dim,
        .ffn = c->ffn,
        .n_vocab = c->n_vocab,
        .context = c->context,
        .window = c->window,
        .n_experts = c->moe.n_experts,
        .n_experts_used = c->moe.n_used,
        .kv_rank = c->mla.kv_rank,
        .tied_head = m->head == m->embed,
        .n_parameters = m->n_parameters,
        .file_bytes = m->archive.file_bytes,
        .weight_bytes = m->weight_bytes,
        .kv_bytes_per_token = dsx__kv_page_reals(&m->kv) / DSX__PAGE * m->ops->real_bytes,
        .bos = c->bos,
        .n_eos = c->n_eos,
    };
    memcpy(info->eos, c->eos, sizeof info->eos);
    return DSTOK_OK;
}
