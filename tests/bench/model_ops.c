/* SPDX-License-Identifier: MIT */
/* How fast the operations of the float backend are, on sizes of a small model: bench_model_ops [simd
 * [threads]]. With one thread its CPU time is taken, which other programs on the machine disturb little;
 * else the wall clock. Each line is the best of several runs. */
#include "backend.h"

#include "quant/blocks.h"

#include <dsx/model.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const dsx__backend_ops *const ops = &dsx__backend_cpu;
static void *be;
static clockid_t clock_id = CLOCK_PROCESS_CPUTIME_ID;

static double now(void) {
    struct timespec t;

    clock_gettime(clock_id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t state = 1;
static double noise(void) {
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24) - 0.5;
}

static dsx__real *fill(size_t n) {
    dsx__real *p = ops->alloc(be, n);

    for (size_t i = 0; i < n; i++) {
        double x = noise();

        ops->write(be, ops->at(p, i), 1, &x);
    }
    return p;
}

/* Weights of any format: bytes by chance, such that no number of any format is great, subnormal or infinite. */
static dsx__matrix *weights(dsx__format format, uint64_t rows, uint64_t columns, uint64_t *bytes) {
    uint64_t row = dsx__row_bytes(format, columns), n = rows * row;
    uint8_t *data = malloc(n);
    dsx__matrix *m;
    dsx__part part = {format, rows, columns, data, NULL};
    dsx_format as_in_the_file = {0, 0, 0, 0};
    dstok_error err;

    for (uint64_t i = 0; i < n; i++) data[i] = (uint8_t)(0x20 | ((uint32_t)(noise() * 200 + 100) & 0x1f));
    if (ops->load(be, &part, &as_in_the_file, &m, &err) != DSTOK_OK) exit(1);
    *bytes = n;
    return m;
}

#define BEST(runs, seconds, statement)                                                                       \
    do {                                                                                                     \
        seconds = 1e9;                                                                                       \
        for (int run_ = 0; run_ < (runs); run_++) {                                                          \
            double from_ = now();                                                                            \
            statement;                                                                                       \
            from_ = now() - from_;                                                                           \
            if (from_ < seconds) seconds = from_;                                                            \
        }                                                                                                    \
    } while (0)

static void linear(dsx__format format, uint64_t rows, uint64_t columns) {
    static const size_t counts[] = {1, 2, 4, 12, 48, 512};
    uint64_t bytes;
    dsx__matrix *m = weights(format, rows, columns, &bytes);

    printf("linear %s %llu x %llu:", dsx__formats[format].name, (unsigned long long)rows,
           (unsigned long long)columns);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t n = counts[i];
        dsx__real *x = fill(n * columns), *out = ops->alloc(be, n * rows);
        double flops = 2.0 * (double)n * (double)rows * (double)columns, t;

        BEST(n < 12 ? 50 : 15, t, ops->linear(be, m, NULL, x, n, out, false));
        printf("  n %zu %.1f", n, flops / t * 1e-9);
        if (n == 1) printf(" (%.2f GB/s)", (double)bytes / t * 1e-9);
        ops->free(be, x, n * columns);
        ops->free(be, out, n * rows);
    }
    printf(" GFLOP/s\n");
    ops->unload(be, m);
}

static void attend(size_t past, size_t n) {
    enum { HEADS = 9, KV_HEADS = 3, DIM = 64 };
    dsx__kv_shape shape = {1, KV_HEADS, DIM, DIM};
    size_t n_pages = (past + n + DSX__PAGE - 1) / DSX__PAGE;
    dsx__real **pages = malloc(n_pages * sizeof *pages);
    dsx__real *q = fill(n * HEADS * DIM), *out = ops->alloc(be, n * HEADS * DIM);
    dsx__attention a = {.shape = &shape, .pages = pages, .n_heads = HEADS, .first = past, .scale = 0.125};
    double t, flops = 4.0 * HEADS * DIM * (double)n * ((double)past + (double)(n + 1) / 2);

    for (size_t i = 0; i < n_pages; i++) pages[i] = fill(dsx__kv_page_reals(&shape));
    BEST(10, t, ops->attend(be, &a, q, n, out));
    printf("attend past %zu n %zu: %.3f ms %.1f GFLOP/s\n", past, n, t * 1e3, flops / t * 1e-9);
}

static void rows(size_t n) {
    enum { WIDTH = 1536 };
    uint64_t bytes;
    dsx__matrix *w = weights(DSX__F32, 1, WIDTH, &bytes);
    dsx__real *x = fill(n * WIDTH), *y = fill(n * WIDTH);
    double t;

    BEST(50, t, ops->norm(be, x, n, WIDTH, WIDTH, w, 1e-5, y, WIDTH));
    printf("norm n %zu: %.2f ns/number", n, t * 1e9 / (double)(n * WIDTH));
    BEST(50, t, ops->swiglu(be, x, y, n, WIDTH));
    printf("  swiglu: %.2f", t * 1e9 / (double)(n * WIDTH));
    double *c = calloc(n * WIDTH, sizeof *c);
    dsx__rotation r = {c, c, 64, false};
    BEST(50, t, ops->rotate(be, &r, x, n, WIDTH, WIDTH / 64, 64, 0));
    printf("  rotate: %.2f\n", t * 1e9 / (double)(n * WIDTH));
    free(c);
}

static void head(size_t n) {
    uint64_t bytes;
    dsx__matrix *m = weights(DSX__Q4_1, 49152, 576, &bytes);
    dsx__real *x = fill(n * 576);
    uint32_t *targets = calloc(n, sizeof *targets);
    double *out = calloc(n, sizeof *out), t;

    BEST(n > 10 ? 3 : 10, t, ops->log_probs(be, m, x, n, targets, out, NULL));
    printf("head n %zu: %.3f ms, %.1f GFLOP/s\n", n, t * 1e3, 2 * 49152 * 576 * (double)n / t * 1e-9);
    ops->unload(be, m);
}

int main(int argc, char **argv) {
    dsx__backend_options options = {.simd = argc > 1 ? atoi(argv[1]) : DSX_SIMD_AUTO,
                                    .n_threads = argc > 2 ? (size_t)atoi(argv[2]) : 1};
    dstok_error err;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (options.n_threads != 1) clock_id = CLOCK_MONOTONIC;
    if (ops->open(&options, &be, &err) != DSTOK_OK) return 1;
    static const dsx__format formats[] = {DSX__F32, DSX__BF16, DSX__Q8_0, DSX__Q4_1, DSX__Q4_K, DSX__Q6_K};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) linear(formats[i], 1536, 1536);
    linear(DSX__Q4_1, 576, 576);
    linear(DSX__Q4_1, 192, 576);
    linear(DSX__Q4_1, 576, 1536);
    attend(0, 512);
    attend(3584, 512);
    attend(4000, 1);
    rows(1);
    rows(512);
    head(1);
    head(240);
    ops->close(be);
    return 0;
}
