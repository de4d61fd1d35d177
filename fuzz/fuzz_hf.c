/* SPDX-License-Identifier: MIT */
/* Fuzz target: tokenizer.json, with tokenizer_config.json as the side file. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static dstok_status load(dstok__spec *s, const fuzz_input *in, dstok_error *err) {
    return dstok__load_hf(s, in->data, in->n, in->side, in->side_n, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_run(data, size, load);
    return 0;
}
