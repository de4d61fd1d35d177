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

dstok_status bench_encode(struct bench_worker *w, const char *text, size_t len, struct bench_ids *ids) {
    dstok_tokens t;
    dstok_status status = dstok_encode_view(w->enc, text, len, w->pool->options, &t, &w->err);

    if (status != DSTOK_OK || t.n == 0) return status;
    if (t.n > ids->cap - ids->n) {
        ids->cap = ids->cap + ids->cap / 2 + t.n;
        ids->p = cli_realloc(ids->p, ids->cap * sizeof *ids->p);
    }
    memcpy(ids->p + ids->n, t.ids, t.n * sizeof *ids->p);
    ids->n += t.n;
    return DSTOK_OK;
}

static void work_on(struct bench_worker *w) {
    struct bench_threads *t = w->pool->threads;
    size_t i;

    while (w->status == DSTOK_OK && (i = atomic_fetch_add(&t->next, 1)) < t->last) {
        w->bad_doc = i;
        w->status = t->work(w, &w->pool->docs[i]);
    }
}

/* What the first call costs besides the text is no part of any pass. */
static void first_call(struct bench_worker *w) {
    dstok_encoder_options options = DSTOK_ENCODER_OPTIONS_INIT;

    options.simd = w->pool->simd;
    w->status = dstok_encoder_new_with(w->pool->tok, &options, &w->enc, &w->err);
    if (w->status == DSTOK_OK) w->status = bench_encode(w, "a", 1, &w->ids);
}

static void *thread_main(void *context) {
    struct bench_worker *w = context;
    struct bench_threads *t = w->pool->threads;
    unsigned long seen = 0;

    first_call(w);
    (void)pthread_mutex_lock(&t->lock);
    for (;;) {
        if (--t->busy == 0) (void)pthread_cond_signal(&t->done);
        while (t->round == seen && !t->is_over) (void)pthread_cond_wait(&t->wake, &t->lock);
        if (t->is_over) break;
        seen = t->round;
        (void)pthread_mutex_unlock(&t->lock);
        work_on(w);
        (void)pthread_mutex_lock(&t->lock);
    }
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void wait_for_all(struct bench_threads *t) {
    (void)pthread_mutex_lock(&t->lock);
    while (t->busy > 0) (void)pthread_cond_wait(&t->done, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
}

/* The failure that comes first in the text: the same one for every number of threads. */
static const struct bench_worker *failed_worker(const struct bench_pool *p) {
    const struct bench_worker *first = NULL;
    size_t i;

    for (i = 0; i < p->n_workers; i++) {
        const struct bench_worker *w = &p->workers[i];

        if (w->status != DSTOK_OK && (first == NULL || w->bad_doc < first->bad_doc)) first = w;
    }
    return first;
}

static void make_workers(struct bench_pool *p, size_t n) {
    size_t i;

    p->n_workers = n;
    p->workers = cli_alloc(n * sizeof *p->workers);
    memset(p->workers, 0, n * sizeof *p->workers);
    for (i = 0; i < n; i++) {
        p->workers[i].pool = p;
        p->workers[i].index = i;
        p->workers[i].err.offset = DSTOK_NO_OFFSET;
    }
}

/* Fewer threads than asked for would measure something else. */
static void cannot_start(size_t n_threads) {
    cli_error("cannot start %zu threads", n_threads);
    _exit(CLI_FAIL);
}

dstok_status bench_pool_start(struct bench_pool *p, size_t n_threads) {
    struct bench_threads *t = p->threads = cli_alloc(sizeof *t);
    const struct bench_worker *failed;
    size_t i;

    memset(t, 0, sizeof *t);
    atomic_init(&t->next, 0);
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->wake, NULL);
    (void)pthread_cond_init(&t->done, NULL);
    make_workers(p, n_threads);
    t->handles = cli_alloc(n_threads * sizeof *t->handles);
    t->busy = n_threads - 1;
    for (i = 1; i < n_threads; i++, t->n++)
        if (pthread_create(&t->handles[i], NULL, thread_main, &p->workers[i]) != 0) cannot_start(n_threads);
    first_call(&p->workers[0]);
    wait_for_all(t);
    failed = failed_worker(p);
    return failed ? failed->status : DSTOK_OK;
}

void bench_pool_stop(struct bench_pool *p) {
    struct bench_threads *t = p->threads;
    size_t i;

    (void)pthread_mutex_lock(&t->lock);
    t->is_over = 1;
    (void)pthread_cond_broadcast(&t->wake);
    (void)pthread_mutex_unlock(&t->lock);
    for (i = 1; i <= t->n; i++) (void)pthread_join(t->handles[i], NULL);
    for (i = 0; i < p->n_workers; i++) {
        dstok_encoder_free(p->workers[i].enc);
        free(p->workers[i].ids.p);
        cli_buf_free(&p->workers[i].bytes);
    }
    (void)pthread_cond_destroy(&t->wake);
    (void)pthread_cond_destroy(&t->done);
    (void)pthread_mutex_destroy(&t->lock);
    free(t->handles);
    free(t);
    free(p->workers);
}

const struct bench_worker *bench_pool_run(struct bench_pool *p, bench_work *work, size_t first, size_t last) {
    struct bench_threads *t = p->threads;

    t->work = work;
    t->last = last;
    atomic_store(&t->next, first);
    if (t->n > 0) {
        (void)pthread_mutex_lock(&t->lock);
        t->busy = t->n;
        t->round++;
        (void)pthread_cond_broadcast(&t->wake);
        (void)pthread_mutex_unlock(&t->lock);
    }
    work_on(&p->workers[0]);
    wait_for_all(t);
    return failed_worker(p);
}
