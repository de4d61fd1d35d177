/* SPDX-License-Identifier: MIT */
/* Fuzz target: the tokenizer metadata of GGUF files. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static dstok_status load(dstok__spec *s, const fuzz_input *in, dstok_error *err) {
    return dstok__load_gguf(s, in->data, in->n, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_run(data, size, load);
    return 0;
}
