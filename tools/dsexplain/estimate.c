/* SPDX-License-Identifier: MIT */
/* What `dsexplain run` will take: tokens, memory, and time by the speed of a short probe. */
#include "run.h"

#include <string.h>
#include <time.h>

enum { PROBE = 128 }; /* tokens */

struct estimate {
    size_t n, n_sources, n_answer, n_sentences;
    uint64_t bytes;
    size_t n_probe;
    double probe, seconds;
};

static double now(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Operations of tokens [from, to): maps, and attention to what stands before. */
static double work(const dsx_model_info *m, double from, double to) {
    double maps = 2 * ((double)m->n_parameters - (double)m->n_vocab * m->width),
           attention = 4.0 * m->n_layers * m->n_heads * m->head_dim;

    return (to - from) * (maps + attention * (from + to) / 2);
}

static int probe(const struct ex_run *r, const dsx_prompt_view *v, struct estimate *e) {
    dsx_session *s = NULL;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = dsx_session_new(r->m.model, NULL, &s, &err);
    double begin = now();

    e->n_probe = v->n < PROBE ? v->n : PROBE;
    if (status == DSTOK_OK) status = dsx_session_feed(s, v->ids, e->n_probe, &err);
    e->probe = now() - begin;
    dsx_session_free(s);
    return status == DSTOK_OK ? 0 : (ex_failed(r->m.path.p, status, &err), CLI_FAIL);
}

/* Passes over the text, in whole ones, that a method takes. */
static double passes(const struct ex_config *c, const struct estimate *e) {
    double n = (double)e->n, rows = n > 0 ? (n - (double)e->n_sources) / n : 0, sum = 1;

    if (c->method == DSX_METHOD_ROWS) sum = 1 + 2 * rows;
    if (c->method == DSX_METHOD_REFINE) sum = 3 + 2 * rows; /* two passes more, as a rule */
    if (c->method == DSX_METHOD_FLOW) sum = 2.5;
    if (c->method == DSX_METHOD_ABLATE) sum = 1 + 0.6 * (double)(c->masks > 0 ? c->masks : 32);
    if (c->method == DSX_METHOD_REFINE) sum = 3.5 + 2 * rows;
    if (c->method == DSX_METHOD_LOO) sum = 1 + 0.6 * (double)e->n_sentences;
    if (c->hops > 1) sum *= (double)c->hops;
    return sum + 0.6 * (double)c->verify;
}

static size_t count_sentences(const dsx_prompt_view *v) {
    size_t at = 0, sum = 0;

    for (size_t i = 0; i < v->n_segments; at += v->segments[i++].len) {
        size_t n = 0;
        dstok_status status =
            v->segments[i].role == DSTOK_ROLE_SOURCE
                ? dstok_breaks(v->text + at, v->segments[i].len, DSTOK_BREAK_SENTENCE, NULL, 0, &n)
                : DSTOK_OK;

        if (status == DSTOK_OK || status == DSTOK_E_SPACE) sum += n;
    }
    return sum;
}

static void add_times(const struct ex_run *r, struct estimate *e) {
    const struct ex_config *c = r->m.config;
    const dsx_model_info *m = &r->m.info;
    double rate = e->probe / work(m, 0, (double)e->n_probe), all = (double)(e->n + e->n_answer),
           targets = c->next > 0 ? (double)c->next : 1;

    e->seconds = rate * work(m, 0, all) * passes(c, e) * targets;
    /* A token alone takes as long as about eight that pass together. */
    if (c->target == NULL || c->prefix == NULL)
        e->seconds += rate * (work(m, 0, (double)e->n) + 8 * work(m, (double)e->n, all));
}

/* An answer as long as it may get stands for the real one. */
static int fill(struct ex_run *r, const struct ex_question *q, dsx_prompt *p, struct estimate *e) {
    const struct ex_config *c = r->m.config;
    dsx_prompt_view v = DSX_PROMPT_VIEW_INIT;
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    struct cli_buf answer = {0};
    dstok_status status;
    int rc;

    (void)dsx_prompt_describe(p, &v);
    e->n = v.n;
    e->n_sources = v.sources_end - v.sources_begin;
    e->n_sentences = count_sentences(&v);
    rc = probe(r, &v, e);
    if (rc) return rc;
    if (q->answer != NULL) cli_buf_add(&answer, q->answer, q->n_answer);
    for (size_t i = 0; q->answer == NULL && i < (c->next > 0 ? c->next : c->n); i++)
        cli_buf_text(&answer, " the");
    status = dsx_prompt_answer(p, cli_buf_string(&answer), answer.n, &err);
    cli_buf_free(&answer);
    (void)dsx_prompt_describe(p, &v);
    e->n_answer = v.n - e->n;
    o.method = c->method == DSX_METHOD_AT2 ? DSX_METHOD_ATTENTION : c->method;
    e->bytes = dsx_explain_bytes(p, &o);
    return status == DSTOK_OK ? 0 : (ex_failed("the answer", status, &err), CLI_FAIL);
}

static void put(const struct ex_run *r, const struct ex_question *q, const struct estimate *e,
                struct cli_buf *out) {
    uint64_t weights = r->m.info.weight_bytes;
    ex_size_text sum, w, x;

    if (r->m.config->format == DSX_REPORT_JSON || r->m.config->format == DSX_REPORT_JSONL) {
        cli_buf_printf(out, "{\"tokens\":%zu,\"source_tokens\":%zu,\"answer_tokens\":%zu,\"context\":%lu,",
                       e->n, e->n_sources, e->n_answer, (unsigned long)r->m.info.context);
        cli_buf_printf(out,
                       "\"memory_bytes\":%llu,\"weight_bytes\":%llu,\"explain_bytes\":%llu,\"seconds\":%.3g,"
                       "\"probe_tokens\":%zu,\"probe_seconds\":%.3g}\n",
                       (unsigned long long)(weights + e->bytes), (unsigned long long)weights,
                       (unsigned long long)e->bytes, e->seconds, e->n_probe, e->probe);
        return;
    }
    cli_buf_printf(out, "tokens  %zu, of them %zu of sources; the model was made for %lu\n", e->n,
                   e->n_sources, (unsigned long)r->m.info.context);
    cli_buf_printf(out, "answer  %s%zu tokens\n", q->answer == NULL ? "at most " : "", e->n_answer);
    cli_buf_printf(out, "memory  %s beside the file: weights %s, the explanation %s\n",
                   ex_size((double)(weights + e->bytes), sum), ex_size((double)weights, w),
                   ex_size((double)e->bytes, x));
    cli_buf_printf(out, "time    about %.1f s: %zu tokens took %.3f s\n", e->seconds, e->n_probe, e->probe);
}

int ex_run_estimate(struct ex_run *r, const struct ex_question *q, dsx_prompt *p) {
    uint64_t most = r->m.config->max_memory;
    struct estimate e = {0};
    struct cli_buf out = {0};
    int rc = fill(r, q, p, &e);

    if (rc == 0) add_times(r, &e);
    if (rc == 0) {
        put(r, q, &e, &out);
        rc = cli_out_buf(&out);
    }
    cli_buf_free(&out);
    if (rc == 0 && most > 0 && r->m.info.weight_bytes + e.bytes > most) {
        cli_error("that is more than --max-memory, %llu bytes", (unsigned long long)most);
        rc = CLI_FAIL;
    }
    return rc;
}
