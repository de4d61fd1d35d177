/* SPDX-License-Identifier: MIT */
/* Each function undoes its twin of forward.c; g is the gradient of what the twin added to the stream. */
#include "arch/backward.h"

#include "arch/step.h"

#include <stdlib.h>
#include <string.h>

/* Rows of one layer that go back at once: step.n of them from row `at` of the text's part on. */
typedef struct rows {
    dsx__step s;
    dsx__backward *b;
    const dsx__real *in, *mid; /* of the record */
    dsx__real *g;
} rows;

static void norm(const rows *r, const dsx__real *x, dsx__role role, dsx__real *out) {
    uint32_t width = r->s.c->width;

    r->s.ops->norm(r->s.be, x, r->s.n, width, width, r->s.layer->role[role], r->s.c->norm_eps, out, width);
}

/* g += the way back of h = norm(x), with the gradient of h in w->x */
static void norm_back(const rows *r, const dsx__real *x, dsx__role role) {
    uint32_t width = r->s.c->width;

    r->s.ops->norm_back(r->s.be, x, r->s.n, width, width, r->s.layer->role[role], r->s.c->norm_eps, r->s.w->x,
                        width, r->g, width, true);
}

static void linear(const rows *r, dsx__role role, dsx__role bias, const dsx__real *x, dsx__real *out) {
    r->s.ops->linear(r->s.be, r->s.layer->role[role], bias != DSX__N_ROLES ? r->s.layer->role[bias] : NULL, x,
                     r->s.n, out, false);
}

static void linear_back(const rows *r, dsx__role role, const dsx__real *g, dsx__real *out, bool add) {
    r->s.ops->linear_back(r->s.be, r->s.layer->role[role], g, r->s.n, out, add);
}

/* What a bias gave to n rows whose gradient is g. */
static void bias_share(const rows *r, dsx__role role, const dsx__real *g, uint32_t width) {
    static const uint32_t row = 0;
    const dsx__matrix *bias = r->s.layer->role[role];
    double sums[64];

    if (bias == NULL) return;
    r->s.ops->embed(r->s.be, bias, &row, 1, r->b->bias_row);
    for (size_t i = 0; i < r->s.n; i += 64) {
        size_t n = r->s.n - i < 64 ? r->s.n - i : 64;

        memset(sums, 0, sizeof sums);
        r->s.ops->dots(r->s.be, r->s.ops->at((dsx__real *)g, i * width), width, r->b->bias_row, 0, n, width,
                       sums);
        for (size_t k = 0; k < n; k++) r->b->bias += sums[k];
    }
}

/* ---- the feed-forward part, whose input is w->h. The gradient of the input goes to w->x */

static void dense_back(const rows *r, dsx__role gate, dsx__role up, dsx__role down, uint32_t width,
                       bool add) {
    dsx__work *w = r->s.w;
    bool has_bias = gate == DSX__GATE;

    linear(r, gate, has_bias ? DSX__GATE_BIAS : DSX__N_ROLES, w->h, w->gate);
    linear_back(r, down, r->g, w->up, false);
    r->s.ops->swiglu(r->s.be, w->gate, w->up, r->s.n, width);
    if (has_bias) {
        bias_share(r, DSX__DOWN_BIAS, r->g, r->s.c->width);
        bias_share(r, DSX__UP_BIAS, w->gate, width);
    }
    linear_back(r, up, w->gate, w->x, add);
}

static void expert_back(const rows *r, uint32_t e) {
    const dsx__step *s = &r->s;
    const struct dsx__choice *c = s->w->choices;
    dsx__matrix *const *parts = s->layer->experts[e];
    dsx__work *w = s->w;
    size_t n = dsx__step_rows_of(s, e);

    if (n == 0) return;
    s->ops->gather(s->be, w->h, c->index, n, s->c->width, w->part);
    s->ops->gather(s->be, r->g, c->index, n, s->c->width, w->part_out);
    s->ops->linear(s->be, parts[0], NULL, w->part, n, w->gate, false);
    s->ops->linear_back(s->be, parts[2], w->part_out, n, w->up, false);
    s->ops->swiglu(s->be, w->gate, w->up, n, s->c->moe.width);
    s->ops->linear_back(s->be, parts[1], w->gate, n, w->part, false);
    s->ops->scatter_add(s->be, w->part, c->index, c->scale, n, s->c->width, w->x);
}

static void experts_back(const rows *r) {
    const dsx__moe *m = &r->s.c->moe;

    r->s.ops->copy(r->s.be, r->b->zero, r->s.n, r->s.c->width, 0, r->s.w->x, r->s.c->width);
    dsx__step_choose(&r->s);
    for (uint32_t e = 0; e < m->n_experts; e++) expert_back(r, e);
    if (m->n_shared > 0)
        dense_back(r, DSX__SHARED_GATE, DSX__SHARED_UP, DSX__SHARED_DOWN, m->n_shared * m->width, true);
}

static void feed_forward_back(const rows *r) {
    norm(r, r->mid, DSX__FFN_NORM, r->s.w->h);
    if (dsx__has_experts(r->s.c, r->s.layer_number))
        experts_back(r);
    else
        dense_back(r, DSX__GATE, DSX__UP, DSX__DOWN, r->s.c->ffn, false);
    norm_back(r, r->mid, DSX__FFN_NORM);
}

/* ---- attention */

/* The gradient of each head's result: [n][heads][value_dim] in w->out, for latents in their space. */
static void heads_back(const rows *r) {
    const dsx__config *c = r->s.c;
    const dsx__mla *m = &c->mla;
    dsx__work *w = r->s.w;

    bias_share(r, DSX__O_BIAS, r->g, c->width);
    if (m->kv_rank == 0) {
        linear_back(r, DSX__O, r->g, w->out, false);
        return;
    }
    linear_back(r, DSX__O, r->g, w->q, false);
    r->s.ops->linear_heads(r->s.be, r->s.layer->role[m->split ? DSX__V_B : DSX__KV_B], c->n_heads,
                           m->split ? m->value : m->nope + m->value, m->split ? 0 : m->nope, m->value, true,
                           w->q, m->value, r->s.n, w->out, m->kv_rank);
}

/* What the rows take of the values of all tokens, to b->values; and their weights, to b->mass. */
static void attention_back(const rows *r) {
    const dsx__step *s = &r->s;
    dsx__backward *b = r->b;
    dsx__attention a = s->attention;
    dsx__real *q, *u = NULL;
    size_t before = 0; /* rows whose weights do not count */

    norm(r, r->in, DSX__ATTN_NORM, s->w->h);
    q = dsx__step_queries(s);
    if (b->g != NULL) {
        heads_back(r);
        u = s->w->out;
    }
    if (b->mass == NULL || b->mass_from >= a.first + s->n)
        before = s->n;
    else if (b->mass_from > a.first)
        before = (size_t)(b->mass_from - a.first);
    if (before > 0 && u != NULL) s->ops->attend_back(s->be, &a, q, u, before, b->room, b->values, NULL);
    a.first += before;
    if (before < s->n)
        s->ops->attend_back(s->be, &a, s->ops->at(q, before * a.n_heads * a.shape->key_dim),
                            u != NULL ? s->ops->at(u, before * a.n_heads * a.shape->value_dim) : NULL,
                            s->n - before, b->room, b->values, b->mass);
}

/* The gradient of the rows' own values, on to the stream. */
static void values_back(const rows *r) {
    const dsx__step *s = &r->s;
    const dsx__mla *m = &s->c->mla;
    uint32_t width = s->attention.shape->n_kv_heads * s->attention.shape->value_dim,
             key = m->kv_rank + m->rope;
    dsx__real *values = s->ops->at(r->b->values, (size_t)s->attention.first * width);
    dsx__work *w = s->w;

    if (m->kv_rank == 0) {
        bias_share(r, DSX__V_BIAS, values, width);
        linear_back(r, DSX__V, values, w->x, false);
    } else {
        norm(r, r->in, DSX__ATTN_NORM, w->h);
        linear(r, DSX__KV_A, DSX__N_ROLES, w->h, w->k);
        s->ops->copy(s->be, r->b->zero, s->n, key, 0, w->latent, key);
        s->ops->norm_back(s->be, w->k, s->n, m->kv_rank, key, s->layer->role[DSX__KV_A_NORM], 1e-6, values,
                          m->kv_rank, w->latent, key, false);
        linear_back(r, DSX__KV_A, w->latent, w->x, false);
    }
    norm_back(r, r->in, DSX__ATTN_NORM);
}

/* Tokens before the rows get what was taken of their values. */
static void share_out(const rows *r) {
    const dsx__step *s = &r->s;
    dsx__backward *b = r->b;
    uint32_t width = s->attention.shape->n_kv_heads * s->attention.shape->value_dim;

    for (uint64_t at = 0; at < b->first; at += s->w->rows) {
        size_t n = b->first - at < s->w->rows ? (size_t)(b->first - at) : s->w->rows;

        s->ops->kv_values(s->be, &s->attention, at, n, s->w->v);
        s->ops->dots(s->be, s->w->v, width, s->ops->at(b->values, (size_t)at * width), width, n, width,
                     b->shares + at);
    }
}

/* ---- layer by layer */

static void each_part(dsx__backward *b, const dsx__record *record, uint32_t layer,
                      void (*work)(const rows *r)) {
    const dsx_model *m = b->w->model;
    size_t width = m->config.width;

    for (size_t i = 0; i < b->n; i += b->w->rows) {
        size_t n = b->n - i < b->w->rows ? b->n - i : b->w->rows,
               at = (layer - record->from) * record->cap + (size_t)(b->first - record->first) + i;
        rows r = {.b = b};

        dsx__step_begin(&r.s, b->w, b->pages, b->first + i, n);
        dsx__step_layer(&r.s, layer);
        r.in = m->ops->at(record->in, at * width);
        if (record->mid != NULL) r.mid = m->ops->at(record->mid, at * width);
        if (b->g != NULL) r.g = m->ops->at(b->g, i * width);
        work(&r);
    }
}

static void clear(const dsx__backward *b, dsx__real *x, uint32_t width) {
    const dsx_model *m = b->w->model;

    m->ops->copy(m->be, b->zero, (size_t)b->first + b->n, width, 0, x, width);
}

static void layer_back(dsx__backward *b, const dsx__record *record, uint32_t layer) {
    const dsx_model *m = b->w->model;
    rows all = {.b = b};

    if (b->g != NULL) {
        each_part(b, record, layer, feed_forward_back);
        clear(b, b->values, m->kv.n_kv_heads * m->kv.value_dim);
    }
    if (b->mass != NULL) clear(b, b->mass, m->config.n_heads);
    each_part(b, record, layer, attention_back);
    if (b->mass != NULL) b->see(b->context, layer, b->mass);
    if (b->g == NULL) return;
    dsx__step_begin(&all.s, b->w, b->pages, b->first, 0);
    dsx__step_layer(&all.s, layer);
    share_out(&all);
    each_part(b, record, layer, values_back);
}

void dsx__backward_layers(dsx__backward *b, const dsx__record *record) {
    for (uint32_t l = record->to; l-- > record->from;) layer_back(b, record, l);
}

/* ---- room */

enum { N_ARRAYS = 6 };

static size_t max_of(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Numbers of g, values, zero, bias_row, room, mass. */
static void sizes(const dsx_model *m, size_t chunk, uint64_t first, size_t n, bool with_g, bool with_mass,
                  size_t out[N_ARRAYS]) {
    const dsx__config *c = &m->config;
    size_t all = (size_t)first + n, values = (size_t)m->kv.n_kv_heads * m->kv.value_dim;

    out[0] = with_g ? n * c->width : 0;
    out[1] = with_g ? all * values : 0;
    out[2] = max_of(max_of(c->width, values), max_of(c->n_heads, (size_t)c->mla.kv_rank + c->mla.rope));
    out[3] = max_of(max_of(c->width, c->ffn), max_of(values, (size_t)c->n_heads * c->head_dim));
    out[4] = 2 * chunk * c->n_heads;
    out[5] = with_mass ? all * c->n_heads : 0;
}

uint64_t dsx__backward_bytes(const dsx_model *m, size_t chunk, uint64_t first, size_t n, bool with_g,
                             bool with_mass) {
    size_t size[N_ARRAYS];
    uint64_t sum = first * sizeof(double);

    sizes(m, chunk, first, n, with_g, with_mass, size);
    for (int i = 0; i < N_ARRAYS; i++) sum += (uint64_t)size[i] * m->ops->real_bytes;
    return sum;
}

static dsx__real **array(dsx__backward *b, int i) {
    dsx__real **arrays[N_ARRAYS] = {&b->g, &b->values, &b->zero, &b->bias_row, &b->room, &b->mass};

    return arrays[i];
}

bool dsx__backward_new(dsx__work *w, const dsx__page_table *pages, uint64_t first, size_t n, bool with_g,
                       bool with_mass, dsx__backward *out) {
    const dsx_model *m = w->model;
    dsx__backward b = {.w = w, .pages = pages, .first = first, .n = n, .mass_from = first};
    size_t size[N_ARRAYS];
    bool ok = (b.shares = calloc((size_t)first + 1, sizeof *b.shares)) != NULL;

    sizes(m, w->rows, first, n, with_g, with_mass, size);
    for (int i = 0; i < N_ARRAYS; i++)
        if (size[i] > 0) ok = (*array(&b, i) = m->ops->alloc(m->be, size[i])) != NULL && ok;
    if (!ok) dsx__backward_free(&b);
    *out = b;
    return ok;
}

void dsx__backward_free(dsx__backward *b) {
    const dsx_model *m = b->w != NULL ? b->w->model : NULL;
    size_t size[N_ARRAYS];

    if (m == NULL) return;
    sizes(m, b->w->rows, b->first, b->n, b->g != NULL, b->mass != NULL, size);
    for (int i = 0; i < N_ARRAYS; i++)
        if (*array(b, i) != NULL) m->ops->free(m->be, *array(b, i), size[i]);
    free(b->shares);
    memset(b, 0, sizeof *b);
}
