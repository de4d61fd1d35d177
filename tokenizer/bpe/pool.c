/* SPDX-License-Identifier: MIT */
/* The threads of a pool: made once, asleep between calls. */
#include "pool.h"

#include "../base/sized.h"

#include <signal.h>
#include <unistd.h>

/* So much of a worker's sink stays from call to call: the tokens of a few blocks. With the cache and what
 * else an encoder has that is less than 16 MB. */
#define KEPT_BYTES ((size_t)3 << 20)

void dstok__pool_lock(dstok_pool *p) {
    (void)pthread_mutex_lock(&p->lock);
}

void dstok__pool_unlock(dstok_pool *p) {
    (void)pthread_mutex_unlock(&p->lock);
}

void dstok__pool_wait(dstok_pool *p) {
    (void)pthread_cond_wait(&p->changed, &p->lock);
}

void dstok__pool_tell(dstok_pool *p) {
    (void)pthread_cond_broadcast(&p->changed);
}

/* ---- a call ---- */

static void run_block(dstok__worker *w, size_t i) {
    dstok_pool *p = w->pool;
    if (w->first == NULL) w->enc->out.n = 0; /* all that was there is copied */
    if (p->call.want != DSTOK__WANT_COUNT) {
        w->unit = &p->units[i];
        w->unit->from = w->enc->out.n;
    }
    bool is_good = dstok__pool_documents(w, p->blocks[i], p->blocks[i + 1]);
    dstok__pool_lock(p);
    if (is_good && w->unit != NULL) dstok__unit_done(w, w->unit, w->unit->from);
    while (dstok__unit_copy(w)) {
    }
    p->call.n_blocks_done++;
    dstok__pool_tell(p);
    dstok__pool_unlock(p);
}

/* Is there nothing left for the worker to do? */
static bool is_over(const dstok__worker *w) {
    const dstok__call *c = &w->pool->call;
    return c->n_blocks_done == c->n_blocks && (w->first == NULL || atomic_load(&c->failed) != SIZE_MAX);
}

/* Takes blocks; then helps those who are not done. */
static void work(dstok__worker *w) {
    dstok_pool *p = w->pool;
    for (size_t i; (i = atomic_fetch_add(&p->call.next_block, 1)) < p->call.n_blocks;) run_block(w, i);
    dstok__pool_lock(p);
    while (!is_over(w)) {
        if (dstok__unit_copy(w)) continue;
        dstok__share *s = dstok__share_find(p);
        if (s != NULL) {
            dstok__share_help(w, s);
        } else {
            dstok__pool_wait(p);
        }
    }
    dstok__pool_unlock(p);
}

static void *thread_main(void *arg) {
    dstok__worker *w = arg;
    dstok_pool *p = w->pool;
    uint64_t seen = 0;
    dstok__pool_lock(p);
    for (;;) {
        while (!p->is_ending && !(p->n_wanted > 0 && p->round != seen))
            (void)pthread_cond_wait(&p->wake, &p->lock);
        if (p->is_ending) break;
        seen = p->round;
        p->n_wanted--;
        p->n_inside++;
        dstok__pool_unlock(p);
        work(w);
        dstok__pool_lock(p);
        p->n_inside--;
        dstok__pool_tell(p);
    }
    dstok__pool_unlock(p);
    return NULL;
}

/* What a call needs from each worker. */
static void begin_worker(dstok__worker *w) {
    w->unit = w->first = NULL;
    w->enc->out.n = 0;
    dstok__arena_free(&w->units);
}

static void trim(dstok__worker *w) {
    dstok__sink *s = &w->enc->out;
    size_t n = s->cap_ids * sizeof *s->ids + s->cap_spans * sizeof *s->spans + s->cap_flags;
    if (n > KEPT_BYTES) dstok__sink_free(s);
}

/* How many threads beside the caller's can be of use. */
static size_t wanted(const dstok_pool *p) {
    const dstok__call *c = &p->call;
    size_t most = p->n_workers - 1;
    return c->has_large || c->n_blocks > most ? most : c->n_blocks - 1;
}

void dstok__pool_run(dstok_pool *p) {
    for (size_t i = 0; i < p->n_workers; i++) begin_worker(&p->workers[i]);
    if (p->call.is_alone) {
        (void)dstok__pool_documents(&p->workers[0], 0, p->call.n_docs);
        return;
    }
    dstok__pool_lock(p);
    p->round++;
    p->n_wanted = wanted(p);
    for (size_t i = p->n_wanted; i > 0; i--) (void)pthread_cond_signal(&p->wake);
    dstok__pool_unlock(p);
    work(&p->workers[0]);
    dstok__pool_lock(p);
    p->n_wanted = 0;
    while (p->n_inside > 0) dstok__pool_wait(p);
    dstok__pool_unlock(p);
    for (size_t i = 0; i < p->n_workers; i++) trim(&p->workers[i]);
}

/* ---- life ---- */

/* Signals of the process are for the threads of others. */
static dstok_status start_threads(dstok_pool *p, dstok_error *err) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = 0;
    while (code == 0 && p->n_started + 1 < p->n_workers) {
        dstok__worker *w = &p->workers[p->n_started + 1];
        code = pthread_create(&w->thread, NULL, thread_main, w);
        if (code == 0) p->n_started++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                       "the system makes no more threads: %zu of %zu could be started", p->n_started,
                       p->n_workers - 1);
}

static dstok_status make_workers(dstok_pool *p, size_t n, const dstok_encoder_options *options,
                                 dstok_error *err) {
    p->workers = dstok__alloc_zeroed(p->al, n, sizeof *p->workers);
    if (p->workers == NULL)
        return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for %zu threads", n);
    p->n_workers = n;
    for (size_t i = 0; i < n; i++) {
        dstok__worker *w = &p->workers[i];
        w->pool = p;
        dstok__arena_init(&w->units, p->al, SIZE_MAX);
        DSTOK_TRY(dstok_encoder_new_with(p->tok, options, &w->enc, err));
        w->enc->worker = w;
    }
    return DSTOK_OK;
}

static dstok_status make(const dstok_tokenizer *tok, const dstok_pool_options *options, dstok_pool **out,
                         dstok_error *err) {
    dstok_pool *p = dstok__alloc_zeroed(&tok->al, 1, sizeof *p);
    if (p == NULL) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for a pool");
    p->tok = tok;
    p->al = p->out.al = &tok->al;
    p->sizes = (dstok__pool_sizes){(size_t)64 << 10, (size_t)128 << 10, (size_t)256 << 10};
    p->process = getpid();
    p->failed = SIZE_MAX;
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->wake, NULL);
    (void)pthread_cond_init(&p->changed, NULL);
    atomic_flag_clear(&p->is_busy);
    dstok_status status = make_workers(p, options->n_threads, options->encoder, err);
    if (status == DSTOK_OK) status = start_threads(p, err);
    if (status == DSTOK_OK) {
        *out = p;
    } else {
        dstok_pool_free(p);
    }
    return status;
}

dstok_status dstok_pool_new(const dstok_tokenizer *tok, const dstok_pool_options *options, dstok_pool **out,
                            dstok_error *err) {
    dstok_pool_options o = DSTOK_POOL_OPTIONS_INIT;
    if (tok == NULL || out == NULL)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the tokenizer or out is NULL");
    if (options != NULL) {
        DSTOK_TRY(dstok__sized_check(options, DSTOK__SIZE_TO(dstok_pool_options, encoder), "pool_options",
                                     "DSTOK_POOL_OPTIONS_INIT", err));
        dstok__sized_read(&o, sizeof o, options);
    }
    if (o.n_threads > DSTOK_MAX_THREADS)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "%zu threads; a pool has at most %zu",
                           o.n_threads, DSTOK_MAX_THREADS);
    if (o.n_threads == 0) o.n_threads = dstok__cpus();
    if (o.n_threads > DSTOK_MAX_THREADS) o.n_threads = DSTOK_MAX_THREADS;
    return make(tok, &o, out, err);
}

/* In a child there are no threads to wait for, and a condition that they wait for in the parent cannot be
 * destroyed. */
static void end_threads(dstok_pool *p) {
    if (p->process != getpid()) return;
    dstok__pool_lock(p);
    p->is_ending = true;
    (void)pthread_cond_broadcast(&p->wake);
    dstok__pool_unlock(p);
    for (size_t i = 0; i < p->n_started; i++) (void)pthread_join(p->workers[i + 1].thread, NULL);
    (void)pthread_cond_destroy(&p->wake);
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->lock);
}

void dstok_pool_free(dstok_pool *p) {
    if (p == NULL) return;
    end_threads(p);
    for (size_t i = 0; i < p->n_workers; i++) {
        dstok_encoder_free(p->workers[i].enc);
        dstok__arena_free(&p->workers[i].units);
    }
    dstok__free(p->al, p->workers, p->n_workers * sizeof *p->workers);
    dstok__sink_free(&p->out);
    dstok__free(p->al, p->blocks, p->cap_blocks * sizeof *p->blocks);
    dstok__free(p->al, p->units, p->cap_units * sizeof *p->units);
    dstok__free(p->al, p->offsets, p->cap_offsets * sizeof *p->offsets);
    dstok__free(p->al, p->reports, p->cap_reports * sizeof *p->reports);
    dstok__free(p->al, p, sizeof *p);
}

size_t dstok_pool_threads(const dstok_pool *p) {
    return p->n_workers;
}
