/* SPDX-License-Identifier: MIT */
/* dsexplain ppl: how well a model foretells a text. */
#include "dsexplain.h"

#include <math.h>
#include <string.h>

struct score {
    struct ex_model m;
    struct ex_progress progress;
    const char *name;      /* of the text */
    uint64_t window;       /* longest text of a session */
    struct cli_buf recent; /* ids of the session: uint32_t */
    uint64_t n_read, n_scored;
    double nll;
};

/* The session is full: the next one begins with its later half, which is not scored again. */
static int begin_window(struct score *s) {
    uint32_t *ids = (uint32_t *)(void *)s->recent.p;
    size_t n = s->recent.n / sizeof *ids, keep = (size_t)(s->window / 2);
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    memmove(ids, ids + (n - keep), keep * sizeof *ids);
    s->recent.n = keep * sizeof *ids;
    status = dsx_session_truncate(s->m.session, 0, &err);
    if (status == DSTOK_OK) status = dsx_session_feed(s->m.session, ids, keep, &err);
    return status == DSTOK_OK ? 0 : ex_failed_to_read(&s->m, s->name, status, &err);
}

/* n ids that fit into the session. */
static int score_part(struct score *s, const uint32_t *ids, size_t n) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    double logprobs[512];
    dstok_status status = dsx_session_score(s->m.session, ids, n, logprobs, &err);
    size_t i;

    if (status != DSTOK_OK) return ex_failed_to_read(&s->m, s->name, status, &err);
    for (i = 0; i < n; i++) {
        if (s->n_read + i == 0) continue; /* nothing stands before it */
        if (isnan(logprobs[i])) {
            cli_error(
                "%s: the model gives no number (NaN) for token %llu: its weights are damaged, or too large",
                s->m.path.p, (unsigned long long)(s->n_read + i));
            return CLI_FAIL;
        }
        s->nll -= logprobs[i];
        s->n_scored++;
    }
    s->n_read += n;
    cli_buf_add(&s->recent, ids, n * sizeof *ids);
    ex_progress_tell(&s->progress, "read", s->n_read, 0);
    return 0;
}

static int score_all(struct score *s, const uint32_t *ids, size_t n) {
    int rc = 0;

    while (n > 0 && rc == 0) {
        uint64_t room = s->window - dsx_session_length(s->m.session);
        size_t part = n < 512 ? n : 512;

        if (room == 0) {
            rc = begin_window(s);
            continue;
        }
        if (part > room) part = (size_t)room;
        rc = score_part(s, ids, part);
        ids += part;
        n -= part;
    }
    return rc;
}

static int print(const struct ex_config *c, const struct score *s) {
    struct cli_buf out = {0};
    double ppl = exp(s->nll / (double)s->n_scored);
    int rc;

    if (c->json) {
        cli_buf_printf(&out, "{\"tokens\":%llu,\"nll\":", (unsigned long long)s->n_scored);
        ex_json_real(&out, s->nll);
        cli_buf_text(&out, ",\"ppl\":");
        ex_json_real(&out, ppl);
        cli_buf_text(&out, "}\n");
    } else {
        cli_buf_printf(&out, "perplexity  %.3f\ntokens      %llu\nnll         %.3f, %.4f a token\n", ppl,
                       (unsigned long long)s->n_scored, s->nll, s->nll / (double)s->n_scored);
    }
    rc = cli_out_buf(&out);
    cli_buf_free(&out);
    return rc;
}

int ex_ppl(const struct ex_config *c) {
    struct score s = {0};
    struct ex_text *text = NULL;
    const uint32_t *ids;
    size_t n = 0;
    int rc = ex_open(c, EX_NEED_VOCAB | EX_NEED_SESSION, &s.m);

    s.name = ex_input_name(c->inputs[1]);
    s.window = c->context > 0 ? c->context : s.m.info.context;
    ex_progress_start(&s.progress, c);
    if (rc == 0 && s.window < 2) rc = cli_usage(c->verb, "--context must be at least 2");
    if (rc == 0) text = ex_text_open(&s.m, c->inputs[1], &rc);
    while (rc == 0 && (rc = ex_text_next(text, &ids, &n)) == 0 && n > 0) rc = score_all(&s, ids, n);
    if (rc == 0 && s.n_scored == 0) {
        cli_error("%s: a text of at least two tokens is needed, for the first has nothing before it", s.name);
        rc = CLI_FAIL;
    }
    if (rc == 0) ex_progress_tell(&s.progress, "read", s.n_read, 1);
    if (rc == 0) ex_progress_text(&s.progress, text);
    if (rc == 0) rc = print(c, &s);
    ex_text_close(text);
    cli_buf_free(&s.recent);
    ex_close(&s.m);
    return rc;
}
