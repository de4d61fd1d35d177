/* SPDX-License-Identifier: MIT */
/* Passes over documents on one or more threads that live as long as the measurement. */
#include "bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench_threads {
    pthread_t *handles;
    size_t n; /* running */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    unsigned long round; /* passes given out */
    size_t busy;         /* threads that are still in the pass */
    int is_over;
    bench_work *work;
    atomic_size_t next; /* document to take */
    size_t last;
};

static void work_on(struct bench_worker *w) {
    struct bench_threads *t = w->crew->threads;
    size_t i;

    while (w->status == DSTOK_OK && (i = atomic_fetch_add(&t->next, 1)) < t->last) {
        w->bad_doc = i;
        w->status = t->work(w, i);
    }
}

static void *thread_main(void *context) {
    struct bench_worker *w = context;
    struct bench_threads *t = w->crew->threads;
    unsigned long seen = 0;

    (void)pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->round == seen && !t->is_over) (void)pthread_cond_wait(&t->wake, &t->lock);
        if (t->is_over) break;
        seen = t->round;
        (void)pthread_mutex_unlock(&t->lock);
        work_on(w);
        (void)pthread_mutex_lock(&t->lock);
        if (--t->busy == 0) (void)pthread_cond_signal(&t->done);
    }
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

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
    struct bench_threads *t = c->threads = cli_alloc(sizeof *t);
    dstok_status status;
    size_t i;

    memset(t, 0, sizeof *t);
    atomic_init(&t->next, 0);
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->wake, NULL);
    (void)pthread_cond_init(&t->done, NULL);
    t->handles = cli_alloc(n_threads * sizeof *t->handles);
    status = make_workers(c, n_threads);
    for (i = 1; i < n_threads && status == DSTOK_OK; i++, t->n++)
        if (pthread_create(&t->handles[i], NULL, thread_main, &c->workers[i]) != 0) cannot_start(n_threads);
    return status;
}

void bench_crew_stop(struct bench_crew *c) {
    struct bench_threads *t = c->threads;
    size_t i;

    if (t == NULL) return;
    (void)pthread_mutex_lock(&t->lock);
    t->is_over = 1;
    (void)pthread_cond_broadcast(&t->wake);
    (void)pthread_mutex_unlock(&t->lock);
    for (i = 1; i <= t->n; i++) (void)pthread_join(t->handles[i], NULL);
    for (i = 0; i < c->n_workers; i++) {
        dstok_encoder_free(c->workers[i].enc);
        cli_buf_free(&c->workers[i].bytes);
    }
    (void)pthread_cond_destroy(&t->wake);
    (void)pthread_cond_destroy(&t->done);
    (void)pthread_mutex_destroy(&t->lock);
    free(t->handles);
    free(t);
    free(c->workers);
}

const struct bench_worker *bench_crew_run(struct bench_crew *c, bench_work *work, size_t n) {
    struct bench_threads *t = c->threads;

    (void)pthread_mutex_lock(&t->lock);
    t->work = work;
    t->last = n;
    atomic_store(&t->next, 0);
    t->busy = t->n;
    t->round++;
    (void)pthread_cond_broadcast(&t->wake);
    (void)pthread_mutex_unlock(&t->lock);
    work_on(&c->workers[0]);
    (void)pthread_mutex_lock(&t->lock);
    while (t->busy > 0) (void)pthread_cond_wait(&t->done, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
    return failed_worker(c);
}
