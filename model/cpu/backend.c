/* SPDX-License-Identifier: MIT */
/* The float backend: its table, memory, and what goes row by row. */
#define _GNU_SOURCE /* madvise */
#include "cpu/cpu.h"

#include "base.h"

#include <dsx/model.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define R(p)  ((float *)(void *)(p))
#define CR(p) ((const float *)(const void *)(p))

void *dsx__aligned(size_t n_bytes) {
    size_t n = (n_bytes + 63) / 64 * 64;
    void *p = n >= n_bytes ? aligned_alloc(64, n > 0 ? n : 64) : NULL;

    return p != NULL ? memset(p, 0, n) : NULL;
}

/* Weights lie in one piece where that is worth it, which the system may map by its large pages: every token
 * reads them all. */
#define LARGE_PAGE   ((size_t)2 << 20)
#define WORTH_A_ROOM (4 * LARGE_PAGE)
static void reserve(dsx__cpu *cpu, uint64_t n_bytes) {
    if (n_bytes < WORTH_A_ROOM || n_bytes > SIZE_MAX / 2) return;
    cpu->room_bytes = ((size_t)n_bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    cpu->room = aligned_alloc(LARGE_PAGE, cpu->room_bytes);
    if (cpu->room == NULL)
        cpu->room_bytes = 0;
    else
        (void)madvise(cpu->room, cpu->room_bytes, MADV_HUGEPAGE);
}

void *dsx__weights_take(dsx__cpu *cpu, size_t n_bytes) {
    size_t n = (n_bytes + 63) / 64 * 64;

    if (cpu->room == NULL || n < n_bytes || n > cpu->room_bytes - cpu->room_used)
        return dsx__aligned(n_bytes);
    cpu->room_used += n;
    return memset(cpu->room + (cpu->room_used - n), 0, n);
}

void dsx__weights_give(const dsx__cpu *cpu, void *p) {
    if ((uintptr_t)p - (uintptr_t)cpu->room >= cpu->room_bytes) free(p);
}

dsx__scratch *dsx__scratch_take(dsx__cpu *cpu, size_t n_bytes) {
    dsx__scratch *s = atomic_exchange(&cpu->spare, NULL);

    if (s != NULL && s->n_bytes >= n_bytes) return s;
    free(s);
    s = dsx__aligned(sizeof *s + n_bytes);
    if (s != NULL) s->n_bytes = n_bytes;
    return s;
}

void dsx__scratch_give(dsx__cpu *cpu, dsx__scratch *s) {
    free(atomic_exchange(&cpu->spare, s));
}

/* Instructions of the CPU that the system lets programs use, up to `most`. */
static const dsx__kernels *choose_kernels(int most) {
#if defined(__x86_64__)
    unsigned a, b, c = 0, d;
    bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;

    if (most == DSX_SIMD_AUTO) most = DSX_SIMD_AVX512;
    if (most >= DSX_SIMD_AVX512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("fma"))
        return &dsx__kernels_avx512;
    if (most >= DSX_SIMD_AVX2 && f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &dsx__kernels_avx2;
#endif
    (void)most;
    return &dsx__kernels_scalar;
}

static void cpu_close(void *be) {
    dsx__cpu *cpu = be;

    if (cpu == NULL) return;
    dsx__workers_free(cpu->workers);
    free(atomic_load(&cpu->spare));
    free(cpu->room);
    free(cpu);
}

static dstok_status cpu_open(const dsx__backend_options *options, void **be, dstok_error *err) {
    dsx__cpu *cpu = calloc(1, sizeof *cpu);

    if (cpu == NULL) return dsx__no_memory(err);
    cpu->k = choose_kernels(options->simd);
    cpu->dot = cpu->k->dot;
#if defined(__x86_64__)
    if (cpu->k == &dsx__kernels_avx512 && !__builtin_cpu_supports("avx512vnni"))
        cpu->dot = dsx__kernels_avx2.dot;
#endif
    cpu->workers = dsx__workers_new(options->n_threads);
    if (cpu->workers == NULL) {
        cpu_close(cpu);
        return dsx__no_memory(err);
    }
    reserve(cpu, options->weight_bytes);
    *be = cpu;
    return DSTOK_OK;
}

static dsx__real *cpu_alloc(void *be, size_t n) {
    (void)be;
    return n <= SIZE_MAX / 8 ? dsx__aligned(n * sizeof(float)) : NULL;
}

static void cpu_free(void *be, dsx__real *p, size_t n) {
    (void)be;
    (void)n;
    free(p);
}

static dsx__real *cpu_at(dsx__real *p, size_t n) {
    return (dsx__real *)(void *)(R(p) + n);
}

static void cpu_read(void *be, const dsx__real *p, size_t n, double *out) {
    (void)be;
    for (size_t i = 0; i < n; i++) out[i] = (double)CR(p)[i];
}

static void cpu_write(void *be, dsx__real *p, size_t n, const double *in) {
    (void)be;
    for (size_t i = 0; i < n; i++) R(p)[i] = (float)in[i];
}

/* ---- row by row */

static void cpu_embed(void *be, const dsx__matrix *m, const uint32_t *ids, size_t n, dsx__real *out) {
    (void)be;
    for (size_t i = 0; i < n; i++) dsx__part_read(&m->part, ids[i], 0, m->columns, R(out) + i * m->columns);
}

/* Rows that a thread takes at once, and what to do with them. */
#define ROWS_AT_ONCE 16u
typedef struct rows_job {
    const dsx__kernels *k;
    const float *x, *w;
    float *out;
    size_t n, width, stride, out_stride;
    double eps;
    const dsx__rotation *turn;
    size_t n_heads, head_stride, offset;
    void (*row)(const struct rows_job *j, size_t i);
} rows_job;

static void rows_task(void *arg, size_t task) {
    const rows_job *j = arg;

    for (size_t i = task * ROWS_AT_ONCE; i < (task + 1) * ROWS_AT_ONCE && i < j->n; i++) j->row(j, i);
}

static void run_rows(void *be, rows_job *j) {
    const dsx__cpu *cpu = be;

    j->k = cpu->k;
    dsx__workers_run(cpu->workers, (j->n + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, rows_task, j);
}

static void norm_row(const rows_job *j, size_t i) {
    const float *x = j->x + i * j->stride;
    double mean = (double)j->k->sum_squares(x, j->width) / (double)j->width;

    j->k->scale(x, j->width, (float)(1 / sqrt(mean + j->eps)), j->w, j->out + i * j->out_stride);
}

static void cpu_norm(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride,
                     const dsx__matrix *w, double eps, dsx__real *out, uint32_t out_stride) {
    rows_job j = {.x = CR(x),
                  .w = w->vector,
                  .out = R(out),
                  .n = n,
                  .width = width,
                  .stride = stride,
                  .out_stride = out_stride,
                  .eps = eps,
                  .row = norm_row};

    run_rows(be, &j);
}

/* In double, so that there is nothing to round but the result. */
static void rotate_row(const rows_job *j, size_t i) {
    size_t half = j->turn->dims / 2, gap = j->turn->interleaved ? 1 : half,
           step = j->turn->interleaved ? 2 : 1;
    const double *c = j->turn->cosine + i * half, *s = j->turn->sine + i * half;

    for (size_t h = 0; h < j->n_heads; h++) {
        float *x = j->out + i * j->stride + h * j->head_stride + j->offset;

        for (size_t k = 0; k < half; k++) {
            double a = (double)x[k * step], b = (double)x[k * step + gap];

            x[k * step] = (float)(a * c[k] - b * s[k]);
            x[k * step + gap] = (float)(b * c[k] + a * s[k]);
        }
    }
}

static void cpu_rotate(void *be, const dsx__rotation *r, dsx__real *x, size_t n, uint32_t stride,
                       uint32_t n_heads, uint32_t head_stride, uint32_t offset) {
    rows_job j = {.out = R(x),
                  .n = n,
                  .stride = stride,
                  .turn = r,
                  .n_heads = n_heads,
                  .head_stride = head_stride,
                  .offset = offset,
                  .row = rotate_row};

    run_rows(be, &j);
}

static void silu_row(const rows_job *j, size_t i) {
    j->k->silu(j->out + i * j->width, j->x + i * j->width, j->width);
}

static void cpu_swiglu(void *be, dsx__real *gate, const dsx__real *up, size_t n, uint32_t width) {
    rows_job j = {.x = CR(up), .out = R(gate), .n = n, .width = width, .row = silu_row};

    run_rows(be, &j);
}

static void cpu_copy(void *be, const dsx__real *x, size_t n, uint32_t width, uint32_t stride, dsx__real *out,
                     uint32_t out_stride) {
    (void)be;
    for (size_t i = 0; i < n; i++)
        memmove(R(out) + i * out_stride, CR(x) + i * stride, width * sizeof(float));
}

static void cpu_gather(void *be, const dsx__real *x, const uint32_t *index, size_t n, uint32_t width,
                       dsx__real *out) {
    (void)be;
    for (size_t i = 0; i < n; i++)
        memcpy(R(out) + i * width, CR(x) + (size_t)index[i] * width, width * sizeof(float));
}

static void cpu_scatter_add(void *be, const dsx__real *x, const uint32_t *index, const double *weight,
                            size_t n, uint32_t width, dsx__real *out) {
    (void)be;
    for (size_t i = 0; i < n; i++) {
        float *to = R(out) + (size_t)index[i] * width, by = (float)weight[i];

        for (uint32_t k = 0; k < width; k++) to[k] += by * CR(x)[i * width + k];
    }
}

const dsx__backend_ops dsx__backend_cpu = {
    .name = "cpu",
    .real_bytes = sizeof(float),
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .at = cpu_at,
    .read = cpu_read,
    .write = cpu_write,
    .load = dsx__cpu_load,
    .unload = dsx__cpu_unload,
    .bytes = dsx__cpu_bytes,
    .plan = dsx__cpu_plan,
    .embed = cpu_embed,
    .norm = cpu_norm,
    .linear = dsx__cpu_linear,
    .linear_heads = dsx__cpu_linear_heads,
    .rotate = cpu_rotate,
    .swiglu = cpu_swiglu,
    .copy = cpu_copy,
    .gather = cpu_gather,
    .scatter_add = cpu_scatter_add,
    .kv_write = dsx__cpu_kv_write,
    .kv_pack = dsx__cpu_kv_pack,
    .attend = dsx__cpu_attend,
    .log_probs = dsx__cpu_log_probs,
    .linear_back = dsx__cpu_linear_back,
    .norm_back = dsx__cpu_norm_back,
    .attend_back = dsx__cpu_attend_back,
    .kv_values = dsx__cpu_kv_values,
    .gram = dsx__cpu_gram,
    .lengths = dsx__cpu_lengths,
    .dots = dsx__cpu_dots,
};
