/* SPDX-License-Identifier: MIT */
/* Reports read again: what is used of them is checked, to the last number. */
#include "../cli/source.h"
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const ex_sum_keys[EX_SUMS] = {"sources", "template", "response",
                                          "special", "bias",     "residual_error"};
const char *const ex_sum_names[EX_SUMS] = {
    "sources", "question and template", "answer before", "special", "biases", "residual"};

/* Where in the report: for messages. */
struct place {
    const char *path;
    char text[64]; /* "targets[0].spans[3]" */
};

static int bad(const struct place *at, const char *key, const char *why) {
    cli_error("%s: %s%s%s %s", at->path, at->text, at->text[0] != '\0' && key[0] != '\0' ? "." : "", key,
              why);
    return CLI_FAIL;
}

static struct place inside(const struct place *at, const char *list, size_t i) {
    struct place p = {at->path, ""};
    struct cli_buf text = {0};

    cli_buf_printf(&text, "%s%s%s[%zu]", at->text, at->text[0] != '\0' ? "." : "", list, i);
    if (text.n < sizeof p.text) memcpy(p.text, cli_buf_string(&text), text.n + 1);
    cli_buf_free(&text);
    return p;
}

/* ---- values */

static int read_count(const struct place *at, const json_t *o, const char *key, uint64_t *out) {
    const json_t *v = json_object_get(o, key);

    if (!json_is_integer(v) || json_integer_value(v) < 0) return bad(at, key, "is no whole number");
    *out = (uint64_t)json_integer_value(v);
    return 0;
}

/* null is NaN where it may be null. */
static int read_number(const struct place *at, const json_t *o, const char *key, int may_be_null,
                       double *out) {
    const json_t *v = json_object_get(o, key);

    *out = NAN;
    if (may_be_null && json_is_null(v)) return 0;
    if (!json_is_number(v)) return bad(at, key, "is no number");
    *out = json_number_value(v);
    return 0;
}

static int read_name(const struct place *at, const json_t *o, const char *key, const char **out) {
    const json_t *v = json_object_get(o, key);

    if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
        return bad(at, key, "is no text");
    *out = json_string_value(v);
    return 0;
}

/* Under the key, or as base64 under KEY_b64. */
static int read_text(const struct place *at, const json_t *o, const char *key, const char *key64,
                     struct ex_text_of *out) {
    const json_t *v = json_object_get(o, key), *v64 = json_object_get(o, key64);

    if ((v == NULL) == (v64 == NULL) || !json_is_string(v != NULL ? v : v64))
        return bad(at, key, "is no text");
    out->is_base64 = v == NULL;
    if (v == NULL) v = v64;
    out->p = json_string_value(v);
    out->n = json_string_length(v);
    return 0;
}

static int read_range(const struct place *at, const json_t *o, uint64_t most, struct ex_span *s) {
    const json_t *v = json_object_get(o, "range"), *b = json_array_get(v, 0), *e = json_array_get(v, 1);

    if (json_array_size(v) != 2 || !json_is_integer(b) || !json_is_integer(e))
        return bad(at, "range", "is no range");
    if (json_integer_value(b) < 0 || json_integer_value(e) < json_integer_value(b) ||
        (uint64_t)json_integer_value(e) > most)
        return bad(at, "range", "does not lie in its source");
    s->begin = (uint64_t)json_integer_value(b);
    s->end = (uint64_t)json_integer_value(e);
    return 0;
}

/* A list, and room for what is in it: *n things of so many bytes. */
static int read_list(const struct place *at, const json_t *o, const char *key, size_t bytes, void *out,
                     size_t *n) {
    const json_t *v = json_object_get(o, key);
    void *p;

    if (!json_is_array(v)) return bad(at, key, "is no list");
    *n = json_array_size(v);
    p = cli_alloc((*n + 1) * bytes);
    memset(p, 0, (*n + 1) * bytes);
    memcpy(out, &p, sizeof p);
    return 0;
}

/* ---- parts */

static int read_source(const struct place *at, const json_t *o, struct ex_source_of *s) {
    static const char digits[] = "0123456789abcdef";
    int rc = read_count(at, o, "bytes", &s->bytes);

    if (rc == 0 && !json_is_null(json_object_get(o, "path")))
        rc = read_text(at, o, "path", "path_b64", &s->path);
    if (rc) return rc;
    if (json_is_null(json_object_get(o, "sha256")))
        return bad(at, "sha256", "is null: nobody can tell whether sources are the same");
    rc = read_name(at, o, "sha256", &s->sha256);
    if (rc == 0 && (strlen(s->sha256) != 64 || strspn(s->sha256, digits) != 64))
        rc = bad(at, "sha256", "is no SHA-256 in hex digits");
    return rc;
}

static int read_span(const struct place *at, const json_t *o, struct ex_report *r, struct ex_span *s) {
    const char *level = NULL;
    int rc = read_name(at, o, "level", &level);

    if (rc == 0) rc = read_count(at, o, "source", &s->source);
    if (rc) return rc;
    if (r->level == NULL) r->level = level;
    if (strcmp(r->level, level) != 0) return bad(at, "level", "is another one than before");
    if (s->source >= r->n_sources) return bad(at, "source", "is the number of none");
    rc = read_range(at, o, r->sources[s->source].bytes, s);
    if (rc == 0) rc = read_count(at, o, "line", &s->line);
    if (rc == 0) rc = read_count(at, o, "col", &s->column);
    if (rc == 0) rc = read_count(at, o, "rank", &s->rank);
    if (rc == 0) rc = read_number(at, o, "score", 0, &s->score);
    return rc ? rc : read_text(at, o, "text", "text_b64", &s->text);
}

static int in_text(const void *a, const void *b) {
    const struct ex_span *x = a, *y = b;

    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int read_spans(const struct place *at, const json_t *o, struct ex_report *r, struct ex_target *t) {
    const json_t *list = json_object_get(o, "spans");
    int rc = read_list(at, o, "spans", sizeof *t->spans, &t->spans, &t->n);

    for (size_t i = 0; i < t->n && rc == 0; i++) {
        struct place span = inside(at, "spans", i);

        rc = read_span(&span, json_array_get(list, i), r, &t->spans[i]);
    }
    if (rc) return rc;
    if (t->n > 1) qsort(t->spans, t->n, sizeof *t->spans, in_text);
    for (size_t i = 1; i < t->n; i++)
        if (in_text(&t->spans[i - 1], &t->spans[i]) == 0) return bad(at, "spans", "holds a span twice");
    return 0;
}

static int read_target(const struct place *at, const json_t *o, struct ex_report *r, struct ex_target *t) {
    const json_t *sum = json_object_get(o, "sum");
    int rc = read_text(at, o, "text", "text_b64", &t->text);

    if (rc == 0) rc = read_name(at, json_object_get(o, "method"), "name", &t->method);
    if (rc == 0) rc = read_name(at, o, "quantity", &t->quantity);
    if (rc == 0) rc = read_number(at, o, "value", 1, &t->value);
    if (rc == 0) rc = read_number(at, o, "logprob", 1, &t->logprob);
    for (int i = 0; i < EX_SUMS && rc == 0; i++) rc = read_number(at, sum, ex_sum_keys[i], 1, &t->sums[i]);
    return rc ? rc : read_spans(at, o, r, t);
}

/* ---- a report */

static int read_parts(const struct place *top, struct ex_report *r) {
    const json_t *o = r->json, *sources = json_object_get(o, "sources"),
                 *targets = json_object_get(o, "targets");
    int rc = read_text(top, json_object_get(o, "output"), "text", "text_b64", &r->output);

    if (rc == 0) rc = read_list(top, o, "sources", sizeof *r->sources, &r->sources, &r->n_sources);
    for (size_t i = 0; i < r->n_sources && rc == 0; i++) {
        struct place at = inside(top, "sources", i);

        rc = read_source(&at, json_array_get(sources, i), &r->sources[i]);
    }
    if (rc == 0) rc = read_list(top, o, "targets", sizeof *r->targets, &r->targets, &r->n_targets);
    for (size_t i = 0; i < r->n_targets && rc == 0; i++) {
        struct place at = inside(top, "targets", i);

        rc = read_target(&at, json_array_get(targets, i), r, &r->targets[i]);
    }
    return rc == 0 && r->n_targets == 0 ? bad(top, "targets", "is empty: nothing is explained") : rc;
}

int ex_report_read(const char *path, struct ex_report *r) {
    struct place top = {ex_input_name(path), ""};
    struct cli_buf text = {0};
    json_error_t why;
    const json_t *schema;
    int rc;

    memset(r, 0, sizeof *r);
    r->path = top.path;
    rc = cli_read_whole(path, 0, DSTOK_MAX_INPUT, &text);
    if (rc) return rc;
    r->json = text.n > 0 ? json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why) : NULL;
    if (text.n == 0)
        cli_error("%s: the file is empty", top.path);
    else if (r->json == NULL)
        cli_error("%s:%d: column %d: %s", top.path, why.line, why.column, why.text);
    cli_buf_free(&text);
    if (r->json == NULL) return CLI_FAIL;
    schema = json_object_get(r->json, "schema");
    if (!json_is_string(schema) || strcmp(json_string_value(schema), "dsexplain/1") != 0)
        return bad(&top, "", "is no report of dsexplain run --format json (schema dsexplain/1)");
    if (json_object_get(r->json, "record") != NULL)
        return bad(&top, "", "is a line of a report: diff reads those of --format json");
    return read_parts(&top, r);
}

void ex_report_free(struct ex_report *r) {
    for (size_t i = 0; r->targets != NULL && i < r->n_targets; i++) free(r->targets[i].spans);
    free(r->targets);
    free(r->sources);
    json_decref(r->json);
}
