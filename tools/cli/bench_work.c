/* SPDX-License-Identifier: MIT */
/* The passes of dstok bench: a pool encodes and counts, a crew of threads does what pools do not. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DOC_BYTES ((size_t)16384)

/* Bytes that a worker decoded a document to. */
struct bench_piece {
    size_t worker, at, n;
};

static double seconds(clockid_t clock) {
    struct timespec t = {0, 0};

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_now(const struct bench *b) {
    return seconds(b->by_cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC);
}

/* A clock that did not move gives a very large number, not infinity. */
double bench_speed(size_t n, double time) {
    return (double)n / (time > 1e-9 ? time : 1e-9) * 1e-6;
}

/* ---- documents */

/* Documents of 16 KB, cut before the next byte that begins a character. */
void bench_cut(struct bench_times *t) {
    const struct bench *b = t->b;
    size_t at = 0, begin;

    t->docs = cli_alloc((b->n_text / DOC_BYTES + 1) * sizeof *t->docs);
    while (at < b->n_text) {
        begin = at;
        at = b->n_text - at < DOC_BYTES ? b->n_text : at + DOC_BYTES;
        while (at < b->n_text && ((unsigned char)b->text[at] & 0xC0) == 0x80) at++;
        t->docs[t->n_docs].text = b->text + begin;
        t->docs[t->n_docs++].len = at - begin;
    }
}

static size_t begin_of(const struct bench_times *t, size_t doc) {
    return (size_t)((const char *)t->docs[doc].text - t->b->text);
}

/* ---- what went wrong */

/* Say so, with its place in the file: the document begins at `begin`. */
static int failed(const struct bench *b, dstok_status status, const dstok_error *err, const char *what,
                  size_t begin) {
    const char *option = status == DSTOK_E_UTF8      ? " (--invalid)"
                         : status == DSTOK_E_SPECIAL ? " (--special)"
                                                     : "";

    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (*what == '\0') what = dstok_status_name(status);
    if (err->offset == DSTOK_NO_OFFSET)
        cli_error("%s: %s%s", cli_input_name(b->file), what, option);
    else
        cli_error("%s: byte %llu: %s%s", cli_input_name(b->file), (unsigned long long)(err->offset + begin),
                  what, option);
    return CLI_FAIL;
}

/* The pool's message begins with the number of the document, which nobody knows but us. */
static int pool_failed(const struct bench_times *t, const dstok_pool *pool, dstok_status status,
                       const dstok_error *err, size_t first) {
    size_t doc = dstok_pool_failed(pool);
    const char *what = err->text, *behind = strstr(what, ": ");

    if (doc == SIZE_MAX) return failed(t->b, status, err, what, 0);
    return failed(t->b, status, err, behind ? behind + 2 : what, begin_of(t, first + doc));
}

int bench_differs(const struct bench *b, const char *what) {
    cli_error("%s: %s; that is a fault of dstok", cli_input_name(b->file), what);
    return CLI_FAIL;
}

/* ---- passes of a pool */

int bench_open_pool(const struct bench_times *t, size_t cache_bytes, dstok_pool **out) {
    dstok_encoder_options encoder = DSTOK_ENCODER_OPTIONS_INIT;
    dstok_pool_options options = DSTOK_POOL_OPTIONS_INIT;
    dstok_error err = {0};
    dstok_status status;

    encoder.simd = t->b->simd;
    encoder.cache_bytes = cache_bytes;
    options.n_threads = t->b->n_threads;
    options.encoder = &encoder;
    status = dstok_pool_new(t->tok, &options, out, &err);
    if (status == DSTOK_OK) return 0;
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    cli_error("cannot start %zu threads: %s", options.n_threads, err.text);
    return CLI_FAIL;
}

static int encode(struct bench_times *t, dstok_pool *pool, const dstok_doc *docs, size_t n, int ids_only,
                  double *time) {
    dstok_encode_options options = t->options;
    dstok_error err = {0};
    dstok_status status;
    double start = bench_now(t->b);

    options.ids_only = ids_only;
    status = dstok_pool_encode(pool, docs, n, &options, &t->batch, &err);
    *time = bench_now(t->b) - start;
    return status == DSTOK_OK ? 0 : pool_failed(t, pool, status, &err, (size_t)(docs - t->docs));
}

int bench_encode_range(struct bench_times *t, size_t first, size_t last, double *time) {
    return encode(t, t->pool, t->docs + first, last - first, 1, time);
}

int bench_encode_pass(struct bench_times *t, double *time) {
    return encode(t, t->pool, t->docs, t->n_docs, 1, time);
}

int bench_spans_pass(struct bench_times *t, double *time) {
    return encode(t, t->pool, t->docs, t->n_docs, 0, time);
}

int bench_merge_pass(struct bench_times *t, double *time) {
    return encode(t, t->bare, t->docs, t->n_docs, 1, time);
}

/* All documents as one: they lie one behind the other. */
int bench_big_pass(struct bench_times *t, double *time) {
    size_t len = t->docs[0].len;
    int rc;

    t->docs[0].len = t->b->n_text;
    rc = encode(t, t->pool, t->docs, 1, 1, time);
    t->docs[0].len = len;
    return rc;
}

int bench_count_pass(struct bench_times *t, double *time) {
    dstok_error err = {0};
    dstok_status status;
    double start = bench_now(t->b);

    status = dstok_pool_count(t->pool, t->docs, t->n_docs, &t->options, NULL, &t->total, &err);
    *time = bench_now(t->b) - start;
    return status == DSTOK_OK ? 0 : pool_failed(t, t->pool, status, &err, 0);
}

/* ---- passes of a crew */

int bench_open_crew(struct bench_times *t) {
    dstok_status status;
    size_t n = (size_t)t->batch.n;

    t->ids = cli_alloc((n + 1) * sizeof *t->ids);
    if (n > 0) memcpy(t->ids, t->batch.ids, n * sizeof *t->ids);
    t->starts = cli_alloc((t->n_docs + 1) * sizeof *t->starts);
    memcpy(t->starts, t->batch.offsets, (t->n_docs + 1) * sizeof *t->starts);
    t->pieces = cli_alloc(t->n_docs * sizeof *t->pieces);
    t->crew.tok = t->tok;
    t->crew.simd = t->b->simd;
    t->crew.context = t;
    status = bench_crew_start(&t->crew, t->b->n_threads);
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    return status == DSTOK_OK ? 0 : bench_differs(t->b, "an encoder cannot be made");
}

static int crew_pass(struct bench_times *t, bench_work *work, double *time) {
    const struct bench_worker *bad;
    double start = bench_now(t->b);

    bad = bench_crew_run(&t->crew, work, t->n_docs);
    *time = bench_now(t->b) - start;
    return bad ? failed(t->b, bad->status, &bad->err, bad->err.text, begin_of(t, bad->bad_doc)) : 0;
}

static dstok_status decode_doc(struct bench_worker *w, size_t doc) {
    const struct bench_times *t = w->crew->context;
    struct cli_buf *out = &w->bytes;
    size_t n = t->docs[doc].len, n_ids = (size_t)(t->starts[doc + 1] - t->starts[doc]);
    dstok_status status;

    do {
        cli_buf_reserve(out, n);
        status = dstok_decode(t->tok, t->ids + t->starts[doc], n_ids, DSTOK_DECODE_LOSSLESS, 0,
                              out->p + out->n, out->cap - out->n, &n, NULL, &w->err);
    } while (status == DSTOK_E_SPACE);
    t->pieces[doc].worker = w->index;
    t->pieces[doc].at = out->n;
    t->pieces[doc].n = n;
    if (status == DSTOK_OK) out->n += n;
    return status;
}

int bench_decode_pass(struct bench_times *t, double *time) {
    size_t i;

    for (i = 0; i < t->crew.n_workers; i++) t->crew.workers[i].bytes.n = 0;
    return crew_pass(t, decode_doc, time);
}

int bench_decoded_is_text(const struct bench_times *t) {
    size_t i;

    for (i = 0; i < t->n_docs; i++) {
        const struct bench_piece *p = &t->pieces[i];

        if (p->n != t->docs[i].len) return 0;
        if (memcmp(t->crew.workers[p->worker].bytes.p + p->at, t->docs[i].text, p->n) != 0) return 0;
    }
    return 1;
}

static dstok_status stage_doc(struct bench_worker *w, size_t doc) {
    const struct bench_times *t = w->crew->context;
    size_t n;

    return dstok_encode_stage(w->enc, t->stage, t->docs[doc].text, t->docs[doc].len, &n, &w->err);
}

int bench_stage_pass(struct bench_times *t, double *time) {
    return crew_pass(t, stage_doc, time);
}

int bench_last_stage(struct bench_times *t) {
    dstok_encoder *enc = t->crew.workers[0].enc;
    int last = DSTOK_STAGE_PROBE;
    size_t i, n;

    for (i = 0; i < t->n_docs; i++) {
        const dstok_doc *d = &t->docs[i];

        if (dstok_encode_stage(enc, DSTOK_STAGE_UTF8, d->text, d->len, &n, NULL) != DSTOK_OK) return 0;
        if (dstok_encode_stage(enc, DSTOK_STAGE_CLASSIFY, d->text, d->len, &n, NULL) != DSTOK_OK)
            last = DSTOK_STAGE_UTF8;
    }
    return last;
}

void bench_close(struct bench_times *t) {
    bench_crew_stop(&t->crew);
    dstok_pool_free(t->bare);
    dstok_pool_free(t->pool);
    free(t->docs);
    free(t->ids);
    free(t->starts);
    free(t->pieces);
    free(t->allowed);
    dstok_tokenizer_free(t->tok);
}
