/* SPDX-License-Identifier: MIT */
/* dstok encode: text to ids, spans and pieces. */
#include "pieces.h"
#include "record.h"

#include <dstok/align.h>

#include <stdlib.h>
#include <string.h>

static void put_ids(struct cli_buf *out, const dstok_tokens *t, char between) {
    size_t i;

    cli_buf_reserve(out, t->n * 7);
    for (i = 0; i < t->n; i++) {
        if (i > 0) cli_buf_char(out, between);
        cli_buf_uint(out, t->ids[i]);
    }
}

/* Spans in the unit asked for. Returns 0, or -1 with the record marked bad. */
static int put_spans(struct cli_record *rec, const dstok_tokens *t, const char *text, size_t n, int unit) {
    struct cli_buf *out = &rec->out;
    dstok_span *spans = cli_alloc((t->n + 1) * sizeof *spans);
    dstok_status status = DSTOK_OK;
    size_t i;

    if (t->n > 0) memcpy(spans, t->spans, t->n * sizeof *spans);
    if (unit != DSTOK_UNIT_BYTE) status = dstok_spans_convert(text, n, spans, t->n, unit);
    cli_buf_text(out, ",\"spans\":[");
    cli_buf_reserve(out, t->n * 16);
    for (i = 0; i < t->n && status == DSTOK_OK; i++) {
        cli_buf_text(out, i > 0 ? ",[" : "[");
        cli_buf_uint(out, spans[i].begin);
        cli_buf_char(out, ',');
        cli_buf_uint(out, spans[i].end);
        cli_buf_char(out, ']');
    }
    cli_buf_char(out, ']');
    free(spans);
    if (status != DSTOK_OK)
        cli_record_bad(rec, "the spans cannot be converted: %s", dstok_status_name(status));
    return status == DSTOK_OK ? 0 : -1;
}

/* The text of each token; "partial" lists those that hold part of a character and cannot be shown exactly. */
static void put_pieces(struct cli_buf *out, const dstok_tokenizer *tok, const dstok_tokens *t) {
    struct cli_buf partial = {0};
    size_t i, n;

    cli_buf_text(out, ",\"pieces\":[");
    for (i = 0; i < t->n; i++) {
        const void *bytes = "";

        n = 0;
        if (dstok_token_bytes(tok, t->ids[i], &bytes, &n) != DSTOK_OK) n = 0;
        if (i > 0) cli_buf_char(out, ',');
        if (cli_json_string(out, bytes, n) > 0) cli_buf_printf(&partial, "%s%zu", partial.n ? "," : "", i);
    }
    cli_buf_text(out, "],\"partial\":[");
    cli_buf_add(out, partial.p, partial.n);
    cli_buf_char(out, ']');
    cli_buf_free(&partial);
}

static int unit_of(const struct cli_config *c) {
    if (c->offsets < 0) return DSTOK_UNIT_BYTE;
    return c->offsets == CLI_OFFSETS_HF ? DSTOK_UNIT_CHAR : c->offsets;
}

static void put_json(const struct cli_run *run, struct cli_record *rec, const dstok_tokens *t,
                     const char *text, size_t n) {
    const struct cli_config *c = run->config;
    struct cli_buf *out = &rec->out;

    cli_buf_char(out, '{');
    if (rec->id.n > 0) {
        cli_buf_text(out, "\"id\":");
        cli_buf_add(out, rec->id.p, rec->id.n);
        cli_buf_char(out, ',');
    }
    cli_buf_text(out, "\"ids\":[");
    put_ids(out, t, ',');
    cli_buf_char(out, ']');
    if (c->offsets != CLI_OFFSETS_NONE && put_spans(rec, t, text, n, unit_of(c))) {
        out->n = 0;
        return;
    }
    if (c->pieces) put_pieces(out, run->tok, t);
    if (rec->state == CLI_RECORD_BAD) {
        cli_buf_text(out, ",\"error\":");
        (void)cli_json_string(out, rec->why.p, rec->why.n);
    }
    cli_buf_text(out, "}\n");
}

static void work(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec) {
    const struct cli_config *c = run->config;
    dstok_tokens t = {NULL, NULL, NULL, 0};
    const char *text = "";
    size_t n = 0;

    if (cli_encode_record(run, enc, rec, 0, &t, &text, &n)) {
        if (rec->is_dropped || c->on_error != CLI_ERROR_REPLACE) return;
        memset(&t, 0, sizeof t); /* an answer all the same: the lines stay in step with the input */
        n = 0;
    }
    if (c->json) {
        put_json(run, rec, &t, text, n);
    } else if (c->pieces) {
        cli_pieces_flow(&rec->out, run->tok, &t, cli_out_has_colour());
    } else {
        put_ids(&rec->out, &t, ' ');
        cli_buf_char(&rec->out, '\n');
    }
}

static int commit(struct cli_run *run, struct cli_record *rec) {
    int rc = cli_record_report(run, rec);

    if (rc) return rc;
    cli_notes_add(run, rec);
    return cli_out_buf(&rec->out);
}

int cli_encode(struct cli_config *c) {
    struct cli_run run;
    int rc;

    memset(&run, 0, sizeof run);
    run.work = work;
    run.commit = commit;
    rc = cli_run_texts(c, &run);
    cli_files_free(&run.files);
    return rc;
}
