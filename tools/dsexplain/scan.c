/* SPDX-License-Identifier: MIT */
/* dsexplain scan: which maps of a model bear rounding, and a policy from that. */
#include "../cli/source.h"
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[] = {"qkv", "out", "up", "down"};
enum { ALL_OPS = -1 };

/* What is rounded together: a layer, or one kind of its maps. */
struct unit {
    uint32_t layer;
    int op; /* DSX_OP_*, ALL_OPS */
    struct scan_result alone, restored;
    double score, cost; /* of restoring it: KL that it saves, bytes that it takes */
};

struct scan {
    const struct ex_config *c;
    struct scan_text text;
    dsx_policy *from, *to, *mixed; /* every map as it is kept, every map rounded, and a mixture */
    dsx_format format_from;
    struct scan_result rounded; /* all */
    struct unit *units;
    size_t n_units;
    size_t n_restored;         /* of the policy: units[0, n_restored) */
    int *is_restored;          /* [n_units] */
    struct scan_result result; /* of the policy */
    struct cli_buf out;
};

/* ---- policies */

/* All maps of layers in one format. */
static int new_policy(const struct scan *s, const char *name, dsx_policy **out) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dsx_format f;
    const char *why = scan_format(name, &f);
    dstok_status status;

    if (why != NULL) return cli_usage(s->c->verb, "\"%s\" %s", name, why);
    status = dsx_policy_new(s->text.m.info.n_layers, &f, out, &err);
    if (status != DSTOK_OK) return ex_failed(name, status, &err);
    return scan_is_fixed(&f) ? scan_calibrate(&s->text, *out) : 0;
}

/* The formats of a unit's maps in `from` go to the mixture. */
static void put_unit(const struct scan *s, const struct unit *u, const dsx_policy *from) {
    int op, first = u->op == ALL_OPS ? 0 : u->op, last = u->op == ALL_OPS ? DSX_OP_HEAD - 1 : u->op;
    dsx_format f;

    for (op = first; op <= last; op++) {
        (void)dsx_policy_get(from, u->layer, op, &f);
        (void)dsx_policy_set(s->mixed, u->layer, op, &f);
    }
}

static void put_all(const struct scan *s, const dsx_policy *from) {
    size_t i;

    for (i = 0; i < s->n_units; i++) put_unit(s, &s->units[i], from);
}

/* ---- what is printed */

static void put_json(struct cli_buf *out, const struct scan *s, const struct scan_result *r) {
    cli_buf_printf(
        out,
        "{\"kl\":%.9g,\"kl_most\":%.9g,\"nll\":%.9g,\"nll_change\":%.9g,\"ppl\":%.9g,\"weight_bytes\":%llu}",
        r->kl, r->kl_most, r->nll, r->nll - s->text.own.nll, exp(r->nll), (unsigned long long)r->bytes);
}

static void put_row(struct cli_buf *out, const struct scan *s, const char *name,
                    const struct scan_result *r) {
    cli_buf_printf(out, "%-12s %10.6f %10.4f %+10.5f %12.4f %10.2f MB\n", name, r->kl, r->kl_most,
                   r->nll - s->text.own.nll, exp(r->nll), (double)r->bytes / 1e6);
}

static void put_head(struct scan *s) {
    const struct scan_text *t = &s->text;

    if (s->c->json) {
        cli_buf_printf(&s->out, "{\"tokens\":%zu,\"window\":%zu,\"own\":", t->n, t->window);
        put_json(&s->out, s, &t->own);
    } else {
        cli_buf_printf(&s->out, "%zu tokens%s\n\n%-12s %10s %10s %10s %12s %13s\n", t->n,
                       t->window < t->n ? " in windows" : "", "", "mean KL", "greatest", "nll", "perplexity",
                       "weights");
        put_row(&s->out, s, "as it is", &t->own);
    }
}

/* ---- formats of the whole model */

static int measure_whole(struct scan *s, const char *name, dsx_policy *policy, int first) {
    struct scan_result r;
    int rc = scan_measure(&s->text, policy, &r);

    if (rc) return rc;
    if (!s->c->json) {
        put_row(&s->out, s, name, &r);
        return 0;
    }
    cli_buf_text(&s->out, first ? "" : ",");
    cli_buf_text(&s->out, "{\"format\":");
    cli_json_text(&s->out, name);
    cli_buf_text(&s->out, ",\"result\":");
    put_json(&s->out, s, &r);
    cli_buf_char(&s->out, '}');
    return 0;
}

static int whole(struct scan *s) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;
    size_t i;
    int rc = 0;

    s->text.n_runs = 1 + (s->c->policy != NULL ? 1 : s->c->n_to);
    put_head(s);
    if (s->c->json) cli_buf_text(&s->out, ",\"whole\":[");
    if (s->c->policy != NULL) {
        status = dsx_policy_read(s->c->policy, &s->to, &err);
        rc = status == DSTOK_OK ? measure_whole(s, s->c->policy, s->to, 1)
                                : ex_failed(s->c->policy, status, &err);
    }
    for (i = 0; i < s->c->n_to && s->c->policy == NULL && rc == 0; i++) {
        dsx_policy_free(s->to);
        s->to = NULL;
        rc = new_policy(s, s->c->to[i], &s->to);
        if (rc == 0) rc = measure_whole(s, s->c->to[i], s->to, i == 0);
    }
    if (s->c->json) cli_buf_text(&s->out, "]}\n");
    return rc;
}

/* ---- the scan */

static void make_units(struct scan *s) {
    size_t each = s->c->by_op ? DSX_OP_HEAD : 1, i;

    s->n_units = s->text.m.info.n_layers * each;
    s->units = cli_alloc(s->n_units * sizeof *s->units);
    s->is_restored = cli_alloc(s->n_units * sizeof *s->is_restored);
    memset(s->units, 0, s->n_units * sizeof *s->units);
    memset(s->is_restored, 0, s->n_units * sizeof *s->is_restored);
    for (i = 0; i < s->n_units; i++) {
        s->units[i].layer = (uint32_t)(i / each);
        s->units[i].op = s->c->by_op ? (int)(i % each) : ALL_OPS;
    }
}

/* Greatest KL saved per byte first; what costs no bytes before all others. */
static int by_worth(const void *a, const void *b) {
    const struct unit *x = a, *y = b;
    double p = x->cost > 0 ? x->score / x->cost : x->score * 1e9,
           q = y->cost > 0 ? y->score / y->cost : y->score * 1e9;

    if (p != q) return p < q ? 1 : -1;
    return x->layer != y->layer ? (x->layer < y->layer ? -1 : 1) : x->op - y->op;
}

static int measure_unit(struct scan *s, struct unit *u) {
    int rc;

    put_all(s, s->from);
    put_unit(s, u, s->to);
    rc = scan_measure(&s->text, s->mixed, &u->alone);
    if (rc) return rc;
    put_all(s, s->to);
    put_unit(s, u, s->from);
    rc = scan_measure(&s->text, s->mixed, &u->restored);
    u->score = (u->alone.kl + s->rounded.kl - u->restored.kl) / 2;
    u->cost = (double)u->restored.bytes - (double)s->rounded.bytes;
    return rc;
}

static void put_units(struct scan *s) {
    size_t i;

    if (s->c->json)
        cli_buf_text(&s->out, ",\"units\":[");
    else
        cli_buf_printf(&s->out, "\n%5s %-5s %12s %10s %12s %10s %12s %11s\n", "layer", "maps", "alone KL",
                       "nll", "restored KL", "nll", "score", "costs");
    for (i = 0; i < s->n_units; i++) {
        const struct unit *u = &s->units[i];
        const char *op = u->op == ALL_OPS ? "all" : op_names[u->op];

        if (!s->c->json) {
            cli_buf_printf(&s->out, "%5lu %-5s %12.6f %+10.5f %12.6f %+10.5f %12.6f %8.0f KB\n",
                           (unsigned long)u->layer, op, u->alone.kl, u->alone.nll - s->text.own.nll,
                           u->restored.kl, u->restored.nll - s->text.own.nll, u->score, u->cost / 1e3);
            continue;
        }
        cli_buf_printf(&s->out, "%s{\"layer\":%lu,\"maps\":\"%s\",\"alone\":", i > 0 ? "," : "",
                       (unsigned long)u->layer, op);
        put_json(&s->out, s, &u->alone);
        cli_buf_text(&s->out, ",\"restored\":");
        put_json(&s->out, s, &u->restored);
        cli_buf_printf(&s->out, ",\"score\":%.9g,\"cost_bytes\":%.0f}", u->score, u->cost);
    }
    if (s->c->json) cli_buf_char(&s->out, ']');
}

static int scan_units(struct scan *s) {
    size_t i;
    int rc = scan_measure(&s->text, s->to, &s->rounded);

    for (i = 0; i < s->n_units && rc == 0; i++) rc = measure_unit(s, &s->units[i]);
    if (rc) return rc;
    qsort(s->units, s->n_units, sizeof *s->units, by_worth);
    put_head(s);
    if (s->c->json) {
        cli_buf_text(&s->out, ",\"rounded\":");
        put_json(&s->out, s, &s->rounded);
    } else {
        put_row(&s->out, s, s->c->to[0], &s->rounded);
    }
    put_units(s);
    return 0;
}

/* ---- a policy that meets a target */

/* The mixture in which what is_restored says is as it is kept, and its measurement. */
static int try_policy(struct scan *s, struct scan_result *out) {
    size_t i;

    for (i = 0; i < s->n_units; i++) put_unit(s, &s->units[i], s->is_restored[i] ? s->from : s->to);
    return scan_measure(&s->text, s->mixed, out);
}

static int try_first(struct scan *s, size_t n, struct scan_result *out) {
    size_t i;

    for (i = 0; i < s->n_units; i++) s->is_restored[i] = i < n;
    return try_policy(s, out);
}

/* The fewest units, in their order, that bring the KL down to the target: each try is measured as a whole. */
static int meet_kl(struct scan *s) {
    size_t low = 0, high = s->n_units; /* low is too few, high is enough */
    struct scan_result r;
    int rc;

    if (s->rounded.kl <= s->c->max_kl) return try_first(s, 0, &s->result);
    rc = try_first(s, high, &s->result);
    if (rc == 0 && !(s->result.kl <= s->c->max_kl)) {
        cli_error("--max-kl %g cannot be met: with no map as %s the KL is %.6f", s->c->max_kl, s->c->to[0],
                  s->result.kl);
        rc = CLI_FAIL;
    }
    while (rc == 0 && high - low > 1) {
        size_t middle = low + (high - low) / 2;

        rc = try_first(s, middle, &r);
        if (rc == 0 && r.kl <= s->c->max_kl)
            high = middle;
        else
            low = middle;
    }
    return rc ? rc : try_first(s, high, &s->result);
}

/* Units in their order, as many as there is room for. */
static int meet_bytes(struct scan *s) {
    double room = (double)s->c->max_weights - (double)s->rounded.bytes;
    size_t i;

    if (room < 0) {
        cli_error("--bytes %llu cannot be met: with every map as %s the weights take %llu",
                  (unsigned long long)s->c->max_weights, s->c->to[0], (unsigned long long)s->rounded.bytes);
        return CLI_FAIL;
    }
    for (i = 0; i < s->n_units; i++) {
        s->is_restored[i] = s->units[i].cost <= room && s->units[i].score > 0;
        if (s->is_restored[i]) room -= s->units[i].cost;
    }
    return try_policy(s, &s->result);
}

static int write_policy(struct scan *s) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    size_t i, n = 0;
    int rc = cli_args_has(&s->c->args, "max-kl") ? meet_kl(s) : meet_bytes(s);

    if (rc) return rc;
    for (i = 0; i < s->n_units; i++) n += s->is_restored[i] != 0;
    if (s->c->json) {
        cli_buf_printf(&s->out, ",\"policy\":{\"restored\":%zu,\"of\":%zu,\"result\":", n, s->n_units);
        put_json(&s->out, s, &s->result);
        cli_buf_char(&s->out, '}');
    } else {
        cli_buf_printf(&s->out, "\n%zu of %zu restored to %s, measured as a whole:\n", n, s->n_units,
                       s->c->from);
        put_row(&s->out, s, "the policy", &s->result);
    }
    if (dsx_policy_write(s->mixed, s->c->output, &err) == DSTOK_OK) return 0;
    cli_error("%s", err.text);
    return CLI_FAIL;
}

static int by_unit(struct scan *s) {
    int rc = new_policy(s, s->c->from, &s->from);

    if (rc == 0) rc = new_policy(s, s->c->to[0], &s->to);
    if (rc == 0) rc = new_policy(s, s->c->from, &s->mixed);
    if (rc) return rc;
    make_units(s);
    s->text.n_runs = 2 + 2 * s->n_units;
    rc = scan_units(s);
    if (rc == 0 && s->c->output != NULL) rc = write_policy(s);
    if (rc == 0 && s->c->json) cli_buf_text(&s->out, "}\n");
    return rc;
}

int ex_scan(const struct ex_config *c) {
    struct scan s = {.c = c};
    int rc = c->output != NULL ? cli_check_output(c->output) : 0;

    if (rc == 0) rc = scan_text_read(c, &s.text);
    if (rc == 0) rc = c->is_whole || c->policy != NULL ? whole(&s) : by_unit(&s);
    if (rc == 0) rc = cli_out_buf(&s.out);
    cli_buf_free(&s.out);
    free(s.units);
    free(s.is_restored);
    dsx_policy_free(s.from);
    dsx_policy_free(s.to);
    dsx_policy_free(s.mixed);
    scan_text_free(&s.text);
    return rc;
}
