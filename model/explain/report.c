/* SPDX-License-Identifier: MIT */
/* Reports: bytes out, rows, and the choice of a writer. */
#include "explain/report.h"

#include "base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes out */

static void flush(dsx__report *r) {
    if (!r->has_failed && r->n_buffer > 0) r->has_failed = r->sink(r->context, r->buffer, r->n_buffer) != 0;
    r->n_buffer = 0;
}

void dsx__put(dsx__report *r, const void *bytes, size_t n) {
    const char *p = bytes;

    r->n_bytes += n;
    while (n > 0) {
        size_t some = sizeof r->buffer - r->n_buffer;

        if (some > n) some = n;
        memcpy(r->buffer + r->n_buffer, p, some);
        r->n_buffer += some;
        p += some;
        n -= some;
        if (r->n_buffer == sizeof r->buffer) flush(r);
    }
}

void dsx__put_text(dsx__report *r, const char *text) {
    dsx__put(r, text, strlen(text));
}

void dsx__put_format(dsx__report *r, const char *format, ...) {
    char text[512];
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n > 0) dsx__put(r, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void dsx__put_base64(dsx__report *r, const void *bytes, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i += 3) {
        uint32_t three =
            (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63], digits[three >> 6 & 63],
                        digits[three & 63]};

        if (i + 1 >= n) four[2] = '=';
        if (i + 2 >= n) four[3] = '=';
        dsx__put(r, four, 4);
    }
}

size_t dsx__character(const unsigned char *p, size_t n, bool *ok, uint32_t *code) {
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;

    *ok = len <= n && dstok_utf8_check(p, len) == len;
    *code = p[0];
    if (!*ok) return 1;
    if (len > 1) *code &= 0x7Fu >> len;
    for (size_t i = 1; i < len; i++) *code = *code << 6 | (p[i] & 0x3Fu);
    return len;
}

/* What is not seen, or turns the text around it: controls, direction and format characters. */
bool dsx__is_hidden(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x61C || (c >= 0x200B && c <= 0x200C) ||
           (c >= 0x200E && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
           c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

/* ---- rows */

dstok_status dsx__report_rows(const dsx__report *r, const dsx_explanation *x, int level, dsx_row **rows,
                              size_t *n, dstok_error *err) {
    dstok_status status = dsx_explain_rows(r->prompt, x, level, NULL, 0, n, err);
    size_t cap = *n;

    *rows = NULL;
    if (status != DSTOK_OK && status != DSTOK_E_SPACE) return status;
    *rows = malloc((cap + 1) * sizeof **rows);
    if (*rows == NULL) return dsx__no_memory(err);
    status = dsx_explain_rows(r->prompt, x, level, *rows, cap, n, err);
    if (status == DSTOK_OK) return status;
    free(*rows);
    *rows = NULL;
    return status;
}

static int by_rank(const void *a, const void *b) {
    const dsx_row *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

size_t dsx__report_choose(const dsx__report *r, dsx_row *rows, size_t n, size_t top, bool best_first) {
    size_t most = r->o->top > 0 ? r->o->top : top > 0 ? top : n, k = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].rank <= most && rows[i].score >= r->o->min_score) rows[k++] = rows[i];
    if (best_first && k > 1) qsort(rows, k, sizeof *rows, by_rank);
    return k;
}

const char *dsx__report_text(const dsx__report *r, const dsx_row *row, size_t *n) {
    *n = (size_t)(row->core.end - row->core.begin);
    return (const char *)r->prompt->sources[row->source].text + row->core.begin;
}

/* ---- names */

const char *dsx__method_name(int method) {
    static const char *const names[DSX_N_METHODS] = {"rows", "flow", "ablate", "loo", "at2", "attention", "refine"};

    return method >= 0 && method < DSX_N_METHODS ? names[method] : "";
}

const char *dsx__removal_name(int removal) {
    return removal == DSX_REMOVE_DELETE ? "delete" : removal == DSX_REMOVE_GAP ? "gap" : "swap";
}

const char *dsx__level_name(int level) {
    static const char *const names[] = {"token", "word", "sentence", "paragraph", "source"};

    return level >= 0 && level <= DSTOK_TRACE_SOURCE ? names[level] : "";
}

const char *dsx__quantity(const dsx_explanation *x) {
    if (x->method == DSX_METHOD_ATTENTION || x->method == DSX_METHOD_AT2) return "attention";
    if (x->foil != NULL) return "logit_difference";
    if (x->method == DSX_METHOD_LOO || x->method == DSX_METHOD_REFINE) return "logprob";
    return x->method == DSX_METHOD_ABLATE ? "answer_log_odds" : "token_log_odds";
}

const char *dsx__quantity_words(const dsx_explanation *x) {
    static const char *const words[][2] = {{"token_log_odds", "log-odds of its tokens, summed"},
                                           {"answer_log_odds", "log-odds of the whole answer"},
                                           {"logprob", "log-probability"},
                                           {"logit_difference", "logit of the answer less that of the foil"}};
    const char *name = dsx__quantity(x);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], name) == 0) return words[i][1];
    return name;
}

/* ---- */

static dstok_status write(dsx__report *r, dstok_error *err) {
    static dstok_status (*const writers[DSX_N_REPORTS])(dsx__report *, dstok_error *) = {
        dsx__write_ansi, dsx__write_html,     dsx__write_json, dsx__write_jsonl,
        dsx__write_grep, dsx__write_markdown, dsx__write_csv};

    return writers[r->o->format](r, err);
}

static bool are_valid(const dsx_report_options *o) {
    return o->struct_size == sizeof *o && o->format >= 0 && o->format < DSX_N_REPORTS &&
           o->level >= DSTOK_TRACE_TOKEN && o->level <= DSTOK_TRACE_SOURCE && o->part >= DSX_PART_ALL &&
           o->part <= DSX_PART_END && o->colours >= 0;
}

dstok_status dsx_report_write(const dsx_prompt *prompt, const dsx_explanation *const *explanations, size_t n,
                              const dsx_report_options *options, dsx_report_sink *sink, void *context,
                              dstok_error *err) {
    dsx_report_options defaults = DSX_REPORT_OPTIONS_INIT;
    dsx__report *r;
    dstok_status status;

    if (options == NULL) options = &defaults;
    if (prompt == NULL || (explanations == NULL && n > 0) || sink == NULL || !are_valid(options))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_report_write: an argument is out of its domain");
    r = calloc(1, sizeof *r);
    if (r == NULL) return dsx__no_memory(err);
    r->prompt = prompt;
    r->targets = explanations;
    r->n_targets = n;
    r->o = options;
    r->view = (dsx_prompt_view)DSX_PROMPT_VIEW_INIT;
    r->model = (dsx_model_info)DSX_MODEL_INFO_INIT;
    r->sink = sink;
    r->context = context;
    (void)dsx_prompt_describe(prompt, &r->view);
    (void)dsx_model_describe(prompt->model, &r->model);
    status = write(r, err);
    flush(r);
    if (status == DSTOK_OK && r->has_failed)
        status = dsx__fail(err, DSTOK_E_IO, DSTOK_NO_OFFSET, "the report could not be written");
    free(r);
    return status;
}
