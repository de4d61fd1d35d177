/* SPDX-License-Identifier: MIT */
/* An example: counts the tokens of files, all in one call on all CPUs.
 *
 *   cc -std=c11 -O2 batch.c $(pkg-config --cflags --libs dstok) -o batch
 *   ./batch [-t THREADS] FILE...
 *
 * A line for each file: its tokens, its first five ids, its name. Exit code: 0, 1 (failed), 2 (wrong use). */
#define _POSIX_C_SOURCE 200809L
#include <dstok/dstok.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A whole file; its text is NULL when it cannot be read, and errno says why. */
static dstok_doc read_file(const char *name) {
    dstok_doc doc = {NULL, 0};
    FILE *f = fopen(name, "rb");
    size_t cap = 1 << 16, n = 0;
    char *text = f ? malloc(cap) : NULL;

    while (text != NULL && (n += fread(text + n, 1, cap - n, f)) == cap) {
        char *more = realloc(text, cap *= 2);
        if (more == NULL) free(text);
        text = more;
    }
    if (f != NULL && ferror(f)) {
        free(text);
        text = NULL;
    }
    if (f != NULL) fclose(f);
    doc.text = text;
    doc.len = n;
    return doc;
}

static void print(const dstok_batch *batch, char **names) {
    for (size_t d = 0; d < batch->n_docs; d++) {
        uint64_t begin = batch->offsets[d], end = batch->offsets[d + 1];
        printf("%llu\t", (unsigned long long)(end - begin));
        for (uint64_t i = begin; i < end && i < begin + 5; i++) printf("%u ", (unsigned)batch->ids[i]);
        printf("\t%s\n", names[d]);
    }
}

/* Says what went wrong, and at which byte where the error has a place. */
static int fail(const char *what, const dstok_error *err) {
    fprintf(stderr, "batch: %s: %s", what, dstok_status_name(err->status));
    if (err->offset != DSTOK_NO_OFFSET) fprintf(stderr, " at byte %llu", (unsigned long long)err->offset);
    fprintf(stderr, ": %s\n", err->text);
    return 1;
}

/* Encodes the files named. The error of a document that fails says its number; it is the first that does. */
static int run(dstok_pool *pool, char **names, size_t n) {
    dstok_doc *docs = malloc(n * sizeof *docs);
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_batch batch = DSTOK_BATCH_INIT;
    dstok_error err = {0};
    size_t n_read = 0;
    int rc = 0;

    options.ids_only = 1;
    while (docs != NULL && n_read < n && (docs[n_read] = read_file(names[n_read])).text != NULL) n_read++;
    if (n_read < n) {
        fprintf(stderr, "batch: %s cannot be read: %s\n", names[n_read], strerror(errno));
        rc = 1;
    } else if (dstok_pool_encode(pool, docs, n, &options, &batch, &err) != DSTOK_OK) {
        size_t failed = dstok_pool_failed(pool);
        rc = fail(failed < n ? names[failed] : "options", &err);
    } else {
        print(&batch, names); /* the arrays are the pool's, until its next call */
    }
    while (n_read > 0) free((void *)docs[--n_read].text);
    free(docs);
    return rc;
}

int main(int argc, char **argv) {
    dstok_pool_options options = DSTOK_POOL_OPTIONS_INIT; /* 0 threads: as many as CPUs */
    dstok_tokenizer *tok = NULL;
    dstok_pool *pool = NULL;
    dstok_error err = {0};
    int c, rc;

    while ((c = getopt(argc, argv, "t:")) != -1) {
        if (c != 't') return 2;
        options.n_threads = (size_t)strtoul(optarg, NULL, 10);
    }
    if (optind == argc) return fprintf(stderr, "usage: batch [-t THREADS] FILE...\n"), 2;
    if (dstok_tokenizer_load_default(NULL, &tok, &err) != DSTOK_OK) return fail("the vocabulary", &err);
    if (dstok_pool_new(tok, &options, &pool, &err) == DSTOK_OK) {
        rc = run(pool, argv + optind, (size_t)(argc - optind));
    } else {
        rc = fail("the threads", &err);
    }
    dstok_pool_free(pool);
    dstok_tokenizer_free(tok);
    return rc;
}
