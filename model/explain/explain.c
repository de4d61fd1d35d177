/* SPDX-License-Identifier: MIT */
/* Explanations: which tokens are meant, the method, where the value went, and rows of the sources. */
#include "explain/explain.h"

#include "arch/model.h"
#include "base.h"
#include "explain/attribute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool dsx__explain_warn(dsx__explaining *e, const char *code, const char *text) {
    if (e->out.n_warnings == e->cap_warnings) {
        size_t cap = e->cap_warnings * 2 + 8;
        dsx_warning *more = realloc(e->warnings, cap * sizeof *more);

        if (more == NULL) return false;
        e->out.warnings = e->warnings = more;
        e->cap_warnings = cap;
    }
    e->warnings[e->out.n_warnings++] = (dsx_warning){code, text};
    return true;
}

dstok_status dsx__explain_step(dsx__explaining *e) {
    e->done++;
    return e->options->sink != NULL && e->options->sink(e->options->context, e->done, e->all) != 0
               ? DSTOK_E_CANCELED
               : DSTOK_OK;
}

void dsx_explanation_free(const dsx_explanation *explanation) {
    dsx__explaining *e = (dsx__explaining *)(void *)(uintptr_t)explanation;

    if (e == NULL) return;
    free(e->scores);
    free(e->routing);
    free(e->logprobs);
    free(e->foil_text);
    free(e->units);
    free(e->worth);
    free(e->redundant);
    free(e->warnings);
    free(e);
}

/* ---- which tokens */

dstok_status dsx__find_tokens(const dsx_prompt *p, const dsx_explain_options *o, dsx_explanation *x,
                              dstok_error *err) {
    size_t length = p->len - p->response;

    x->begin = o->begin;
    x->end = o->end;
    if (o->begin == 0 && o->end == 0) {
        x->begin = p->answer - p->response;
        x->end = length;
    }
    if (length == p->answer - p->response && x->begin >= length)
        return dsx__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET, "there is no response to explain");
    if (x->begin >= x->end || x->end > length)
        return dsx__fail(err, DSTOK_E_RANGE, DSTOK_NO_OFFSET,
                         "bytes %zu to %zu are not in the response, which has %zu", x->begin, x->end, length);
    x->from = p->n;
    for (size_t i = 0; i < p->n; i++) {
        if (p->spans[i].end <= p->response + x->begin || p->spans[i].begin >= p->response + x->end ||
            p->spans[i].begin == p->spans[i].end)
            continue;
        if (x->from == p->n) x->from = i;
        x->to = i + 1;
    }
    if (x->from < p->n && x->from > 0) return DSTOK_OK;
    return dsx__fail(err, DSTOK_E_RANGE, DSTOK_NO_OFFSET,
                     "no token that has one before it holds bytes %zu to %zu", x->begin, x->end);
}

/* The first token of the foil that is another one than that of the response; x then means this one alone. It may be
 * the token before those that are explained: where a blank ends it, a word may take the blank. */
static dstok_status find_foil(const dsx_prompt *p, const char *foil, dsx_explanation *x, int64_t *id,
                              dstok_error *err) {
    size_t at = p->response + x->begin, n = strlen(foil), first = p->bos >= 0 ? 1 : 0, i = 0;
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    char *text = malloc(at + n + 1);
    dstok_segment *segments = malloc(p->n_segments * sizeof *segments);
    dstok_tokens t = {0};
    dstok_status status;

    o.add_special = !p->is_chat;
    if (text == NULL || segments == NULL) {
        free(text);
        free(segments);
        return dsx__no_memory(err);
    }
    memcpy(text, p->text, at);
    memcpy(text + at, foil, n + 1);
    memcpy(segments, p->segments, p->n_segments * sizeof *segments);
    segments[p->n_segments - 1].len = x->begin + n;
    status = dstok_encode_segments(p->enc, text, at + n, segments, p->n_segments, &o, &t, err);
    free(text);
    free(segments);
    if (status != DSTOK_OK) return status;
    while (i < t.n && i + first < p->n && t.ids[i] == p->ids[i + first]) i++;
    if (i == t.n || i + first + 1 < x->from || i + first >= x->to || i + first == 0)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "the foil does not differ from the response within the tokens that are explained");
    *id = t.ids[i];
    x->from = i + first;
    x->to = x->from + 1;
    return DSTOK_OK;
}

/* ---- by one pass: rows, flow, attention, at2 */

static int step(void *context, uint64_t done, uint64_t all) {
    dsx__explaining *e = context;

    e->all = all;
    e->done = done - 1;
    return dsx__explain_step(e) != DSTOK_OK;
}

static size_t first_row(const dsx_prompt *p, int method, size_t from) {
    if (method == DSX_METHOD_FLOW) return 0;
    if (method == DSX_METHOD_ROWS || method == DSX_METHOD_REFINE)
        return p->sources_end < from ? p->sources_end : from - 1;
    return from - 1;
}

static void weigh_heads(const dsx_model *m, const float *weights, const float *heads, size_t n,
                        double *scores) {
    memset(scores, 0, n * sizeof *scores);
    for (size_t h = 0; h < (size_t)m->config.n_layers * m->config.n_heads; h++)
        for (size_t i = 0; i < n; i++) scores[i] += (double)weights[h] * (double)heads[h * n + i];
}

static dstok_status attribute(const dsx_prompt *p, dsx__explaining *e, const dsx__aim *aim,
                              dsx__attribution *a, dstok_error *err) {
    const dsx_model *m = p->model;
    bool at2 = e->options->method == DSX_METHOD_AT2;
    size_t n_heads = (size_t)m->config.n_layers * m->config.n_heads;
    float *heads = at2 ? calloc(n_heads * (aim->to - 1), sizeof *heads) : NULL;
    dstok_status status;

    if (at2 && heads == NULL) return dsx__no_memory(err);
    status = dsx__attribute(m, aim, heads, step, e, a, err);
    if (status == DSTOK_OK && at2) weigh_heads(m, e->options->head_weights, heads, a->n, a->scores);
    free(heads);
    e->out.n_forward++;
    return status;
}

/* ---- hops: what the response's own tokens gave is given to what they came from, by their positive scores */

static size_t first_of_response(const dsx_prompt *p) {
    size_t i = p->n;

    while (i > 0 && p->spans[i - 1].end > p->response) i--;
    return i;
}

static double positive(const double *scores, size_t from, size_t to) {
    double sum = 0;

    for (size_t i = from; i < to; i++) sum += fmax(scores[i], 0);
    return sum;
}

static void add_hop_mass(const dsx_prompt *p, dsx__explaining *e) {
    double all = positive(e->scores, 0, e->out.n);
    size_t from = first_of_response(p);

    if (from > e->out.n) from = e->out.n;
    e->out.hop_mass[e->out.n_hops++] = all > 0 ? positive(e->scores, from, e->out.n) / all : 0;
}

/* The positive scores of tokens [from, to) become those of what came before, as its own positive scores say. */
static void pass_on(dsx__explaining *e, size_t from, size_t to, const dsx__attribution *a, double sum,
                    double share, double all) {
    for (size_t i = from; i < to; i++) e->scores[i] = fmin(e->scores[i], 0);
    for (size_t i = 0; i < a->n; i++) e->scores[i] += sum * fmax(a->scores[i], 0) / share;
    for (size_t i = 0; i < a->n && e->routing != NULL; i++) e->routing[i] += sum / all * a->routing[i];
}

static dstok_status hop(const dsx_prompt *p, dsx__explaining *e, dsx__aim aim, bool *goes_on,
                        dstok_error *err) {
    size_t from = first_of_response(p), to = e->out.n;
    double sum, share, *weights;
    dsx__attribution a = {0};
    dstok_status status;

    *goes_on = false;
    if (from == 0) from = 1;
    sum = from < to ? positive(e->scores, from, to) : 0;
    if (sum <= 0) return DSTOK_OK;
    weights = malloc((to - from) * sizeof *weights);
    if (weights == NULL) return dsx__no_memory(err);
    for (size_t i = from; i < to; i++) weights[i - from] = fmax(e->scores[i], 0) / sum;
    aim.from = from;
    aim.to = to;
    aim.foil = -1;
    aim.weights = weights;
    aim.first = first_row(p, e->options->method, from);
    status = attribute(p, e, &aim, &a, err);
    free(weights);
    if (status != DSTOK_OK) return status;
    share = positive(a.scores, 0, a.n);
    *goes_on = share > 0;
    if (*goes_on) pass_on(e, from, to, &a, sum, share, positive(e->scores, 0, e->out.n));
    if (*goes_on) add_hop_mass(p, e);
    dsx__attribution_free(&a);
    return DSTOK_OK;
}

static dstok_status by_passes(const dsx_prompt *p, dsx__explaining *e, int64_t foil, dstok_error *err) {
    const dsx_explain_options *o = e->options;
    int method = o->method;
    dsx__aim aim = {.ids = p->ids,
                    .from = e->out.from,
                    .to = e->out.to,
                    .foil = foil,
                    .first = first_row(p, method, e->out.from),
                    .only_attention = method == DSX_METHOD_AT2 || method == DSX_METHOD_ATTENTION,
                    .keep_bytes = o->keep_bytes};
    dsx__attribution a;
    bool goes_on = true;

    DSX_TRY(attribute(p, e, &aim, &a, err));
    e->out.n = a.n;
    e->out.value = a.value;
    e->out.first_mass = a.first_mass;
    e->out.sums.bias = a.bias;
    for (size_t i = 0; i < aim.to - aim.from; i++) e->out.logprob += a.logprobs[i];
    e->scores = a.scores;
    if (!aim.only_attention)
        e->routing = a.routing;
    else
        free(a.routing);
    e->logprobs = a.logprobs;
    add_hop_mass(p, e);
    for (uint32_t h = 1; h < o->hops && goes_on; h++) DSX_TRY(hop(p, e, aim, &goes_on, err));
    return DSTOK_OK;
}

/* ---- where the value went */

static void add_token(const dsx_prompt *p, size_t i, double score, dsx_sums *sums) {
    dstok_span t = p->spans[i];
    size_t at = 0;

    if (t.begin == t.end) sums->special += score;
    for (size_t s = 0; s < p->n_segments && t.begin < t.end; at += p->segments[s++].len) {
        size_t end = at + p->segments[s].len, b = t.begin > at ? t.begin : at, e = t.end < end ? t.end : end;
        uint32_t role = p->segments[s].role;
        double part = b < e ? score * (double)(e - b) / (double)(t.end - t.begin) : 0;

        if (role == DSTOK_ROLE_SOURCE)
            sums->sources += part;
        else if (role == DSTOK_ROLE_ANSWER)
            sums->response += part;
        else
            sums->template_text += part;
    }
}

static dstok_status add_up(const dsx_prompt *p, dsx__explaining *e, dstok_error *err) {
    dsx_sums *s = &e->out.sums;

    for (size_t i = 0; i < e->out.n; i++) {
        if (!isfinite(e->scores[i]))
            return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                             "the model gives numbers that are not finite for this text");
        add_token(p, i, e->scores[i], s);
    }
    s->residual = e->out.value - s->sources - s->special - s->template_text - s->response - s->bias;
    if (isfinite(e->out.value) && isfinite(e->out.logprob)) return DSTOK_OK;
    return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                     "the model gives numbers that are not finite for this text");
}

static bool warn(const dsx_prompt *p, dsx__explaining *e) {
    const dsx_explanation *x = &e->out;
    bool by_way_back = x->method == DSX_METHOD_ROWS || x->method == DSX_METHOD_FLOW, ok = true;
    double gain = positive(e->scores, 0, x->n);

    if (x->logprob < -3.0 * (double)(x->to - x->from))
        ok = dsx__explain_warn(e, "ANSWER_UNLIKELY", "the model itself finds this answer unlikely");
    if (by_way_back && fabs(x->sums.residual) > 1e-3 * fabs(x->value) + 1e-6)
        ok = ok && dsx__explain_warn(e, "RESIDUAL_HIGH",
                                     "scores do not quite add up: errors of arithmetic are large");
    if (x->method == DSX_METHOD_ATTENTION && x->first_mass > 0.5)
        ok = ok && dsx__explain_warn(
                       e, "SINK_MASS_HIGH",
                       "most attention rests on the first token, whatever the answer: these scores say "
                       "little");
    if (by_way_back && p->n_sources > 0 && x->sums.sources < 0.1 * gain)
        ok = ok &&
             dsx__explain_warn(e, "SOURCES_UNUSED",
                               "the answer hardly rests on the sources: it comes from the question, or from "
                               "what the model knows");
    return ok;
}

/* ---- */

static dstok_status run(dsx_prompt *p, dsx__explaining *e, dstok_error *err) {
    const dsx_explain_options *o = e->options;
    int64_t foil = -1;
    bool removes = o->method == DSX_METHOD_ABLATE || o->method == DSX_METHOD_LOO;

    if (o->foil != NULL && (e->foil_text = strdup(o->foil)) == NULL) return dsx__no_memory(err);
    e->out.foil = e->foil_text;
    DSX_TRY(dsx__find_tokens(p, o, &e->out, err));
    if (o->foil != NULL) DSX_TRY(find_foil(p, o->foil, &e->out, &foil, err));
    e->foil = foil;
    if (removes)
        DSX_TRY(dsx__ablate(p, e, err));
    else
        DSX_TRY(by_passes(p, e, foil, err));
    if (o->method == DSX_METHOD_REFINE) DSX_TRY(dsx__refine(p, e, err));
    e->out.scores = e->scores;
    e->out.routing = e->routing;
    e->out.logprobs = e->logprobs;
    DSX_TRY(add_up(p, e, err));
    if (!warn(p, e)) return dsx__no_memory(err);
    return o->verify > 0 ? dsx__trust(p, e, err) : DSTOK_OK;
}

static bool are_valid(const dsx_explain_options *o) {
    return o->struct_size == sizeof *o && o->method >= 0 && o->method < DSX_N_METHODS && o->hops <= 8 &&
           o->removal >= 0 && o->removal <= DSX_REMOVE_SWAP && o->masks <= 4096 && o->verify <= 4096 &&
           (o->method != DSX_METHOD_AT2 || o->head_weights != NULL);
}

dstok_status dsx_explain(dsx_prompt *prompt, const dsx_explain_options *options, const dsx_explanation **out,
                         dstok_error *err) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    dsx__explaining *e;
    dstok_status status;

    if (options != NULL) o = *options;
    if (prompt == NULL || out == NULL || !are_valid(&o))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_explain: an argument is out of its domain");
    e = calloc(1, sizeof *e);
    if (e == NULL) return dsx__no_memory(err);
    e->options = &o;
    e->out.struct_size = sizeof e->out;
    e->out.method = o.method;
    e->out.masks = o.masks;
    e->out.removal = o.removal;
    e->out.seed = o.seed;
    e->out.trust = (dsx_trust){
        .lds = NAN, .drop = {NAN, NAN, NAN}, .prior = NAN, .comprehensiveness = NAN, .sufficiency = NAN};
    e->out.seconds = -now();
    status = run(prompt, e, err);
    e->out.seconds += now();
    e->options = NULL;
    if (status == DSTOK_OK)
        *out = &e->out;
    else
        dsx_explanation_free(&e->out);
    return status;
}

uint64_t dsx_explain_bytes(const dsx_prompt *p, const dsx_explain_options *options) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    dsx_explanation x = {0};
    dsx__aim aim = {0};

    if (options != NULL) o = *options;
    if (!are_valid(&o) || dsx__find_tokens(p, &o, &x, NULL) != DSTOK_OK) return 0;
    aim = (dsx__aim){.from = x.from,
                     .to = x.to,
                     .foil = -1,
                     .first = first_row(p, o.method, x.from),
                     .only_attention = o.method == DSX_METHOD_AT2 || o.method == DSX_METHOD_ATTENTION,
                     .keep_bytes = o.keep_bytes};
    return dsx__attribute_bytes(p->model, &aim);
}

/* ---- rows of the sources */

/* A place in a source's text, which only moves on. */
typedef struct place {
    const char *text;
    size_t at;
    uint64_t line, column;
} place;

static void move_to(place *w, size_t at) {
    for (; w->at < at; w->at++) {
        if (w->text[w->at] == '\n') {
            w->line++;
            w->column = 1;
        } else if (((unsigned char)w->text[w->at] & 0xC0) != 0x80) {
            w->column++;
        }
    }
}

static dstok_status trace(const dsx_prompt *p, const dsx_explanation *x, const double *scores, int level,
                          dstok_trace_row **rows, size_t *n, dstok_error *err) {
    dstok_trace_input in = DSTOK_TRACE_INPUT_INIT;
    size_t cap = p->len + p->n_segments + 1;
    dstok_status status;

    in.text = p->text;
    in.len = p->len;
    in.spans = p->spans;
    in.scores = scores;
    in.n = x->n;
    in.segments = p->segments;
    in.n_segments = p->n_segments;
    status = dstok_trace(&in, level, NULL, 0, n, NULL, err);
    if (status == DSTOK_E_SPACE) cap = *n;
    *rows = malloc((cap + 1) * sizeof **rows);
    if (*rows == NULL) return dsx__no_memory(err);
    return dstok_trace(&in, level, *rows, cap, n, NULL, err);
}

typedef struct ranked {
    double score;
    size_t row;
} ranked;

static int compare(const void *a, const void *b) {
    const ranked *x = a, *y = b;

    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->row < y->row ? -1 : 1;
}

static bool rank(dsx_row *rows, size_t n) {
    ranked *order = malloc((n + 1) * sizeof *order);
    double positive = 0;

    if (order == NULL) return false;
    for (size_t i = 0; i < n; i++) {
        order[i] = (ranked){rows[i].score, i};
        positive += fmax(rows[i].score, 0);
    }
    qsort(order, n, sizeof *order, compare);
    for (size_t i = 0; i < n; i++) rows[order[i].row].rank = i + 1;
    for (size_t i = 0; i < n; i++) rows[i].share = positive > 0 ? fmax(rows[i].score, 0) / positive : 0;
    free(order);
    return true;
}

/* segment_at: byte of the text at which w->text begins. */
static dsx_row row_of(const dsx_prompt *p, const dstok_trace_row *t, size_t segment_at, place *w) {
    size_t source = p->segments[t->segment].source, skip = p->skips[source].bytes;
    dsx_row r = {.source = source, .score = t->sum};

    r.bytes = (dstok_span){t->bytes.begin - segment_at + skip, t->bytes.end - segment_at + skip};
    r.core = (dstok_span){t->core.begin - segment_at + skip, t->core.end - segment_at + skip};
    move_to(w, (size_t)(t->core.begin - segment_at));
    r.line = w->line;
    r.column = w->column;
    return r;
}

dstok_status dsx_explain_rows(const dsx_prompt *p, const dsx_explanation *x, int level, dsx_row *rows,
                              size_t cap, size_t *n, dstok_error *err) {
    dstok_trace_row *scores = NULL, *routing = NULL;
    size_t n_scores = 0, n_routing = 0, segment = SIZE_MAX, at = 0;
    place w = {0};
    dstok_status status;

    if (p == NULL || x == NULL || n == NULL || (rows == NULL && cap > 0))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, "dsx_explain_rows: an argument is NULL");
    status = trace(p, x, x->scores, level, &scores, &n_scores, err);
    if (status == DSTOK_OK && x->routing != NULL)
        status = trace(p, x, x->routing, level, &routing, &n_routing, err);
    *n = 0;
    for (size_t i = 0; i < n_scores && status == DSTOK_OK; i++) {
        const dstok_trace_row *t = &scores[i];

        while (segment != t->segment) {
            at += segment != SIZE_MAX ? p->segments[segment].len : 0;
            segment++;
            w = (place){p->text + at, 0, 1, 1};
            if (p->segments[segment].role == DSTOK_ROLE_SOURCE) {
                w.line = p->skips[p->segments[segment].source].line;
                w.column = p->skips[p->segments[segment].source].column;
            }
        }
        if (p->segments[segment].role != DSTOK_ROLE_SOURCE) continue;
        if (*n < cap) {
            rows[*n] = row_of(p, t, at, &w);
            if (routing != NULL) rows[*n].routing = routing[i].sum;
        }
        ++*n;
    }
    free(scores);
    free(routing);
    if (status != DSTOK_OK) return status;
    if (*n > cap) return dsx__fail(err, DSTOK_E_SPACE, DSTOK_NO_OFFSET, "there are %zu rows", *n);
    return rank(rows, *n) ? DSTOK_OK : dsx__no_memory(err);
}
