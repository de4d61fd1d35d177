/* SPDX-License-Identifier: MIT */
/* How far the text that is kept can be encoded, whatever comes behind it. */
#include "inside.h"

#include "../pretok/scan.h"

/* Where nothing but merging says what is final, tokens of the last s->hold bytes are not: text that far
 * away changes no token of any vocabulary that is known. That it did not is checked
 * (dstok__stream_goes_on). */

/* ---- places between tokens ---- */

static bool is_plain(const dstok_stream *s, size_t i) {
    const dstok__sink *out = &s->enc->out;
    uint32_t id = out->ids[i];
    if (out->flags[i] & (DSTOK_FLAG_ADDED | DSTOK_FLAG_TEMPLATE | DSTOK_FLAG_UNKNOWN | DSTOK_FLAG_PARTIAL))
        return false;
    return id < s->tok->n_ids && !(s->tok->flags[id] & DSTOK__TOKEN_BYTE) && s->tok->t.texts[id].n > 0 &&
           out->spans[i].end > out->spans[i].begin;
}

/* What two texts merge to apart they merge to together when the last token of the one and the first of the
 * other stay (parts.c). The tokens given out were found so, with what followed them then; now more does. */
dstok_status dstok__stream_goes_on(dstok_stream *s, size_t first, dstok_error *err) {
    bool stay = false;
    if (!s->is_within) return DSTOK_OK;
    if (first < s->enc->out.n && is_plain(s, first))
        DSTOK_TRY(dstok__tokens_stay(s->enc, s->left_id, s->enc->out.ids[first], &s->opt, &stay));
    if (stay) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_LIMIT, s->at, 0,
                       "a token here depends on text more than %zu bytes behind it", s->hold);
}

/* Is there a place between tokens i - 1 and i where the text may be broken? */
static dstok_status is_between(dstok_stream *s, size_t first, size_t i, bool *is_place) {
    const dstok__sink *out = &s->enc->out;
    *is_place = false;
    if (i <= first || !is_plain(s, i - 1) || !is_plain(s, i)) return DSTOK_OK;
    uint64_t at = out->spans[i].begin;
    if (out->spans[i - 1].end != at || !dstok__seam_at(&s->seams, s->text, s->len, (size_t)(at - s->at)))
        return DSTOK_OK;
    return dstok__tokens_stay(s->enc, out->ids[i - 1], out->ids[i], &s->opt, is_place);
}

/* ---- what is kept of tokens that were found for too much text ---- */

/* Counts for text[0, len) alone. */
static dstok_status count_again(dstok_stream *s, size_t len, dstok_report *report, dstok_error *err) {
    dstok__sink tokens = s->enc->out; /* counting may write to it */
    dstok__part part = s->tried;
    part.begins = NULL;
    dstok_encode_options opt = s->opt;
    opt.max_tokens = 0;
    s->enc->out = (dstok__sink){.al = tokens.al};
    dstok_status status = dstok__encode_part(s->enc, s->text, len, &part, &opt, DSTOK__WANT_COUNT, err);
    dstok__sink_free(&s->enc->out);
    s->enc->out = tokens;
    *report = s->enc->report;
    return status;
}

static bool has_counts(const dstok_report *r) {
    return (r->n_unknown | r->n_dropped | r->n_invalid | r->n_special_text) != 0;
}

/* The first n tokens are those of text[0, len), and no more are kept. */
static dstok_status keep(dstok_stream *s, size_t n, size_t len, dstok_error *err) {
    dstok_report report = s->enc->report;
    s->enc->out.n = n;
    if (!has_counts(&report)) return DSTOK_OK;
    DSTOK_TRY(count_again(s, len, &report, err));
    dstok__stream_add_report(s, &report);
    return DSTOK_OK;
}

dstok_status dstok__stream_keep_tokens(dstok_stream *s, size_t first, size_t most, size_t *done,
                                       dstok_error *err) {
    dstok__sink *out = &s->enc->out;
    *done = 0;
    for (size_t i = out->n; i-- > first;) {
        bool is_place = false;
        if (out->spans[i].begin > s->at + most) continue;
        if (out->spans[i].begin <= s->at) break;
        DSTOK_TRY(is_between(s, first, i, &is_place));
        if (!is_place) continue;
        *done = (size_t)(out->spans[i].begin - s->at);
        s->left_id = out->ids[i - 1];
        s->is_within = true;
        return keep(s, i, *done, err);
    }
    out->n = first;
    return DSTOK_OK;
}

static bool is_raw_token(const dstok_stream *s, size_t i) {
    const dstok__added_set *set = s->seams.raw.set;
    if (!(s->enc->out.flags[i] & DSTOK_FLAG_ADDED)) return false;
    for (size_t k = 0; k < set->n; k++)
        if (set->entries[k].id == s->enc->out.ids[i]) return true;
    return false;
}

/* The text behind an added token is normalised and cut by itself. *done  [out] where the last of them ends
 * that cannot be a longer one, 0: none. */
static dstok_status keep_to_added(dstok_stream *s, size_t first, size_t *done, dstok_error *err) {
    dstok__sink *out = &s->enc->out;
    *done = 0;
    for (size_t i = out->n; i-- > first;) {
        uint64_t end = out->spans[i].end;
        if (!is_raw_token(s, i) || end + s->seams.raw.longest + 4 > s->at + s->len) continue;
        if (s->seams.raw.flags & DSTOK__ADDED_SINGLE_WORD) break;
        if (dstok__seam_is_crossed(&s->seams, s->text, (size_t)(end - s->at))) continue;
        *done = (size_t)(end - s->at);
        DSTOK_TRY(keep(s, i + 1, *done, err));
        dstok__stream_drop(s, *done, true);
        return DSTOK_OK;
    }
    out->n = first;
    return DSTOK_OK;
}

/* All of text[0, len) with places between tokens in mind. */
static dstok_status encode_all(dstok_stream *s, size_t len, dstok_error *err) {
    dstok__part part = dstok__stream_part(s, true);
    part.is_piece = s->way == DSTOK__WAY_TOKENS;
    return dstok__stream_encode(s, len, &part, true, err);
}

/* ---- the ways ---- */

size_t dstok__stream_last_break(const dstok_stream *s) {
    size_t most = s->len;
    for (size_t at = most; at > 0 && at + DSTOK__STREAM_STEP > most; at--)
        if (dstok__seam_at(&s->seams, s->text, s->len, at)) return at;
    return 0;
}

static dstok_status by_tokens(dstok_stream *s, size_t *done, dstok_error *err) {
    size_t first = s->enc->out.n, end = dstok__stream_last_break(s);
    *done = 0;
    if (end <= s->hold) return DSTOK_OK;
    DSTOK_TRY(encode_all(s, end, err));
    DSTOK_TRY(dstok__stream_goes_on(s, first, err));
    size_t n = s->enc->out.n;
    DSTOK_TRY(dstok__stream_keep_tokens(s, first, end - s->hold, done, err));
    if (*done > 0) {
        dstok__stream_drop(s, *done, false);
        return DSTOK_OK;
    }
    s->enc->out.n = n;
    return keep_to_added(s, first, done, err);
}

/* Takes back what stands behind a place, and counts what stands before. */
static dstok_status keep_begin(dstok_stream *s, const dstok__begin *b, dstok_error *err) {
    dstok_report report = b->report, again = s->enc->report;
    s->enc->out.n = b->n;
    if (b->at > b->covered) report.n_dropped += b->at - b->covered;
    if (again.n_invalid > 0 || again.n_special_text > 0) { /* these were counted for all of it beforehand */
        DSTOK_TRY(count_again(s, (size_t)b->at, &again, err));
        report.n_invalid = again.n_invalid;
        report.first_invalid = again.first_invalid;
        report.n_special_text = again.n_special_text;
        report.first_special = again.first_special;
    }
    dstok__stream_add_report(s, &report);
    return DSTOK_OK;
}

static dstok_status by_steps(dstok_stream *s, size_t *done, dstok_error *err) {
    size_t first = s->enc->out.n, end = dstok__stream_last_break(s);
    dstok__part part = dstok__stream_part(s, true);
    dstok__begins *b = &s->begins;
    *done = b->n = 0;
    part.begins = b;
    if (end == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__stream_encode(s, end, &part, true, err));
    for (size_t i = b->n; i-- > 0 && i + DSTOK__BEGINS >= b->n;) {
        const dstok__begin *row = &b->rows[i % DSTOK__BEGINS];
        if (!dstok__seam_at(&s->seams, s->text, s->len, (size_t)row->at)) continue;
        *done = (size_t)row->at;
        DSTOK_TRY(keep_begin(s, row, err));
        dstok__stream_drop(s, *done, false);
        return DSTOK_OK;
    }
    return keep_to_added(s, first, done, err);
}

static dstok_status by_families(dstok_stream *s, size_t *done, dstok_error *err) {
    dstok__part part = dstok__stream_part(s, true);
    if (s->n_head > 0) return dstok__stream_long(s, done, err);
    *done = dstok__seam_last(&s->seams, s->text, s->len);
    if (*done > 0) {
        DSTOK_TRY(dstok__stream_encode(s, *done, &part, false, err));
        dstok__stream_drop(s, *done, false);
        return DSTOK_OK;
    }
    if (s->len < 2 * s->step && s->len < s->max_held) return DSTOK_OK;
    size_t first = s->enc->out.n;
    DSTOK_TRY(encode_all(s, dstok__whole_characters(s->text, s->len), err));
    bool has_added = false;
    for (size_t i = first; i < s->enc->out.n; i++)
        has_added |= (s->enc->out.flags[i] & DSTOK_FLAG_ADDED) != 0;
    DSTOK_TRY(keep_to_added(s, first, done, err));
    return *done > 0 || has_added ? DSTOK_OK : dstok__stream_long(s, done, err);
}

dstok_status dstok__stream_some(dstok_stream *s, size_t *done, dstok_error *err) {
    *done = 0;
    switch (s->way) {
    case DSTOK__WAY_SURE:
        return by_families(s, done, err);
    case DSTOK__WAY_OPEN:
        return by_steps(s, done, err);
    case DSTOK__WAY_TOKENS:
        return by_tokens(s, done, err);
    default:
        return DSTOK_OK;
    }
}

dstok_status dstok__stream_rest(dstok_stream *s, dstok_error *err) {
    if (s->n_head > 0 && s->len > 0) {
        DSTOK_TRY(dstok__stream_end_long(s, err));
        if (s->len == 0) return DSTOK_OK;
    }
    size_t first = s->enc->out.n;
    dstok__part part = dstok__stream_part(s, false);
    part.is_piece = s->way == DSTOK__WAY_TOKENS && s->is_within;
    DSTOK_TRY(dstok__stream_encode(s, s->len, &part, false, err));
    return s->is_within ? dstok__stream_goes_on(s, first, err) : DSTOK_OK;
}
