/* SPDX-License-Identifier: MIT */
/* dstok decode: ids to bytes. */
#include "json_in.h"
#include "record.h"

#include <dstok/align.h>

#include <stdlib.h>
#include <string.h>

static int is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next number of a line of ids, as it stands there; p == NULL past the last. */
static struct cli_json next_word(const struct cli_record *rec, size_t *at) {
    struct cli_json word = {NULL, 0};
    size_t i = *at;

    while (i < rec->raw.n && is_blank(rec->raw.p[i])) i++;
    if (i < rec->raw.n) word.p = rec->raw.p + i;
    while (i < rec->raw.n && !is_blank(rec->raw.p[i])) {
        i++;
        word.n++;
    }
    *at = i;
    return word;
}

/* The array of a line of JSON, also inside an object; marks the record bad when there is none. */
static struct cli_json find_array(struct cli_record *rec) {
    struct cli_json value, none = {NULL, 0}, id;
    size_t where = 0;
    const char *why = cli_json_check(rec->raw.p, rec->raw.n, &value, &where);

    if (why != NULL) {
        cli_record_bad(rec, "not JSON: %s", why);
        rec->column = where + 1;
        return none;
    }
    if (value.p[0] == '{') {
        id = cli_json_find(value, "id", 2);
        if (id.p != NULL) cli_buf_add(&rec->id, id.p, id.n);
        value = cli_json_find(value, "ids", 3);
    }
    if (value.p != NULL && value.p[0] == '[') return value;
    cli_record_bad(rec, "an array of ids, or an object with an array \"ids\", is wanted");
    return none;
}

/* One id as it stands in the input. */
static struct cli_json next_id(const struct cli_record *rec, struct cli_json array, size_t *at) {
    return array.p ? cli_json_next(array, at) : next_word(rec, at);
}

static int bad_number(struct cli_record *rec, struct cli_json word, const char *what) {
    cli_record_bad(rec, "\"%.*s\" %s", (int)(word.n < 40 ? word.n : 40), word.p, what);
    rec->column = (uint64_t)(word.p - rec->raw.p) + 1;
    return -1;
}

/* Add an id to the array in rec->text. */
static int add_id(struct cli_record *rec, struct cli_json word, int is_json) {
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

static int read_ids(const struct cli_run *run, struct cli_record *rec, struct cli_json *array) {
    int is_json = run->config->id_format == CLI_IDS_JSONL;
    struct cli_json word;
    size_t at = 0;

    array->p = NULL;
    if (rec->is_too_long) {
        cli_record_bad(rec, "the line is longer than %llu bytes",
                       (unsigned long long)run->config->max_record);
        return -1;
    }
    if (is_json) {
        *array = find_array(rec);
        if (array->p == NULL) return -1;
    }
    while ((word = next_id(rec, *array, &at)).p != NULL)
        if (add_id(rec, word, is_json)) return -1;
    return 0;
}

static void mark_failed(struct cli_record *rec, struct cli_json array, const dstok_error *err,
                        dstok_status status) {
    struct cli_json word = {NULL, 0};
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
    for (i = 0; i <= err->offset && i < rec->n_tokens; i++) word = next_id(rec, array, &at);
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
    struct cli_json array;
    dstok_status status;

    (void)enc;
    if (read_ids(run, rec, &array)) return;
    status = decode(run, rec, run->config->json ? &bytes : &rec->out, &err);
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status != DSTOK_OK)
        mark_failed(rec, array, &err, status);
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
