/* SPDX-License-Identifier: MIT */
/* dsexplain selftest: explanations of models whose weights are set by hand, so that what an answer rests on
 * is known. Methods that must fail somewhere are seen to fail, so that none can stand in for another. */
#include "selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NOT_AS_STATED = 4 };

/* ---- results */

void st_share(struct test *t, const char *what, double value, double least, double most, int pointed,
              int should_point) {
    int ok = value >= least && value <= most && (should_point < 0 || pointed == should_point);
    static const char *const words[] = {NULL, "  points", "  misses", ""};

    if (t->config->json) {
        cli_buf_printf(t->out, "%s{\"test\":\"%s\",\"backend\":\"%s\",\"what\":", t->n_results > 0 ? "," : "",
                       t->name, t->backend_name);
        cli_json_text(t->out, what);
        cli_buf_text(t->out, ",\"value\":");
        ex_json_real(t->out, value);
        cli_buf_printf(t->out, ",\"least\":%.9g,\"most\":%.9g", least, most);
        if (should_point >= 0)
            cli_buf_printf(t->out, ",\"points\":%s,\"should_point\":%s", pointed ? "true" : "false",
                           should_point ? "true" : "false");
        cli_buf_printf(t->out, ",\"as_stated\":%s}", ok ? "true" : "false");
    } else {
        cli_buf_printf(t->out, "  %-8s %-34s %12.6g%s", t->backend_name, what, value,
                       should_point < 0 ? "" : words[2 - pointed]);
        if (!ok)
            cli_buf_printf(t->out, "   NOT AS STATED: %.6g to %.6g%s", least, most, words[2 - should_point]);
        cli_buf_char(t->out, '\n');
    }
    t->n_results++;
    t->n_wrong += !ok;
}

void st_number(struct test *t, const char *what, double value, double least, double most) {
    st_share(t, what, value, least, most, 0, -1);
}

/* ---- a model, a prompt, an explanation */

void st_failed(struct test *t, dstok_status status, const dstok_error *err) {
    if (status == DSTOK_OK) return;
    t->rc = ex_failed(t->name, status, err);
}

void st_open(struct test *t) {
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;

    o.backend = t->backend;
    o.n_threads = (size_t)t->config->threads;
    o.simd = t->config->simd;
    if (t->rc == 0) t->rc = net_open(&t->net, &o, &t->model, &t->tok);
    net_free(&t->net);
}

/* "^", the source, the question, the answer. */
void st_ask_bytes(struct test *t, const char *source, size_t n, const char *question, const char *answer) {
    dsx_prompt_options o = DSX_PROMPT_OPTIONS_INIT;
    dsx_source one = {"source", source, n};
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    size_t at = 0;

    dsx_prompt_free(t->prompt);
    t->prompt = NULL;
    if (t->rc) return;
    o.sources = &one;
    o.n_sources = 1;
    o.question = question;
    o.template_text = "^{sources}{question}";
    o.chat = DSX_CHAT_OFF;
    st_failed(t, dsx_prompt_new(t->model, t->tok, &o, &t->prompt, &err), &err);
    if (t->rc == 0) st_failed(t, dsx_prompt_answer(t->prompt, answer, strlen(answer), &err), &err);
    if (t->rc) return;
    t->view = (dsx_prompt_view)DSX_PROMPT_VIEW_INIT;
    st_failed(t, dsx_prompt_describe(t->prompt, &t->view), &err);
    for (size_t i = 0; i < t->view.n_segments; at += t->view.segments[i++].len)
        if (t->view.segments[i].role == DSTOK_ROLE_SOURCE)
            t->source = (dstok_span){at, at + t->view.segments[i].len};
}

void st_ask(struct test *t, const char *source, const char *question, const char *answer) {
    st_ask_bytes(t, source, strlen(source), question, answer);
}

void st_close(struct test *t) {
    dsx_prompt_free(t->prompt);
    dsx_model_free(t->model);
    dstok_tokenizer_free(t->tok);
    t->prompt = NULL;
    t->model = NULL;
    t->tok = NULL;
}

const dsx_explanation *st_explain(struct test *t, dsx_explain_options *o) {
    const dsx_explanation *x = NULL;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};

    if (t->rc == 0) st_failed(t, dsx_explain(t->prompt, o, &x, &err), &err);
    return x;
}

dsx_explain_options st_by(int method) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;

    o.method = method;
    return o;
}

/* Sentences, not tokens, have the scores. */
static int is_of_units(int method) {
    return method == DSX_METHOD_ABLATE || method == DSX_METHOD_LOO || method == DSX_METHOD_REFINE;
}

/* Whether a token of the source is one of those that the answer rests on: a byte of gold; or the line that
 * holds one, with the end of the line before, as sentences have it. */
int st_is_gold(const struct test *t, size_t token, const char *gold, int whole_line) {
    const char *text = t->view.text;
    size_t at = t->view.spans[token].begin, begin = t->source.begin, end = t->source.end;

    if (at < begin || at >= end) return 0;
    if (!whole_line) return text[at] != '\0' && strchr(gold, text[at]) != NULL;
    if (text[at] == '\n' && at + 1 < end) at++;
    while (at > begin && text[at - 1] != '\n') at--;
    while (at < end && text[at] != '\n' && strchr(gold, text[at]) == NULL) at++;
    return at < end && text[at] != '\n';
}

/* Share of the positive scores on gold, of all tokens but the last row; *pointed: whether the greatest is
 * gold. */
double st_mass(const struct test *t, const dsx_explanation *x, const char *gold, int *pointed) {
    double sum = 0, on_gold = 0, best = 0;

    *pointed = 0;
    for (size_t i = 0; i + 1 < x->from; i++) {
        int is = st_is_gold(t, i, gold, is_of_units(x->method));

        if (x->scores[i] <= 0) continue;
        sum += x->scores[i];
        on_gold += is ? x->scores[i] : 0;
        if (x->scores[i] > best) {
            best = x->scores[i];
            *pointed = is;
        }
    }
    return sum > 0 ? on_gold / sum : 0;
}

const char *const st_methods[] = {"rows", "flow", "ablate", "loo", "at2", "attention", "refine"};

void st_check_sum(struct test *t, const dsx_explanation *x) {
    double error = fabs(x->sums.residual) / (1 + fabs(x->value));
    char what[64];

    if (x->method != DSX_METHOD_ROWS && x->method != DSX_METHOD_FLOW) return;
    snprintf(what, sizeof what, "%s: error of the sum", st_methods[x->method]);
    st_number(t, what, error, 0, t->is_double ? 1e-12 : 1e-5);
}

static void check_method(struct test *t, const char *gold, const struct said *s) {
    dsx_explain_options o = st_by(s->method);
    const dsx_explanation *x;
    char what[64];
    double share;
    int pointed;

    o.removal = s->removal;
    x = st_explain(t, &o);
    if (x == NULL) return;
    share = st_mass(t, x, gold, &pointed);
    snprintf(what, sizeof what, "%s%s: share on gold", st_methods[s->method],
             s->removal == DSX_REMOVE_GAP ? ", gap" : "");
    st_share(t, what, share, s->least, s->most, pointed, s->points);
    st_check_sum(t, x);
    dsx_explanation_free(x);
}

void st_check_methods(struct test *t, const char *gold, const struct said *s, size_t n) {
    for (size_t i = 0; i < n; i++) check_method(t, gold, &s[i]);
}

static void run_case(struct test *t, size_t i) {
    static const char *const names[] = {"cpu", "float64"};

    t->name = st_cases[i].name;
    if (!t->config->json) cli_buf_printf(t->out, "%s  %s\n", t->name, st_cases[i].what);
    for (int k = 0; k < 2 && st_cases[i].run != NULL && t->rc == 0; k++) {
        if (cli_args_has(&t->config->args, "backend") && k != t->config->backend) continue;
        t->backend = k == 0 ? dsx_backend_cpu() : dsx_backend_float64();
        t->backend_name = names[k];
        t->is_double = k;
        st_cases[i].run(t);
        st_close(t);
    }
    if (st_cases[i].run == NULL && !t->config->json)
        cli_buf_text(t->out, "  skipped: this build has no CUDA backend\n");
}

int ex_selftest(const struct ex_config *c) {
    struct cli_buf out = {0};
    struct test t = {.config = c, .out = &out};

    if (c->json) cli_buf_text(&out, "{\"results\":[");
    for (size_t i = 0; i < st_n_cases && t.rc == 0; i++) run_case(&t, i);
    if (c->json)
        cli_buf_printf(&out, "],\"skipped\":[\"T13\"],\"as_stated\":%zu,\"not_as_stated\":%zu}\n",
                       t.n_results - t.n_wrong, t.n_wrong);
    else
        cli_buf_printf(&out, "%zu results, %zu not as stated\n", t.n_results, t.n_wrong);
    if (t.rc == 0) t.rc = cli_out_buf(&out);
    cli_buf_free(&out);
    return t.rc ? t.rc : t.n_wrong > 0 ? EXIT_NOT_AS_STATED : 0;
}
