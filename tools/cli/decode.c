/* SPDX-License-Identifier: MIT */
/* dstok decode: ids to bytes. */
#include "record.h"

#include <dstok/align.h>

#include <stdlib.h>
#include <string.h>

static int is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* A part of the record. p == NULL: none. */
struct part {
    const char *p;
    size_t n;
};

/* Does c stand between numbers? An array has commas there, and a bracket behind the last. */
static int is_between(char c, int is_array) {
    return is_blank(c) || (is_array && (c == ',' || c == ']'));
}

/* The next number as it stands there, p == NULL past the last. An array is known to be one. */
static struct part next_id(struct part line, int is_array, size_t *at) {
    struct part word = {NULL, 0};
    size_t i = is_array && *at == 0 ? 1 : *at;

    while (i < line.n && is_between(line.p[i], is_array)) i++;
    if (i < line.n) word.p = line.p + i;
    while (i < line.n && !is_between(line.p[i], is_array)) {
        i++;
        word.n++;
    }
    *at = i;
    return word;
}

static int bad_number(struct cli_record *rec, struct part word, const char *what) {
    cli_record_bad(rec, "\"%.*s\" %s", (int)(word.n < 40 ? word.n : 40), word.p, what);
    rec->column = (uint64_t)(word.p - rec->raw.p) + 1;
    return -1;
}

/* Add an id to the array in rec->text. */
static int add_id(struct cli_record *rec, struct part word, int is_json) {
    uint64_t value = 0;
    uint32_t id;
    size_t i;

    for (i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '9')
            return bad_number(rec, word,
                              is_json || (word.p[0] != '[' && word.p[0] != '{')
                                  ? "is not an id; ids are whole numbers"
                                  : "is not an id; for JSON give --input-format jsonl");
        value = value * 10 + (uint64_t)(word.p[i] - '0');
        if (value > UINT32_MAX)
            return bad_number(rec, word, "is not an id; the largest possible is 4294967295");
    }
    id = (uint32_t)value;
    cli_buf_add(&rec->text, &id, sizeof id);
    rec->n_tokens++;
    return 0;
}

/* What holds the ids: the line, or the array in it. */
static int find_ids(const struct cli_run *run, struct cli_record *rec, struct part *line) {
    line->p = rec->raw.p;
    line->n = rec->raw.n;
    if (rec->is_too_long) {
        cli_record_bad(rec, "the line is longer than %llu bytes",
                       (unsigned long long)run->config->max_record);
        return -1;
    }
    if (rec->jsonl == NULL) return 0;
    if (cli_jsonl_value(rec, &line->p, &line->n)) return -1;
    if (line->p[0] == '[') return 0;
    cli_record_bad(rec, "an array of ids, or an object with an array \"ids\", is wanted");
    return -1;
}

static int read_ids(const struct cli_run *run, struct cli_record *rec, struct part *line) {
    struct part word;
    size_t at = 0;

    if (find_ids(run, rec, line)) return -1;
    while ((word = next_id(*line, rec->jsonl != NULL, &at)).p != NULL)
        if (add_id(rec, word, rec->jsonl != NULL)) return -1;
    return 0;
}

static void mark_failed(struct cli_record *rec, struct part line, const dstok_error *err,
                        dstok_status status) {
    struct part word = {NULL, 0};
    size_t at = 0;
    uint64_t i;

    if (status == DSTOK_E_UTF8 && err->offset != DSTOK_NO_OFFSET) {
        cli_record_bad(
            rec,
            "the result is not UTF-8 at its byte %llu; --mode replace mends it, lossless gives the bytes",
            (unsigned long long)err->offset);
        return;
    }
    cli_record_bad(rec, "%s", err->text[0] ? err->text : dstok_status_name(status));
    if (status != DSTOK_E_BAD_ID) return;
    for (i = 0; i <= err->offset && i < rec->n_tokens; i++) word = next_id(line, rec->jsonl != NULL, &at);
    if (word.p != NULL) rec->column = (uint64_t)(word.p - rec->raw.p) + 1;
}

static dstok_status decode(const struct cli_run *run, struct cli_record *rec, struct cli_buf *out,
                           dstok_error *err) {
    const struct cli_config *c = run->config;
    size_t n = 0, unknown = 0;
    dstok_status status;

    cli_buf_reserve(out, rec->n_tokens * 4 + 16);
    do {
        cli_buf_reserve(out, n);
        status = dstok_decode(run->tok, (const uint32_t *)(const void *)rec->text.p, rec->n_tokens, c->mode,
                              c->skip_special, out->p, out->cap, &n, &unknown, err);
    } while (status == DSTOK_E_SPACE && n > out->cap);
    out->n = status == DSTOK_OK ? n : 0;
    rec->n_unknown_ids = unknown;
    return status;
}

static void put_json(struct cli_record *rec, const struct cli_buf *bytes) {
    struct cli_buf *out = &rec->out;

    cli_buf_char(out, '{');
    if (rec->id.n > 0) {
        cli_buf_text(out, "\"id\":");
        cli_buf_add(out, rec->id.p, rec->id.n);
        cli_buf_char(out, ',');
    }
    cli_buf_text(out, "\"text\":");
    if (cli_json_string(out, bytes->p, bytes->n) > 0) {
        cli_buf_text(out, ",\"hex\":");
        cli_json_hex(out, bytes->p, bytes->n);
    }
    cli_buf_text(out, "}\n");
}

static void work(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    struct cli_buf bytes = {0};
    struct part line;
    dstok_status status;

    (void)enc;
    if (read_ids(run, rec, &line)) return;
    status = decode(run, rec, run->config->json ? &bytes : &rec->out, &err);
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status != DSTOK_OK)
        mark_failed(rec, line, &err, status);
    else if (run->config->json)
        put_json(rec, &bytes);
    else if (cli_out_is_terminal() && dstok_utf8_check(rec->out.p, rec->out.n) != rec->out.n)
        cli_record_bad(
            rec, "the result is not UTF-8 and is not written to a terminal; redirect it, or --mode replace");
    cli_buf_free(&bytes);
}

static int commit(struct cli_run *run, struct cli_record *rec) {
    const struct cli_buf *separator = &run->config->separator;
    uint64_t *unknown = run->context;
    int rc = cli_record_report(run, rec);

    *unknown += rec->n_unknown_ids;
    if (rc == 0) rc = cli_out_buf(&rec->out);
    return rc ? rc : cli_out(separator->p, separator->n);
}

int cli_decode(struct cli_config *c) {
    uint64_t unknown = 0;
    dstok_tokenizer *tok = NULL;
    struct cli_run run;
    int rc;

    memset(&run, 0, sizeof run);
    run.config = c;
    run.by_lines = 1;
    run.work = work;
    run.commit = commit;
    run.context = &unknown;
    rc = cli_files_list(c, &run.files);
    if (rc == 0) rc = cli_vocab_load(c, c->n_vocabs ? c->vocabs[0] : NULL, &tok);
    if (rc == 0) {
        run.tok = tok;
        rc = cli_run_records(&run);
    }
    if (unknown > 0) cli_note("ids without a token: %llu", (unsigned long long)unknown);
    dstok_tokenizer_free(tok);
    cli_files_free(&run.files);
    return rc;
}
