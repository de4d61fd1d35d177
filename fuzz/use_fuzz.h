/* SPDX-License-Identifier: MIT */
/* A tokenizer whose bytes are anything, put to use: every policy, style of spans and way with ill-formed text. */
#ifndef DSTOK_USE_FUZZ_H
#define DSTOK_USE_FUZZ_H

#include <dstok/tokenizer.h>

#include <stdlib.h>
#include <string.h>

static void fuzz_encode(const dstok_tokenizer *tok, dstok_encoder *enc, const char *text, size_t len,
                        const dstok_encode_options *o) {
    dstok_tokens t = {0};
    char out[256];
    size_t n;
    if (dstok_encode_view(enc, text, len, o, &t, NULL) != DSTOK_OK) return;
    for (int mode = DSTOK_DECODE_LOSSLESS; mode <= DSTOK_DECODE_RAW; mode++)
        (void)!dstok_decode(tok, t.ids, t.n, mode, o->special & 1, out, sizeof out, &n, NULL, NULL);
}

/* A copy of the text that ends with its memory, under one combination of options. */
static void fuzz_use_text(const dstok_tokenizer *tok, dstok_encoder *enc, const char *text, unsigned which) {
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    size_t len = strlen(text);
    char *exact = malloc(len);
    if (exact == NULL) abort();
    memcpy(exact, text, len);
    o.add_special = 1;
    o.special = (int)(which % 6);
    o.invalid = (int)(which % 3);
    o.span_style = which / 6 % 2 != 0 ? DSTOK_SPANS_HF : DSTOK_SPANS_EXACT;
    o.strict = which / 12 % 2 != 0;
    fuzz_encode(tok, enc, exact, len, &o);
    free(exact);
}

static void fuzz_use(const dstok_tokenizer *tok) {
    static const char *const texts[] = {"hello <s> caf\xC3\xA9 [A\xE2\x96\x81] 12 \xE7\x9A\x84\n",
                                        "a\xF0\x9F \xF0\xF0"};
    dstok_encoder *enc = NULL;
    if (dstok_encoder_new(tok, &enc) != DSTOK_OK) return;
    for (unsigned which = 0; which < 24; which++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) fuzz_use_text(tok, enc, texts[i], which);
    }
    dstok_encoder_free(enc);
}

#endif
