/* SPDX-License-Identifier: MIT */
/* Reports for programs: dsexplain/1, as docs/explain.schema.json has it. Keys stand in a fixed order, numbers have 9
 * digits, and what is no number is null. */
#include "base.h"
#include "explain/report.h"

#include <dstok/align.h>
#include <dstok/version.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values */

static void put_string(dsx__report *r, const char *text, size_t n) {
    static const char names[] = "btn?fr"; /* 08 to 0D; 0B has no letter */
    size_t start = 0;

    dsx__put(r, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
        dsx__put(r, text + start, i - start);
        start = i + 1;
        if (c == '"' || c == '\\')
            dsx__put_format(r, "\\%c", c);
        else if (c >= 0x08 && c <= 0x0D && c != 0x0B)
            dsx__put_format(r, "\\%c", names[c - 0x08]);
        else
            dsx__put_format(r, "\\u%04x", c);
    }
    dsx__put(r, text + start, n - start);
    dsx__put(r, "\"", 1);
}

/* ,"key":"text", or base64 where it is no UTF-8. */
static void put_text(dsx__report *r, const char *key, const char *text, size_t n) {
    bool ok = dstok_utf8_check(text, n) == n;

    dsx__put_format(r, "\"%s%s\":", key, ok ? "" : "_b64");
    if (ok) {
        put_string(r, text, n);
        return;
    }
    dsx__put(r, "\"", 1);
    dsx__put_base64(r, text, n);
    dsx__put(r, "\"", 1);
}

/* ,"key":"text", or null. */
static void put_name(dsx__report *r, const char *key, const char *text) {
    if (text != NULL)
        put_text(r, key, text, strlen(text));
    else
        dsx__put_format(r, "\"%s\":null", key);
}

static void put_number(dsx__report *r, double x) {
    if (isfinite(x))
        dsx__put_format(r, "%.9g", x == 0 ? 0.0 : x);
    else
        dsx__put_text(r, "null");
}

static void put_key(dsx__report *r, const char *key, double x) {
    dsx__put_format(r, "\"%s\":", key);
    put_number(r, x);
}

static void put_range(dsx__report *r, uint64_t begin, uint64_t end) {
    dsx__put_format(r, "[%llu,%llu]", (unsigned long long)begin, (unsigned long long)end);
}

/* ---- head: what is the same for all targets */

static void put_model(dsx__report *r) {
    const dsx_model_info *m = &r->model;
    dstok_info tok = DSTOK_INFO_INIT;

    (void)dstok_tokenizer_info(r->prompt->tok, &tok);
    dsx__put_format(r, "\"tool\":{\"name\":\"dsexplain\",\"version\":\"%d.%d.%d\",\"build\":",
                    DSTOK_VERSION_MAJOR, DSTOK_VERSION_MINOR, DSTOK_VERSION_PATCH);
    put_string(r, m->backend, strlen(m->backend));
    dsx__put_text(r, "},\"model\":{");
    put_name(r, "path", r->o->model_path);
    dsx__put(r, ",", 1);
    put_name(r, "arch", m->arch);
    dsx__put(r, ",", 1);
    put_name(r, "sha256", r->o->model_sha256);
    dsx__put_format(r, ",\"parameters\":%llu,\"layers\":%lu,\"heads\":%lu,\"kv_heads\":%lu,\"context\":%lu},",
                    (unsigned long long)m->n_parameters, (unsigned long)m->n_layers,
                    (unsigned long)m->n_heads, (unsigned long)m->n_kv_heads, (unsigned long)m->context);
    dsx__put_text(r, "\"tokenizer\":{");
    put_name(r, "path", r->o->tokenizer_path);
    dsx__put(r, ",", 1);
    put_name(r, "sha256", r->o->tokenizer_sha256);
    dsx__put(r, ",", 1);
    put_name(r, "normalizer", tok.normalizer);
    dsx__put_text(r, "},");
}

static void put_sources(dsx__report *r) {
    dsx__put_text(r, "\"sources\":[");
    for (size_t i = 0; i < r->prompt->n_sources; i++) {
        const dsx_source *s = &r->prompt->sources[i];

        dsx__put_format(r, "%s{\"id\":%zu,", i > 0 ? "," : "", i);
        put_name(r, "path", s->name);
        dsx__put(r, ",", 1);
        put_name(r, "sha256", r->o->source_sha256 != NULL ? r->o->source_sha256[i] : NULL);
        dsx__put_format(r, ",\"bytes\":%zu,\"encoding\":\"utf-8\"}", s->len);
    }
    dsx__put_text(r, "],");
}

static void put_segments(dsx__report *r) {
    static const char *const roles[] = {"none", "template", "system", "source", "question", "answer"};
    size_t at = 0;

    dsx__put_text(r, "\"segments\":[");
    for (size_t i = 0; i < r->view.n_segments; at += r->view.segments[i++].len) {
        const dstok_segment *s = &r->view.segments[i];
        size_t skip = s->role == DSTOK_ROLE_SOURCE ? r->prompt->skips[s->source].bytes : 0;

        dsx__put_text(r, i > 0 ? ",{\"source\":" : "{\"source\":");
        if (s->role == DSTOK_ROLE_SOURCE) {
            dsx__put_format(r, "%lu,\"src\":", (unsigned long)s->source);
            put_range(r, skip, skip + s->len);
        } else {
            dsx__put_text(r, "null,\"src\":null");
        }
        dsx__put_text(r, ",\"prompt\":");
        put_range(r, at, at + s->len);
        dsx__put_format(r, ",\"role\":\"%s\"}", s->role < 6 ? roles[s->role] : "none");
    }
    dsx__put_text(r, "],\"offset_unit\":\"byte\",\"ranges\":\"half-open\",");
}

static double logprob_of(const dsx__report *r, size_t token) {
    for (size_t i = 0; i < r->n_targets; i++) {
        const dsx_explanation *x = r->targets[i];

        if (x->logprobs != NULL && token >= x->from && token < x->to) return x->logprobs[token - x->from];
    }
    return NAN;
}

static void put_output(dsx__report *r) {
    const dsx_prompt_view *v = &r->view;
    const char *comma = "";

    dsx__put_text(r, "\"output\":{");
    put_text(r, "text", v->text + v->response, v->len - v->response);
    dsx__put_format(r, ",\"prefix_bytes\":%zu,\"tokens\":[", v->answer - v->response);
    for (size_t i = 0; i < v->n; i++) {
        if (v->spans[i].end <= v->response) continue;
        dsx__put_format(r, "%s{\"index\":%zu,\"id\":%lu,\"bytes\":", comma, i, (unsigned long)v->ids[i]);
        put_range(r, v->spans[i].begin > v->response ? v->spans[i].begin - v->response : 0,
                  v->spans[i].end - v->response);
        dsx__put(r, ",", 1);
        put_key(r, "logprob", logprob_of(r, i));
        dsx__put(r, "}", 1);
        comma = ",";
    }
    dsx__put_format(r, "],\"prompt_tokens\":%zu}", v->n);
}

static void put_head(dsx__report *r) {
    put_model(r);
    put_sources(r);
    put_segments(r);
    put_output(r);
}

/* ---- token columns: a token that crosses the border of a source is two */

typedef struct part {
    size_t token;
    int64_t source; /* -1: none */
    dstok_span range;
    double share; /* of the token */
} part;

/* What of token t is in segments from *s on, of which the first begins at *at. */
static void cut(const dsx__report *r, size_t token, size_t *s, size_t *at, part *parts, size_t *n) {
    const dsx_prompt_view *v = &r->view;
    dstok_span t = v->spans[token];
    size_t i, a;

    while (*s < v->n_segments && *at + v->segments[*s].len <= t.begin) *at += v->segments[(*s)++].len;
    if (t.begin == t.end) parts[(*n)++] = (part){token, -1, {0, 0}, 1};
    for (i = *s, a = *at; i < v->n_segments && a < t.end; a += v->segments[i++].len) {
        const dstok_segment *g = &v->segments[i];
        uint64_t b = t.begin > a ? t.begin : a, e = t.end < a + g->len ? t.end : a + g->len;
        part p = {token, -1, {0, 0}, 0};

        if (b >= e) continue;
        p.share = (double)(e - b) / (double)(t.end - t.begin);
        if (g->role == DSTOK_ROLE_SOURCE) {
            size_t skip = r->prompt->skips[g->source].bytes;

            p.source = g->source;
            p.range = (dstok_span){b - a + skip, e - a + skip};
        } else if (*n > 0 && parts[*n - 1].token == token && parts[*n - 1].source < 0) {
            parts[*n - 1].share += p.share;
            continue;
        }
        parts[(*n)++] = p;
    }
}

static int flags_of(const dsx_prompt_view *v, size_t token) {
    dstok_span t = v->spans[token];
    bool begins = t.begin < v->len && ((unsigned char)v->text[t.begin] & 0xC0) == 0x80,
         ends = t.end < v->len && ((unsigned char)v->text[t.end] & 0xC0) == 0x80;

    return (t.begin < t.end && (begins || ends) ? 1 : 0) | (t.begin == t.end ? 2 : 0);
}

enum { INDEX, SOURCE, RANGE, SCORE, ROUTING, FLAGS, N_COLUMNS };

static void put_cell(dsx__report *r, const dsx_explanation *x, const part *p, int column) {
    if (column == INDEX) dsx__put_format(r, "%zu", p->token);
    if (column == SOURCE && p->source >= 0) dsx__put_format(r, "%lld", (long long)p->source);
    if (column == RANGE && p->source >= 0) put_range(r, p->range.begin, p->range.end);
    if ((column == SOURCE || column == RANGE) && p->source < 0) dsx__put_text(r, "null");
    if (column == SCORE) put_number(r, x->scores[p->token] * p->share);
    if (column == ROUTING) put_number(r, x->routing[p->token] * p->share);
    if (column == FLAGS) dsx__put_format(r, "%d", flags_of(&r->view, p->token));
}

static dstok_status put_tokens(dsx__report *r, const dsx_explanation *x, dstok_error *err) {
    static const char *const names[] = {"index", "source", "range", "score", "routing", "flags"};
    part *parts = malloc((x->n + 2 * r->view.n_segments + 1) * sizeof *parts);
    size_t n = 0, s = 0, at = 0;
    const char *comma = "";

    if (parts == NULL) return dsx__no_memory(err);
    for (size_t i = 0; i < x->n; i++) cut(r, i, &s, &at, parts, &n);
    dsx__put_text(r, "\"tokens\":{");
    for (int column = 0; column < N_COLUMNS; column++) {
        if (column == ROUTING && x->routing == NULL) continue;
        dsx__put_format(r, "%s\"%s\":[", comma, names[column]);
        for (size_t i = 0; i < n; i++) {
            if (i > 0) dsx__put(r, ",", 1);
            put_cell(r, x, &parts[i], column);
        }
        dsx__put(r, "]", 1);
        comma = ",";
    }
    dsx__put_text(r, "},");
    free(parts);
    return DSTOK_OK;
}

/* ---- spans */

/* Where a place of the prompt's text lies in a source. False: in none. */
static bool to_source(const dsx__report *r, uint64_t place, size_t *source, uint64_t *byte) {
    uint64_t at = 0;

    for (size_t i = 0; i < r->view.n_segments; at += r->view.segments[i++].len) {
        const dstok_segment *s = &r->view.segments[i];

        if (place < at || place - at >= s->len) continue;
        *source = s->source;
        *byte = place - at + r->prompt->skips[s->role == DSTOK_ROLE_SOURCE ? s->source : 0].bytes;
        return s->role == DSTOK_ROLE_SOURCE;
    }
    return false;
}

/* The sentence of the removals that a row is; n_units: none. */
static size_t unit_of(const dsx__report *r, const dsx_explanation *x, const dsx_row *row) {
    for (size_t i = 0; i < x->n_units; i++) {
        size_t source;
        uint64_t begin;

        if (to_source(r, x->units[i].begin, &source, &begin) && source == row->source &&
            begin <= row->core.begin && row->core.begin - begin < x->units[i].end - x->units[i].begin)
            return i;
    }
    return x->n_units;
}

/* What sentences were found to be worth when they were taken out, and which say the same. */
static void put_removals(dsx__report *r, const dsx_explanation *x, const dsx_row *row) {
    size_t unit = r->o->level == DSTOK_TRACE_SENTENCE ? unit_of(r, x, row) : x->n_units, source;
    uint64_t begin;
    const char *comma = "";

    if (unit < x->n_units && x->worth != NULL) {
        dsx__put(r, ",", 1);
        put_key(r, "worth", x->worth[unit]);
    }
    dsx__put_text(r, ",\"redundant_with\":[");
    for (size_t i = 0; unit < x->n_units && x->redundant != NULL && i < x->n_units; i++) {
        if (i == unit || x->redundant[i] == 0 || x->redundant[i] != x->redundant[unit] ||
            !to_source(r, x->units[i].begin, &source, &begin))
            continue;
        dsx__put_format(r, "%s{\"source\":%zu,\"range\":", comma, source);
        put_range(r, begin, begin + x->units[i].end - x->units[i].begin);
        dsx__put(r, "}", 1);
        comma = ",";
    }
    dsx__put(r, "]", 1);
}

/* Ranges of rows [0, n) in characters or UTF-16, source by source. */
static dstok_status convert(const dsx__report *r, const dsx_row *rows, size_t n, int unit, dstok_span *out) {
    for (size_t i = 0, k; i < n; i = k) {
        const dsx_source *s = &r->prompt->sources[rows[i].source];

        for (k = i; k < n && rows[k].source == rows[i].source; k++) out[k] = rows[k].core;
        DSX_TRY(dstok_spans_convert(s->text, s->len, out + i, k - i, unit));
    }
    return DSTOK_OK;
}

static void put_span(dsx__report *r, const dsx_explanation *x, const dsx_row *row, dstok_span chars,
                     dstok_span utf16) {
    size_t n;
    const char *text = dsx__report_text(r, row, &n);

    dsx__put_format(r, "{\"level\":\"%s\",\"source\":%zu,\"range\":", dsx__level_name(r->o->level),
                    row->source);
    put_range(r, row->core.begin, row->core.end);
    dsx__put_text(r, ",\"char\":");
    put_range(r, chars.begin, chars.end);
    dsx__put_text(r, ",\"utf16\":");
    put_range(r, utf16.begin, utf16.end);
    dsx__put_format(r, ",\"line\":%llu,\"col\":%llu,", (unsigned long long)row->line,
                    (unsigned long long)row->column);
    put_text(r, "text", text, n);
    dsx__put(r, ",", 1);
    put_key(r, "score", row->score);
    if (x->routing != NULL) {
        dsx__put(r, ",", 1);
        put_key(r, "routing", row->routing);
    }
    dsx__put(r, ",", 1);
    put_key(r, "share", row->share);
    dsx__put(r, ",", 1);
    put_key(r, "density", n > 0 ? row->score / (double)n : 0);
    dsx__put_format(r, ",\"rank\":%zu", row->rank);
    put_removals(r, x, row);
    dsx__put(r, "}", 1);
}

static dstok_status put_spans(dsx__report *r, const dsx_explanation *x, dstok_error *err) {
    dsx_row *rows;
    dstok_span *other;
    size_t n = 0;
    dstok_status status = dsx__report_rows(r, x, r->o->level, &rows, &n, err);

    if (status != DSTOK_OK) return status;
    n = dsx__report_choose(r, rows, n, 0, false);
    other = malloc((2 * n + 1) * sizeof *other);
    status = other != NULL ? convert(r, rows, n, DSTOK_UNIT_CHAR, other) : dsx__no_memory(err);
    if (status == DSTOK_OK) status = convert(r, rows, n, DSTOK_UNIT_UTF16, other + n);
    dsx__put_text(r, "\"spans\":[");
    for (size_t i = 0; i < n && status == DSTOK_OK; i++) {
        if (i > 0) dsx__put(r, ",", 1);
        put_span(r, x, &rows[i], other[i], other[n + i]);
    }
    dsx__put_text(r, "],");
    free(rows);
    free(other);
    return status;
}

/* ---- targets */

static void put_method(dsx__report *r, const dsx_explanation *x) {
    bool removes = x->method == DSX_METHOD_ABLATE || x->method == DSX_METHOD_LOO,
         goes_back = x->method == DSX_METHOD_ROWS || x->method == DSX_METHOD_FLOW;

    dsx__put_format(r, "\"method\":{\"name\":\"%s\",\"params\":{", dsx__method_name(x->method));
    if (goes_back) dsx__put_text(r, "\"freeze\":[\"attn\",\"rms\",\"gate\"]");
    if (removes) dsx__put_format(r, "\"removal\":\"%s\"", dsx__removal_name(x->removal));
    if (x->method == DSX_METHOD_ABLATE)
        dsx__put_format(r, ",\"masks\":%lu", (unsigned long)(x->masks > 0 ? x->masks : 32));
    dsx__put_format(r, "},\"seed\":%llu,\"passes\":{\"forward\":%llu,\"backward\":%d}},",
                    (unsigned long long)x->seed, (unsigned long long)x->n_forward,
                    goes_back ? (int)(x->n_hops > 0 ? x->n_hops : 1) : 0);
}

static void put_sums(dsx__report *r, const dsx_explanation *x) {
    const dsx_sums *s = &x->sums;
    double value = 0, all = 0;

    for (size_t i = 0; i < x->n; i++) all += fabs(x->scores[i]);
    if (x->n > 0 && all > 0) value = fabs(x->scores[0]) / all;
    dsx__put_text(r, "\"sum\":{");
    put_key(r, "scores", s->sources + s->special + s->template_text + s->response);
    dsx__put(r, ",", 1);
    put_key(r, "sources", s->sources);
    dsx__put(r, ",", 1);
    put_key(r, "template", s->template_text);
    dsx__put(r, ",", 1);
    put_key(r, "response", s->response);
    dsx__put(r, ",", 1);
    put_key(r, "special", s->special);
    dsx__put(r, ",", 1);
    put_key(r, "bias", s->bias);
    dsx__put(r, ",", 1);
    put_key(r, "residual_error", s->residual);
    dsx__put_text(r, "},\"sinks\":[");
    if (x->n_hops > 0) { /* the methods that look at attention */
        dsx__put_text(r, "{\"token\":0,");
        put_key(r, "attention_mass", x->first_mass);
        dsx__put(r, ",", 1);
        put_key(r, "value_mass", value);
        dsx__put(r, "}", 1);
    }
    dsx__put_text(r, "],");
}

static void put_trust(dsx__report *r, const dsx_explanation *x) {
    static const char *const tops[] = {"1", "3", "5"};
    const dsx_trust *t = &x->trust;

    dsx__put_text(r, "\"hops\":[");
    for (uint32_t i = 0; i < x->n_hops; i++) {
        dsx__put_format(r, "%s{\"hop\":%lu,", i > 0 ? "," : "", (unsigned long)i);
        put_key(r, "mass_on_generated", x->hop_mass[i]);
        dsx__put(r, "}", 1);
    }
    dsx__put_text(r, "],\"faithfulness\":");
    if (t->n_masks == 0) {
        dsx__put_text(r, "null,");
        return;
    }
    dsx__put(r, "{", 1);
    put_key(r, "lds", t->lds);
    dsx__put_format(r, ",\"masks\":%lu,\"topk_drop\":{", (unsigned long)t->n_masks);
    for (int i = 0; i < 3; i++) {
        if (i > 0) dsx__put(r, ",", 1);
        put_key(r, tops[i], t->drop[i]);
    }
    dsx__put_text(r, "},");
    put_key(r, "comprehensiveness", t->comprehensiveness);
    dsx__put(r, ",", 1);
    put_key(r, "sufficiency", t->sufficiency);
    dsx__put_format(r, ",\"ablate\":\"%s\",\"forward\":%lu},", dsx__removal_name(x->removal),
                    (unsigned long)t->n_forward);
}

static void put_logprobs(dsx__report *r, const dsx_explanation *x) {
    if (x->logprobs == NULL) {
        dsx__put_text(r, ",\"logprobs\":null,");
        return;
    }
    dsx__put_text(r, ",\"logprobs\":[");
    for (size_t i = 0; i < x->to - x->from; i++) {
        if (i > 0) dsx__put(r, ",", 1);
        put_number(r, x->logprobs[i]);
    }
    dsx__put_text(r, "],");
}

static dstok_status put_target(dsx__report *r, size_t i, dstok_error *err) {
    const dsx_explanation *x = r->targets[i];
    bool in_nats = x->method != DSX_METHOD_ATTENTION && x->method != DSX_METHOD_AT2;

    dsx__put_format(r, "\"id\":%zu,\"output_range\":", r->o->first_target + i);
    put_range(r, x->begin, x->end);
    dsx__put(r, ",", 1);
    put_text(r, "text", r->view.text + r->view.response + x->begin, x->end - x->begin);
    dsx__put_format(r, ",\"token_range\":[%zu,%zu],\"quantity\":\"%s\",", x->from, x->to, dsx__quantity(x));
    put_name(r, "foil", x->foil);
    dsx__put(r, ",", 1);
    put_key(r, "value", x->value);
    dsx__put(r, ",", 1);
    put_key(r, "logprob", x->logprob);
    put_logprobs(r, x);
    put_key(r, "prior", x->trust.prior);
    dsx__put(r, ",", 1);
    put_method(r, x);
    dsx__put_format(r, "\"unit\":%s,", in_nats ? "\"nat\"" : "null");
    put_sums(r, x);
    DSX_TRY(put_tokens(r, x, err));
    DSX_TRY(put_spans(r, x, err));
    put_trust(r, x);
    put_key(r, "seconds", x->seconds);
    return DSTOK_OK;
}

/* ---- the end */

static void put_warnings(dsx__report *r) {
    const char *comma = "";

    dsx__put_text(r, "\"warnings\":[");
    for (size_t i = 0; i < r->n_targets; i++)
        for (size_t k = 0; k < r->targets[i]->n_warnings; k++, comma = ",") {
            dsx__put_text(r, comma);
            dsx__put(r, "{", 1);
            put_name(r, "code", r->targets[i]->warnings[k].code);
            dsx__put_format(r, ",\"target\":%zu,", r->o->first_target + i);
            put_name(r, "text", r->targets[i]->warnings[k].text);
            dsx__put(r, "}", 1);
        }
    dsx__put(r, "]", 1);
}

static void put_end(dsx__report *r) {
    double seconds = 0;
    uint64_t passes = 0;

    for (size_t i = 0; i < r->n_targets; i++) {
        seconds += r->targets[i]->seconds;
        passes += r->targets[i]->n_forward;
    }
    dsx__put_format(r, "\"partial\":%s,\"timing\":{", r->o->is_partial ? "true" : "false");
    put_key(r, "load_s", r->o->load_seconds);
    dsx__put(r, ",", 1);
    put_key(r, "generate_s", r->o->generate_seconds);
    dsx__put(r, ",", 1);
    put_key(r, "explain_s", seconds);
    dsx__put_format(r, ",\"forward\":%llu,\"peak_bytes\":%llu},", (unsigned long long)passes,
                    (unsigned long long)r->o->peak_bytes);
    put_warnings(r);
}

dstok_status dsx__write_json(dsx__report *r, dstok_error *err) {
    dsx__put_text(r, "{\"schema\":\"dsexplain/1\",");
    put_head(r);
    dsx__put_text(r, ",\"targets\":[");
    for (size_t i = 0; i < r->n_targets; i++) {
        dsx__put_text(r, i > 0 ? ",{" : "{");
        DSX_TRY(put_target(r, i, err));
        dsx__put(r, "}", 1);
    }
    dsx__put_text(r, "],");
    put_end(r);
    dsx__put_text(r, "}\n");
    return DSTOK_OK;
}

dstok_status dsx__write_jsonl(dsx__report *r, dstok_error *err) {
    int which = r->o->part;

    if (which == DSX_PART_ALL || which == DSX_PART_HEAD) {
        dsx__put_text(r, "{\"record\":\"header\",\"schema\":\"dsexplain/1\",");
        put_head(r);
        dsx__put_text(r, "}\n");
    }
    for (size_t i = 0; (which == DSX_PART_ALL || which == DSX_PART_TARGETS) && i < r->n_targets; i++) {
        dsx__put_text(r, "{\"record\":\"target\",");
        DSX_TRY(put_target(r, i, err));
        dsx__put_text(r, "}\n");
    }
    if (which == DSX_PART_ALL || which == DSX_PART_END) {
        dsx__put_format(r, "{\"record\":\"end\",\"targets\":%zu,", r->o->first_target + r->n_targets);
        put_end(r);
        dsx__put_text(r, "}\n");
    }
    return DSTOK_OK;
}
