/* SPDX-License-Identifier: MIT */
/* dsexplain plan: what a model will take, before any of it is taken. */
#include "dsexplain.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const weight_names[] = {"file", "f32", "w8", "w4", "fp8", "policy"};
enum { BY_POLICY = 5 };
static const char *const kv_names[] = {"float", "int8", "int4"};

const char *ex_size(double bytes, ex_size_text out) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t i = 0;

    while (bytes >= 1000 && i + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        i++;
    }
    (void)snprintf(out, sizeof(ex_size_text), i == 0 ? "%.0f %s" : "%.1f %s", bytes, units[i]);
    return out;
}

/* Bytes of this machine's memory; 0: not known. */
static double memory_here(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (double)pages * (double)size : 0;
}

/* ---- this machine */

struct row {
    int weights, kv;
    dsx_plan plan;
};

static int plan_row(const struct ex_config *c, const char *path, struct row *row) {
    dsx_plan_options o = DSX_PLAN_OPTIONS_INIT;
    dsx_model_options mo;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;
    int rc = ex_model_options(c, &mo);

    if (rc) return rc;
    if (row->weights != BY_POLICY) mo.weights = row->weights;
    mo.max_bytes = 0;
    o.model = &mo;
    o.context = c->context;
    o.chunk = (size_t)c->chunk;
    o.n_sessions = (uint32_t)c->sessions;
    o.kv = row->kv;
    o.kv_recent = c->kv_recent;
    row->plan = (dsx_plan)DSX_PLAN_INIT;
    status = dsx_plan_model(path, &o, &row->plan, &err);
    dsx_policy_free((dsx_policy *)mo.policy);
    return status == DSTOK_OK ? 0 : ex_failed(path, status, &err);
}

static void put_row(struct cli_buf *out, const struct row *row, double limit, int json, int first) {
    const dsx_plan *p = &row->plan;
    ex_size_text weights, kv, work, total;

    if (json) {
        cli_buf_printf(out,
                       "%s{\"weights\":\"%s\",\"kv\":\"%s\",\"weight_bytes\":%llu,\"kv_bytes\":%llu,"
                       "\"work_bytes\":%llu,\"total_bytes\":%llu,\"fits\":%s}",
                       first ? "" : ",", weight_names[row->weights], kv_names[row->kv],
                       (unsigned long long)p->weights, (unsigned long long)p->kv, (unsigned long long)p->work,
                       (unsigned long long)p->total, (double)p->total <= limit ? "true" : "false");
        return;
    }
    cli_buf_printf(out, "%-8s %-6s %10s %10s %10s %10s  %s\n", weight_names[row->weights], kv_names[row->kv],
                   ex_size((double)p->weights, weights), ex_size((double)p->kv, kv),
                   ex_size((double)p->work, work), ex_size((double)p->total, total),
                   (double)p->total <= limit ? "fits" : "does not fit");
}

static void put_head(struct cli_buf *out, const struct ex_config *c, const char *path, const dsx_plan *p,
                     double limit) {
    ex_size_text file, memory;

    if (c->json) {
        cli_buf_text(out, "{\"model\":");
        cli_json_text(out, path);
        cli_buf_printf(out,
                       ",\"context\":%llu,\"sessions\":%llu,\"parameters\":%llu,\"file_bytes\":%llu,"
                       "\"limit_bytes\":%.0f,\"cpu\":[",
                       (unsigned long long)p->context, (unsigned long long)(c->sessions ? c->sessions : 1),
                       (unsigned long long)p->n_parameters, (unsigned long long)p->file, limit);
        return;
    }
    cli_buf_printf(out, "%s: %.1f M parameters, files of %s\n", path, (double)p->n_parameters / 1e6,
                   ex_size((double)p->file, file));
    cli_buf_printf(out, "%llu text%s of %llu tokens, against %s of memory%s\n\n",
                   (unsigned long long)(c->sessions ? c->sessions : 1), c->sessions > 1 ? "s" : "",
                   (unsigned long long)p->context, ex_size(limit, memory),
                   c->max_memory ? " (--max-memory)" : " here");
    cli_buf_printf(out, "%-8s %-6s %10s %10s %10s %10s\n", "weights", "kv", "weights", "kv", "work", "total");
}

/* Every way, or those that options name. */
static int plan_here(const struct ex_config *c, const char *path, struct cli_buf *out, uint64_t *context) {
    double limit = c->max_memory ? (double)c->max_memory : memory_here();
    struct row row;
    int rc = 0, n = 0;

    for (row.weights = 0; row.weights <= BY_POLICY && rc == 0; row.weights++) {
        if ((row.weights == BY_POLICY) != (c->policy != NULL)) continue;
        if (cli_args_has(&c->args, "weights") && row.weights != c->weights) continue;
        for (row.kv = 0; row.kv <= DSX_KV_INT4 && rc == 0; row.kv++) {
            if (cli_args_has(&c->args, "kv") ? row.kv != c->kv : row.kv == DSX_KV_INT4) continue;
            rc = plan_row(c, path, &row);
            if (rc) break;
            if (n == 0) put_head(out, c, path, &row.plan, limit);
            put_row(out, &row, limit, c->json, n++ == 0);
            *context = row.plan.context;
        }
    }
    return rc;
}

/* ---- a GPU */

#define N_BATCHES 5
static const uint32_t batches[N_BATCHES] = {1, 4, 16, 64, 256};

struct form {
    const char *name;
    double bits; /* of a weight; of a number of keys and values */
};
static const struct form weight_forms[] = {
    {"bf16", 16}, {"int8", 8.25}, {"int4", 4.5}}; /* with scales for 64 weights */
static const struct form kv_forms[] = {{"fp16", 16}, {"int8", 8.25}};

#define N_POINTS (3 * 2 * N_BATCHES)

struct choice {
    const char *weights, *kv;
    dsx_cost_model cost;
    dsx_point point;
};

static void put_choice(struct cli_buf *out, const struct choice *p, int json, int first) {
    ex_size_text memory;

    if (json)
        cli_buf_printf(
            out,
            "%s{\"weights\":\"%s\",\"kv\":\"%s\",\"batch\":%lu,\"memory_bytes\":%.0f,\"prefill_s\":%.6g,"
            "\"step_s\":%.6g,\"tokens_per_s\":%.6g,\"fits\":%s,\"best\":%s}",
            first ? "" : ",", p->weights, p->kv, (unsigned long)p->point.batch, p->point.memory,
            p->point.prefill, p->point.step, p->point.tokens_per_second, p->point.fits ? "true" : "false",
            p->point.is_best ? "true" : "false");
    else
        cli_buf_printf(out, "%-8s %-6s %5lu %10s %9.3f s %9.3f ms %10.0f%s\n", p->weights, p->kv,
                       (unsigned long)p->point.batch, ex_size(p->point.memory, memory), p->point.prefill,
                       p->point.step * 1e3, p->point.tokens_per_second, p->point.is_best ? " *" : "");
}

/* Marks what no other choice that fits beats. */
static void mark_best(struct choice *p, size_t n) {
    double values[N_POINTS][3];
    size_t at[N_POINTS], i, k = 0;
    int best[N_POINTS];

    for (i = 0; i < n; i++) {
        if (!p[i].point.fits) continue;
        values[k][0] = p[i].point.memory;
        values[k][1] = p[i].point.step;
        values[k][2] = -p[i].point.tokens_per_second;
        at[k++] = i;
    }
    dsx_pareto(&values[0][0], k, 3, best);
    for (i = 0; i < k; i++) p[at[i]].point.is_best = best[i];
}

static int fill(const char *path, const dsx_machine *machine, uint64_t context, struct choice *out) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    size_t w, k, b;

    for (w = 0; w < 3; w++)
        for (k = 0; k < 2; k++)
            for (b = 0; b < N_BATCHES; b++, out++) {
                dstok_status status =
                    dsx_cost_of(path, weight_forms[w].bits, kv_forms[k].bits, &out->cost, &err);

                if (status != DSTOK_OK) return ex_failed(path, status, &err);
                out->weights = weight_forms[w].name;
                out->kv = kv_forms[k].name;
                dsx_cost_point(&out->cost, machine, batches[b], context, &out->point);
            }
    return 0;
}

/* Where one device does not hold one text: several of them, or layers on the host. */
static void put_ways_out(struct cli_buf *out, const dsx_machine *machine, const struct choice *p,
                         uint64_t context) {
    double layer = p->cost.weights / p->cost.n_layers, fixed = (double)context * p->cost.kv, resident, stall;
    dsx_parallel parallel;
    int offload[1024], n_host = 0;
    ex_size_text memory;
    uint32_t n;

    for (n = 2; n <= 16; n *= 2) {
        dsx_cost_parallel(&p->cost, machine, context, n, &parallel);
        cli_buf_printf(
            out,
            "%lu devices, %s weights: %s of weights each; tensor parallel %.3f s of traffic, sequence "
            "parallel %.3f s, beside %.3f s of work\n",
            (unsigned long)n, p->weights, ex_size(parallel.tensor_memory, memory), parallel.tensor_seconds,
            parallel.sequence_seconds, parallel.compute);
        if (parallel.tensor_memory + fixed / n <= machine->memory) break;
    }
    if (p->cost.n_layers > 1024 ||
        dsx_offload(p->cost.n_layers, layer, p->point.step / p->cost.n_layers, fixed, machine->memory,
                    machine->host_link, offload, &resident, &stall) != DSTOK_OK)
        return;
    for (n = 0; n < p->cost.n_layers; n++) n_host += offload[n];
    cli_buf_printf(
        out, "one device, %d of %lu layers from the host: %s on the device, %.3f s of waiting a token\n",
        n_host, (unsigned long)p->cost.n_layers, ex_size(resident, memory), stall);
}

static int plan_gpu(const struct ex_config *c, const char *path, const dsx_machine *machine, uint64_t context,
                    struct cli_buf *out) {
    struct choice choices[N_POINTS];
    ex_size_text memory, bandwidth;
    size_t i, n_shown = 0;
    int rc;

    memset(choices, 0, sizeof choices);
    rc = fill(path, machine, context, choices);
    if (rc) return rc;
    mark_best(choices, N_POINTS);
    if (c->json) {
        cli_buf_printf(out, "{\"name\":\"%s\",\"choices\":[", machine->name);
        for (i = 0; i < N_POINTS; i++) put_choice(out, &choices[i], 1, i == 0);
        cli_buf_text(out, "]}");
        return 0;
    }
    cli_buf_printf(out, "\n%s: %s at %s/s, %.0f TFLOP/s; no more than these, by its data sheet\n",
                   machine->name, ex_size(machine->memory, memory), ex_size(machine->bandwidth, bandwidth),
                   machine->operations / 1e12);
    cli_buf_printf(out, "%-8s %-6s %5s %10s %11s %12s %10s\n", "weights", "kv", "texts", "memory", "read all",
                   "a token", "tokens/s");
    for (i = 0; i < N_POINTS; i++)
        if (choices[i].point.fits) {
            put_choice(out, &choices[i], 0, 0);
            n_shown++;
        }
    if (n_shown == 0) cli_buf_text(out, "one text does not fit in any of these ways\n");
    if (!choices[0].point.fits) put_ways_out(out, machine, &choices[0], context);
    return 0;
}

static int plan_gpus(const struct ex_config *c, const char *path, uint64_t context, struct cli_buf *out) {
    const dsx_machine *machine;
    size_t i, n = 0;
    int rc = 0;

    for (i = 0; rc == 0 && (machine = dsx_machine_at(i)) != NULL; i++) {
        if (strcmp(c->gpu, "all") != 0 && strcmp(c->gpu, machine->name) != 0) continue;
        if (c->json && n > 0) cli_buf_char(out, ',');
        n++;
        rc = plan_gpu(c, path, machine, context, out);
    }
    return rc;
}

/* Returns 0, or CLI_USAGE after a message that lists the names. */
static int check_gpu(const struct ex_config *c) {
    struct cli_buf names = {0};
    const dsx_machine *machine;
    size_t i;
    int rc = 0;

    if (c->gpu == NULL || strcmp(c->gpu, "all") == 0 || dsx_machine_find(c->gpu) != NULL) return 0;
    for (i = 0; (machine = dsx_machine_at(i)) != NULL; i++) cli_buf_printf(&names, ", %s", machine->name);
    rc = cli_usage(c->verb, "--gpu: \"%s\" is not one of all%s", c->gpu, cli_buf_string(&names));
    cli_buf_free(&names);
    return rc;
}

int ex_plan(const struct ex_config *c) {
    struct cli_buf path = {0}, out = {0};
    uint64_t context = 0;
    int rc = check_gpu(c);

    if (rc == 0) rc = ex_model_path(c->inputs[0], &path);
    if (rc == 0) rc = plan_here(c, cli_buf_string(&path), &out, &context);
    if (rc == 0 && c->json) cli_buf_text(&out, "],\"gpus\":[");
    if (rc == 0 && c->gpu != NULL) rc = plan_gpus(c, path.p, context, &out);
    if (rc == 0 && c->json) cli_buf_text(&out, "]}\n");
    if (rc == 0) rc = cli_out_buf(&out);
    cli_buf_free(&out);
    cli_buf_free(&path);
    return rc;
}
