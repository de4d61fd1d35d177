/* SPDX-License-Identifier: MIT */
/* The life of a pool: wrong arguments, failing memory, memory that stays, signals, calls at the same time, fork(). */
#include "../../tokenizer/bpe/pool.h"
#include "../harness/heap.h"
#include "../oracle/fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static dstok_pool *make_pool(const dstok_tokenizer *tok, size_t n_threads) {
    dstok_pool_options o = DSTOK_POOL_OPTIONS_INIT;
    dstok_pool *pool = NULL;
    o.n_threads = n_threads;
    CHECK_EQ(dstok_pool_new(tok, &o, &pool, NULL), DSTOK_OK);
    if (pool == NULL) exit(1);
    return pool;
}

/* ---- wrong arguments ---- */

static void check_told(dstok_status status, const dstok_error *err, const char *word) {
    CHECK_EQ(status, DSTOK_E_INVAL);
    CHECK_EQ(err->status, DSTOK_E_INVAL);
    CHECK(strstr(err->text, word) != NULL);
}

static void test_wrong_pools(const dstok_tokenizer *tok) {
    dstok_pool_options o = DSTOK_POOL_OPTIONS_INIT;
    dstok_pool *pool = NULL;
    dstok_error err = {0};
    check_told(dstok_pool_new(NULL, &o, &pool, &err), &err, "NULL");
    check_told(dstok_pool_new(tok, &o, NULL, &err), &err, "NULL");
    o.n_threads = DSTOK_MAX_THREADS + 1;
    check_told(dstok_pool_new(tok, &o, &pool, &err), &err, "at most 1024");
    o.struct_size = sizeof o - 1;
    check_told(dstok_pool_new(tok, &o, &pool, &err), &err, "DSTOK_POOL_OPTIONS_INIT");
    CHECK(pool == NULL);
    dstok_pool_free(NULL);
    CHECK_EQ(dstok_pool_new(tok, NULL, &pool, NULL), DSTOK_OK);
    CHECK_EQ(dstok_pool_threads(pool), dstok__cpus());
    dstok_pool_free(pool);
}

static void test_wrong_calls(const dstok_tokenizer *tok, size_t n_threads) {
    static const dstok_doc docs[] = {{"hello", 5}, {NULL, 0}};
    dstok_pool *pool = make_pool(tok, n_threads);
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_batch b = DSTOK_BATCH_INIT, none = DSTOK_BATCH_INIT;
    dstok_error err = {0};
    uint64_t total = 77;
    check_told(dstok_pool_encode(NULL, docs, 2, NULL, &b, &err), &err, "NULL");
    check_told(dstok_pool_encode(pool, NULL, 2, NULL, &b, &err), &err, "NULL");
    check_told(dstok_pool_encode(pool, docs, 2, NULL, NULL, &err), &err, "batch is NULL");
    check_told(dstok_pool_count(pool, NULL, 1, NULL, NULL, &total, &err), &err, "NULL");
    options.special = 99;
    check_told(dstok_pool_encode(pool, docs, 2, &options, &b, &err), &err, "unknown value of special");
    check_told(dstok_pool_count(pool, NULL, 0, &options, NULL, &total, &err), &err,
               "unknown value of special");
    CHECK_EQ(dstok_pool_failed(pool), SIZE_MAX); /* no document's fault */
    CHECK_EQ(total, 77);
    CHECK_MEM(&b, &none, sizeof b);
    b.struct_size = sizeof b - 8;
    check_told(dstok_pool_encode(pool, docs, 2, NULL, &b, &err), &err, "DSTOK_BATCH_INIT");
    b.struct_size = sizeof b;
    CHECK_EQ(dstok_pool_encode(pool, NULL, 0, NULL, &b, NULL), DSTOK_OK);
    CHECK_EQ(b.n, 0);
    CHECK_EQ(b.offsets[0], 0);
    CHECK_EQ(dstok_pool_encode(pool, docs, 2, NULL, &b, NULL), DSTOK_OK);
    CHECK_EQ(b.n_docs, 2);
    CHECK_EQ(b.offsets[2], 1);
    CHECK_EQ(dstok_pool_count(pool, docs, 2, NULL, NULL, NULL, NULL), DSTOK_OK);
    CHECK_EQ(dstok_pool_report(pool, 1)->first_unknown, DSTOK_NO_OFFSET);
    CHECK(dstok_pool_report(pool, 2) == NULL);
    CHECK_EQ(dstok_pool_count(pool, docs, 2, &options, NULL, NULL, NULL), DSTOK_E_INVAL);
    CHECK(dstok_pool_report(pool, 0) == NULL);
    dstok_pool_free(pool);
}

/* ---- memory ---- */

static struct shared_heap {
    pthread_mutex_t lock; /* around what is for one thread */
    t_heap heap;
    dstok_alloc inner;
    void (*called)(void); /* from within the allocator */
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *shared_alloc(void *ctx, size_t n) {
    (void)ctx;
    if (shared.called != NULL) shared.called();
    pthread_mutex_lock(&shared.lock);
    void *p = shared.inner.alloc(&shared.heap, n);
    pthread_mutex_unlock(&shared.lock);
    return p;
}

static void *shared_realloc(void *ctx, void *p, size_t old, size_t n) {
    (void)ctx;
    pthread_mutex_lock(&shared.lock);
    void *q = shared.inner.realloc(&shared.heap, p, old, n);
    pthread_mutex_unlock(&shared.lock);
    return q;
}

static void shared_free(void *ctx, void *p, size_t n) {
    (void)ctx;
    pthread_mutex_lock(&shared.lock);
    shared.inner.free(&shared.heap, p, n);
    pthread_mutex_unlock(&shared.lock);
}

static dstok_tokenizer *load_counted(const char *normalizer) {
    static const dstok_alloc al = {shared_alloc, shared_realloc, shared_free, NULL};
    fixture f = fixture_words;
    f.normalizer = normalizer;
    shared.heap = (t_heap){0};
    shared.inner = t_heap_alloc(&shared.heap);
    return fixture_load(&f, &al);
}

static uint8_t *text;
static size_t n_text;

/* Words of random letters, of which no two need be the same. */
static void make_words(size_t n) {
    t_rng rng = {7};
    text = realloc(text, n_text = n);
    if (text == NULL) exit(1);
    for (size_t i = 0; i < n; i++) text[i] = t_below(&rng, 7) == 0 ? ' ' : (uint8_t)('a' + t_below(&rng, 26));
}

/* The text as documents of `each` bytes, and one of all. */
static size_t cut_text(dstok_doc *docs, size_t max, size_t each) {
    size_t n = 0;
    for (size_t at = 0; at + each <= n_text && n + 1 < max; at += each)
        docs[n++] = (dstok_doc){text + at, each};
    docs[n++] = (dstok_doc){text, n_text};
    return n;
}

static bool is_same(const dstok_batch *b, const dstok_batch *want) {
    return b->n == want->n && memcmp(b->ids, want->ids, b->n * sizeof *b->ids) == 0 &&
           memcmp(b->offsets, want->offsets, (b->n_docs + 1) * sizeof *b->offsets) == 0 &&
           memcmp(b->spans, want->spans, b->n * sizeof *b->spans) == 0;
}

/* Everything from the pool's making on with the k-th allocation failing: an error or the right result, nothing lost. */
static bool check_failing(const dstok_tokenizer *tok, size_t n_threads, size_t k, const dstok_batch *want) {
    dstok_pool_options o = DSTOK_POOL_OPTIONS_INIT;
    dstok_pool *pool = NULL;
    dstok_batch b = DSTOK_BATCH_INIT;
    dstok_error err = {0};
    dstok_doc docs[40];
    size_t live = shared.heap.live, n = cut_text(docs, 40, 200);
    o.n_threads = n_threads;
    shared.heap.calls = 0;
    shared.heap.fail_at = k;
    dstok_status status = dstok_pool_new(tok, &o, &pool, &err);
    if (status == DSTOK_OK) {
        pool->sizes = (dstok__pool_sizes){200, 400, 1000};
        status = dstok_pool_encode(pool, docs, n, NULL, &b, &err);
    }
    bool failed = shared.heap.calls >= k;
    CHECK(status == DSTOK_OK || (failed && status == DSTOK_E_NOMEM && err.status == status));
    CHECK(status == DSTOK_OK ? is_same(&b, want) : b.ids == NULL);
    shared.heap.fail_at = 0;
    if (pool != NULL) CHECK_EQ(dstok_pool_encode(pool, docs, n, NULL, &b, NULL), DSTOK_OK);
    if (pool != NULL) CHECK(is_same(&b, want));
    dstok_pool_free(pool);
    CHECK_EQ(shared.heap.live, live);
    return failed;
}

static void test_failing_memory(void) {
    dstok_tokenizer *tok = load_counted("{\"type\":\"Lowercase\"}"),
                    *plain = fixture_load(&fixture_words, NULL);
    dstok_pool *pool = make_pool(plain, 1);
    dstok_batch want = DSTOK_BATCH_INIT;
    dstok_doc docs[40];
    make_words(6000);
    CHECK_EQ(dstok_pool_encode(pool, docs, cut_text(docs, 40, 200), NULL, &want, NULL), DSTOK_OK);
    for (size_t n_threads = 1; n_threads <= 3; n_threads++) {
        size_t k = 1;
        while (check_failing(tok, n_threads, k, &want) && k < 2000) k++;
        CHECK(k > 20 && k < 2000);
        fprintf(stderr, "%zu threads: %zu allocations failed\n", n_threads, k - 1);
    }
    dstok_pool_free(pool);
    dstok_tokenizer_free(plain);
    dstok_tokenizer_free(tok);
    CHECK_EQ(shared.heap.live, 0);
}

static size_t result_bytes(const dstok_pool *p) {
    return p->out.cap_ids * 4 + p->out.cap_spans * 16 + p->out.cap_flags + p->cap_offsets * 8 +
           p->cap_reports * sizeof(dstok_report);
}

/* What each thread keeps stays below 16 MB, its cache included, which fills. */
static void test_kept_memory(void) {
    enum { THREADS = 3, DOCS = 1000 };
    static dstok_doc docs[DOCS];
    dstok_tokenizer *tok = load_counted(NULL);
    size_t live = shared.heap.live_bytes;
    dstok_pool *pool = make_pool(tok, THREADS);
    dstok_batch b = DSTOK_BATCH_INIT;
    make_words((size_t)12 << 20);
    size_t n = cut_text(docs, DOCS, 16384);
    for (int i = 0; i < 2; i++) CHECK_EQ(dstok_pool_encode(pool, docs, n, NULL, &b, NULL), DSTOK_OK);
    size_t kept = shared.heap.live_bytes - live - result_bytes(pool), most = 0;
    for (size_t i = 0; i < THREADS; i++)
        if (pool->workers[i].enc->fast->cache.bits > most) most = pool->workers[i].enc->fast->cache.bits;
    fprintf(stderr, "%zu threads keep %.1f MB each; the largest cache has 2^%zu slots\n", (size_t)THREADS,
            (double)kept / THREADS / (1 << 20), most);
    CHECK(kept <= THREADS * ((size_t)16 << 20));
    CHECK(most >= 16);
    CHECK(result_bytes(pool) <= b.n * 21 * 2 + n * 100 + 4096);
    dstok_pool_free(pool);
    dstok_tokenizer_free(tok);
    CHECK_EQ(shared.heap.live, 0);
}

/* ---- one call at a time ---- */

static dstok_pool *busy;
static dstok_status busy_status;
static atomic_flag busy_asked = ATOMIC_FLAG_INIT;

static void call_again(void) {
    static const dstok_doc doc = {"hello", 5};
    dstok_error err = {0};
    if (busy == NULL || atomic_flag_test_and_set(&busy_asked)) return;
    busy_status = dstok_pool_count(busy, &doc, 1, NULL, NULL, NULL, &err);
}

static void test_busy(void) {
    dstok_tokenizer *tok = load_counted(NULL);
    dstok_doc docs[40];
    dstok_batch b = DSTOK_BATCH_INIT;
    shared.called = call_again;
    make_words(600000);
    dstok_pool *pool = make_pool(tok, 2);
    busy = pool;
    CHECK_EQ(dstok_pool_encode(pool, docs, cut_text(docs, 40, 2000), NULL, &b, NULL), DSTOK_OK);
    CHECK_EQ(busy_status, DSTOK_E_STATE);
    busy = NULL;
    shared.called = NULL;
    dstok_pool_free(pool);
    dstok_tokenizer_free(tok);
}

/* ---- signals ---- */

static volatile sig_atomic_t n_signals;

static void on_signal(int number) {
    (void)number;
    n_signals++;
}

/* One that no other thread takes stays pending: the pool's do not. */
static void test_signals(const dstok_tokenizer *tok) {
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t one, before, pending;
    dstok_pool *pool = make_pool(tok, 4);
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, &before), 0);
    CHECK_EQ(sigismember(&before, SIGUSR1), 0); /* the pool left the mask of its maker as it was */
    CHECK_EQ(kill(getpid(), SIGUSR1), 0);
    const struct timespec wait = {0, 20000000};
    nanosleep(&wait, NULL);
    CHECK_EQ(sigpending(&pending), 0);
    CHECK_EQ(sigismember(&pending, SIGUSR1), 1);
    CHECK_EQ(n_signals, 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    CHECK_EQ(n_signals, 1);
    dstok_pool_free(pool);
}

/* ---- fork ---- */

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define CHILD_THREADS 1 /* its runtime ends a child that makes threads */
#endif
#endif
#ifndef CHILD_THREADS
#define CHILD_THREADS 2
#endif

/* What a child may do: told off with the parent's pool, which it can free, it makes its own. */
static int child(const dstok_tokenizer *tok, dstok_pool *pool, const dstok_doc *docs, size_t n,
                 uint64_t right) {
    dstok_batch b = DSTOK_BATCH_INIT;
    dstok_pool *own = NULL;
    uint64_t total = 0;
    alarm(60);
    if (dstok_pool_encode(pool, docs, n, NULL, &b, NULL) != DSTOK_E_STATE) return 2;
    if (dstok_pool_count(pool, docs, n, NULL, NULL, &total, NULL) != DSTOK_E_STATE) return 3;
    dstok_pool_free(pool);
    dstok_pool_options o = DSTOK_POOL_OPTIONS_INIT;
    o.n_threads = CHILD_THREADS;
    if (dstok_pool_new(tok, &o, &own, NULL) != DSTOK_OK) return 4;
    if (dstok_pool_count(own, docs, n, NULL, NULL, &total, NULL) != DSTOK_OK || total != right) return 5;
    dstok_pool_free(own);
    return 0;
}

static void test_fork(const dstok_tokenizer *tok) {
    dstok_pool *pool = make_pool(tok, 3);
    dstok_doc docs[40];
    uint64_t right = 0, again = 0;
    make_words(1000000);
    size_t n = cut_text(docs, 40, 20000);
    CHECK_EQ(dstok_pool_count(pool, docs, n, NULL, NULL, &right, NULL), DSTOK_OK);
    pid_t pid = fork();
    if (pid == 0) _exit(child(tok, pool, docs, n, right));
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    CHECK_EQ(dstok_pool_count(pool, docs, n, NULL, NULL, &again, NULL), DSTOK_OK);
    CHECK_EQ(again, right);
    dstok_pool_free(pool);
}

int main(void) {
    dstok_tokenizer *tok = fixture_load(&fixture_words, NULL);
    test_wrong_pools(tok);
    test_wrong_calls(tok, 1);
    test_wrong_calls(tok, 3);
    test_failing_memory();
    test_kept_memory();
    test_busy();
    test_signals(tok);
    test_fork(tok);
    dstok_tokenizer_free(tok);
    free(text);
    return t_end();
}
