/* SPDX-License-Identifier: MIT */
/* Cuts inputs into records: at line feeds, at a separator, or not at all. */
#include "record.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

#define READ_SIZE ((size_t)1 << 18)
#define PART_SIZE ((size_t)4 << 20) /* longer inputs are given in parts, if that will do */

struct cli_reader {
    const struct cli_run *run;
    const char *separator; /* NULL: an input is one record */
    size_t separator_length;
    size_t max;
    int is_lines, is_json, gives_parts;

    size_t next_input;
    struct cli_source *source; /* NULL between inputs */
    int at_end;                /* the source has no more bytes */
    int is_started;            /* whole inputs: the one record was given */
    int is_skipping;           /* inside a record that is too long */
    struct cli_buf buf;        /* buf[start..n) is not consumed; no separator begins before buf[seen] */
    size_t start, seen;
    uint64_t offset, line;           /* of buf[start] */
    uint64_t skip_offset, skip_line; /* start of the record that is too long */
};

struct cli_reader *cli_reader_new(const struct cli_run *run) {
    const struct cli_config *c = run->config;
    struct cli_reader *r = cli_alloc(sizeof *r);

    memset(r, 0, sizeof *r);
    r->run = run;
    r->max = (size_t)c->max_record;
    r->is_json = !run->by_lines && c->input_format == CLI_JSONL;
    if (run->by_lines || c->input_format != CLI_TEXT) {
        r->separator = "\n"; /* nothing else ends a line: U+2028 and the like are data */
        r->separator_length = 1;
        r->is_lines = 1;
    } else if (c->separator.n > 0) {
        r->separator = c->separator.p;
        r->separator_length = c->separator.n;
    }
    /* What is to be done with a bad record, or one that is too long, must be known before it is begun. */
    r->gives_parts = run->takes_parts && r->separator == NULL && c->on_error == CLI_ERROR_FAIL &&
                     c->reject == NULL && c->max_record == INT32_MAX;
    return r;
}

void cli_reader_free(struct cli_reader *r) {
    cli_source_close(r->source);
    cli_buf_free(&r->buf);
    free(r);
}

static const char *input_name(const struct cli_reader *r) {
    return cli_input_name(&r->run->files.items[r->next_input - 1]);
}

static int read_failed(const struct cli_reader *r, const char *why) {
    cli_error("%s: byte %llu: cannot read: %s", input_name(r),
              (unsigned long long)(r->offset + (r->buf.n - r->start)), why);
    return CLI_READ_FAILED;
}

static int open_next(struct cli_reader *r) {
    const char *why = "";

    if (r->next_input == r->run->files.n) return CLI_READ_END;
    r->next_input++;
    r->source =
        cli_source_open(r->run->files.items[r->next_input - 1].name, r->run->config->no_decompress, &why);
    if (r->source == NULL) {
        cli_error("cannot open %s: %s", input_name(r), why);
        return CLI_READ_FAILED;
    }
    r->at_end = r->is_started = r->is_skipping = 0;
    r->buf.n = r->start = r->seen = 0;
    r->offset = 0;
    r->line = 1;
    return CLI_READ_RECORD;
}

static uint64_t count_lines(const char *p, size_t n) {
    uint64_t lines = 0;
    const char *end = p + n;

    while (n > 0 && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        lines++;
        if (++p == end) break;
    }
    return lines;
}

/* Move the front of the unread bytes. Records that are lines hold no line feed. */
static void consume(struct cli_reader *r, size_t n) {
    if (!r->is_lines) r->line += count_lines(r->buf.p + r->start, n);
    r->offset += n;
    r->start += n;
    if (r->seen < r->start) r->seen = r->start;
}

/* Get more bytes behind those that wait. */
static int refill(struct cli_reader *r, int may_wait) {
    const char *why = "";
    long n;

    if (!may_wait && cli_source_would_wait(r->source)) return CLI_READ_WAIT;
    if (r->start == r->buf.n) r->buf.n = r->start = r->seen = 0;
    if (r->start > r->buf.n / 2) {
        memmove(r->buf.p, r->buf.p + r->start, r->buf.n - r->start);
        r->buf.n -= r->start;
        r->seen -= r->start;
        r->start = 0;
    }
    cli_buf_reserve(&r->buf, READ_SIZE);
    n = cli_source_read(r->source, r->buf.p + r->buf.n, READ_SIZE, &why);
    if (n < 0) return read_failed(r, why);
    r->buf.n += (size_t)n;
    r->at_end = n == 0;
    return CLI_READ_RECORD;
}

/* Offset of the first separator, or SIZE_MAX. Bytes that were searched are not searched again. */
static size_t find_separator(struct cli_reader *r) {
    const char *base = r->buf.p, *p;
    size_t k = r->separator_length;

    while (r->separator && r->buf.n - r->seen >= k) {
        p = memchr(base + r->seen, r->separator[0], r->buf.n - r->seen - (k - 1));
        if (p == NULL) {
            r->seen = r->buf.n - (k - 1);
            break;
        }
        r->seen = (size_t)(p - base);
        if (memcmp(p, r->separator, k) == 0) return r->seen;
        r->seen++;
    }
    return SIZE_MAX;
}

/* Hand out n bytes from the front. A record that fills the buffer is handed over with the buffer, not
 * copied. */
static void give(struct cli_reader *r, struct cli_record *rec, size_t n) {
    rec->input = r->next_input - 1;
    rec->line = r->line;
    rec->offset = r->offset;
    rec->is_too_long = 0;
    rec->rest = NULL;
    if (r->start == 0 && n == r->buf.n && n > READ_SIZE) {
        struct cli_buf old = rec->raw;

        consume(r, n);
        rec->raw = r->buf;
        r->buf = old;
        r->buf.n = r->start = r->seen = 0;
        return;
    }
    rec->raw.n = 0;
    cli_buf_add(&rec->raw, r->buf.p + r->start, n);
    consume(r, n);
}

/* A record passed the limit: drop what is there, but for bytes that may begin a separator. */
static void skip_some(struct cli_reader *r) {
    size_t keep = r->separator_length > 0 ? r->separator_length - 1 : 0;
    size_t n = r->buf.n - r->start;

    if (!r->is_skipping) {
        r->skip_offset = r->offset;
        r->skip_line = r->line;
    }
    r->is_skipping = 1;
    consume(r, n > keep ? n - keep : 0);
}

static void give_too_long(struct cli_reader *r, struct cli_record *rec, size_t n) {
    if (!r->is_skipping) {
        r->skip_offset = r->offset;
        r->skip_line = r->line;
    }
    consume(r, n);
    rec->input = r->next_input - 1;
    rec->raw.n = 0;
    rec->offset = r->skip_offset;
    rec->line = r->skip_line;
    rec->is_too_long = 1;
    rec->rest = NULL;
    r->is_skipping = 0;
}

static void give_any(struct cli_reader *r, struct cli_record *rec, size_t n) {
    if (r->is_skipping || n > r->max)
        give_too_long(r, rec, n);
    else
        give(r, rec, n);
    r->is_started = 1;
}

/* Is what is left at the end of an input a record? After a final separator there is none; a whole input
 * always is. */
static int has_last(const struct cli_reader *r) {
    return r->buf.n > r->start || r->is_skipping || (r->separator == NULL && !r->is_started);
}

/* A record of the open input; CLI_READ_END at its end. */
static int next_here(struct cli_reader *r, int may_wait, struct cli_record *rec) {
    for (;;) {
        size_t at = find_separator(r);
        int rc;

        if (at != SIZE_MAX) {
            give_any(r, rec, at - r->start);
            consume(r, r->separator_length);
            r->line += (uint64_t)r->is_lines;
            return CLI_READ_RECORD;
        }
        if (r->at_end) {
            if (!has_last(r)) return CLI_READ_END;
            give_any(r, rec, r->buf.n - r->start);
            return CLI_READ_RECORD;
        }
        if (r->gives_parts && r->buf.n - r->start >= PART_SIZE) {
            give_any(r, rec, r->buf.n - r->start);
            rec->rest = r;
            return CLI_READ_RECORD;
        }
        if (r->is_skipping || r->buf.n - r->start >= r->max + 1 + r->separator_length) skip_some(r);
        rc = refill(r, may_wait);
        if (rc != CLI_READ_RECORD) return rc;
    }
}

int cli_reader_more(struct cli_reader *r, struct cli_record *rec) {
    int rc = refill(r, 0);

    if (rc == CLI_READ_WAIT) {
        if (cli_out_flush()) return CLI_READ_FAILED;
        rc = refill(r, 1);
    }
    if (rc != CLI_READ_RECORD) return rc;
    if (r->at_end) return CLI_READ_END;
    cli_buf_add(&rec->raw, r->buf.p + r->start, r->buf.n - r->start);
    consume(r, r->buf.n - r->start);
    return CLI_READ_RECORD;
}

void cli_reader_forget(const struct cli_reader *r, struct cli_record *rec, uint64_t before) {
    size_t n = (size_t)(before - rec->offset);

    if (before <= rec->offset || n < rec->raw.n / 2) return; /* each byte is moved a few times at most */
    if (!r->is_lines) rec->line += count_lines(rec->raw.p, n);
    memmove(rec->raw.p, rec->raw.p + n, rec->raw.n - n);
    rec->raw.n -= n;
    rec->offset = before;
}

/* jsonl: a mark at the start of a file is passed over, and lines of nothing but blanks hold no record. */
static int is_blank_json(struct cli_record *rec) {
    size_t i = 0;

    if (rec->offset == 0 && rec->raw.n >= 3 && memcmp(rec->raw.p, "\xEF\xBB\xBF", 3) == 0) {
        memmove(rec->raw.p, rec->raw.p + 3, rec->raw.n - 3);
        rec->raw.n -= 3;
        rec->offset = 3;
    }
    while (i < rec->raw.n && (rec->raw.p[i] == ' ' || rec->raw.p[i] == '\t' || rec->raw.p[i] == '\r')) i++;
    return i == rec->raw.n && !rec->is_too_long;
}

int cli_reader_next(struct cli_reader *r, int may_wait, struct cli_record *rec) {
    int rc = CLI_READ_END;

    for (;;) {
        if (r->source != NULL) rc = next_here(r, may_wait, rec);
        if (rc == CLI_READ_RECORD && r->is_json && is_blank_json(rec)) continue;
        if (rc != CLI_READ_END) return rc;
        cli_source_close(r->source);
        r->source = NULL;
        rc = open_next(r);
        if (rc != CLI_READ_RECORD) return rc;
    }
}
