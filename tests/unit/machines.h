/* SPDX-License-Identifier: MIT */
/* Cases that run on every backend of the CPU: the float one must be near the plain definition in double,
 * and give the same bits from every instruction set, with any number of threads, and whether rows come
 * together or not. */
#ifndef DSTOK_TESTS_MACHINES_H
#define DSTOK_TESTS_MACHINES_H

#include "backend.h"
#include "quant/blocks.h"
#include "t.h"

#include <dsx/model.h>

#include <math.h>
#include <stdlib.h>

typedef struct machine {
    const dsx__backend_ops *ops;
    void *be;
    bool one_by_one; /* rows of a call */
} machine;

static t_rng rng = {7};

static inline double uniform(void) {
    return (double)t_below(&rng, 1u << 20) / (1 << 19) - 1;
}

/* Reads of a machine: what it computed, as doubles. */
typedef struct result {
    double *x;
    size_t n;
} result;

static inline void keep(const machine *m, result *r, dsx__real *p, size_t n) {
    r->x = realloc(r->x, (r->n + n + 1) * sizeof *r->x);
    m->ops->read(m->be, p, n, r->x + r->n);
    r->n += n;
    m->ops->free(m->be, p, n);
}

/* n numbers from a seed: floats, so that both kinds of machine hold the same. */
static inline dsx__real *numbers(const machine *m, uint64_t seed, size_t n, double by) {
    dsx__real *p = m->ops->alloc(m->be, n > 0 ? n : 1);
    t_rng own = {seed};

    for (size_t i = 0; i < n; i++) {
        double x = (double)(float)(by * ((double)t_below(&own, 1u << 20) / (1 << 19) - 1));

        m->ops->write(m->be, m->ops->at(p, i), 1, &x);
    }
    return p;
}

static inline void put_half(uint8_t *p, uint32_t bits) {
    p[0] = (uint8_t)bits;
    p[1] = (uint8_t)(bits >> 8);
}

/* Bytes of a format by chance. Scales, where they are fp16, are between 2^-6 and 2^-5. */
static inline uint8_t *bytes_of(dsx__format format, uint64_t rows, uint64_t columns) {
    static const int scales[DSX__N_FORMATS][2] = {
        [DSX__Q2_K] = {80, 82},  [DSX__Q3_K] = {108, -1}, [DSX__Q4_K] = {0, 2},  [DSX__Q5_K] = {0, 2},
        [DSX__Q6_K] = {208, -1}, [DSX__Q8_0] = {0, -1},   [DSX__Q4_0] = {0, -1}, [DSX__Q4_1] = {0, 2},
        [DSX__Q5_0] = {0, -1},   [DSX__Q5_1] = {0, 2}};
    size_t n = (size_t)(rows * dsx__row_bytes(format, columns)), block = dsx__formats[format].bytes;
    uint8_t *p = malloc(n + 1);

    for (size_t i = 0; i < n; i++) p[i] = (uint8_t)t_random(&rng);
    for (size_t at = 0; at < n; at += block) {
        float x = (float)uniform();
        uint32_t bits;

        memcpy(&bits, &x, 4);
        if (format == DSX__F32) memcpy(p + at, &x, 4);
        if (format == DSX__BF16) put_half(p + at, bits >> 16);
        if (format == DSX__F16) put_half(p + at, 0x3000 | t_below(&rng, 0x800));
        if (format == DSX__F8_E4M3) p[at] &= 0xBF; /* below 2 */
        for (int i = 0; i < 2 && dsx__blocks[format].group > 0; i++)
            if (scales[format][i] >= 0) put_half(p + at + scales[format][i], 0x2400 | t_below(&rng, 0x400));
    }
    return p;
}

/* format NULL: a vector or table. */
static inline dsx__matrix *load(const machine *m, dsx__part part, const dsx_format *format) {
    dsx__matrix *matrix = NULL;
    dstok_error err;

    CHECK_EQ(m->ops->load(m->be, &part, format, &matrix, &err), DSTOK_OK);
    CHECK_EQ(m->ops->bytes(matrix), m->ops->plan(&part, format));
    return matrix;
}

/* ---- cases: each computes something on a machine */

typedef struct a_case {
    void (*run)(const machine *m, const struct a_case *c, result *r);
    dsx__part part, vector;
    dsx_format format;
    size_t n;
    bool flag;
    double tolerance; /* relative to the greatest number of the result */
    dsx__attention attention;
    dsx__kv_shape shape;
} a_case;

/* ---- each case on every machine */

static inline machine open_machine(const dsx__backend_ops *ops, int simd, size_t n_threads, bool one_by_one) {
    dsx__backend_options options = {.simd = simd, .n_threads = n_threads};
    machine m = {ops, NULL, one_by_one};
    dstok_error err;

    CHECK_EQ(ops->open(&options, &m.be, &err), DSTOK_OK);
    return m;
}

static machine plain, machines[6];
#define N_MACHINES (sizeof machines / sizeof *machines)

static inline bool near(const result *want, const result *got, double tolerance) {
    double greatest = 0, worst = 0;

    if (want->n != got->n) return false;
    for (size_t i = 0; i < want->n; i++) {
        double d = fabs(want->x[i] - got->x[i]);

        greatest = fmax(greatest, fabs(want->x[i]));
        if (!(d <= worst)) worst = d;
    }
    if (!(worst <= tolerance * greatest)) fprintf(stderr, "off by %g of %g\n", worst, greatest);
    return worst <= tolerance * greatest;
}

static inline void check_case(const a_case *c) {
    result want = {0}, first = {0};

    c->run(&plain, c, &want);
    for (size_t i = 0; i < N_MACHINES; i++) {
        result got = {0};

        c->run(&machines[i], c, &got);
        if (i == 0) {
            CHECK(near(&want, &got, c->tolerance));
            first = got;
            continue;
        }
        CHECK_EQ(got.n, first.n);
        if (got.n > 0) CHECK_MEM(got.x, first.x, got.n * sizeof *got.x);
        free(got.x);
    }
    free(want.x);
    free(first.x);
}

static inline dsx__part part_of(dsx__format format, uint64_t rows, uint64_t columns) {
    const uint8_t *scales =
        format == DSX__F8_E4M3 ? bytes_of(DSX__F32, (rows + 127) / 128, (columns + 127) / 128) : NULL;

    return (dsx__part){format, rows, columns, bytes_of(format, rows, columns), scales};
}

static inline void free_parts(a_case *c) {
    free((void *)(uintptr_t)c->part.data);
    free((void *)(uintptr_t)c->part.scales);
    free((void *)(uintptr_t)c->vector.data);
}

static inline void open_machines(void) {
    plain = open_machine(&dsx__backend_float64, 0, 1, false);
    for (size_t i = 0; i < N_MACHINES; i++)
        machines[i] = open_machine(&dsx__backend_cpu, DSX_SIMD_SCALAR + (int)(i % 3), 1 + i % 4, i >= 3);
}

static inline void close_machines(void) {
    plain.ops->close(plain.be);
    for (size_t i = 0; i < N_MACHINES; i++) machines[i].ops->close(machines[i].be);
}

#endif
