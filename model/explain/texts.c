/* SPDX-License-Identifier: MIT */
/* Texts are read in the order of their masks by one session, which goes back to where a text parts from the one
 * before: so what they begin with in common is read once. */
#include "explain/texts.h"

#include "arch/model.h"
#include "base.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tokens of a text up to the last that is explained, and how much further back they stand than they stood. */
typedef struct text {
    uint32_t *ids;
    uint64_t *shifts;
    double *logprobs; /* [to - from] of those that are explained */
    size_t cap, from, to;
} text;

/* A text's bytes from `at` on are those of the prompt's from `origin` on. */
typedef struct piece {
    size_t at, origin;
} piece;

typedef struct reader {
    const dsx__texts *t;
    dsx_session *session;
    char *bytes;
    size_t n_bytes, cap_bytes;
    dstok_segment *segments;
    piece *pieces; /* [2 * n_units + n_segments + 1] at most */
    size_t n_pieces;
    size_t border; /* the first token of the response, if one ends before it; else SIZE_MAX */
    text texts[2], *now, *before;
    size_t n_before, n_rows;
} reader;

double dsx__log_odds(double logprob) {
    double l = fmin(logprob, -1e-12);

    return l - (l > -0.693 ? log(-expm1(l)) : log1p(-exp(l)));
}

double dsx__share(dstok_span token, dstok_span of) {
    uint64_t begin = token.begin > of.begin ? token.begin : of.begin,
             end = token.end < of.end ? token.end : of.end;

    return begin < end ? (double)(end - begin) / (double)(token.end - token.begin) : 0;
}

/* ---- sentences */

static bool is_blank(const char *bytes, dstok_span s) {
    for (uint64_t i = s.begin; i < s.end; i++)
        if (strchr(" \t\r\n", bytes[i]) == NULL || bytes[i] == '\0') return false;
    return true;
}

static dstok_status find_units(dsx__texts *t, const double *scores, dstok_trace_row *rows, size_t cap,
                               dstok_error *err) {
    const dsx_prompt *p = t->p;
    dstok_trace_input in = DSTOK_TRACE_INPUT_INIT;
    size_t n;

    in.text = p->text;
    in.len = p->len;
    in.spans = p->spans;
    in.scores = scores;
    in.n = p->n;
    in.segments = p->segments;
    in.n_segments = p->n_segments;
    DSX_TRY(dstok_trace(&in, DSTOK_TRACE_SENTENCE, rows, cap, &n, NULL, err));
    t->units = malloc((n + 1) * sizeof *t->units);
    if (t->units == NULL) return dsx__no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (p->segments[rows[i].segment].role == DSTOK_ROLE_SOURCE && !is_blank(p->text, rows[i].bytes))
            t->units[t->n_units++] =
                (dsx__unit){rows[i].bytes, rows[i].core, rows[i].segment,
                            (double)(rows[i].tokens.end - rows[i].tokens.begin), rows[i].sum};
    return DSTOK_OK;
}

dstok_status dsx__texts_new(dsx_prompt *p, dsx__explaining *e, dsx__texts *out, dstok_error *err) {
    size_t cap = p->len + p->n_segments;
    dstok_trace_row *rows = malloc((cap + 1) * sizeof *rows);
    double *scores = calloc(p->n + 1, sizeof *scores);
    dstok_status status;

    *out = (dsx__texts){.p = p, .e = e};
    if (e->options->removal == DSX_REMOVE_GAP && (p->model->alibi != 0 || p->model->config.window > 0))
        status = dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET,
                           "this model counts tokens, not positions: gaps cannot be left in its text");
    else
        status = rows != NULL && scores != NULL ? DSTOK_OK : dsx__no_memory(err);
    if (status == DSTOK_OK && e->scores != NULL) memcpy(scores, e->scores, e->out.n * sizeof *scores);
    if (status == DSTOK_OK) status = find_units(out, scores, rows, cap, err);
    free(scores);
    free(rows);
    return status;
}

void dsx__texts_free(dsx__texts *t) {
    free(t->units);
    free(t->masks);
    free(t->logprobs);
    free(t->values);
    memset(t, 0, sizeof *t);
}

/* ---- masks */

static bool find(const dsx__texts *t, const uint8_t *mask, size_t *index) {
    for (*index = 0; *index < t->n; ++*index)
        if (memcmp(t->masks + *index * t->n_units, mask, t->n_units) == 0) return true;
    return false;
}

bool dsx__texts_add(dsx__texts *t, const uint8_t *mask, size_t *index) {
    if (t->n > 0 && find(t, mask, index)) return true;
    if (t->n == t->cap) {
        size_t cap = 2 * t->cap + 64;
        uint8_t *masks =
            cap <= SIZE_MAX / (t->n_units + 1) ? realloc(t->masks, cap * (t->n_units + 1)) : NULL;

        if (masks == NULL) return false;
        t->masks = masks;
        t->cap = cap;
    }
    memcpy(t->masks + t->n * t->n_units, mask, t->n_units);
    *index = t->n++;
    return true;
}

/* Steele, Lea & Flood 2014: splitmix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static bool is_among(const size_t *index, uint32_t n, size_t one) {
    for (uint32_t i = 0; i < n; i++)
        if (index[i] == one) return true;
    return false;
}

bool dsx__texts_add_random(dsx__texts *t, uint32_t n, uint64_t seed, uint64_t stream, size_t *index) {
    bool all = t->n_units < 32 && n >= (uint64_t)1 << t->n_units, ok = true;
    uint8_t *mask = malloc(t->n_units + 1);
    uint64_t state = seed ^ stream << 32;

    for (uint32_t i = 0; ok && mask != NULL && i < n; i++) {
        do {
            uint64_t bits = 0;

            for (size_t u = 0; u < t->n_units; u++, bits >>= 1) {
                if (u % 64 == 0) bits = all ? i : next_random(&state);
                mask[u] = bits & 1;
            }
            ok = dsx__texts_add(t, mask, &index[i]);
        } while (ok && !all && is_among(index, i, index[i]));
    }
    free(mask);
    return ok && mask != NULL;
}

/* ---- a text */

static bool put(reader *r, const char *bytes, size_t n, size_t origin) {
    if (r->n_bytes + n > r->cap_bytes) {
        size_t cap = 2 * (r->n_bytes + n);
        char *more = realloc(r->bytes, cap);

        if (more == NULL) return false;
        r->bytes = more;
        r->cap_bytes = cap;
    }
    if (n > 0) memcpy(r->bytes + r->n_bytes, bytes, n);
    r->pieces[r->n_pieces++] = (piece){r->n_bytes, origin};
    r->n_bytes += n;
    return true;
}

/* Common words, about as many as the sentence has tokens. */
static bool put_words(reader *r, const dsx__unit *u) {
    static const char *const words[] = {"and", "so", "it", "was", "as", "they", "had", "been", "then", "too"};
    char *line = malloc((size_t)u->tokens * 5 + 8);
    size_t n = 0;
    bool ok;

    if (line == NULL) return false;
    for (size_t i = 0; i + 1 < (size_t)u->tokens || i == 0; i++) {
        const char *word = words[i % (sizeof words / sizeof *words)];

        if (i > 0) line[n++] = ' ';
        memcpy(line + n, word, strlen(word));
        n += strlen(word);
    }
    line[n++] = '.';
    ok = put(r, r->t->p->text + u->bytes.begin, (size_t)(u->core.begin - u->bytes.begin), u->bytes.begin) &&
         put(r, line, n, u->core.begin) &&
         put(r, r->t->p->text + u->core.end, (size_t)(u->bytes.end - u->core.end), u->core.end);
    free(line);
    return ok;
}

/* The units of one source, from *unit on. */
static bool put_source(reader *r, size_t segment, const uint8_t *mask, size_t *unit) {
    const dsx__texts *t = r->t;
    bool any = false, swap = t->e->options->removal == DSX_REMOVE_SWAP, ok = true;
    size_t first = *unit;

    for (; *unit < t->n_units && t->units[*unit].segment == segment; ++*unit) {
        const dsx__unit *u = &t->units[*unit];
        size_t begin = any || *unit == first ? u->bytes.begin : u->core.begin;

        if (mask[*unit])
            ok = ok && put(r, t->p->text + begin, u->bytes.end - begin, begin);
        else if (swap)
            ok = ok && put_words(r, u);
        any = any || mask[*unit] || swap;
    }
    return ok;
}

static bool put_all(reader *r, const uint8_t *mask) {
    const dsx_prompt *p = r->t->p;
    size_t at = 0, unit = 0;
    bool ok = true;

    r->n_bytes = r->n_pieces = 0;
    for (size_t i = 0; ok && i < p->n_segments; at += p->segments[i++].len) {
        size_t before = r->n_bytes;
        bool has_units = unit < r->t->n_units && r->t->units[unit].segment == i;

        ok = has_units ? put_source(r, i, mask, &unit) : put(r, p->text + at, p->segments[i].len, at);
        r->segments[i] = p->segments[i];
        r->segments[i].len = r->n_bytes - before;
    }
    return ok;
}

static bool room(text *t, size_t n) {
    void *ids, *shifts, *logprobs;

    if (n <= t->cap) return true;
    if ((ids = realloc(t->ids, n * sizeof *t->ids)) != NULL) t->ids = ids;
    if ((shifts = realloc(t->shifts, n * sizeof *t->shifts)) != NULL) t->shifts = shifts;
    if ((logprobs = realloc(t->logprobs, n * sizeof *t->logprobs)) != NULL) t->logprobs = logprobs;
    if (ids == NULL || shifts == NULL || logprobs == NULL) return false;
    t->cap = n;
    return true;
}

/* The token of the prompt at the place of a text's byte; *at (a piece) and *token only move on. */
static size_t token_at(const reader *r, uint64_t byte, size_t *at, size_t *token) {
    const dsx_prompt *p = r->t->p;

    while (*at + 1 < r->n_pieces && r->pieces[*at + 1].at <= byte) ++*at;
    byte += r->pieces[*at].origin - r->pieces[*at].at;
    while (*token + 1 < p->n && p->spans[*token].end <= byte) ++*token;
    return *token;
}

/* How far the tokens of the text stand back; the first of them is the prompt's token `first`. */
static void find_shifts(const reader *r, const dstok_span *spans, size_t n, text *t, size_t first) {
    size_t at_piece = 0, token = first;

    for (size_t i = 0; i < n; i++) {
        size_t at = token_at(r, spans[i].begin, &at_piece, &token);
        uint64_t last = first + i > 0 ? t->shifts[first + i - 1] : 0;

        t->shifts[first + i] = at > first + i + last ? at - first - i : last;
    }
}

/* The tokens that are explained among those of the response, when they were made anew. */
static void find_by_bytes(const reader *r, const dstok_span *spans, size_t n, size_t first, text *t) {
    const dsx_explanation *x = &r->t->e->out;
    uint64_t response = r->n_bytes - r->segments[r->t->p->n_segments - 1].len;

    t->from = t->to = first + n;
    for (size_t i = n; i-- > 0;)
        if (spans[i].end > response + x->begin && spans[i].begin < response + x->end) t->from = first + i;
    for (size_t i = 0; i < n; i++)
        if (spans[i].begin < response + x->end && spans[i].end > spans[i].begin) t->to = first + i + 1;
    if (t->to - t->from > x->to - x->from && r->t->e->foil >= 0) t->to = t->from + 1;
}

static dstok_status make_text(reader *r, const uint8_t *mask, dstok_error *err) {
    const dsx_prompt *p = r->t->p;
    const dsx_explanation *x = &r->t->e->out;
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    bool keeps = r->border != SIZE_MAX;
    size_t n_segments = p->n_segments - keeps, first = p->bos >= 0, len, n;
    text *t = r->now;
    dstok_tokens tokens;

    if (!put_all(r, mask)) return dsx__no_memory(err);
    len = r->n_bytes - (keeps ? r->segments[n_segments].len : 0);
    o.add_special = !p->is_chat;
    DSX_TRY(dstok_encode_segments(p->enc, r->bytes, len, r->segments, n_segments, &o, &tokens, err));
    n = tokens.n;
    while (keeps && n > 0 && tokens.spans[n - 1].begin == len && len > 0) n--; /* an end token */
    if (!room(t, first + n + p->n)) return dsx__no_memory(err);
    if (first > 0) t->ids[0] = (uint32_t)p->bos;
    memcpy(t->ids + first, tokens.ids, n * sizeof *t->ids);
    memset(t->shifts, 0, (first + n + p->n) * sizeof *t->shifts);
    if (r->t->e->options->removal == DSX_REMOVE_GAP) find_shifts(r, tokens.spans, n, t, first);
    n += first;
    if (!keeps) {
        find_by_bytes(r, tokens.spans, tokens.n, first, t);
        return DSTOK_OK;
    }
    t->from = n + x->from - r->border;
    t->to = n + x->to - r->border;
    for (size_t i = n; i < t->to; i++) {
        t->ids[i] = p->ids[r->border + i - n];
        if (r->t->e->options->removal == DSX_REMOVE_GAP) t->shifts[i] = r->border - n;
    }
    return DSTOK_OK;
}

/* ---- reading */

/* Rows of the text from n on that are read at once, up to `to`: they have one shift. */
static size_t run_end(const text *t, size_t n, size_t to) {
    size_t end = n + 1;

    while (end < to && t->shifts[end] == t->shifts[n]) end++;
    return end;
}

static dstok_status read_text(reader *r, double *logprob, dstok_error *err) {
    text *t = r->now, *b = r->before;
    size_t n = 0, n_before = r->n_before, from = t->from > 0 ? t->from : 1, done = 0, end;

    *logprob = 0;
    if (t->from == 0 && t->to > 0)
        *logprob = -log(r->t->p->model->config.n_vocab); /* nothing stands before it */
    r->n_before = 0;
    if (from >= t->to) return DSTOK_OK;
    while (n < n_before && n < from - 1 && t->ids[n] == b->ids[n] && t->shifts[n] == b->shifts[n]) n++;
    DSX_TRY(dsx_session_truncate(r->session, n, err));
    r->n_rows += t->to - 1 - n;
    for (; n + 1 < t->to; n = end) {
        size_t first = n > from - 1 ? n : from - 1, some;

        end = run_end(t, n, t->to - 1);
        some = end > first ? end - first : 0;
        dsx__session_work(r->session)->shift = t->shifts[n];
        DSX_TRY(dsx__session_answer(r->session, t->ids + n, end - n + 1, some, t->logprobs + done, err));
        done += some;
    }
    for (size_t i = 0; i < done; i++) *logprob += t->logprobs[i];
    r->n_before = t->to - 1;
    return DSTOK_OK;
}

static dstok_status read_one(reader *r, dsx__texts *t, size_t which, dstok_error *err) {
    uint32_t foil = (uint32_t)t->e->foil;
    double other = 0;
    text *swap = r->before;

    r->before = r->now;
    r->now = swap;
    DSX_TRY(make_text(r, t->masks + which * t->n_units, err));
    DSX_TRY(read_text(r, &t->logprobs[which], err));
    t->values[which] = dsx__log_odds(t->logprobs[which]);
    if (t->e->foil >= 0) {
        DSX_TRY(dsx_session_next(r->session, &foil, 1, &other, err));
        t->values[which] = t->logprobs[which] - other;
    }
    if (!isfinite(t->logprobs[which]) || !isfinite(t->values[which]))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "the model gives numbers that are not finite for this text");
    return DSTOK_OK;
}

/* Texts by their masks: those that keep the same of the first sentences stand together. */
typedef struct ordered {
    const uint8_t *mask;
    size_t n, index;
} ordered;

static int compare(const void *a, const void *b) {
    const ordered *x = a, *y = b;

    return memcmp(y->mask, x->mask, x->n);
}

/* The response's first token, if the token before it ends there. */
static size_t find_border(const dsx_prompt *p) {
    size_t i = p->n;

    while (i > 0 && p->spans[i - 1].begin >= p->response && p->spans[i - 1].end > p->response) i--;
    return i == p->n || (i > 0 && p->spans[i - 1].end > p->response) ? SIZE_MAX : i;
}

static dstok_status read_all(reader *r, dsx__texts *t, ordered *order, dstok_error *err) {
    for (size_t i = 0; i < t->n; i++) order[i] = (ordered){t->masks + i * t->n_units, t->n_units, i};
    qsort(order, t->n, sizeof *order, compare);
    for (size_t i = 0; i < t->n; i++) {
        DSX_TRY(read_one(r, t, order[i].index, err));
        t->e->out.n_forward++;
        if (dsx__explain_step(t->e) != DSTOK_OK)
            return dsx__fail(err, DSTOK_E_CANCELED, DSTOK_NO_OFFSET, "asked to stop");
    }
    return DSTOK_OK;
}

dstok_status dsx__texts_read(dsx__texts *t, dstok_error *err) {
    const dsx_prompt *p = t->p;
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    ordered *order = malloc((t->n + 1) * sizeof *order);
    reader r = {.t = t, .now = &r.texts[0], .before = &r.texts[1], .border = find_border(p)};
    dstok_status status = DSTOK_E_NOMEM;

    r.segments = malloc((p->n_segments + 1) * sizeof *r.segments);
    r.pieces = malloc((3 * t->n_units + p->n_segments + 1) * sizeof *r.pieces);
    t->logprobs = calloc(t->n + 1, sizeof *t->logprobs);
    t->values = calloc(t->n + 1, sizeof *t->values);
    o.max_tokens = DSX__MAX_CONTEXT;
    t->e->all = t->e->done + t->n;
    if (order && r.segments && r.pieces && t->logprobs && t->values)
        status = dsx_session_new(p->model, &o, &r.session, err);
    else
        (void)dsx__no_memory(err);
    if (status == DSTOK_OK) {
        dsx__session_alone(r.session);
        status = read_all(&r, t, order, err);
    }
    t->n_rows += r.n_rows;
    dsx_session_free(r.session);
    for (int i = 0; i < 2; i++) {
        free(r.texts[i].ids);
        free(r.texts[i].shifts);
        free(r.texts[i].logprobs);
    }
    free(r.bytes);
    free(r.segments);
    free(r.pieces);
    free(order);
    return status;
}
