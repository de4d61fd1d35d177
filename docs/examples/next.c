/* SPDX-License-Identifier: MIT */
/* The likeliest next tokens of a text:  next MODEL TEXT  prints five of them, with their ids and log-probabilities. */
#include <dsx/dsx.h>

#include <dstok/tokenizer.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SHOWN 5

/* The ids of text go to the session. */
static dstok_status read_text(const dstok_tokenizer *tok, dsx_session *session, const char *text,
                              dstok_error *err) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_encoder *enc = NULL;
    dstok_tokens tokens;
    dstok_status status = dstok_encoder_new(tok, &enc);

    options.add_special = 1; /* a start token, if the vocabulary has one */
    if (status == DSTOK_OK) status = dstok_encode_view(enc, text, strlen(text), &options, &tokens, err);
    if (status == DSTOK_OK) status = dsx_session_feed(session, tokens.ids, tokens.n, err);
    dstok_encoder_free(enc);
    return status;
}

static void print_token(const dstok_tokenizer *tok, size_t id, double logprob) {
    const void *bytes = "";
    size_t n = 0;

    if (dstok_token_bytes(tok, (uint32_t)id, &bytes, &n) != DSTOK_OK) n = 0;
    printf("%zu\t%.4f\t%.*s\n", id, logprob, (int)n, (const char *)bytes);
}

/* Overwrites the logits. */
static void print_likeliest(const dstok_tokenizer *tok, double *logits, size_t n) {
    double max = -INFINITY, sum = 0;

    for (size_t i = 0; i < n; i++) max = logits[i] > max ? logits[i] : max;
    for (size_t i = 0; i < n; i++) sum += exp(logits[i] - max);
    for (int k = 0; k < N_SHOWN; k++) {
        size_t best = 0;

        for (size_t i = 1; i < n; i++)
            if (logits[i] > logits[best]) best = i;
        print_token(tok, best, logits[best] - max - log(sum));
        logits[best] = -INFINITY;
    }
}

int main(int argc, char **argv) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dsx_model_info info = DSX_MODEL_INFO_INIT;
    dstok_tokenizer *tok = NULL;
    dsx_session *session = NULL;
    dsx_model *model = NULL;
    double *logits = NULL;
    dstok_status status;

    if (argc != 3) return fputs("usage: next MODEL TEXT\n", stderr), 2;
    status = dsx_model_open(argv[1], NULL, &model, &err);
    if (status == DSTOK_OK) status = dsx_model_describe(model, &info);
    if (status == DSTOK_OK && info.tokenizer == NULL)
        return fprintf(stderr, "next: %s has no vocabulary\n", argv[1]), 1;
    if (status == DSTOK_OK) status = dstok_tokenizer_load(info.tokenizer, NULL, &tok, &err);
    if (status == DSTOK_OK) status = dsx_session_new(model, NULL, &session, &err);
    if (status == DSTOK_OK) status = read_text(tok, session, argv[2], &err);
    if (status == DSTOK_OK) logits = malloc(info.n_vocab * sizeof *logits);
    if (status == DSTOK_OK && logits == NULL) status = DSTOK_E_NOMEM;
    if (status == DSTOK_OK) status = dsx_session_logits(session, logits, info.n_vocab, &err);
    if (status == DSTOK_OK)
        print_likeliest(tok, logits, info.n_vocab);
    else
        fprintf(stderr, "next: %s: %s\n", dstok_status_name(status), err.text);
    free(logits);
    dsx_session_free(session);
    dstok_tokenizer_free(tok);
    dsx_model_free(model);
    return status == DSTOK_OK ? 0 : 1;
}
