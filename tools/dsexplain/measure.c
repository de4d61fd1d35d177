/* SPDX-License-Identifier: MIT */
/* How far a model whose maps are rounded is from itself: the divergence of what it says of each place of a text. */
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (UINT64_C(4) << 30) /* of the log-probabilities that are kept */

/* One reading of the text. */
struct reading {
    struct scan_text *t;
    size_t at;  /* place of the session's first token in the text */
    int is_own; /* the model as it is: its log-probabilities are kept */
    double kl, kl_most, nll;
    size_t n_nll;
};

static double log_sum(const double *logits, size_t n) {
    double most = logits[0], sum = 0;
    size_t i;

    for (i = 1; i < n; i++) most = fmax(most, logits[i]);
    for (i = 0; i < n; i++) sum += (double)expf((float)(logits[i] - most));
    return most + log(sum);
}

/* Log-probabilities are compared as floats, so that equal ones differ by 0. */
static double divergence(const float *own, const double *logits, double log_all, size_t n) {
    double sum = 0;
    size_t i;

    for (i = 0; i < n; i++) sum += (double)expf(own[i]) * (double)(own[i] - (float)(logits[i] - log_all));
    return sum;
}

static int take(void *context, uint64_t position, const double *logits) {
    struct reading *r = context;
    const struct scan_text *t = r->t;
    const uint32_t *ids = (const uint32_t *)(const void *)t->ids.p;
    size_t n = t->m.info.n_vocab, at = r->at + (size_t)position, i;
    float *own = t->logprobs + at * n;
    double log_all = log_sum(logits, n), kl = 0;

    if (r->is_own)
        for (i = 0; i < n; i++) own[i] = (float)(logits[i] - log_all);
    else
        kl = divergence(own, logits, log_all, n);
    r->kl += kl;
    r->kl_most = isnan(kl) ? NAN : fmax(r->kl_most, kl);
    if (position + 1 < t->window && at + 1 < t->n) {
        r->nll -= logits[ids[at + 1]] - log_all;
        r->n_nll++;
    }
    return 0;
}

/* All windows of the text, each by a session that begins anew. */
static int read_windows(struct reading *r, dsx_session *session) {
    const struct scan_text *t = r->t;
    const uint32_t *ids = (const uint32_t *)(const void *)t->ids.p;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = DSTOK_OK;

    for (r->at = 0; r->at < t->n && status == DSTOK_OK; r->at += t->window) {
        size_t n = t->n - r->at < t->window ? t->n - r->at : t->window;

        status = dsx_session_truncate(session, 0, &err);
        if (status == DSTOK_OK) status = dsx_session_read(session, ids + r->at, n, take, r, &err);
    }
    return status == DSTOK_OK ? 0 : ex_failed(t->m.path.p, status, &err);
}

static int read_with(struct scan_text *t, const dsx_model *model, int is_own, struct scan_result *out) {
    struct reading r = {.t = t, .is_own = is_own};
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    dsx_model_info info = DSX_MODEL_INFO_INIT;
    dsx_session *session = NULL;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;
    int rc;

    o.max_tokens = t->window;
    o.chunk = (size_t)t->m.config->chunk;
    o.kv = is_own ? DSX_KV_FLOAT : t->m.config->kv;
    o.kv_recent = is_own ? 0 : t->m.config->kv_recent;
    status = dsx_session_new(model, &o, &session, &err);
    rc = status == DSTOK_OK ? read_windows(&r, session) : ex_failed(t->m.path.p, status, &err);
    dsx_session_free(session);
    (void)dsx_model_describe(model, &info);
    *out = (struct scan_result){r.kl / (double)t->n, r.kl_most, r.nll / (double)r.n_nll, info.weight_bytes};
    if (++t->n_done > t->n_runs && t->n_runs > 0)
        t->n_runs = t->n_done; /* for a policy it is not known before */
    if (rc == 0) ex_progress_runs(&t->progress, t->n_done, t->n_runs);
    return rc;
}

int scan_measure(struct scan_text *t, const dsx_policy *policy, struct scan_result *out) {
    dsx_model_options o;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dsx_model *model = NULL;
    dstok_status status;
    int rc = ex_model_options(t->m.config, &o);

    if (rc) return rc;
    o.policy = policy;
    status = dsx_model_open(t->m.path.p, &o, &model, &err);
    rc = status == DSTOK_OK ? read_with(t, model, 0, out) : ex_failed(t->m.path.p, status, &err);
    dsx_model_free(model);
    return rc;
}

/* ---- texts */

/* The first tokens of a file, at most n of them. */
static int read_ids(const struct ex_model *m, const char *path, uint64_t most, struct cli_buf *out) {
    const uint32_t *ids;
    size_t n = 0;
    int rc;
    struct ex_text *text = ex_text_open(m, path, &rc);

    while (rc == 0 && out->n / sizeof *ids < most && (rc = ex_text_next(text, &ids, &n)) == 0 && n > 0) {
        size_t room = (size_t)most - out->n / sizeof *ids;

        cli_buf_add(out, ids, (n < room ? n : room) * sizeof *ids);
    }
    ex_text_close(text);
    if (rc == 0 && out->n < 2 * sizeof *ids) {
        cli_error("%s: a text of at least two tokens is needed", path);
        rc = CLI_FAIL;
    }
    return rc;
}

static int has_room(const struct scan_text *t) {
    uint64_t each = (uint64_t)t->m.info.n_vocab * sizeof(float);

    if (t->n <= MOST_BYTES / each) return 0;
    return cli_usage(
        t->m.config->verb,
        "-n %zu: what the model says of so many tokens takes more than 4 GiB; it is %llu at most", t->n,
        (unsigned long long)(MOST_BYTES / each));
}

int scan_text_read(const struct ex_config *c, struct scan_text *t) {
    int rc;

    t->config = *c;
    t->config.policy = NULL; /* the model as it is */
    rc = ex_open(&t->config, EX_NEED_VOCAB, &t->m);
    ex_progress_start(&t->progress, c);
    if (rc == 0) rc = read_ids(&t->m, c->file, c->n, &t->ids);
    if (rc) return rc;
    t->n = t->ids.n / sizeof(uint32_t);
    t->window = (size_t)(c->context > 0 ? c->context : t->m.info.context);
    if (t->window < 2) return cli_usage(c->verb, "--context must be at least 2");
    rc = has_room(t);
    if (rc) return rc;
    t->logprobs = cli_alloc(t->n * t->m.info.n_vocab * sizeof *t->logprobs);
    return read_with(t, t->m.model, 1, &t->own);
}

int scan_calibrate(const struct scan_text *t, dsx_policy *policy) {
    const struct ex_config *c = t->m.config;
    struct cli_buf ids = {0};
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;
    int rc = read_ids(&t->m, c->calibrate != NULL ? c->calibrate : c->file, c->n, &ids);

    if (rc == 0) {
        status = dsx_policy_calibrate(policy, t->m.model, (const uint32_t *)(const void *)ids.p,
                                      ids.n / sizeof(uint32_t), c->limits, c->percentile, &err);
        if (status != DSTOK_OK) rc = ex_failed(t->m.path.p, status, &err);
    }
    cli_buf_free(&ids);
    return rc;
}

void scan_text_free(struct scan_text *t) {
    free(t->logprobs);
    cli_buf_free(&t->ids);
    ex_close(&t->m);
}
