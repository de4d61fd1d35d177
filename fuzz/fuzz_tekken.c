/* SPDX-License-Identifier: MIT */
/* Fuzz target: tekken.json. */
#include "load_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static dstok_status load(dstok__spec *s, const fuzz_input *in, dstok_error *err) {
    return dstok__load_tekken(s, in->data, in->n, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_run(data, size, load);
    return 0;
}
