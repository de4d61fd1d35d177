/* SPDX-License-Identifier: MIT */
/* The encoding calls: text -> added tokens -> normaliser -> added tokens -> pretokens -> merges. */
#include "job.h"

#include "../base/sized.h"
#include "../../simd/simd.h"

#include <string.h>

static dstok_status encode_source(job *j, const uint8_t *source, size_t len) {
    if (j->enc->simd->utf8_check(source, len) == len) return dstok__job_text(j, source, len);
    return dstok__job_invalid(j, source, len);
}

/* Template tokens before (or behind) the text. */
static dstok_status push_template(job *j, bool before) {
    const dstok__tables *t = &j->tok->t;
    if (!j->opt.add_special) return DSTOK_OK;
    bool seen_text = false;
    for (size_t i = 0; i < dstok__tables_n(t, DSTOK__S_TEMPLATE); i++) {
        if (t->template[i] == DSTOK__NO_ID) {
            seen_text = true;
        } else if (seen_text != before) {
            uint64_t at = before || j->opt.span_style == DSTOK_SPANS_HF ? 0 : j->source_len;
            DSTOK_TRY(dstok__job_push(
                j, t->template [i], (dstok_span) { at, at }, DSTOK_FLAG_TEMPLATE));
        }
    }
    return DSTOK_OK;
}

static dstok_status check_options(job *j, size_t len) {
    if (len > DSTOK_MAX_INPUT) {
        return dstok__fail(j->err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "the text has %zu bytes; one call takes at most %zu: cut it", len,
                           DSTOK_MAX_INPUT);
    }
    if (j->opt.special < DSTOK_SPECIAL_SAFE || j->opt.special > DSTOK_SPECIAL_LIST ||
        j->opt.invalid < DSTOK_INVALID_ERROR || j->opt.invalid > DSTOK_INVALID_RAW ||
        j->opt.span_style < DSTOK_SPANS_EXACT || j->opt.span_style > DSTOK_SPANS_HF) {
        return dstok__fail(j->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                           "unknown value of special, invalid or span_style");
    }
    for (size_t i = 0; i < j->opt.n_allowed; i++) {
        if (j->opt.allowed == NULL || !(dstok_token_flags(j->tok, j->opt.allowed[i]) & DSTOK_TOKEN_ADDED))
            return dstok__fail(j->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                               "allowed[%zu] is no id of an added token of this vocabulary", i);
    }
    size_t total = 0;
    for (size_t i = 0; i < j->n_segments; i++) {
        int special = j->segments[i].special;
        if (special < DSTOK_SPECIAL_SAFE || special > DSTOK_SPECIAL_LIST ||
            j->segments[i].len > len - total) {
            return dstok__fail(j->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "segment %zu: bad length or policy",
                               i);
        }
        total += j->segments[i].len;
    }
    if (j->segments == NULL || total == len) return DSTOK_OK;
    return dstok__fail(j->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the segments do not add up to the text");
}

static bool policy_forbids(int special) {
    return special == DSTOK_SPECIAL_SAFE || special == DSTOK_SPECIAL_ERROR || special == DSTOK_SPECIAL_LIST;
}

bool dstok__job_forbids_control(const job *j) {
    if (!(j->tok->options & DSTOK__T_CONTROL_MERGES)) return false;
    if (j->segments == NULL) return policy_forbids(j->opt.special);
    for (size_t i = 0; i < j->n_segments; i++) {
        if (policy_forbids(j->segments[i].special)) return true;
    }
    return false;
}

static dstok_status set_options(job *j, const dstok_encode_options *options) {
    j->opt = (dstok_encode_options)DSTOK_ENCODE_OPTIONS_INIT;
    if (options == NULL) return DSTOK_OK;
    DSTOK_TRY(dstok__sized_check(options, DSTOK__SIZE_TO(dstok_encode_options, span_style), "encode_options",
                                 "DSTOK_ENCODE_OPTIONS_INIT", j->err));
    dstok__sized_read(&j->opt, sizeof j->opt, options);
    return DSTOK_OK;
}

static dstok_status run(job *j, const dstok_encode_options *options, const void *text, size_t len) {
    dstok_encoder *enc = j->enc;
    enc->report = (dstok_report){
        .first_unknown = DSTOK_NO_OFFSET, .first_invalid = DSTOK_NO_OFFSET, .first_special = DSTOK_NO_OFFSET};
    DSTOK_TRY(set_options(j, options));
    if (j->opt.ids_only) enc->out.ids_only = true;
    if (j->opt.max_tokens > 0 && j->opt.max_tokens < SIZE_MAX - j->first)
        enc->out.enough = j->first + j->opt.max_tokens;
    DSTOK_TRY(check_options(j, len));
    j->source = text;
    j->source_len = len;
    j->forbid_control = dstok__job_forbids_control(j);
    j->is_slow = j->forbid_control || j->opt.span_style == DSTOK_SPANS_HF;
    if (!j->part.goes_on) DSTOK_TRY(push_template(j, true));
    j->n_before = enc->out.n;
    if (enc->scratch != NULL)
        dstok__pretok_scratch_want_from(enc->scratch, j->opt.span_style == DSTOK_SPANS_HF);
    DSTOK_TRY(encode_source(j, len == 0 ? (const uint8_t *)"" : text, len));
    if (j->covered < len && j->opt.span_style == DSTOK_SPANS_EXACT) enc->report.n_dropped += len - j->covered;
    return j->part.is_open ? DSTOK_OK : push_template(j, false);
}

static dstok_status encode(dstok_encoder *enc, const void *text, size_t len, const dstok_segment *segments,
                           size_t n_segments, const dstok__part *part, const dstok_encode_options *options,
                           dstok__wanted want, dstok_error *err) {
    dstok_error detail = {.status = DSTOK_OK};
    job j = {.enc = enc, .tok = enc->tok, .segments = segments, .n_segments = n_segments, .err = &detail};
    if (part != NULL) j.part = *part;
    j.no_prefix = j.part.is_behind_raw;
    enc->out.store = want != DSTOK__WANT_COUNT;
    enc->out.ids_only = want == DSTOK__WANT_IDS;
    enc->out.enough = SIZE_MAX;
    j.first = enc->out.n;
    dstok_status status = run(&j, options, text, len);
    if (status == DSTOK__ENOUGH) {
        if (enc->out.n > enc->out.enough) enc->out.n = enc->out.enough;
        return DSTOK_OK;
    }
    if (status == DSTOK_OK) return status;
    if (detail.status == DSTOK_OK) {
        const char *what = status == DSTOK_E_NOMEM ? "out of memory" : "a size limit was met";
        dstok__fail(&detail, status, DSTOK_NO_OFFSET, 0, "%s while encoding %zu bytes", what, len);
    }
    if (err != NULL) *err = detail;
    return status;
}

dstok_status dstok__encode_more(dstok_encoder *enc, const void *text, size_t len,
                                const dstok_encode_options *options, dstok__wanted want, dstok_error *err) {
    return encode(enc, text, len, NULL, 0, NULL, options, want, err);
}

dstok_status dstok__encode_part(dstok_encoder *enc, const void *text, size_t len, const dstok__part *part,
                                const dstok_encode_options *options, dstok__wanted want, dstok_error *err) {
    return encode(enc, text, len, NULL, 0, part, options, want, err);
}

/* For one text alone. */
static dstok_status start(dstok_encoder *enc, const void *text, size_t len, const dstok_segment *segments,
                          size_t n_segments, const dstok_encode_options *options, dstok__wanted want,
                          dstok_error *err) {
    if (enc == NULL || (text == NULL && len > 0) || (segments == NULL && n_segments > 0))
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the encoder, text or segments are NULL");
    enc->out.n = 0;
    return encode(enc, text, len, segments, n_segments, NULL, options, want, err);
}

static void give(const dstok_encoder *enc, dstok_tokens *out) {
    const dstok__sink *s = &enc->out;
    *out = (dstok_tokens){s->ids, s->ids_only ? NULL : s->spans, s->ids_only ? NULL : s->flags, s->n};
}

dstok_status dstok_encode_segments(dstok_encoder *enc, const void *text, size_t len,
                                   const dstok_segment *segments, size_t n_segments,
                                   const dstok_encode_options *options, dstok_tokens *out, dstok_error *err) {
    static const dstok_segment none = {.special = DSTOK_SPECIAL_SAFE};
    if (n_segments == 0) segments = &none; /* fits an empty text only */
    DSTOK_TRY(start(enc, text, len, segments, n_segments, options, DSTOK__WANT_ALL, err));
    give(enc, out);
    return DSTOK_OK;
}

dstok_status dstok_encode_view(dstok_encoder *enc, const void *text, size_t len,
                               const dstok_encode_options *options, dstok_tokens *out, dstok_error *err) {
    DSTOK_TRY(start(enc, text, len, NULL, 0, options, DSTOK__WANT_ALL, err));
    give(enc, out);
    return DSTOK_OK;
}

dstok_status dstok_count(dstok_encoder *enc, const void *text, size_t len,
                         const dstok_encode_options *options, size_t *n, dstok_error *err) {
    DSTOK_TRY(start(enc, text, len, NULL, 0, options, DSTOK__WANT_COUNT, err));
    *n = enc->out.n;
    return DSTOK_OK;
}

dstok_status dstok_encode(dstok_encoder *enc, const void *text, size_t len,
                          const dstok_encode_options *options, uint32_t *ids, dstok_span *spans,
                          uint8_t *flags, size_t cap, size_t *n, dstok_error *err) {
    dstok_tokens t;
    dstok__wanted want = spans == NULL && flags == NULL ? DSTOK__WANT_IDS : DSTOK__WANT_ALL;
    DSTOK_TRY(start(enc, text, len, NULL, 0, options, want, err));
    give(enc, &t);
    *n = t.n;
    if (t.n > cap) {
        return dstok__fail(err, DSTOK_E_SPACE, DSTOK_NO_OFFSET, 0, "room for %zu tokens, %zu needed", cap,
                           t.n);
    }
    if (t.n == 0) return DSTOK_OK;
    memcpy(ids, t.ids, t.n * sizeof *ids);
    if (spans != NULL && t.spans != NULL) memcpy(spans, t.spans, t.n * sizeof *spans);
    if (flags != NULL && t.flags != NULL) memcpy(flags, t.flags, t.n);
    return DSTOK_OK;
}

/* a * b + c, or SIZE_MAX when that does not fit. */
static size_t scaled(size_t a, size_t b, size_t c) {
    if (a == SIZE_MAX || (b > 0 && a > (SIZE_MAX - c) / b)) return SIZE_MAX;
    return a * b + c;
}

size_t dstok_encode_bound(const dstok_tokenizer *tok, size_t len, const dstok_encode_options *options) {
    job j = {.tok = tok};
    if (set_options(&j, options) != DSTOK_OK) return SIZE_MAX;
    size_t bytes = scaled(len, j.opt.invalid == DSTOK_INVALID_REPLACE ? 3 : 1, 0);
    /* A normaliser or pretokenizer that puts text before each stretch can do so for each byte. */
    size_t each = dstok__pretok_bound(tok->pretok, dstok__normalizer_bound(tok->normalizer, 1));
    size_t whole = bytes == SIZE_MAX ? SIZE_MAX : dstok__normalizer_bound(tok->normalizer, bytes);
    if (each > 1) whole = scaled(bytes, each, 0);
    if (tok->options & DSTOK__T_FALLBACK) whole = scaled(whole, 1 + tok->prefix_n + tok->suffix_n, 0);
    return scaled(whole, 1, j.opt.add_special ? dstok__tables_n(&tok->t, DSTOK__S_TEMPLATE) : 0);
}

const dstok_report *dstok_encode_report(const dstok_encoder *enc) {
    return &enc->report;
}
