/* SPDX-License-Identifier: MIT */
/* Fixed limits of a policy, from rows that are seen while a model reads a text. */
#include <dsx/policy.h>
#include <dsx/session.h>

#include "base.h"
#include "quant/calibrate.h"
#include "session/session.h"

#include <stdlib.h>

typedef struct calibration {
    const dsx_model *model;
    uint32_t n_layers;
    dsx__seen *seen; /* [n_layers * DSX_OP_HEAD + 1]; without bins where no limit is wanted */
    double *row;
    size_t cap; /* of row */
    bool no_memory;
} calibration;

static size_t place(uint32_t layer, int op) {
    return (size_t)layer * DSX_OP_HEAD + (op == DSX_OP_HEAD ? 0 : (size_t)op);
}

static bool room_for(calibration *c, size_t width) {
    double *row = c->cap < width ? realloc(c->row, width * sizeof *row) : c->row;

    c->no_memory = c->no_memory || row == NULL;
    if (row == NULL) return false;
    c->row = row;
    c->cap = c->cap < width ? width : c->cap;
    return true;
}

static void see(void *context, uint32_t layer, int op, const dsx__real *x, size_t n, size_t width) {
    calibration *c = context;
    const dsx__backend_ops *ops = c->model->ops;
    dsx__seen *s = &c->seen[place(layer, op)];

    for (size_t i = 0; s->bins != NULL && i < n && room_for(c, width); i++) {
        ops->read(c->model->be, ops->at((dsx__real *)x, i * width), width, c->row);
        dsx__see_row(s, c->row, width);
    }
}

/* f(...) for each map whose rows have a fixed limit. */
static dstok_status each_fixed(calibration *c, dsx_policy *policy,
                               dstok_status (*f)(dsx__seen *seen, dsx_format *format, int rule,
                                                 double percent),
                               int rule, double percent) {
    for (size_t i = 0; i <= (size_t)c->n_layers * DSX_OP_HEAD; i++) {
        uint32_t layer = (uint32_t)(i / DSX_OP_HEAD);
        int op = layer < c->n_layers ? (int)(i % DSX_OP_HEAD) : DSX_OP_HEAD;
        dsx_format format;

        DSX_TRY(dsx_policy_get(policy, layer, op, &format));
        if (format.rows != DSX_ROWS_INT8_FIXED && format.rows != DSX_ROWS_INT4_FIXED) continue;
        DSX_TRY(f(&c->seen[i], &format, rule, percent));
        DSX_TRY(dsx_policy_set(policy, layer, op, &format));
    }
    return DSTOK_OK;
}

static dstok_status want(dsx__seen *seen, dsx_format *format, int rule, double percent) {
    (void)format, (void)rule, (void)percent;
    return dsx__seen_new(seen) ? DSTOK_OK : DSTOK_E_NOMEM;
}

static dstok_status choose(dsx__seen *seen, dsx_format *format, int rule, double percent) {
    int steps = format->rows == DSX_ROWS_INT8_FIXED ? 127 : 7;
    float limit = rule == DSX_LIMIT_EMA          ? dsx__limit_ema(seen)
                  : rule == DSX_LIMIT_PERCENTILE ? dsx__limit_percentile(seen, percent)
                                                 : dsx__limit_mse(seen, steps);

    format->limit = limit > 0 ? limit : 1; /* of maps that only saw zeros, or experts that saw nothing */
    return DSTOK_OK;
}

/* The text, in windows of what the model was made for. */
static dstok_status read_text(calibration *c, const uint32_t *ids, size_t n, dstok_error *err) {
    const dsx__watch watch = {see, c};
    size_t window = c->model->config.context, most;
    dsx_session *session;
    dstok_status status;

    DSX_TRY(dsx_session_new(c->model, NULL, &session, err));
    dsx__session_work(session)->watch = &watch;
    status = DSTOK_OK;
    for (size_t at = 0; at < n && status == DSTOK_OK; at += most) {
        most = n - at < window ? n - at : window;
        status = dsx_session_truncate(session, 0, err);
        if (status == DSTOK_OK) status = dsx_session_feed(session, ids + at, most, err);
    }
    dsx_session_free(session);
    return status == DSTOK_OK && c->no_memory ? dsx__no_memory(err) : status;
}

dstok_status dsx_policy_calibrate(dsx_policy *policy, const dsx_model *model, const uint32_t *ids, size_t n,
                                  int rule, double percent, dstok_error *err) {
    calibration c = {.model = model};
    dstok_status status;

    if (policy == NULL || model == NULL || ids == NULL || n == 0 || rule < DSX_LIMIT_EMA ||
        rule > DSX_LIMIT_MSE || (rule == DSX_LIMIT_PERCENTILE && !(percent > 0 && percent <= 100)) ||
        dsx_policy_layers(policy) != model->config.n_layers)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_policy_calibrate: an argument is out of its domain");
    c.n_layers = model->config.n_layers;
    c.seen = calloc((size_t)c.n_layers * DSX_OP_HEAD + 1, sizeof *c.seen);
    if (c.seen == NULL) return dsx__no_memory(err);
    status = each_fixed(&c, policy, want, 0, 0);
    if (status == DSTOK_E_NOMEM) (void)dsx__no_memory(err);
    if (status == DSTOK_OK) status = read_text(&c, ids, n, err);
    if (status == DSTOK_OK) status = each_fixed(&c, policy, choose, rule, percent);
    for (size_t i = 0; i <= (size_t)c.n_layers * DSX_OP_HEAD; i++) dsx__seen_free(&c.seen[i]);
    free(c.seen);
    free(c.row);
    return status;
}
