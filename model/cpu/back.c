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
static void turned_panel(const dsx__kernels *k, const dsx__matrix *m, size_t panel, size_t from, size_t n,
                         float *turned) {
    _Alignas(64) float w[DSX__STRETCH * DSX__PANEL];

    k->unpack(m, panel, from, n, w);
    for (size_t r = 0; r < DSX__PANEL; r++)
        for (size_t i = 0; i < n; i++) turned[r * DSX__STRETCH + i] = w[i * DSX__PANEL + r];
}

static void columns_task(void *arg, size_t task) {
    const linear_job *j = arg;
    _Alignas(64) float turned[DSX__PANEL * DSX__STRETCH], g[DSX__PANEL * SOME_ROWS];
    size_t columns = (size_t)j->m->columns, rows = (size_t)j->m->rows,
           end = least(columns, (task + 1) * j->step);
    float *c[SOME_ROWS];

    for (size_t at = 0; at < rows; at += DSX__PANEL) {
        size_t depth = least(rows - at, DSX__PANEL);

        for (size_t i = 0; i < j->n; i++)
            for (size_t r = 0; r < depth; r++) g[r * j->n + i] = j->g[i * rows + at + r];
        for (size_t from = task * j->step; from < end; from += DSX__STRETCH) {
            size_t n = least(end - from, DSX__STRETCH);

            turned_panel(j->k, j->m, at / DSX__PANEL, from, n, turned);
            for (size_t i = 0; i < j->n; i++) c[i] = j->out + i * columns + from;
            j->k->multiply(j->n, n, depth, g, j->n, turned, DSX__STRETCH, c, at == 0 && !j->add);
        }
    }
}

void dsx__cpu_linear_back(void *be, const dsx__matrix *m, const dsx__real *g, size_t n, dsx__real *out,
                          bool add) {
    dsx__cpu *cpu = be;
    size_t columns = (size_t)m->columns, units = (columns + 31) / 32,
           tasks = 2 * dsx__workers_count(cpu->workers);
    linear_job j = {.k = cpu->k, .m = m, .add = add};

    j.step = (units + tasks - 1) / tasks * 32;
    for (size_t i = 0; i < n; i += j.n) {
        j.n = least(n - i, SOME_ROWS);
        j.g = CR(g) + i * (size_t)m->rows;
        j.out = R(out) + i * columns;
        dsx__workers_run(cpu->workers, (columns + j.step - 1) / j.step, columns_task, &j);
    }
}

/* ---- attention. Rows are those of attend.c: row r is token r / group, head r % group of a key-value head */

#define PAGES    4u   /* that a task has */
#define DIMS     128u /* of values, at a time */
#define TURN_DIM 576u /* of keys: queries of so many are turned once for all pages of a task */

typedef struct attend_job {
    const dsx__kernels *k;
    const dsx__attention *a;
    const float *q, *u;
    float *max, *by, *values, *mass; /* of rows, [n][n_heads]: greatest score, 1 / sum of weights */
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

/* Rows that go together: up to DSX__LANES of one key-value head. */
typedef struct block {
    size_t kv_head, row, n;
    dsx__lanes l;
    _Alignas(64) float q[TURN_DIM * DSX__LANES], scores[DSX__LANES * DSX__PAGE]; /* [dim][lanes], [row][64] */
} block;

/* Dimensions [from, from + n) of the queries to b->q. */
static void turn(const attend_job *j, block *b, size_t from, size_t n) {
    for (size_t i = 0; i < b->n; i++) {
        const float *q = j->q + head_of(j, b->kv_head, b->row + i) * j->a->shape->key_dim + from;

        for (size_t d = 0; d < n; d++) b->q[d * DSX__LANES + i] = q[d];
    }
}

static void start_block(const attend_job *j, size_t kv_head, size_t row, block *b) {
    b->kv_head = kv_head;
    b->row = row;
    b->n = least(j->rows - row, DSX__LANES);
    memset(&b->l, 0, sizeof b->l);
    b->l.scale = (float)(j->a->scale * 1.4426950408889634074);
    b->l.biased = j->a->alibi != 0;
    for (size_t i = 0; i < b->n; i++) {
        size_t head = kv_head * j->group + (row + i) % j->group;

        b->l.max[i] = -1e30f;
        if (b->l.biased)
            b->l.slope[i] = (float)(j->a->alibi * exp2(-8.0 * (double)(head + 1) / j->a->n_heads) *
                                    1.4426950408889634074);
    }
    if (j->a->shape->key_dim <= TURN_DIM) turn(j, b, 0, j->a->shape->key_dim);
}

/* Weights of the rows against b->l.max, which grows where it must. */
static void weigh_page(const attend_job *j, block *b, uint64_t page) {
    const dsx__kv_shape *s = j->a->shape;
    const float *keys =
        CR(j->a->pages[page]) + j->a->layer * dsx__kv_layer_reals(s) + b->kv_head * s->key_dim * DSX__PAGE;
    uint64_t from = page * DSX__PAGE;
    float *c[DSX__LANES];

    for (size_t i = 0; i < b->n; i++) c[i] = b->scores + i * DSX__PAGE;
    for (size_t d = 0; d < s->key_dim; d += TURN_DIM) {
        size_t dims = least(s->key_dim - d, TURN_DIM);

        if (s->key_dim > TURN_DIM) turn(j, b, d, dims);
        j->k->multiply(b->n, DSX__PAGE, dims, b->q, DSX__LANES, keys + d * DSX__PAGE, DSX__PAGE, c, d == 0);
    }
    b->l.masked = false;
    for (size_t i = 0; i < b->n; i++) {
        uint64_t position = j->a->first + (b->row + i) / j->group;

        b->l.first[i] = clamp(first_seen(j, b->row + i), from);
        b->l.end[i] = clamp(position + 1, from);
        b->l.base[i] = -(float)((int64_t)position - (int64_t)from);
        b->l.masked |= b->l.first[i] > 0 || b->l.end[i] < (float)DSX__PAGE;
    }
    for (size_t i = 0; i < b->n; i++) j->k->weigh_row(&b->l, i, c[i]);
}

static void sums_task(void *arg, size_t task) {
    const attend_job *j = arg;
    size_t blocks = (j->rows + DSX__LANES - 1) / DSX__LANES;
    block b;

    start_block(j, task / blocks, task % blocks * DSX__LANES, &b);
    uint64_t end = (j->a->first + (b.row + b.n - 1) / j->group) / DSX__PAGE + 1;
    for (uint64_t page = first_seen(j, b.row) / DSX__PAGE; page < end; page++) weigh_page(j, &b, page);
    for (size_t i = 0; i < b.n; i++) {
        j->max[head_of(j, b.kv_head, b.row + i)] = b.l.max[i];
        j->by[head_of(j, b.kv_head, b.row + i)] = 1.0f / b.l.sum[i];
    }
}

/* values of a page's keys += weights, transposed, times the rows' u. */
static void add_values(const attend_job *j, const block *b, size_t keys, float *values) {
    size_t dim = j->a->shape->value_dim, stride = j->a->shape->n_kv_heads * dim;
    _Alignas(64) float u[DSX__LANES * DIMS];
    float *c[DSX__PAGE];

    for (size_t d = 0; d < dim; d += DIMS) {
        size_t dims = least(dim - d, DIMS);

        for (size_t i = 0; i < b->n; i++)
            memcpy(u + i * DIMS, j->u + head_of(j, b->kv_head, b->row + i) * dim + d, dims * sizeof *u);
        for (size_t t = 0; t < keys; t++) c[t] = values + t * stride + d;
        j->k->multiply(keys, dims, b->n, b->scores, DSX__PAGE, u, DIMS, c, false);
    }
}

static void add_mass(const attend_job *j, const block *b, size_t keys, float *mass) {
    for (size_t i = 0; i < b->n; i++) {
        float *to = mass + b->kv_head * j->group + (b->row + i) % j->group;

        for (size_t t = 0; t < keys; t++) to[t * j->a->n_heads] += b->scores[i * DSX__PAGE + t];
    }
}

/* What a block's rows give to one page. Their weights are those of the forward pass once they are divided. */
static void page_back(const attend_job *j, block *b, uint64_t page) {
    const dsx__kv_shape *s = j->a->shape;
    uint64_t from = page * DSX__PAGE;
    size_t keys = (size_t)clamp(j->a->first + j->rows / j->group, from);

    for (size_t i = 0; i < b->n; i++) b->l.max[i] = j->max[head_of(j, b->kv_head, b->row + i)];
    weigh_page(j, b, page);
    for (size_t i = 0; i < b->n; i++)
        for (size_t t = 0; t < DSX__PAGE; t++)
            b->scores[i * DSX__PAGE + t] *= j->by[head_of(j, b->kv_head, b->row + i)];
    if (j->u != NULL)
        add_values(j, b, keys, j->values + ((size_t)from * s->n_kv_heads + b->kv_head) * s->value_dim);
    if (j->mass != NULL) add_mass(j, b, keys, j->mass + (size_t)from * j->a->n_heads);
}

/* What all rows give to some pages. Rows that do not see a page give it nothing. */
static void pages_task(void *arg, size_t task) {
    const attend_job *j = arg;
    size_t n_kv_heads = j->a->shape->n_kv_heads;
    uint64_t page = first_seen(j, 0) / DSX__PAGE + task / n_kv_heads * PAGES,
             end = (j->a->first + j->rows / j->group + DSX__PAGE - 1) / DSX__PAGE, from = page * DSX__PAGE;
    size_t row = from > j->a->first ? (size_t)(from - j->a->first) * j->group : 0;
    block b;

    end = page + PAGES < end ? page + PAGES : end;
    for (; row < j->rows && first_seen(j, row) < end * DSX__PAGE; row += DSX__LANES) {
        start_block(j, task % n_kv_heads, row, &b);
        for (uint64_t p = page; p < end; p++)
            if (p * DSX__PAGE <= j->a->first + (row + b.n - 1) / j->group) page_back(j, &b, p);
    }
}

void dsx__cpu_attend_back(void *be, const dsx__attention *a, const dsx__real *q, const dsx__real *u, size_t n,
                          dsx__real *room, dsx__real *values, dsx__real *mass) {
    dsx__cpu *cpu = be;
    size_t group = a->n_heads / a->shape->n_kv_heads, heads = a->shape->n_kv_heads, pages;
    attend_job j = {
        .k = cpu->k, .a = a, .q = CR(q), .u = CR(u), .max = R(room), .group = group, .rows = n * group};

    if (n == 0) return;
    j.by = j.max + n * a->n_heads;
    j.values = R(values);
    j.mass = R(mass);
    pages = (size_t)((a->first + n + DSX__PAGE - 1) / DSX__PAGE - first_seen(&j, 0) / DSX__PAGE);
    dsx__workers_run(cpu->workers, (j.rows + DSX__LANES - 1) / DSX__LANES * heads, sums_task, &j);
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

/* ---- lengths of what heads give: |W v| is the root of v G v, G = W^T W */

typedef struct gram_job {
    const dsx__kernels *k;
    const dsx__matrix *m;
    const float *gram, *values;
    float *out;
    size_t n, n_heads, n_kv_heads, dim;
} gram_job;

/* G of a head, [dim][dim]. */
static void gram_task(void *arg, size_t head) {
    const gram_job *j = arg;
    _Alignas(64) float x[DSX__PANEL * DSX__STRETCH], y[DSX__PANEL * DSX__STRETCH];
    size_t dim = j->dim, most = DSX__STRETCH - DSX__PANEL, column = head * dim;
    float *c[DSX__STRETCH], *g = j->out + head * dim * dim;

    for (size_t panel = 0; panel < j->m->n_panels; panel++)
        for (size_t a = 0; a < dim; a += most) {
            size_t n = least(dim - a, most), skip = (column + a) % DSX__PANEL;

            turned_panel(j->k, j->m, panel, column + a - skip, n + skip, x);
            for (size_t b = 0; b < dim; b += most) {
                size_t some = least(dim - b, most), gap = (column + b) % DSX__PANEL;

                turned_panel(j->k, j->m, panel, column + b - gap, some + gap, y);
                for (size_t i = 0; i < n; i++) c[i] = g + (a + i) * dim + b;
                j->k->multiply(n, some, DSX__PANEL, x + skip, DSX__STRETCH, y + gap, DSX__STRETCH, c,
                               panel == 0);
            }
        }
}

void dsx__cpu_gram(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t dim, dsx__real *out) {
    dsx__cpu *cpu = be;
    gram_job j = {.k = cpu->k, .m = m, .out = R(out), .n_heads = n_heads, .dim = dim};

    dsx__workers_run(cpu->workers, n_heads, gram_task, &j);
}

/* Up to DSX__LANES tokens with one head. */
static void lengths_task(void *arg, size_t task) {
    const gram_job *j = arg;
    size_t head = task % j->n_heads, from = task / j->n_heads * DSX__LANES,
           n = least(j->n - from, DSX__LANES), dim = j->dim, kv_head = head / (j->n_heads / j->n_kv_heads);
    _Alignas(64) float x[DIMS * DSX__LANES], y[DSX__LANES * DIMS];
    const float *values = j->values + (from * j->n_kv_heads + kv_head) * dim;
    double sums[DSX__LANES] = {0};
    float *c[DSX__LANES];

    for (size_t i = 0; i < n; i++) c[i] = y + i * DIMS;
    for (size_t at = 0; at < dim; at += DIMS) {
        size_t some = least(dim - at, DIMS);

        for (size_t d = 0; d < dim; d += DIMS) {
            size_t depth = least(dim - d, DIMS);

            for (size_t k = 0; k < depth; k++)
                for (size_t i = 0; i < n; i++)
                    x[k * DSX__LANES + i] = values[i * j->n_kv_heads * dim + d + k];
            j->k->multiply(n, some, depth, x, DSX__LANES, j->gram + (head * dim + d) * dim + at, dim, c,
                           d == 0);
        }
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < some; k++)
                sums[i] += (double)y[i * DIMS + k] * (double)values[i * j->n_kv_heads * dim + at + k];
    }
    for (size_t i = 0; i < n; i++) j->out[(from + i) * j->n_heads + head] = (float)sqrt(fmax(sums[i], 0));
}

/* A latent's own length, for all heads. */
static void latent_task(void *arg, size_t i) {
    const gram_job *j = arg;
    float length = sqrtf(j->k->sum_squares(j->values + i * j->dim, j->dim));

    for (size_t h = 0; h < j->n_heads; h++) j->out[i * j->n_heads + h] = length;
}

void dsx__cpu_lengths(void *be, const dsx__real *gram, uint32_t n_heads, uint32_t n_kv_heads, uint32_t dim,
                      const dsx__real *values, size_t n, dsx__real *out) {
    dsx__cpu *cpu = be;
    gram_job j = {cpu->k, NULL, CR(gram), CR(values), R(out), n, n_heads, n_kv_heads, dim};

    if (gram == NULL)
        dsx__workers_run(cpu->workers, n, latent_task, &j);
    else
        dsx__workers_run(cpu->workers, (n + DSX__LANES - 1) / DSX__LANES * n_heads, lengths_task, &j);
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
