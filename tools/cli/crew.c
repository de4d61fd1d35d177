/* SPDX-License-Identifier: MIT */
/* Threads that share out the items of a round, and sleep between rounds. */
#include "crew.h"
#include "cli.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct helper {
    struct cli_crew *crew;
    pthread_t thread;
};

struct cli_crew {
    size_t size;      /* threads wanted, the caller's among them */
    size_t n_helpers; /* running */
    struct helper *helpers;
    int is_started;
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    unsigned long round; /* rounds given out */
    size_t busy;         /* helpers still in the round */
    int is_over;
    /* the round */
    cli_task *task;
    void *context;
    size_t n;
    atomic_size_t next; /* item to take */
};

struct cli_crew *cli_crew_new(size_t n_threads) {
    struct cli_crew *crew = cli_alloc(sizeof *crew);

    memset(crew, 0, sizeof *crew);
    crew->size = n_threads;
    atomic_init(&crew->next, 0);
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->wake, NULL);
    (void)pthread_cond_init(&crew->done, NULL);
    return crew;
}

size_t cli_crew_size(const struct cli_crew *crew) {
    return crew->size;
}

static void work(struct cli_crew *crew, size_t worker) {
    size_t i;

    while ((i = atomic_fetch_add(&crew->next, 1)) < crew->n) crew->task(crew->context, worker, i);
}

static void *thread_main(void *context) {
    struct helper *h = context;
    struct cli_crew *crew = h->crew;
    unsigned long seen = 0;

    (void)pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->round == seen && !crew->is_over) (void)pthread_cond_wait(&crew->wake, &crew->lock);
        if (crew->is_over) break;
        seen = crew->round;
        (void)pthread_mutex_unlock(&crew->lock);
        work(crew, 1 + (size_t)(h - crew->helpers));
        (void)pthread_mutex_lock(&crew->lock);
        if (--crew->busy == 0) (void)pthread_cond_signal(&crew->done);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

size_t cli_crew_start(struct cli_crew *crew) {
    size_t n = crew->size - 1;

    if (crew->is_started || n == 0) return 1 + crew->n_helpers;
    crew->is_started = 1;
    crew->helpers = cli_alloc(n * sizeof *crew->helpers);
    for (; crew->n_helpers < n; crew->n_helpers++) {
        struct helper *h = &crew->helpers[crew->n_helpers];

        h->crew = crew;
        if (pthread_create(&h->thread, NULL, thread_main, h) != 0) break;
    }
    return 1 + crew->n_helpers;
}

void cli_crew_free(struct cli_crew *crew) {
    size_t i;

    if (crew == NULL) return;
    (void)pthread_mutex_lock(&crew->lock);
    crew->is_over = 1;
    (void)pthread_cond_broadcast(&crew->wake);
    (void)pthread_mutex_unlock(&crew->lock);
    for (i = 0; i < crew->n_helpers; i++) (void)pthread_join(crew->helpers[i].thread, NULL);
    (void)pthread_cond_destroy(&crew->wake);
    (void)pthread_cond_destroy(&crew->done);
    (void)pthread_mutex_destroy(&crew->lock);
    free(crew->helpers);
    free(crew);
}

void cli_crew_run(struct cli_crew *crew, size_t n, cli_task *task, void *context) {
    crew->task = task;
    crew->context = context;
    crew->n = n;
    atomic_store(&crew->next, 0);
    if (n < 2 || cli_crew_start(crew) == 1) {
        work(crew, 0);
        return;
    }
    (void)pthread_mutex_lock(&crew->lock);
    crew->busy = crew->n_helpers;
    crew->round++;
    (void)pthread_cond_broadcast(&crew->wake);
    (void)pthread_mutex_unlock(&crew->lock);
    work(crew, 0);
    (void)pthread_mutex_lock(&crew->lock);
    while (crew->busy > 0) (void)pthread_cond_wait(&crew->done, &crew->lock);
    (void)pthread_mutex_unlock(&crew->lock);
}
