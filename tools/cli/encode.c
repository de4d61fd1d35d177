/* SPDX-License-Identifier: MIT */
/* dstok encode: text to ids, spans and pieces. */
#include "pieces.h"
#include "record.h"

#include <dstok/align.h>

#include <stdlib.h>
#include <string.h>

/* What is shown of a record, and how. */
struct shown {
    const dstok_tokenizer *tok;
    dstok_tokens t;
    dstok_span *converted; /* to the unit asked for; NULL: t.spans are as they should be */
    size_t *partial;       /* tokens that hold part of a character and cannot be shown exactly */
    size_t n_partial;
    char between; /* ids */
};

/* Where it goes: to a buffer, or, by all threads, to standard output behind what the buffer holds. */
struct target {
    struct cli_buf *out;
    const struct cli_run *run; /* NULL: to the buffer */
    int rc;
};

/* ---- lists */

static void put_ids(const void *context, size_t from, size_t to, struct cli_buf *out) {
    const struct shown *s = context;
    size_t i;

    cli_buf_reserve(out, (to - from) * 7);
    for (i = from; i < to; i++) {
        if (i > 0) cli_buf_char(out, s->between);
        cli_buf_uint(out, s->t.ids[i]);
    }
}

static void put_spans(const void *context, size_t from, size_t to, struct cli_buf *out) {
    const struct shown *s = context;
    const dstok_span *spans = s->converted ? s->converted : s->t.spans;
    size_t i;

    cli_buf_reserve(out, (to - from) * 16);
    for (i = from; i < to; i++) {
        cli_buf_text(out, i > 0 ? ",[" : "[");
        cli_buf_uint(out, spans[i].begin);
        cli_buf_char(out, ',');
        cli_buf_uint(out, spans[i].end);
        cli_buf_char(out, ']');
    }
}

static const char *bytes_of(const struct shown *s, size_t i, size_t *n) {
    const void *bytes = "";

    *n = 0;
    return dstok_token_bytes(s->tok, s->t.ids[i], &bytes, n) == DSTOK_OK ? bytes : "";
}

static void put_pieces(const void *context, size_t from, size_t to, struct cli_buf *out) {
    const struct shown *s = context;
    size_t i, n;

    for (i = from; i < to; i++) {
        const char *bytes = bytes_of(s, i, &n);

        if (i > 0) cli_buf_char(out, ',');
        (void)cli_json_string(out, bytes, n);
    }
}

static void put_partial(const void *context, size_t from, size_t to, struct cli_buf *out) {
    const struct shown *s = context;
    size_t i;

    for (i = from; i < to; i++) {
        if (i > 0) cli_buf_char(out, ',');
        cli_buf_uint(out, s->partial[i]);
    }
}

static void put_list(struct target *to, size_t n, cli_put *put, const struct shown *s) {
    if (to->run == NULL) {
        put(s, 0, n, to->out);
        return;
    }
    if (to->rc == 0) to->rc = cli_out_buf(to->out);
    to->out->n = 0;
    if (to->rc == 0) to->rc = cli_out_list(to->run, n, put, s);
}

/* ---- records */

static int unit_of(const struct cli_config *c) {
    if (c->offsets < 0) return DSTOK_UNIT_BYTE;
    return c->offsets == CLI_OFFSETS_HF ? DSTOK_UNIT_CHAR : c->offsets;
}

/* Spans in the unit asked for. Returns 0, or -1 with the record marked bad. */
static int convert_spans(struct shown *s, struct cli_record *rec, const char *text, size_t n, int unit) {
    dstok_status status;

    if (unit == DSTOK_UNIT_BYTE || s->t.n == 0) return 0;
    s->converted = cli_alloc(s->t.n * sizeof *s->converted);
    memcpy(s->converted, s->t.spans, s->t.n * sizeof *s->converted);
    status = dstok_spans_convert(text, n, s->converted, s->t.n, unit);
    if (status != DSTOK_OK)
        cli_record_bad(rec, "the spans cannot be converted: %s", dstok_status_name(status));
    return status == DSTOK_OK ? 0 : -1;
}

static void find_partial(struct shown *s) {
    size_t i, n, cap = 0;

    for (i = 0; i < s->t.n; i++) {
        const char *bytes = bytes_of(s, i, &n);

        if (dstok_utf8_check(bytes, n) == n) continue;
        if (s->n_partial == cap) {
            cap = cap ? 2 * cap : 16;
            s->partial = cli_realloc(s->partial, cap * sizeof *s->partial);
        }
        s->partial[s->n_partial++] = i;
    }
}

static void put_json(const struct cli_config *c, const struct cli_record *rec, const struct shown *s,
                     struct target *to) {
    struct cli_buf *out = to->out;

    cli_buf_char(out, '{');
    if (rec->id.n > 0) {
        cli_buf_text(out, "\"id\":");
        cli_buf_add(out, rec->id.p, rec->id.n);
        cli_buf_char(out, ',');
    }
    cli_buf_text(out, "\"ids\":[");
    put_list(to, s->t.n, put_ids, s);
    cli_buf_char(out, ']');
    if (c->offsets != CLI_OFFSETS_NONE) {
        cli_buf_text(out, ",\"spans\":[");
        put_list(to, s->t.n, put_spans, s);
        cli_buf_char(out, ']');
    }
    if (c->pieces) {
        cli_buf_text(out, ",\"pieces\":[");
        put_list(to, s->t.n, put_pieces, s);
        cli_buf_text(out, "],\"partial\":[");
        put_list(to, s->n_partial, put_partial, s);
        cli_buf_char(out, ']');
    }
    if (rec->state == CLI_RECORD_BAD) {
        cli_buf_text(out, ",\"error\":");
        (void)cli_json_string(out, rec->why.p, rec->why.n);
    }
    cli_buf_text(out, "}\n");
}

/* What was made for showing it. */
static void forget(struct shown *s) {
    free(s->converted);
    free(s->partial);
    memset(s, 0, sizeof *s);
}

static void show(const struct cli_config *c, const struct cli_record *rec, struct shown *s,
                 struct target *to) {
    if (c->json) {
        put_json(c, rec, s, to);
    } else if (c->pieces) {
        cli_pieces_flow(to->out, s->tok, &s->t, cli_out_has_colour());
    } else {
        put_list(to, s->t.n, put_ids, s);
        cli_buf_char(to->out, '\n');
    }
    forget(s);
}

static void work(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec) {
    const struct cli_config *c = run->config;
    struct shown s = {run->tok, {NULL, NULL, NULL, 0}, NULL, NULL, 0, c->json ? ',' : ' '};
    struct target to = {&rec->out, NULL, 0};
    const char *text = "";
    size_t n = 0;

    if (cli_encode_record(run, enc, rec, 0, &s.t, &text, &n)) {
        if (rec->is_dropped || c->on_error != CLI_ERROR_REPLACE) return;
        memset(&s.t, 0, sizeof s.t); /* an answer all the same: the lines stay in step with the input */
    } else if (c->json && c->offsets != CLI_OFFSETS_NONE && convert_spans(&s, rec, text, n, unit_of(c))) {
        forget(&s);
        return;
    }
    if (c->json && c->pieces) find_partial(&s);
    if (rec->is_large) {
        *(struct shown *)run->context = s; /* for commit */
    } else {
        show(c, rec, &s, &to);
    }
}

static int commit(struct cli_run *run, struct cli_record *rec) {
    struct shown *large = run->context;
    struct target to = {&rec->out, run, 0};
    int rc = cli_record_report(run, rec);

    if (rc) return rc;
    cli_notes_add(run, rec);
    if (rec->is_large && large->tok != NULL) show(run->config, rec, large, &to);
    return to.rc ? to.rc : cli_out_buf(&rec->out);
}

int cli_encode(struct cli_config *c) {
    struct shown large; /* what a large record left for commit; without tok: nothing */
    struct cli_run run;
    int rc;

    memset(&large, 0, sizeof large);
    memset(&run, 0, sizeof run);
    run.work = work;
    run.commit = commit;
    run.context = &large;
    rc = cli_run_texts(c, &run);
    forget(&large);
    cli_files_free(&run.files);
    return rc;
}
