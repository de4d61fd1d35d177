/* SPDX-License-Identifier: MIT */
/* Passes over documents on one or more threads that live as long as the measurement. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The failure that comes first in the text: the same one for every number of threads. */
static const struct bench_worker *failed_worker(const struct bench_crew *c) {
    const struct bench_worker *first = NULL;
    size_t i;

    for (i = 0; i < c->n_workers; i++) {
        const struct bench_worker *w = &c->workers[i];

        if (w->status != DSTOK_OK && (first == NULL || w->bad_doc < first->bad_doc)) first = w;
    }
    return first;
}

static dstok_status make_workers(struct bench_crew *c, size_t n) {
    dstok_encoder_options options = DSTOK_ENCODER_OPTIONS_INIT;
    dstok_status status = DSTOK_OK;
    size_t i;

    options.simd = c->simd;
    c->n_workers = n;
    c->workers = cli_alloc(n * sizeof *c->workers);
    memset(c->workers, 0, n * sizeof *c->workers);
    for (i = 0; i < n && status == DSTOK_OK; i++) {
        c->workers[i].crew = c;
        c->workers[i].index = i;
        status = dstok_encoder_new_with(c->tok, &options, &c->workers[i].enc, NULL);
    }
    return status;
}

/* Fewer threads than asked for would measure something else. */
static void cannot_start(size_t n_threads) {
    cli_error("cannot start %zu threads", n_threads);
    _exit(CLI_FAIL);
}

dstok_status bench_crew_start(struct bench_crew *c, size_t n_threads) {
    dstok_status status = make_workers(c, n_threads);

    c->threads = cli_crew_new(n_threads);
    if (status == DSTOK_OK && cli_crew_start(c->threads) < n_threads) cannot_start(n_threads);
    return status;
}

void bench_crew_stop(struct bench_crew *c) {
    size_t i;

    cli_crew_free(c->threads);
    for (i = 0; i < c->n_workers; i++) {
        dstok_encoder_free(c->workers[i].enc);
        cli_buf_free(&c->workers[i].bytes);
    }
    free(c->workers);
}

static void work_on(void *context, size_t worker, size_t i) {
    struct bench_crew *c = context;
    struct bench_worker *w = &c->workers[worker];

    if (w->status != DSTOK_OK) return;
    w->bad_doc = i;
    w->status = c->work(w, i);
}

const struct bench_worker *bench_crew_run(struct bench_crew *c, bench_work *work, size_t n) {
    c->work = work;
    cli_crew_run(c->threads, n, work_on, c);
    return failed_worker(c);
}
