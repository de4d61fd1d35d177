/* SPDX-License-Identifier: MIT */
/* Fuzz target: SentencePiece model files, and telling them from others. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the tokenizer relies on beyond what load_fuzz.h checks. */
static void check_model(const dstok__spec *s) {
    require(s->unk_id < s->n_tokens && s->n_norms == 1);
    for (size_t i = 0; i < s->n_tokens; i++) require(s->tokens[i].id == i && s->tokens[i].n > 0);
    for (unsigned b = 0; b < 256 && s->byte_fallback; b++) require(s->fallback_ids[b] < s->n_tokens);
}

static dstok_status load(dstok__spec *s, const fuzz_input *in, dstok_error *err) {
    (void)dstok__looks_like_sentencepiece(in->data, in->n);
    dstok_status status = dstok__load_sentencepiece(s, in->data, in->n, err);
    if (status == DSTOK_OK) check_model(s);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_run(data, size, load);
    return 0;
}
