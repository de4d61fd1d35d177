/* SPDX-License-Identifier: MIT */
/* Fuzz target: the tokenizer metadata of GGUF files. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in;
    dstok__spec s;
    dstok_error err = {0};
    if (!fuzz_split(data, size, &in)) return 0;
    dstok__spec_init(&s, &fuzz_allocator);
    dstok_status status = dstok__load_gguf(&s, in.data, in.n, &err);
    fuzz_finish(&in, &s, status, &err);
    return 0;
}
