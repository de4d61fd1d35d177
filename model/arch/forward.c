/* SPDX-License-Identifier: MIT */
/* The forward pass of all architectures: attention (ordinary or with a latent), then a feed-forward part
 * (dense or of experts), layer after layer. n rows pass together; sizes in comments are in numbers. */
#include "arch/step.h"

#include "arch/rope.h"
#include "arch/route.h"

#include <stdlib.h>
#include <string.h>

/* ---- a part of a layer: norm, then work, then onto the stream */

static void norm(const dsx__step *s, const dsx__real *x, const dsx__matrix *m, uint32_t width, size_t n,
                 uint32_t stride, dsx__real *out) {
    s->ops->norm(s->be, x, n, width, stride, m, s->c->norm_eps, out, stride);
}

/* Norms of latents do not take their epsilon from the configuration: it is that of DeepSeek's code. */
static void latent_norm(const dsx__step *s, dsx__real *x, dsx__role role, uint32_t width, uint32_t stride) {
    s->ops->norm(s->be, x, s->n, width, stride, s->layer->role[role], 1e-6, x, stride);
}

static void linear(const dsx__step *s, dsx__role role, dsx__role bias, const dsx__real *x, dsx__real *out,
                   bool add) {
    const dsx__matrix *b = bias != DSX__N_ROLES ? s->layer->role[bias] : NULL;

    s->ops->linear(s->be, s->layer->role[role], b, x, s->n, out, add);
}

static void show(const dsx__step *s, int op, const dsx__real *x, size_t n, size_t width) {
    const dsx__watch *watch = s->w->watch;

    if (watch != NULL) watch->see(watch->context, s->layer_number, op, x, n, width);
}

/* Rows [from, from + n) of the chunk, all in one page: keys and values in, what has come to lie far enough
 * back packed, attention out. */
static void attend_page(const dsx__step *s, const dsx__real *q, size_t from, size_t n) {
    const dsx__kv_shape *kv = s->attention.shape;
    const dsx__page_table *t = s->pages;
    const dsx__backend_ops *ops = s->ops;
    dsx__work *w = s->w;
    dsx__attention a = s->attention;
    uint64_t page = (a.first + from) / DSX__PAGE;

    a.first += from;
    a.packed_from = t->n_sinks;
    a.packed_to = page > t->n_sinks + t->n_recent ? page - t->n_recent : t->n_sinks;
    ops->kv_write(s->be, &a, ops->at(w->k, from * kv->n_kv_heads * kv->key_dim),
                  ops->at(w->v, from * kv->n_kv_heads * kv->value_dim), n);
    if (a.first % DSX__PAGE == 0 && a.packed_to > a.packed_from) ops->kv_pack(s->be, &a, a.packed_to - 1);
    ops->attend(s->be, &a, ops->at((dsx__real *)q, from * a.n_heads * kv->key_dim), n,
                ops->at(w->out, from * a.n_heads * kv->value_dim));
}

/* w->out = attention of queries q; the chunk's keys and values are in w->k and w->v. */
static void attend(const dsx__step *s, const dsx__real *q) {
    size_t from = 0;

    if (s->pages->format == DSX__KV_REALS) {
        if (!s->w->again) s->ops->kv_write(s->be, &s->attention, s->w->k, s->w->v, s->n);
        s->ops->attend(s->be, &s->attention, q, s->n, s->w->out);
        return;
    }
    while (from < s->n) {
        size_t left = DSX__PAGE - (size_t)((s->attention.first + from) % DSX__PAGE);
        size_t n = left < s->n - from ? left : s->n - from;

        attend_page(s, q, from, n);
        from += n;
    }
}

/* Queries, keys, values of each head: q [n][heads][head_dim], k and v [n][kv heads][head_dim]. */
static void plain_queries(const dsx__step *s) {
    const dsx__config *c = s->c;
    dsx__work *w = s->w;
    uint32_t d = c->head_dim;

    linear(s, DSX__Q, DSX__Q_BIAS, w->h, w->q, false);
    if (c->qk_norm) norm(s, w->q, s->layer->role[DSX__Q_NORM], d, s->n * c->n_heads, d, w->q);
    s->ops->rotate(s->be, &s->rotation, w->q, s->n, c->n_heads * d, c->n_heads, d, 0);
}

static void keys_and_values(const dsx__step *s) {
    const dsx__config *c = s->c;
    dsx__work *w = s->w;
    uint32_t d = c->head_dim;

    linear(s, DSX__K, DSX__K_BIAS, w->h, w->k, false);
    linear(s, DSX__V, DSX__V_BIAS, w->h, w->v, false);
    if (c->qk_norm) norm(s, w->k, s->layer->role[DSX__K_NORM], d, s->n * c->n_kv_heads, d, w->k);
    s->ops->rotate(s->be, &s->rotation, w->k, s->n, c->n_kv_heads * d, c->n_kv_heads, d, 0);
}

static void attention(const dsx__step *s) {
    dsx__work *w = s->w;

    plain_queries(s);
    if (!w->again) keys_and_values(s);
    attend(s, w->q);
    show(s, DSX_OP_OUT, w->out, s->n, (size_t)s->c->n_heads * s->c->head_dim);
    linear(s, DSX__O, DSX__O_BIAS, w->out, w->x, true);
}

/* DeepSeek's attention. A token keeps a latent of kv_rank numbers and one rotary key for all heads. KV_B
 * makes keys and values of all heads out of the latent; here it goes to the other side: queries are taken
 * into the space of the latent, and what attention gives is taken out of it, so that every head reads the
 * same [kv_rank + rope] numbers of a token. Expanded, keys and values of all heads are made and kept: fewer
 * operations for each pair of tokens, much more memory. */
static void latent_queries(const dsx__step *s) {
    const dsx__config *c = s->c;
    const dsx__mla *m = &c->mla;
    dsx__work *w = s->w;
    uint32_t head = m->nope + m->rope, key = m->kv_rank + m->rope, block = m->nope + m->value;
    const dsx__matrix *const *role = (const dsx__matrix *const *)s->layer->role;

    if (m->q_rank > 0) {
        linear(s, DSX__Q_A, DSX__N_ROLES, w->h, w->latent, false);
        latent_norm(s, w->latent, DSX__Q_A_NORM, m->q_rank, m->q_rank);
        show(s, DSX_OP_QKV, w->latent, s->n, m->q_rank);
        linear(s, DSX__Q_B, DSX__N_ROLES, w->latent, w->q, false); /* [n][heads][nope + rope] */
    } else {
        linear(s, DSX__Q, DSX__N_ROLES, w->h, w->q, false);
    }
    s->ops->rotate(s->be, &s->rotation, w->q, s->n, c->n_heads * head, c->n_heads, head, m->nope);
    if (m->expand) return;
    if (m->split)
        s->ops->linear_heads(s->be, role[DSX__K_B], c->n_heads, m->kv_rank, 0, m->kv_rank, false, w->q, head,
                             s->n, w->latent, key);
    else
        s->ops->linear_heads(s->be, role[DSX__KV_B], c->n_heads, block, 0, m->nope, true, w->q, head, s->n,
                             w->latent, key);
    s->ops->copy(s->be, s->ops->at(w->q, m->nope), s->n * c->n_heads, m->rope, head,
                 s->ops->at(w->latent, m->kv_rank), key);
}

/* Keys and values of all heads out of latents [n][kv_rank + rope]. */
static void expand(const dsx__step *s, const dsx__real *latents) {
    const dsx__mla *m = &s->c->mla;
    const dsx__backend_ops *ops = s->ops;
    dsx__work *w = s->w;
    uint32_t head = m->nope + m->rope, key = m->kv_rank + m->rope, heads = s->c->n_heads;
    const dsx__matrix *k = s->layer->role[m->split ? DSX__K_B : DSX__KV_B],
                      *v = s->layer->role[m->split ? DSX__V_B : DSX__KV_B];

    for (uint32_t h = 0; h < heads; h++) {
        uint32_t rows = m->split ? m->kv_rank : m->nope, both = h * (m->nope + m->value);

        ops->linear_heads(s->be, k, 1, 0, m->split ? h * m->kv_rank : both, rows, m->split, latents, key,
                          s->n, ops->at(w->k, h * head), heads * head);
        ops->linear_heads(s->be, v, 1, 0, m->split ? h * m->value : both + m->nope, m->value, false, latents,
                          key, s->n, ops->at(w->v, h * m->value), heads * m->value);
        ops->copy(s->be, ops->at((dsx__real *)latents, m->kv_rank), s->n, m->rope, key,
                  ops->at(w->k, h * head + m->nope), heads * head);
    }
}

static void latents(const dsx__step *s) {
    const dsx__mla *m = &s->c->mla;
    dsx__work *w = s->w;
    uint32_t key = m->kv_rank + m->rope;
    dsx__real *out = m->expand ? w->latent : w->k;

    linear(s, DSX__KV_A, DSX__N_ROLES, w->h, out, false); /* [n][kv_rank + rope] */
    latent_norm(s, out, DSX__KV_A_NORM, m->kv_rank, key);
    s->ops->rotate(s->be, &s->rotation, out, s->n, key, 1, key, m->kv_rank);
    if (m->expand)
        expand(s, out);
    else
        s->ops->copy(s->be, out, s->n, m->kv_rank, key, w->v, m->kv_rank);
}

static void latent_attention(const dsx__step *s) {
    const dsx__config *c = s->c;
    const dsx__mla *m = &c->mla;
    dsx__work *w = s->w;
    const dsx__matrix *const *role = (const dsx__matrix *const *)s->layer->role;

    latent_queries(s);
    if (!w->again) latents(s);
    attend(s, m->expand ? w->q : w->latent); /* [n][heads][kv_rank], or of values */
    if (!m->expand)
        s->ops->linear_heads(s->be, role[m->split ? DSX__V_B : DSX__KV_B], c->n_heads,
                             m->split ? m->value : m->nope + m->value, m->split ? 0 : m->nope, m->value,
                             false, w->out, m->kv_rank, s->n, w->q, m->value);
    show(s, DSX_OP_OUT, m->expand ? w->out : w->q, s->n, (size_t)c->n_heads * m->value);
    linear(s, DSX__O, DSX__N_ROLES, m->expand ? w->out : w->q, w->x, true);
}

/* x += down(silu(gate(h)) * up(h)) */
static void dense(const dsx__step *s, dsx__role gate, dsx__role up, dsx__role down, uint32_t width) {
    dsx__work *w = s->w;
    bool has_bias = gate == DSX__GATE;

    linear(s, gate, has_bias ? DSX__GATE_BIAS : DSX__N_ROLES, w->h, w->gate, false);
    linear(s, up, has_bias ? DSX__UP_BIAS : DSX__N_ROLES, w->h, w->up, false);
    s->ops->swiglu(s->be, w->gate, w->up, s->n, width);
    show(s, DSX_OP_DOWN, w->gate, s->n, width);
    linear(s, down, has_bias ? DSX__DOWN_BIAS : DSX__N_ROLES, w->gate, w->x, true);
}

void dsx__step_choose(const dsx__step *s) {
    const dsx__moe *m = &s->c->moe;
    struct dsx__choice *to = s->w->choices;

    linear(s, DSX__ROUTER, DSX__N_ROLES, s->w->h, s->w->logits, false);
    s->ops->read(s->be, s->w->logits, s->n * m->n_experts, to->logits);
    for (size_t i = 0; i < s->n; i++)
        dsx__route(m, to->logits + i * m->n_experts, s->layer->router_bias, to->scratch,
                   to->experts + i * m->n_used, to->weights + i * m->n_used);
}

size_t dsx__step_rows_of(const dsx__step *s, uint32_t e) {
    uint32_t n_used = s->c->moe.n_used;
    struct dsx__choice *c = s->w->choices;
    size_t n = 0;

    for (size_t i = 0; i < s->n * n_used; i++)
        if (c->experts[i] == e) {
            c->index[n] = (uint32_t)(i / n_used);
            c->scale[n++] = c->weights[i];
        }
    return n;
}

/* The rows that go to one expert, gathered, through it, and back. */
static void expert(const dsx__step *s, uint32_t e) {
    const dsx__moe *m = &s->c->moe;
    struct dsx__choice *c = s->w->choices;
    dsx__matrix *const *parts = s->layer->experts[e];
    dsx__work *w = s->w;
    size_t n = dsx__step_rows_of(s, e);

    if (n == 0) return;
    s->ops->gather(s->be, w->h, c->index, n, s->c->width, w->part);
    s->ops->linear(s->be, parts[0], NULL, w->part, n, w->gate, false);
    s->ops->linear(s->be, parts[1], NULL, w->part, n, w->up, false);
    s->ops->swiglu(s->be, w->gate, w->up, n, m->width);
    show(s, DSX_OP_DOWN, w->gate, n, m->width);
    s->ops->linear(s->be, parts[2], NULL, w->gate, n, w->part_out, false);
    s->ops->scatter_add(s->be, w->part_out, c->index, c->scale, n, s->c->width, w->x);
}

static void experts(const dsx__step *s) {
    const dsx__moe *m = &s->c->moe;

    dsx__step_choose(s);
    for (uint32_t e = 0; e < m->n_experts; e++) expert(s, e);
    if (m->n_shared > 0) dense(s, DSX__SHARED_GATE, DSX__SHARED_UP, DSX__SHARED_DOWN, m->n_shared * m->width);
}

/* The stream as it is, for a way back. */
static void keep(const dsx__step *s, dsx__real *rows) {
    const dsx__record *r = s->w->record;
    size_t width = s->c->width, at;

    if (r == NULL || rows == NULL || (s->layer_number - r->from) % r->every != 0) return;
    at = (s->layer_number - r->from) / r->every * r->cap + (size_t)(s->attention.first - r->first);
    s->ops->copy(s->be, s->w->x, 1, (uint32_t)(s->n * width), 0, s->ops->at(rows, at * width), 0);
}

void dsx__step_layer(dsx__step *s, uint32_t l) {
    s->layer_number = l;
    s->layer = &s->model->layers[l];
    s->attention.layer = l;
    s->attention.window = l >= s->c->window_from ? s->c->window : 0;
}

static void layer(const dsx__step *s) {
    const dsx__config *c = s->c;
    dsx__work *w = s->w;

    keep(s, w->record != NULL ? w->record->in : NULL);
    norm(s, w->x, s->layer->role[DSX__ATTN_NORM], c->width, s->n, c->width, w->h);
    show(s, DSX_OP_QKV, w->h, s->n, c->width);
    if (c->mla.kv_rank > 0)
        latent_attention(s);
    else
        attention(s);
    keep(s, w->record != NULL ? w->record->mid : NULL);
    norm(s, w->x, s->layer->role[DSX__FFN_NORM], c->width, s->n, c->width, w->h);
    show(s, DSX_OP_UP, w->h, s->n, c->width);
    if (dsx__has_experts(c, s->layer_number))
        experts(s);
    else
        dense(s, DSX__GATE, DSX__UP, DSX__DOWN, c->ffn);
}

dsx__real *dsx__step_queries(const dsx__step *s) {
    if (s->c->mla.kv_rank == 0)
        plain_queries(s);
    else
        latent_queries(s);
    return s->c->mla.kv_rank > 0 && !s->c->mla.expand ? s->w->latent : s->w->q;
}

void dsx__step_begin(dsx__step *s, dsx__work *w, const dsx__page_table *pages, uint64_t first, size_t n) {
    const dsx_model *m = w->model;
    const dsx__config *c = &m->config;

    *s = (dsx__step){.w = w, .model = m, .c = c, .ops = m->ops, .be = m->be, .pages = pages, .n = n};
    s->attention = (dsx__attention){.shape = &m->kv,
                                    .pages = pages->reals,
                                    .packed = pages->packed,
                                    .packed_format = pages->format,
                                    .n_heads = c->n_heads,
                                    .first = first,
                                    .scale = dsx__attention_scale(c),
                                    .alibi = m->alibi};
    s->rotation = (dsx__rotation){w->cosine, w->sine, dsx__rope_dims(c), c->rope.interleaved};
    dsx__rope_table(c, first + w->shift, n, w->cosine, w->sine);
}

void dsx__forward_layers(dsx__work *w, const dsx__page_table *pages, uint64_t first, size_t n, uint32_t from,
                         uint32_t to) {
    dsx__step s;

    dsx__step_begin(&s, w, pages, first, n);
    for (uint32_t l = from; l < to; l++) {
        dsx__step_layer(&s, l);
        layer(&s);
    }
    s.layer_number = to;
    keep(&s, w->record != NULL ? w->record->in : NULL);
}

void dsx__forward(dsx__work *w, const dsx__page_table *pages, uint64_t first, const uint32_t *ids, size_t n) {
    const dsx_model *m = w->model;

    m->ops->embed(m->be, m->embed, ids, n, w->x);
    dsx__forward_layers(w, pages, first, n, 0, m->config.n_layers);
}

/* ---- room for a chunk */

/* Widths of the arrays of dsx__work, in the order of its members x ... logits. */
enum { N_ARRAYS = 12 };

static size_t max_of(size_t a, size_t b) {
    return a > b ? a : b;
}

static void widths(const dsx__config *c, size_t out[N_ARRAYS]) {
    bool mla = c->mla.kv_rank > 0, moe = c->moe.n_experts > 0;
    size_t key = (size_t)c->mla.kv_rank + c->mla.rope, heads = c->n_heads;
    dsx__kv_shape kv = dsx__kv_shape_of(c);
    size_t ffn = moe ? (size_t)c->moe.width * max_of(1, c->moe.n_shared) : 0;

    out[0] = out[1] = c->width;
    out[2] = heads * (mla ? max_of(c->head_dim, c->mla.value) : c->head_dim);
    out[3] = (size_t)kv.n_kv_heads * kv.key_dim;
    out[4] = (size_t)kv.n_kv_heads * kv.value_dim;
    out[5] = heads * kv.value_dim;
    out[6] = mla ? max_of(c->mla.q_rank, c->mla.expand ? key : heads * key) : 0;
    out[7] = out[8] = max_of(c->ffn, ffn);
    out[9] = out[10] = moe ? c->width : 0;
    out[11] = c->moe.n_experts;
}

static dsx__real **array(dsx__work *w, int i) {
    dsx__real **arrays[N_ARRAYS] = {&w->x,      &w->h,    &w->q,  &w->k,    &w->v,        &w->out,
                                    &w->latent, &w->gate, &w->up, &w->part, &w->part_out, &w->logits};

    return arrays[i];
}

uint64_t dsx__work_bytes(const dsx__config *c, size_t real_bytes, size_t rows) {
    size_t width[N_ARRAYS];
    uint64_t sum = 0;

    widths(c, width);
    for (int i = 0; i < N_ARRAYS; i++) sum += (uint64_t)width[i] * real_bytes;
    sum += dsx__rope_dims(c) * sizeof(double);
    if (c->moe.n_experts > 0) sum += c->moe.n_used * 12ull + c->moe.n_experts * 8ull + 12;
    return sum * rows + (c->moe.n_experts + c->moe.n_groups) * 8ull;
}

/* In one piece of memory. */
static struct dsx__choice *new_choices(const dsx__moe *m, size_t rows) {
    size_t used = rows * m->n_used, logits = rows * m->n_experts,
           scratch = (size_t)m->n_experts + m->n_groups;
    struct dsx__choice *c = calloc(1, sizeof *c + (used + logits + scratch + rows) * sizeof(double) +
                                          (used + rows) * sizeof(uint32_t));

    if (c == NULL) return NULL;
    c->weights = (double *)(void *)(c + 1);
    c->logits = c->weights + used;
    c->scratch = c->logits + logits;
    c->scale = c->scratch + scratch;
    c->experts = (uint32_t *)(void *)(c->scale + rows);
    c->index = c->experts + used;
    return c;
}

dstok_status dsx__work_new(const dsx_model *model, size_t rows, dsx__work *out) {
    const dsx__config *c = &model->config;
    size_t width[N_ARRAYS], half = dsx__rope_dims(c) / 2;
    dsx__work w = {.model = model, .rows = rows};
    bool ok = true;

    widths(c, width);
    for (int i = 0; i < N_ARRAYS; i++)
        if (width[i] > 0) ok = (*array(&w, i) = model->ops->alloc(model->be, rows * width[i])) != NULL && ok;
    ok = (w.cosine = malloc((rows * half + 1) * sizeof *w.cosine)) != NULL && ok;
    ok = (w.sine = malloc((rows * half + 1) * sizeof *w.sine)) != NULL && ok;
    if (c->moe.n_experts > 0) ok = (w.choices = new_choices(&c->moe, rows)) != NULL && ok;
    if (!ok) {
        dsx__work_free(&w);
        return DSTOK_E_NOMEM;
    }
    *out = w;
    return DSTOK_OK;
}

void dsx__work_free(dsx__work *w) {
    size_t width[N_ARRAYS];

    if (w->model == NULL) return;
    widths(&w->model->config, width);
    for (int i = 0; i < N_ARRAYS; i++)
        if (*array(w, i) != NULL) w->model->ops->free(w->model->be, *array(w, i), w->rows * width[i]);
    free(w->cosine);
    free(w->sine);
    free(w->choices);
    memset(w, 0, sizeof *w);
}
