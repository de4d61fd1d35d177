/* SPDX-License-Identifier: MIT */
/* Threads that wait for work. A job is a number of tasks that anyone may take; one word has the number of
 * the job above and the next task below, so that a thread that comes late can take nothing of a job that it
 * does not know. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cpu/cpu.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 1024u
#define SPINS                                                                                                \
    2000 /* looks before a thread goes to sleep: about the time between two operations of decoding */

typedef void task_function(void *arg, size_t i);

struct dsx__workers {
    pthread_mutex_t busy; /* held by the caller whose job it is */
    pthread_mutex_t lock; /* of sleep and wake */
    pthread_cond_t wake;
    _Atomic uint64_t state; /* job << 32 | next task */
    _Atomic(task_function *) task;
    _Atomic(void *) arg;
    _Atomic uint32_t n_tasks, n_done, n_asleep;
    atomic_bool stop;
    size_t n_threads; /* beside the caller */
    pthread_t threads[];
};

static void pause_a_little(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Takes tasks of the job that s names until none is left. */
static void take_tasks(dsx__workers *w, uint64_t s) {
    uint64_t job = s >> 32;
    task_function *task = atomic_load(&w->task);
    void *arg = atomic_load(&w->arg);
    uint32_t n = atomic_load(&w->n_tasks);

    while (s >> 32 == job && (uint32_t)s < n) {
        if (!atomic_compare_exchange_weak(&w->state, &s, s + 1)) continue;
        task(arg, (uint32_t)s);
        atomic_fetch_add(&w->n_done, 1);
        s = atomic_load(&w->state);
    }
}

/* The state once it names another job than `seen`, or when it is time to stop. */
static uint64_t wait_for_job(dsx__workers *w, uint64_t seen) {
    uint64_t s;

    for (int i = 0; i < SPINS; i++) {
        s = atomic_load(&w->state);
        if (s >> 32 != seen) return s;
        pause_a_little();
    }
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add(&w->n_asleep, 1);
    while (s = atomic_load(&w->state), s >> 32 == seen && !atomic_load(&w->stop))
        pthread_cond_wait(&w->wake, &w->lock);
    atomic_fetch_sub(&w->n_asleep, 1);
    pthread_mutex_unlock(&w->lock);
    return s;
}

static void *work(void *arg) {
    dsx__workers *w = arg;

    for (uint64_t seen = 0; !atomic_load(&w->stop);) {
        uint64_t s = wait_for_job(w, seen);

        seen = s >> 32;
        if (!atomic_load(&w->stop)) take_tasks(w, s);
    }
    return NULL;
}

static void wake_all(dsx__workers *w) {
    pthread_mutex_lock(&w->lock);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void dsx__workers_run(dsx__workers *w, size_t n, task_function *task, void *arg) {
    if (n <= 1 || n > UINT32_MAX || w->n_threads == 0 || pthread_mutex_trylock(&w->busy) != 0) {
        for (size_t i = 0; i < n; i++) task(arg, i);
        return;
    }
    uint64_t closed = ((atomic_load(&w->state) >> 32) + 1) << 32, job = closed + ((uint64_t)1 << 32);

    /* A number without tasks comes between two jobs: who still looks at the job before cannot take a task
     * of it while the words below change. */
    atomic_store(&w->state, closed | UINT32_MAX);
    atomic_store(&w->task, task);
    atomic_store(&w->arg, arg);
    atomic_store(&w->n_tasks, (uint32_t)n);
    atomic_store(&w->n_done, 0);
    atomic_store(&w->state, job);
    if (atomic_load(&w->n_asleep) > 0) wake_all(w);
    take_tasks(w, job);
    for (int i = 0; atomic_load(&w->n_done) < n; i++) {
        pause_a_little();
        if (i > SPINS) sched_yield();
    }
    pthread_mutex_unlock(&w->busy);
}

static size_t count_cpus(void) {
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0) return (size_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (size_t)n : 1;
}

dsx__workers *dsx__workers_new(size_t n_threads) {
    if (n_threads == 0) n_threads = count_cpus();
    if (n_threads > MAX_THREADS) n_threads = MAX_THREADS;
    dsx__workers *w = calloc(1, sizeof *w + n_threads * sizeof *w->threads);

    if (w == NULL) return NULL;
    pthread_mutex_init(&w->busy, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    while (w->n_threads + 1 < n_threads && pthread_create(&w->threads[w->n_threads], NULL, work, w) == 0)
        w->n_threads++; /* fewer threads than wished for: slower, not wrong */
    return w;
}

void dsx__workers_free(dsx__workers *w) {
    if (w == NULL) return;
    atomic_store(&w->stop, true);
    wake_all(w);
    for (size_t i = 0; i < w->n_threads; i++) pthread_join(w->threads[i], NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->busy);
    free(w);
}

size_t dsx__workers_count(const dsx__workers *w) {
    return w->n_threads + 1;
}
