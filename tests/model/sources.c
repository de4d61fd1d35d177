/* SPDX-License-Identifier: MIT */
/* The decomposition of sources.h: forward, layer by layer, with one more axis for where each number came
 * from. */
#include "sources.h"

#include "arch/model.h"
#include "arch/rope.h"
#include "arch/route.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sources are the tokens [0, n) and, number n, all biases. x[(source * n + row) * width]. */
typedef struct job {
    const dsx_model *m;
    const dsx__config *c;
    const dsx__aim *aim;
    const dsx__layer *layer;
    uint32_t layer_number;
    size_t n, n_sources, width;
    double *x;
    double *h, *whole; /* after a norm: of sources, and [n][width] of them all */
    decomposed *out;
    double mass;
} job;

static double *zeros(size_t n) {
    double *p = calloc(n + 1, sizeof *p);

    if (p == NULL) exit(1);
    return p;
}

/* A matrix, a vector with rows 1; NULL where there is none. */
static double *read_part(const job *j, const dsx__matrix *m, size_t rows, size_t columns) {
    double *out;

    if (m == NULL) return NULL;
    out = zeros(rows * columns);
    for (uint32_t i = 0; i < rows; i++)
        j->m->ops->embed(j->m->be, m, &i, 1, (dsx__real *)(out + i * columns));
    return out;
}

static double *part_of(const job *j, dsx__role role, size_t rows, size_t columns) {
    return read_part(j, j->layer->role[role], rows, columns);
}

static void add_product(const double *w, size_t rows, size_t columns, const double *x, double by,
                        double *out) {
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;

        for (size_t k = 0; k < columns; k++) sum += w[r * columns + k] * x[k];
        out[r] += by * sum;
    }
}

/* Rows before `first` are sources of their own, whatever they were made of. */
static void collapse(const job *j, double *x, size_t width) {
    for (size_t i = 0; i < j->aim->first && i < j->n; i++)
        for (size_t s = 0; s < j->n_sources; s++)
            for (size_t k = 0; s != i && k < width; k++) {
                x[(i * j->n + i) * width + k] += x[(s * j->n + i) * width + k];
                x[(s * j->n + i) * width + k] = 0;
            }
}

static double *total(const job *j, const double *x, size_t width) {
    double *out = zeros(j->n * width);

    for (size_t s = 0; s < j->n_sources; s++)
        for (size_t i = 0; i < j->n * width; i++) out[i] += x[s * j->n * width + i];
    return out;
}

static double scale_of(const double *x, size_t n, double eps) {
    double sum = 0;

    for (size_t k = 0; k < n; k++) sum += x[k] * x[k];
    return 1 / sqrt(sum / (double)n + eps);
}

/* h and whole = norm(x) */
static void normalise(job *j, const dsx__matrix *m) {
    double *w = read_part(j, m, 1, j->width);

    free(j->whole);
    j->whole = total(j, j->x, j->width);
    for (size_t i = 0; i < j->n; i++) {
        double *row = j->whole + i * j->width, by = scale_of(row, j->width, j->c->norm_eps);

        for (size_t k = 0; k < j->width; k++) row[k] *= by * w[k];
        for (size_t s = 0; s < j->n_sources; s++)
            for (size_t k = 0; k < j->width; k++) {
                size_t at = (s * j->n + i) * j->width + k;

                j->h[at] = j->x[at] * by * w[k];
            }
    }
    free(w);
}

/* out[source][row][rows] += w x, and the bias as a source of its own. */
static void map_sources(const job *j, const double *w, const double *bias, size_t rows, size_t columns,
                        const double *x, double *out) {
    for (size_t i = 0; i < j->n_sources * j->n; i++)
        add_product(w, rows, columns, x + i * columns, 1, out + i * rows);
    for (size_t i = 0; bias != NULL && i < j->n; i++)
        for (size_t r = 0; r < rows; r++) out[((j->n_sources - 1) * j->n + i) * rows + r] += bias[r];
}

static double *map_whole(const job *j, const double *w, const double *bias, size_t rows, size_t columns,
                         const double *x) {
    double *out = zeros(j->n * rows);

    for (size_t i = 0; i < j->n; i++) {
        add_product(w, rows, columns, x + i * columns, 1, out + i * rows);
        for (size_t r = 0; bias != NULL && r < rows; r++) out[i * rows + r] += bias[r];
    }
    return out;
}

static void norm_rows(double *x, size_t n, size_t stride, size_t width, const double *w, double eps) {
    for (size_t i = 0; i < n; i++) {
        double by = scale_of(x + i * stride, width, eps);

        for (size_t k = 0; k < width; k++) x[i * stride + k] *= by * w[k];
    }
}

static void turn(const job *j, double *x, size_t heads, size_t head, size_t offset) {
    size_t half = dsx__rope_dims(j->c) / 2;
    double *cosine = zeros(j->n * half), *sine = zeros(j->n * half);

    dsx__rope_table(j->c, 0, j->n, cosine, sine);
    for (size_t i = 0; i < j->n * heads; i++)
        for (size_t k = 0; k < half; k++) {
            double *a = x + i * head + offset + (j->c->rope.interleaved ? 2 * k : k),
                   *b = a + (j->c->rope.interleaved ? 1 : half), was = *a;
            size_t at = i / heads * half + k;

            *a = was * cosine[at] - *b * sine[at];
            *b = was * sine[at] + *b * cosine[at];
        }
    free(cosine);
    free(sine);
}

/* ---- attention */

/* Queries, keys [n][heads][key], values [source][n][heads][value] of each head; lengths [n][heads] of what
 * routing counts, for latents that of the latent. */
typedef struct heads {
    double *q, *k, *v, *lengths;
    size_t key, value, n_kv;
} heads;

static heads plain_heads(const job *j) {
    const dsx__config *c = j->c;
    size_t d = c->head_dim, width = j->width, q_rows = c->n_heads * d, rows = c->n_kv_heads * d;
    double *qw = part_of(j, DSX__Q, q_rows, width), *qb = part_of(j, DSX__Q_BIAS, 1, q_rows),
           *kw = part_of(j, DSX__K, rows, width), *kb = part_of(j, DSX__K_BIAS, 1, rows),
           *vw = part_of(j, DSX__V, rows, width), *vb = part_of(j, DSX__V_BIAS, 1, rows),
           *qn = part_of(j, DSX__Q_NORM, 1, d), *kn = part_of(j, DSX__K_NORM, 1, d);
    heads a = {.key = d, .value = d, .n_kv = c->n_kv_heads};

    a.q = map_whole(j, qw, qb, q_rows, width, j->whole);
    a.k = map_whole(j, kw, kb, rows, width, j->whole);
    a.v = zeros(j->n_sources * j->n * rows);
    map_sources(j, vw, vb, rows, width, j->h, a.v);
    if (qn != NULL) norm_rows(a.q, j->n * c->n_heads, d, d, qn, c->norm_eps);
    if (kn != NULL) norm_rows(a.k, j->n * c->n_kv_heads, d, d, kn, c->norm_eps);
    turn(j, a.q, c->n_heads, d, 0);
    turn(j, a.k, c->n_kv_heads, d, 0);
    free(qw), free(qb), free(kw), free(kb), free(vw), free(vb), free(qn), free(kn);
    return a;
}

/* [heads * nope][rank] and [heads * value][rank] out of the one matrix or the two that files have. */
static void latent_maps(const job *j, double **k, double **v) {
    const dsx__mla *m = &j->c->mla;
    size_t n = j->c->n_heads, rank = m->kv_rank, both = m->nope + m->value;
    double *kv = m->split ? NULL : part_of(j, DSX__KV_B, n * both, rank),
           *kb = m->split ? part_of(j, DSX__K_B, n * rank, m->nope) : NULL;

    *k = zeros(n * m->nope * rank);
    *v = m->split ? part_of(j, DSX__V_B, n * m->value, rank) : zeros(n * m->value * rank);
    for (size_t h = 0; h < n; h++)
        for (size_t r = 0; r < rank; r++) {
            for (size_t d = 0; d < m->nope; d++)
                (*k)[(h * m->nope + d) * rank + r] =
                    m->split ? kb[(h * rank + r) * m->nope + d] : kv[(h * both + d) * rank + r];
            for (size_t d = 0; !m->split && d < m->value; d++)
                (*v)[(h * m->value + d) * rank + r] = kv[(h * both + m->nope + d) * rank + r];
        }
    free(kv);
    free(kb);
}

static double *latent_queries(const job *j) {
    const dsx__mla *m = &j->c->mla;
    size_t rows = j->c->n_heads * (m->nope + m->rope), columns = m->q_rank > 0 ? m->q_rank : j->width;
    double *a = m->q_rank > 0 ? part_of(j, DSX__Q_A, columns, j->width) : NULL,
           *norm = m->q_rank > 0 ? part_of(j, DSX__Q_A_NORM, 1, columns) : NULL,
           *w = part_of(j, m->q_rank > 0 ? DSX__Q_B : DSX__Q, rows, columns),
           *low = a != NULL ? map_whole(j, a, NULL, columns, j->width, j->whole) : NULL, *q;

    if (low != NULL) norm_rows(low, j->n, columns, columns, norm, 1e-6);
    q = map_whole(j, w, NULL, rows, columns, low != NULL ? low : j->whole);
    turn(j, q, j->c->n_heads, m->nope + m->rope, m->nope);
    free(a), free(norm), free(w), free(low);
    return q;
}

static heads latent_heads(const job *j) {
    const dsx__mla *m = &j->c->mla;
    size_t n = j->c->n_heads, rank = m->kv_rank, both = rank + m->rope, rows = j->n_sources * j->n;
    heads a = {.q = latent_queries(j), .key = m->nope + m->rope, .value = m->value, .n_kv = n};
    double *w = part_of(j, DSX__KV_A, both, j->width), *norm = part_of(j, DSX__KV_A_NORM, 1, rank), *kw, *vw,
           *whole = map_whole(j, w, NULL, both, j->width, j->whole), *each = zeros(rows * both);

    latent_maps(j, &kw, &vw);
    map_sources(j, w, NULL, both, j->width, j->h, each);
    for (size_t i = 0; i < rows; i++) {
        double by = scale_of(whole + i % j->n * both, rank, 1e-6);

        for (size_t k = 0; k < rank; k++) each[i * both + k] *= by * norm[k];
    }
    norm_rows(whole, j->n, both, rank, norm, 1e-6);
    turn(j, whole, 1, both, rank);
    a.k = zeros(j->n * n * a.key);
    a.v = zeros(rows * n * a.value);
    a.lengths = zeros(j->n * n);
    for (size_t i = 0; i < j->n * n; i++) {
        const double *latent = whole + i / n * both;

        add_product(kw + i % n * m->nope * rank, m->nope, rank, latent, 1, a.k + i * a.key);
        memcpy(a.k + i * a.key + m->nope, latent + rank, m->rope * sizeof *latent);
        a.lengths[i] = sqrt((double)rank) / scale_of(latent, rank, 0);
    }
    for (size_t i = 0; i < rows * n; i++)
        add_product(vw + i % n * m->value * rank, m->value, rank, each + i / n * both, 1, a.v + i * a.value);
    free(w), free(norm), free(kw), free(vw), free(whole), free(each);
    return a;
}

/* Lengths of what each head's part of o makes of a token's value. */
static void plain_lengths(const job *j, heads *a, const double *o) {
    size_t n = j->c->n_heads, d = a->value, group = n / a->n_kv;
    double *v = total(j, a->v, a->n_kv * d), *part = zeros(j->width);

    a->lengths = zeros(j->n * n);
    for (size_t i = 0; i < j->n * n; i++) {
        double sum = 0;

        for (size_t r = 0; r < j->width; r++) {
            part[r] = 0;
            for (size_t k = 0; k < d; k++)
                part[r] += o[r * n * d + i % n * d + k] * v[(i / n * a->n_kv + i % n / group) * d + k];
            sum += part[r] * part[r];
        }
        a->lengths[i] = sqrt(sum);
    }
    free(v);
    free(part);
}

/* Weights of one row and head, [n]. */
static void weigh(const job *j, const heads *a, size_t row, size_t head, double *p) {
    uint32_t window = j->layer_number >= j->c->window_from ? j->c->window : 0;
    size_t n = j->c->n_heads, from = window > 0 && row >= window ? row - window + 1 : 0;
    double max = -INFINITY, sum = 0;

    memset(p, 0, j->n * sizeof *p);
    for (size_t at = from; at <= row; at++) {
        const double *q = a->q + (row * n + head) * a->key,
                     *k = a->k + (at * a->n_kv + head / (n / a->n_kv)) * a->key;

        for (size_t d = 0; d < a->key; d++) p[at] += q[d] * k[d];
        p[at] *= dsx__attention_scale(j->c);
        max = fmax(max, p[at]);
    }
    for (size_t at = from; at <= row; at++) sum += p[at] = exp(p[at] - max);
    for (size_t at = from; at <= row; at++) p[at] /= sum;
}

static void note(job *j, const heads *a, size_t row, size_t head, const double *p) {
    size_t n = j->c->n_heads, from = j->aim->from - 1;

    for (size_t at = 0; at <= row; at++) {
        if (row >= j->aim->first) {
            j->out->routing[at] += p[at] * a->lengths[at * n + head];
            j->mass += p[at];
            j->out->first_mass += at == 0 ? p[at] : 0;
        }
        if (row >= from)
            j->out->heads[(j->layer_number * n + head) * j->n + at] += p[at] / (double)(j->n - from);
    }
}

static void attention(job *j) {
    size_t n = j->c->n_heads;
    heads a = j->c->mla.kv_rank > 0 ? latent_heads(j) : plain_heads(j);
    size_t d = a.value, stride = a.n_kv * d;
    double *o = part_of(j, DSX__O, j->width, n * d), *bias = part_of(j, DSX__O_BIAS, 1, j->width),
           *p = zeros(j->n), *mixed = zeros(j->n_sources * j->n * n * d);

    collapse(j, a.v, stride);
    if (a.lengths == NULL) plain_lengths(j, &a, o);
    for (size_t row = 0; row < j->n; row++)
        for (size_t h = 0; h < n; h++) {
            weigh(j, &a, row, h, p);
            note(j, &a, row, h, p);
            for (size_t s = 0; s < j->n_sources; s++)
                for (size_t at = 0; at <= row; at++)
                    for (size_t k = 0; k < d; k++)
                        mixed[((s * j->n + row) * n + h) * d + k] +=
                            p[at] * a.v[(s * j->n + at) * stride + h / (n / a.n_kv) * d + k];
        }
    map_sources(j, o, bias, j->width, n * d, mixed, j->x);
    free(a.q), free(a.k), free(a.v), free(a.lengths), free(o), free(bias), free(p), free(mixed);
}

/* ---- the feed-forward part: for one row, times `by` */

typedef struct block {
    double *gate, *up, *down, *gate_bias, *up_bias, *down_bias;
    size_t inner;
} block;

static void free_block(block *b) {
    free(b->gate), free(b->up), free(b->down), free(b->gate_bias), free(b->up_bias), free(b->down_bias);
}

static void through(const job *j, const block *b, size_t row, double by) {
    double *gate = zeros(b->inner), *up = zeros(b->inner);

    add_product(b->gate, b->inner, j->width, j->whole + row * j->width, 1, gate);
    for (size_t k = 0; k < b->inner; k++) {
        double z = gate[k] + (b->gate_bias != NULL ? b->gate_bias[k] : 0);

        gate[k] = z / (1 + exp(-z));
    }
    for (size_t s = 0; s < j->n_sources; s++) {
        double *to = j->x + (s * j->n + row) * j->width;
        bool is_bias = s + 1 == j->n_sources;

        memset(up, 0, b->inner * sizeof *up);
        add_product(b->up, b->inner, j->width, j->h + (s * j->n + row) * j->width, 1, up);
        for (size_t k = 0; k < b->inner; k++)
            up[k] = gate[k] * (up[k] + (is_bias && b->up_bias != NULL ? b->up_bias[k] : 0));
        add_product(b->down, j->width, b->inner, up, by, to);
        for (size_t k = 0; is_bias && b->down_bias != NULL && k < j->width; k++) to[k] += b->down_bias[k];
    }
    free(gate);
    free(up);
}

static block dense_block(const job *j, dsx__role gate, dsx__role up, dsx__role down, size_t inner) {
    bool plain = gate == DSX__GATE;

    return (block){part_of(j, gate, inner, j->width),
                   part_of(j, up, inner, j->width),
                   part_of(j, down, j->width, inner),
                   plain ? part_of(j, DSX__GATE_BIAS, 1, inner) : NULL,
                   plain ? part_of(j, DSX__UP_BIAS, 1, inner) : NULL,
                   plain ? part_of(j, DSX__DOWN_BIAS, 1, j->width) : NULL,
                   inner};
}

static void experts(const job *j) {
    const dsx__moe *m = &j->c->moe;
    double *router = part_of(j, DSX__ROUTER, m->n_experts, j->width),
           *logits = map_whole(j, router, NULL, m->n_experts, j->width, j->whole),
           *scratch = zeros(m->n_experts + m->n_groups), *weights = zeros(j->n * m->n_used);
    uint32_t *chosen = malloc((j->n * m->n_used + 1) * sizeof *chosen);

    for (size_t i = 0; i < j->n; i++)
        dsx__route(m, logits + i * m->n_experts, j->layer->router_bias, scratch, chosen + i * m->n_used,
                   weights + i * m->n_used);
    for (uint32_t e = 0; e < m->n_experts; e++) {
        dsx__matrix *const *parts = j->layer->experts[e];
        block b = {read_part(j, parts[0], m->width, j->width), read_part(j, parts[1], m->width, j->width),
                   read_part(j, parts[2], j->width, m->width), .inner = m->width};

        for (size_t i = 0; i < j->n * m->n_used; i++)
            if (chosen[i] == e) through(j, &b, i / m->n_used, weights[i]);
        free_block(&b);
    }
    free(router), free(logits), free(scratch), free(weights), free(chosen);
}

static void feed_forward(const job *j) {
    const dsx__moe *m = &j->c->moe;
    bool has_experts = dsx__has_experts(j->c, j->layer_number);
    block b;

    if (has_experts) experts(j);
    if (has_experts && m->n_shared == 0) return;
    b = has_experts ? dense_block(j, DSX__SHARED_GATE, DSX__SHARED_UP, DSX__SHARED_DOWN,
                                  (size_t)m->n_shared * m->width)
                    : dense_block(j, DSX__GATE, DSX__UP, DSX__DOWN, j->c->ffn);
    for (size_t i = 0; i < j->n; i++) through(j, &b, i, 1);
    free_block(&b);
}

/* ---- the end: shares of the log-odds of a token, or of the difference to the foil */

static void measure(job *j, size_t t, const double *head) {
    size_t n_vocab = j->c->n_vocab, row = t - 1;
    double *logits = zeros(n_vocab), *back = zeros(j->width), sum = 0,
           weight = j->aim->weights != NULL ? j->aim->weights[t - j->aim->from] : 1;
    uint32_t id = j->aim->ids[t];

    add_product(head, n_vocab, j->width, j->whole + row * j->width, 1, logits);
    for (size_t k = 0; k < n_vocab; k++) sum += k != id ? exp(logits[k] - logits[id]) : 0;
    for (size_t k = 0; k < n_vocab; k++) {
        double q = j->aim->foil >= 0 ? k == (size_t)j->aim->foil : exp(logits[k] - logits[id]) / sum,
               by = weight * (k == id ? 1 : -q);

        j->out->value += by * logits[k];
        for (size_t d = 0; d < j->width; d++) back[d] += by * head[k * j->width + d];
    }
    for (size_t s = 0; s < j->n_sources; s++) {
        double *to = s < j->n ? &j->out->scores[s] : &j->out->bias;

        for (size_t d = 0; d < j->width; d++) *to += back[d] * j->h[(s * j->n + row) * j->width + d];
    }
    free(logits);
    free(back);
}

void decompose(const dsx_model *model, const dsx__aim *aim, decomposed *out) {
    const dsx__config *c = &model->config;
    job j = {.m = model, .c = c, .aim = aim, .width = c->width, .out = out};
    double *head;

    j.n = aim->foil >= 0 ? aim->from : aim->to - 1;
    j.n_sources = j.n + 1;
    *out = (decomposed){.n = j.n, .scores = zeros(j.n), .routing = zeros(j.n)};
    out->heads = zeros((size_t)c->n_layers * c->n_heads * j.n);
    j.x = zeros(j.n_sources * j.n * j.width);
    j.h = zeros(j.n_sources * j.n * j.width);
    for (size_t i = 0; i < j.n; i++)
        model->ops->embed(model->be, model->embed, &aim->ids[i], 1,
                          (dsx__real *)(j.x + (i * j.n + i) * j.width));
    for (uint32_t l = 0; l < c->n_layers; l++) {
        j.layer = &model->layers[l];
        j.layer_number = l;
        normalise(&j, j.layer->role[DSX__ATTN_NORM]);
        attention(&j);
        collapse(&j, j.x, j.width);
        normalise(&j, j.layer->role[DSX__FFN_NORM]);
        feed_forward(&j);
        collapse(&j, j.x, j.width);
    }
    normalise(&j, model->final_norm);
    head = read_part(&j, model->head, c->n_vocab, j.width);
    for (size_t t = aim->from; t <= j.n; t++) measure(&j, t, head);
    out->first_mass /= j.mass;
    free(head), free(j.x), free(j.h), free(j.whole);
}

void free_decomposed(decomposed *d) {
    free(d->scores), free(d->routing), free(d->heads);
}
