/* SPDX-License-Identifier: MIT */
/* Fuzz target: rank files, with meta.json as the side file; without one the pattern is given by name. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in;
    dstok__spec s;
    dstok_error err = {0};
    if (!fuzz_split(data, size, &in)) return 0;
    dstok__spec_init(&s, &fuzz_allocator);
    const char *pattern = in.side == NULL ? "cl100k_base" : NULL;
    dstok_status status = dstok__load_tiktoken(&s, in.data, in.n, pattern, in.side, in.side_n, &err);
    fuzz_finish(&in, &s, status, &err);
    return 0;
}
