/* SPDX-License-Identifier: MIT */
/* Encoding of pretokens, and where their tokens stand in the source. */
#include "job.h"

#include "../text/utf8.h"

/* ---- the sink ---- */

static dstok_status sink_reserve(dstok__sink *s) {
    if (s->n < s->cap_ids && s->n < s->cap_spans && s->n < s->cap_flags) return DSTOK_OK;
    DSTOK_TRY(dstok__grow(s->al, (void **)&s->ids, &s->cap_ids, s->n + 1, sizeof *s->ids, SIZE_MAX));
    DSTOK_TRY(dstok__grow(s->al, (void **)&s->spans, &s->cap_spans, s->n + 1, sizeof *s->spans, SIZE_MAX));
    return dstok__grow(s->al, (void **)&s->flags, &s->cap_flags, s->n + 1, 1, SIZE_MAX);
}

dstok_status dstok__job_push(job *j, uint32_t id, dstok_span span, unsigned flags) {
    dstok__sink *out = &j->enc->out;
    if (span.begin > j->covered) j->enc->report.n_dropped += span.begin - j->covered;
    if (span.end > j->covered) j->covered = span.end;
    if (out->store) {
        DSTOK_TRY(sink_reserve(out));
        out->ids[out->n] = id;
        out->spans[out->n] = span;
        out->flags[out->n] = (uint8_t)flags;
    }
    out->n++;
    if (flags & DSTOK_FLAG_ADDED) j->last_first = out->n;
    return DSTOK_OK;
}

/* ---- coordinates ---- */

dstok_span dstok__job_text_to_source(job *j, dstok__map_cursor *cursor, uint64_t begin, uint64_t end) {
    if (!j->is_replaced) return (dstok_span){begin, end};
    return dstok__map_range(cursor, (size_t)begin, (size_t)end);
}

dstok_span dstok__job_norm_to_source(job *j, size_t begin, size_t end) {
    dstok_span s = {begin, end};
    if (j->is_edited) s = dstok__map_range(&j->edits, begin, end);
    return dstok__job_text_to_source(j, &j->replaced, s.begin + j->base, s.end + j->base);
}

static dstok_status push_piece(job *j, uint32_t id, size_t begin, size_t end) {
    begin = (begin < j->prefix ? 0 : begin - j->prefix) + j->piece_base;
    end = (end < j->prefix ? 0 : end - j->prefix) + j->piece_base;
    bool partial = (begin < j->norm_len && dstok__is_continuation(j->norm[begin])) ||
                   (end < j->norm_len && dstok__is_continuation(j->norm[end]));
    unsigned flags =
        (partial ? DSTOK_FLAG_PARTIAL : 0) | (id == j->tok->spec.unk_id ? DSTOK_FLAG_UNKNOWN : 0);
    return dstok__job_push(j, id, dstok__job_norm_to_source(j, begin, end), flags);
}

/* ---- one pretoken ---- */

static dstok_status note_unknown(job *j, size_t at) {
    dstok_report *r = &j->enc->report;
    size_t begin = (at < j->prefix ? 0 : at - j->prefix) + j->piece_base;
    dstok_span s = {begin, begin + 1};
    if (j->is_edited) s = dstok__map_range(&j->edits_unknown, begin, begin + 1);
    s = dstok__job_text_to_source(j, &j->replaced_unknown, s.begin + j->base, s.end + j->base);
    if (r->n_unknown++ == 0) r->first_unknown = s.begin;
    if (!j->opt.strict) return DSTOK_OK;
    return dstok__fail(j->err, DSTOK_E_UNKNOWN, s.begin, 0,
                       "byte 0x%02X has no token in this vocabulary; without strict mode it is left out",
                       j->piece_text[at]);
}

/* The symbols that a pretoken starts from: a token a byte; bytes without one become unk, or vanish. */
static dstok_status first_symbols(job *j, size_t begin, size_t end, size_t *n) {
    dstok__merge_scratch *m = &j->enc->merge;
    DSTOK_TRY(dstok__merge_reserve(m, end - begin));
    uint32_t unk = j->tok->spec.unk_id;
    size_t k = 0;
    bool after_unknown = false; /* a token that only looks like unk is not fused with */
    for (size_t i = begin; i < end; i++) {
        uint32_t id = j->tok->byte_ids[j->piece_text[i]], at = (uint32_t)(i - begin);
        bool is_unknown = id == DSTOK__NO_ID;
        if (is_unknown) {
            DSTOK_TRY(note_unknown(j, i));
            if (unk == DSTOK__NO_ID) continue;
            id = unk;
        }
        if (is_unknown && after_unknown && j->tok->spec.fuse_unk) {
            m->symbols[k - 1].end = at + 1;
        } else {
            m->symbols[k++] = (dstok__symbol){id, at, at + 1};
        }
        after_unknown = is_unknown;
    }
    *n = k;
    return DSTOK_OK;
}

/* A dstok__piece_fn: the ids of the pretoken piece_text[begin, end). */
static dstok_status encode_pretoken(void *ctx, size_t begin, size_t end) {
    job *j = ctx;
    const dstok_tokenizer *tok = j->tok;
    j->last_first = j->enc->out.n;
    if (tok->whole_first) {
        uint32_t id = dstok__map_get(&tok->by_bytes, j->piece_text + begin, end - begin);
        if (id != DSTOK__NO_ID && !(j->forbid_control && (tok->flags[id] & DSTOK_TOKEN_CONTROL))) {
            return push_piece(j, id, begin, end);
        }
    }
    size_t n;
    DSTOK_TRY(first_symbols(j, begin, end, &n));
    DSTOK_TRY(dstok__merge_run(&j->enc->merge, &tok->pairs, j->forbid_control ? tok->flags : NULL,
                               DSTOK_TOKEN_CONTROL, n, &n));
    for (size_t i = 0; i < n; i++) {
        const dstok__symbol *s = &j->enc->merge.symbols[i];
        DSTOK_TRY(push_piece(j, s->id, begin + s->begin, begin + s->end));
    }
    return DSTOK_OK;
}

/* norm[begin, end), free of added tokens: pretokenise and encode. */
dstok_status dstok__job_plain(job *j, size_t begin, size_t end) {
    if (begin == end) return DSTOK_OK;
    j->piece_text = j->norm + begin;
    j->piece_base = begin;
    j->prefix = 0;
    size_t len = end - begin;
    if (j->tok->spec.prefix_space && !j->no_prefix && j->norm[begin] != ' ') {
        dstok__buf *b = &j->enc->prefixed;
        b->len = 0;
        DSTOK_TRY(dstok__buf_push(b, ' '));
        DSTOK_TRY(dstok__buf_append(b, j->piece_text, len));
        j->piece_text = b->data;
        j->prefix = 1;
        len++;
    }
    dstok_status status =
        dstok__pretok_run(j->tok->pretok, j->enc->regex, j->piece_text, len, encode_pretoken, j, j->err);
    if (status == DSTOK_E_LIMIT && j->err->status == status && j->err->offset <= len) {
        size_t at =
            (size_t)j->err->offset; /* the pattern counts from its piece on; the caller from the source */
        at = (at < j->prefix ? 0 : at - j->prefix) + j->piece_base;
        j->err->offset = dstok__job_norm_to_source(j, at, at).begin;
    }
    return status;
}

/* source[begin, end) as one pretoken, whatever its bytes are. */
dstok_status dstok__job_bytes(job *j, const uint8_t *source, size_t begin, size_t end) {
    if (begin == end) return DSTOK_OK;
    j->base = begin;
    j->norm = j->piece_text = source + begin;
    j->norm_len = end - begin;
    j->is_edited = false;
    j->piece_base = j->prefix = 0;
    return encode_pretoken(j, 0, end - begin);
}
