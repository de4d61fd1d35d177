/* SPDX-License-Identifier: MIT */
/* What a line of JSON gives by a plain reader, byte by byte, and whether a reader of the library says the
 * same. */
#ifndef DSTOK_TESTS_JSONL_JUDGE_H
#define DSTOK_TESTS_JSONL_JUDGE_H

#include "json_plain.h"

#include <dstok/align.h>
#include <dstok/jsonl.h>

#include <stdlib.h>
#include <string.h>

typedef struct judged {
    const char *wrong; /* what is wrong: "not JSON", "no object", ...; NULL: nothing */
    const char *why;   /* ... and why it is not JSON */
    size_t where;
    struct cli_buf text;
    struct plain_json id;
} judged;

void cli_no_memory(void) { /* in place of the program's */
    abort();
}

static int judged_bad(judged *j, const char *wrong, size_t where) {
    j->wrong = wrong;
    j->where = where;
    return -1;
}

/* dstok_jsonl_options.as_written. */
static int judge_written(judged *j, const char *line, struct plain_json value, const char *key) {
    struct plain_json object = value;
    if (object.p[0] == '{') value = plain_json_find(object, key, strlen(key));
    if (value.p == NULL) return judged_bad(j, "has no key", (size_t)(object.p - line));
    cli_buf_add(&j->text, value.p, value.n);
    return 0;
}

static int judge_key(judged *j, const char *line, struct plain_json object, const char *key, int replace) {
    struct plain_json value = plain_json_find(object, key, strlen(key));
    size_t where = 0;
    if (value.p == NULL) return judged_bad(j, "has no key", (size_t)(object.p - line));
    if (value.p[0] != '"') return judged_bad(j, "not a string", (size_t)(value.p - line));
    if (plain_json_copy_string(value, replace, &j->text, &where) == 0) return 0;
    return judged_bad(j, "half of a surrogate pair", (size_t)(value.p - line) + where);
}

/* The caller gives j->text back. */
static int judge_line(judged *j, const char *line, size_t n, const char *const *keys, size_t n_keys,
                      const char *id_key, int replace, int as_written) {
    struct plain_json value;
    memset(j, 0, sizeof *j);
    j->why = plain_json_check(line, n, &value, &j->where);
    if (j->why != NULL) return judged_bad(j, "not JSON", j->where);
    if (value.p[0] != '{' && as_written) return judge_written(j, line, value, keys[0]);
    if (value.p[0] != '{') return judged_bad(j, "not an object", (size_t)(value.p - line));
    j->id = plain_json_find(value, id_key, strlen(id_key));
    if (j->id.p != NULL) {
        size_t good = dstok_utf8_check(j->id.p, j->id.n);
        if (good != j->id.n) return judged_bad(j, "id is not UTF-8", (size_t)(j->id.p - line) + good);
    }
    if (as_written) return judge_written(j, line, value, keys[0]);
    for (size_t k = 0; k < n_keys; k++) {
        if (judge_key(j, line, value, keys[k], replace)) return -1;
    }
    return 0;
}

/* NULL, or in what the reader and the careful one differ. */
static inline const char *judge_difference(const judged *j, dstok_status status, const dstok_error *err,
                                           const dstok_jsonl_record *r) {
    if ((status == DSTOK_OK) != (j->wrong == NULL)) return "one of them refuses the line";
    if (status != DSTOK_OK) {
        if (err->status != status || strstr(err->text, j->wrong) == NULL) return "what is wrong";
        if (j->why != NULL && strstr(err->text, j->why) == NULL) return "why it is no JSON";
        return err->offset != j->where ? "where the fault is" : NULL;
    }
    if (r->n_text != j->text.n || (r->n_text > 0 && memcmp(r->text, j->text.p, r->n_text) != 0))
        return "the text";
    if (r->text == NULL) return "a text that is NULL";
    if (r->n_id != j->id.n || r->id != j->id.p) return "the id";
    return NULL;
}

#endif
