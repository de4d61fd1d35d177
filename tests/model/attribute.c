/* SPDX-License-Identifier: MIT */
/* attribute MODEL IDS: attribution of a model and a text of at least 72 ids, checked in itself: scores add
 * up to what they explain; they are what a decomposition forward gives (sources.h); and the same bits come
 * from any number of threads, chunk and room. */
#include "explain/attribute.h"

#include "arch/model.h"
#include "sources.h"
#include "t.h"

#include <dsx/dsx.h>

#include <math.h>
#include <stdlib.h>

enum { LONG = 72, SHORT = 28 }; /* beyond a page, and beyond every window */

static uint32_t ids[LONG];
static size_t n_ids;

static dsx_model *open_model(const char *path, const dsx_backend *backend, size_t n_threads, int simd) {
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    dsx_model *m = NULL;
    dstok_error err = {0};

    o.backend = backend;
    o.n_threads = n_threads;
    o.simd = simd;
    if (dsx_model_open(path, &o, &m, &err) != DSTOK_OK) {
        fprintf(stderr, "attribute: %s\n", err.text);
        exit(1);
    }
    return m;
}

static dsx__attribution attribute(const dsx_model *m, const dsx__aim *aim, float *heads) {
    dsx__attribution a;
    dstok_error err = {0};

    CHECK_EQ(dsx__attribute(m, aim, heads, NULL, NULL, &a, &err), DSTOK_OK);
    if (a.scores == NULL) {
        fprintf(stderr, "attribute: %s\n", err.text);
        exit(1);
    }
    return a;
}

/* The greatest difference, by the greatest number of x. */
static double apart(const double *x, const double *y, size_t n) {
    double worst = 0, greatest = 1e-300;

    for (size_t i = 0; i < n; i++) {
        if (!(fabs(x[i] - y[i]) <= worst)) worst = fabs(x[i] - y[i]);
        greatest = fmax(greatest, fabs(x[i]));
    }
    return worst / greatest;
}

#define CHECK_NEAR(got, bound)                                                                               \
    do {                                                                                                     \
        double t_is = (got);                                                                                 \
        CHECK(t_is <= (bound));                                                                              \
        if (!(t_is <= (bound)))                                                                              \
            fprintf(stderr, "  off by %g: first %zu, foil %d\n", t_is, aim->first, (int)aim->foil);          \
    } while (0)

/* ---- the way back against the way forward */

static void check_forward(const dsx_model *m, const dsx__aim *aim) {
    size_t all = (size_t)m->config.n_layers * m->config.n_heads;
    float *heads = calloc(all * aim->to, sizeof *heads);
    dsx__attribution got = attribute(m, aim, NULL), with_heads;
    dsx__aim attention = *aim;
    decomposed want;
    double worst = 0, sum = 0;

    decompose(m, aim, &want);
    CHECK_EQ(got.n, want.n);
    CHECK_NEAR(apart(want.scores, got.scores, want.n), 1e-9);
    CHECK_NEAR(apart(want.routing, got.routing, want.n), 1e-9);
    CHECK_NEAR(fabs(want.value - got.value), 1e-9 * (1 + fabs(want.value)));
    CHECK_NEAR(fabs(want.bias - got.bias), 1e-9 * (1 + fabs(want.bias)));
    CHECK_NEAR(fabs(want.first_mass - got.first_mass), 1e-9);
    with_heads = attribute(m, aim, heads);
    CHECK_MEM(with_heads.scores, got.scores, got.n * sizeof *got.scores);
    for (size_t i = 0; i < all * got.n; i++) worst = fmax(worst, fabs(want.heads[i] - (double)heads[i]));
    CHECK_NEAR(worst, 1e-7);
    dsx__attribution_free(&with_heads);
    attention.only_attention = true;
    with_heads = attribute(m, &attention, NULL);
    for (size_t i = 0; i < got.n; i++) {
        double mean = 0;

        for (size_t h = 0; h < all; h++) mean += want.heads[h * got.n + i] / (double)all;
        worst = fmax(worst, fabs(mean - with_heads.scores[i]));
        sum += with_heads.scores[i];
    }
    CHECK_NEAR(worst, 1e-7);
    CHECK_NEAR(fabs(sum - 1), 1e-12);
    dsx__attribution_free(&with_heads);
    dsx__attribution_free(&got);
    free_decomposed(&want);
    free(heads);
}

static void test_forward(const char *path) {
    static const double weights[8] = {1, 0.25, 0, 2, -1, 1, 0.5, 3};
    dsx_model *m = open_model(path, dsx_backend_float64(), 1, 0);

    for (size_t k = 0; k < 3; k++) {
        dsx__aim aim = {.ids = ids, .from = 20, .to = SHORT, .foil = k == 2 ? 5 : -1};

        aim.first = k == 0 ? 0 : 13;
        aim.weights = k == 1 ? weights : NULL;
        if (aim.foil >= 0) aim.to = aim.from + 1;
        check_forward(m, &aim);
    }
    dsx_model_free(m);
}

/* ---- long texts */

static void check_sum(const dsx__aim *aim, const dsx__attribution *a, double bound) {
    double sum = a->bias;

    for (size_t i = 0; i < a->n; i++) sum += a->scores[i];
    CHECK_NEAR(fabs(sum - a->value), bound * (1 + fabs(a->value)));
}

static void check_same(const dsx__attribution *a, const dsx__attribution *b) {
    CHECK_EQ(a->n, b->n);
    CHECK_MEM(a->scores, b->scores, a->n * sizeof *a->scores);
    CHECK_MEM(a->routing, b->routing, a->n * sizeof *a->routing);
    CHECK_MEM(&a->value, &b->value, sizeof a->value);
    CHECK_MEM(&a->first_mass, &b->first_mass, sizeof a->first_mass);
    CHECK_MEM(a->logprobs, b->logprobs, sizeof *a->logprobs);
}

static int stop_at(void *context, uint64_t done, uint64_t all) {
    uint64_t *left = context;

    CHECK(done >= 1 && done <= all);
    return (*left)-- == 0;
}

/* However often it may go on before it is stopped, it says so, and leaves nothing. */
static void check_stops(const dsx_model *m, const dsx__aim *aim) {
    dstok_status status = DSTOK_E_CANCELED;
    dsx__attribution a;
    uint64_t k;

    for (k = 0; k < 100 && status != DSTOK_OK; k++) {
        uint64_t left = k;
        dstok_error err = {0};

        status = dsx__attribute(m, aim, NULL, stop_at, &left, &a, &err);
        if (status != DSTOK_OK) CHECK_EQ(status, DSTOK_E_CANCELED);
        if (status != DSTOK_OK) CHECK(err.text[0] != '\0' && a.scores == NULL);
    }
    CHECK_EQ(status, DSTOK_OK);
    CHECK(k > 1 + m->config.n_layers);
    dsx__attribution_free(&a);
}

enum { N_MODELS = 5 };

/* models[0] is that of the definition, which is slow. */
static void check_long(dsx_model *const *models, dsx__aim way, bool all_ways) {
    static const size_t chunks[] = {50, 0, 7, 64, 1};
    dsx__aim *const aim = &way;
    dsx__attribution plain = attribute(models[0], aim, NULL), first = attribute(models[1], aim, NULL);

    check_sum(aim, &plain, 1e-12);
    check_sum(aim, &first, 1e-5);
    CHECK_NEAR(apart(plain.scores, first.scores, plain.n), 2e-4);
    CHECK_NEAR(apart(plain.routing, first.routing, plain.n), 2e-4);
    for (size_t k = all_ways ? 0 : 3; k < N_MODELS; k++) {
        const dsx__attribution *same = k == 0 ? &plain : &first;
        dsx__attribution a;

        way.chunk = chunks[k];
        way.keep_bytes = k != 4;
        a = attribute(models[k], aim, NULL);
        check_same(same, &a);
        CHECK_NEAR(fabs(a.bias - same->bias), 1e-12 * (1 + fabs(a.bias)));
        dsx__attribution_free(&a);
    }
    dsx__attribution_free(&plain);
    dsx__attribution_free(&first);
}

static void test_long(const char *path) {
    dsx_model *models[N_MODELS] = {open_model(path, dsx_backend_float64(), 1, 0),
                                   open_model(path, NULL, 1, 0), open_model(path, NULL, 3, DSX_SIMD_SCALAR),
                                   open_model(path, NULL, 2, DSX_SIMD_AVX2), open_model(path, NULL, 5, 0)};
    dsx__aim aim = {.ids = ids, .from = 68, .to = LONG, .foil = -1, .first = 66};

    check_stops(models[1], &aim);
    check_long(models, aim, true);
    aim.first = 0;
    check_long(models, aim, false);
    aim.first = 64;
    aim.foil = 5;
    aim.to = aim.from + 1;
    check_long(models, aim, false);
    for (size_t i = 0; i < N_MODELS; i++) dsx_model_free(models[i]);
}

static void refuse(const dsx_model *m, dsx__aim aim, dstok_status want) {
    dsx__attribution a;
    dstok_error err = {0};

    CHECK_EQ(dsx__attribute(m, &aim, NULL, NULL, NULL, &a, &err), want);
    CHECK(err.text[0] != '\0' && a.scores == NULL);
    dsx__attribution_free(&a);
}

static void test_refused(const char *path) {
    dsx_model *m = open_model(path, NULL, 1, 0);
    uint32_t n = m->config.n_vocab, bad[4] = {1, n, 1, 1};

    refuse(m, (dsx__aim){.ids = ids, .from = 0, .to = 3, .foil = -1}, DSTOK_E_INVAL);
    refuse(m, (dsx__aim){.ids = ids, .from = 5, .to = 5, .foil = -1}, DSTOK_E_INVAL);
    refuse(m, (dsx__aim){.ids = ids, .from = 5, .to = 9, .foil = -1, .first = 5}, DSTOK_E_INVAL);
    refuse(m, (dsx__aim){.ids = ids, .from = 5, .to = 6, .foil = n}, DSTOK_E_INVAL);
    refuse(m, (dsx__aim){.ids = bad, .from = 3, .to = 4, .foil = -1}, DSTOK_E_BAD_ID);
    dsx_model_free(m);
}

int main(int argc, char **argv) {
    FILE *f = argc == 3 ? fopen(argv[2], "r") : NULL;
    unsigned id;

    if (f == NULL) {
        fprintf(stderr, "usage: attribute MODEL IDS\n");
        return 2;
    }
    while (n_ids < LONG && fscanf(f, "%u", &id) == 1) ids[n_ids++] = id;
    fclose(f);
    if (n_ids < LONG) return 2;
    test_refused(argv[1]);
    test_forward(argv[1]);
    test_long(argv[1]);
    return t_end();
}
