/* SPDX-License-Identifier: MIT */
/* Fuzz target: rank files, with meta.json as the side file; without one the pattern is given by name. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static dstok_status load(dstok__spec *s, const fuzz_input *in, dstok_error *err) {
    const char *pattern = in->side == NULL ? "cl100k_base" : NULL;
    return dstok__load_tiktoken(s, in->data, in->n, pattern, in->side, in->side_n, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_run(data, size, load);
    return 0;
}
