/* SPDX-License-Identifier: MIT */
/* Fuzz target: compiled vocabularies (.dstok) with a checksum that is always right, put to use when they open. */
#include "../tokenizer/bpe/tables.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const dstok_tokenizer *tok) {
    static const char text[] = "hello <s> caf\xC3\xA9  12 \xE7\x9A\x84\n";
    dstok_encoder *enc = NULL;
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    char out[256];
    size_t n;
    if (dstok_encoder_new(tok, &enc) != DSTOK_OK) return;
    for (o.special = DSTOK_SPECIAL_SAFE; o.special < DSTOK_SPECIAL_ERROR; o.special++) {
        if (dstok_encode_view(enc, text, sizeof text - 1, &o, &t, NULL) != DSTOK_OK) continue;
        for (int mode = DSTOK_DECODE_LOSSLESS; mode <= DSTOK_DECODE_RAW; mode++)
            (void)!dstok_decode(tok, t.ids, t.n, mode, o.special & 1, out, sizeof out, &n, NULL, NULL);
    }
    dstok_encoder_free(enc);
}

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
        use(tok);
        dstok_tokenizer_free(tok);
    } else if (err.text[0] == '\0') {
        abort();
    }
    free(block);
    return 0;
}
