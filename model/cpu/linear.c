/* SPDX-License-Identifier: MIT */
/* Linear maps. Work is cut by outputs: a thread takes a panel of 32, and all rows. */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#define R(p)  ((float *)(void *)(p))
#define CR(p) ((const float *)(const void *)(p))

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

typedef struct linear_job {
    const dsx__cpu *cpu;
    const dsx__matrix *m;
    const float *bias;
    dsx__rows rows;
    size_t panels; /* of a task: one row takes so many that they are worth a thread's while */
    float *out;
    bool add;
} linear_job;

static void put_sums(const linear_job *j, size_t panel, size_t row, const float *sums) {
    size_t at = panel * DSX__PANEL, rows = (size_t)j->m->rows,
           n = rows - at < DSX__PANEL ? rows - at : DSX__PANEL;
    float *out = j->out + row * rows + at;

    for (size_t i = 0; i < n; i++) {
        float y = j->bias != NULL ? sums[i] + j->bias[at + i] : sums[i];

        out[i] = j->add ? out[i] + y : y;
    }
}

static void linear_task(void *arg, size_t task) {
    const linear_job *j = arg;
    _Alignas(64) float sums[DSX__MOST_ROWS * DSX__PANEL];

    for (size_t p = task * j->panels; p < (task + 1) * j->panels && p < j->m->n_panels; p++) {
        dsx__rows_multiply(j->cpu, &j->rows, p, sums);
        for (size_t i = 0; i < j->rows.n; i++) put_sums(j, p, i, sums + i * DSX__PANEL);
    }
}

/* Panels of a task for one row: about four, and as many tasks for each thread. */
static size_t panels_of_task(const dsx__cpu *cpu, size_t n_panels) {
    size_t threads = dsx__workers_count(cpu->workers), turns = (n_panels + 4 * threads - 1) / (4 * threads);

    return (n_panels + threads * turns - 1) / (threads * turns);
}

/* Without memory for rearranged rows, each goes alone: slower, the same bits. Where it is needed for
 * rounding, there is no result but NaN. */
void dsx__cpu_linear(void *be, const dsx__matrix *m, const dsx__matrix *bias, const dsx__real *x, size_t n,
                     dsx__real *out, bool add) {
    dsx__cpu *cpu = be;
    linear_job j = {.cpu = cpu, .m = m, .bias = bias != NULL ? bias->vector : NULL, .add = add};
    size_t most = n;
    dsx__scratch *s = dsx__rows_room(cpu, m, 0, &most);

    for (size_t i = 0; most > 0 && i < n; i += most) {
        dsx__rows_pack(cpu, m, CR(x) + i * (size_t)m->columns, least(n - i, most), s != NULL ? s + 1 : NULL,
                       &j.rows);
        j.out = R(out) + i * (size_t)m->rows;
        j.panels = j.rows.n == 1 ? panels_of_task(cpu, m->n_panels) : 1;
        dsx__workers_run(cpu->workers, (m->n_panels + j.panels - 1) / j.panels, linear_task, &j);
    }
    for (size_t i = 0; most == 0 && i < n * (size_t)m->rows; i++) R(out)[i] = NAN;
    if (s != NULL) dsx__scratch_give(cpu, s);
}

/* ---- maps of single heads */

#define HEAD_ROWS (8u * DSX__ROWS) /* of a task */

typedef struct heads_job {
    const dsx__cpu *cpu;
    const dsx__matrix *m;
    uint32_t n_heads, block, from, rows;
    bool transposed;
    const float *x;
    size_t x_stride, n;
    float *out;
    size_t out_stride;
} heads_job;

/* Some rows of one head. */
typedef struct head_task {
    const heads_job *j;
    size_t head, first, n;
} head_task;

/* out[row][to, to + width) (+)= packed . w for all rows; w [depth][stride]. */
static void head_product(const head_task *t, const float *packed, size_t depth, const float *w, size_t stride,
                         size_t to, size_t width, bool start) {
    const heads_job *j = t->j;

    for (size_t i = 0; i < t->n; i += DSX__ROWS) {
        size_t rows = least(t->n - i, DSX__ROWS);
        float *c[DSX__ROWS];

        for (size_t r = 0; r < rows; r++)
            c[r] = j->out + ((t->first + i + r) * j->n_heads + t->head) * j->out_stride + to;
        j->cpu->k->multiply(rows, width, depth, packed + i * depth, rows, w, stride, c, start);
    }
}

static void pack_head(const head_task *t, size_t from, size_t depth, float *packed) {
    for (size_t i = 0; i < t->n; i += DSX__ROWS) {
        size_t rows = least(t->n - i, DSX__ROWS);

        for (size_t r = 0; r < rows; r++) {
            const float *x = t->j->x + ((t->first + i + r) * t->j->n_heads + t->head) * t->j->x_stride + from;

            for (size_t k = 0; k < depth; k++) packed[i * depth + k * rows + r] = x[k];
        }
    }
}

/* Rows of the matrix are outputs. */
static void head_forward(const head_task *t) {
    _Alignas(64) float w[DSX__STRETCH * DSX__PANEL], packed[HEAD_ROWS * DSX__STRETCH];
    const heads_job *j = t->j;
    size_t columns = (size_t)j->m->columns, base = t->head * j->block + j->from;

    for (size_t k = 0; k < columns; k += DSX__STRETCH) {
        size_t depth = least(columns - k, DSX__STRETCH);

        pack_head(t, k, depth, packed);
        for (size_t row = base, n; row < base + j->rows; row += n) {
            n = least(base + j->rows - row, DSX__PANEL - row % DSX__PANEL);
            j->cpu->k->unpack(j->m, row / DSX__PANEL, k, depth, w);
            head_product(t, packed, depth, w + row % DSX__PANEL, DSX__PANEL, row - base, n, k == 0);
        }
    }
}

/* Rows of the matrix are inputs. */
static void head_backward(const head_task *t) {
    _Alignas(64) float w[DSX__STRETCH * DSX__PANEL], turned[DSX__PANEL * DSX__STRETCH],
        packed[HEAD_ROWS * DSX__PANEL];
    const heads_job *j = t->j;
    size_t columns = (size_t)j->m->columns, base = t->head * j->block + j->from;

    for (size_t row = base, n; row < base + j->rows; row += n) {
        n = least(base + j->rows - row, DSX__PANEL - row % DSX__PANEL);
        pack_head(t, row - base, n, packed);
        for (size_t k = 0; k < columns; k += DSX__STRETCH) {
            size_t width = least(columns - k, DSX__STRETCH);

            j->cpu->k->unpack(j->m, row / DSX__PANEL, k, width, w);
            for (size_t r = 0; r < n; r++)
                for (size_t i = 0; i < width; i++)
                    turned[r * DSX__STRETCH + i] = w[i * DSX__PANEL + row % DSX__PANEL + r];
            head_product(t, packed, n, turned, DSX__STRETCH, k, width, row == base);
        }
    }
}

static void heads_task(void *arg, size_t task) {
    const heads_job *j = arg;
    size_t first = task / j->n_heads * HEAD_ROWS;
    head_task t = {j, task % j->n_heads, first, least(j->n - first, HEAD_ROWS)};

    (j->transposed ? head_backward : head_forward)(&t);
}

void dsx__cpu_linear_heads(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t block, uint32_t from,
                           uint32_t rows, bool transposed, const dsx__real *x, uint32_t x_head_stride,
                           size_t n, dsx__real *out, uint32_t out_head_stride) {
    dsx__cpu *cpu = be;
    heads_job j = {cpu,        m,     n_heads,       block, from,   rows,
                   transposed, CR(x), x_head_stride, n,     R(out), out_head_stride};

    dsx__workers_run(cpu->workers, (n + HEAD_ROWS - 1) / HEAD_ROWS * n_heads, heads_task, &j);
}

/* ---- the head: logits of a panel at a time, summed up slice by slice */

#define SLICES 64u /* of the panels, whatever the number of threads: the sums of slices are added in order */

typedef struct partial {
    double max, sum;
} partial;

typedef struct head_job {
    const dsx__cpu *cpu;
    const dsx__matrix *m;
    dsx__rows rows;
    size_t per_slice;
    const uint32_t *targets;
    double *logits;    /* [n], of targets */
    partial *partials; /* [SLICES][n] */
} head_job;

static void add_logits(const head_job *j, size_t slice, size_t panel, const float *sums) {
    size_t at = panel * DSX__PANEL, n = least((size_t)j->m->rows - at, DSX__PANEL);

    for (size_t i = 0; i < j->rows.n; i++) {
        partial *p = &j->partials[slice * j->rows.n + i];

        j->cpu->k->add_exp(sums + i * DSX__PANEL, n, &p->max, &p->sum);
        if (j->targets[i] >= at && j->targets[i] - at < n)
            j->logits[i] = (double)sums[i * DSX__PANEL + j->targets[i] - at];
    }
}

static void head_slice(void *arg, size_t slice) {
    const head_job *j = arg;
    _Alignas(64) float sums[DSX__MOST_ROWS * DSX__PANEL];
    partial *partials = j->partials + slice * j->rows.n;

    for (size_t i = 0; i < j->rows.n; i++) partials[i] = (partial){-INFINITY, 0};
    for (size_t p = slice * j->per_slice; p < (slice + 1) * j->per_slice && p < j->m->n_panels; p++) {
        dsx__rows_multiply(j->cpu, &j->rows, p, sums);
        add_logits(j, slice, p, sums);
    }
}

/* log p and lse from the slices' sums. */
static void join_slices(const head_job *j, size_t i, double *out, double *lse) {
    double max = -INFINITY, sum = 0;

    for (size_t s = 0; s < SLICES; s++) max = fmax(max, j->partials[s * j->rows.n + i].max);
    for (size_t s = 0; s < SLICES; s++) {
        const partial *p = &j->partials[s * j->rows.n + i];

        if (p->sum > 0 || isnan(p->sum)) sum += p->sum * exp(p->max - max);
    }
    out[i] = j->logits[i] - max - log(sum);
    if (lse != NULL) lse[i] = max + log(sum);
}

static void head_rows(dsx__cpu *cpu, head_job j, double *out, double *lse) {
    double logits[DSX__MOST_ROWS];

    j.logits = logits;
    dsx__workers_run(cpu->workers, SLICES, head_slice, &j);
    for (size_t i = 0; i < j.rows.n; i++) join_slices(&j, i, out, lse);
}

void dsx__cpu_log_probs(void *be, const dsx__matrix *head, const dsx__real *x, size_t n,
                        const uint32_t *targets, double *out, double *lse) {
    dsx__cpu *cpu = be;
    partial one[SLICES];
    size_t most = n;
    dsx__scratch *s = dsx__rows_room(cpu, head, sizeof one, &most);
    head_job j = {.cpu = cpu, .m = head, .per_slice = (head->n_panels + SLICES - 1) / SLICES};

    j.partials = s != NULL ? (partial *)(void *)(s + 1) : one;
    for (size_t i = 0; most > 0 && i < n; i += most) {
        dsx__rows_pack(cpu, head, CR(x) + i * (size_t)head->columns, least(n - i, most),
                       j.partials + SLICES * most, &j.rows);
        j.targets = targets + i;
        head_rows(cpu, j, out + i, lse != NULL ? lse + i : NULL);
    }
    for (size_t i = 0; most == 0 && i < n; i++) out[i] = NAN;
    for (size_t i = 0; most == 0 && lse != NULL && i < n; i++) lse[i] = NAN;
    if (s != NULL) dsx__scratch_give(cpu, s);
}
