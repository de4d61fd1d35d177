/* SPDX-License-Identifier: MIT */
/* dsexplain run --items: many questions, each with its sources and its answer, one report a line. */
#include "run.h"

#include "../cli/source.h"

#include <jansson.h>

#include <stdlib.h>
#include <string.h>

struct item {
    struct cli_buf name; /* "items.jsonl:3: " */
    json_t *json;
    dsx_source *sources;
    struct ex_question q;
    struct cli_buf template_text;
};

static int bad(const struct item *it, const char *key, const char *why) {
    cli_error("%s\"%s\" %s", it->name.p, key, why);
    return CLI_FAIL;
}

/* A text of the item; NULL where it is null or not there. */
static int text_of(const struct item *it, const char *key, const char **text, size_t *n) {
    json_t *value = json_object_get(it->json, key);

    *text = NULL;
    if (value == NULL || json_is_null(value)) return 0;
    if (!json_is_string(value)) return bad(it, key, "is no text");
    *text = json_string_value(value);
    if (n != NULL)
        *n = json_string_length(value);
    else if (strlen(*text) != json_string_length(value))
        return bad(it, key, "holds a NUL");
    return 0;
}

static int take_source(struct item *it, json_t *value, size_t i, const char *id) {
    json_t *text = json_is_object(value) ? json_object_get(value, "text") : value;
    json_t *name = json_is_object(value) ? json_object_get(value, "path") : NULL;

    if (name == NULL && json_is_object(value)) name = json_object_get(value, "name");
    if (!json_is_string(text)) return bad(it, "sources", "are texts, or objects with \"path\" and \"text\"");
    if (strspn(json_string_value(text), " \t\r\n") == json_string_length(text))
        return bad(it, id != NULL ? "context" : "sources",
                   "is empty: there is nothing to explain an answer by");
    it->sources[i] = (dsx_source){json_is_string(name) ? json_string_value(name) : id,
                                  json_string_value(text), json_string_length(text)};
    return 0;
}

static int take_sources(struct item *it) {
    json_t *list = json_object_get(it->json, "sources"), *context = json_object_get(it->json, "context");
    json_t *id = json_object_get(it->json, "id");
    size_t n = json_is_array(list) ? json_array_size(list) : 1;
    int rc = 0;

    if ((list == NULL) == (context == NULL))
        return bad(it, "context", "or \"sources\" is needed, one of them");
    if (list != NULL && (!json_is_array(list) || n == 0)) return bad(it, "sources", "is no list of texts");
    it->sources = cli_alloc(n * sizeof *it->sources);
    if (context != NULL)
        rc = take_source(it, context, 0, json_is_string(id) ? json_string_value(id) : "context");
    for (size_t i = 0; list != NULL && i < n && rc == 0; i++)
        rc = take_source(it, json_array_get(list, i), i, NULL);
    it->q.sources = it->sources;
    it->q.n_sources = n;
    return rc;
}

static int take_template(const struct ex_config *c, struct item *it) {
    const char *text = NULL, *why;
    int rc = text_of(it, "prompt", &text, NULL);

    if (rc) return rc;
    if (text == NULL) text = c->prompt;
    if (text == NULL) return 0;
    why = cli_unescape(&it->template_text, text);
    it->q.template_text = cli_buf_string(&it->template_text);
    return why == NULL ? 0 : bad(it, "prompt", why);
}

static int read_item(const struct ex_config *c, const char *line, size_t n, struct item *it) {
    json_error_t why;
    int rc;

    it->json = json_loadb(line, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (it->json == NULL) {
        cli_error("%scolumn %d: %s", it->name.p, why.column, why.text);
        return CLI_FAIL;
    }
    if (!json_is_object(it->json)) {
        cli_error("%sthe line is no JSON object", it->name.p);
        return CLI_FAIL;
    }
    it->q.name = it->name.p;
    rc = take_sources(it);
    if (rc == 0) rc = text_of(it, "question", &it->q.question, NULL);
    if (rc == 0) rc = text_of(it, "prefix", &it->q.prefix, NULL);
    if (rc == 0 && c->use_foil) rc = text_of(it, "foil", &it->q.foil, NULL);
    if (rc == 0) rc = text_of(it, "answer", &it->q.answer, &it->q.n_answer);
    if (rc == 0 && it->q.answer != NULL && it->q.n_answer == 0) rc = bad(it, "answer", "is empty");
    return rc ? rc : take_template(c, it);
}

static void free_item(struct item *it) {
    json_decref(it->json);
    free(it->sources);
    cli_buf_free(&it->name);
    cli_buf_free(&it->template_text);
}

static int put_report(struct ex_run *r, const struct item *it, const dsx_prompt *p, const dsx_explanation *x,
                      struct cli_buf *out) {
    dsx_report_options o = ex_run_report_options(r);
    char *id = json_dumps(json_object_get(it->json, "id"), JSON_ENCODE_ANY | JSON_COMPACT);
    int rc;

    o.format = DSX_REPORT_JSON;
    cli_buf_printf(out, "{\"id\":%s,\"report\":", id != NULL ? id : "null");
    free(id);
    rc = ex_run_report(r, p, &x, 1, &o, out);
    if (out->n > 0 && out->p[out->n - 1] == '\n') out->n--;
    cli_buf_text(out, "}\n");
    return rc;
}

static int run_item(struct ex_run *r, const char *line, size_t n, struct item *it, struct cli_buf *out) {
    dsx_prompt *p = NULL;
    const dsx_explanation *x = NULL;
    int rc = read_item(r->m.config, line, n, it);

    if (rc == 0) rc = ex_run_prompt(r, &it->q, &p);
    if (rc == 0) rc = r->at2 != NULL ? ex_fit_item(r, &it->q, p) : ex_run_explain(r, &it->q, p, 0, 0, &x);
    if (rc == 0 && r->at2 == NULL) rc = put_report(r, it, p, x, out);
    dsx_explanation_free(x);
    dsx_prompt_free(p);
    return rc;
}

static size_t count_lines(const struct cli_buf *b) {
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) n += b->p[i] == '\n';
    return n + (b->n > 0 && b->p[b->n - 1] != '\n');
}

struct lines {
    const char *name;
    size_t number, all, done, skipped;
};

/* One line of the file; its report goes out at once, or with the file. */
static int one_line(struct ex_run *r, struct lines *l, const char *line, size_t n, struct cli_buf *out) {
    const struct ex_config *c = r->m.config;
    struct item it = {0};
    size_t before = out->n;
    int rc;

    cli_buf_printf(&it.name, "%s:%zu: ", l->name, l->number);
    (void)cli_buf_string(&it.name);
    rc = ex_is_interrupted() ? CLI_STOPPED : run_item(r, line, n, &it, out);
    free_item(&it);
    l->done += rc == 0;
    if (rc == 0 && c->output == NULL) {
        rc = cli_out_buf(out);
        if (rc == 0) rc = cli_out_flush();
        out->n = 0;
        return rc;
    }
    if (rc) out->n = before;
    if (rc != CLI_FAIL || !c->on_error) return rc;
    l->skipped++;
    return 0;
}

static int all_lines(struct ex_run *r, struct lines *l, const struct cli_buf *text, struct cli_buf *out) {
    const char *p = text->p, *end = p + text->n;
    int rc = 0;

    for (l->number = 1; p < end && rc == 0; l->number++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t n = newline != NULL ? (size_t)(newline - p) : (size_t)(end - p), blank = 0;

        while (blank < n && strchr(" \t\r", p[blank]) != NULL && p[blank] != '\0') blank++;
        if (blank < n) rc = one_line(r, l, p, n, out);
        p += n + (newline != NULL);
    }
    return rc;
}

int ex_run_items(struct ex_run *r) {
    const struct ex_config *c = r->m.config;
    struct cli_buf text = {0}, out = {0};
    struct lines l = {.name = strcmp(c->items, "-") == 0 ? "standard input" : c->items};
    int rc = cli_read_whole(c->items, 0, DSTOK_MAX_INPUT, &text);

    l.all = count_lines(&text);
    if (rc == 0) rc = all_lines(r, &l, &text, &out);
    if (rc == CLI_STOPPED && r->at2 == NULL) {
        cli_buf_printf(&out, "{\"partial\":true,\"items\":%zu,\"lines\":%zu}\n", l.done, l.all);
        if (c->output == NULL) (void)cli_out_buf(&out);
    }
    if (c->output != NULL && r->at2 == NULL && (rc == 0 || rc == CLI_STOPPED)) {
        int written = cli_write_file(c->output, cli_buf_string(&out), out.n);

        rc = rc == 0 ? written : rc;
    }
    if (rc == 0 && l.skipped > 0) {
        cli_note("%zu items are done, %zu were passed over", l.done, l.skipped);
        rc = CLI_SKIPPED;
    }
    cli_buf_free(&text);
    cli_buf_free(&out);
    return rc;
}
