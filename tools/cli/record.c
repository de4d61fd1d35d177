/* SPDX-License-Identifier: MIT */
/* The text of a record, its place in the input, and what is done with bad ones. */
#include "record.h"

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
        rec->fault = rec->offset;
        rec->has_fault = 1;
        return -1;
    }
    return is_jsonl(run) ? cli_jsonl_text(run, rec, text, n) : 0;
}

void cli_record_text_again(const struct cli_record *rec, const char **text, size_t *n) {
    *text = rec->raw.p;
    *n = rec->raw.n;
    if (rec->jsonl != NULL) cli_jsonl_text_again(rec, text, n);
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
