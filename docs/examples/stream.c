/* SPDX-License-Identifier: MIT */
/* An example: encodes standard input of any length in bounded memory and decodes the ids again while they come.
 *
 *   cc -std=c11 -O2 stream.c $(pkg-config --cflags --libs dstok) -o stream
 *   ./stream < FILE > COPY
 *
 * COPY is FILE, as far as the vocabulary keeps all of a text (the built-in one does); the number of tokens goes to
 * standard error. Exit code: 0, 1 (something failed). */
#include <dstok/dstok.h>
#include <stdio.h>
#include <stdlib.h>

static dstok_error err;

static int failed(const char *what) {
    fprintf(stderr, "stream: %s: %s\n", what, err.text);
    return 1;
}

/* The tokens that are final now, decoded and written. */
static int pass_on(dstok_decoder *decoder, const dstok_tokens *t) {
    const void *bytes;
    size_t n;

    if (dstok_decoder_push(decoder, t->ids, t->n, &bytes, &n, &err)) return failed("decoding");
    if (fwrite(bytes, 1, n, stdout) != n) return perror("stream"), 1;
    return 0;
}

static int run(dstok_stream *stream, dstok_decoder *decoder, unsigned long long *n_tokens) {
    static char bytes[1 << 16];
    dstok_tokens t;
    const void *rest;
    size_t n;

    while ((n = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        if (dstok_stream_feed(stream, bytes, n, &t, &err)) return failed("encoding");
        if (pass_on(decoder, &t)) return 1;
        *n_tokens += t.n;
    }
    if (ferror(stdin)) return perror("stream"), 1;
    if (dstok_stream_finish(stream, &t, &err)) return failed("encoding");
    if (pass_on(decoder, &t)) return 1;
    *n_tokens += t.n;
    if (dstok_decoder_finish(decoder, &rest, &n, &err)) return failed("decoding");
    if (fwrite(rest, 1, n, stdout) != n || fflush(stdout)) return perror("stream"), 1;
    return 0;
}

int main(void) {
    dstok_tokenizer *tok = NULL;
    dstok_stream *stream = NULL;
    dstok_decoder *decoder = NULL;
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    unsigned long long n_tokens = 0;
    int code = 1;

    options.ids_only = 1;
    if (dstok_tokenizer_load_default(NULL, &tok, &err) || dstok_stream_new(tok, &options, NULL, &stream, &err) ||
        dstok_decoder_new(tok, DSTOK_DECODE_LOSSLESS, 0, &decoder, &err)) {
        failed("start");
    } else {
        code = run(stream, decoder, &n_tokens);
        fprintf(stderr, "%llu tokens\n", n_tokens);
    }
    dstok_decoder_free(decoder);
    dstok_stream_free(stream);
    dstok_tokenizer_free(tok);
    return code;
}
