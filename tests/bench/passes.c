/* SPDX-License-Identifier: MIT */
/* One pass of each kind over a text, in functions that callgrind can tell apart (callgrind.py counts them).
 * usage: bench_passes TEXT. Prints the number of tokens and documents. */
#include <dstok/dstok.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOC_BYTES 16384

struct pass {
    dstok_tokenizer *tok;
    dstok_encoder *enc;
    const char *text;
    size_t len;
    uint32_t *ids;
    char *bytes;
    size_t n_ids, ends[64], n_docs; /* where the ids of each document end */
};

static void check(dstok_status status) {
    if (status == DSTOK_OK) return;
    fprintf(stderr, "passes: %s\n", dstok_status_name(status));
    exit(1);
}

/* The document that begins at `at`; its length. */
static size_t document(const struct pass *p, size_t at) {
    size_t end = p->len - at < DOC_BYTES ? p->len : at + DOC_BYTES;
    while (end < p->len && ((unsigned char)p->text[end] & 0xC0) == 0x80) end++;
    return end - at;
}

static void encode(struct pass *p) {
    p->n_ids = p->n_docs = 0;
    for (size_t at = 0, n; at < p->len; at += n) {
        n = document(p, at);
        dstok_tokens t;
        dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
        options.ids_only = 1;
        check(dstok_encode_view(p->enc, p->text + at, n, &options, &t, NULL));
        memcpy(p->ids + p->n_ids, t.ids, t.n * sizeof *t.ids);
        p->n_ids += t.n;
        p->ends[p->n_docs++] = p->n_ids;
    }
}

/* The four that are counted: called once each, through pointers that keep compilers from inlining them. */
void pass_first(struct pass *p);
void pass_second(struct pass *p);
void pass_count(struct pass *p);
void pass_decode(struct pass *p);

void pass_first(struct pass *p) {
    encode(p);
}

void pass_second(struct pass *p) {
    encode(p);
    __asm__ volatile("" ::: "memory"); /* not the same code as pass_first: compilers fold equal functions */
}

void pass_count(struct pass *p) {
    size_t total = 0;
    for (size_t at = 0, n, k; at < p->len; at += n) {
        n = document(p, at);
        check(dstok_count(p->enc, p->text + at, n, NULL, &k, NULL));
        total += k;
    }
    if (total != p->n_ids) check(DSTOK_E_STATE);
}

void pass_decode(struct pass *p) {
    size_t at = 0, first = 0;
    for (size_t i = 0; i < p->n_docs; first = p->ends[i++]) {
        size_t n;
        check(dstok_decode(p->tok, p->ids + first, p->ends[i] - first, DSTOK_DECODE_LOSSLESS, 0,
                           p->bytes + at, p->len - at, &n, NULL, NULL));
        at += n;
    }
}

static void (*volatile passes[])(struct pass *) = {pass_first, pass_second, pass_count, pass_decode};

static char *read_text(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    char *text = malloc(1 << 20);
    *n = f != NULL && text != NULL ? fread(text, 1, 1 << 20, f) : 0;
    if (f != NULL) fclose(f);
    if (*n == 0 || *n / DOC_BYTES >= sizeof((struct pass *)0)->ends / sizeof(size_t)) check(DSTOK_E_IO);
    return text;
}

int main(int argc, char **argv) {
    struct pass p = {0};
    dstok_tokens t;
    if (argc != 2) check(DSTOK_E_INVAL);
    char *text = read_text(argv[1], &p.len);
    p.text = text;
    check(dstok_tokenizer_load_default(NULL, &p.tok, NULL));
    check(dstok_encoder_new(p.tok, &p.enc));
    size_t bound = dstok_encode_bound(p.tok, p.len, NULL);
    p.ids = calloc(bound, sizeof *p.ids);
    p.bytes = calloc(p.len, 1);
    if (p.ids == NULL || p.bytes == NULL) check(DSTOK_E_NOMEM);
    check(dstok_encode_view(p.enc, "a", 1, NULL, &t, NULL));
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) passes[i](&p);
    if (memcmp(p.bytes, p.text, p.len) != 0) check(DSTOK_E_STATE);
    printf("%zu %zu\n", p.n_ids, p.n_docs);
    dstok_encoder_free(p.enc);
    dstok_tokenizer_free(p.tok);
    free(p.ids);
    free(p.bytes);
    free(text);
    return 0;
}
