/* SPDX-License-Identifier: MIT */
/* The way back through linear maps, norms and attention, for explanations. Sums have one order here, too: rows
 * of a matrix, and rows of the text, from the first to the last. */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#define R(p)  ((float *)(void *)(p))
#define CR(p) ((const float *)(const void *)(p))

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- linear maps: a task has some columns of the result, and adds up all rows of the matrix */

#define SOME_ROWS 240u /* of gradients, that go together */

typedef struct linear_job {
    const dsx__kernels *k;
    const dsx__matrix *m;
    const float *g;
    float *out;
    size_t n, step; /* rows; columns of a task, a multiple of 32 */
    bool add;
} linear_job;

/* Weights of a panel and n columns as [32][DSX__STRETCH]. */
static void turned_panel(const linear_job *j, size_t panel, size_t from, size_t n, float *turned) {
    _Alignas(64) float w[DSX__STRETCH * DSX__PANEL];

    j->k->unpack(j->m, panel, from, n, w);
    for (size_t r = 0; r < DSX__PANEL; r++)
        for (size_t i = 0; i < n; i++) turned[r * DSX__STRETCH + i] = w[i * DSX__PANEL + r];
}

static void columns_task(void *arg, size_t task) {
    const linear_job *j = arg;
    _Alignas(64) float turned[DSX__PANEL * DSX__STRETCH], g[DSX__PANEL * SOME_ROWS];
    size_t columns = (size_t)j->m->columns, rows = (size_t)j->m->rows, from = task * j->step,
           n = least(columns - from, j->step);
    float *c[SOME_ROWS];

    for (size_t i = 0; i < j->n; i++) c[i] = j->out + i * columns + from;
    for (size_t at = 0; at < rows; at += DSX__PANEL) {
        size_t depth = least(rows - at, DSX__PANEL);

        turned_panel(j, at / DSX__PANEL, from, n, turned);
        for (size_t r = 0; r < depth; r++)
            for (size_t i = 0; i < j->n; i++) g[r * j->n + i] = j->g[i * rows + at + r];
        j->k->multiply(j->n, n, depth, g, j->n, turned, DSX__STRETCH, c, at == 0 && !j->add);
    }
}

void dsx__cpu_linear_back(void *be, const dsx__matrix *m, const dsx__real *g, size_t n, dsx__real *out,
                          bool add) {
    dsx__cpu *cpu = be;
    size_t columns = (size_t)m->columns, units = (columns + 31) / 32,
           tasks = 2 * dsx__workers_count(cpu->workers);
    linear_job j = {.k = cpu->k, .m = m, .add = add};

    j.step = least((units + tasks - 1) / tasks * 32, DSX__STRETCH);
    for (size_t i = 0; i < n; i += j.n) {
        j.n = least(n - i, SOME_ROWS);
        j.g = CR(g) + i * (size_t)m->rows;
        j.out = R(out) + i * columns;
        dsx__workers_run(cpu->workers, (columns + j.step - 1) / j.step, columns_task, &j);
    }
}

/* ---- attention. Rows are those of attend.c: row r is token r / group, head r % group of a key-value head */

#define PAGES 4u   /* that a task has */
#define DIMS  128u /* of values, at a time */

typedef struct attend_job {
    const dsx__kernels *k;
    const dsx__attention *a;
    const float *q, *u;
    float *logs, *values, *mass; /* logs: of the sums of weights, to base 2, [n][n_heads] */
    size_t group, rows;
} attend_job;

static size_t head_of(const attend_job *j, size_t kv_head, size_t row) {
    return row / j->group * j->a->n_heads + kv_head * j->group + row % j->group;
}

static uint64_t first_seen(const attend_job *j, size_t row) {
    uint64_t position = j->a->first + row / j->group;

    return j->a->window > 0 && position >= j->a->window ? position - j->a->window + 1 : 0;
}

static float clamp(uint64_t at, uint64_t from) {
    return at <= from ? 0 : at - from >= DSX__PAGE ? (float)DSX__PAGE : (float)(at - from);
}

static void set_lane(const attend_job *j, size_t kv_head, size_t row, uint64_t from, dsx__lanes *l,
                     size_t i) {
    uint64_t position = j->a->first + row / j->group;
    size_t head = kv_head * j->group + row % j->group;

    l->first[i] = clamp(first_seen(j, row), from);
    l->end[i] = clamp(position + 1, from);
    l->slope[i] =
        (float)(j->a->alibi * exp2(-8.0 * (double)(head + 1) / j->a->n_heads) * 1.4426950408889634074);
    l->base[i] = -(float)((int64_t)position - (int64_t)from);
    l->masked |= l->first[i] > 0 || l->end[i] < (float)DSX__PAGE;
}

static void start_lanes(const attend_job *j, dsx__lanes *l) {
    memset(l, 0, sizeof *l);
    l->scale = (float)(j->a->scale * 1.4426950408889634074);
    l->biased = j->a->alibi != 0;
    for (size_t i = 0; i < DSX__LANES; i++) l->max[i] = -1e30f;
}

/* Queries of rows [row, row + n) as [key_dim][DSX__LANES], some dimensions at a time. */
static void turn(const attend_job *j, size_t kv_head, size_t row, size_t n, size_t from, size_t dims,
                 float *to) {
    for (size_t i = 0; i < n; i++) {
        const float *q = j->q + head_of(j, kv_head, row + i) * j->a->shape->key_dim + from;

        for (size_t d = 0; d < dims; d++) to[d * DSX__LANES + i] = q[d];
    }
}

/* scores [n][64] of rows with a page, then their weights against l->max, which may grow. */
static void weigh_page(const attend_job *j, size_t kv_head, size_t row, size_t n, uint64_t page,
                       dsx__lanes *l, float *scores) {
    const dsx__kv_shape *s = j->a->shape;
    const float *keys =
        CR(j->a->pages[page]) + j->a->layer * dsx__kv_layer_reals(s) + kv_head * s->key_dim * DSX__PAGE;
    _Alignas(64) float turned[DIMS * DSX__LANES];
    float *c[DSX__LANES];

    for (size_t i = 0; i < n; i++) c[i] = scores + i * DSX__PAGE;
    for (size_t d = 0; d < s->key_dim; d += DIMS) {
        size_t dims = least(s->key_dim - d, DIMS);

        turn(j, kv_head, row, n, d, dims, turned);
        j->k->multiply(n, DSX__PAGE, dims, turned, DSX__LANES, keys + d * DSX__PAGE, DSX__PAGE, c, d == 0);
    }
    l->masked = false;
    for (size_t i = 0; i < n; i++) set_lane(j, kv_head, row + i, page * DSX__PAGE, l, i);
    for (size_t i = 0; i < n; i++) j->k->weigh_row(l, i, c[i]);
}

/* The logarithm of the sum of weights of up to DSX__LANES rows. */
static void logs_task(void *arg, size_t task) {
    const attend_job *j = arg;
    size_t blocks = (j->rows + DSX__LANES - 1) / DSX__LANES, kv_head = task / blocks,
           row = task % blocks * DSX__LANES, n = least(j->rows - row, DSX__LANES);
    uint64_t end = (j->a->first + (row + n - 1) / j->group) / DSX__PAGE + 1;
    _Alignas(64) float scores[DSX__LANES * DSX__PAGE];
    dsx__lanes l;

    start_lanes(j, &l);
    for (uint64_t page = first_seen(j, row) / DSX__PAGE; page < end; page++)
        weigh_page(j, kv_head, row, n, page, &l, scores);
    for (size_t i = 0; i < n; i++) j->logs[head_of(j, kv_head, row + i)] = l.max[i] + log2f(l.sum[i]);
}

/* values of a page += weights of n rows, transposed, times their u. */
static void add_values(const attend_job *j, size_t kv_head, size_t row, size_t n, size_t keys, float *scores,
                       float *values) {
    size_t dim = j->a->shape->value_dim, stride = j->a->shape->n_kv_heads * dim;
    _Alignas(64) float u[DSX__LANES * DIMS];
    float *c[DSX__PAGE];

    for (size_t d = 0; d < dim; d += DIMS) {
        size_t dims = least(dim - d, DIMS);

        for (size_t i = 0; i < n; i++)
            memcpy(u + i * DIMS, j->u + head_of(j, kv_head, row + i) * dim + d, dims * sizeof *u);
        for (size_t t = 0; t < keys; t++) c[t] = values + t * stride + d;
        j->k->multiply(keys, dims, n, scores, DSX__PAGE, u, DIMS, c, false);
    }
}

static void add_mass(const attend_job *j, size_t kv_head, size_t row, size_t n, size_t keys,
                     const float *scores, float *mass) {
    for (size_t i = 0; i < n; i++) {
        float *to = mass + kv_head * j->group + (row + i) % j->group;

        for (size_t t = 0; t < keys; t++) to[t * j->a->n_heads] += scores[i * DSX__PAGE + t];
    }
}

/* What all rows give to one page. */
static void page_back(const attend_job *j, size_t kv_head, uint64_t page) {
    const dsx__kv_shape *s = j->a->shape;
    uint64_t from = page * DSX__PAGE, end = j->a->first + j->rows / j->group;
    size_t keys = (size_t)clamp(end, from),
           row = from > j->a->first ? (size_t)(from - j->a->first) * j->group : 0;
    _Alignas(64) float scores[DSX__LANES * DSX__PAGE];

    for (; row < j->rows && first_seen(j, row) < from + DSX__PAGE; row += DSX__LANES) {
        size_t n = least(j->rows - row, DSX__LANES);
        dsx__lanes l;

        start_lanes(j, &l);
        for (size_t i = 0; i < n; i++) l.max[i] = j->logs[head_of(j, kv_head, row + i)];
        weigh_page(j, kv_head, row, n, page, &l, scores);
        if (j->u != NULL)
            add_values(j, kv_head, row, n, keys, scores,
                       j->values + ((size_t)from * s->n_kv_heads + kv_head) * s->value_dim);
        if (j->mass != NULL)
            add_mass(j, kv_head, row, n, keys, scores, j->mass + (size_t)from * j->a->n_heads);
    }
}

static void pages_task(void *arg, size_t task) {
    const attend_job *j = arg;
    size_t n_kv_heads = j->a->shape->n_kv_heads;
    uint64_t page = first_seen(j, 0) / DSX__PAGE + task / n_kv_heads * PAGES,
             end = (j->a->first + j->rows / j->group + DSX__PAGE - 1) / DSX__PAGE;

    for (uint64_t p = page; p < page + PAGES && p < end; p++) page_back(j, task % n_kv_heads, p);
}

void dsx__cpu_attend_back(void *be, const dsx__attention *a, const dsx__real *q, const dsx__real *u, size_t n,
                          dsx__real *room, dsx__real *values, dsx__real *mass) {
    dsx__cpu *cpu = be;
    size_t group = a->n_heads / a->shape->n_kv_heads, heads = a->shape->n_kv_heads, pages;
    attend_job j = {cpu->k, a, CR(q), CR(u), R(room), R(values), R(mass), group, n * group};

    if (n == 0) return;
    pages = (size_t)((a->first + n + DSX__PAGE - 1) / DSX__PAGE - first_seen(&j, 0) / DSX__PAGE);
    dsx__workers_run(cpu->workers, (j.rows + DSX__LANES - 1) / DSX__LANES * heads, logs_task, &j);
    dsx__workers_run(cpu->workers, (pages + PAGES - 1) / PAGES * heads, pages_task, &j);
}

void dsx__cpu_kv_values(void *be, const dsx__attention *a, uint64_t from, size_t n, dsx__real *out) {
    const dsx__kv_shape *s = a->shape;
    size_t before = a->layer * dsx__kv_layer_reals(s) + (size_t)s->n_kv_heads * s->key_dim * DSX__PAGE;

    (void)be;
    for (size_t i = 0; i < n; i++)
        for (size_t h = 0; h < s->n_kv_heads; h++) {
            const float *page = CR(a->pages[(from + i) / DSX__PAGE]) + before;

            memcpy(R(out) + (i * s->n_kv_heads + h) * s->value_dim,
                   page + (h * DSX__PAGE + (from + i) % DSX__PAGE) * s->value_dim,
                   s->value_dim * sizeof(float));
        }
}

/* ---- lengths of what heads give: |W v| */

typedef struct norms_job {
    const dsx__kernels *k;
    const dsx__matrix *m;
    const float *values;
    float *out;
    size_t n, n_heads, n_kv_heads, dim;
} norms_job;

/* Tokens [from, from + n) with one head: the squares of W v, panel by panel. */
static void some_norms(const norms_job *j, size_t head, size_t from, size_t n) {
    _Alignas(64) float w[(DIMS + DSX__PANEL) * DSX__PANEL], x[DIMS * DSX__LANES], y[DSX__LANES * DSX__PANEL];
    size_t kv_head = head / (j->n_heads / j->n_kv_heads);
    float *c[DSX__LANES];
    double sums[DSX__LANES] = {0};

    for (size_t i = 0; i < n; i++) c[i] = y + i * DSX__PANEL;
    for (size_t panel = 0; panel < j->m->n_panels; panel++) {
        for (size_t d = 0; d < j->dim; d += DIMS) {
            size_t dims = least(j->dim - d, DIMS), at = head * j->dim + d, skip = at % DSX__PANEL;

            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < dims; k++)
                    x[k * DSX__LANES + i] =
                        j->values[((from + i) * j->n_kv_heads + kv_head) * j->dim + d + k];
            j->k->unpack(j->m, panel, at - skip, dims + skip, w);
            j->k->multiply(n, DSX__PANEL, dims, x, DSX__LANES, w + skip * DSX__PANEL, DSX__PANEL, c, d == 0);
        }
        for (size_t i = 0; i < n; i++) sums[i] += (double)j->k->sum_squares(c[i], DSX__PANEL);
    }
    for (size_t i = 0; i < n; i++) j->out[(from + i) * j->n_heads + head] = (float)sqrt(sums[i]);
}

static void norms_task(void *arg, size_t task) {
    const norms_job *j = arg;
    size_t from = task / j->n_heads * DSX__LANES;

    some_norms(j, task % j->n_heads, from, least(j->n - from, DSX__LANES));
}

/* A latent's own length, for all heads. */
static void latent_norms(void *arg, size_t i) {
    const norms_job *j = arg;
    float length = sqrtf(j->k->sum_squares(j->values + i * j->dim, j->dim));

    for (size_t h = 0; h < j->n_heads; h++) j->out[i * j->n_heads + h] = length;
}

void dsx__cpu_head_norms(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t n_kv_heads, uint32_t dim,
                         const dsx__real *values, size_t n, dsx__real *out) {
    dsx__cpu *cpu = be;
    norms_job j = {cpu->k, m, CR(values), R(out), n, n_heads, n_kv_heads, dim};

    if (m == NULL)
        dsx__workers_run(cpu->workers, n, latent_norms, &j);
    else
        dsx__workers_run(cpu->workers, (n + DSX__LANES - 1) / DSX__LANES * n_heads, norms_task, &j);
}

/* ---- row by row */

typedef struct norm_job {
    const dsx__kernels *k;
    const float *x, *w, *g;
    float *out;
    size_t width, stride, g_stride, out_stride;
    double eps;
    bool add;
} norm_job;

static void norm_row(void *arg, size_t i) {
    const norm_job *j = arg;
    const float *x = j->x + i * j->stride, *g = j->g + i * j->g_stride;
    float *out = j->out + i * j->out_stride;
    double mean = (double)j->k->sum_squares(x, j->width) / (double)j->width;
    float by = (float)(1 / sqrt(mean + j->eps));

    for (size_t k = 0; k < j->width; k++) {
        float y = g[k] * by * j->w[k];

        out[k] = j->add ? out[k] + y : y;
    }
}

void dsx__cpu_norm_back(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride,
                        const dsx__matrix *w, double eps, const dsx__real *g, uint32_t g_stride,
                        dsx__real *out, uint32_t out_stride, bool add) {
    dsx__cpu *cpu = be;
    norm_job j = {cpu->k, CR(x), w->vector, CR(g), R(out), width, stride, g_stride, out_stride, eps, add};

    dsx__workers_run(cpu->workers, n, norm_row, &j);
}

void dsx__cpu_dots(void *be, const dsx__real *x, uint32_t stride, const dsx__real *y, uint32_t y_stride,
                   size_t n, uint32_t width, double *out) {
    (void)be;
    for (size_t i = 0; i < n; i++) {
        const float *a = CR(x) + i * stride, *b = CR(y) + i * y_stride;
        double sum = 0;

        for (size_t k = 0; k < width; k++) sum += (double)a[k] * (double)b[k];
        out[i] += sum;
    }
}
