/* SPDX-License-Identifier: MIT */
/* The backend that the others are compared with: double, plain loops, one row after the other. This is the
 * definition of what each entry of dsx__backend_ops does; it is slow. */
#include "backend.h"

#include "base.h"
#include "quant/blocks.h"
#include "quant/kv.h"
#include "quant/rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define R(p)  ((double *)(p))
#define CR(p) ((const double *)(p))

/* Values of files are those of float, whatever the format. */
struct dsx__matrix {
    dsx__part part;
    uint64_t rows, columns;
    dsx_format format; /* of a map */
    uint64_t bytes;    /* of w */
    float w[];         /* [rows][columns]; a table has none */
};

static dstok_status f64_open(const dsx__backend_options *options, void **be, dstok_error *err) {
    (void)options;
    (void)err;
    *be = NULL; /* there is nothing to keep */
    return DSTOK_OK;
}

static void f64_close(void *be) {
    (void)be;
}

static dsx__real *f64_alloc(void *be, size_t n) {
    (void)be;
    return calloc(n > 0 ? n : 1, sizeof(double));
}

static void f64_free(void *be, dsx__real *p, size_t n) {
    (void)be;
    (void)n;
    free(p);
}

static dsx__real *f64_at(dsx__real *p, size_t n) {
    return (dsx__real *)(R(p) + n);
}

static void f64_read(void *be, const dsx__real *p, size_t n, double *out) {
    (void)be;
    memcpy(out, p, n * sizeof *out);
}

static void f64_write(void *be, dsx__real *p, size_t n, const double *in) {
    (void)be;
    memcpy(p, in, n * sizeof *in);
}

/* ---- weights */

static bool is_table(const dsx__part *part, const dsx_format *format) {
    return format == NULL && part->rows > 1;
}

static void read_weights(dsx__matrix *m) {
    for (uint64_t i = 0; i < m->rows; i += DSX__SQUARE)
        dsx__weights_read(&m->part, &m->format, i, m->rows - i < DSX__SQUARE ? m->rows - i : DSX__SQUARE,
                          m->w + i * m->columns);
}

static uint64_t f64_plan(const dsx__part *part, const dsx_format *format) {
    return is_table(part, format) ? 0 : part->rows * part->columns * sizeof(float);
}

static dstok_status f64_load(void *be, const dsx__part *part, const dsx_format *format, dsx__matrix **out,
                             dstok_error *err) {
    uint64_t n = f64_plan(part, format);
    dsx__matrix *m = n < SIZE_MAX / 2 ? malloc(sizeof *m + (size_t)n) : NULL;

    (void)be;
    if (m == NULL) return dsx__no_memory(err);
    m->part = *part;
    m->rows = part->rows;
    m->columns = part->columns;
    m->bytes = n;
    m->format = format != NULL ? *format : (dsx_format){0};
    if (!is_table(part, format)) read_weights(m);
    *out = m;
    return DSTOK_OK;
}

static void f64_unload(void *be, dsx__matrix *m) {
    (void)be;
    free(m);
}

static uint64_t f64_bytes(const dsx__matrix *m) {
    return m->bytes;
}

static const float *row_of(const dsx__matrix *m, uint64_t i) {
    return m->w + i * m->columns;
}

static double dot(const double *x, const float *w, uint64_t n) {
    double sum = 0;

    for (uint64_t k = 0; k < n; k++) sum += x[k] * (double)w[k];
    return sum;
}

/* ---- rows */

static void f64_embed(void *be, const dsx__matrix *m, const uint32_t *ids, size_t n, dsx__real *out) {
    (void)be;
    for (size_t i = 0; i < n; i++)
        for (uint64_t at = 0; at < m->columns; at += DSX__MAX_BLOCK) {
            uint64_t some = m->columns - at < DSX__MAX_BLOCK ? m->columns - at : DSX__MAX_BLOCK;
            float w[DSX__MAX_BLOCK];

            dsx__part_read(&m->part, ids[i], at, some, w);
            for (uint64_t k = 0; k < some; k++) R(out)[i * m->columns + at + k] = (double)w[k];
        }
}

static void f64_norm(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride,
                     const dsx__matrix *m, double eps, dsx__real *out, uint32_t out_stride) {
    const float *w = row_of(m, 0);

    (void)be;
    for (size_t i = 0; i < n; i++) {
        const double *in = CR(x) + i * stride;
        double sum = 0;

        for (uint32_t k = 0; k < width; k++) sum += in[k] * in[k];
        for (uint32_t k = 0; k < width; k++)
            R(out)[i * out_stride + k] = in[k] / sqrt(sum / width + eps) * (double)w[k];
    }
}

/* Rows as the format of a map rounds them; malloc'ed where it does. Without memory they are not a number. */
static double *round_rows(const dsx__matrix *m, const double *x, size_t n) {
    uint64_t columns = m->columns;
    float *row = malloc(columns * (sizeof *row + 1));
    double *out = row != NULL ? malloc((n + 1) * columns * sizeof *out) : NULL;

    for (size_t i = 0; out != NULL && i < n; i++) {
        for (uint64_t k = 0; k < columns; k++) row[k] = (float)x[i * columns + k];
        dsx__round_values(row, columns, m->format.rows, m->format.limit, (int8_t *)(row + columns));
        for (uint64_t k = 0; k < columns; k++) out[i * columns + k] = (double)row[k];
    }
    free(row);
    return out;
}

static void f64_linear(void *be, const dsx__matrix *m, const dsx__matrix *bias, const dsx__real *x, size_t n,
                       dsx__real *out, bool add) {
    uint64_t rows = m->rows, columns = m->columns;
    const float *b = bias != NULL ? row_of(bias, 0) : NULL;
    bool is_rounded = m->format.rows != DSX_ROWS_FLOAT;
    double *rounded = is_rounded ? round_rows(m, CR(x), n) : NULL;
    const double *in = is_rounded ? rounded : CR(x);

    (void)be;
    for (uint64_t j = 0; j < rows; j++) {
        const float *w = row_of(m, j);

        for (size_t i = 0; i < n; i++) {
            double y =
                (in != NULL ? dot(in + i * columns, w, columns) : NAN) + (b != NULL ? (double)b[j] : 0);
            double *to = R(out) + i * rows + j;

            *to = add ? *to + y : y;
        }
    }
    free(rounded);
}

static void f64_linear_heads(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t block, uint32_t from,
                             uint32_t rows, bool transposed, const dsx__real *x, uint32_t x_stride, size_t n,
                             dsx__real *out, uint32_t out_stride) {
    uint64_t columns = m->columns;

    (void)be;
    for (uint32_t h = 0; h < n_heads; h++) {
        for (size_t i = 0; transposed && i < n; i++)
            memset(R(out) + (i * n_heads + h) * out_stride, 0, columns * sizeof(double));
        for (uint32_t r = 0; r < rows; r++) {
            const float *w = row_of(m, (uint64_t)h * block + from + r);

            for (size_t i = 0; i < n; i++) {
                const double *in = CR(x) + (i * n_heads + h) * x_stride;
                double *to = R(out) + (i * n_heads + h) * out_stride;

                if (!transposed)
                    to[r] = dot(in, w, columns);
                else
                    for (uint64_t k = 0; k < columns; k++) to[k] += in[r] * (double)w[k];
            }
        }
    }
}

static void f64_rotate(void *be, const dsx__rotation *r, dsx__real *x, size_t n, uint32_t stride,
                       uint32_t n_heads, uint32_t head_stride, uint32_t offset) {
    uint32_t half = r->dims / 2, gap = r->interleaved ? 1 : half, step = r->interleaved ? 2 : 1;

    (void)be;
    for (size_t i = 0; i < n; i++) {
        const double *c = r->cosine + i * half, *s = r->sine + i * half;

        for (uint32_t h = 0; h < n_heads; h++) {
            double *head = R(x) + i * stride + h * head_stride + offset;

            for (uint32_t k = 0; k < half; k++) {
                double a = head[k * step], b = head[k * step + gap];

                head[k * step] = a * c[k] - b * s[k];
                head[k * step + gap] = b * c[k] + a * s[k];
            }
        }
    }
}

static void f64_swiglu(void *be, dsx__real *gate, const dsx__real *up, size_t n, uint32_t width) {
    (void)be;
    for (size_t i = 0; i < n * width; i++) R(gate)[i] = R(gate)[i] / (1 + exp(-R(gate)[i])) * CR(up)[i];
}

static void f64_copy(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride, dsx__real *out,
                     uint32_t out_stride) {
    (void)be;
    for (size_t i = 0; i < n; i++)
        memmove(R(out) + i * out_stride, CR(x) + i * stride, width * sizeof(double));
}

static void f64_gather(void *be, const dsx__real *x, const uint32_t *index, size_t n, uint32_t width,
                       dsx__real *out) {
    (void)be;
    for (size_t i = 0; i < n; i++)
        memcpy(R(out) + i * width, CR(x) + (size_t)index[i] * width, width * sizeof(double));
}

static void f64_scatter_add(void *be, const dsx__real *x, const uint32_t *index, const double *weight,
                            size_t n, uint32_t width, dsx__real *out) {
    (void)be;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < width; k++)
            R(out)[(size_t)index[i] * width + k] += weight[i] * CR(x)[i * width + k];
}

/* ---- attention */

static double *keys_of(const dsx__attention *a, uint64_t page, uint32_t kv_head) {
    const dsx__kv_shape *s = a->shape;

    return R(a->pages[page]) + a->layer * dsx__kv_layer_reals(s) + (size_t)kv_head * s->key_dim * DSX__PAGE;
}

static double *values_of(const dsx__attention *a, uint64_t page, uint32_t kv_head) {
    const dsx__kv_shape *s = a->shape;

    return R(a->pages[page]) + a->layer * dsx__kv_layer_reals(s) +
           (size_t)s->n_kv_heads * s->key_dim * DSX__PAGE + (size_t)kv_head * s->value_dim * DSX__PAGE;
}

static void f64_kv_write(void *be, const dsx__attention *a, const dsx__real *k, const dsx__real *v,
                         size_t n) {
    const dsx__kv_shape *s = a->shape;

    (void)be;
    for (size_t i = 0; i < n; i++) {
        uint64_t page = (a->first + i) / DSX__PAGE, slot = (a->first + i) % DSX__PAGE;

        for (uint32_t h = 0; h < s->n_kv_heads; h++) {
            double *keys = keys_of(a, page, h), *values = values_of(a, page, h);

            for (uint32_t d = 0; d < s->key_dim; d++)
                keys[d * DSX__PAGE + slot] = CR(k)[(i * s->n_kv_heads + h) * s->key_dim + d];
            for (uint32_t d = 0; d < s->value_dim; d++)
                values[slot * s->value_dim + d] = CR(v)[(i * s->n_kv_heads + h) * s->value_dim + d];
        }
    }
}

static dsx__kv_part part_of(const dsx__attention *a, uint64_t page, uint32_t kv_head, bool keys) {
    return dsx__kv_part_of(a->shape, a->packed_format, a->packed[page], a->layer, kv_head, keys);
}

static void f64_kv_pack(void *be, const dsx__attention *a, uint64_t page) {
    const dsx__kv_shape *s = a->shape;

    (void)be;
    for (uint32_t i = 0; i < s->n_kv_heads * s->key_dim; i++) {
        dsx__kv_part keys = part_of(a, page, i / s->key_dim, true);
        float column[DSX__PAGE];

        for (uint32_t t = 0; t < DSX__PAGE; t++)
            column[t] = (float)keys_of(a, page, 0)[(size_t)i * DSX__PAGE + t];
        dsx__kv_pack_mean(&keys, i % s->key_dim, column);
    }
    for (uint32_t i = 0; i < s->n_kv_heads * DSX__PAGE; i++) {
        uint32_t h = i / DSX__PAGE, t = i % DSX__PAGE;
        const double *key = keys_of(a, page, h) + t,
                     *value = values_of(a, page, h) + (size_t)t * s->value_dim;
        dsx__kv_part keys = part_of(a, page, h, true), values = part_of(a, page, h, false);
        float row[DSX__KV_MAX_DIM];

        for (uint32_t d = 0; d < s->key_dim; d++) row[d] = (float)key[d * DSX__PAGE];
        dsx__kv_pack_row(&keys, t, row);
        for (uint32_t d = 0; d < s->value_dim; d++) row[d] = (float)value[d];
        dsx__kv_pack_row(&values, t, row);
    }
}

/* Key and value of one token, of either form. */
static void token(const dsx__attention *a, uint32_t kv_head, uint64_t at, double *key, double *value) {
    const dsx__kv_shape *s = a->shape;
    uint64_t page = at / DSX__PAGE;
    uint32_t t = (uint32_t)(at % DSX__PAGE);

    if (page < a->packed_from || page >= a->packed_to) {
        for (uint32_t d = 0; d < s->key_dim; d++) key[d] = keys_of(a, page, kv_head)[d * DSX__PAGE + t];
        for (uint32_t d = 0; d < s->value_dim; d++)
            value[d] = values_of(a, page, kv_head)[t * s->value_dim + d];
        return;
    }
    dsx__kv_part keys = part_of(a, page, kv_head, true), values = part_of(a, page, kv_head, false);
    for (uint32_t d = 0; d < s->key_dim; d++) key[d] = (double)dsx__kv_number(&keys, t, d);
    for (uint32_t d = 0; d < s->value_dim; d++) value[d] = (double)dsx__kv_number(&values, t, d);
}

/* One head of one row. Sums are against the greatest score so far, and are scaled down when a greater one
 * comes. */
static void attend_head(const dsx__attention *a, const double *q, uint32_t head, uint64_t position,
                        double *out) {
    uint32_t kv_head = head / (a->n_heads / a->shape->n_kv_heads), value_dim = a->shape->value_dim;
    uint64_t from = a->window > 0 && position >= a->window ? position - a->window + 1 : 0;
    double slope = a->alibi * exp2(-8.0 * (head + 1) / a->n_heads), max = -INFINITY, sum = 0;
    double key[DSX__KV_MAX_DIM], value[DSX__KV_MAX_DIM];

    memset(out, 0, value_dim * sizeof *out);
    for (uint64_t at = from; at <= position; at++) {
        double score = 0, p;

        token(a, kv_head, at, key, value);
        for (uint32_t d = 0; d < a->shape->key_dim; d++) score += q[d] * key[d];
        score = score * a->scale - slope * (double)(position - at);
        if (score > max) {
            double down = exp(max - score);

            sum *= down;
            for (uint32_t d = 0; d < value_dim; d++) out[d] *= down;
            max = score;
        }
        p = exp(score - max);
        sum += p;
        for (uint32_t d = 0; d < value_dim; d++) out[d] += p * value[d];
    }
    for (uint32_t d = 0; d < value_dim; d++) out[d] /= sum;
}

static void f64_attend(void *be, const dsx__attention *a, const dsx__real *q, size_t n, dsx__real *out) {
    (void)be;
    for (size_t i = 0; i < n; i++)
        for (uint32_t h = 0; h < a->n_heads; h++)
            attend_head(a, CR(q) + (i * a->n_heads + h) * a->shape->key_dim, h, a->first + i,
                        R(out) + (i * a->n_heads + h) * a->shape->value_dim);
}

/* ---- the head */

static void f64_log_probs(void *be, const dsx__matrix *head, const dsx__real *x, size_t n,
                          const uint32_t *targets, double *out, double *lse) {
    uint64_t columns = head->columns;
    bool is_rounded = head->format.rows != DSX_ROWS_FLOAT;
    double *rounded = is_rounded ? round_rows(head, CR(x), n) : NULL;
    const double *in = is_rounded ? rounded : CR(x);

    (void)be;
    for (size_t i = 0; i < n; i++) {
        double max = -INFINITY, sum = 0, target = 0;

        for (uint64_t j = 0; j < head->rows; j++) {
            double y = in != NULL ? dot(in + i * columns, row_of(head, j), columns) : NAN;

            if (j == targets[i]) target = y;
            if (y > max) {
                sum *= exp(max - y);
                max = y;
            }
            sum += exp(y - max);
        }
        out[i] = target - max - log(sum);
        if (lse != NULL) lse[i] = max + log(sum);
    }
    free(rounded);
}

/* ---- the way back */

static void f64_linear_back(void *be, const dsx__matrix *m, const dsx__real *g, size_t n, dsx__real *out,
                            bool add) {
    uint64_t rows = m->rows, columns = m->columns;

    (void)be;
    if (!add) memset(out, 0, n * columns * sizeof(double));
    for (uint64_t j = 0; j < rows; j++)
        for (size_t i = 0; i < n; i++)
            for (uint64_t k = 0; k < columns; k++)
                R(out)[i * columns + k] += CR(g)[i * rows + j] * (double)row_of(m, j)[k];
}

static void f64_norm_back(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride,
                          const dsx__matrix *m, double eps, const dsx__real *g, uint32_t g_stride,
                          dsx__real *out, uint32_t out_stride, bool add) {
    const float *w = row_of(m, 0);

    (void)be;
    for (size_t i = 0; i < n; i++) {
        const double *in = CR(x) + i * stride;
        double sum = 0;

        for (uint32_t k = 0; k < width; k++) sum += in[k] * in[k];
        for (uint32_t k = 0; k < width; k++) {
            double y = CR(g)[i * g_stride + k] / sqrt(sum / width + eps) * (double)w[k],
                   *to = R(out) + i * out_stride + k;

            *to = add ? *to + y : y;
        }
    }
}

/* What attend_head exponentiates. */
static double score(const dsx__attention *a, const double *q, uint32_t head, uint64_t position, uint64_t at) {
    double slope = a->alibi * exp2(-8.0 * (head + 1) / a->n_heads), sum = 0;
    double key[DSX__KV_MAX_DIM], value[DSX__KV_MAX_DIM];

    token(a, head / (a->n_heads / a->shape->n_kv_heads), at, key, value);
    for (uint32_t d = 0; d < a->shape->key_dim; d++) sum += q[d] * key[d];
    return sum * a->scale - slope * (double)(position - at);
}

static void head_back(const dsx__attention *a, const double *q, const double *u, uint32_t head,
                      uint64_t position, double *values, double *mass) {
    uint64_t from = a->window > 0 && position >= a->window ? position - a->window + 1 : 0;
    uint32_t kv_head = head / (a->n_heads / a->shape->n_kv_heads), dim = a->shape->value_dim;
    double max = -INFINITY, sum = 0;

    for (uint64_t at = from; at <= position; at++) max = fmax(max, score(a, q, head, position, at));
    for (uint64_t at = from; at <= position; at++) sum += exp(score(a, q, head, position, at) - max);
    for (uint64_t at = from; at <= position; at++) {
        double p = exp(score(a, q, head, position, at) - max) / sum;

        for (uint32_t d = 0; u != NULL && d < dim; d++)
            values[(at * a->shape->n_kv_heads + kv_head) * dim + d] += p * u[d];
        if (mass != NULL) mass[at * a->n_heads + head] += p;
    }
}

static void f64_attend_back(void *be, const dsx__attention *a, const dsx__real *q, const dsx__real *u,
                            size_t n, dsx__real *room, dsx__real *values, dsx__real *mass) {
    (void)be;
    (void)room;
    for (size_t i = 0; i < n; i++)
        for (uint32_t h = 0; h < a->n_heads; h++) {
            size_t at = i * a->n_heads + h;

            head_back(a, CR(q) + at * a->shape->key_dim, u != NULL ? CR(u) + at * a->shape->value_dim : NULL,
                      h, a->first + i, R(values), R(mass));
        }
}

static void f64_kv_values(void *be, const dsx__attention *a, uint64_t from, size_t n, dsx__real *out) {
    uint32_t heads = a->shape->n_kv_heads, dim = a->shape->value_dim;
    double key[DSX__KV_MAX_DIM];

    (void)be;
    for (size_t i = 0; i < n; i++)
        for (uint32_t h = 0; h < heads; h++) token(a, h, from + i, key, R(out) + (i * heads + h) * dim);
}

static void f64_gram(void *be, const dsx__matrix *m, uint32_t n_heads, uint32_t dim, dsx__real *out) {
    (void)be;
    memset(out, 0, (size_t)n_heads * dim * dim * sizeof(double));
    for (uint64_t r = 0; r < m->rows; r++)
        for (size_t i = 0; i < (size_t)n_heads * dim; i++)
            for (size_t k = 0; k < dim; k++)
                R(out)[i * dim + k] += (double)row_of(m, r)[i] * (double)row_of(m, r)[i / dim * dim + k];
}

static void f64_lengths(void *be, const dsx__real *gram, uint32_t n_heads, uint32_t n_kv_heads, uint32_t dim,
                        const dsx__real *values, size_t n, dsx__real *out) {
    (void)be;
    for (size_t i = 0; i < n * n_heads; i++) {
        size_t h = i % n_heads;
        const double *v = CR(values) + (i / n_heads * n_kv_heads + h / (n_heads / n_kv_heads)) * dim;
        double sum = 0;

        for (size_t a = 0; a < dim; a++)
            for (size_t b = gram != NULL ? 0 : a; b < (gram != NULL ? dim : a + 1); b++)
                sum += v[a] * v[b] * (gram != NULL ? CR(gram)[(h * dim + a) * dim + b] : 1);
        R(out)[i] = sqrt(fmax(sum, 0));
    }
}

static void f64_dots(void *be, const dsx__real *x, uint32_t stride, const dsx__real *y, uint32_t y_stride,
                     size_t n, uint32_t width, double *out) {
    (void)be;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < width; k++) out[i] += CR(x)[i * stride + k] * CR(y)[i * y_stride + k];
}

const dsx__backend_ops dsx__backend_float64 = {
    .name = "float64",
    .real_bytes = sizeof(double),
    .open = f64_open,
    .close = f64_close,
    .alloc = f64_alloc,
    .free = f64_free,
    .at = f64_at,
    .read = f64_read,
    .write = f64_write,
    .load = f64_load,
    .unload = f64_unload,
    .bytes = f64_bytes,
    .plan = f64_plan,
    .embed = f64_embed,
    .norm = f64_norm,
    .linear = f64_linear,
    .linear_heads = f64_linear_heads,
    .rotate = f64_rotate,
    .swiglu = f64_swiglu,
    .copy = f64_copy,
    .gather = f64_gather,
    .scatter_add = f64_scatter_add,
    .kv_write = f64_kv_write,
    .kv_pack = f64_kv_pack,
    .attend = f64_attend,
    .log_probs = f64_log_probs,
    .linear_back = f64_linear_back,
    .norm_back = f64_norm_back,
    .attend_back = f64_attend_back,
    .kv_values = f64_kv_values,
    .gram = f64_gram,
    .lengths = f64_lengths,
    .dots = f64_dots,
};
