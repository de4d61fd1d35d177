/* SPDX-License-Identifier: MIT */
/* Counts the tokens of a word from C++. */
#include <cstdio>
#include <dstok/dstok.h>

int main() {
    dstok_tokenizer *tok = nullptr;
    dstok_encoder *enc = nullptr;
    size_t n = 0;
    int bad = dstok_tokenizer_load_default(nullptr, &tok, nullptr);

    if (!bad) bad = dstok_encoder_new(tok, &enc);
    if (!bad) bad = dstok_count(enc, "Hello", 5, nullptr, &n, nullptr);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
    std::printf("%zu\n", n);
    return bad;
}
