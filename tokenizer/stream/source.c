/* SPDX-License-Identifier: MIT */
/* Tokens for chunks, of the whole text at its end. */
#include "chunker.h"

#include "../bpe/model.h"

struct dstok__source {
    const dstok_tokenizer *tok;
    dstok_encoder *enc;
    dstok_encode_options encode;
    dstok__buf text;
};

dstok_status dstok__source_new(const dstok_tokenizer *tok, const dstok_encode_options *encode,
                               dstok__source **out, dstok_error *err) {
    dstok__source *s = dstok__alloc_zeroed(&tok->al, 1, sizeof *s);
    if (s == NULL || dstok_encoder_new(tok, &s->enc) != DSTOK_OK) {
        dstok__free(&tok->al, s, sizeof *s);
        return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for chunks");
    }
    s->tok = tok;
    s->encode = *encode;
    dstok__buf_init(&s->text, &tok->al, DSTOK_MAX_INPUT);
    *out = s;
    return DSTOK_OK;
}

void dstok__source_free(dstok__source *s) {
    if (s == NULL) return;
    dstok_encoder_free(s->enc);
    dstok__buf_free(&s->text);
    dstok__free(&s->tok->al, s, sizeof *s);
}

void dstok__source_reset(dstok__source *s) {
    s->text.len = 0;
}

dstok_status dstok__source_feed(dstok__source *s, const void *bytes, size_t len, dstok_tokens *out,
                                dstok_error *err) {
    *out = (dstok_tokens){NULL, NULL, NULL, 0};
    dstok_status status = dstok__buf_append(&s->text, bytes, len);
    return status == DSTOK_OK ? status : dstok__fail(err, status, s->text.len, 0, "the text is too long");
}

dstok_status dstok__source_finish(dstok__source *s, dstok_tokens *out, dstok_error *err) {
    dstok_status status = dstok_encode_view(s->enc, s->text.data, s->text.len, &s->encode, out, err);
    s->text.len = 0;
    return status;
}
