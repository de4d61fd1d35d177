/* SPDX-License-Identifier: MIT */
/* Chunkers: options, and text and tokens as they come. */
#include "chunker.h"

#include "../base/sized.h"
#include "../bpe/model.h"

#include <string.h>

static dstok_status refuse(dstok_error *err, dstok_status status, const char *what) {
    return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "%s", what);
}

static dstok_status no_memory(dstok_error *err) {
    return refuse(err, DSTOK_E_NOMEM, "out of memory for chunks");
}

/* ---- options ---- */

static bool is_within(int value, int last) {
    return value >= 0 && value <= last;
}

static dstok_status check_options(const dstok_chunker_options *o, dstok_error *err) {
    if (o->max_tokens < DSTOK_CHUNK_MIN_LIMIT || o->max_tokens > DSTOK_CHUNK_MAX_LIMIT)
        return refuse(err, DSTOK_E_INVAL, "max_tokens is below 16 or above 16777216");
    if (o->min_tokens > o->max_tokens / 2)
        return refuse(err, DSTOK_E_INVAL, "min_tokens is above max_tokens / 2");
    if (o->overlap > 0 && o->overlap_sentences > 0)
        return refuse(err, DSTOK_E_INVAL, "the overlap is in tokens or in sentences, not in both");
    if (o->overlap >= o->max_tokens / 2)
        return refuse(err, DSTOK_E_INVAL, "the overlap must be below max_tokens / 2");
    if (!is_within(o->border, DSTOK_CHUNK_TOKEN) || !is_within(o->ids, DSTOK_CHUNK_RETOKENIZE) ||
        !is_within(o->mode, DSTOK_CHUNK_CODE))
        return refuse(err, DSTOK_E_INVAL, "an unknown border, mode or kind of ids");
    return DSTOK_OK;
}

static dstok_status copy_encode(dstok_chunker *c, const dstok_encode_options *encode, dstok_error *err) {
    c->plain = (dstok_encode_options)DSTOK_ENCODE_OPTIONS_INIT;
    if (encode == NULL) return DSTOK_OK;
    DSTOK_TRY(dstok__sized_check(encode, DSTOK__SIZE_TO(dstok_encode_options, span_style), "encode_options",
                                 "DSTOK_ENCODE_OPTIONS_INIT", err));
    dstok__sized_read(&c->plain, sizeof c->plain, encode);
    c->plain.struct_size = sizeof c->plain;
    if (c->plain.span_style != 0 || c->plain.ids_only != 0 || c->plain.max_tokens != 0)
        return refuse(err, DSTOK_E_INVAL, "span_style, ids_only and max_tokens are not for chunks");
    size_t n = c->plain.n_allowed;
    if (n == 0) return DSTOK_OK;
    c->plain.n_allowed = 0; /* until it is copied */
    if (c->plain.allowed == NULL) return refuse(err, DSTOK_E_INVAL, "allowed is NULL");
    c->allowed = dstok__alloc_array(&c->al, n, sizeof *c->allowed);
    if (c->allowed == NULL) return no_memory(err);
    memcpy(c->allowed, c->plain.allowed, n * sizeof *c->allowed);
    c->plain.allowed = c->allowed;
    c->plain.n_allowed = n;
    return DSTOK_OK;
}

/* The template is what is put around one letter. */
static dstok_status find_template(dstok_chunker *c, dstok_error *err) {
    dstok_tokens t;
    bool is_wanted = c->plain.add_special != 0;
    DSTOK_TRY(
        dstok_encode_view(c->again, "a", is_wanted, &c->plain, &t, err)); /* bad options are found now, too */
    c->plain.add_special = 0;
    if (!is_wanted) return DSTOK_OK;
    c->template = dstok__alloc_array(&c->al, t.n, sizeof *c->template);
    if (c->template == NULL) return no_memory(err);
    bool is_behind = false;
    for (size_t i = 0; i < t.n; i++) {
        bool is_template = (t.flags[i] & DSTOK_FLAG_TEMPLATE) != 0;
        is_behind |= !is_template;
        if (!is_template) continue;
        c->template[c->n_template++] = t.ids[i];
        c->n_prefix += !is_behind;
    }
    c->template_cap = t.n;
    return DSTOK_OK;
}

/* ---- life ---- */

static void begin(dstok_chunker *c) {
    c->text_head = c->text_len = c->head = c->n_tokens = 0;
    c->text_base = c->first_token = c->begin = c->begin_char = c->fresh = c->n_given = c->number = 0;
    c->n_old = 0;
    c->fences.head = c->fences.n = 0;
    c->fences.at = 0;
    c->fences.width = 0;
    c->fences.is_inside = false;
    c->mode = c->o.mode - 1; /* -1: it will be looked for */
    c->is_failed = false;
}

static dstok_status make(dstok_chunker *c, dstok_error *err) {
    DSTOK_TRY(check_options(&c->o, err));
    DSTOK_TRY(copy_encode(c, c->o.encode, err));
    c->o.encode = NULL;
    if (dstok_encoder_new(c->tok, &c->again) != DSTOK_OK) return no_memory(err);
    DSTOK_TRY(find_template(c, err));
    if (c->o.ids == DSTOK_CHUNK_SLICE) {
        dstok_encoder_free(c->again);
        c->again = NULL;
    }
    if (c->o.max_tokens < c->n_template + DSTOK_CHUNK_MIN_LIMIT / 2)
        return refuse(err, DSTOK_E_LIMIT, "the template leaves no room for tokens of the text");
    c->limit = c->o.max_tokens - c->n_template;
    if (c->o.overlap >= c->limit / 2) c->o.overlap = c->limit / 2 - 1;
    if (c->o.min_tokens > c->limit / 2) c->o.min_tokens = c->limit / 2;
    begin(c);
    return dstok__source_new(c->tok, &c->plain, &c->source, err);
}

dstok_status dstok_chunker_new(const dstok_tokenizer *tok, const dstok_chunker_options *options,
                               dstok_chunk_sink *sink, void *context, dstok_chunker **out, dstok_error *err) {
    if (tok == NULL || options == NULL || sink == NULL || out == NULL)
        return refuse(err, DSTOK_E_INVAL, "the tokenizer, the options, the sink or out is NULL");
    DSTOK_TRY(
        dstok__sized_check(options, sizeof *options, "chunker_options", "DSTOK_CHUNKER_OPTIONS_INIT", err));
    dstok_chunker *c = dstok__alloc_zeroed(&tok->al, 1, sizeof *c);
    if (c == NULL) return no_memory(err);
    c->tok = tok;
    c->al = tok->al;
    c->sink = sink;
    c->context = context;
    dstok__sized_read(&c->o, sizeof c->o, options);
    dstok_status status = make(c, err);
    if (status != DSTOK_OK) {
        dstok_chunker_free(c);
        return status;
    }
    *out = c;
    return DSTOK_OK;
}

void dstok_chunker_free(dstok_chunker *c) {
    if (c == NULL) return;
    dstok__source_free(c->source);
    dstok_encoder_free(c->again);
    if (c->allowed != NULL) dstok__free(&c->al, c->allowed, c->plain.n_allowed * sizeof *c->allowed);
    dstok__free(&c->al, c->template, c->template_cap * sizeof *c->template);
    dstok__free(&c->al, c->text, c->text_cap);
    dstok__free(&c->al, c->ids, c->ids_cap * sizeof *c->ids);
    dstok__free(&c->al, c->spans, c->spans_cap * sizeof *c->spans);
    dstok__free(&c->al, c->fences.spans, c->fences.cap * sizeof *c->fences.spans);
    dstok__free(&c->al, c->out_ids, c->out_ids_cap * sizeof *c->out_ids);
    dstok__free(&c->al, c->out_spans, c->out_spans_cap * sizeof *c->out_spans);
    dstok_alloc al = c->al;
    dstok__free(&al, c, sizeof *c);
}

void dstok_chunker_reset(dstok_chunker *c) {
    dstok__source_reset(c->source);
    begin(c);
}

const char *dstok_border_name(int border) {
    static const char *const names[] = {NULL,    "token",         "grapheme", "blank",      "clause",
                                        "line",  "weak-sentence", "sentence", "ended-line", "blank-line",
                                        "fence", "heading",       "end"};
    return border > 0 && border <= DSTOK_BORDER_END ? names[border] : NULL;
}

/* ---- text and tokens ---- */

/* Room of `gone` elements at the begin of an array is used again when it is as large as what is kept. */
static bool is_worth_moving(size_t gone, size_t kept) {
    return gone > 0 && gone >= kept;
}

static dstok_status add_text(dstok_chunker *c, const uint8_t *bytes, size_t n) {
    if (is_worth_moving(c->text_head, c->text_len)) {
        memmove(c->text, c->text + c->text_head, c->text_len);
        c->text_head = 0;
    }
    size_t end = c->text_head + c->text_len;
    DSTOK_TRY(dstok__grow(&c->al, (void **)&c->text, &c->text_cap, end + n, 1, SIZE_MAX / 4));
    memcpy(c->text + end, bytes, n);
    c->text_len += n;
    return DSTOK_OK;
}

static dstok_status add_tokens(dstok_chunker *c, const dstok_tokens *t) {
    if (t->n == 0) return DSTOK_OK;
    if (is_worth_moving(c->head, c->n_tokens)) {
        memmove(c->ids, c->ids + c->head, c->n_tokens * sizeof *c->ids);
        memmove(c->spans, c->spans + c->head, c->n_tokens * sizeof *c->spans);
        c->head = 0;
    }
    size_t end = c->head + c->n_tokens, need = end + t->n;
    DSTOK_TRY(dstok__grow(&c->al, (void **)&c->ids, &c->ids_cap, need, sizeof *c->ids, SIZE_MAX / 32));
    DSTOK_TRY(dstok__grow(&c->al, (void **)&c->spans, &c->spans_cap, need, sizeof *c->spans, SIZE_MAX / 32));
    memcpy(c->ids + end, t->ids, t->n * sizeof *t->ids);
    memcpy(c->spans + end, t->spans, t->n * sizeof *t->spans);
    c->n_tokens += t->n;
    return DSTOK_OK;
}

/* Tokens that came are added, and chunks given out. */
static dstok_status take(dstok_chunker *c, const dstok_tokens *t, bool is_end, dstok_error *err) {
    if (add_tokens(c, t) != DSTOK_OK) return no_memory(err);
    if (c->text_len == 0) return DSTOK_OK;
    const uint8_t *text = c->text + c->text_head;
    if (c->mode < 0 && (is_end || c->text_len >= DSTOK__MODE_BYTES))
        c->mode = dstok__border_mode(text, c->text_len);
    if (c->mode < 0) return DSTOK_OK;
    if (c->mode == DSTOK__MODE_MARKDOWN &&
        dstok__fence_feed(&c->al, &c->fences, text, c->text_len, c->text_base, is_end) != DSTOK_OK)
        return no_memory(err);
    return dstok__chunks_give(c, is_end, err);
}

static dstok_status feed(dstok_chunker *c, const uint8_t *bytes, size_t len, dstok_error *err) {
    while (len > 0) {
        dstok_tokens t;
        size_t n = len < DSTOK__SOURCE_BYTES ? len : DSTOK__SOURCE_BYTES;
        if (add_text(c, bytes, n) != DSTOK_OK) return no_memory(err);
        DSTOK_TRY(dstok__source_feed(c->source, bytes, n, &t, err));
        DSTOK_TRY(take(c, &t, false, err));
        bytes += n;
        len -= n;
    }
    return DSTOK_OK;
}

dstok_status dstok_chunker_feed(dstok_chunker *c, const void *bytes, size_t len, dstok_error *err) {
    if (c == NULL || (bytes == NULL && len > 0))
        return refuse(err, DSTOK_E_INVAL, "the chunker or the bytes are NULL");
    if (c->is_failed) return refuse(err, DSTOK_E_STATE, "the text failed: dstok_chunker_reset first");
    dstok_status status = feed(c, bytes, len, err);
    c->is_failed = status != DSTOK_OK;
    return status;
}

dstok_status dstok_chunker_finish(dstok_chunker *c, dstok_error *err) {
    if (c == NULL) return refuse(err, DSTOK_E_INVAL, "the chunker is NULL");
    if (c->is_failed) return refuse(err, DSTOK_E_STATE, "the text failed: dstok_chunker_reset first");
    dstok_tokens t;
    dstok_status status = dstok__source_finish(c->source, &t, err);
    if (status == DSTOK_OK) status = take(c, &t, true, err);
    if (status == DSTOK_OK) {
        begin(c);
        c->document++;
    }
    c->is_failed = status != DSTOK_OK;
    return status;
}
