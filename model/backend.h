/* SPDX-License-Identifier: MIT */
/* What a machine must be able to do to run a model. The forward pass (arch/forward.c) is written over this
 * table alone; backends never see names, files or configurations.  A `dsx__real` is the backend's own
 * number: float on the CPU, double in the oracle, device memory on a GPU. Arrays of them are made by alloc,
 * lie in rows, and are only touched through the table. n is the number of rows (tokens). Calls run in
 * order; on a device they may return before they are done, read waits.  Every number depends on its own row
 * alone, and is summed in one order: a row's results are the same bits whatever n is, and however many
 * threads work. */
#ifndef DSX_BACKEND_H
#define DSX_BACKEND_H

#include "arch/names.h"

#include <dsx/policy.h>

typedef struct dsx__real dsx__real;     /* an element, opaque */
typedef struct dsx__matrix dsx__matrix; /* a weight that was loaded, opaque */

typedef struct dsx__backend_options {
    size_t n_threads;      /* 0: all CPUs the process may use */
    int simd;              /* DSX_SIMD_*, a cap */
    uint64_t weight_bytes; /* of all that will be loaded; 0: not known */
} dsx__backend_options;

/* Keys and values of a session: pages of DSX__PAGE tokens, all layers in one page. For layer l a page has,
 * at l * dsx__kv_layer_reals: keys [n_kv_heads][key_dim][DSX__PAGE], then values
 * [n_kv_heads][DSX__PAGE][value_dim]. */
#define DSX__PAGE 64u
typedef struct dsx__kv_shape {
    uint32_t n_layers, n_kv_heads, key_dim, value_dim;
} dsx__kv_shape;
/* The same in few bits, for pages that lie far back: quant/kv.h. */
typedef enum dsx__kv_format { DSX__KV_REALS, DSX__KV_INT8, DSX__KV_INT4 } dsx__kv_format;
size_t dsx__kv_layer_reals(const dsx__kv_shape *s); /* (key_dim + value_dim) * n_kv_heads * DSX__PAGE */
size_t dsx__kv_page_reals(const dsx__kv_shape *s);

/* One attention call: rows at positions [first, first + n), keys and values of [0, first + n) are in pages. */
typedef struct dsx__attention {
    const dsx__kv_shape *shape;
    dsx__real *const *pages; /* page table */
    uint8_t *const *packed;  /* pages [packed_from, packed_to) are read in this form */
    uint64_t packed_from, packed_to;
    dsx__kv_format packed_format;
    uint32_t layer, n_heads;
    uint64_t first;
    uint32_t window; /* a row sees itself and the window - 1 tokens before; 0: all */
    double scale;
    double alibi; /* slope of head h is alibi * 2^(-8 (h + 1) / n_heads) per token of distance; 0: none */
} dsx__attention;

/* cos and sin of positions: [n][dims / 2] each, for the rows of a call. Computed in double (arch/rope.c). */
typedef struct dsx__rotation {
    const double *cosine, *sine;
    uint32_t dims;
    bool interleaved;
} dsx__rotation;

typedef struct dsx__backend_ops {
    const char *name; /* "cpu", "float64", "cuda" */
    size_t real_bytes;

    dstok_status (*open)(const dsx__backend_options *options, void **be, dstok_error *err);
    void (*close)(void *be);
    dsx__real *(*alloc)(void *be, size_t n); /* zeroed; NULL when out of memory */
    void (*free)(void *be, dsx__real *p, size_t n);
    dsx__real *(*at)(dsx__real *p, size_t n);                          /* p + n */
    void (*read)(void *be, const dsx__real *p, size_t n, double *out); /* to the host */
    void (*write)(void *be, dsx__real *p, size_t n, const double *in);

    /* ---- weights. format: of a map; NULL: the part is none, but a vector (of norm, a bias) or a table of
     * embed. A map may be such a table, too: its rows are those of the file, whatever the format. data of
     * the part stays mapped while the matrix lives. bytes: what it takes beside the mapped file */
    dstok_status (*load)(void *be, const dsx__part *part, const dsx_format *format, dsx__matrix **out,
                         dstok_error *err);
    void (*unload)(void *be, dsx__matrix *m);
    uint64_t (*bytes)(const dsx__matrix *m);
    /* What load will take, without touching data. */
    uint64_t (*plan)(const dsx__part *part, const dsx_format *format);

    /* ---- rows */
    void (*embed)(void *be, const dsx__matrix *m, const uint32_t *ids, size_t n,
                  dsx__real *out); /* out [n][columns] */
    /* out = x / sqrt(mean(x^2) + eps) * w for each of n rows of width; out may be x */
    void (*norm)(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride,
                 const dsx__matrix *w, double eps, dsx__real *out, uint32_t out_stride);
    /* out[n][rows of m] = x[n][columns of m] . m^T + bias; add: += instead; bias may be NULL. Rows of x are
     * rounded first as the format of m says, here and in log_probs;
     * where there is no memory for that, results are NaN */
    void (*linear)(void *be, const dsx__matrix *m, const dsx__matrix *bias, const dsx__real *x, size_t n,
                   dsx__real *out, bool add);
    /* heads of MLA: m has n_heads blocks of block rows; of block h the rows [from, from + rows) are the
     * map. transposed: out[n][h][columns] = x[n][h][rows] . part, else out[n][h][rows] = x[n][h][columns] .
     * part^T */
    void (*linear_heads)(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t block, uint32_t from,
                         uint32_t rows, bool transposed, const dsx__real *x, uint32_t x_head_stride, size_t n,
                         dsx__real *out, uint32_t out_head_stride);
    /* turns x[row][h * head_stride + offset ..+ dims) of every row and head; rows are stride apart */
    void (*rotate)(void *be, const dsx__rotation *r, dsx__real *x, size_t n, uint32_t stride,
                   uint32_t n_heads, uint32_t head_stride, uint32_t offset);
    void (*swiglu)(void *be, dsx__real *gate, const dsx__real *up, size_t n,
                   uint32_t width); /* gate = silu(gate) * up */
    void (*copy)(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride, dsx__real *out,
                 uint32_t out_stride);
    /* MoE: rows of x by index, and back: out[index[i]] += weight[i] * x[i] */
    void (*gather)(void *be, const dsx__real *x, const uint32_t *index, size_t n, uint32_t width,
                   dsx__real *out);
    void (*scatter_add)(void *be, const dsx__real *x, const uint32_t *index, const double *weight, size_t n,
                        uint32_t width, dsx__real *out);

    /* ---- attention. k [n][n_kv_heads][key_dim], v [n][n_kv_heads][value_dim] */
    void (*kv_write)(void *be, const dsx__attention *a, const dsx__real *k, const dsx__real *v, size_t n);
    /* a->layer of a page to its packed form */
    void (*kv_pack)(void *be, const dsx__attention *a, uint64_t page);
    /* q [n][n_heads][key_dim] -> out [n][n_heads][value_dim] */
    void (*attend)(void *be, const dsx__attention *a, const dsx__real *q, size_t n, dsx__real *out);

    /* ---- the head. x [n][columns]; rows of logits are made a few at a time and not kept.
     * out[i] = log p(targets[i]); lse (NULL allowed) gets the log of the sum of exp(logits) */
    void (*log_probs)(void *be, const dsx__matrix *head, const dsx__real *x, size_t n,
                      const uint32_t *targets, double *out, double *lse);

    /* ---- the way back, for explanations: attention weights and scales of norms are taken as constants */
    /* out[n][columns of m] = g[n][rows of m] . m; add: += instead */
    void (*linear_back)(void *be, const dsx__matrix *m, const dsx__real *g, size_t n, dsx__real *out,
                        bool add);
    /* out = g / sqrt(mean(x^2) + eps) * w; add: += instead */
    void (*norm_back)(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride,
                      const dsx__matrix *w, double eps, const dsx__real *g, uint32_t g_stride, dsx__real *out,
                      uint32_t out_stride, bool add);
    /* p: the attention weights of attend, with pages as they stand now, not packed. For every position at in
     * [0, first + n): values[at][kv head][value_dim] += p u, u [n][n_heads][value_dim], and
     * mass[at][head] += p; u with values, or mass, may be NULL. room: [n][n_heads] twice */
    void (*attend_back)(void *be, const dsx__attention *a, const dsx__real *q, const dsx__real *u, size_t n,
                        dsx__real *room, dsx__real *values, dsx__real *mass);
    /* values of positions [from, from + n): out [n][n_kv_heads][value_dim] */
    void (*kv_values)(void *be, const dsx__attention *a, uint64_t from, size_t n, dsx__real *out);
    /* out[h] = W^T W, [dim][dim], of the columns [h dim, (h + 1) dim) of m */
    void (*gram)(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t dim, dsx__real *out);
    /* values [n][n_kv_heads][dim] -> out[n][n_heads]: the length of what each head makes of them, the root of
     * v gram[h] v; gram NULL: their own */
    void (*lengths)(void *be, const dsx__real *gram, uint32_t n_heads, uint32_t n_kv_heads, uint32_t dim,
                    const dsx__real *values, size_t n, dsx__real *out);
    /* out[i] += sum of x[i][k] y[i][k] for k < width; a stride of 0 takes one row for all */
    void (*dots)(void *be, const dsx__real *x, uint32_t stride, const dsx__real *y, uint32_t y_stride,
                 size_t n, uint32_t width, double *out);
} dsx__backend_ops;

extern const dsx__backend_ops dsx__backend_cpu;     /* cpu/: float, threads, SIMD */
extern const dsx__backend_ops dsx__backend_float64; /* cpu/float64.c: double, plain loops; the definition */

#endif
