/* SPDX-License-Identifier: MIT */
/* Linear maps. Work is cut by outputs: a thread takes a panel of 32, unpacks its weights stretch by
 * stretch, and multiplies them with all rows while they lie in the nearest cache. */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#define R(p)  ((float *)(void *)(p))
#define CR(p) ((const float *)(const void *)(p))

#define MOST_ROWS   240u         /* of a task: sums of 240 rows and 32 outputs are 30 KB */
#define BLOCK_BYTES (512u << 10) /* of rows that stay in the second cache */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Rows of x as kernels want them: blocks of DSX__ROWS rows (the last may be smaller), [k][rows of the
 * block]. */
typedef struct block_rows {
    const float *x;
    size_t columns, n;
    float *packed;
} block_rows;

static size_t rows_of_block(size_t n, size_t first) {
    return n - first < DSX__ROWS ? n - first : DSX__ROWS;
}

static void pack_block(void *arg, size_t i) {
    const block_rows *b = arg;
    size_t first = i * DSX__ROWS, rows = rows_of_block(b->n, first);
    const float *x = b->x + first * b->columns;
    float *to = b->packed + first * b->columns;

    for (size_t k = 0; k < b->columns; k++)
        for (size_t r = 0; r < rows; r++) *to++ = x[r * b->columns + k];
}

static void pack_rows(dsx__cpu *cpu, const float *x, size_t n, size_t columns, float *packed) {
    block_rows b = {x, columns, n, packed};

    dsx__workers_run(cpu->workers, (n + DSX__ROWS - 1) / DSX__ROWS, pack_block, &b);
}

/* Rows that panels take one after the other, so that these rows stay in the second cache. */
static size_t block_of(size_t columns) {
    size_t rows = BLOCK_BYTES / (columns * sizeof(float) + 1) / DSX__ROWS * DSX__ROWS;

    return rows < 4 * DSX__ROWS ? 4 * DSX__ROWS : least(rows, MOST_ROWS);
}

/* Columns of a stretch: about as many in each. */
static size_t stretch_of(size_t columns) {
    size_t n = (columns + DSX__STRETCH - 1) / DSX__STRETCH;

    return n == 0 ? DSX__STRETCH : ((columns + n - 1) / n + 31) / 32 * 32;
}

/* sums [n][32] of n <= MOST_ROWS packed rows with a panel. */
static void panel_product(const dsx__cpu *cpu, const dsx__matrix *m, size_t panel, const float *packed,
                          size_t n, float *sums) {
    _Alignas(64) float unpacked[DSX__STRETCH * DSX__PANEL];
    size_t columns = (size_t)m->columns, most = stretch_of(columns);

    for (size_t k = 0; k < columns; k += most) {
        size_t depth = columns - k < most ? columns - k : most;
        const float *w = CR(m->packed + panel * m->panel_bytes) + k * DSX__PANEL;

        if (m->form != DSX__PACK_F32) {
            cpu->k->unpack(m, panel, k, depth, unpacked);
            w = unpacked;
        }
        for (size_t i = 0; i < n; i += DSX__ROWS) {
            size_t rows = rows_of_block(n, i);
            float *c[DSX__ROWS];

            for (size_t r = 0; r < rows; r++) c[r] = sums + (i + r) * DSX__PANEL;
            cpu->k->multiply(rows, DSX__PANEL, depth, packed + i * columns + k * rows, rows, w, DSX__PANEL, c,
                             k == 0);
        }
    }
}

typedef struct linear_job {
    dsx__cpu *cpu;
    const dsx__matrix *m;
    const float *bias, *x; /* x: packed when n > 1 */
    size_t n;              /* rows */
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

static void linear_panel(void *arg, size_t panel) {
    const linear_job *j = arg;
    _Alignas(64) float sums[MOST_ROWS * DSX__PANEL];

    panel_product(j->cpu, j->m, panel, j->x, j->n, sums);
    for (size_t i = 0; i < j->n; i++) put_sums(j, panel, i, sums + i * DSX__PANEL);
}

/* One row: a task is as many panels as make it worth a thread's while. */
#define PANELS_AT_ONCE 4u
static void linear_row(void *arg, size_t task) {
    const linear_job *j = arg;

    for (size_t p = task * PANELS_AT_ONCE; p < (task + 1) * PANELS_AT_ONCE && p < j->m->n_panels; p++) {
        _Alignas(64) float sums[DSX__PANEL];

        j->cpu->k->row(j->m, p, j->x, sums);
        put_sums(j, p, 0, sums);
    }
}

static void one_row(linear_job j, size_t row) {
    j.x += row * (size_t)j.m->columns;
    j.out += row * (size_t)j.m->rows;
    dsx__workers_run(j.cpu->workers, (j.m->n_panels + PANELS_AT_ONCE - 1) / PANELS_AT_ONCE, linear_row, &j);
}

static void some_rows(linear_job j, size_t first, size_t n, float *packed) {
    size_t columns = (size_t)j.m->columns;

    pack_rows(j.cpu, j.x + first * columns, n, columns, packed);
    j.x = packed;
    j.out += first * (size_t)j.m->rows;
    j.n = n;
    dsx__workers_run(j.cpu->workers, j.m->n_panels, linear_panel, &j);
}

/* Without memory for rearranged rows, each goes alone: slower, the same bits. */
void dsx__cpu_linear(void *be, const dsx__matrix *m, const dsx__matrix *bias, const dsx__real *x, size_t n,
                     dsx__real *out, bool add) {
    dsx__cpu *cpu = be;
    linear_job j = {cpu, m, bias != NULL ? bias->vector : NULL, CR(x), n, R(out), add};
    size_t most = least(n, block_of((size_t)m->columns));
    dsx__scratch *s = n > 1 ? dsx__scratch_take(cpu, most * (size_t)m->columns * sizeof(float)) : NULL;

    for (size_t i = 0; i < n; i += s != NULL ? most : 1) {
        if (s != NULL)
            some_rows(j, i, n - i < most ? n - i : most, R(s + 1));
        else
            one_row(j, i);
    }
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
        size_t rows = rows_of_block(t->n, i);
        float *c[DSX__ROWS];

        for (size_t r = 0; r < rows; r++)
            c[r] = j->out + ((t->first + i + r) * j->n_heads + t->head) * j->out_stride + to;
        j->cpu->k->multiply(rows, width, depth, packed + i * depth, rows, w, stride, c, start);
    }
}

static void pack_head(const head_task *t, size_t from, size_t depth, float *packed) {
    for (size_t i = 0; i < t->n; i += DSX__ROWS) {
        size_t rows = rows_of_block(t->n, i);

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
    const float *x; /* packed when n > 1 */
    size_t n, per_slice;
    const uint32_t *targets;
    double *logits;    /* [n], of targets */
    partial *partials; /* [SLICES][n] */
} head_job;

static void add_logits(const head_job *j, size_t slice, size_t panel, const float *sums) {
    size_t at = panel * DSX__PANEL, n = least((size_t)j->m->rows - at, DSX__PANEL);

    for (size_t i = 0; i < j->n; i++) {
        partial *p = &j->partials[slice * j->n + i];

        j->cpu->k->add_exp(sums + i * DSX__PANEL, n, &p->max, &p->sum);
        if (j->targets[i] >= at && j->targets[i] - at < n)
            j->logits[i] = (double)sums[i * DSX__PANEL + j->targets[i] - at];
    }
}

static void head_slice(void *arg, size_t slice) {
    const head_job *j = arg;
    _Alignas(64) float sums[MOST_ROWS * DSX__PANEL];

    for (size_t i = 0; i < j->n; i++) j->partials[slice * j->n + i] = (partial){-INFINITY, 0};
    for (size_t p = slice * j->per_slice; p < (slice + 1) * j->per_slice && p < j->m->n_panels; p++) {
        if (j->n == 1)
            j->cpu->k->row(j->m, p, j->x, sums);
        else
            panel_product(j->cpu, j->m, p, j->x, j->n, sums);
        add_logits(j, slice, p, sums);
    }
}

/* log p and lse from the slices' sums. */
static void join_slices(const head_job *j, size_t i, double *out, double *lse) {
    double max = -INFINITY, sum = 0;

    for (size_t s = 0; s < SLICES; s++) max = fmax(max, j->partials[s * j->n + i].max);
    for (size_t s = 0; s < SLICES; s++) {
        const partial *p = &j->partials[s * j->n + i];

        if (p->sum > 0 || isnan(p->sum)) sum += p->sum * exp(p->max - max);
    }
    out[i] = j->logits[i] - max - log(sum);
    if (lse != NULL) lse[i] = max + log(sum);
}

static void head_rows(dsx__cpu *cpu, head_job j, double *out, double *lse) {
    double logits[MOST_ROWS];

    j.logits = logits;
    dsx__workers_run(cpu->workers, SLICES, head_slice, &j);
    for (size_t i = 0; i < j.n; i++) join_slices(&j, i, out, lse);
}

void dsx__cpu_log_probs(void *be, const dsx__matrix *head, const dsx__real *x, size_t n,
                        const uint32_t *targets, double *out, double *lse) {
    dsx__cpu *cpu = be;
    size_t columns = (size_t)head->columns, most = least(n, MOST_ROWS);
    size_t partial_bytes = SLICES * most * sizeof(partial);
    dsx__scratch *s = n > 1 ? dsx__scratch_take(cpu, partial_bytes + most * columns * sizeof(float)) : NULL;
    partial one[SLICES];
    head_job j = {cpu, head, NULL, 1, (head->n_panels + SLICES - 1) / SLICES, targets, NULL, one};

    for (size_t i = 0; i < n; i += j.n) {
        j.x = CR(x) + i * columns;
        j.targets = targets + i;
        j.n = s != NULL ? least(n - i, most) : 1;
        if (s != NULL) {
            j.partials = (partial *)(void *)(s + 1);
            float *packed = R((uint8_t *)(s + 1) + partial_bytes);
            pack_rows(cpu, j.x, j.n, columns, packed);
            j.x = packed;
        }
        head_rows(cpu, j, out + i, lse != NULL ? lse + i : NULL);
    }
    if (s != NULL) dsx__scratch_give(cpu, s);
}
