/* SPDX-License-Identifier: MIT */
/* Reports as one page of HTML: no script, nothing from elsewhere (its own policy forbids both), at most a megabyte. */
#include "explain/html.h"

#include "base.h"

#include <dstok/version.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAGE 1000000u

/* ---- the head */

static const char *question_of(const dsx__report *r, size_t *n) {
    size_t at = 0;

    *n = 0;
    for (size_t i = 0; i < r->view.n_segments; at += r->view.segments[i++].len)
        if (r->view.segments[i].role == DSTOK_ROLE_QUESTION) {
            *n = r->view.segments[i].len;
            return r->view.text + at;
        }
    return NULL;
}

static const char *answer_of(const dsx__report *r, size_t *n) {
    *n = r->view.len - r->view.response;
    return r->view.text + r->view.response;
}

static void put_head(dsx__report *r) {
    size_t n, n_answer;
    const char *question = question_of(r, &n), *answer = answer_of(r, &n_answer);

    dsx__put_text(
        r,
        "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'\">\n"
        "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>");
    if (n > 0) {
        dsx__html_line(r, question, n, 100);
        dsx__put_text(r, " \xE2\x80\x94 ");
    }
    dsx__html_line(r, answer, n_answer, 100);
    dsx__put_text(r, "</title>\n");
    dsx__html_style(r);
    dsx__put_text(r, "</head>\n<body>\n<main>\n<h1 lang=\"\" dir=auto>");
    if (n > 0)
        dsx__html_line(r, question, n, 2000);
    else
        dsx__put_text(r, "What the answer rests on");
    dsx__put_text(r, "</h1>\n");
    if (r->o->is_partial)
        dsx__put_text(r, "<p class=warn>This report is partial: not all that was asked for is here.</p>\n");
}

/* The answer, with the stretch that is explained; begin = end: none. */
static void put_answer(dsx__report *r, size_t begin, size_t end) {
    size_t n;
    const char *text = answer_of(r, &n);

    while (begin > 0 && begin < n && ((unsigned char)text[begin] & 0xC0) == 0x80) begin--;
    while (end > 0 && end < n && ((unsigned char)text[end] & 0xC0) == 0x80) end++;
    dsx__put_text(r, "<div class=answer dir=auto lang=\"\">");
    dsx__html_text(r, text, n, 0, begin);
    if (begin < end) {
        dsx__put_text(r, "<b>");
        dsx__html_text(r, text, n, begin, end);
        dsx__put_text(r, "</b>");
    }
    dsx__html_text(r, text, n, end, n);
    dsx__put_text(r, "</div>\n");
}

/* ---- a target */

static void put_part(dsx__report *r, const char *name, double x) {
    dsx__put_format(r, "<tr><td>%s<td class=r>", name);
    dsx__html_number(r, fabs(x) > 0 && fabs(x) < 0.001 ? "%.1e" : "%.3f", x);
    dsx__put(r, "\n", 1);
}

static void put_sums(dsx__report *r, const dsx_explanation *x) {
    const dsx_sums *s = &x->sums;

    dsx__put_format(
        r,
        "<h3>How it adds up</h3>\n<div class=wide><table><caption>%s, by method "
        "<em>%s</em></caption>\n<thead><tr><th scope=col>part<th scope=col class=r>score<tbody>\n",
        dsx__quantity_words(x), dsx__method_name(x->method));
    put_part(r, "the sources", s->sources);
    put_part(r, "question and template", s->template_text);
    put_part(r, "the answer\xE2\x80\x99s own words before", s->response);
    put_part(r, "special tokens", s->special);
    put_part(r, "biases of the model", s->bias);
    put_part(r, "error of arithmetic, or what a fit leaves", s->residual);
    dsx__put_text(r, "<tr class=sum><td>value that is explained<td class=r>");
    dsx__html_number(r, "%.3f", x->value);
    dsx__put_text(r, "\n</table></div>\n<p class=soft>Log-probability of the answer ");
    dsx__html_number(r, "%.4f", x->logprob);
    dsx__put_text(r, ".");
    if (x->n_hops > 0)
        dsx__put_format(r, " Attention on the first token: %.0f\xC2\xA0%%.", 100 * x->first_mass);
    for (uint32_t i = 0; i < x->n_hops; i++)
        dsx__put_format(r,
                        i == 0 ? " Of the score on the answer\xE2\x80\x99s own words: %.0f\xC2\xA0%%"
                               : ", behind one more hop %.0f\xC2\xA0%%",
                        100 * x->hop_mass[i]);
    dsx__put_text(r, x->n_hops > 0 ? ".</p>\n" : "</p>\n");
}

static void put_trust(dsx__report *r, const dsx_explanation *x) {
    const dsx_trust *t = &x->trust;

    if (t->n_masks == 0) {
        dsx__put_text(
            r, "<p class=soft>The scores were not checked: <code>--verify 32</code> takes sentences out and "
               "says how well the scores foretold what the model then did.</p>\n");
        return;
    }
    dsx__put_format(
        r, "<h3>How far to trust it</h3>\n<p>Checked with %lu random removals (%s): rank correlation <b>",
        (unsigned long)t->n_masks, dsx__removal_name(x->removal));
    dsx__html_number(r, "%.2f", t->lds);
    dsx__put_text(
        r, "</b> between what the scores foretold and what the model did (LDS; 1: the same order, 0: no "
           "relation). Without the best sentence the log-probability changes by ");
    for (int i = 0; i < 3; i++) {
        if (i > 0) dsx__put_format(r, i == 1 ? ", without the best 3 by " : ", without the best 5 by ");
        dsx__html_number(r, "%.2f", -t->drop[i]);
    }
    dsx__put_text(r, "; without any source it is ");
    dsx__html_number(r, "%.2f", t->prior);
    if (isfinite(t->comprehensiveness)) /* else they are shares of nothing */
        dsx__put_format(r, ". Comprehensiveness %.2f, sufficiency %.2f", t->comprehensiveness,
                        t->sufficiency);
    dsx__put_text(r, ".</p>\n");
}

static void put_warnings(dsx__report *r, const dsx_explanation *x) {
    if (x->n_warnings == 0) return;
    dsx__put_text(r, "<ul class=warn aria-label=Warnings>\n");
    for (size_t i = 0; i < x->n_warnings; i++) {
        dsx__put_text(r, "<li>Warning: ");
        dsx__html_line(r, x->warnings[i].text, strlen(x->warnings[i].text), 0);
        dsx__put_text(r, " <span class=soft>(");
        dsx__html_line(r, x->warnings[i].code, strlen(x->warnings[i].code), 0);
        dsx__put_text(r, ")</span>\n");
    }
    dsx__put_text(r, "</ul>\n");
}

static void put_row(const dsx__html *h, const dsx_row *row) {
    dsx__report *r = h->r;
    const char *name = r->prompt->sources[row->source].name;
    size_t n;
    const char *text = dsx__report_text(r, row, &n);

    dsx__put_format(r, "<tr><td class=r>%zu<td class=at><a href=#t%zur%zu><bdi>", row->rank, h->target,
                    row->rank);
    dsx__html_line(r, name, strlen(name), 120);
    dsx__put_format(r, "</bdi>:%llu:%llu</a><td class=r>", (unsigned long long)row->line,
                    (unsigned long long)row->column);
    dsx__html_number(r, "%.3f", row->score);
    dsx__put_format(r, "<td class=r>%.1f\xC2\xA0%%", 100 * row->share);
    if (h->x->routing != NULL)
        dsx__put_format(r, "<td class=r>%.1f\xC2\xA0%%",
                        h->of->looks > 0 ? 100 * row->routing / h->of->looks : 0);
    dsx__put_text(r, "<td class=what lang=\"\" dir=auto>");
    dsx__html_line(r, text, n, 200);
    dsx__put(r, "\n", 1);
}

static void put_table(const dsx__html *h) {
    dsx__report *r = h->r;
    size_t n = 0;

    while (n < h->of->n_best && dsx__html_is_best(h, &h->of->best[n])) n++;
    dsx__put_text(r, "<h3>Where it comes from</h3>\n");
    if (n == 0) {
        dsx__put_text(r, "<p>No part of the sources is listed.</p>\n");
        return;
    }
    dsx__put_format(r,
                    "<div class=wide tabindex=0 role=region aria-label=\"best parts\"><table "
                    "class=best><caption>Best by %s",
                    dsx__level_name(r->o->level));
    if (n < h->of->n_best) dsx__put_format(r, "; %zu more are not on this page", h->of->n_best - n);
    dsx__put_format(
        r,
        "</caption>\n<thead><tr><th scope=col class=r>rank<th scope=col>place<th scope=col class=r>score"
        "<th scope=col class=r>share%s<th scope=col>text<tbody>\n",
        h->x->routing != NULL ? "<th scope=col class=r>routing" : "");
    for (size_t i = 0; i < n && !r->has_failed; i++) put_row(h, &h->of->best[i]);
    dsx__put_text(r, "</table></div>\n");
}

static void put_legend(const dsx__html *h) {
    dsx__report *r = h->r;
    const char *format = h->of->n_tokens > 0 ? "%.2f" : "%.3g";

    dsx__put_text(r, "<div class=legend><span>against the answer ");
    dsx__html_number(r, format, -h->of->full);
    dsx__put_text(r, "</span><span aria-hidden=true>");
    for (int k = -DSX__SHADES; k <= DSX__SHADES; k++)
        dsx__put_format(r, k == 0 ? "</span>0<span aria-hidden=true>" : "<i class=%c%d></i>",
                        k < 0 ? 'n' : 'p', abs(k));
    dsx__put_text(r, "</span><span>");
    dsx__html_number(r, format, h->of->full);
    dsx__put_text(r, " for it</span></div>\n<p class=soft>");
    if (h->of->n_tokens > 1)
        dsx__put_format(r,
                        "Nats; the scale ends at ln 10 = 2.30, ten times as likely, for each of the "
                        "%zu tokens that are explained.",
                        h->of->n_tokens);
    else
        dsx__put_text(r, h->of->n_tokens > 0
                             ? "Nats; the scale ends at ln 10 = 2.30, ten times as likely."
                             : "The scale ends at the greatest score: those of this method have no unit.");
    dsx__put_text(r, " The line below a text grows with its score, and is dotted where it speaks against the "
                     "answer. Small numbers are ranks.</p>\n");
}

static void put_sources(const dsx__html *h) {
    dsx__put_text(h->r, h->r->prompt->n_sources > 1 ? "<h3>The sources</h3>\n" : "<h3>The source</h3>\n");
    put_legend(h);
    for (size_t i = 0; i < h->r->prompt->n_sources; i++) dsx__html_source(h, i);
}

static void put_target(dsx__html *h, size_t i) {
    dsx__report *r = h->r;
    const dsx_explanation *x = r->targets[i];
    size_t n;
    const char *text = answer_of(r, &n);

    h->x = x;
    h->of = &h->all[i];
    h->target = i;
    dsx__put_format(r, "<section aria-labelledby=t%zu>\n<h2 id=t%zu>", i, i);
    if (r->n_targets > 1) {
        dsx__put_format(r, "%zu. <span lang=\"\"><bdi>", r->o->first_target + i + 1);
        dsx__html_line(r, text + x->begin, x->end - x->begin, 120);
        dsx__put_text(r, "</bdi></span>");
    } else {
        dsx__put_text(r, "The answer");
    }
    dsx__put_text(r, "</h2>\n");
    put_answer(r, x->begin, x->end);
    if (x->foil != NULL) {
        dsx__put_text(r, "<p>against <q lang=\"\"><bdi>");
        dsx__html_line(r, x->foil, strlen(x->foil), 0);
        dsx__put_text(r, "</bdi></q></p>\n");
    }
    put_warnings(r, x);
    put_table(h);
    put_sources(h);
    put_sums(r, x);
    put_trust(r, x);
    dsx__put_text(r, "</section>\n");
}

/* ---- the page */

static void put_contents(const dsx__html *h, size_t n) {
    dsx__report *r = h->r;
    size_t len;
    const char *text = answer_of(r, &len);

    if (r->n_targets != 1) put_answer(r, 0, 0);
    if (n < 2) return;
    dsx__put_text(r, "<nav aria-label=\"what is explained\"><ol>\n");
    for (size_t i = 0; i < n; i++) {
        dsx__put_format(r, "<li><a href=#t%zu lang=\"\"><bdi>", i);
        dsx__html_line(r, text + r->targets[i]->begin, r->targets[i]->end - r->targets[i]->begin, 120);
        dsx__put_text(r, "</bdi></a>\n");
    }
    dsx__put_text(r, "</ol></nav>\n");
}

static void put_name(dsx__report *r, const char *what, const char *text, const char *sha256) {
    if (text == NULL && sha256 == NULL) return;
    dsx__put_format(r, "<dt>%s<dd>", what);
    if (text != NULL) {
        dsx__put_text(r, "<bdi>");
        dsx__html_line(r, text, strlen(text), 0);
        dsx__put_text(r, "</bdi>");
    }
    if (sha256 != NULL) dsx__put_format(r, " <span class=soft>sha256 %.64s</span>", sha256);
    dsx__put(r, "\n", 1);
}

static void put_foot(dsx__report *r) {
    dsx__put_text(r, "</main>\n<footer>\n<h2>How this was made</h2>\n<dl>\n");
    dsx__put_format(r, "<dt>program<dd>dsexplain %d.%d.%d (%s)\n", DSTOK_VERSION_MAJOR, DSTOK_VERSION_MINOR,
                    DSTOK_VERSION_PATCH, r->model.backend != NULL ? r->model.backend : "-");
    put_name(r, "model", r->o->model_path, r->o->model_sha256);
    put_name(r, "vocabulary", r->o->tokenizer_path, r->o->tokenizer_sha256);
    for (size_t i = 0; i < r->prompt->n_sources; i++) {
        put_name(r, "source", r->prompt->sources[i].name,
                 r->o->source_sha256 != NULL ? r->o->source_sha256[i] : NULL);
    }
    dsx__put_text(r,
                  "</dl>\n<p class=soft>A score says what the model rested on, not whether it is true.</p>\n"
                  "</footer>\n</body>\n</html>\n");
}

static void put_page(dsx__html *h) {
    dsx__report *r = h->r;
    size_t n = r->n_targets < h->limits.targets ? r->n_targets : h->limits.targets;

    put_head(r);
    put_contents(h, n);
    for (size_t i = 0; i < n && !r->has_failed; i++) put_target(h, i);
    if (n < r->n_targets)
        dsx__put_format(
            r,
            "<p class=warn>%zu more targets are not on this page: <code>--format json</code> has all.</p>\n",
            r->n_targets - n);
    put_foot(r);
}

/* ---- how much stands on it */

/* Nothing more is made of a page that is too long. */
static int count_only(void *page, const void *bytes, size_t n) {
    (void)bytes;
    (void)n;
    return ((const dsx__report *)page)->n_bytes > MAX_PAGE;
}

static size_t length_of(dsx__html *h) {
    dsx__report *r = h->r;
    dsx_report_sink *sink = r->sink;
    void *context = r->context;
    size_t n;

    r->sink = count_only;
    r->context = r;
    put_page(h);
    n = r->n_bytes;
    r->n_bytes = r->n_buffer = 0;
    r->has_failed = false;
    r->sink = sink;
    r->context = context;
    return n;
}

/* The fullest page that is no longer than it may be; the last one is taken in any case. */
static void choose_limits(dsx__html *h) {
    static const dsx__html_limits tries[] = {{2, true, 4096, SIZE_MAX, 1000},
                                             {1, true, 4096, SIZE_MAX, 1000},
                                             {2, false, 4096, SIZE_MAX, 1000},
                                             {1, false, 4096, SIZE_MAX, 1000},
                                             {0, true, 4096, SIZE_MAX, 1000},
                                             {0, false, 4096, SIZE_MAX, 1000},
                                             {0, false, 1024, 1000, 1000},
                                             {0, false, 256, 300, 1000},
                                             {0, false, 64, 100, 1000},
                                             {0, false, 64, 10, 300},
                                             {0, false, 64, 3, 150},
                                             {0, false, 16, 1, 50},
                                             {0, false, 8, 1, 5}};
    size_t n = sizeof tries / sizeof *tries;

    for (size_t i = 0; i < n; i++) {
        h->limits = tries[i];
        if (i + 1 == n || length_of(h) <= MAX_PAGE) return;
    }
}

/* ---- rows */

static int by_rank(const void *a, const void *b) {
    const dsx_row *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static dstok_status find_rows(dsx__html *h, size_t i, dstok_error *err) {
    const dsx_explanation *x = h->r->targets[i];
    dsx__html_rows *of = &h->all[i];
    size_t n, k = 0;

    DSX_TRY(dsx__report_rows(h->r, x, h->r->o->level, &of->rows, &n, err));
    of->n_tokens = strcmp(dsx__quantity(x), "token_log_odds") == 0 ? x->to - x->from : 1;
    if (strcmp(dsx__quantity(x), "attention") == 0) of->n_tokens = 0;
    of->full = of->n_tokens > 0 ? DSX__FULL * (double)of->n_tokens : 1e-9;
    for (size_t j = 0; j < n; j++) {
        if (of->n_tokens == 0) of->full = fmax(of->full, fabs(of->rows[j].score));
        of->looks += of->rows[j].routing;
    }
    h->of = of;
    h->limits.top = SIZE_MAX;
    for (size_t j = 0; j < n; j++) {
        const dsx_row *row = &of->rows[j];

        if (row->score < h->r->o->min_score || row->core.begin >= row->core.end) continue;
        of->n_best += dsx__html_is_best(h, row);
        if (dsx__html_is_best(h, row) || dsx__html_shade(h, row->score) != 0) of->rows[k++] = *row;
    }
    of->n = k;
    of->best = malloc((of->n_best + 1) * sizeof *of->best);
    if (of->best == NULL) return dsx__no_memory(err);
    for (size_t j = k = 0; j < of->n; j++)
        if (dsx__html_is_best(h, &of->rows[j])) of->best[k++] = of->rows[j];
    qsort(of->best, k, sizeof *of->best, by_rank);
    return DSTOK_OK;
}

dstok_status dsx__write_html(dsx__report *r, dstok_error *err) {
    dsx__html h = {.r = r};
    dstok_status status = DSTOK_OK;

    h.all = calloc(r->n_targets + 1, sizeof *h.all);
    if (h.all == NULL) return dsx__no_memory(err);
    for (size_t i = 0; i < r->n_targets && status == DSTOK_OK; i++) status = find_rows(&h, i, err);
    if (status == DSTOK_OK) {
        choose_limits(&h);
        put_page(&h);
    }
    for (size_t i = 0; i < r->n_targets; i++) {
        free(h.all[i].rows);
        free(h.all[i].best);
    }
    free(h.all);
    return status;
}
