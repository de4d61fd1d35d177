/* SPDX-License-Identifier: MIT */
/* dsexplain logprobs: how likely each token of a text is to a model. */
#include "dsexplain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct ex_model m;
    struct ex_progress progress;
    struct cli_buf out;
    size_t top;
    uint64_t n_read;
    /* with --top */
    double *logits;      /* behind the last token */
    uint32_t *order;     /* [top] */
    const uint32_t *ids; /* that are being read: n_ids from position `first` on */
    size_t n_ids;
    uint64_t first;
    int rc; /* of the output, from within a call of the library */
};

/* The k greatest of logits to the front of order, the greatest first; of equal ones the lower id. */
static void take_best(const double *logits, uint32_t *order, size_t n, size_t k) {
    size_t i, j, have = 0;

    for (i = 0; i < n; i++) {
        if (have == k && !(logits[i] > logits[order[k - 1]])) continue;
        for (j = have < k ? have++ : k - 1; j > 0 && logits[i] > logits[order[j - 1]]; j--)
            order[j] = order[j - 1];
        order[j] = (uint32_t)i;
    }
}

/* The likeliest tokens; returns the log of the sum of all exp(logits). */
static double put_top(struct run *r, const double *logits) {
    size_t n = r->m.info.n_vocab, i;
    double sum = 0, log_sum;

    take_best(logits, r->order, n, r->top);
    for (i = 0; i < n; i++) sum += exp(logits[i] - logits[r->order[0]]);
    log_sum = logits[r->order[0]] + log(sum);
    for (i = 0; i < r->top; i++) {
        uint32_t id = r->order[i];
        double logprob = logits[id] - log_sum;

        if (r->m.config->json) {
            cli_buf_printf(&r->out, "%s[%lu,", i > 0 ? "," : "", (unsigned long)id);
            ex_json_real(&r->out, logprob);
            cli_buf_char(&r->out, ']');
        } else {
            cli_buf_printf(&r->out, "%s%.4f ", i > 0 ? "  " : "", logprob);
            ex_piece(&r->out, &r->m, id);
        }
    }
    return log_sum;
}

/* A token and its log-probability; its alternatives follow with --top. */
static void put_token(struct run *r, uint32_t id, double logprob) {
    if (r->m.config->json) {
        cli_buf_printf(&r->out, "%s{\"id\":%lu,\"logprob\":", r->n_read > 0 ? "," : "", (unsigned long)id);
        ex_json_real(&r->out, logprob);
        return;
    }
    cli_buf_printf(&r->out, "%8llu %8lu ", (unsigned long long)r->n_read, (unsigned long)id);
    if (isnan(logprob) && r->n_read == 0)
        cli_buf_text(&r->out, "        -  ");
    else
        cli_buf_printf(&r->out, "%9.4f  ", logprob);
    ex_piece(&r->out, &r->m, id);
}

/* A token with its alternatives: what was likely before it was read. logits NULL: nothing was. */
static void put_row(struct run *r, uint32_t id, const double *logits) {
    struct cli_buf top, line = r->out;
    double log_sum = 0;

    memset(&r->out, 0, sizeof r->out);
    if (logits != NULL) log_sum = put_top(r, logits);
    top = r->out;
    r->out = line;
    put_token(r, id, logits != NULL ? logits[id] - log_sum : NAN);
    cli_buf_text(&r->out, r->m.config->json ? ",\"top\":[" : logits != NULL ? "  | " : "");
    cli_buf_add(&r->out, top.p, top.n);
    cli_buf_text(&r->out, r->m.config->json ? "]}" : "\n");
    cli_buf_free(&top);
    r->n_read++;
}

/* Logits behind a token are about the next one, or are kept until there is one. */
static int take_logits(void *context, uint64_t position, const double *logits) {
    struct run *r = context;
    size_t next = (size_t)(position - r->first) + 1;

    if (next == r->n_ids) {
        memcpy(r->logits, logits, r->m.info.n_vocab * sizeof *logits);
        return 0;
    }
    put_row(r, r->ids[next], logits);
    r->rc = cli_out_buf(&r->out);
    r->out.n = 0;
    ex_progress_tell(&r->progress, "read", r->n_read, 0);
    return r->rc;
}

static int failed(const struct run *r, dstok_status status, const dstok_error *err) {
    const struct ex_config *c = r->m.config;

    return ex_failed_to_read(&r->m, ex_input_name(c->ids != NULL ? c->ids : c->file), status, err);
}

static int with_top(struct run *r, const uint32_t *ids, size_t n) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    r->ids = ids;
    r->n_ids = n;
    r->first = dsx_session_length(r->m.session);
    put_row(r, ids[0], r->n_read > 0 ? r->logits : NULL);
    status = dsx_session_read(r->m.session, ids, n, take_logits, r, &err);
    if (r->rc) return r->rc;
    return status == DSTOK_OK ? 0 : failed(r, status, &err);
}

static int several(struct run *r, const uint32_t *ids, size_t n) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    double logprobs[512];
    dstok_status status = dsx_session_score(r->m.session, ids, n, logprobs, &err);
    size_t i;

    if (status != DSTOK_OK) return failed(r, status, &err);
    for (i = 0; i < n; i++, r->n_read++) {
        put_token(r, ids[i], logprobs[i]);
        cli_buf_char(&r->out, r->m.config->json ? '}' : '\n');
    }
    return 0;
}

static int read_all(struct run *r, const uint32_t *ids, size_t n) {
    size_t part;
    int rc = 0;

    for (; n > 0 && rc == 0; ids += part, n -= part) {
        part = n < 512 ? n : 512;
        rc = r->top > 0 ? with_top(r, ids, part) : several(r, ids, part);
        if (rc == 0) rc = cli_out_buf(&r->out);
        r->out.n = 0;
        ex_progress_tell(&r->progress, "read", r->n_read, 0);
    }
    return rc;
}

static int read_text(struct run *r, const struct ex_config *c) {
    const uint32_t *ids;
    size_t n = 0;
    int rc;
    struct ex_text *text = ex_text_open(&r->m, c->file, &rc);

    while (rc == 0 && (rc = ex_text_next(text, &ids, &n)) == 0 && n > 0) rc = read_all(r, ids, n);
    if (rc == 0) ex_progress_text(&r->progress, text);
    ex_text_close(text);
    return rc;
}

static int read_list(struct run *r, const struct ex_config *c) {
    struct cli_buf ids = {0};
    int rc = ex_read_ids(&r->m, c->ids, &ids);

    if (rc == 0) rc = read_all(r, (const uint32_t *)(const void *)ids.p, ids.n / sizeof(uint32_t));
    cli_buf_free(&ids);
    return rc;
}

/* What would come behind the last token. */
static int finish(struct run *r) {
    int has_next = r->top > 0 && r->n_read > 0;

    if (r->m.config->json) {
        cli_buf_text(&r->out, has_next ? "],\"next\":[" : "]");
        if (has_next) (void)put_top(r, r->logits);
        cli_buf_text(&r->out, has_next ? "]}\n" : "}\n");
    } else if (has_next) {
        cli_buf_printf(&r->out, "%8llu     next                | ", (unsigned long long)r->n_read);
        (void)put_top(r, r->logits);
        cli_buf_char(&r->out, '\n');
    }
    return cli_out_buf(&r->out);
}

int ex_logprobs(const struct ex_config *c) {
    struct run r = {0};
    int has_vocab = c->ids == NULL || !c->json, rc;

    rc = ex_open(c, EX_NEED_SESSION | (has_vocab ? EX_NEED_VOCAB : 0), &r.m);
    r.top = (size_t)c->top;
    ex_progress_start(&r.progress, c);
    if (rc == 0 && c->top > r.m.info.n_vocab)
        rc = cli_usage(c->verb, "--top: the model knows %lu tokens", (unsigned long)r.m.info.n_vocab);
    if (rc == 0 && r.top > 0) {
        r.logits = cli_alloc(r.m.info.n_vocab * sizeof *r.logits);
        r.order = cli_alloc(r.top * sizeof *r.order);
    }
    if (rc == 0 && c->json) cli_buf_text(&r.out, "{\"positions\":[");
    if (rc == 0) rc = c->ids != NULL ? read_list(&r, c) : read_text(&r, c);
    if (rc == 0) ex_progress_tell(&r.progress, "read", r.n_read, 1);
    if (rc == 0) rc = finish(&r);
    free(r.logits);
    free(r.order);
    cli_buf_free(&r.out);
    ex_close(&r.m);
    return rc;
}
