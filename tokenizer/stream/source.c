/* SPDX-License-Identifier: MIT */
/* Tokens for chunks: of a stream, as the text comes; where the vocabulary or the options need the whole text
 * at once, of that at its end. */
#include "chunker.h"

#include "../bpe/model.h"

/* A text that can nowhere be broken is kept, as far as a stream may keep one. */
static dstok_status open_stream(dstok__source *s, dstok_error *err) {
    dstok_stream_options options = DSTOK_STREAM_OPTIONS_INIT;
    options.max_held = DSTOK_MAX_INPUT / 4;
    return dstok_stream_new(s->tok, &s->encode, &options, &s->stream, err);
}

dstok_status dstok__source_new(const dstok_tokenizer *tok, const dstok_encode_options *encode,
                               dstok__source **out, dstok_error *err) {
    dstok__source *s = dstok__alloc_zeroed(&tok->al, 1, sizeof *s);
    if (s == NULL) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for chunks");
    s->tok = tok;
    s->encode = *encode;
    dstok__buf_init(&s->text, &tok->al, DSTOK_MAX_INPUT);
    dstok_status status = open_stream(s, err);
    if (status == DSTOK_E_UNSUPPORTED) status = dstok_encoder_new_with(tok, NULL, &s->enc, err);
    if (status != DSTOK_OK) {
        dstok__source_free(s);
        return status;
    }
    *out = s;
    return DSTOK_OK;
}

void dstok__source_free(dstok__source *s) {
    if (s == NULL) return;
    dstok_stream_free(s->stream);
    dstok_encoder_free(s->enc);
    dstok__buf_free(&s->text);
    dstok__free(&s->tok->al, s, sizeof *s);
}

void dstok__source_reset(dstok__source *s) {
    if (s->stream != NULL) dstok_stream_reset(s->stream);
    s->text.len = 0;
}

dstok_status dstok__source_feed(dstok__source *s, const void *bytes, size_t len, dstok_tokens *out,
                                dstok_error *err) {
    if (s->stream != NULL) return dstok_stream_feed(s->stream, bytes, len, out, err);
    *out = (dstok_tokens){NULL, NULL, NULL, 0};
    dstok_status status = dstok__buf_append(&s->text, bytes, len);
    return status == DSTOK_OK ? status : dstok__fail(err, status, s->text.len, 0, "the text is too long");
}

dstok_status dstok__source_finish(dstok__source *s, dstok_tokens *out, dstok_error *err) {
    if (s->stream != NULL) return dstok_stream_finish(s->stream, out, err);
    dstok_status status = dstok_encode_view(s->enc, s->text.data, s->text.len, &s->encode, out, err);
    s->text.len = 0;
    return status;
}
