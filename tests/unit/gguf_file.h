/* SPDX-License-Identifier: MIT */
/* A small writer of GGUF files for tests, and two vocabularies made with it. */
#ifndef DSTOK_TESTS_GGUF_FILE_H
#define DSTOK_TESTS_GGUF_FILE_H

#include "load_util.h"

/* ---- writing a file ---- */

enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 }; /* types of values */
enum { NORMAL = 1, UNKNOWN, CONTROL, USER, UNUSED, BYTE };                    /* types of tokens */

typedef struct file {
    char *data;
    size_t n, cap;
    uint64_t n_pairs;
} file;

static inline void put(file *f, const void *bytes, size_t n) {
    while (f->n + n > f->cap) {
        f->cap = 2 * f->cap + 256;
        f->data = realloc(f->data, f->cap);
        if (f->data == NULL) exit(1);
    }
    memcpy(f->data + f->n, bytes, n);
    f->n += n;
}

static inline void put_number(file *f, uint64_t v, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char c = (char)(v >> (8 * i));
        put(f, &c, 1);
    }
}

static inline void put_string(file *f, const char *text) {
    put_number(f, strlen(text), 8);
    put(f, text, strlen(text));
}

static inline void put_key(file *f, const char *key, unsigned type) {
    put_string(f, key);
    put_number(f, type, 4);
    f->n_pairs++;
}

static inline void add_string(file *f, const char *key, const char *text) {
    put_key(f, key, STRING);
    put_string(f, text);
}

static inline void add_number(file *f, const char *key, unsigned type, uint64_t v, size_t size) {
    put_key(f, key, type);
    put_number(f, v, size);
}

static inline void add_bool(file *f, const char *key, bool v) {
    add_number(f, key, BOOL, v, 1);
}

static inline void add_id(file *f, const char *key, uint32_t v) {
    add_number(f, key, U32, v, 4);
}

static inline void add_array(file *f, const char *key, unsigned elem, size_t n) {
    put_key(f, key, ARRAY);
    put_number(f, elem, 4);
    put_number(f, n, 8);
}

/* Texts up to a NULL. */
static inline void add_strings(file *f, const char *key, const char *const *texts) {
    size_t n = 0;
    while (texts[n] != NULL) n++;
    add_array(f, key, STRING, n);
    for (size_t i = 0; i < n; i++) put_string(f, texts[i]);
}

static inline void add_types(file *f, const int *types, size_t n) {
    add_array(f, "tokenizer.ggml.token_type", I32, n);
    for (size_t i = 0; i < n; i++) put_number(f, (uint32_t)types[i], 4);
}

static inline void add_scores(file *f, const float *scores, size_t n) {
    add_array(f, "tokenizer.ggml.scores", F32, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, &scores[i], 4);
        put_number(f, word, 4);
    }
}

static inline file start(void) {
    file f = {.data = NULL};
    put(&f, "GGUF", 4);
    put_number(&f, 3, 4);
    put_number(&f, 0, 8); /* tensors */
    put_number(&f, 0, 8); /* keys: finish writes them */
    return f;
}

static inline void finish(file *f) {
    for (unsigned i = 0; i < 8; i++) f->data[16 + i] = (char)(f->n_pairs >> (8 * i));
}

/* ---- two vocabularies ---- */

static const char *const bpe_tokens[] = {"a",   "b", "Ġ",       "ab",     "Ġa", "<|x|>",
                                         "<y>", "",  "é\u4E00", "[PAD9]", NULL};
static const int bpe_types[] = {NORMAL,  NORMAL, NORMAL, NORMAL, NORMAL,
                                CONTROL, USER,   NORMAL, NORMAL, UNUSED};
static const char *const bpe_merges[] = {"a b", "Ġ a", "a b", NULL};

static inline void add_bpe_head(file *f, const char *pre) {
    add_string(f, "general.architecture", "llama");
    add_string(f, "tokenizer.ggml.model", "gpt2");
    if (pre != NULL) add_string(f, "tokenizer.ggml.pre", pre);
}

static inline file bpe_file(const char *pre) {
    file f = start();
    static const char *const tags[] = {"one", "two", NULL};
    add_bpe_head(&f, pre);
    add_strings(&f, "general.tags", tags);
    add_number(&f, "general.of_one", U8, 200, 1);
    add_number(&f, "general.of_eight", F64, 7, 8);
    add_strings(&f, "tokenizer.ggml.tokens", bpe_tokens);
    add_types(&f, bpe_types, 10);
    add_strings(&f, "tokenizer.ggml.merges", bpe_merges);
    add_id(&f, "tokenizer.ggml.bos_token_id", 5);
    add_id(&f, "tokenizer.ggml.eos_token_id", 6);
    return f;
}

static const char *const spm_tokens[] = {"<unk>", "<s>",     "</s>", "<0x00>", "<0xC3>", "\u2581", "a", "b",
                                         "ab",    "\u2581a", "  ",   "<u>",    "[PAD]",  "é",      "",  NULL};
static const int spm_types[] = {UNKNOWN, CONTROL, CONTROL, BYTE, BYTE,   NORMAL, NORMAL, NORMAL,
                                NORMAL,  NORMAL,  USER,    USER, UNUSED, NORMAL, NORMAL};
static const float spm_scores[] = {0, 0, 0, 0, 0, -9, -10, -11, -2, -1, -1000, -1000, -10000, -12, 0};

static inline file spm_file(const char *arch) {
    file f = start();
    add_string(&f, "general.architecture", arch);
    add_string(&f, "tokenizer.ggml.model", "llama");
    add_string(&f, "tokenizer.ggml.pre", "default");
    add_strings(&f, "tokenizer.ggml.tokens", spm_tokens);
    add_types(&f, spm_types, 15);
    add_scores(&f, spm_scores, 15);
    add_id(&f, "tokenizer.ggml.bos_token_id", 1);
    add_id(&f, "tokenizer.ggml.eos_token_id", 2);
    add_id(&f, "tokenizer.ggml.unknown_token_id", 0);
    return f;
}

#endif
