/* SPDX-License-Identifier: MIT */
/* Compiles the default vocabulary while the library is built: seed VOCABULARY OUT.dstok. */
#include <dstok/tokenizer.h>

#include <stdio.h>

/* This program is made of the library's objects before there is an embedded vocabulary. */
extern const unsigned char dstok__default_vocab[];
extern const size_t dstok__default_vocab_size;
const unsigned char dstok__default_vocab[1] = {0};
const size_t dstok__default_vocab_size = 0;

static int write_file(const char *path, const void *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) return 1;
    size_t written = fwrite(bytes, 1, n, file);
    return fclose(file) != 0 || written != n;
}

int main(int argc, char **argv) {
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.text = ""};
    if (argc != 3) {
        fprintf(stderr, "usage: seed VOCABULARY OUT.dstok\n");
        return 2;
    }
    if (dstok_tokenizer_load(argv[1], NULL, &tok, &err) != DSTOK_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], err.text);
        return 1;
    }
    size_t n;
    const void *bytes = dstok_tokenizer_compiled(tok, &n);
    int rc = write_file(argv[2], bytes, n);
    if (rc != 0) perror(argv[2]);
    dstok_tokenizer_free(tok);
    return rc;
}
