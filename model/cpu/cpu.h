/* SPDX-License-Identifier: MIT */
/* The float backend from inside: packed weights, kernels for each instruction set, and the threads.  Every
 * output of a linear map is one chain of fused multiply-adds, c = fma(x[k], w[k], c) for k = 0, 1, ...;
 * sums of other kinds have one fixed shape as well. So the kernels of all instruction sets give the same
 * bits, whatever the number of rows or threads is; those of scalar.c are the definition. */
#ifndef DSX_CPU_H
#define DSX_CPU_H

#include "backend.h"
#include "quant/kv.h"

#define DSX__PANEL   32u  /* outputs whose weights lie side by side */
#define DSX__ROWS    12u  /* rows that a kernel multiplies at most with them */
#define DSX__STRETCH 256u /* columns whose weights are unpacked together, at most */

typedef enum dsx__form {
    DSX__PACK_F32,  /* [k][32] float */
    DSX__PACK_F16,  /* [k][32] fp16 */
    DSX__PACK_BF16, /* [k][32] bfloat16 */
    DSX__PACK_4,    /* [k / 8][32] uint32: byte i of eight columns has column i low and i + 4 high */
    DSX__PACK_8,    /* [k / 4][32] uint32: byte i is column i, int8 */
    DSX__PACK_FP8   /* the same, with E4M3 */
} dsx__form;

typedef enum dsx__scales { /* of each group of columns; w = fma(d, q, m) */
                           DSX__SCALE_NONE,
                           DSX__SCALE_HALF,      /* d [32] fp16; m = 0 */
                           DSX__SCALE_HALF_8,    /* d [32] fp16; m = -8 d */
                           DSX__SCALE_HALF_MIN,  /* d [32], m [32] fp16 */
                           DSX__SCALE_FLOAT,     /* d [32] float; m = 0 */
                           DSX__SCALE_FLOAT_MIN, /* d [32], m [32] float */
} dsx__scales;

struct dsx__matrix {
    dsx__part part; /* as in the file: embeddings are read from there */
    uint64_t rows, columns;
    size_t vector_bytes; /* 0: it is no vector */
    float *vector;       /* a norm's or bias' numbers */
    /* of a map, from here on */
    dsx_format format;
    bool is_rounded; /* when it was loaded */
    dsx__form form;
    dsx__scales scales;
    uint32_t group;     /* columns that share scales, a multiple of 16 */
    size_t scale_bytes; /* of one group of a panel */
    size_t n_panels, n_groups, panel_bytes;
    uint8_t *packed;     /* [n_panels][panel_bytes] */
    uint8_t *all_scales; /* [n_panels][n_groups][scale_bytes] */
};

/* Attention of some rows to one page of keys; a lane is one row. */
#define DSX__LANES 32u
typedef struct dsx__lanes {
    float scale;         /* of scores, with the logarithm of e to base 2 in it: weights are powers of 2 */
    bool masked, biased; /* whether first and end, slope and base count */
    float max[DSX__LANES], sum[DSX__LANES];    /* so far: greatest score, sum of weights against it */
    float keep[DSX__LANES];                    /* what the page did to earlier weights: a factor */
    float first[DSX__LANES], end[DSX__LANES];  /* keys of the page that the row sees: [first, end) */
    float slope[DSX__LANES], base[DSX__LANES]; /* score of key j += slope * (base + j) */
} dsx__lanes;

/* Rows rounded to int8: at most DSX__ROWS. Columns are filled up with zeros to a multiple of 32. */
typedef struct dsx__int_rows {
    size_t n;
    const uint32_t *q;   /* [column / 4][n]: byte i is column i */
    const int32_t *sums; /* [group of the matrix][n]: of q */
    const float *scales; /* [n] */
} dsx__int_rows;

typedef struct dsx__kernels {
    const char *name;
    /* c[r][j] = (start ? 0 : c[r][j]) + x[k * step + r] * w[k * stride + j], for r < rows, j < n, k = 0 ..
     * depth - 1 */
    void (*multiply)(size_t rows, size_t n, size_t depth, const float *x, size_t step, const float *w,
                     size_t stride, float *const *c, bool start);
    /* columns [from, from + n) of a panel as [n][32] floats; from is a multiple of 32; w has room for n
     * rounded up to 32 */
    void (*unpack)(const dsx__matrix *m, size_t panel, size_t from, size_t n, float *w);
    /* one row with a panel, all columns */
    void (*row)(const dsx__matrix *m, size_t panel, const float *x, float *out);
    /* a block of rows of int8 with a panel of integers: out[r][j] = scales[r] * sum over groups, one after
     * the other, of fma(d, sum of q * weight, .), then fma(m, sum of q, .), with sums of integers */
    void (*dot)(const dsx__matrix *m, size_t panel, const dsx__int_rows *x, float *out);
    float (*sum_squares)(const float *x, size_t n);
    void (*scale)(const float *x, size_t n, float by, const float *w, float *out); /* out = x * by * w */
    void (*silu)(float *gate, const float *up, size_t n); /* gate = silu(gate) * up */
    /* s [64][32]: scores of 64 keys for 32 lanes become weights */
    void (*weigh_lanes)(dsx__lanes *l, float *s);
    void (*weigh_row)(dsx__lanes *l, size_t lane, float *s); /* s [64] */
    /* the sum of exp(x[i] - max) over n <= 32, with max raised first where it must be */
    void (*add_exp)(const float *x, size_t n, double *max, double *sum);
    /* dimensions [from, from + n) of a packed part's keys as [n][64], of its values as [64][stride] */
    void (*unpack_keys)(const dsx__kv_part *p, size_t from, size_t n, float *to);
    void (*unpack_values)(const dsx__kv_part *p, size_t from, size_t n, float *to, size_t stride);
} dsx__kernels;

extern const dsx__kernels dsx__kernels_scalar;
#if defined(__x86_64__)
extern const dsx__kernels dsx__kernels_avx2, dsx__kernels_avx512;
void dsx__cpu_linear_back(void *be, const dsx__matrix *m, const dsx__real *g, size_t n, dsx__real *out,
                          bool add);
void dsx__cpu_norm_back(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride,
                        const dsx__matrix *w, double eps, const dsx__real *g, uint32_t g_stride,
                        dsx__real *out, uint32_t out_stride, bool add);
void dsx__cpu_attend_back(void *be, const dsx__attention *a, const dsx__real *q, const dsx__real *u, size_t n,
                          dsx__real *room, dsx__real *values, dsx__real *mass);
void dsx__cpu_kv_values(void *be, const dsx__attention *a, uint64_t from, size_t n, dsx__real *out);
void dsx__cpu_gram(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t dim, dsx__real *out);
void dsx__cpu_lengths(void *be, const dsx__real *gram, uint32_t n_heads, uint32_t n_kv_heads, uint32_t dim,
                      const dsx__real *values, size_t n, dsx__real *out);
void dsx__cpu_dots(void *be, const dsx__real *x, uint32_t stride, const dsx__real *y, uint32_t y_stride,
                   size_t n, uint32_t width, double *out);

#endif

/* ---- threads */

typedef struct dsx__workers dsx__workers;
dsx__workers *dsx__workers_new(size_t n_threads); /* 0: all CPUs; NULL: out of memory */
void dsx__workers_free(dsx__workers *w);
size_t dsx__workers_count(const dsx__workers *w);
/* Calls task(arg, i) for i = 0 .. n - 1, in any order, on all threads; by the caller alone when they are
 * busy. */
void dsx__workers_run(dsx__workers *w, size_t n, void (*task)(void *arg, size_t i), void *arg);

typedef struct dsx__scratch { /* memory of a call that was kept for the next */
    size_t n_bytes;
    size_t unused[7]; /* what follows is aligned to 64 bytes */
} dsx__scratch;

typedef struct dsx__cpu {
    dsx__workers *workers;
    const dsx__kernels *k;
    void (*dot)(const dsx__matrix *m, size_t panel, const dsx__int_rows *x, float *out);
    _Atomic(dsx__scratch *) spare;
    uint8_t *room; /* of weights, or NULL */
    size_t room_bytes, room_used;
} dsx__cpu;

/* Memory for one call; NULL when there is none. */
dsx__scratch *dsx__scratch_take(dsx__cpu *cpu, size_t n_bytes);
void dsx__scratch_give(dsx__cpu *cpu, dsx__scratch *s);
void *dsx__aligned(size_t n_bytes); /* to 64 bytes, zeroed, for free(); NULL: out of memory */

/* Memory of weights, zeroed; NULL when there is none. */
void *dsx__weights_take(dsx__cpu *cpu, size_t n_bytes);
void dsx__weights_give(const dsx__cpu *cpu, void *p);

/* ---- rows of a map's input, as kernels want them (rows.c) */

#define DSX__MOST_ROWS 240u /* sums of 240 rows and 32 outputs are 30 KB */
typedef struct dsx__rows {
    const dsx__matrix *m;
    size_t n;
    const float
        *x; /* one row, or blocks of DSX__ROWS rows (the last may be smaller): [column][rows of the block] */
    dsx__int_rows first; /* of the first block, where both sides are integers; x is NULL then */
} dsx__rows;

/* Room for rows that go together, at most *n, and before it extra bytes for each of them. *n becomes their
 * number; where there is no memory, 1 if one row needs no room, else 0. */
dsx__scratch *dsx__rows_room(dsx__cpu *cpu, const dsx__matrix *m, size_t extra, size_t *n);
void dsx__rows_pack(dsx__cpu *cpu, const dsx__matrix *m, const float *x, size_t n, void *room,
                    dsx__rows *out);
/* sums [n][32] of rows with a panel */
void dsx__rows_multiply(const dsx__cpu *cpu, const dsx__rows *r, size_t panel, float *sums);

/* ---- the operations */

dstok_status dsx__cpu_load(void *be, const dsx__part *part, const dsx_format *format, dsx__matrix **out,
                           dstok_error *err);
void dsx__cpu_unload(void *be, dsx__matrix *m);
uint64_t dsx__cpu_bytes(const dsx__matrix *m);
uint64_t dsx__cpu_plan(const dsx__part *part, const dsx_format *format);
void dsx__cpu_linear(void *be, const dsx__matrix *m, const dsx__matrix *bias, const dsx__real *x, size_t n,
                     dsx__real *out, bool add);
void dsx__cpu_linear_heads(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t block, uint32_t from,
                           uint32_t rows, bool transposed, const dsx__real *x, uint32_t x_head_stride,
                           size_t n, dsx__real *out, uint32_t out_head_stride);
void dsx__cpu_log_probs(void *be, const dsx__matrix *head, const dsx__real *x, size_t n,
                        const uint32_t *targets, double *out, double *lse);
void dsx__cpu_kv_write(void *be, const dsx__attention *a, const dsx__real *k, const dsx__real *v, size_t n);
void dsx__cpu_kv_pack(void *be, const dsx__attention *a, uint64_t page);
void dsx__cpu_attend(void *be, const dsx__attention *a, const dsx__real *q, size_t n, dsx__real *out);
void dsx__cpu_linear_back(void *be, const dsx__matrix *m, const dsx__real *g, size_t n, dsx__real *out,
                          bool add);
void dsx__cpu_norm_back(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride,
                        const dsx__matrix *w, double eps, const dsx__real *g, uint32_t g_stride,
                        dsx__real *out, uint32_t out_stride, bool add);
void dsx__cpu_attend_back(void *be, const dsx__attention *a, const dsx__real *q, const dsx__real *u, size_t n,
                          dsx__real *room, dsx__real *values, dsx__real *mass);
void dsx__cpu_kv_values(void *be, const dsx__attention *a, uint64_t from, size_t n, dsx__real *out);
void dsx__cpu_head_norms(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t n_kv_heads, uint32_t dim,
                         const dsx__real *values, size_t n, dsx__real *out);
void dsx__cpu_dots(void *be, const dsx__real *x, uint32_t stride, const dsx__real *y, uint32_t y_stride,
                   size_t n, uint32_t width, double *out);

#endif
