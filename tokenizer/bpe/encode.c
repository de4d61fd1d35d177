/* SPDX-License-Identifier: MIT */
/* The encoding calls: text -> added tokens -> normaliser -> added tokens -> pretokens -> merges. */
#include "job.h"

#include "../../simd/simd.h"

#include <string.h>

static dstok_status encode_source(job *j, const uint8_t *source, size_t len) {
    if (dstok__utf8_check(source, len) == len) return dstok__job_text(j, source, len);
    return dstok__job_invalid(j, source, len);
}

/* Template tokens before (or behind) the text. */
static dstok_status push_template(job *j, bool before) {
    const dstok__spec *s = &j->tok->spec;
    if (!j->opt.add_special) return DSTOK_OK;
    bool seen_text = false;
    for (size_t i = 0; i < s->n_template; i++) {
        if (s->template_items[i].is_text) {
            seen_text = true;
        } else if (seen_text != before) {
            uint64_t at = before ? 0 : j->source_len;
            DSTOK_TRY(dstok__job_push(j, s->template_items[i].id, (dstok_span){at, at}, DSTOK_FLAG_TEMPLATE));
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
        j->opt.invalid < DSTOK_INVALID_ERROR || j->opt.invalid > DSTOK_INVALID_RAW) {
        return dstok__fail(j->err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "unknown value of special or invalid");
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

/* Whether some part of the text is under a policy that forbids control tokens from merges. */
static bool forbids_control(const job *j) {
    if (!j->tok->control_merges) return false;
    if (j->segments == NULL) return policy_forbids(j->opt.special);
    for (size_t i = 0; i < j->n_segments; i++) {
        if (policy_forbids(j->segments[i].special)) return true;
    }
    return false;
}

static dstok_status run(job *j, const void *text, size_t len) {
    dstok_encoder *enc = j->enc;
    enc->report = (dstok_report){
        .first_unknown = DSTOK_NO_OFFSET, .first_invalid = DSTOK_NO_OFFSET, .first_special = DSTOK_NO_OFFSET};
    enc->out.n = 0;
    DSTOK_TRY(check_options(j, len));
    j->source_len = len;
    j->forbid_control = forbids_control(j);
    DSTOK_TRY(push_template(j, true));
    DSTOK_TRY(encode_source(j, len == 0 ? (const uint8_t *)"" : text, len));
    if (j->covered < len) enc->report.n_dropped += len - j->covered;
    return push_template(j, false);
}

static void set_options(job *j, const dstok_encode_options *options) {
    j->opt = (dstok_encode_options)DSTOK_ENCODE_OPTIONS_INIT;
    if (options == NULL) return;
    size_t size = options->struct_size < sizeof j->opt ? options->struct_size : sizeof j->opt;
    memcpy(&j->opt, options, size);
}

static dstok_status start(dstok_encoder *enc, const void *text, size_t len, const dstok_segment *segments,
                          size_t n_segments, const dstok_encode_options *options, bool store,
                          dstok_error *err) {
    dstok_error detail = {.status = DSTOK_OK};
    job j = {.enc = enc, .tok = enc->tok, .segments = segments, .n_segments = n_segments, .err = &detail};
    set_options(&j, options);
    enc->out.store = store;
    dstok_status status = run(&j, text, len);
    if (status == DSTOK_OK) return status;
    if (detail.status == DSTOK_OK) {
        const char *what = status == DSTOK_E_NOMEM ? "out of memory" : "a size limit was met";
        dstok__fail(&detail, status, DSTOK_NO_OFFSET, 0, "%s while encoding %zu bytes", what, len);
    }
    if (err != NULL) *err = detail;
    return status;
}

dstok_status dstok_encode_segments(dstok_encoder *enc, const void *text, size_t len,
                                   const dstok_segment *segments, size_t n_segments,
                                   const dstok_encode_options *options, dstok_tokens *out, dstok_error *err) {
    static const dstok_segment none = {0, DSTOK_SPECIAL_SAFE};
    if (n_segments == 0) segments = &none; /* fits an empty text only */
    DSTOK_TRY(start(enc, text, len, segments, n_segments, options, true, err));
    *out = (dstok_tokens){enc->out.ids, enc->out.spans, enc->out.flags, enc->out.n};
    return DSTOK_OK;
}

dstok_status dstok_encode_view(dstok_encoder *enc, const void *text, size_t len,
                               const dstok_encode_options *options, dstok_tokens *out, dstok_error *err) {
    DSTOK_TRY(start(enc, text, len, NULL, 0, options, true, err));
    *out = (dstok_tokens){enc->out.ids, enc->out.spans, enc->out.flags, enc->out.n};
    return DSTOK_OK;
}

dstok_status dstok_count(dstok_encoder *enc, const void *text, size_t len,
                         const dstok_encode_options *options, size_t *n, dstok_error *err) {
    DSTOK_TRY(start(enc, text, len, NULL, 0, options, false, err));
    *n = enc->out.n;
    return DSTOK_OK;
}

dstok_status dstok_encode(dstok_encoder *enc, const void *text, size_t len,
                          const dstok_encode_options *options, uint32_t *ids, dstok_span *spans,
                          uint8_t *flags, size_t cap, size_t *n, dstok_error *err) {
    dstok_tokens t;
    DSTOK_TRY(dstok_encode_view(enc, text, len, options, &t, err));
    *n = t.n;
    if (t.n > cap) {
        return dstok__fail(err, DSTOK_E_SPACE, DSTOK_NO_OFFSET, 0, "room for %zu tokens, %zu needed", cap,
                           t.n);
    }
    if (t.n == 0) return DSTOK_OK;
    memcpy(ids, t.ids, t.n * sizeof *ids);
    if (spans != NULL) memcpy(spans, t.spans, t.n * sizeof *spans);
    if (flags != NULL) memcpy(flags, t.flags, t.n);
    return DSTOK_OK;
}

/* Normalisation makes text at most this many times longer (UAX #15, table of worst cases; lower case:
 * U+0130). */
static size_t growth(const dstok_tokenizer *tok) {
    size_t factor = 1;
    for (size_t i = 0; i < tok->spec.n_norms; i++) {
        dstok__norm_kind kind = tok->spec.norms[i];
        factor *= kind == DSTOK__NORM_LOWERCASE                        ? 2
                  : kind == DSTOK__NORM_NFC || kind == DSTOK__NORM_NFD ? 3
                                                                       : 11;
    }
    return factor;
}

size_t dstok_encode_bound(const dstok_tokenizer *tok, size_t len, const dstok_encode_options *options) {
    job j = {.tok = tok};
    set_options(&j, options);
    size_t factor = growth(tok), extra = j.opt.add_special ? tok->spec.n_template : 0;
    if (j.opt.invalid == DSTOK_INVALID_REPLACE) factor *= 3;
    if (tok->spec.prefix_space)
        factor *= 2; /* a blank before each stretch, and a stretch has at least one byte */
    if (len > (SIZE_MAX - extra) / factor) return SIZE_MAX;
    return len * factor + extra;
}

const dstok_report *dstok_encode_report(const dstok_encoder *enc) {
    return &enc->report;
}

dstok_status dstok_encoder_new(const dstok_tokenizer *tok, dstok_encoder **out) {
    const dstok_alloc *al = &tok->al;
    dstok_encoder *enc = dstok__alloc_zeroed(al, 1, sizeof *enc);
    if (enc == NULL) return DSTOK_E_NOMEM;
    enc->tok = tok;
    enc->out.al = al;
    dstok__merge_init(&enc->merge, al);
    dstok__normalized_init(&enc->valid, al);
    dstok__normalized_init(&enc->stretch, al);
    dstok__buf_init(&enc->prefixed, al, DSTOK_MAX_INPUT + (size_t)1);
    if (dstok__pretok_family(tok->pretok) == NULL && tok->spec.n_steps > 0) {
        dstok_status status = dstok__regex_scratch_new(al, &enc->regex);
        if (status != DSTOK_OK) {
            dstok_encoder_free(enc);
            return status;
        }
    }
    *out = enc;
    return DSTOK_OK;
}

void dstok_encoder_free(dstok_encoder *enc) {
    if (enc == NULL) return;
    const dstok_alloc *al = &enc->tok->al;
    dstok__regex_scratch_free(enc->regex);
    dstok__merge_free(&enc->merge);
    dstok__normalized_free(&enc->valid);
    dstok__normalized_free(&enc->stretch);
    dstok__buf_free(&enc->prefixed);
    dstok__free(al, enc->out.ids, enc->out.cap_ids * sizeof *enc->out.ids);
    dstok__free(al, enc->out.spans, enc->out.cap_spans * sizeof *enc->out.spans);
    dstok__free(al, enc->out.flags, enc->out.cap_flags);
    dstok__free(al, enc, sizeof *enc);
}
