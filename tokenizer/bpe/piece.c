/* SPDX-License-Identifier: MIT */
/* Encoding of pretokens, and where their tokens stand in the source. */
#include "job.h"
#include "pool.h"
#include "raw.h"
#include "spans.h"

#include "../text/utf8.h"

/* ---- the sink ---- */

dstok_status dstok__sink_reserve(dstok__sink *s, size_t n) {
    DSTOK_TRY(dstok__grow(s->al, (void **)&s->ids, &s->cap_ids, n, sizeof *s->ids, SIZE_MAX));
    if (s->ids_only) return DSTOK_OK;
    DSTOK_TRY(dstok__grow(s->al, (void **)&s->spans, &s->cap_spans, n, sizeof *s->spans, SIZE_MAX));
    return dstok__grow(s->al, (void **)&s->flags, &s->cap_flags, n, 1, SIZE_MAX);
}

void dstok__sink_free(dstok__sink *s) {
    dstok__free(s->al, s->ids, s->cap_ids * sizeof *s->ids);
    dstok__free(s->al, s->spans, s->cap_spans * sizeof *s->spans);
    dstok__free(s->al, s->flags, s->cap_flags);
    s->ids = NULL;
    s->spans = NULL;
    s->flags = NULL;
    s->cap_ids = s->cap_spans = s->cap_flags = 0;
}

dstok_status dstok__job_push(job *j, uint32_t id, dstok_span span, unsigned flags) {
    dstok__sink *out = &j->enc->out;
    bool is_hf = j->opt.span_style == DSTOK_SPANS_HF; /* such spans do not say what is covered */
    if (!is_hf && span.begin > j->covered) j->enc->report.n_dropped += span.begin - j->covered;
    if (span.end > j->covered) j->covered = span.end;
    if (out->store) {
        DSTOK_TRY(dstok__sink_reserve(out, out->n + 1));
        out->ids[out->n] = id;
        if (!out->ids_only) {
            out->spans[out->n] = span;
            out->flags[out->n] = (uint8_t)flags;
        }
    }
    if (++out->n >= out->enough) return DSTOK__ENOUGH;
    if (flags & DSTOK_FLAG_ADDED) j->last_first = out->n;
    return DSTOK_OK;
}

/* ---- coordinates ---- */

dstok_span dstok__job_text_to_source(job *j, dstok__map_cursor *cursor, uint64_t begin, uint64_t end) {
    if (!j->is_replaced) return (dstok_span){begin, end};
    return dstok__map_range(cursor, (size_t)begin, (size_t)end);
}

/* A token without width inside of a changed character shares that character's range, as its other pieces do. */
static bool is_inside_edit(const job *j, size_t at, dstok_span *hull) {
    if (at == 0 || at >= j->norm_len) return false;
    *hull = dstok__map_range_at(j->edits.n, at - 1, at);
    dstok_span next = dstok__map_range_at(j->edits.n, at, at + 1);
    return hull->begin == next.begin && hull->end == next.end && hull->end > hull->begin;
}

dstok_span dstok__job_norm_to_source(job *j, size_t begin, size_t end) {
    dstok_span s = {begin, end};
    if (j->is_edited && !(begin == end && is_inside_edit(j, begin, &s)))
        s = dstok__map_range(&j->edits, begin, end);
    return dstok__job_text_to_source(j, &j->replaced, s.begin + j->base, s.end + j->base);
}

/* Where a part of the pretoken stands in norm. */
static dstok_span piece_to_norm(const job *j, size_t begin, size_t end) {
    dstok_span s = {begin, end};
    if (j->piece->level != NULL) s = dstok__level_map(j->piece->level, begin, end);
    return (dstok_span){s.begin + j->piece_base, s.end + j->piece_base};
}

/* Does a character go on at this place of the pretoken's text? */
static bool is_inside_character(const job *j, size_t at) {
    if (j->piece->level != NULL)
        return at < j->piece->level->text.len && dstok__is_continuation(j->piece->text[at]);
    at += j->piece_base;
    return at < j->norm_len && dstok__is_continuation(j->norm[at]);
}

dstok_status dstok__job_push_part(job *j, uint32_t id, size_t begin, size_t end, bool is_partial) {
    unsigned flags = id == j->tok->unk_id ? DSTOK_FLAG_UNKNOWN : 0;
    if (j->opt.span_style == DSTOK_SPANS_HF)
        return dstok__job_push(j, id, dstok__hf_trim(j, id, dstok__hf_part(j, begin, end)), flags);
    begin += j->piece->begin;
    end += j->piece->begin;
    if (is_partial || is_inside_character(j, begin) || is_inside_character(j, end))
        flags |= DSTOK_FLAG_PARTIAL;
    dstok_span s = piece_to_norm(j, begin, end);
    return dstok__job_push(j, id, dstok__job_norm_to_source(j, (size_t)s.begin, (size_t)s.end), flags);
}

dstok_status dstok__job_unknown(job *j, size_t begin, size_t end) {
    dstok_report *r = &j->enc->report;
    const uint8_t *text = j->piece->text + j->piece->begin;
    dstok_span s = piece_to_norm(j, j->piece->begin + begin, j->piece->begin + begin + 1);
    if (j->is_edited) s = dstok__map_range(&j->edits_unknown, (size_t)s.begin, (size_t)s.end);
    s = dstok__job_text_to_source(j, &j->replaced_unknown, s.begin + j->base, s.end + j->base);
    if (r->n_unknown++ == 0) r->first_unknown = s.begin;
    if (!j->opt.strict) return DSTOK_OK;
    const char *what = j->tok->unk_id != DSTOK__NO_ID ? "becomes the unknown token" : "is left out";
    if (end - begin == 1 && (!(j->tok->options & DSTOK__T_CHAR_ATOMS) || text[begin] >= 0x80))
        return dstok__fail(j->err, DSTOK_E_UNKNOWN, s.begin, 0,
                           "byte 0x%02X has no token in this vocabulary; without strict mode it %s",
                           text[begin], what);
    size_t width;
    return dstok__fail(j->err, DSTOK_E_UNKNOWN, s.begin, 0,
                       "U+%04X has no token in this vocabulary; without strict mode it %s",
                       dstok__utf8_get(text + begin, &width), what);
}

/* ---- pretokens ---- */

/* Notes that a pretoken begins at norm[at]. */
static void note_begin(job *j, size_t at) {
    dstok__begins *b = j->part.begins;
    b->rows[b->n++ % DSTOK__BEGINS] = (dstok__begin){at, j->covered, j->enc->out.n, j->enc->report};
}

/* Its place in the source; 0 where it is inside of a changed character. */
static uint64_t place_of_begin(const job *j, size_t at) {
    dstok_span s = {at, at};
    if (j->is_edited && is_inside_edit(j, at, &s)) return 0;
    if (j->is_edited) s = dstok__map_range_at(j->edits.n, at, at);
    uint64_t place = s.begin + j->base;
    return j->is_replaced ? dstok__map_range_at(&j->enc->valid, (size_t)place, (size_t)place).begin : place;
}

/* The rows that are left get their places in the source: to look for each one's at once takes long. */
static void place_begins(const job *j) {
    dstok__begins *b = j->part.begins;
    for (size_t i = 0; i < b->n && i < DSTOK__BEGINS; i++)
        b->rows[i].at = place_of_begin(j, (size_t)b->rows[i].at);
}

/* A dstok__piece_fn. */
static dstok_status encode_pretoken(void *ctx, const dstok__pretoken *p) {
    job *j = ctx;
    j->piece = p;
    if (j->part.begins != NULL && j->is_end && dstok__pretok_scratch_begins(j->enc->scratch))
        note_begin(j, (size_t)piece_to_norm(j, p->begin, p->begin).begin);
    j->hf = (dstok__hf_walk){0, 0};
    j->last_first = j->enc->out.n;
    return dstok__job_pretoken(j);
}

/* Spans and flags of the tokens from first on, which tile norm[at, ...), where places in norm are mapped. */
static void map_spans(job *j, size_t first, size_t at) {
    dstok__sink *out = &j->enc->out;
    for (size_t i = first; i < out->n; i++) {
        size_t n = j->tok->t.texts[out->ids[i]].n,
               left = j->norm_len - at; /* a forged file's texts may not fit */
        size_t end = n < left ? at + n : j->norm_len;
        bool cuts = (at < j->norm_len && dstok__is_continuation(j->norm[at])) ||
                    (end < j->norm_len && dstok__is_continuation(j->norm[end]));
        out->spans[i] = dstok__job_norm_to_source(j, at, end);
        out->flags[i] = cuts ? DSTOK_FLAG_PARTIAL : 0;
        at = end;
    }
}

/* A token that is unknown text's and real text's at once has that flag wherever it stands. */
static void flag_unknown(job *j, size_t first) {
    dstok__sink *out = &j->enc->out;
    if (j->tok->unk_id == DSTOK__NO_ID) return;
    for (size_t i = first; i < out->n; i++)
        if (out->ids[i] == j->tok->unk_id) out->flags[i] |= DSTOK_FLAG_UNKNOWN;
}

static dstok_status fill_spans(job *j, size_t first, size_t at) {
    dstok__sink *out = &j->enc->out;
    if (!out->store || out->ids_only) return DSTOK_OK;
    DSTOK_TRY(dstok__sink_reserve(out, out->n));
    if (j->is_edited || j->is_replaced) {
        map_spans(j, first, at);
    } else {
        dstok__spans_from_ids(j->tok, j->source, out->ids + first, out->n - first, j->base + at,
                              j->base + j->norm_len, out->spans + first, out->flags + first);
    }
    flag_unknown(j, first);
    return DSTOK_OK;
}

dstok_status dstok__job_fast(job *j, size_t begin, size_t end) {
    dstok__sink *out = &j->enc->out;
    size_t first = out->n;
    dstok_status status = dstok__fast_ids(j, j->norm + begin, end - begin);
    if (status == DSTOK__ENOUGH) out->n = out->enough;
    if (status == DSTOK_OK || status == DSTOK__ENOUGH) DSTOK_TRY(fill_spans(j, first, begin));
    return status;
}

/* The same as below where there is a fast way. */
static dstok_status encode_fast(job *j, size_t begin, size_t end) {
    bool is_shared = j->enc->worker != NULL && dstok__share_pays(j->enc->worker, end - begin);
    uint64_t from = dstok__job_norm_to_source(j, begin, begin + 1).begin;
    if (from > j->covered) j->enc->report.n_dropped += from - j->covered;
    DSTOK_TRY(is_shared ? dstok__share_run(j, begin, end) : dstok__job_fast(j, begin, end));
    uint64_t covered = dstok__job_norm_to_source(j, end, end).end;
    if (covered > j->covered) j->covered = covered;
    return DSTOK_OK;
}

/* norm[begin, end) as one pretoken, or a part of one. */
static dstok_status encode_one(job *j, size_t begin, size_t end) {
    dstok__pretoken p = {j->norm + begin, 0, end - begin, NULL};
    j->piece_base = begin;
    return encode_pretoken(j, &p);
}

/* norm[begin, end), the end of a text that goes on: pretokens that may grow are left out. */
static dstok_status encode_open(job *j, size_t begin, size_t end, bool no_prefix) {
    dstok__pretok_scratch_open(j->enc->scratch, true);
    dstok_status status =
        dstok__pretok_run(j->tok->pretok, j->enc->scratch, j->norm + begin, end - begin,
                          begin < j->n_first ? j->n_first - begin : 0, no_prefix, encode_pretoken, j, j->err);
    size_t at = dstok__pretok_scratch_open(j->enc->scratch, false);
    if (status == DSTOK_OK) note_begin(j, begin + at);
    place_begins(j);
    return status;
}

/* norm[begin, end), free of added tokens: pretokenise and encode. */
dstok_status dstok__job_plain(job *j, size_t begin, size_t end) {
    if (begin == end) return DSTOK_OK;
    const dstok__fast *fast = j->enc->fast;
    bool is_later = j->is_later && begin == 0, is_open = j->is_end && j->part.is_open && end == j->norm_len;
    j->is_piece = j->part.is_piece && (is_later || is_open);
    if (j->is_begin && begin == 0 && j->part.n_one > 0) {
        size_t n = j->part.n_one < end - begin ? j->part.n_one : end - begin;
        DSTOK_TRY(encode_one(j, begin, begin + n));
        begin += n;
        j->is_piece = is_later = false;
        if (begin == end) return DSTOK_OK;
    }
    if (fast != NULL && !j->is_slow && !j->drops && dstok__fast_takes(fast, j->norm + begin, end - begin))
        return encode_fast(j, begin, end);
    j->piece_base = begin;
    bool no_prefix = j->no_prefix;
    if (is_later) no_prefix = dstok__pretok_prefixes(j->tok->pretok) == DSTOK__PREFIXES_BEFORE;
    dstok_status status = is_open && j->part.begins != NULL
                              ? encode_open(j, begin, end, no_prefix)
                              : dstok__pretok_run(j->tok->pretok, j->enc->scratch, j->norm + begin,
                                                  end - begin, begin < j->n_first ? j->n_first - begin : 0,
                                                  no_prefix, encode_pretoken, j, j->err);
    if (status == DSTOK_E_LIMIT && j->err->status == status && j->err->offset <= end - begin) {
        size_t at = (size_t)j->err->offset +
                    begin; /* counted from the piece on; the caller counts from the source on */
        j->err->offset = dstok__job_norm_to_source(j, at, at).begin;
    }
    return status;
}

/* source[begin, end) is the stretch, and is not normalised. */
static void take_as_is(job *j, const uint8_t *source, size_t begin, size_t end) {
    j->base = begin;
    j->norm = j->stretch = source + begin;
    j->norm_len = j->stretch_len = end - begin;
    j->is_edited = j->is_piece = false;
}

dstok_status dstok__job_tiles(job *j, const uint8_t *source, size_t begin, size_t end, size_t first) {
    dstok__sink *out = &j->enc->out;
    bool is_enough = out->n >= out->enough;
    if (is_enough) out->n = out->enough;
    if (out->store && !out->ids_only) {
        take_as_is(j, source, begin, end);
        DSTOK_TRY(fill_spans(j, first, 0));
    }
    if (is_enough) return DSTOK__ENOUGH;
    if (begin > j->covered) j->enc->report.n_dropped += begin - j->covered;
    if (end > j->covered) j->covered = end;
    return DSTOK_OK;
}

bool dstok__job_knows_bytes(const job *j) {
    return j->enc->fast != NULL && j->enc->fast->knows_bytes && !j->forbid_control &&
           j->opt.span_style != DSTOK_SPANS_HF;
}

static dstok_status encode_bytes(job *j, const uint8_t *source, size_t begin, size_t end) {
    size_t first = j->enc->out.n;
    dstok_status status = dstok__raw_ids(j, source + begin, end - begin);
    return status == DSTOK_OK || status == DSTOK__ENOUGH ? dstok__job_tiles(j, source, begin, end, first)
                                                         : status;
}

/* source[begin, end) as one pretoken, whatever its bytes are. */
dstok_status dstok__job_bytes(job *j, const uint8_t *source, size_t begin, size_t end) {
    if (begin == end) return DSTOK_OK;
    if (dstok__job_knows_bytes(j)) return encode_bytes(j, source, begin, end);
    dstok__pretoken p = {source + begin, 0, end - begin, NULL};
    take_as_is(j, source, begin, end);
    j->piece_base = 0;
    j->is_raw = true;
    dstok_status status = encode_pretoken(j, &p);
    j->is_raw = false;
    return status;
}
