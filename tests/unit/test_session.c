/* SPDX-License-Identifier: MIT */
/* Sessions over a small model with random weights, which the test writes as a file of llama2.c: results do
 * not depend on how tokens are fed, on chunks, threads, forks, or on pages that were found again. */
#include <dsx/dsx.h>

#include "arch/forward.h"
#include "arch/model.h"
#include "cpu/cpu.h"
#include "session/pages.h"
#include "t.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 32, FFN = 48, LAYERS = 2, HEADS = 4, KV_HEADS = 2, VOCAB = 61, CONTEXT = 1024, N = 600 };

static char folder[] = "session_XXXXXX", path[64];
static uint32_t ids[N];

static void put_floats(FILE *f, t_rng *rng, size_t n, double scale, double mean) {
    for (size_t i = 0; i < n; i++) {
        float x = (float)(mean + scale * ((double)t_below(rng, 2001) / 1000 - 1));

        CHECK(fwrite(&x, sizeof x, 1, f) == 1);
    }
}

static void write_model(void) {
    int32_t head[7] = {WIDTH, FFN, LAYERS, HEADS, KV_HEADS, VOCAB, CONTEXT};
    size_t kv = WIDTH / HEADS * KV_HEADS;
    t_rng rng = {7};
    FILE *f;

    if (mkdtemp(folder) == NULL) exit(1);
    snprintf(path, sizeof path, "%s/model.bin", folder);
    f = fopen(path, "wb");
    if (f == NULL) exit(1);
    CHECK(fwrite(head, sizeof head, 1, f) == 1);
    put_floats(f, &rng, VOCAB * WIDTH, 1, 0);
    put_floats(f, &rng, LAYERS * WIDTH, 0.2, 1);
    put_floats(f, &rng, LAYERS * WIDTH * (WIDTH + kv + kv + WIDTH), 0.4, 0);
    put_floats(f, &rng, LAYERS * WIDTH, 0.2, 1);
    put_floats(f, &rng, (size_t)LAYERS * 3 * FFN * WIDTH, 0.4, 0);
    put_floats(f, &rng, WIDTH, 0.2, 1);
    put_floats(f, &rng, (size_t)CONTEXT * (WIDTH / HEADS), 1, 0); /* tables of positions, not used */
    fclose(f);
    for (int i = 0; i < N; i++) ids[i] = t_below(&rng, VOCAB);
}

static dsx_model *open_model(const dsx_backend *backend, size_t n_threads, uint64_t max_bytes) {
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    dsx_model *m = NULL;
    dstok_error err = {0};

    o.backend = backend;
    o.n_threads = n_threads;
    o.max_bytes = max_bytes;
    if (dsx_model_open(path, &o, &m, &err) != DSTOK_OK) {
        fprintf(stderr, "%s\n", err.text);
        CHECK(0);
        exit(1);
    }
    return m;
}

static dsx_session *new_session(const dsx_model *m, size_t chunk, int kv) {
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    dsx_session *s = NULL;

    o.chunk = chunk;
    o.kv = kv;
    o.kv_recent = 64;
    CHECK_EQ(dsx_session_new(m, &o, &s, NULL), DSTOK_OK);
    return s;
}

/* Log-probabilities of all ids, fed in parts of random sizes up to `most`, and logits behind the last. */
static void score(const dsx_model *m, size_t chunk, int kv, uint32_t most, double lp[N],
                  double logits[VOCAB]) {
    dsx_session *s = new_session(m, chunk, kv);
    t_rng rng = {most};

    for (size_t at = 0; at < N;) {
        size_t n = 1 + t_below(&rng, most);

        n = n < N - at ? n : N - at;
        CHECK_EQ(dsx_session_score(s, ids + at, n, lp + at, NULL), DSTOK_OK);
        at += n;
    }
    CHECK_EQ(dsx_session_logits(s, logits, VOCAB, NULL), DSTOK_OK);
    dsx_session_free(s);
}

static void same(const double *a, const double *b, size_t n) {
    CHECK_MEM(a, b, n * sizeof *a);
}

static void feeding_does_not_matter(const dsx_backend *backend, int kv) {
    static const size_t chunks[] = {512, 64, 100, 7, 1}, parts[] = {600, 600, 90, 64, 3};
    double want[N], got[N], want_logits[VOCAB], got_logits[VOCAB];

    for (size_t i = 0; i < 5; i++) {
        dsx_model *m = open_model(backend, 1 + i % 3, 0);

        score(m, chunks[i], kv, (uint32_t)parts[i], i == 0 ? want : got, i == 0 ? want_logits : got_logits);
        if (i > 0) same(got + 1, want + 1, N - 1);
        if (i > 0) same(got_logits, want_logits, VOCAB);
        dsx_model_free(m);
    }
    CHECK(isnan(want[0]));
    for (int i = 1; i < N; i++) CHECK(want[i] < 0 && want[i] > -60);
}

/* Rounded keys and values: near to the others, but not equal. */
static void few_bits(const dsx_backend *backend) {
    dsx_model *m = open_model(backend, 1, 0);
    double exact[N], rounded[N], logits[VOCAB], worst8 = 0, worst4 = 0;

    score(m, 128, DSX_KV_FLOAT, N, exact, logits);
    score(m, 128, DSX_KV_INT8, N, rounded, logits);
    for (int i = 1; i < N; i++) worst8 = fmax(worst8, fabs(rounded[i] - exact[i]));
    score(m, 128, DSX_KV_INT4, N, rounded, logits);
    for (int i = 1; i < N; i++) worst4 = fmax(worst4, fabs(rounded[i] - exact[i]));
    CHECK(worst8 > 1e-7 && worst8 < 0.2);
    CHECK(worst4 > worst8);
    for (int i = 1; i < 192; i++) CHECK(rounded[i] == exact[i]); /* nothing lies far back yet */
    dsx_model_free(m);
}

static void forks_and_cuts(const dsx_backend *backend) {
    dsx_model *m = open_model(backend, 2, 0);
    dsx_session *a = new_session(m, 64, 0), *b = NULL;
    double want[N], lp[N], logits[VOCAB], other[VOCAB];
    uint32_t one = 5;

    score(m, 512, 0, N, want, logits);
    CHECK_EQ(dsx_session_logits(a, other, VOCAB, NULL), DSTOK_E_STATE);
    CHECK_EQ(dsx_session_score(a, ids, 300, lp, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_fork(a, &b, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_feed(b, &one, 1, NULL), DSTOK_OK); /* b goes its own way, a must not see it */
    CHECK_EQ(dsx_session_feed(b, ids, 200, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_score(a, ids + 300, N - 300, lp + 300, NULL), DSTOK_OK);
    same(lp + 1, want + 1, N - 1);
    CHECK_EQ(dsx_session_length(b), 501);
    CHECK_EQ(dsx_session_truncate(b, 502, NULL), DSTOK_E_RANGE);
    CHECK_EQ(dsx_session_truncate(b, 130, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_logits(b, other, VOCAB, NULL), DSTOK_E_STATE);
    dsx_session_free(a);
    CHECK_EQ(dsx_session_score(b, ids + 130, N - 130, lp + 130, NULL), DSTOK_OK);
    CHECK(isnan(lp[130])); /* the row before it is gone */
    same(lp + 131, want + 131, N - 131);
    CHECK_EQ(dsx_session_logits(b, other, VOCAB, NULL), DSTOK_OK);
    same(other, logits, VOCAB);
    CHECK_EQ(dsx_session_next(b, &one, 1, lp, NULL), DSTOK_OK);
    CHECK(lp[0] < 0);
    dsx_session_free(b);
    dsx_model_free(m);
}

/* A prefix that was read before is found again: the same bits, in the same pages. */
static void pages_are_found_again(const dsx_backend *backend) {
    dsx_model *m = open_model(backend, 1, 0);
    dsx_session *a = new_session(m, 512, 0), *b = new_session(m, 512, 0);
    double want[VOCAB], got[VOCAB];

    CHECK_EQ(dsx_session_feed(a, ids, N, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_logits(a, want, VOCAB, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_feed(b, ids, 500, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_feed(b, ids + 500, N - 500, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_logits(b, got, VOCAB, NULL), DSTOK_OK);
    same(got, want, VOCAB);
    /* a has 10 pages; b has 7 of them, and its own from token 448 on, where its first feed came to its
     * last page */
    CHECK_EQ(dsx__pool_bytes(m->pool), 13 * dsx__page_bytes(m->pool));
    dsx_session_free(b);
    CHECK_EQ(dsx_session_truncate(a, 10, NULL), DSTOK_OK); /* a page that others may find is not written to */
    CHECK_EQ(dsx_session_feed(a, ids + 3, 300, NULL), DSTOK_OK);
    b = new_session(m, 512, 0);
    CHECK_EQ(dsx_session_feed(b, ids, N, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_logits(b, got, VOCAB, NULL), DSTOK_OK);
    same(got, want, VOCAB);
    dsx_session_free(a);
    dsx_session_free(b);
    dsx_model_free(m);
}

struct rows {
    double logits[N][VOCAB];
    uint64_t next, stop;
};

static int take(void *context, uint64_t position, const double *logits) {
    struct rows *r = context;

    CHECK_EQ(position, r->next);
    memcpy(r->logits[r->next++], logits, sizeof r->logits[0]);
    return r->next == r->stop;
}

static double log_prob(const double *logits, uint32_t id) {
    double sum = 0;

    for (int i = 0; i < VOCAB; i++) sum += exp(logits[i] - logits[id]);
    return -log(sum);
}

/* Logits of every row: they tell the same as scores, and the last is what dsx_session_logits gives. */
static void rows(const dsx_backend *backend) {
    dsx_model *m = open_model(backend, 1, 0);
    dsx_session *s = new_session(m, 100, 0);
    struct rows *r = calloc(1, sizeof *r);
    double want[N], logits[VOCAB];

    if (r == NULL) exit(1);
    score(m, 512, 0, N, want, logits);
    CHECK_EQ(dsx_session_read(s, ids, N, take, r, NULL), DSTOK_OK);
    CHECK_EQ(r->next, N);
    for (int i = 1; i < N; i++) CHECK(fabs(log_prob(r->logits[i - 1], ids[i]) - want[i]) < 1e-5);
    same(r->logits[N - 1], logits, VOCAB);
    CHECK_EQ(dsx_session_truncate(s, 0, NULL), DSTOK_OK);
    r->next = 0;
    r->stop = 150;
    CHECK_EQ(dsx_session_read(s, ids, N, take, r, NULL), DSTOK_E_CANCELED);
    CHECK(r->next == 150 && dsx_session_length(s) == 200);
    free(r);
    dsx_session_free(s);
    dsx_model_free(m);
}

static void limits(const dsx_backend *backend) {
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    dsx_plan_options po = DSX_PLAN_OPTIONS_INIT;
    dsx_plan plan = DSX_PLAN_INIT;
    dsx_session_options so = DSX_SESSION_OPTIONS_INIT;
    dsx_model *m = NULL;
    dsx_session *s = NULL;
    dstok_error err = {0};
    uint32_t bad[3] = {1, 2, VOCAB};

    o.backend = backend;
    po.model = &o;
    po.context = 256;
    po.chunk = 64;
    CHECK_EQ(dsx_plan_model(path, &po, &plan, &err), DSTOK_OK);
    CHECK(plan.total == plan.weights + plan.kv + plan.work && plan.kv > 0);
    o.max_bytes = plan.weights; /* no room for a page */
    CHECK_EQ(dsx_plan_model(path, &po, &plan, &err), DSTOK_E_LIMIT);
    CHECK_EQ(dsx_model_open(path, &o, &m, &err), DSTOK_E_LIMIT);
    CHECK(m == NULL && strstr(err.text, "bytes") != NULL);

    o.max_bytes = plan.total; /* 4 pages, and what one session takes */
    CHECK_EQ(dsx_model_open(path, &o, &m, &err), DSTOK_OK);
    if (m == NULL) return;
    so.chunk = 64;
    so.max_tokens = 400;
    CHECK_EQ(dsx_session_new(m, &so, &s, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_feed(s, ids, 1, NULL), DSTOK_OK); /* no room for another session's rows and a page */
    CHECK_EQ(dsx_session_truncate(s, 0, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_feed(s, bad, 3, &err), DSTOK_E_BAD_ID);
    CHECK(err.offset == 2 && dsx_session_length(s) == 0);
    CHECK_EQ(dsx_session_feed(s, ids, 401, NULL), DSTOK_E_LIMIT);
    CHECK_EQ(dsx_session_feed(s, ids, 300, NULL), DSTOK_E_LIMIT);
    CHECK_EQ(dsx_session_length(s), 256);
    CHECK_EQ(dsx_session_truncate(s, 100, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_feed(s, ids, 100, NULL), DSTOK_OK);
    dsx_session_free(s);
    CHECK_EQ(dsx_session_new(m, &so, &s, NULL), DSTOK_OK); /* idle pages make room */
    CHECK_EQ(dsx_session_feed(s, ids + 7, 200, NULL), DSTOK_OK);
    dsx_session_free(s);
    dsx_model_free(m);
}

static void rounded_pages_cannot_come_back(const dsx_backend *backend) {
    dsx_model *m = open_model(backend, 1, 0);
    dsx_session *s = new_session(m, 128, DSX_KV_INT8);
    double want[N], got[N], logits[VOCAB];

    score(m, 128, DSX_KV_INT8, N, want, logits);
    CHECK_EQ(dsx_session_score(s, ids, 590, got, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_truncate(s, 300, NULL), DSTOK_E_STATE);
    CHECK_EQ(dsx_session_truncate(s, 580, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_score(s, ids + 580, N - 580, got + 580, NULL), DSTOK_OK);
    same(got + 581, want + 581, N - 581);
    CHECK_EQ(dsx_session_truncate(s, 0, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_score(s, ids, N, got, NULL), DSTOK_OK);
    same(got + 1, want + 1, N - 1);
    dsx_session_free(s);
    dsx_model_free(m);
}

enum { SOME = 150 }; /* tokens */

static void by_policy(const dsx_backend *backend, const dsx_policy *p, int simd, size_t threads, size_t chunk,
                      double *lp) {
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    dsx_model *m = NULL;
    dsx_session_options so = DSX_SESSION_OPTIONS_INIT;
    dsx_session *s = NULL;

    o.backend = backend;
    o.simd = simd;
    o.n_threads = threads;
    o.policy = p;
    so.chunk = chunk;
    CHECK_EQ(dsx_model_open(path, &o, &m, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_new(m, &so, &s, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_score(s, ids, SOME, lp, NULL), DSTOK_OK);
    dsx_session_free(s);
    dsx_model_free(m);
}

/* A format for each map: the same bits however it is computed, near the definition, and not those of the
 * file. A step of rounding is no small number, so one row that falls to the other side is seen. */
static void policies(void) {
    static const dsx_format formats[] = {
        {DSX_WEIGHTS_W8, 32, DSX_ROWS_INT8, 0},       {DSX_WEIGHTS_FP8, 128, DSX_ROWS_FLOAT, 0},
        {DSX_WEIGHTS_W4, 64, DSX_ROWS_INT8, 0},       {DSX_WEIGHTS_FP8, 0, DSX_ROWS_INT8, 0},
        {DSX_WEIGHTS_W8, 0, DSX_ROWS_INT8_FIXED, 30}, {DSX_WEIGHTS_FILE, 0, DSX_ROWS_INT8, 0},
        {DSX_WEIGHTS_W8, 128, DSX_ROWS_FLOAT, 0},     {DSX_WEIGHTS_F32, 0, DSX_ROWS_INT8, 0}};
    double exact[SOME], want[SOME], got[SOME], off = 0, all = 0;
    dsx_policy *p = NULL, *other = NULL;
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    dsx_plan_options po = DSX_PLAN_OPTIONS_INIT;
    dsx_plan plan = DSX_PLAN_INIT;
    dsx_model *m = NULL;
    dsx_model_info info = DSX_MODEL_INFO_INIT;
    dstok_error err = {0};

    CHECK_EQ(dsx_policy_new(LAYERS, NULL, &p, NULL), DSTOK_OK);
    by_policy(NULL, p, 0, 0, 0, want);
    by_policy(NULL, NULL, 0, 0, 0, exact);
    CHECK_MEM(want + 1, exact + 1, (SOME - 1) * sizeof *want);
    for (int i = 0; i < 8; i++) CHECK_EQ(dsx_policy_set(p, (uint32_t)i / 4, i % 4, &formats[i]), DSTOK_OK);
    CHECK_EQ(dsx_policy_set(p, 0, DSX_OP_HEAD, &formats[0]), DSTOK_OK);
    by_policy(NULL, p, DSX_SIMD_SCALAR, 1, 512, want);
    for (int i = 0; i < 6; i++) {
        by_policy(NULL, p, i % 4, 1 + (size_t)i % 3, i < 2 ? 0 : i == 2 ? 1 : (size_t)i * 7, got);
        CHECK_MEM(got + 1, want + 1, (SOME - 1) * sizeof *got);
    }
    by_policy(dsx_backend_float64(), p, 0, 0, 0, got);
    for (int i = 1; i < SOME; i++) {
        off = fmax(off, fabs(got[i] - want[i]));
        all = fmax(all, fabs(exact[i] - want[i]));
    }
    CHECK(off < 0.05 && all > 2 * off);

    o.policy = po.model == NULL ? p : NULL;
    po.model = &o;
    CHECK_EQ(dsx_plan_model(path, &po, &plan, NULL), DSTOK_OK);
    CHECK_EQ(dsx_model_open(path, &o, &m, NULL), DSTOK_OK);
    CHECK_EQ(dsx_model_describe(m, &info), DSTOK_OK);
    CHECK_EQ(info.weight_bytes, plan.weights);
    dsx_model_free(m);
    CHECK_EQ(dsx_policy_new(LAYERS + 1, NULL, &other, NULL), DSTOK_OK);
    o.policy = other;
    CHECK_EQ(dsx_model_open(path, &o, &m, &err), DSTOK_E_INVAL);
    CHECK(strstr(err.text, "the policy is for 3 layers, the model has 2") != NULL);
    CHECK_EQ(dsx_plan_model(path, &po, &plan, &err), DSTOK_E_INVAL);
    dsx_policy_free(p);
    dsx_policy_free(other);
}

/* ---- several sessions at once, in a pool that is too small to keep what nobody uses */

enum { WORKERS = 4, TEXTS = 6, ROUNDS = 6, LENGTH = 256 };

typedef struct reader {
    const dsx_model *model;
    uint64_t seed;
    int failed, different;
    double (*want)[VOCAB];
} reader;

/* Texts share beginnings of some pages. */
static void text_of(uint32_t text, uint32_t out[LENGTH]) {
    for (uint32_t i = 0; i < LENGTH; i++) out[i] = i < 64 * (text % 4) ? ids[i] : (ids[i] + text) % VOCAB;
}

/* Logits behind a text that is read in two parts, the second by a fork as well. */
static bool read_text(const dsx_model *m, uint32_t text, double logits[VOCAB], double forked[VOCAB]) {
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    dsx_session *s = NULL, *other = NULL;
    uint32_t words[LENGTH], cut = 64 + text * 17;
    bool ok;

    o.kv = text % 3 == 2 ? DSX_KV_INT8 : DSX_KV_FLOAT;
    o.kv_recent = 64;
    text_of(text, words);
    ok = dsx_session_new(m, &o, &s, NULL) == DSTOK_OK && dsx_session_feed(s, words, cut, NULL) == DSTOK_OK &&
         dsx_session_fork(s, &other, NULL) == DSTOK_OK &&
         dsx_session_feed(s, words + cut, LENGTH - cut, NULL) == DSTOK_OK &&
         dsx_session_feed(other, words + cut, LENGTH - cut, NULL) == DSTOK_OK &&
         dsx_session_logits(s, logits, VOCAB, NULL) == DSTOK_OK &&
         dsx_session_logits(other, forked, VOCAB, NULL) == DSTOK_OK;
    dsx_session_free(s);
    dsx_session_free(other);
    return ok;
}

static void *read_texts(void *arg) {
    reader *r = arg;
    t_rng rng = {r->seed};

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t text = t_below(&rng, TEXTS);
        double logits[VOCAB], forked[VOCAB];

        if (!read_text(r->model, text, logits, forked))
            r->failed++;
        else if (memcmp(logits, r->want[text], sizeof logits) != 0 ||
                 memcmp(forked, r->want[text], sizeof forked) != 0)
            r->different++;
    }
    return NULL;
}

static void at_once(const dsx_backend *backend) {
    dsx_model *m = open_model(backend, 2, 0);
    double want[TEXTS][VOCAB], forked[VOCAB];
    uint64_t weights = m->weight_bytes, page = dsx__page_bytes(m->pool),
             rows = dsx__work_bytes(&m->config, m->ops->real_bytes, 512) + WIDTH * m->ops->real_bytes;
    pthread_t threads[WORKERS];
    reader readers[WORKERS];

    for (uint32_t i = 0; i < TEXTS; i++) {
        dsx_model *alone = open_model(backend, 1, 0);

        CHECK(read_text(alone, i, want[i], forked));
        same(forked, want[i], VOCAB);
        dsx_model_free(alone);
    }
    dsx_model_free(m);
    m = open_model(backend, 2, weights + 2 * WORKERS * rows + 12 * WORKERS * page); /* each forks */
    for (uint32_t i = 0; i < WORKERS; i++) {
        readers[i] = (reader){.model = m, .seed = i, .want = want};
        CHECK(pthread_create(&threads[i], NULL, read_texts, &readers[i]) == 0);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_EQ(readers[i].failed, 0);
        CHECK_EQ(readers[i].different, 0);
    }
    CHECK(dsx__pool_bytes(m->pool) <= 2 * WORKERS * rows + 12 * WORKERS * page);
    dsx_model_free(m);
}

/* Options of another size are not read, and NULL is told. */
static void misuse(void) {
    const size_t other = 8; /* all there is: what reads on is found by a sanitizer */
    size_t *small = malloc(sizeof *small);
    dsx_model *m = open_model(dsx_backend_cpu(), 1, 0), *none = NULL;
    dsx_session *s = new_session(m, 64, DSX_KV_FLOAT), *no_session = NULL;
    dsx_plan_options po = DSX_PLAN_OPTIONS_INIT;
    dsx_plan plan = DSX_PLAN_INIT;
    dstok_error err = {0};
    double y = 0;

    if (small == NULL) exit(1);
    *small = other;
    CHECK_EQ(dsx_model_open(path, (dsx_model_options *)(void *)small, &none, &err), DSTOK_E_INVAL);
    CHECK(strstr(err.text, "dsx_model_options.struct_size is 8, of this version ") == err.text);
    CHECK_EQ(dsx_session_new(m, (dsx_session_options *)(void *)small, &no_session, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_plan_model(path, (dsx_plan_options *)(void *)small, &plan, &err), DSTOK_E_INVAL);
    po.model = (dsx_model_options *)(void *)small;
    CHECK_EQ(dsx_plan_model(path, &po, &plan, &err), DSTOK_E_INVAL);
    CHECK(none == NULL && no_session == NULL);
    free(small);

    CHECK_EQ(dsx_session_new(NULL, NULL, &no_session, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_fork(NULL, &no_session, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_feed(NULL, ids, 1, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_feed(s, NULL, 1, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_score(s, ids, 1, NULL, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_read(s, ids, 1, NULL, NULL, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_truncate(NULL, 0, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_logits(NULL, &y, 1, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_next(NULL, ids, 1, &y, &err), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_length(NULL), 0);
    CHECK_EQ(dsx_session_feed(s, NULL, 0, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_feed(s, ids, 1, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_logits(s, NULL, 0, NULL), DSTOK_E_SPACE);
    CHECK_EQ(dsx_session_logits(s, NULL, VOCAB, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_next(s, NULL, 1, &y, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_next(s, ids, 1, NULL, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dsx_session_next(s, NULL, 0, NULL, NULL), DSTOK_OK);
    dsx_session_free(s);
    dsx_model_free(m);
}

/* Weights of few bits: both backends round them alike, W8 less than FP8, and that less than W4. */
static void few_bits_of_weights(void) {
    const dsx_backend *backends[2] = {dsx_backend_float64(), dsx_backend_cpu()};
    static const int weights[5] = {DSX_WEIGHTS_FILE, DSX_WEIGHTS_W8, DSX_WEIGHTS_FP8, DSX_WEIGHTS_FP8,
                                   DSX_WEIGHTS_W4};
    static const uint32_t groups[5] = {0, 32, 0, 128, 32};
    double lp[2][5][N], logits[VOCAB], off[5] = {0, 0, 0, 0, 0};

    for (int b = 0; b < 2; b++)
        for (int w = 0; w < 5; w++) {
            dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
            dsx_model *m = NULL;

            o.backend = backends[b];
            o.weights = weights[w];
            o.group = groups[w];
            CHECK_EQ(dsx_model_open(path, &o, &m, NULL), DSTOK_OK);
            if (m == NULL) return;
            score(m, 128, 0, N, lp[b][w], logits);
            dsx_model_free(m);
        }
    for (int w = 0; w < 5; w++)
        for (int i = 1; i < N; i++) {
            CHECK(fabs(lp[0][w][i] - lp[1][w][i]) < 2e-4);
            off[w] += fabs(lp[1][w][i] - lp[1][0][i]);
        }
    CHECK(off[0] == 0 && off[1] > 0.01 && off[2] > 2 * off[1] && off[3] > 2 * off[1] &&
          off[4] > 1.5 * off[3]);
}

/* The greatest |x| of the rows that each map of the layers gets: q, k, v, o, gate, up, down. */
static float spied[LAYERS][7];
static size_t n_spied;

static void spy_linear(void *be, const dsx__matrix *m, const dsx__matrix *bias, const dsx__real *x, size_t n,
                       dsx__real *out, bool add) {
    float *most = &spied[0][0] + n_spied++ % (LAYERS * 7);

    for (size_t i = 0; i < n * m->columns; i++)
        *most = fmaxf(*most, fabsf(((const float *)(const void *)x)[i]));
    dsx__cpu_linear(be, m, bias, x, n, out, add);
}

static dsx_policy *calibrated(const dsx_model *m, int rule, double percent) {
    const dsx_format format = {DSX_WEIGHTS_FILE, 0, DSX_ROWS_INT8_FIXED, 1};
    dsx_policy *p = NULL;

    CHECK_EQ(dsx_policy_new(LAYERS, &format, &p, NULL), DSTOK_OK);
    CHECK_EQ(dsx_policy_set(p, 0, DSX_OP_HEAD, &format), DSTOK_OK);
    CHECK_EQ(dsx_policy_calibrate(p, m, ids, N, rule, percent, NULL), DSTOK_OK);
    return p;
}

static double limit_of(const dsx_policy *p, uint32_t layer, int op) {
    dsx_format f = {0};

    CHECK_EQ(dsx_policy_get(p, layer, op, &f), DSTOK_OK);
    return (double)f.limit;
}

/* Limits are those of all rows that maps get, also where pages of the text are known; the backends agree. */
static void fixed_limits(void) {
    static const int ops[7] = {DSX_OP_QKV, DSX_OP_QKV, DSX_OP_QKV, DSX_OP_OUT,
                               DSX_OP_UP,  DSX_OP_UP,  DSX_OP_DOWN};
    dsx__backend_ops spy = dsx__backend_cpu;
    const dsx_backend spying = {&spy}, *backends[2] = {dsx_backend_float64(), &spying};
    dsx_policy *most[2], *less[2];

    spy.linear = spy_linear;
    for (int b = 0; b < 2; b++) {
        dsx_model *m = open_model(backends[b], 2, 0);

        most[b] = calibrated(m, DSX_LIMIT_PERCENTILE, 100);
        less[b] = calibrated(m, DSX_LIMIT_PERCENTILE, 50);
        CHECK_EQ(dsx_policy_calibrate(most[b], m, ids, 0, DSX_LIMIT_EMA, 0, NULL), DSTOK_E_INVAL);
        CHECK_EQ(dsx_policy_calibrate(most[b], m, ids, N, 3, 0, NULL), DSTOK_E_INVAL);
        CHECK_EQ(dsx_policy_calibrate(most[b], m, ids, N, DSX_LIMIT_PERCENTILE, 0, NULL), DSTOK_E_INVAL);
        dsx_model_free(m);
    }
    CHECK_EQ(n_spied, 2 * 2 * LAYERS * 7); /* both times all of the text, in two chunks */
    for (uint32_t i = 0; i < LAYERS * 7; i++)
        CHECK(limit_of(most[1], i / 7, ops[i % 7]) == (double)spied[i / 7][i % 7]);
    for (uint32_t i = 0; i <= LAYERS * DSX_OP_HEAD; i++) {
        int op = i < LAYERS * DSX_OP_HEAD ? (int)(i % DSX_OP_HEAD) : DSX_OP_HEAD;
        double a = limit_of(most[0], i / DSX_OP_HEAD, op), b = limit_of(most[1], i / DSX_OP_HEAD, op);

        CHECK(a != 1 && fabs(a - b) < 1e-4 * a);
        CHECK(limit_of(less[1], i / DSX_OP_HEAD, op) < 0.7 * b);
        CHECK(limit_of(less[1], i / DSX_OP_HEAD, op) > 0.01 * b);
    }
    for (int b = 0; b < 2; b++) {
        dsx_policy_free(most[b]);
        dsx_policy_free(less[b]);
    }
}

int main(void) {
    const dsx_backend *backends[2] = {dsx_backend_float64(), dsx_backend_cpu()};

    write_model();
    for (int i = 0; i < 2; i++) {
        feeding_does_not_matter(backends[i], DSX_KV_FLOAT);
        feeding_does_not_matter(backends[i], DSX_KV_INT8);
        feeding_does_not_matter(backends[i], DSX_KV_INT4);
        few_bits(backends[i]);
        forks_and_cuts(backends[i]);
        pages_are_found_again(backends[i]);
        rounded_pages_cannot_come_back(backends[i]);
        rows(backends[i]);
        limits(backends[i]);
    }
    at_once(dsx_backend_cpu());
    misuse();
    few_bits_of_weights();
    policies();
    fixed_limits();
    (void)remove(path);
    (void)remove(folder);
    return t_end();
}
