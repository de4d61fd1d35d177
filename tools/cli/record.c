/* SPDX-License-Identifier: MIT */
/* The text of a record, its place in the input, and what is done with bad ones. */
#include "record.h"
#include "json_in.h"

#include <dstok/align.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bad records that are named one by one on standard error. */
#define MAX_TOLD 10

static int is_jsonl(const struct cli_run *run) {
    return !run->by_lines && run->config->input_format == CLI_JSONL;
}

void cli_record_place(const struct cli_run *run, const struct cli_record *rec, uint64_t offset,
                      struct cli_buf *out) {
    uint64_t line = rec->line, i;

    cli_buf_text(out, cli_input_name(&run->files.items[rec->input]));
    if (is_jsonl(run)) {
        cli_buf_printf(out, ":%llu: byte %llu of the text", (unsigned long long)line,
                       (unsigned long long)offset);
        return;
    }
    for (i = 0; i < offset && i < rec->raw.n; i++) line += rec->raw.p[i] == '\n';
    cli_buf_printf(out, ":%llu: byte %llu", (unsigned long long)line,
                   (unsigned long long)(rec->offset + offset));
}

/* Text in other encodings often begins with its byte order mark, and no UTF-8 does so. */
static const char *foreign_encoding(const struct cli_record *rec) {
    static const struct {
        const char *mark;
        size_t n;
        const char *say;
    } marks[] = {
        {"\xFF\xFE\0\0", 4, "; this is UTF-32 text: convert it (iconv -f UTF-32 -t UTF-8)"},
        {"\0\0\xFE\xFF", 4, "; this is UTF-32 text: convert it (iconv -f UTF-32 -t UTF-8)"},
        {"\xFF\xFE", 2, "; this is UTF-16 text: convert it (iconv -f UTF-16 -t UTF-8)"},
        {"\xFE\xFF", 2, "; this is UTF-16 text: convert it (iconv -f UTF-16 -t UTF-8)"},
    };
    size_t i;

    for (i = 0; i < sizeof marks / sizeof *marks && rec->offset == 0; i++)
        if (rec->raw.n >= marks[i].n && memcmp(rec->raw.p, marks[i].mark, marks[i].n) == 0)
            return marks[i].say;
    return "";
}

void cli_record_bad(struct cli_record *rec, const char *format, ...) {
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rec->why.n = 0;
    cli_buf_text(&rec->why, text);
    cli_buf_text(&rec->why, foreign_encoding(rec));
    rec->state = CLI_RECORD_BAD;
}

/* A fault in the JSON itself, at a place in the input. */
static int bad_json(struct cli_record *rec, size_t where) {
    rec->fault = rec->offset + where;
    rec->has_fault = 1;
    return -1;
}

/* Add the string of one key to the text. */
static int add_key(const struct cli_run *run, struct cli_record *rec, struct cli_json object, const char *key,
                   int n) {
    struct cli_json value = cli_json_find(object, key, (size_t)n);
    size_t where = 0;

    if (value.p == NULL) {
        cli_record_bad(rec, "the object has no key \"%.*s\"; --json-keys names the key of the text", n, key);
        return bad_json(rec, (size_t)(object.p - rec->raw.p));
    }
    if (value.p[0] != '"') {
        cli_record_bad(rec, "\"%.*s\" is %s, not a string", n, key, cli_json_kind(value));
        return bad_json(rec, (size_t)(value.p - rec->raw.p));
    }
    if (cli_json_copy_string(value, 0, &rec->text, &where) == 0) return 0;
    cli_record_bad(rec, "%.6s is half of a surrogate pair%s", value.p + where,
                   run->config->on_error == CLI_ERROR_REPLACE ? "; it became U+FFFD"
                   : run->config->verb_bit & CLI_TEXTS        ? "; --on-error replace makes it U+FFFD"
                                                              : "");
    (void)bad_json(rec, (size_t)(value.p - rec->raw.p) + where);
    if (run->config->on_error != CLI_ERROR_REPLACE) return -1;
    rec->state = CLI_RECORD_MENDED;
    return 1; /* copied in part: the caller starts again */
}

/* The strings of all keys, joined without anything between. */
static int add_keys(const struct cli_run *run, struct cli_record *rec, struct cli_json object) {
    const char *keys = run->config->json_keys;

    for (;;) {
        size_t n = strcspn(keys, ","), before = rec->text.n, where;
        int rc = add_key(run, rec, object, keys, (int)n);

        if (rc < 0) return rc;
        if (rc > 0) {
            rec->text.n = before;
            (void)cli_json_copy_string(cli_json_find(object, keys, n), 1, &rec->text, &where);
        }
        if (keys[n] == '\0') return 0;
        keys += n + 1;
    }
}

static int read_json(const struct cli_run *run, struct cli_record *rec) {
    struct cli_json value, id;
    size_t where = 0;
    const char *why = cli_json_check(rec->raw.p, rec->raw.n, &value, &where);

    if (why != NULL) {
        cli_record_bad(rec, "not JSON: %s", why);
        return bad_json(rec, where);
    }
    if (value.p[0] != '{') {
        cli_record_bad(rec, "the line is %s, not an object", cli_json_kind(value));
        return bad_json(rec, (size_t)(value.p - rec->raw.p));
    }
    id = cli_json_find(value, "id", 2);
    if (id.p != NULL && dstok_utf8_check(id.p, id.n) != id.n) {
        cli_record_bad(rec, "the id is not UTF-8");
        return bad_json(rec, (size_t)(id.p - rec->raw.p) + dstok_utf8_check(id.p, id.n));
    }
    if (id.p != NULL) cli_buf_add(&rec->id, id.p, id.n);
    return add_keys(run, rec, value);
}

/* The way of most lines. Returns -1 where something is unusual: the careful reader says what, and where. */
static int read_fast(struct cli_record *rec, const char **text, size_t *n) {
    dstok_jsonl_record r = DSTOK_JSONL_RECORD_INIT;

    if (rec->jsonl == NULL || dstok_jsonl_read(rec->jsonl, rec->raw.p, rec->raw.n, &r, NULL) != DSTOK_OK)
        return -1;
    cli_buf_add(&rec->id, r.id, r.n_id);
    *text = r.text;
    *n = r.n_text;
    return 0;
}

static const char *advice_for_long(const struct cli_run *run) {
    const struct cli_config *c = run->config;

    if (c->verb_bit == CLI_INSPECT) return "";
    return run->by_lines || c->input_format != CLI_TEXT
               ? "; --max-record sets the limit"
               : "; cut it with --input-format lines or --doc-separator";
}

int cli_record_text(const struct cli_run *run, struct cli_record *rec, const char **text, size_t *n) {
    *text = rec->raw.p;
    *n = rec->raw.n;
    if (rec->is_too_long) {
        cli_record_bad(rec, "the record is longer than %llu bytes%s",
                       (unsigned long long)run->config->max_record, advice_for_long(run));
        return bad_json(rec, 0);
    }
    if (!is_jsonl(run) || read_fast(rec, text, n) == 0) return 0;
    if (read_json(run, rec)) return -1;
    *text = rec->text.p;
    *n = rec->text.n;
    return 0;
}

void cli_record_text_again(const struct cli_record *rec, const char **text, size_t *n) {
    dstok_jsonl_record r = DSTOK_JSONL_RECORD_INIT;

    *text = rec->raw.p;
    *n = rec->raw.n;
    if (rec->text.n > 0) {
        *text = rec->text.p;
        *n = rec->text.n;
    } else if (rec->jsonl != NULL &&
               dstok_jsonl_read(rec->jsonl, rec->raw.p, rec->raw.n, &r, NULL) == DSTOK_OK) {
        *text = r.text;
        *n = r.n_text;
    }
}

/* "FILE:LINE: byte N" of a bad record. */
static void place_of_fault(const struct cli_run *run, const struct cli_record *rec, struct cli_buf *out) {
    if (rec->fault_in_text) {
        cli_record_place(run, rec, rec->fault, out);
        return;
    }
    cli_buf_printf(out, "%s:%llu", cli_input_name(&run->files.items[rec->input]),
                   (unsigned long long)rec->line);
    if (rec->has_fault) cli_buf_printf(out, ": byte %llu", (unsigned long long)rec->fault);
    if (rec->column) cli_buf_printf(out, ": column %llu", (unsigned long long)rec->column);
}

/* One line of JSON for --reject. */
static int log_reject(const struct cli_run *run, const struct cli_record *rec) {
    struct cli_buf line = {0};
    int ok;

    cli_buf_text(&line, "{\"file\":");
    cli_json_text(&line, run->files.items[rec->input].name);
    cli_buf_printf(&line, ",\"line\":%llu,\"byte\":%llu,\"reason\":", (unsigned long long)rec->line,
                   (unsigned long long)rec->offset);
    (void)cli_json_string(&line, rec->why.p, rec->why.n);
    cli_buf_text(&line, ",\"record\":");
    (void)cli_json_string(&line, rec->raw.p, rec->raw.n);
    cli_buf_text(&line, "}\n");
    ok = fwrite(line.p, 1, line.n, run->reject) == line.n && fflush(run->reject) == 0;
    cli_buf_free(&line);
    if (!ok) cli_error("cannot write %s: %s", run->config->reject, strerror(errno));
    return ok ? 0 : CLI_FAIL;
}

/* Say where and why: an error when it stops the run, else a note, and not without end. */
static void tell(const struct cli_run *run, const struct cli_record *rec) {
    int is_error = rec->state == CLI_RECORD_BAD && run->config->on_error == CLI_ERROR_FAIL;
    struct cli_buf text = {0};
    uint64_t n = run->n_bad + run->n_mended;

    if (!is_error && n > MAX_TOLD + 1) return;
    place_of_fault(run, rec, &text);
    cli_buf_text(&text, ": ");
    cli_buf_add(&text, rec->why.p, rec->why.n);
    (void)cli_out_flush(); /* what is said comes behind the output before it; a failure shows at the end */
    if (is_error)
        cli_error("%s", cli_buf_string(&text));
    else if (n <= MAX_TOLD)
        cli_note("%s", cli_buf_string(&text));
    else
        cli_note("more bad records follow; %s",
                 run->reject ? "the log of --reject has them all" : "--reject FILE logs them all");
    cli_buf_free(&text);
}

int cli_record_report(struct cli_run *run, const struct cli_record *rec) {
    const struct cli_config *c = run->config;

    if (rec->state == CLI_RECORD_OK) return 0;
    run->n_mended += rec->state == CLI_RECORD_MENDED;
    run->n_bad += rec->state == CLI_RECORD_BAD;
    tell(run, rec);
    if (run->reject && log_reject(run, rec)) return CLI_FAIL;
    if (rec->state == CLI_RECORD_BAD && c->on_error == CLI_ERROR_FAIL) return CLI_FAIL;
    if (c->has_max_errors && run->n_bad + run->n_mended > c->max_errors) {
        cli_error("more than %llu bad records (--max-errors); stopped", (unsigned long long)c->max_errors);
        return CLI_FAIL;
    }
    return 0;
}
