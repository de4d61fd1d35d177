/* SPDX-License-Identifier: MIT */
/* Fuzz target: tekken.json. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in;
    dstok__spec s;
    dstok_error err = {0};
    if (!fuzz_split(data, size, &in)) return 0;
    dstok__spec_init(&s, &fuzz_allocator);
    dstok_status status = dstok__load_tekken(&s, in.data, in.n, &err);
    fuzz_finish(&in, &s, status, &err);
    return 0;
}
