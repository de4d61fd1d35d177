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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in;
    dstok__spec s;
    dstok_error err = {0};
    if (!fuzz_split(data, size, &in)) return 0;
    (void)dstok__looks_like_sentencepiece(in.data, in.n);
    dstok__spec_init(&s, &fuzz_allocator);
    dstok_status status = dstok__load_sentencepiece(&s, in.data, in.n, &err);
    if (status == DSTOK_OK) check_model(&s);
    fuzz_finish(&in, &s, status, &err);
    return 0;
}
