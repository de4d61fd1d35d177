/* SPDX-License-Identifier: MIT */
/* Fuzz target: tokenizer.json, with tokenizer_config.json as the side file. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in;
    dstok__spec s;
    dstok_error err = {0};
    if (!fuzz_split(data, size, &in)) return 0;
    dstok__spec_init(&s, &fuzz_allocator);
    dstok_status status = dstok__load_hf(&s, in.data, in.n, in.side, in.side_n, &err);
    fuzz_finish(&in, &s, status, &err);
    return 0;
}
