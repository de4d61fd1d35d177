/* SPDX-License-Identifier: MIT */
/* The float backend: near the plain definition in double, and the same bits from every instruction set,
 * with any number of threads, and whether rows come together or one by one. */
#include "cpu/cpu.h"
#include "machines.h"
#include "quant/kv.h"

#include <stdatomic.h>

/* ---- cases: each computes something on a machine */

static void run_linear(const machine *m, const a_case *c, result *r) {
    dsx__matrix *w = load(m, c->part, &c->format), *bias = c->flag ? load(m, c->vector, NULL) : NULL;
    size_t k = c->part.columns, rows = c->part.rows, step = m->one_by_one ? 1 : c->n;
    dsx__real *x = numbers(m, 3, c->n * k, 1), *out = numbers(m, 4, c->n * rows, 1);

    for (size_t i = 0; i < c->n; i += step)
        m->ops->linear(m->be, w, bias, m->ops->at(x, i * k), step, m->ops->at(out, i * rows), c->flag);
    keep(m, r, out, c->n * rows);
    m->ops->free(m->be, x, c->n * k);
    m->ops->unload(m->be, w);
    m->ops->unload(m->be, bias);
}

static void run_rows(const machine *m, const a_case *c, result *r) {
    size_t width = c->vector.columns, stride = width + 3, n = c->n;
    dsx__matrix *w = load(m, c->vector, NULL), *table = load(m, c->part, NULL);
    dsx__real *x = numbers(m, 5, n * stride, 2), *y = numbers(m, 6, n * stride, 2);
    dsx__real *out = numbers(m, 7, n * stride, 1);
    uint32_t ids[64], index[64];
    double weights[64];

    for (size_t i = 0; i < n; i++) {
        ids[i] = (uint32_t)((i * 7 + 3) % c->part.rows);
        index[i] = (uint32_t)(n - 1 - i);
        weights[i] = (double)(float)(0.3 * (double)i);
    }
    m->ops->norm(m->be, x, n, (uint32_t)width, (uint32_t)stride, w, 1e-5, out, (uint32_t)stride);
    keep(m, r, out, n * stride);
    m->ops->swiglu(m->be, y, x, n, (uint32_t)width);
    m->ops->scatter_add(m->be, x, index, weights, n, (uint32_t)width, y);
    m->ops->gather(m->be, y, index, n, (uint32_t)width, x);
    keep(m, r, y, n * stride);
    keep(m, r, x, n * stride);
    out = m->ops->alloc(m->be, n * c->part.columns + 1);
    m->ops->embed(m->be, table, ids, n, out);
    keep(m, r, out, n * c->part.columns);
    m->ops->unload(m->be, w);
    m->ops->unload(m->be, table);
}

static void run_rotate(const machine *m, const a_case *c, result *r) {
    enum { HEADS = 3, DIM = 24, TURNED = 16 };
    double cosine[64 * TURNED / 2], sine[64 * TURNED / 2];
    dsx__rotation turn = {cosine, sine, TURNED, c->flag};
    dsx__real *x = numbers(m, 8, c->n * HEADS * DIM, 3);

    for (size_t i = 0; i < c->n * TURNED / 2; i++) {
        cosine[i] = cos(0.1 * (double)i);
        sine[i] = sin(0.1 * (double)i);
    }
    m->ops->rotate(m->be, &turn, x, c->n, HEADS * DIM, HEADS, DIM, 5);
    keep(m, r, x, c->n * HEADS * DIM);
}

/* 5 blocks of 40 rows, of which [3, 38) are the map. */
static void run_heads(const machine *m, const a_case *c, result *r) {
    enum { HEADS = 5, BLOCK = 40, FROM = 3, ROWS = 35 };
    size_t columns = c->part.columns, in = c->flag ? ROWS : columns, out_n = c->flag ? columns : ROWS;
    size_t step = m->one_by_one ? 1 : c->n, x_stride = in + 2, stride = out_n + 1;
    dsx__matrix *w = load(m, c->part, &c->format);
    dsx__real *x = numbers(m, 9, c->n * HEADS * x_stride, 1), *out = numbers(m, 10, c->n * HEADS * stride, 1);

    for (size_t i = 0; i < c->n; i += step)
        m->ops->linear_heads(m->be, w, HEADS, BLOCK, FROM, ROWS, c->flag, m->ops->at(x, i * HEADS * x_stride),
                             (uint32_t)x_stride, step, m->ops->at(out, i * HEADS * stride), (uint32_t)stride);
    keep(m, r, out, c->n * HEADS * stride);
    m->ops->free(m->be, x, c->n * HEADS * x_stride);
    m->ops->unload(m->be, w);
}

static void run_head(const machine *m, const a_case *c, result *r) {
    size_t k = c->part.columns, step = m->one_by_one ? 1 : c->n;
    dsx__matrix *w = load(m, c->part, &c->format);
    dsx__real *x = numbers(m, 11, c->n * k, 0.2);
    uint32_t *targets = malloc((c->n + 1) * sizeof *targets);
    double *out = malloc((2 * c->n + 1) * sizeof *out);

    for (size_t i = 0; i < c->n; i++) targets[i] = (uint32_t)(i * 31 % c->part.rows);
    targets[0] = (uint32_t)c->part.rows - 1;
    for (size_t i = 0; i < c->n; i += step)
        m->ops->log_probs(m->be, w, m->ops->at(x, i * k), step, targets + i, out + i, out + c->n + i);
    r->x = out;
    r->n = 2 * c->n;
    free(targets);
    m->ops->free(m->be, x, c->n * k);
    m->ops->unload(m->be, w);
}

/* A text of attention.first + n tokens; attention of the last n of them. With a packed format pages but the
 * last two are packed. */
static void run_attend(const machine *m, const a_case *c, result *r) {
    dsx__attention a = c->attention;
    const dsx__kv_shape *s = &c->shape;
    size_t past = (size_t)a.first, total = past + c->n, n_pages = total / DSX__PAGE + 1,
           step = m->one_by_one ? 1 : c->n;
    size_t reals = dsx__kv_page_reals(s), q_n = (size_t)a.n_heads * s->key_dim,
           out_n = (size_t)a.n_heads * s->value_dim;
    dsx__real **pages = calloc(n_pages, sizeof *pages);
    uint8_t **packed = calloc(n_pages, sizeof *packed);
    dsx__real *q = numbers(m, 12, c->n * q_n, 2), *out = m->ops->alloc(m->be, c->n * out_n);
    dsx__real *k = numbers(m, 13, total * s->n_kv_heads * s->key_dim, 1);
    dsx__real *v = numbers(m, 14, total * s->n_kv_heads * s->value_dim, 1);

    for (size_t i = 0; i < n_pages; i++) {
        pages[i] = m->ops->alloc(m->be, reals);
        packed[i] = calloc(1, dsx__kv_packed_bytes(s, a.packed_format));
    }
    a.shape = s;
    a.pages = pages;
    a.packed = packed;
    a.layer = s->n_layers - 1;
    a.first = 0;
    m->ops->kv_write(m->be, &a, k, v, past);
    for (size_t i = 0; a.packed_format != DSX__KV_REALS && i + 2 < past / DSX__PAGE; i++) {
        m->ops->kv_pack(m->be, &a, i);
        a.packed_to = i + 1;
    }
    for (size_t i = 0; i < c->n; i += step) {
        a.first = past + i;
        m->ops->kv_write(m->be, &a, m->ops->at(k, (past + i) * s->n_kv_heads * s->key_dim),
                         m->ops->at(v, (past + i) * s->n_kv_heads * s->value_dim), step);
        m->ops->attend(m->be, &a, m->ops->at(q, i * q_n), step, m->ops->at(out, i * out_n));
    }
    keep(m, r, out, c->n * out_n);
    for (size_t i = 0; i < n_pages; i++) {
        m->ops->free(m->be, pages[i], reals);
        free(packed[i]);
    }
    m->ops->free(m->be, q, c->n * q_n);
    m->ops->free(m->be, k, total * s->n_kv_heads * s->key_dim);
    m->ops->free(m->be, v, total * s->n_kv_heads * s->value_dim);
    free(pages);
    free(packed);
}

static void check_linear(dsx__format format, uint64_t rows, uint64_t columns, size_t n) {
    a_case c = {run_linear, .tolerance = 1e-5, .n = n};

    c.part = part_of(format, rows, columns);
    c.vector = part_of(DSX__F32, 1, rows);
    check_case(&c);
    c.flag = true;
    check_case(&c);
    free_parts(&c);
}

static void test_linear(void) {
    static const size_t counts[] = {0, 1, 2, 3, 13, 25, 101};
    static const uint64_t shapes[][2] = {{1, 1}, {31, 7}, {33, 16}, {64, 300}, {70, 520}};

    for (int f = 0; f < DSX__N_FORMATS; f++)
        for (size_t i = 0; i < 3; i++)
            check_linear((dsx__format)f, i * 40 + 1, i == 2 ? 768 : 256, counts[(size_t)f % 5 + i]);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            check_linear(DSX__F32, shapes[i][0], shapes[i][1], counts[k]);
    check_linear(DSX__BF16, 45, 77, 14);
    check_linear(DSX__F16, 45, 77, 14);
    check_linear(DSX__Q8_0, 45, 96, 14);
    check_linear(DSX__Q4_1, 45, 32, 300); /* more rows than a task has */
}

/* Every format of weights with every rounding of rows; and a head of some. */
static void test_formats(void) {
    static const dsx__format files[] = {DSX__F32, DSX__BF16, DSX__Q8_0, DSX__Q4_0, DSX__Q5_1, DSX__Q6_K};
    static const size_t counts[] = {1, 5, 14, 26};

    for (int i = 0; i < 6 * 6 * 6; i++) {
        int weights = i % 6 < 5 ? i % 6 : DSX_WEIGHTS_FP8, rows = i / 6 % 6;
        bool fixed = rows >= DSX_ROWS_INT8_FIXED, square = i % 6 == 5;
        uint32_t group = weights == DSX_WEIGHTS_W8 || weights == DSX_WEIGHTS_W4 ? 32u << i / 6 % 3
                         : square                                               ? 128
                                                                                : 0;
        dsx__format file = files[i / 36];
        a_case c = {run_linear, .n = counts[i % 4], .flag = i % 5 == 0, .tolerance = 1e-5};

        c.format = (dsx_format){weights, group, rows, fixed ? 0.75f : 0};
        c.part = part_of(file, 70, file == DSX__Q6_K ? 256 : dsx__blocks[file].group > 0 ? 160 : 155);
        c.vector = part_of(DSX__F32, 1, 70);
        check_case(&c);
        c.run = run_head;
        if (i % 7 == 0) check_case(&c);
        free_parts(&c);
    }
    a_case many = {run_linear, .n = 500, .tolerance = 1e-5, .format = {DSX_WEIGHTS_W8, 64, DSX_ROWS_INT8, 0}};
    many.part = part_of(DSX__F32, 33, 64);
    check_case(&many);
    free_parts(&many);
}

static void test_rows(void) {
    static const size_t widths[] = {1, 15, 16, 17, 64, 100, 1536};
    static const size_t counts[] = {0, 1, 5, 40};

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            a_case c = {run_rows, .n = counts[k], .tolerance = 1e-6};

            c.vector = part_of(DSX__F32, 1, widths[i]);
            c.part = part_of(DSX__Q4_1, 50, 64);
            check_case(&c);
            free_parts(&c);
        }
    for (int i = 0; i < 2; i++) check_case(&(a_case){run_rotate, .n = 37, .flag = i != 0, .tolerance = 1e-7});
}

static void test_heads(void) {
    static const size_t counts[] = {0, 1, 2, 17};

    for (size_t k = 0; k < 8; k++) {
        a_case c = {run_heads, .n = counts[k / 2], .flag = k % 2 != 0, .tolerance = 2e-6};

        c.part = part_of(k % 3 == 0 ? DSX__Q8_0 : DSX__BF16, 200, 544);
        check_case(&c);
        free_parts(&c);
    }
    for (size_t n = 0; n < 300; n = n * 3 + 1)
        for (uint64_t rows = 1; rows < 10000; rows = rows * 9 + 2) {
            a_case c = {run_head, .n = n, .tolerance = 2e-6};

            c.part = part_of(DSX__Q4_1, rows, 64);
            check_case(&c);
            free_parts(&c);
        }
}

static void check_attend(uint32_t heads, uint32_t kv_heads, uint32_t key_dim, uint32_t value_dim,
                         uint64_t first, size_t n, uint32_t window, double alibi, dsx__kv_format packed) {
    a_case c = {run_attend, .n = n, .tolerance = 4e-6, .shape = {2, kv_heads, key_dim, value_dim}};

    c.attention = (dsx__attention){.packed_format = packed,
                                   .n_heads = heads,
                                   .first = first,
                                   .window = window,
                                   .alibi = alibi,
                                   .scale = 1 / sqrt((double)key_dim)};
    check_case(&c);
}

static void test_attend(void) {
    check_attend(1, 1, 2, 2, 0, 1, 0, 0, DSX__KV_REALS);
    check_attend(9, 3, 64, 64, 0, 70, 0, 0, DSX__KV_REALS);
    check_attend(4, 2, 8, 24, 130, 1, 0, 0, DSX__KV_REALS);
    check_attend(6, 2, 24, 40, 63, 66, 0, 0, DSX__KV_REALS);
    check_attend(4, 4, 16, 16, 100, 40, 30, 0, DSX__KV_REALS);
    check_attend(4, 1, 16, 16, 300, 90, 65, 0, DSX__KV_REALS);
    check_attend(4, 2, 32, 32, 150, 35, 0, 0.5, DSX__KV_REALS);
    check_attend(2, 1, 576, 512, 70, 12, 0, 0, DSX__KV_REALS);
    check_attend(2, 2, 8, 8, 5, 0, 0, 0, DSX__KV_REALS);
    check_attend(4, 1, 80, 72, 400, 20, 0, 0, DSX__KV_INT8);
    check_attend(3, 1, 600, 200, 140, 9, 0, 0, DSX__KV_INT8);
    check_attend(6, 2, 5, 19, 330, 5, 100, 0, DSX__KV_INT8);
    check_attend(9, 3, 64, 64, 260, 3, 0, 0, DSX__KV_INT4);
    check_attend(2, 1, 33, 7, 280, 30, 0, 0.5, DSX__KV_INT4);
}

/* Packed pages: every instruction set gives the numbers of the definition, whole and in parts, writes nothing
 * beside, and each is as near to what was packed as half a step. */
static void test_packed(void) {
    static const uint32_t dims[] = {1, 2, 7, 16, 17, 64, 130};
    enum { MOST = 130 };
    static float x[DSX__PAGE * MOST], got[DSX__PAGE * MOST + 1];
    static uint8_t bytes[2 * DSX__PAGE * (8 + MOST)];

    for (int k = 0; k < 4 * 7; k++) {
        uint32_t dim = dims[k / 4], from = dim / 3, n = dim - from;
        dsx__kv_shape s = {1, 1, dim, dim};
        dsx__kv_part p = dsx__kv_part_of(&s, k % 2 ? DSX__KV_INT4 : DSX__KV_INT8, bytes, 0, 0, k & 2);
        size_t by_token = p.mean != NULL ? 1 : n, by_dim = p.mean != NULL ? DSX__PAGE : 1;

        for (uint32_t i = 0; i < DSX__PAGE * dim; i++) x[i] = (float)(3 * uniform());
        for (uint32_t e = 0; p.mean != NULL && e < dim; e++) {
            float column[DSX__PAGE];

            for (uint32_t t = 0; t < DSX__PAGE; t++) column[t] = x[t * dim + e] += (float)(e % 5);
            dsx__kv_pack_mean(&p, e, column);
        }
        for (uint32_t t = 0; t < DSX__PAGE; t++) dsx__kv_pack_row(&p, t, x + t * dim);
        for (size_t i = 0; i < N_MACHINES; i++) {
            const dsx__kernels *kernels = ((const dsx__cpu *)machines[i].be)->k;

            for (size_t at = 0; at < DSX__PAGE * MOST + 1; at++) got[at] = 77;
            if (p.mean != NULL)
                kernels->unpack_keys(&p, from, n, got);
            else
                kernels->unpack_values(&p, from, n, got, n);
            for (uint32_t t = 0; t < DSX__PAGE; t++)
                for (uint32_t e = 0; e < n; e++) {
                    float want = dsx__kv_number(&p, t, from + e), off = fabsf(want - x[t * dim + from + e]);

                    CHECK(got[t * by_token + e * by_dim] == want);
                    CHECK(off <= (p.four ? 0.225f : 0.015f));
                }
            CHECK(got[DSX__PAGE * n] == 77);
        }
    }
}

/* ---- threads: every task of every job runs once, however short jobs are and however late a thread comes */

enum { JOB_TASKS = 24 };

typedef struct job_log {
    uint32_t n;
    _Atomic uint32_t runs[JOB_TASKS]; /* of each task */
} job_log;

static void note_run(void *arg, size_t i) {
    job_log *log = arg;

    if (i < log->n)
        (void)atomic_fetch_add(&log->runs[i], 1);
    else
        (void)atomic_fetch_add(&log->runs[0], 1000);
}

static void test_workers(void) {
    static job_log
        logs[2]; /* used in turn: a task that comes late meets the other one, or a count too high */
    dsx__workers *w = dsx__workers_new(4);
    uint32_t wrong = 0;

    CHECK(w != NULL);
    for (uint32_t k = 0; w != NULL && k < 200000; k++) {
        job_log *log = &logs[k % 2];

        log->n = 2 + t_below(&rng, JOB_TASKS - 1);
        for (uint32_t i = 0; i < JOB_TASKS; i++) atomic_store(&log->runs[i], 0);
        dsx__workers_run(w, log->n, note_run, log);
        for (uint32_t i = 0; i < log->n; i++) wrong += atomic_load(&log->runs[i]) != 1;
    }
    CHECK_EQ(wrong, 0);
    dsx__workers_free(w);
}

int main(void) {
    test_workers();
    open_machines();
    test_linear();
    test_formats();
    test_rows();
    test_heads();
    test_attend();
    test_packed();
    close_machines();
    return t_end();
}
