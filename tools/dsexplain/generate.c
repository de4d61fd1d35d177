/* SPDX-License-Identifier: MIT */
/* dsexplain generate: the text that a model goes on with. */
#include "dsexplain.h"

#include "../cli/source.h"

#include <stdlib.h>
#include <string.h>

enum { GOES_ON, STOP_EOS, STOP_STRING, STOP_TOKENS, STOP_CONTEXT };

struct run {
    struct ex_model m;
    struct ex_progress progress;
    struct cli_buf ids;   /* uint32_t: the prompt, and what was generated */
    struct cli_buf bytes; /* all of it decoded */
    size_t n_prompt;      /* ids */
    size_t begin, shown;  /* of bytes: behind the prompt, and what is on its way out */
    dsx_sampler sampler;
    double *logits;
};

static const uint32_t *ids_of(const struct run *r, size_t *n) {
    *n = r->ids.n / sizeof(uint32_t);
    return (const uint32_t *)(const void *)r->ids.p;
}

/* All ids are decoded together: how a token begins may depend on the one before. */
static int decode(struct run *r) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    size_t n, n_bytes = 0;
    const uint32_t *ids = ids_of(r, &n);
    dstok_status status =
        dstok_decode(r->m.tok, ids, n, DSTOK_DECODE_RAW, 1, r->bytes.p, r->bytes.cap, &n_bytes, NULL, &err);

    if (status == DSTOK_E_SPACE) {
        r->bytes.n = 0;
        cli_buf_reserve(&r->bytes, 2 * n_bytes);
        status = dstok_decode(r->m.tok, ids, n, DSTOK_DECODE_RAW, 1, r->bytes.p, r->bytes.cap, &n_bytes, NULL,
                              &err);
    }
    r->bytes.n = n_bytes;
    return status == DSTOK_OK ? 0 : ex_failed("the answer", status, &err);
}

/* Bytes at the end that may be part of a character or of a stop string that is not complete. */
static size_t held_back(const struct run *r) {
    const struct ex_config *c = r->m.config;
    const unsigned char *p = (const unsigned char *)r->bytes.p + r->begin;
    size_t n = r->bytes.n - r->begin, held = 0, i, k;

    for (k = 1; k <= 3 && k <= n; k++)
        if (p[n - k] >= 0xC0) { /* a lead byte: as many follow as it has leading ones, less one */
            size_t length = p[n - k] >= 0xF0 ? 4 : p[n - k] >= 0xE0 ? 3 : 2;

            if (length > k) held = k;
            break;
        }
    for (i = 0; i < c->n_stops; i++)
        for (k = c->stops[i].n - 1; k > held; k--)
            if (k <= n && memcmp(p + n - k, c->stops[i].p, k) == 0) held = k;
    return held;
}

/* Whether a stop string stands in the answer; the answer is cut before it. */
static int has_stop(struct run *r) {
    const struct ex_config *c = r->m.config;
    size_t i, at, first = r->bytes.n;

    for (i = 0; i < c->n_stops; i++)
        for (at = r->begin; at + c->stops[i].n <= r->bytes.n && at < first; at++)
            if (memcmp(r->bytes.p + at, c->stops[i].p, c->stops[i].n) == 0) first = at;
    if (first == r->bytes.n) return 0;
    r->bytes.n = first;
    return 1;
}

static int show(struct run *r, size_t until) {
    int rc = 0;

    if (until > r->shown && !r->m.config->json) {
        rc = cli_out(r->bytes.p + r->shown, until - r->shown);
        if (rc == 0) rc = cli_out_flush();
    }
    if (until > r->shown) r->shown = until;
    return rc;
}

static int is_eos(const struct run *r, uint32_t id) {
    uint32_t i;

    for (i = 0; i < r->m.info.n_eos; i++)
        if (r->m.info.eos[i] == (int64_t)id) return 1;
    return 0;
}

/* One more token. Returns 0 or an exit code; *stop tells why it was the last. */
static int step(struct run *r, int *stop) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    size_t n = r->m.info.n_vocab;
    dstok_status status = dsx_session_logits(r->m.session, r->logits, n, &err);
    uint32_t id;
    int rc;

    if (status != DSTOK_OK) return ex_failed(r->m.path.p, status, &err);
    id = dsx_sample(&r->sampler, r->logits, n);
    if (is_eos(r, id)) {
        *stop = STOP_EOS;
        return 0;
    }
    cli_buf_add(&r->ids, &id, sizeof id);
    rc = decode(r);
    if (rc) return rc;
    if (has_stop(r)) {
        *stop = STOP_STRING;
        return 0;
    }
    rc = show(r, r->bytes.n - held_back(r));
    if (rc) return rc;
    status = dsx_session_feed(r->m.session, &id, 1, &err);
    if (status == DSTOK_E_LIMIT) *stop = STOP_CONTEXT;
    return status == DSTOK_OK || status == DSTOK_E_LIMIT ? 0 : ex_failed(r->m.path.p, status, &err);
}

static int print_json(const struct run *r, int stop) {
    static const char *const names[] = {"", "eos", "string", "tokens", "context"};
    struct cli_buf out = {0};
    size_t n, i;
    const uint32_t *ids = ids_of(r, &n);
    int rc;

    cli_buf_printf(&out, "{\"prompt_tokens\":%zu,\"ids\":[", r->n_prompt);
    for (i = r->n_prompt; i < n; i++)
        cli_buf_printf(&out, "%s%lu", i > r->n_prompt ? "," : "", (unsigned long)ids[i]);
    cli_buf_text(&out, "],\"text\":");
    (void)cli_json_string(&out, r->bytes.p + r->begin, r->bytes.n - r->begin);
    cli_buf_printf(&out, ",\"stop\":\"%s\"}\n", names[stop]);
    rc = cli_out_buf(&out);
    cli_buf_free(&out);
    return rc;
}

static int generate(struct run *r) {
    const struct ex_config *c = r->m.config;
    uint64_t n = 0;
    int rc = 0, stop = GOES_ON;

    ex_progress_start(&r->progress, c);
    while (rc == 0 && stop == GOES_ON) {
        rc = step(r, &stop);
        n += stop != STOP_EOS;
        if (stop == GOES_ON && n >= c->n) stop = STOP_TOKENS;
        ex_progress_tell(&r->progress, "generated", n, 0);
    }
    if (rc) return rc;
    ex_progress_tell(&r->progress, "generated", n, 1);
    rc = show(r, r->bytes.n);
    if (rc == 0 && c->json) return print_json(r, stop);
    if (rc == 0 && (r->bytes.n == r->begin || r->bytes.p[r->bytes.n - 1] != '\n')) rc = cli_out("\n", 1);
    if (stop == STOP_CONTEXT) cli_note("the text is as long as it may get (--context)");
    return rc;
}

/* The prompt, as the options have it, to the model. */
static int read_prompt(struct run *r) {
    const struct ex_config *c = r->m.config;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    struct cli_buf text = {0};
    const uint32_t *ids;
    size_t n;
    dstok_status status;
    int rc = 0;

    if (c->prompt != NULL)
        cli_buf_text(&text, c->prompt);
    else
        rc = cli_read_whole(c->file, 0, DSTOK_MAX_INPUT, &text);
    if (rc == 0) rc = ex_prompt(&r->m, &text, &r->ids);
    cli_buf_free(&text);
    if (rc) return rc;
    ids = ids_of(r, &n);
    r->n_prompt = n;
    if (n == 0) {
        cli_error("the prompt is empty, and the model has no start token to begin with (--bos on)");
        return CLI_USAGE;
    }
    ex_progress_start(&r->progress, c);
    status = dsx_session_feed(r->m.session, ids, n, &err);
    if (status != DSTOK_OK) return ex_failed(r->m.path.p, status, &err);
    ex_progress_tell(&r->progress, "read", n, 1);
    rc = decode(r);
    r->begin = r->shown = r->bytes.n;
    return rc;
}

int ex_generate(const struct ex_config *c) {
    struct run r = {0};
    int rc = ex_open(c, EX_NEED_VOCAB | EX_NEED_SESSION, &r.m);

    r.sampler = (dsx_sampler){c->temperature, (uint32_t)(c->top_k < UINT32_MAX ? c->top_k : UINT32_MAX),
                              c->top_p, c->seed};
    if (rc == 0) r.logits = cli_alloc(r.m.info.n_vocab * sizeof *r.logits);
    if (rc == 0) rc = read_prompt(&r);
    if (rc == 0) rc = generate(&r);
    free(r.logits);
    cli_buf_free(&r.ids);
    cli_buf_free(&r.bytes);
    ex_close(&r.m);
    return rc;
}
