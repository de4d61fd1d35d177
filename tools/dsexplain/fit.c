/* SPDX-License-Identifier: MIT */
/* dsexplain fit-at2: weights of heads from removals, and where run finds them. */
#include "run.h"

#include "../cli/source.h"

#include <stdlib.h>

int ex_read_head_weights(struct ex_run *r) {
    const struct ex_config *c = r->m.config;
    const dsx_model_info *m = &r->m.info;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    if (c->at2 == NULL) return 0;
    r->head_weights = cli_alloc((size_t)m->n_layers * m->n_heads * sizeof *r->head_weights);
    status = dsx_at2_read(c->at2, m->n_layers, m->n_heads, r->head_weights, &err);
    return status == DSTOK_OK ? 0 : ex_failed(c->at2, status, &err);
}

int ex_fit_item(struct ex_run *r, const struct ex_question *q, dsx_prompt *p) {
    dsx_explain_options o = ex_run_options(r, q);
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    r->doing = "learned";
    ex_progress_start(&r->progress, r->m.config);
    status = dsx_at2_add(r->at2, p, &o, &err);
    if (status == DSTOK_OK) return 0;
    if (ex_is_interrupted()) return CLI_STOPPED;
    cli_error("%s%s", q->name, err.text);
    return CLI_FAIL;
}

static int fit(struct ex_run *r) {
    const struct ex_config *c = r->m.config;
    const dsx_model_info *m = &r->m.info;
    float *weights = cli_alloc((size_t)m->n_layers * m->n_heads * sizeof *weights);
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    double correlation = 0;
    dstok_status status = dsx_at2_fit(r->at2, weights, &correlation, &err);

    if (status == DSTOK_OK)
        status = dsx_at2_write(c->output, c->inputs[0], weights, m->n_layers, m->n_heads, &err);
    free(weights);
    if (status != DSTOK_OK) return ex_failed(status == DSTOK_E_IO ? c->output : c->items, status, &err);
    if (!c->is_quiet) cli_note("correlation with what removals did: %.3f", correlation);
    return 0;
}

int ex_fit(const struct ex_config *c) {
    struct ex_run r = {0};
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    int rc = cli_check_output(c->output), skipped;

    r.m.config = c;
    if (rc == 0) rc = ex_open(c, EX_NEED_VOCAB, &r.m);
    if (rc == 0 && dsx_at2_new(r.m.model, &r.at2, &err) != DSTOK_OK) {
        cli_error("%s", err.text);
        rc = CLI_FAIL;
    }
    if (rc == 0) ex_catch_interrupts();
    if (rc == 0) rc = ex_run_items(&r);
    skipped = rc == CLI_SKIPPED;
    if (rc == 0 || skipped) rc = fit(&r);
    dsx_at2_free(r.at2);
    ex_close(&r.m);
    return rc == 0 && skipped ? CLI_SKIPPED : rc;
}
