/* SPDX-License-Identifier: MIT */
/* Lines of JSON, read by the library; what it says of a bad one gets its place and what to do. */
#include "record.h"

#include <stdlib.h>
#include <string.h>

struct cli_jsonl {
    dstok_jsonl *reader;  /* of --json-keys, or of ids */
    dstok_jsonl *mending; /* the same, but half of a surrogate pair becomes U+FFFD */
    dstok_jsonl *only_id; /* for lines without a text */
};

/* Whether the lines of the run are JSON: texts, or ids for decode. */
static int has_json(const struct cli_config *c) {
    return c->verb_bit == CLI_DECODE ? c->id_format == CLI_IDS_JSONL : c->input_format == CLI_JSONL;
}

static dstok_status make(const struct cli_config *c, const char *const *keys, size_t n_keys, int replace,
                         int as_written, dstok_jsonl **out, dstok_error *err) {
    dstok_jsonl_options options = DSTOK_JSONL_OPTIONS_INIT;

    options.keys = keys;
    options.n_keys = n_keys;
    options.replace = replace;
    options.as_written = as_written;
    options.simd = c->simd;
    return dstok_jsonl_new(&options, out, err);
}

static dstok_status make_for_texts(const struct cli_config *c, struct cli_jsonl *j, dstok_error *err) {
    static const char *const id = "id";
    const char *keys[DSTOK_JSONL_MAX_KEYS + 1]; /* one too many is refused by the library */
    char *list = cli_copy_text(c->json_keys), *p = list;
    size_t n = 0;
    dstok_status status;

    while (p != NULL && n <= DSTOK_JSONL_MAX_KEYS) {
        char *comma = strchr(p, ',');

        if (comma != NULL) *comma++ = '\0';
        keys[n++] = p;
        p = comma;
    }
    status = make(c, keys, n, 0, 0, &j->reader, err);
    if (status == DSTOK_OK) status = make(c, keys, n, 1, 0, &j->mending, err);
    if (status == DSTOK_OK) status = make(c, &id, 1, 0, 1, &j->only_id, err);
    free(list);
    return status;
}

struct cli_jsonl *cli_jsonl_new(const struct cli_config *c, dstok_error *err) {
    static const char *const ids = "ids";
    struct cli_jsonl *j;
    dstok_status status;

    err->status = DSTOK_OK;
    if (!has_json(c)) return NULL;
    j = cli_alloc(sizeof *j);
    memset(j, 0, sizeof *j);
    status = c->verb_bit == CLI_DECODE ? make(c, &ids, 1, 0, 1, &j->reader, err) : make_for_texts(c, j, err);
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status == DSTOK_OK) return j;
    cli_jsonl_free(j);
    return NULL;
}

void cli_jsonl_free(struct cli_jsonl *j) {
    if (j == NULL) return;
    dstok_jsonl_free(j->reader);
    dstok_jsonl_free(j->mending);
    dstok_jsonl_free(j->only_id);
    free(j);
}

int cli_jsonl_check(const struct cli_config *c) {
    dstok_error err;

    cli_jsonl_free(cli_jsonl_new(c, &err));
    return err.status == DSTOK_OK ? 0
                                  : cli_usage(c->verb, "--json-keys \"%.60s\": %s", c->json_keys, err.text);
}

/* ---- lines */

static dstok_status read_line(dstok_jsonl *reader, const struct cli_record *rec, dstok_jsonl_record *out,
                              dstok_error *err) {
    dstok_jsonl_record record = DSTOK_JSONL_RECORD_INIT;
    dstok_status status;

    *out = record;
    status = dstok_jsonl_read(reader, rec->raw.p, rec->raw.n, out, err);
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    return status;
}

/* The object itself is at fault: it lacks a key. */
static int lacks_key(const struct cli_record *rec, const dstok_error *err) {
    uint64_t i;

    for (i = 0; i < err->offset; i++)
        if (strchr(" \t\r\n", rec->raw.p[i]) == NULL) return 0;
    return err->status == DSTOK_E_FORMAT && err->offset < rec->raw.n && rec->raw.p[err->offset] == '{';
}

static void take(struct cli_record *rec, const dstok_jsonl_record *r, const char **text, size_t *n) {
    cli_buf_add(&rec->id, r->id, r->n_id);
    *text = r->text;
    *n = r->n_text;
}

int cli_jsonl_value(struct cli_record *rec, const char **value, size_t *n) {
    dstok_jsonl_record r;
    dstok_error err;

    if (read_line(rec->jsonl->reader, rec, &r, &err) == DSTOK_OK) {
        take(rec, &r, value, n);
        return 0;
    }
    cli_record_bad(rec, "%s", err.text);
    if (!lacks_key(rec, &err)) rec->column = err.offset + 1;
    return -1;
}

/* A line without a text; what is told of it is not said of its text. */
static int bad_line(struct cli_record *rec, const dstok_error *err, const char *advice) {
    cli_record_bad(rec, "%s%s", err->text, advice);
    rec->fault = rec->offset + err->offset;
    rec->has_fault = 1;
    return -1;
}

int cli_jsonl_text(const struct cli_run *run, struct cli_record *rec, const char **text, size_t *n) {
    int mends = run->config->on_error == CLI_ERROR_REPLACE;
    dstok_jsonl_record r;
    dstok_error err, then;

    if (read_line(rec->jsonl->reader, rec, &r, &err) == DSTOK_OK) {
        take(rec, &r, text, n);
        return 0;
    }
    if (read_line(rec->jsonl->mending, rec, &r, &then) == DSTOK_OK) { /* so it was half of a surrogate pair */
        (void)bad_line(rec, &err,
                       mends                               ? "; it became U+FFFD"
                       : run->config->verb_bit & CLI_TEXTS ? "; --on-error replace makes it U+FFFD"
                                                           : "");
        if (!mends) return -1;
        rec->state = CLI_RECORD_MENDED;
        take(rec, &r, text, n);
        return 0;
    }
    if (read_line(rec->jsonl->only_id, rec, &r, NULL) == DSTOK_OK) cli_buf_add(&rec->id, r.id, r.n_id);
    if (mends) err = then;
    return bad_line(rec, &err, lacks_key(rec, &err) ? "; --json-keys names the key of the text" : "");
}

void cli_jsonl_text_again(const struct cli_record *rec, const char **text, size_t *n) {
    dstok_jsonl_record r;

    if (read_line(rec->jsonl->reader, rec, &r, NULL) != DSTOK_OK)
        (void)read_line(rec->jsonl->mending, rec, &r, NULL);
    *text = r.text;
    *n = r.n_text;
}
