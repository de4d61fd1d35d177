/* SPDX-License-Identifier: MIT */
/* The way back on the float backend: near the definition in double, and the same bits from every
 * instruction set, with any number of threads, and however rows are cut into calls. */
#include "machines.h"

static size_t step_of(const machine *m, size_t n) {
    return !m->one_by_one ? (n > 0 ? n : 1) : n > 20 ? 7 : 1;
}

static size_t part_of_step(size_t step, size_t i, size_t n) {
    return n - i < step ? n - i : step;
}

static void run_linear_back(const machine *m, const a_case *c, result *r) {
    dsx__matrix *w = load(m, c->part, &c->format);
    size_t rows = c->part.rows, columns = c->part.columns, step = step_of(m, c->n);
    dsx__real *g = numbers(m, 3, c->n * rows, 1), *out = numbers(m, 4, c->n * columns, 1);

    for (size_t i = 0; i < c->n; i += step)
        m->ops->linear_back(m->be, w, m->ops->at(g, i * rows), part_of_step(step, i, c->n),
                            m->ops->at(out, i * columns), c->flag);
    keep(m, r, out, c->n * columns);
    m->ops->free(m->be, g, c->n * rows);
    m->ops->unload(m->be, w);
}

static void run_norm_back(const machine *m, const a_case *c, result *r) {
    size_t width = c->vector.columns, x_stride = width + 3, g_stride = width + 1, stride = width + 2;
    dsx__matrix *w = load(m, c->vector, NULL);
    dsx__real *x = numbers(m, 5, c->n * x_stride, 2), *g = numbers(m, 6, c->n * g_stride, 1),
              *out = numbers(m, 7, c->n * stride, 1);

    m->ops->norm_back(m->be, x, c->n, (uint32_t)width, (uint32_t)x_stride, w, 1e-5, g, (uint32_t)g_stride,
                      out, (uint32_t)stride, c->flag);
    keep(m, r, out, c->n * stride);
    m->ops->free(m->be, x, c->n * x_stride);
    m->ops->free(m->be, g, c->n * g_stride);
    m->ops->unload(m->be, w);
}

/* Numbers that are not the backend's own. */
static void keep_doubles(result *r, const double *x, size_t n) {
    r->x = realloc(r->x, (r->n + n + 1) * sizeof *r->x);
    memcpy(r->x + r->n, x, n * sizeof *x);
    r->n += n;
}

static void run_dots(const machine *m, const a_case *c, result *r) {
    size_t width = c->vector.columns, x_stride = width + 2, y_stride = c->flag ? 0 : width + 5;
    dsx__real *x = numbers(m, 8, c->n * x_stride, 2), *y = numbers(m, 9, c->n * y_stride + width, 2);
    double out[64];

    for (size_t i = 0; i < c->n; i++) out[i] = (double)i;
    m->ops->dots(m->be, x, (uint32_t)x_stride, y, (uint32_t)y_stride, c->n, (uint32_t)width, out);
    keep_doubles(r, out, c->n);
    m->ops->free(m->be, x, c->n * x_stride);
    m->ops->free(m->be, y, c->n * y_stride + width);
}

/* Gram matrices of shape.n_layers heads, and lengths of values that shape.n_kv_heads of them share. */
static void run_lengths(const machine *m, const a_case *c, result *r) {
    uint32_t heads = c->attention.n_heads, kv_heads = c->shape.n_kv_heads, dim = c->shape.value_dim;
    dsx__matrix *w = load(m, c->part, &c->format);
    size_t n_gram = (size_t)heads * dim * dim, step = step_of(m, c->n);
    dsx__real *gram = m->ops->alloc(m->be, n_gram), *own = m->ops->alloc(m->be, c->n * heads + 1),
              *out = m->ops->alloc(m->be, c->n * heads + 1),
              *values = numbers(m, 10, c->n * kv_heads * dim, 1);

    m->ops->gram(m->be, w, heads, dim, gram);
    for (size_t i = 0; i < c->n; i += step)
        m->ops->lengths(m->be, gram, heads, kv_heads, dim, m->ops->at(values, i * kv_heads * dim),
                        part_of_step(step, i, c->n), m->ops->at(out, i * heads));
    if (kv_heads == 1) m->ops->lengths(m->be, NULL, heads, 1, dim, values, c->n, own);
    keep(m, r, gram, n_gram);
    keep(m, r, out, c->n * heads);
    keep(m, r, own, c->n * heads);
    m->ops->free(m->be, values, c->n * kv_heads * dim);
    m->ops->unload(m->be, w);
}

/* ---- attention */

typedef struct text {
    dsx__attention a;
    dsx__real **pages, *q, *u;
    size_t total, n_pages;
} text;

/* Keys and values of attention.first + n tokens; queries and gradients of the last n. */
static text new_text(const machine *m, const a_case *c) {
    const dsx__kv_shape *s = &c->shape;
    text t = {.a = c->attention, .total = (size_t)c->attention.first + c->n};
    size_t k_n = t.total * s->n_kv_heads * s->key_dim, v_n = t.total * s->n_kv_heads * s->value_dim;
    dsx__real *k = numbers(m, 13, k_n, 1), *v = numbers(m, 14, v_n, 1);

    t.n_pages = t.total / DSX__PAGE + 1;
    t.pages = calloc(t.n_pages, sizeof *t.pages);
    for (size_t i = 0; i < t.n_pages; i++) t.pages[i] = m->ops->alloc(m->be, dsx__kv_page_reals(s));
    t.a.shape = s;
    t.a.pages = t.pages;
    t.a.layer = s->n_layers - 1;
    t.a.first = 0;
    m->ops->kv_write(m->be, &t.a, k, v, t.total);
    m->ops->free(m->be, k, k_n);
    m->ops->free(m->be, v, v_n);
    t.q = numbers(m, 12, c->n * t.a.n_heads * s->key_dim, 2);
    t.u = numbers(m, 15, c->n * t.a.n_heads * s->value_dim, 1);
    return t;
}

static void free_text(const machine *m, const a_case *c, text *t) {
    for (size_t i = 0; i < t->n_pages; i++) m->ops->free(m->be, t->pages[i], dsx__kv_page_reals(&c->shape));
    m->ops->free(m->be, t->q, c->n * t->a.n_heads * c->shape.key_dim);
    m->ops->free(m->be, t->u, c->n * t->a.n_heads * c->shape.value_dim);
    free(t->pages);
}

/* On top of what is there already. */
static void add_back(const machine *m, const a_case *c, text *t, bool with_u, bool with_mass, result *r) {
    size_t heads = t->a.n_heads, step = step_of(m, c->n),
           n_values = t->total * c->shape.n_kv_heads * c->shape.value_dim, n_mass = t->total * heads;
    dsx__real *values = numbers(m, 16, n_values, 1), *mass = numbers(m, 17, n_mass, 1),
              *room = m->ops->alloc(m->be, 2 * c->n * heads + 1);

    for (size_t i = 0; i < c->n; i += step) {
        t->a.first = c->attention.first + i;
        m->ops->attend_back(m->be, &t->a, m->ops->at(t->q, i * heads * c->shape.key_dim),
                            with_u ? m->ops->at(t->u, i * heads * c->shape.value_dim) : NULL,
                            part_of_step(step, i, c->n), room, values, with_mass ? mass : NULL);
    }
    keep(m, r, values, n_values);
    keep(m, r, mass, n_mass);
    m->ops->free(m->be, room, 2 * c->n * heads + 1);
}

static void run_attend_back(const machine *m, const a_case *c, result *r) {
    text t = new_text(m, c);
    size_t n_values = t.total * c->shape.n_kv_heads * c->shape.value_dim;
    dsx__real *values = m->ops->alloc(m->be, n_values + 1);

    add_back(m, c, &t, true, true, r);
    add_back(m, c, &t, true, false, r);
    add_back(m, c, &t, false, true, r);
    for (size_t i = 0, n; i < t.total; i += n) {
        n = part_of_step(m->one_by_one ? 50 : t.total, i, t.total);
        m->ops->kv_values(m->be, &t.a, i, n,
                          m->ops->at(values, i * c->shape.n_kv_heads * c->shape.value_dim));
    }
    keep(m, r, values, n_values);
    free_text(m, c, &t);
}

/* What attention gives is the sum of its weights times values: so the sum of u . out is that of values
 * times what attend_back says of them, and all weights of a row are 1. */
static void check_twin(const a_case *c) {
    const machine *m = &plain;
    text t = new_text(m, c);
    size_t heads = t.a.n_heads, dim = c->shape.value_dim, n_out = c->n * heads * dim,
           n_values = t.total * c->shape.n_kv_heads * dim, n_mass = t.total * heads;
    dsx__real *out = m->ops->alloc(m->be, n_out + 1), *values = m->ops->alloc(m->be, n_values + 1),
              *mass = m->ops->alloc(m->be, n_mass + 1), *v = m->ops->alloc(m->be, n_values + 1);
    double there = 0, back = 0, all = 0;

    t.a.first = c->attention.first;
    m->ops->attend(m->be, &t.a, t.q, c->n, out);
    m->ops->attend_back(m->be, &t.a, t.q, t.u, c->n, NULL, values, mass);
    m->ops->kv_values(m->be, &t.a, 0, t.total, v);
    m->ops->dots(m->be, out, 0, t.u, 0, 1, (uint32_t)n_out, &there);
    m->ops->dots(m->be, values, 0, v, 0, 1, (uint32_t)n_values, &back);
    for (size_t i = 0; i < n_mass; i++) all += ((const double *)(const void *)mass)[i];
    CHECK(fabs(there - back) <= 1e-12 * (fabs(there) + 1));
    CHECK(fabs(all - (double)(c->n * heads)) <= 1e-12 * (double)(c->n * heads));
    m->ops->free(m->be, out, n_out + 1);
    m->ops->free(m->be, values, n_values + 1);
    m->ops->free(m->be, mass, n_mass + 1);
    m->ops->free(m->be, v, n_values + 1);
    free_text(m, c, &t);
}

/* ---- */

static void check_linear_back(dsx__format format, int weights, uint64_t rows, uint64_t columns, size_t n) {
    a_case c = {run_linear_back, .tolerance = 1e-5, .n = n, .format = {.weights = weights, .group = 32}};

    c.part = part_of(format, rows, columns);
    check_case(&c);
    c.flag = true;
    check_case(&c);
    free_parts(&c);
}

static void test_linear_back(void) {
    static const uint64_t shapes[][2] = {{1, 1}, {31, 7}, {33, 16}, {64, 300}, {70, 520}};
    static const size_t counts[] = {0, 1, 3, 25, 101};

    for (int f = 0; f < DSX__N_FORMATS; f++)
        check_linear_back((dsx__format)f, 0, 33 + (uint64_t)f % 5 * 20, f % 3 ? 256 : 768, counts[f % 5]);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            check_linear_back(DSX__F32, 0, shapes[i][0], shapes[i][1], counts[k]);
    check_linear_back(DSX__Q4_1, 0, 45, 32, 300); /* more rows than go together */
    check_linear_back(DSX__BF16, DSX_WEIGHTS_W8, 45, 96, 14);
    check_linear_back(DSX__F32, DSX_WEIGHTS_W4, 70, 160, 5);
}

static void test_rows_back(void) {
    static const uint64_t widths[] = {1, 15, 16, 17, 100, 1536};
    static const size_t counts[] = {0, 1, 5, 40};

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (size_t k = 0; k < 8; k++) {
            a_case c = {run_norm_back, .n = counts[k / 2], .flag = k % 2 != 0, .tolerance = 1e-6};

            c.vector = part_of(DSX__F32, 1, widths[i]);
            check_case(&c);
            c.run = run_dots;
            c.tolerance = 1e-15;
            check_case(&c);
            free_parts(&c);
        }
}

static void check_lengths(dsx__format format, uint64_t rows, uint32_t heads, uint32_t kv_heads, uint32_t dim,
                          size_t n) {
    a_case c = {run_lengths, .n = n, .tolerance = 1e-5, .shape = {1, kv_heads, dim, dim}};

    c.attention.n_heads = heads;
    c.part = part_of(format, rows, (uint64_t)heads * dim);
    check_case(&c);
    free_parts(&c);
}

static void test_lengths(void) {
    check_lengths(DSX__F32, 1, 1, 1, 1, 1);
    check_lengths(DSX__F32, 33, 6, 2, 5, 40);
    check_lengths(DSX__BF16, 64, 3, 1, 19, 17);
    check_lengths(DSX__Q8_0, 70, 4, 2, 64, 33);
    check_lengths(DSX__F16, 50, 2, 1, 130, 16);
    check_lengths(DSX__F32, 40, 1, 1, 300, 5);
    check_lengths(DSX__F32, 32, 2, 2, 8, 0);
}

static void check_attend_back(uint32_t heads, uint32_t kv_heads, uint32_t key_dim, uint32_t value_dim,
                              uint64_t first, size_t n, uint32_t window, double alibi) {
    a_case c = {run_attend_back, .n = n, .tolerance = 4e-6, .shape = {2, kv_heads, key_dim, value_dim}};

    c.attention = (dsx__attention){.n_heads = heads,
                                   .first = first,
                                   .window = window,
                                   .alibi = alibi,
                                   .scale = 1 / sqrt((double)key_dim)};
    check_case(&c);
    if (n > 0) check_twin(&c);
}

static void test_attend_back(void) {
    check_attend_back(1, 1, 2, 2, 0, 1, 0, 0);
    check_attend_back(9, 3, 64, 64, 0, 70, 0, 0);
    check_attend_back(4, 2, 8, 24, 130, 1, 0, 0);
    check_attend_back(6, 2, 24, 40, 63, 66, 0, 0);
    check_attend_back(4, 4, 16, 16, 100, 40, 30, 0);
    check_attend_back(4, 1, 16, 16, 300, 90, 65, 0);
    check_attend_back(4, 2, 32, 32, 150, 35, 0, 0.5);
    check_attend_back(3, 1, 5, 19, 37, 50, 0, 0.25);
    check_attend_back(2, 1, 300, 130, 60, 9, 0, 0);
    check_attend_back(2, 1, 576, 512, 70, 12, 0, 0);
    check_attend_back(1, 1, 600, 129, 64, 3, 0, 0);
    check_attend_back(2, 2, 8, 8, 5, 0, 0, 0);
    check_attend_back(5, 1, 7, 3, 700, 2, 0, 0);
    check_attend_back(2, 1, 16, 16, 448, 64, 1, 0);
}

int main(void) {
    open_machines();
    test_linear_back();
    test_rows_back();
    test_lengths();
    test_attend_back();
    close_machines();
    return t_end();
}
