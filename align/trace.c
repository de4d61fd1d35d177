/* SPDX-License-Identifier: MIT */
/* Scores of tokens, shared out among the parts of a text. */
#include <dstok/trace.h>

#include "breaks.h"
#include "map.h"

#include "../data/unicode/unicode.h"
#include "../tokenizer/base/base.h"
#include "../tokenizer/base/sized.h"

#include <math.h>
#include <string.h>

/* A walk over the text: one row after the other, and the tokens along with them. */
typedef struct walk {
    const dstok_trace_input *in;
    const uint8_t *text;
    int level;
    size_t begin, end; /* the segment */
    size_t segment;
    size_t first; /* the first token that ends behind where the walk is */
} walk;

static bool is_blank(const walk *w, size_t at, size_t *width) {
    return dstok__uc_is_space(dstok__code_at(w->text, w->end, at, width));
}

/* Where the white space from `at` on ends. */
static size_t behind_blanks(const walk *w, size_t at) {
    size_t width;
    while (at < w->end && is_blank(w, at, &width)) at += width;
    return at;
}

/* Where the white space begins that ends at `end`, not before `from`. */
static size_t before_blanks(const walk *w, size_t from, size_t end) {
    size_t width;
    while (end > from) {
        size_t last = dstok__char_before(w->text, end, end);
        if (last < from || !is_blank(w, last, &width)) break;
        end = last;
    }
    return end;
}

/* Without white space at both ends; all of it where there is nothing else. */
static dstok_span core_of(const walk *w, dstok_span bytes) {
    walk part = *w;
    part.end = (size_t)bytes.end;
    size_t begin = behind_blanks(&part, (size_t)bytes.begin);
    if (begin == bytes.end) return bytes;
    dstok_span core = {begin, before_blanks(&part, begin, part.end)};
    return core;
}

/* ---- where rows end ---- */

static bool is_empty(const dstok_span *s) {
    return s->begin == s->end;
}

typedef size_t next_fn(const uint8_t *text, size_t len, size_t at);

/* A part and the white space before it; at the end of the segment also the white space behind it. */
static size_t part_end(const walk *w, size_t at, next_fn *next) {
    size_t begin = behind_blanks(w, at);
    if (begin == w->end) return w->end;
    size_t end = w->begin + next(w->text + w->begin, w->end - w->begin, begin - w->begin);
    if (behind_blanks(w, end) == w->end) return w->end;
    return before_blanks(w, begin, end);
}

/* Tokens that share characters with the one that holds `at`; where none does, the next token's begin. */
static size_t token_end(const walk *w, size_t at) {
    const dstok_trace_input *in = w->in;
    size_t i = w->first, end;
    while (i < in->n && (is_empty(&in->spans[i]) || in->spans[i].end <= at)) i++;
    if (i == in->n) return w->end;
    end = dstok__char_of(w->text, in->len, (size_t)in->spans[i].begin);
    if (end > at) return end < w->end ? end : w->end; /* a gap */
    end = dstok__char_end(w->text, in->len, (size_t)in->spans[i].end);
    for (i++; i < in->n && in->spans[i].begin < end; i++) {
        size_t next = dstok__char_end(w->text, in->len, (size_t)in->spans[i].end);
        if (next > end && !is_empty(&in->spans[i])) end = next;
    }
    return end < w->end ? end : w->end;
}

static size_t row_end(const walk *w, size_t at) {
    switch (w->level) {
    case DSTOK_TRACE_TOKEN:
        return token_end(w, at);
    case DSTOK_TRACE_WORD:
        return part_end(w, at, dstok__next_word);
    case DSTOK_TRACE_SENTENCE:
        return part_end(w, at, dstok__next_sentence);
    case DSTOK_TRACE_PARAGRAPH:
        return part_end(w, at, dstok__next_paragraph);
    default:
        return w->end;
    }
}

/* ---- rows ---- */

/* What a token gives to a row: its share in bytes. */
static void add_share(const dstok_trace_input *in, size_t i, dstok_trace_row *row) {
    const dstok_span *s = &in->spans[i];
    uint64_t from = s->begin > row->bytes.begin ? s->begin : row->bytes.begin;
    uint64_t to = s->end < row->bytes.end ? s->end : row->bytes.end;
    double share = (double)(to - from) / (double)(s->end - s->begin);
    if (row->weight <= 0 || in->scores[i] > row->max) row->max = in->scores[i];
    row->weight += share;
    row->sum += in->scores[i] * share;
}

static void fill_row(walk *w, size_t begin, size_t end, dstok_trace_row *row) {
    const dstok_trace_input *in = w->in;
    size_t i;
    memset(row, 0, sizeof *row);
    row->bytes.begin = begin;
    row->bytes.end = end;
    row->core = w->level == DSTOK_TRACE_TOKEN ? row->bytes : core_of(w, row->bytes);
    row->segment = w->segment;
    while (w->first < in->n && in->spans[w->first].end <= begin) w->first++;
    row->tokens.begin = row->tokens.end = w->first;
    for (i = w->first; i < in->n && in->spans[i].begin < end; i++) {
        if (is_empty(&in->spans[i])) continue;
        if (row->weight <= 0) row->tokens.begin = i;
        add_share(in, i, row);
        row->tokens.end = i + 1;
    }
}

typedef struct output {
    dstok_trace_row *rows;
    size_t cap, n;
} output;

static void trace_segment(walk *w, output *out) {
    for (size_t at = w->begin, end; at < w->end; at = end) {
        end = row_end(w, at);
        dstok_trace_row row;
        fill_row(w, at, end, &row);
        /* a gap; or a segment that ends inside of a character, of which its token holds nothing on this side */
        if (w->level == DSTOK_TRACE_TOKEN && row.weight <= 0) continue;
        if (out->n < out->cap) out->rows[out->n] = row;
        out->n++;
    }
}

/* ---- what is given ---- */

static dstok_status check_segments(const dstok_trace_input *in, dstok_error *err) {
    size_t left = in->len;
    for (size_t i = 0; i < in->n_segments; i++) {
        if (in->segments[i].len > left) break;
        left -= in->segments[i].len;
        if (i + 1 == in->n_segments && left == 0) return DSTOK_OK;
    }
    return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                       "trace: the lengths of the segments do not add up to that of the text");
}

static dstok_status check(const dstok_trace_input *in, int level, dstok_error *err) {
    if ((in->text == NULL && in->len > 0) || ((in->spans == NULL || in->scores == NULL) && in->n > 0) ||
        (in->segments == NULL && in->n_segments > 0))
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "trace: a pointer is NULL");
    if (level < DSTOK_TRACE_TOKEN || level > DSTOK_TRACE_SOURCE)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "trace: unknown level %d", level);
    for (size_t i = 0; i < in->n; i++)
        if (!isfinite(in->scores[i]))
            return dstok__fail(err, DSTOK_E_INVAL, i, 0,
                               "the score of token %llu is %s; scores are finite numbers",
                               (unsigned long long)i, isnan(in->scores[i]) ? "NaN" : "infinite");
    DSTOK_TRY(dstok__spans_check(in->spans, in->n, in->len, err));
    return in->n_segments > 0 ? check_segments(in, err) : DSTOK_OK;
}

static void add_up(const dstok_trace_input *in, dstok_trace_sums *sums) {
    memset(sums, 0, sizeof *sums);
    for (size_t i = 0; i < in->n; i++) {
        sums->total += in->scores[i];
        if (!is_empty(&in->spans[i])) continue;
        sums->n_outside++;
        sums->outside += in->scores[i];
    }
}

dstok_status dstok_trace(const dstok_trace_input *given, int level, dstok_trace_row *rows, size_t cap,
                         size_t *n_rows, dstok_trace_sums *sums, dstok_error *err) {
    dstok_trace_input in = DSTOK_TRACE_INPUT_INIT;
    DSTOK_TRY(dstok__sized_check(given, DSTOK__SIZE_TO(dstok_trace_input, n_segments), "trace_input",
                                 "DSTOK_TRACE_INPUT_INIT", err));
    dstok__sized_read(&in, sizeof in, given);
    if (n_rows == NULL || (rows == NULL && cap > 0))
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "trace: a pointer is NULL");
    DSTOK_TRY(check(&in, level, err));
    walk w = {&in, in.text, level, 0, in.len, 0, 0};
    output out = {rows, cap, 0};
    if (in.n_segments == 0) trace_segment(&w, &out);
    for (w.end = 0; w.segment < in.n_segments; w.segment++) {
        w.begin = w.end;
        w.end += in.segments[w.segment].len;
        trace_segment(&w, &out);
    }
    if (sums != NULL) add_up(&in, sums);
    *n_rows = out.n;
    if (out.n > cap)
        return dstok__fail(err, DSTOK_E_SPACE, DSTOK_NO_OFFSET, 0, "trace: there are %llu rows",
                           (unsigned long long)out.n);
    return DSTOK_OK;
}

size_t dstok_trace_join(dstok_trace_row *rows, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        dstok_trace_row *last = kept > 0 ? &rows[kept - 1] : NULL;
        if (last == NULL || last->segment != rows[i].segment || last->bytes.end != rows[i].bytes.begin) {
            rows[kept++] = rows[i];
            continue;
        }
        if (last->weight <= 0 || (rows[i].weight > 0 && rows[i].max > last->max)) last->max = rows[i].max;
        last->bytes.end = rows[i].bytes.end;
        last->core.end = rows[i].core.end;
        last->tokens.end = rows[i].tokens.end;
        last->sum += rows[i].sum;
        last->weight += rows[i].weight;
    }
    return kept;
}

dstok_status dstok_trace_fit(size_t n_scores, size_t n, int pad, size_t *first, dstok_error *err) {
    if (pad < DSTOK_PAD_NONE || pad > DSTOK_PAD_RIGHT || first == NULL)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "trace: unknown kind of padding");
    if (n_scores < n || (n_scores > n && pad == DSTOK_PAD_NONE))
        return dstok__fail(err, DSTOK_E_RANGE, DSTOK_NO_OFFSET, 0, "there are %llu scores for %llu tokens",
                           (unsigned long long)n_scores, (unsigned long long)n);
    *first = pad == DSTOK_PAD_LEFT ? n_scores - n : 0;
    return DSTOK_OK;
}
