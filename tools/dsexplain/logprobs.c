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
    double *logits; /* [n_vocab], and room for the order of ids; NULL without --top */
    uint32_t *order;
    size_t top;
    uint64_t n_read;
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

/* The likeliest next tokens. */
static int put_top(struct run *r) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    size_t n = r->m.info.n_vocab, i;
    dstok_status status = dsx_session_logits(r->m.session, r->logits, n, &err);
    double sum = 0, log_sum;

    if (status != DSTOK_OK) return ex_failed(r->m.path.p, status, &err);
    take_best(r->logits, r->order, n, r->top);
    for (i = 0; i < n; i++) sum += exp(r->logits[i] - r->logits[r->order[0]]);
    log_sum = r->logits[r->order[0]] + log(sum);
    for (i = 0; i < r->top; i++) {
        uint32_t id = r->order[i];
        double logprob = r->logits[id] - log_sum;

        if (r->m.config->json) {
            cli_buf_printf(&r->out, "%s[%lu,%.17g]", i > 0 ? "," : "", (unsigned long)id, logprob);
        } else {
            cli_buf_printf(&r->out, "%s%.4f ", i > 0 ? "  " : "", logprob);
            ex_piece(&r->out, &r->m, id);
        }
    }
    return 0;
}

/* A token and its log-probability; its alternatives follow with --top. */
static void put_token(struct run *r, uint32_t id, double logprob) {
    if (r->m.config->json) {
        cli_buf_printf(&r->out, "%s{\"id\":%lu,\"logprob\":", r->n_read > 0 ? "," : "", (unsigned long)id);
        if (isnan(logprob) && r->n_read == 0)
            cli_buf_text(&r->out, "null");
        else
            cli_buf_printf(&r->out, "%.17g", logprob);
        return;
    }
    cli_buf_printf(&r->out, "%8llu %8lu ", (unsigned long long)r->n_read, (unsigned long)id);
    if (isnan(logprob) && r->n_read == 0)
        cli_buf_text(&r->out, "        -  ");
    else
        cli_buf_printf(&r->out, "%9.4f  ", logprob);
    ex_piece(&r->out, &r->m, id);
}

/* With --top tokens go one by one: the alternatives of a token are what was likely before it was read. */
static int one(struct run *r, uint32_t id) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    struct cli_buf top = {0}, line = r->out;
    double logprob;
    dstok_status status;
    int rc = 0;

    r->out = top;
    if (r->n_read > 0) rc = put_top(r);
    top = r->out;
    r->out = line;
    status = dsx_session_score(r->m.session, &id, 1, &logprob, &err);
    if (rc == 0 && status != DSTOK_OK) rc = ex_failed(r->m.path.p, status, &err);
    put_token(r, id, logprob);
    cli_buf_text(&r->out, r->m.config->json ? ",\"top\":[" : "  | ");
    cli_buf_add(&r->out, top.p, top.n);
    cli_buf_text(&r->out, r->m.config->json ? "]}" : "\n");
    cli_buf_free(&top);
    r->n_read++;
    return rc;
}

static int several(struct run *r, const uint32_t *ids, size_t n) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    double logprobs[512];
    dstok_status status = dsx_session_score(r->m.session, ids, n, logprobs, &err);
    size_t i;

    if (status != DSTOK_OK) return ex_failed(r->m.path.p, status, &err);
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
        part = r->top > 0 ? 1 : n < 512 ? n : 512;
        rc = r->top > 0 ? one(r, *ids) : several(r, ids, part);
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
    int rc = 0, has_next = r->top > 0 && r->n_read > 0;

    if (r->m.config->json) {
        cli_buf_text(&r->out, has_next ? "],\"next\":[" : "]");
        if (has_next) rc = put_top(r);
        cli_buf_text(&r->out, has_next ? "]}\n" : "}\n");
    } else if (has_next) {
        cli_buf_printf(&r->out, "%8llu     next                | ", (unsigned long long)r->n_read);
        rc = put_top(r);
        cli_buf_char(&r->out, '\n');
    }
    return rc ? rc : cli_out_buf(&r->out);
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
