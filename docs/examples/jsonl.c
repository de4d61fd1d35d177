/* SPDX-License-Identifier: MIT */
/* An example: counts the tokens of the texts in JSON lines, hundreds of lines in one call on all CPUs.
 *
 *   cc -std=c11 -O2 jsonl.c $(pkg-config --cflags --libs dstok) -o jsonl
 *   ./jsonl [-k KEY] < FILE.jsonl
 *
 * A line for each record: its tokens, its id. Lines at fault are named on standard error and passed over.
 * Exit code: 0, 1 (could not start or go on), 2 (wrong use), 3 (some lines were at fault). */
#define _POSIX_C_SOURCE 200809L
#include <dstok/dstok.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DOCS  512
#define MAX_BYTES ((size_t)4 << 20)

/* Bytes that grow. */
struct bytes {
    char *p;
    size_t n, cap;
};

/* Texts on their way to the pool, copied: the reader's own memory is used again for the next line. */
struct queue {
    struct bytes texts, ids;
    size_t text_end[MAX_DOCS], id_end[MAX_DOCS], n;
};

static int reserve(struct bytes *b, size_t more) {
    size_t cap = b->cap ? b->cap : 1 << 16;
    char *p;

    while (cap - b->n < more) cap *= 2;
    if (cap == b->cap) return 0;
    if ((p = realloc(b->p, cap)) == NULL) return fprintf(stderr, "jsonl: out of memory\n"), -1;
    b->p = p;
    b->cap = cap;
    return 0;
}

static int add(struct bytes *b, const char *p, size_t n) {
    if (reserve(b, n) != 0) return -1;
    if (n > 0) memcpy(b->p + b->n, p, n);
    b->n += n;
    return 0;
}

static int fail(const char *what, const dstok_error *err) {
    fprintf(stderr, "jsonl: %s: %s: %s\n", what, dstok_status_name(err->status), err->text);
    return 1;
}

/* Counts what is queued and prints it. */
static int flush(dstok_pool *pool, struct queue *q) {
    dstok_doc docs[MAX_DOCS];
    uint64_t counts[MAX_DOCS];
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_error err = {0};

    options.invalid = DSTOK_INVALID_REPLACE; /* else one text that is not UTF-8 ends the call */
    for (size_t i = 0, at = 0; i < q->n; at = q->text_end[i++]) {
        docs[i].text = q->texts.p + at;
        docs[i].len = q->text_end[i] - at;
    }
    if (dstok_pool_count(pool, docs, q->n, &options, counts, NULL, &err) != DSTOK_OK)
        return fail("counting", &err);
    for (size_t i = 0, at = 0; i < q->n; at = q->id_end[i++])
        printf("%llu\t%.*s\n", (unsigned long long)counts[i], (int)(q->id_end[i] - at), q->ids.p + at);
    q->n = q->texts.n = q->ids.n = 0;
    return 0;
}

static int push(dstok_pool *pool, struct queue *q, const dstok_jsonl_record *record) {
    if (add(&q->texts, record->text, record->n_text) != 0 || add(&q->ids, record->id, record->n_id) != 0)
        return -1;
    q->text_end[q->n] = q->texts.n;
    q->id_end[q->n++] = q->ids.n;
    return q->n == MAX_DOCS || q->texts.n >= MAX_BYTES ? flush(pool, q) : 0;
}

/* All whole lines of what was read; what stands behind them moves to the begin. */
static int take_lines(dstok_jsonl *reader, dstok_pool *pool, struct bytes *in, int is_last, struct queue *q,
                      int *n_bad) {
    dstok_jsonl_record record = DSTOK_JSONL_RECORD_INIT;
    dstok_error err = {0};
    size_t at = 0;

    for (;;) {
        dstok_status status = dstok_jsonl_next(reader, in->p, in->n, is_last, &at, &record, &err);
        if (status == DSTOK_E_NOMEM) return fail("reading", &err);
        if (status == DSTOK_OK && record.line == NULL) break;
        if (status != DSTOK_OK) {
            size_t begin = (size_t)(record.line - in->p); /* err.offset counts from the begin of the buffer */
            fprintf(stderr, "jsonl: line %llu: byte %llu of it: %s\n", (unsigned long long)record.number,
                    (unsigned long long)(err.offset - begin), err.text);
            ++*n_bad;
        } else if (push(pool, q, &record) != 0) {
            return 1;
        }
    }
    memmove(in->p, in->p + at, in->n - at);
    in->n -= at;
    return 0;
}

static int run(dstok_jsonl *reader, dstok_pool *pool) {
    static struct queue q;
    struct bytes in = {0};
    int rc = 0, n_bad = 0, is_last = 0;

    while (rc == 0 && !is_last) {
        if ((rc = reserve(&in, 1 << 20)) != 0) break;
        size_t n = fread(in.p + in.n, 1, in.cap - in.n, stdin);
        in.n += n;
        is_last = n == 0;
        rc = take_lines(reader, pool, &in, is_last, &q, &n_bad);
    }
    if (rc == 0) rc = flush(pool, &q);
    free(in.p);
    free(q.texts.p);
    free(q.ids.p);
    return rc != 0 || ferror(stdin) || fflush(stdout) != 0 ? 1 : n_bad > 0 ? 3 : 0;
}

int main(int argc, char **argv) {
    dstok_jsonl_options options = DSTOK_JSONL_OPTIONS_INIT; /* keys: "text"; id_key: "id" */
    const char *key;
    dstok_tokenizer *tok = NULL;
    dstok_pool *pool = NULL;
    dstok_jsonl *reader = NULL;
    dstok_error err = {0};
    int c, rc;

    while ((c = getopt(argc, argv, "k:")) != -1) {
        if (c != 'k') return 2;
        key = optarg;
        options.keys = &key;
        options.n_keys = 1;
    }
    if (optind < argc) return fprintf(stderr, "usage: jsonl [-k KEY] < FILE.jsonl\n"), 2;
    if (dstok_jsonl_new(&options, &reader, &err) != DSTOK_OK ||
        dstok_tokenizer_load_default(NULL, &tok, &err) != DSTOK_OK ||
        dstok_pool_new(tok, NULL, &pool, &err) != DSTOK_OK)
        rc = fail("the start", &err);
    else
        rc = run(reader, pool);
    dstok_pool_free(pool);
    dstok_tokenizer_free(tok);
    dstok_jsonl_free(reader);
    return rc;
}
