/* SPDX-License-Identifier: MIT */
/* One attribution: forward over the text, keeping what the way back needs, then back layer by layer. */
#include "explain/attribute.h"

#include "arch/backward.h"
#include "base.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_ROWS = 8 }; /* rows of logits at a time */

/* One attribution at work. */
typedef struct job {
    const dsx_model *m;
    const dsx__aim *aim;
    size_t n; /* rows of the text: the last one foretells the last token that is explained */
    dsx_session *session;
    dsx__record marks;   /* layers to begin again at; unused when all is kept */
    dsx__record record;  /* of the layers that go back next */
    uint32_t per_record; /* layers of a record */
    dsx__backward back;
    dsx__real *values, *lengths; /* [chunk], for routing */
    dsx__real *gram;             /* of one layer; NULL: latents */
    double *host;                /* [chunk][n_heads] twice */
    float *heads;
    dsx__attribution *out;
    dsx__attribute_sink *sink;
    void *context;
    uint64_t done, all;
    double all_mass;
} job;

/* ---- what is kept */

static uint64_t row_bytes(const job *j) {
    return (uint64_t)j->m->config.width * j->m->ops->real_bytes * (j->n - j->aim->first);
}

/* Layers of a record: all of them where that fits, else so that marks and one record take least. */
static uint32_t choose_layers(const job *j) {
    uint32_t n = j->m->config.n_layers;
    uint64_t most = j->aim->keep_bytes > 0 ? j->aim->keep_bytes : 1ull << 30;

    if (j->aim->only_attention || (2ull * n + 1) * row_bytes(j) <= most) return n;
    return (uint32_t)fmax(1, round(sqrt(n / 2.0)));
}

static bool new_record(const job *j, uint32_t from, uint32_t to, uint32_t every, bool with_mid,
                       dsx__record *r) {
    size_t rows = j->n - j->aim->first, width = j->m->config.width;

    *r = (dsx__record){.first = j->aim->first, .cap = rows, .from = from, .to = to, .every = every};
    r->in = j->m->ops->alloc(j->m->be, ((to - from) / every + 1) * rows * width);
    if (with_mid) r->mid = j->m->ops->alloc(j->m->be, (size_t)(to - from) * rows * width);
    return r->in != NULL && (!with_mid || r->mid != NULL);
}

static void free_record(const job *j, dsx__record *r) {
    size_t width = j->m->config.width;

    if (r->in != NULL) j->m->ops->free(j->m->be, r->in, ((r->to - r->from) / r->every + 1) * r->cap * width);
    if (r->mid != NULL) j->m->ops->free(j->m->be, r->mid, (size_t)(r->to - r->from) * r->cap * width);
    memset(r, 0, sizeof *r);
}

static dstok_status tell(job *j) {
    j->done++;
    return j->sink != NULL && j->sink(j->context, j->done, j->all) != 0 ? DSTOK_E_CANCELED : DSTOK_OK;
}

/* ---- forward */

static dstok_status feed(job *j, size_t from, size_t to, dstok_error *err) {
    dstok_status status = DSTOK_OK;

    while (from < to && status == DSTOK_OK) {
        size_t n = to - from < j->back.w->rows ? to - from : j->back.w->rows;

        status = dsx_session_feed(j->session, j->aim->ids + from, n, err);
        if (status == DSTOK_OK) status = tell(j);
        from += n;
    }
    return status;
}

static dstok_status forward(job *j, dstok_error *err) {
    dsx__work *w = j->back.w;
    dstok_status status = feed(j, 0, j->aim->first, err);

    w->record = j->marks.in != NULL ? &j->marks : &j->record;
    if (status == DSTOK_OK) status = feed(j, j->aim->first, j->n, err);
    w->record = NULL;
    return status;
}

/* The layers of j->record once more, from the mark before them. */
static void again(job *j) {
    const dsx_model *m = j->m;
    dsx__page_table pages = dsx__session_pages(j->session);
    dsx__work *w = j->back.w;
    size_t width = m->config.width, mark = j->record.from / j->marks.every * j->marks.cap;

    w->record = &j->record;
    w->again = true;
    for (size_t i = 0; i < j->record.cap; i += w->rows) {
        size_t n = j->record.cap - i < w->rows ? j->record.cap - i : w->rows;

        m->ops->copy(m->be, m->ops->at(j->marks.in, (mark + i) * width), n, (uint32_t)width, (uint32_t)width,
                     w->x, (uint32_t)width);
        dsx__forward_layers(w, &pages, j->record.first + i, n, j->record.from, j->record.to);
    }
    w->record = NULL;
    w->again = false;
}

/* ---- where the way back begins */

/* The gradient of a row's logits, in place of them; the value, and the log-probability of token t. */
static double start_row(const job *j, double *logits, uint32_t t, double weight, double *logprob) {
    uint32_t n = j->m->config.n_vocab;
    double max = -INFINITY, sum = 0, value = logits[t], own = logits[t];

    for (uint32_t k = 0; k < n; k++)
        if (k != t) max = fmax(max, logits[k]);
    for (uint32_t k = 0; k < n; k++)
        if (k != t) sum += exp(logits[k] - max);
    *logprob = -log1p(sum * exp(max - own));
    if (isinf(*logprob)) *logprob = own - max - log(sum);
    if (j->aim->foil >= 0) value -= logits[j->aim->foil];
    for (uint32_t k = 0; k < n; k++) {
        double q = j->aim->foil >= 0 ? k == (uint64_t)j->aim->foil : exp(logits[k] - max) / sum;

        if (k != t && j->aim->foil < 0) value -= q * logits[k];
        logits[k] = k == t ? weight : -q * weight;
    }
    return value * weight;
}

/* Rows [row, row + n) of the record, which foretell tokens that are explained. */
static void start_rows(job *j, size_t row, size_t n, double *logits, dsx__real *device) {
    const dsx_model *m = j->m;
    size_t width = m->config.width, n_vocab = m->config.n_vocab,
           last = (j->record.to - j->record.from) / j->record.every * j->record.cap,
           at = row - j->record.first;
    dsx__real *x = m->ops->at(j->record.in, (last + at) * width);
    dsx__work *w = j->back.w;

    m->ops->norm(m->be, x, n, (uint32_t)width, (uint32_t)width, m->final_norm, m->config.norm_eps, w->h,
                 (uint32_t)width);
    m->ops->linear(m->be, m->head, NULL, w->h, n, device, false);
    m->ops->read(m->be, device, n * n_vocab, logits);
    for (size_t i = 0; i < n; i++) {
        size_t t = row + 1 + i;

        double weight = j->aim->weights != NULL ? j->aim->weights[t - j->aim->from] : 1;

        j->out->value +=
            start_row(j, logits + i * n_vocab, j->aim->ids[t], weight, &j->out->logprobs[t - j->aim->from]);
    }
    if (j->back.g == NULL) return;
    m->ops->write(m->be, device, n * n_vocab, logits);
    m->ops->linear_back(m->be, m->head, device, n, w->h, false);
    m->ops->norm_back(m->be, x, n, (uint32_t)width, (uint32_t)width, m->final_norm, m->config.norm_eps, w->h,
                      (uint32_t)width, m->ops->at(j->back.g, at * width), (uint32_t)width, false);
}

static dstok_status start(job *j) {
    size_t n_vocab = j->m->config.n_vocab, rows = j->back.w->rows < HEAD_ROWS ? j->back.w->rows : HEAD_ROWS;
    double *logits = malloc(rows * n_vocab * sizeof *logits);
    dsx__real *device = j->m->ops->alloc(j->m->be, rows * n_vocab);
    bool ok = logits != NULL && device != NULL;

    for (size_t row = j->aim->from - 1; ok && row < j->n; row += rows)
        start_rows(j, row, j->n - row < rows ? j->n - row : rows, logits, device);
    if (device != NULL) j->m->ops->free(j->m->be, device, rows * n_vocab);
    free(logits);
    return ok ? DSTOK_OK : DSTOK_E_NOMEM;
}

/* ---- back */

/* Attention weights of a layer: where the rows looked. */
static void see_mass(void *context, uint32_t layer, const dsx__real *mass) {
    job *j = context;
    const dsx_model *m = j->m;
    dsx__page_table pages = dsx__session_pages(j->session);
    dsx__attention a = {.shape = &m->kv, .pages = pages.reals, .layer = layer, .n_heads = m->config.n_heads};
    size_t chunk = j->back.w->rows, heads = a.n_heads;
    double *weights = j->host, *lengths = j->host + chunk * heads;
    bool routes = !j->aim->only_attention;
    double rows = (double)(j->n - j->back.mass_from) * (double)heads * m->config.n_layers;

    if (routes && j->gram != NULL)
        m->ops->gram(m->be, m->layers[layer].role[DSX__O], a.n_heads, m->kv.value_dim, j->gram);
    for (size_t at = 0; at < j->n; at += chunk) {
        size_t n = j->n - at < chunk ? j->n - at : chunk;

        m->ops->read(m->be, m->ops->at((dsx__real *)mass, at * heads), n * heads, weights);
        if (routes) {
            m->ops->kv_values(m->be, &a, at, n, j->values);
            m->ops->lengths(m->be, j->gram, a.n_heads, m->kv.n_kv_heads, m->kv.value_dim, j->values, n,
                            j->lengths);
            m->ops->read(m->be, j->lengths, n * heads, lengths);
        }
        for (size_t i = 0; i < n; i++)
            for (size_t h = 0; h < heads; h++) {
                double p = weights[i * heads + h];

                j->all_mass += p;
                if (at + i == 0) j->out->first_mass += p;
                j->out->routing[at + i] += routes ? p * lengths[i * heads + h] : p / rows;
                if (j->heads != NULL)
                    j->heads[(layer * heads + h) * j->n + at + i] =
                        (float)(p / (double)(j->n - j->back.mass_from));
            }
    }
}

static dstok_status back(job *j) {
    uint32_t from = j->m->config.n_layers;
    dstok_status status = DSTOK_OK;

    while (from > 0 && status == DSTOK_OK) {
        if (j->marks.in != NULL) {
            j->record.to = from;
            j->record.from = (from - 1) / j->per_record * j->per_record;
            again(j);
        }
        if (from == j->m->config.n_layers) status = start(j);
        for (uint32_t l = from; l-- > j->record.from && status == DSTOK_OK;) {
            dsx__record one = j->record;
            size_t skip = (size_t)(l - one.from) * one.cap * j->m->config.width;

            one.in = j->m->ops->at(one.in, skip);
            one.mid = one.mid != NULL ? j->m->ops->at(one.mid, skip) : NULL;
            one.from = l;
            one.to = l + 1;
            dsx__backward_layers(&j->back, &one);
            status = tell(j);
        }
        from = j->record.from;
    }
    return status;
}

/* Scores of all tokens: shares of attention before `first`, embeddings times their gradient behind. */
static void finish(job *j) {
    const dsx_model *m = j->m;
    uint32_t width = m->config.width;

    j->out->bias = j->back.bias;
    j->out->first_mass /= j->all_mass > 0 ? j->all_mass : 1;
    if (j->aim->only_attention) {
        memcpy(j->out->scores, j->out->routing, j->n * sizeof *j->out->scores);
        return;
    }
    memcpy(j->out->scores, j->back.shares, j->aim->first * sizeof *j->out->scores);
    m->ops->dots(m->be, j->record.in, width, j->back.g, width, j->n - j->aim->first, width,
                 j->out->scores + j->aim->first);
}

/* ---- */

static size_t gram_reals(const dsx_model *m) {
    return (size_t)m->config.n_heads * m->kv.value_dim * m->kv.value_dim;
}

static bool room(job *j) {
    const dsx_model *m = j->m;
    size_t rows = j->n - j->aim->first, chunk;
    dsx__page_table none = {0};

    j->per_record = choose_layers(j);
    chunk = dsx__session_work(j->session)->rows;
    if (!dsx__backward_new(dsx__session_work(j->session), &none, j->aim->first, rows, !j->aim->only_attention,
                           true, &j->back))
        return false;
    j->values = m->ops->alloc(m->be, chunk * m->kv.n_kv_heads * m->kv.value_dim);
    j->lengths = m->ops->alloc(m->be, chunk * m->config.n_heads);
    if (m->config.mla.kv_rank == 0) j->gram = m->ops->alloc(m->be, gram_reals(m));
    j->host = malloc(2 * chunk * m->config.n_heads * sizeof *j->host);
    j->out->scores = calloc(j->n, sizeof(double));
    j->out->routing = calloc(j->n, sizeof(double));
    j->out->logprobs = calloc(j->aim->to - j->aim->from, sizeof(double));
    if (j->per_record < m->config.n_layers &&
        !new_record(j, 0, m->config.n_layers, j->per_record, false, &j->marks))
        return false;
    return j->values && j->lengths && (j->gram || m->config.mla.kv_rank > 0) && j->host && j->out->scores &&
           j->out->routing && j->out->logprobs &&
           new_record(j, 0, j->per_record, 1, !j->aim->only_attention, &j->record);
}

static void free_job(job *j) {
    const dsx_model *m = j->m;
    size_t chunk = j->session != NULL ? dsx__session_work(j->session)->rows : 0;

    if (j->values != NULL) m->ops->free(m->be, j->values, chunk * m->kv.n_kv_heads * m->kv.value_dim);
    if (j->lengths != NULL) m->ops->free(m->be, j->lengths, chunk * m->config.n_heads);
    if (j->gram != NULL) m->ops->free(m->be, j->gram, gram_reals(m));
    free(j->host);
    j->record.to = j->record.from + j->per_record;
    free_record(j, &j->record);
    free_record(j, &j->marks);
    dsx__backward_free(&j->back);
    dsx_session_free(j->session);
}

static dstok_status run(job *j, dstok_error *err) {
    dsx__page_table pages;
    dstok_status status = forward(j, err);

    pages = dsx__session_pages(j->session);
    j->back.pages = &pages;
    j->back.see = see_mass;
    j->back.context = j;
    j->back.mass_from = j->aim->only_attention || j->heads != NULL ? j->aim->from - 1 : j->aim->first;
    if (status == DSTOK_OK) status = back(j);
    if (status == DSTOK_OK) finish(j);
    if (status == DSTOK_E_CANCELED) return dsx__fail(err, status, DSTOK_NO_OFFSET, "asked to stop");
    return status == DSTOK_E_NOMEM ? dsx__no_memory(err) : status;
}

static dstok_status check(const dsx_model *m, const dsx__aim *aim, dstok_error *err) {
    if (m->config.mla.expand)
        return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET,
                         "not supported: attribution in a model that was opened with DSX_MLA_HEADS");
    if (aim->from < 1 || aim->to <= aim->from || aim->first >= aim->from ||
        aim->foil >= (int64_t)m->config.n_vocab)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "what is to be explained is out of its domain");
    for (size_t i = 0; i < aim->to; i++)
        if (aim->ids[i] >= m->config.n_vocab)
            return dsx__fail(err, DSTOK_E_BAD_ID, i, "an id is not below the size of the model's vocabulary");
    return DSTOK_OK;
}

dstok_status dsx__attribute(const dsx_model *model, const dsx__aim *aim, float *heads,
                            dsx__attribute_sink *sink, void *context, dsx__attribution *out,
                            dstok_error *err) {
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    job j = {.m = model, .aim = aim, .heads = heads, .out = out, .sink = sink, .context = context};
    dstok_status status = check(model, aim, err);

    memset(out, 0, sizeof *out);
    if (status != DSTOK_OK) return status;
    out->n = j.n = aim->foil >= 0 ? aim->from : aim->to - 1;
    o.max_tokens = j.n;
    o.chunk = aim->chunk;
    status = dsx_session_new(model, &o, &j.session, err);
    if (status == DSTOK_OK && !room(&j)) status = dsx__no_memory(err);
    if (status == DSTOK_OK) {
        size_t chunk = j.back.w->rows;

        j.all = (aim->first + chunk - 1) / chunk + (j.n - aim->first + chunk - 1) / chunk +
                model->config.n_layers;
        status = run(&j, err);
    }
    free_job(&j);
    if (status != DSTOK_OK) dsx__attribution_free(out);
    return status;
}

void dsx__attribution_free(dsx__attribution *a) {
    free(a->scores);
    free(a->routing);
    free(a->logprobs);
    memset(a, 0, sizeof *a);
}

uint64_t dsx__attribute_bytes(const dsx_model *m, const dsx__aim *aim) {
    job j = {.m = m, .aim = aim, .n = aim->to - 1};
    uint64_t pages = (j.n + DSX__PAGE - 1) / DSX__PAGE, sum = 0;
    uint32_t layers = m->config.n_layers, per = choose_layers(&j);
    size_t chunk = aim->chunk > 0 ? aim->chunk : 512;

    if (!aim->only_attention) sum += (2ull * per + 1) * row_bytes(&j);
    if (per < layers) sum += (layers / per + 1ull) * row_bytes(&j);
    if (m->config.mla.kv_rank == 0) sum += gram_reals(m) * m->ops->real_bytes;
    sum += pages * dsx__kv_page_reals(&m->kv) * m->ops->real_bytes;
    sum += dsx__work_bytes(&m->config, m->ops->real_bytes, chunk);
    sum += dsx__backward_bytes(m, chunk, aim->first, j.n - aim->first, !aim->only_attention, true);
    return sum + (uint64_t)HEAD_ROWS * m->config.n_vocab * (m->ops->real_bytes + sizeof(double)) +
           (uint64_t)j.n * 2 * sizeof(double);
}
