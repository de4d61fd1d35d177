/* SPDX-License-Identifier: MIT */
/* dsexplain generate: the text that a model goes on with. */
#include "dsexplain.h"

#include "../cli/source.h"

#include <dstok/stream.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GOES_ON, STOP_EOS, STOP_STRING, STOP_TOKENS, STOP_CONTEXT };

struct run {
    struct ex_model m;
    struct ex_progress progress;
    struct cli_buf ids;   /* uint32_t: what was generated */
    struct cli_buf bytes; /* its text */
    size_t shown;         /* of it: what is on its way out */
    uint64_t n_prompt;    /* ids */
    dstok_decoder *decoder;
    dsx_sampler sampler;
    double *logits;
};

/* Tokens go on with the text: the prompt's first, for how a token begins may depend on the one before. */
static int decode(struct run *r, const uint32_t *ids, size_t n, int keep) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    const void *bytes = "";
    size_t n_bytes = 0;
    dstok_status status = dstok_decoder_push(r->decoder, ids, n, &bytes, &n_bytes, &err);

    if (status != DSTOK_OK) return ex_failed("the answer", status, &err);
    if (keep) cli_buf_add(&r->bytes, bytes, n_bytes);
    return 0;
}

/* What is left of a character that is not complete. */
static int end_text(struct run *r) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    const void *bytes = "";
    size_t n = 0;
    dstok_status status = dstok_decoder_finish(r->decoder, &bytes, &n, &err);

    if (status != DSTOK_OK) return ex_failed("the answer", status, &err);
    cli_buf_add(&r->bytes, bytes, n);
    return 0;
}

/* Bytes at the end that may be the beginning of a stop string. */
static size_t held_back(const struct run *r) {
    const struct ex_config *c = r->m.config;
    size_t held = 0, i, k;

    for (i = 0; i < c->n_stops; i++)
        for (k = c->stops[i].n - 1; k > held; k--)
            if (k <= r->bytes.n && memcmp(r->bytes.p + r->bytes.n - k, c->stops[i].p, k) == 0) held = k;
    return held;
}

/* Whether a stop string stands in the answer; the answer is cut before it. */
static int has_stop(struct run *r) {
    const struct ex_config *c = r->m.config;
    size_t i, at, first = r->bytes.n;

    for (i = 0; i < c->n_stops; i++)
        for (at = 0; at + c->stops[i].n <= r->bytes.n && at < first; at++)
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
    if (isnan(r->logits[id])) {
        cli_error("%s: the model gives no numbers (NaN): its weights are damaged, or too large", r->m.path.p);
        return CLI_FAIL;
    }
    if (is_eos(r, id)) {
        *stop = STOP_EOS;
        return 0;
    }
    cli_buf_add(&r->ids, &id, sizeof id);
    rc = decode(r, &id, 1, 1);
    if (rc) return rc;
    if (has_stop(r)) {
        *stop = STOP_STRING;
        return 0;
    }
    rc = show(r, r->bytes.n - held_back(r));
    if (rc) return rc;
    status = dsx_session_feed(r->m.session, &id, 1, &err);
    if (status == DSTOK_OK) return 0;
    if (status != DSTOK_E_LIMIT || ex_is_memory(status, &err))
        return ex_failed_to_read(&r->m, "the answer", status, &err);
    *stop = STOP_CONTEXT;
    return 0;
}

static int print_json(const struct run *r, int stop) {
    static const char *const names[] = {"", "eos", "string", "tokens", "context"};
    const uint32_t *ids = (const uint32_t *)(const void *)r->ids.p;
    struct cli_buf out = {0};
    size_t i;
    int rc;

    cli_buf_printf(&out, "{\"prompt_tokens\":%llu,\"ids\":[", (unsigned long long)r->n_prompt);
    for (i = 0; i < r->ids.n / sizeof *ids; i++)
        cli_buf_printf(&out, "%s%lu", i > 0 ? "," : "", (unsigned long)ids[i]);
    cli_buf_text(&out, "],\"text\":");
    (void)cli_json_string(&out, r->bytes.p, r->bytes.n);
    cli_buf_printf(&out, ",\"stop\":\"%s\"}\n", names[stop]);
    rc = cli_out_buf(&out);
    cli_buf_free(&out);
    return rc;
}

/* A text on a line of its own. */
static int end_line(const struct run *r) {
    return r->bytes.n == 0 || r->bytes.p[r->bytes.n - 1] != '\n' ? cli_out("\n", 1) : 0;
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
    if (rc) {
        if (r->shown > 0 && !c->json) (void)end_line(r);
        return rc;
    }
    ex_progress_tell(&r->progress, "generated", n, 1);
    if (stop != STOP_STRING) rc = end_text(r);
    if (rc == 0) rc = show(r, r->bytes.n);
    if (rc == 0 && c->json) return print_json(r, stop);
    if (rc == 0) rc = end_line(r);
    if (stop == STOP_CONTEXT) cli_note("the text is as long as it may get (--context)");
    return rc;
}

/* More of the prompt. */
static int read_ids(struct run *r, const uint32_t *ids, size_t n) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = dsx_session_feed(r->m.session, ids, n, &err);

    if (status != DSTOK_OK) return ex_failed_to_read(&r->m, ex_prompt_name(r->m.config), status, &err);
    r->n_prompt += n;
    ex_progress_tell(&r->progress, "read", r->n_prompt, 0);
    return decode(r, ids, n, 0);
}

/* A file of any length as it is: encoded while the model reads. */
static int read_file(struct run *r) {
    const uint32_t *ids;
    size_t n = 0;
    int rc;
    struct ex_text *text = ex_text_open(&r->m, r->m.config->file, &rc);

    while (rc == 0 && (rc = ex_text_next(text, &ids, &n)) == 0 && n > 0) rc = read_ids(r, ids, n);
    if (rc == 0) ex_progress_text(&r->progress, text);
    ex_text_close(text);
    return rc;
}

/* What a template may go around is encoded as a whole. */
static int read_whole(struct run *r) {
    const struct ex_config *c = r->m.config;
    struct cli_buf text = {0}, ids = {0};
    int rc = 0;

    if (c->prompt != NULL)
        cli_buf_text(&text, c->prompt);
    else
        rc = cli_read_whole(c->file, 0, DSTOK_MAX_INPUT, &text);
    if (rc == 0) rc = ex_prompt(&r->m, &text, &ids);
    if (rc == 0) rc = read_ids(r, (const uint32_t *)(const void *)ids.p, ids.n / sizeof(uint32_t));
    cli_buf_free(&text);
    cli_buf_free(&ids);
    return rc;
}

static int read_prompt(struct run *r) {
    const struct ex_config *c = r->m.config;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    int rc;

    if (dstok_decoder_new(r->m.tok, DSTOK_DECODE_RAW, 1, &r->decoder, &err) != DSTOK_OK) cli_no_memory();
    ex_progress_start(&r->progress, c);
    rc = c->file != NULL && !ex_is_chat(&r->m) ? read_file(r) : read_whole(r);
    if (rc == 0 && r->n_prompt == 0) {
        cli_error("the prompt is empty, %s", r->m.info.bos >= 0
                                                 ? "with no start token before it; give a text, or --bos on"
                                                 : "and the model has no start token to begin with");
        rc = CLI_USAGE;
    }
    if (rc == 0) ex_progress_tell(&r->progress, "read", r->n_prompt, 1);
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
    dstok_decoder_free(r.decoder);
    free(r.logits);
    cli_buf_free(&r.ids);
    cli_buf_free(&r.bytes);
    ex_close(&r.m);
    return rc;
}
