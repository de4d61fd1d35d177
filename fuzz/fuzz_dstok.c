/* SPDX-License-Identifier: MIT */
/* Fuzz target: compiled vocabularies (.dstok) with a checksum that is always right, put to use when they open. */
#include "../tokenizer/bpe/tables.h"
#include "use_fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.text = ""};
    uint8_t *block = malloc(size + (size == 0));
    if (block == NULL) abort();
    memcpy(block, data, size);
    if (size >= sizeof(dstok__head)) {
        uint64_t sum = dstok__hash(block + DSTOK__CHECKED_FROM, size - DSTOK__CHECKED_FROM, 0);
        memcpy(block + offsetof(dstok__head, checksum), &sum, sizeof sum);
    }
    dstok_status status = dstok_tokenizer_load_memory(block, size, NULL, 0, NULL, &tok, &err);
    if (status == DSTOK_OK) {
        fuzz_use(tok);
        dstok_tokenizer_free(tok);
    } else if (err.text[0] == '\0') {
        abort();
    }
    free(block);
    return 0;
}
