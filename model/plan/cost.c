/* SPDX-License-Identifier: MIT */
/* The roofline of one device, and the filter of the choices that are worth a look. */
#include <dsx/cost.h>

#include "arch/open.h"

#include <math.h>
#include <string.h>

/* Nominal figures of the makers' data sheets: dense BF16, one direction of a link. */
static const dsx_machine machines[] = {
    {"a100", 80e9, 2.039e12, 312e12, 300e9, 5e-6, 32e9},
    {"h100", 80e9, 3.35e12, 989e12, 450e9, 5e-6, 64e9},
    {"h200", 141e9, 4.8e12, 989e12, 450e9, 5e-6, 64e9},
    {"l40s", 48e9, 864e9, 362e12, 32e9, 10e-6, 32e9},
    {"rtx4090", 24e9, 1.008e12, 165e12, 32e9, 10e-6, 32e9},
};

const dsx_machine *dsx_machine_at(size_t i) {
    return i < sizeof machines / sizeof *machines ? &machines[i] : NULL;
}

const dsx_machine *dsx_machine_find(const char *name) {
    const dsx_machine *m;

    for (size_t i = 0; (m = dsx_machine_at(i)) != NULL; i++)
        if (name != NULL && strcmp(m->name, name) == 0) return m;
    return NULL;
}

/* ---- the model */

typedef struct sums {
    double bytes, numbers;
} sums;

static void add(void *context, const dsx__part *part, const dsx_format *format) {
    sums *s = context;

    (void)format;
    s->bytes += (double)(part->rows * dsx__row_bytes(part->format, part->columns));
    s->numbers += (double)(part->rows * part->columns);
}

/* Numbers of the experts that a token does not pass through. */
static double idle_numbers(const dsx__config *c) {
    double n = 0;

    for (uint32_t l = 0; l < c->n_layers; l++)
        if (dsx__has_experts(c, l)) n += 3.0 * c->width * c->moe.width * (c->moe.n_experts - c->moe.n_used);
    return n;
}

static void describe(const dsx__config *c, const dsx__parts *parts, double bits, double kv_bits,
                     dsx_cost_model *out) {
    dsx__kv_shape kv = dsx__kv_shape_of(c);
    dsx_model_options as_in_the_file = DSX_MODEL_OPTIONS_INIT;
    sums all = {0, 0};
    double looked_up = parts->head.data != NULL ? (double)c->n_vocab * c->width : 0, active, bytes;

    dsx__parts_each(c, parts, &as_in_the_file, add, &all);
    bytes = bits > 0 ? bits / 8 : all.bytes / all.numbers;
    active = all.numbers - idle_numbers(c) - looked_up;
    *out = (dsx_cost_model){
        .weights = all.numbers * bytes,
        .active_weights = active * bytes,
        .token_operations = 2 * active,
        .pair_operations = 2.0 * c->n_layers * c->n_heads * (kv.key_dim + kv.value_dim),
        .kv = (double)(dsx__kv_page_reals(&kv) / DSX__PAGE) * kv_bits / 8,
        .window = c->window_from == 0 ? c->window : 0,
        .n_layers = c->n_layers,
        .width = c->width,
        .number_bytes = 2,
    };
}

dstok_status dsx_cost_of(const char *path, double bits, double kv_bits, dsx_cost_model *out,
                         dstok_error *err) {
    dsx__archive archive = {0};
    dsx__parts parts = {0};
    dstok_status status;

    if (path == NULL || out == NULL || !(bits >= 0) || !(kv_bits > 0))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_cost_of: an argument is out of its domain");
    status = dsx__archive_open(path, &archive, err);
    if (status == DSTOK_OK) status = dsx__parts_find(&archive, &parts, err);
    if (status == DSTOK_OK) describe(&archive.config, &parts, bits, kv_bits, out);
    dsx__parts_free(&parts);
    dsx__archive_close(&archive);
    return status;
}

/* ---- the roofline */

static double seconds(const dsx_machine *m, double bytes, double operations) {
    return fmax(bytes / m->bandwidth, operations / m->operations);
}

/* Pairs of a token and one it sees, for a text of n. */
static double pairs(const dsx_cost_model *c, double n) {
    double w = c->window > 0 && c->window < n ? c->window : n;

    return w * (w + 1) / 2 + (n - w) * w;
}

void dsx_cost_point(const dsx_cost_model *c, const dsx_machine *m, uint32_t batch, uint64_t length,
                    dsx_point *out) {
    double n = (double)length, seen = c->window > 0 && c->window < n ? c->window : n, b = batch;

    *out = (dsx_point){.batch = batch, .length = length};
    out->memory = c->weights + b * n * c->kv;
    out->prefill = seconds(m, c->weights + b * n * c->kv,
                           b * (n * c->token_operations + pairs(c, n) * c->pair_operations));
    out->step = seconds(m, fmin(c->weights, b * c->active_weights) + b * seen * c->kv,
                        b * (c->token_operations + seen * c->pair_operations));
    out->tokens_per_second = b / out->step;
    out->fits = out->memory <= m->memory;
}

/* ---- the choices worth a look */

static int beats(const double *a, const double *b, size_t n) {
    int is_better = 0;

    for (size_t i = 0; i < n; i++) {
        if (!(a[i] <= b[i])) return 0;
        if (a[i] < b[i]) is_better = 1;
    }
    return is_better;
}

static int has_nan(const double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (isnan(a[i])) return 1;
    return 0;
}

void dsx_pareto(const double *values, size_t n, size_t n_objectives, int *best) {
    for (size_t i = 0; i < n; i++) {
        const double *point = values + i * n_objectives;

        best[i] = !has_nan(point, n_objectives);
        for (size_t k = 0; k < n && best[i]; k++)
            if (beats(values + k * n_objectives, point, n_objectives)) best[i] = 0;
    }
}
