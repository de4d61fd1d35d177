/* SPDX-License-Identifier: MIT */
/* An example service: tokenizes lines with many threads, in order, within a memory limit. Copy what you need.
 *
 *   cc -std=c11 -O2 -pthread service.c $(pkg-config --cflags --libs dstok) -o service
 *   printf 'Hello\nworld\n' | ./service [-t THREADS] [-m BYTES] [VOCABULARY]
 *
 * Each line of the input gives one line of output: ids, or "!" with the reason why there are none. A bad line never
 * ends the service. Exit code: 0, 1 (could not start or go on), 2 (wrong use), 3 (some lines failed; see the output). */
#define _POSIX_C_SOURCE 200809L
#include <dstok/dstok.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 256, SLOTS = 512, KEEP = 1 << 14 };

/* ---- memory: counts what is in use and refuses what would pass the limit; called from all threads */
struct memory {
    size_t limit;
    atomic_size_t used, peak;
};

static int take(struct memory *m, size_t n) {
    size_t used = atomic_load(&m->used), peak;

    do
        if (n > m->limit - used) return 0;
    while (!atomic_compare_exchange_weak(&m->used, &used, used + n));
    for (peak = atomic_load(&m->peak); peak < used + n;)
        if (atomic_compare_exchange_weak(&m->peak, &peak, used + n)) break;
    return 1;
}

static void *memory_realloc(void *ctx, void *p, size_t old, size_t n) {
    struct memory *m = ctx;
    void *q;

    if (n > old && !take(m, n - old)) return NULL;
    q = realloc(p, n);
    if (q == NULL && n > old) atomic_fetch_sub(&m->used, n - old);
    if (q != NULL && n < old) atomic_fetch_sub(&m->used, old - n);
    return q;
}

static void *memory_alloc(void *ctx, size_t n) { return memory_realloc(ctx, NULL, 0, n); }

static void memory_free(void *ctx, void *p, size_t n) {
    free(p);
    atomic_fetch_sub(&((struct memory *)ctx)->used, n);
}

/* ---- text that grows, in the same memory */
struct text {
    char *p;
    size_t n, cap;
};

static int reserve(struct memory *m, struct text *t, size_t more) {
    size_t cap = t->n + more > 2 * t->cap ? t->n + more : 2 * t->cap;
    char *p;

    if (t->n + more <= t->cap) return 1;
    if ((p = memory_realloc(m, t->p, t->cap, cap)) == NULL) return 0;
    t->p = p, t->cap = cap;
    return 1;
}

static void discard(struct memory *m, struct text *t) {
    if (t->p != NULL) memory_free(m, t->p, t->cap);
    memset(t, 0, sizeof *t);
}

/* ---- the service: a ring of lines. The main thread reads them, workers encode them, the writer writes in order */
struct job {
    struct text line, out; /* out is empty where there was no memory for an answer */
    size_t n_tokens;
    int no_memory, failed, done;
};

struct service {
    struct memory memory;
    dstok_tokenizer *tok; /* shared by all threads */
    struct job ring[SLOTS];
    size_t n_read, n_taken, n_written; /* lines; the first of them is never the smaller one */
    size_t n_failed, n_tokens;
    int closing, broken;
    pthread_mutex_t lock; /* guards all of the above but the jobs, each of which one thread owns at a time */
    pthread_cond_t work, done, room;
};

static int print_ids(struct memory *m, struct text *out, const dstok_tokens *t) {
    if (!reserve(m, out, 11 * t->n + 2)) return 0;
    for (size_t i = 0; i < t->n; i++)
        out->n += (size_t)snprintf(out->p + out->n, 12, i ? " %u" : "%u", (unsigned)t->ids[i]);
    out->p[out->n++] = '\n';
    return 1;
}

/* The ids of a line, or the reason why there are none. The encoder is this thread's own, made when it is needed. */
static void answer(struct service *s, dstok_encoder **enc, struct job *job) {
    dstok_error err = {0};
    dstok_tokens t = {0};
    char why[400];
    int status = job->no_memory ? DSTOK_E_NOMEM : DSTOK_OK;

    if (status == DSTOK_OK && *enc == NULL) status = dstok_encoder_new(s->tok, enc);
    /* NULL options: no control token comes from the text, invalid UTF-8 is an error. */
    if (status == DSTOK_OK) status = dstok_encode_view(*enc, job->line.p, job->line.n, NULL, &t, &err);
    if (status == DSTOK_OK && !print_ids(&s->memory, &job->out, &t)) status = DSTOK_E_NOMEM;
    job->failed = status != DSTOK_OK;
    job->n_tokens = job->failed ? 0 : t.n;
    if (status == DSTOK_E_NOMEM) {
        dstok_encoder_free(*enc), *enc = NULL; /* what it had grown to may be what others need */
    } else if (job->failed) {
        int n = snprintf(why, sizeof why, "!%s at byte %llu: %s\n", dstok_status_name(status),
                         (unsigned long long)(err.offset == DSTOK_NO_OFFSET ? 0 : err.offset), err.text);
        if (reserve(&s->memory, &job->out, (size_t)n)) memcpy(job->out.p, why, job->out.n = (size_t)n);
    }
}

static void *worker(void *arg) {
    struct service *s = arg;
    dstok_encoder *enc = NULL;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        struct job *job;

        while (s->n_taken == s->n_read && !s->closing) pthread_cond_wait(&s->work, &s->lock);
        if (s->n_taken == s->n_read) break;
        job = &s->ring[s->n_taken++ % SLOTS];
        pthread_mutex_unlock(&s->lock);
        answer(s, &enc, job);
        pthread_mutex_lock(&s->lock);
        job->done = 1;
        pthread_cond_signal(&s->done);
    }
    pthread_mutex_unlock(&s->lock);
    dstok_encoder_free(enc);
    return NULL;
}

static int write_out(struct service *s, struct job *job) {
    if (job->out.n) fwrite(job->out.p, 1, job->out.n, stdout);
    else fputs("!DSTOK_E_NOMEM: the memory limit was met\n", stdout);
    if (job->line.cap > KEEP) discard(&s->memory, &job->line);
    if (job->out.cap > KEEP) discard(&s->memory, &job->out);
    return !ferror(stdout);
}

static void *writer(void *arg) {
    struct service *s = arg;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        struct job *job = &s->ring[s->n_written % SLOTS];
        int good, idle;

        while (s->n_written == s->n_read ? !s->closing : !job->done) pthread_cond_wait(&s->done, &s->lock);
        if (s->n_written == s->n_read) break;
        idle = s->n_written + 1 == s->n_read || !s->ring[(s->n_written + 1) % SLOTS].done; /* someone may wait */
        pthread_mutex_unlock(&s->lock);
        good = write_out(s, job) && (!idle || fflush(stdout) == 0);
        pthread_mutex_lock(&s->lock);
        s->broken |= !good;
        s->n_written++, s->n_tokens += job->n_tokens, s->n_failed += (size_t)job->failed;
        pthread_cond_signal(&s->room);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* 0 at the end of the input. A line that finds no memory is read to its end and answered with that. */
static int read_line(struct memory *m, struct job *job) {
    int c;

    job->line.n = job->out.n = 0, job->no_memory = job->done = 0;
    while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
        if (job->no_memory) continue;
        if (reserve(m, &job->line, 1)) job->line.p[job->line.n++] = (char)c;
        else discard(m, &job->line), job->no_memory = 1;
    }
    return c != EOF || job->line.n || job->no_memory;
}

/* All lines of the input; 0 when there is nobody left to write to. */
static int serve(struct service *s) {
    for (;;) {
        int broken;

        pthread_mutex_lock(&s->lock);
        while (s->n_read - s->n_written == SLOTS) pthread_cond_wait(&s->room, &s->lock);
        broken = s->broken;
        pthread_mutex_unlock(&s->lock);
        if (broken || !read_line(&s->memory, &s->ring[s->n_read % SLOTS])) return !broken;
        pthread_mutex_lock(&s->lock);
        s->n_read++;
        pthread_cond_signal(&s->work);
        pthread_cond_signal(&s->done); /* the writer may wait for a line to be read */
        pthread_mutex_unlock(&s->lock);
    }
}

static int load(struct service *s, const char *vocabulary) {
    dstok_alloc alloc = {memory_alloc, memory_realloc, memory_free, &s->memory};
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    dstok_error err = {0};
    int status;

    options.alloc = &alloc; /* encoders made from the tokenizer use it too */
    status = vocabulary ? dstok_tokenizer_load(vocabulary, &options, &s->tok, &err)
                        : dstok_tokenizer_load_default(&options, &s->tok, &err);
    if (status != DSTOK_OK) fprintf(stderr, "service: %s: %s\n", dstok_status_name(status), err.text);
    return status == DSTOK_OK;
}

static int usage(FILE *out) {
    fputs("usage: service [-t THREADS] [-m BYTES] [VOCABULARY] < lines > ids\n\n"
          "Tokenizes each line of standard input: a line of ids, or \"!\" and the reason why there are none.\n\n"
          "  -t THREADS    1 to 256 (default 2)\n"
          "  -m BYTES      memory that the tokenizer, encoders and buffers may take (default no limit)\n"
          "  VOCABULARY    a vocabulary file (default the one inside the library)\n\n"
          "exit codes: 0 done, 1 could not start or go on, 2 wrong use, 3 some lines failed\n", out);
    return out == stdout ? 0 : 2;
}

int main(int argc, char **argv) {
    static struct service s = {.memory.limit = SIZE_MAX, .lock = PTHREAD_MUTEX_INITIALIZER,
        .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER, .room = PTHREAD_COND_INITIALIZER};
    pthread_t threads[MAX_THREADS + 1];
    int c, rc = 0, n_threads = 2, started = 0;

    if (argc > 1 && strcmp(argv[1], "--help") == 0) return usage(stdout);
    while ((c = getopt(argc, argv, "t:m:h")) != -1)
        if (c == 't') n_threads = atoi(optarg);
        else if (c == 'm') s.memory.limit = (size_t)strtoull(optarg, NULL, 10);
        else return usage(c == 'h' ? stdout : stderr);
    if (argc - optind > 1) return usage(stderr);
    if (n_threads < 1 || n_threads > MAX_THREADS) return fprintf(stderr, "service: -t 1 to %d\n", MAX_THREADS), 2;
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error of fwrite */
    if (!load(&s, argv[optind])) rc = 1;
    while (rc == 0 && started <= n_threads) /* the first is the writer */
        if (pthread_create(&threads[started], NULL, started ? worker : writer, &s) != 0) rc = 1, perror("service");
        else started++;
    if (rc == 0 && !serve(&s)) rc = 1;
    pthread_mutex_lock(&s.lock);
    s.closing = 1;
    pthread_cond_broadcast(&s.work), pthread_cond_broadcast(&s.done);
    pthread_mutex_unlock(&s.lock);
    while (started) pthread_join(threads[--started], NULL);
    if (fflush(stdout) != 0 || s.broken) fputs("service: the output cannot be written\n", stderr), rc = 1;
    for (c = 0; c < SLOTS; c++) discard(&s.memory, &s.ring[c].line), discard(&s.memory, &s.ring[c].out);
    dstok_tokenizer_free(s.tok);
    fprintf(stderr, "service: %zu lines, %zu failed, %zu tokens; memory: peak %zu, left %zu bytes\n",
            s.n_written, s.n_failed, s.n_tokens, atomic_load(&s.memory.peak), atomic_load(&s.memory.used));
    return rc ? rc : s.n_failed ? 3 : 0;
}
