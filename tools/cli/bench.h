/* SPDX-License-Identifier: MIT */
/* What the files of dstok bench share: the threads that work on documents, and what was measured. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "verbs.h"

#include <stdatomic.h>
#include <sys/types.h>

/* ---- bench_pool.c: passes over the documents of a text, on one or more threads */

/* A document: a range of the text, and where a pass left what it made of it. */
struct bench_doc {
    size_t begin, end;
    size_t id_worker, id_at, n_ids;       /* its ids, among those of that worker */
    size_t byte_worker, byte_at, n_bytes; /* its decoded bytes, likewise */
};

struct bench_ids {
    uint32_t *p;
    size_t n, cap;
};

/* What one thread works with. */
struct bench_worker {
    struct bench_pool *pool;
    size_t index;
    dstok_encoder *enc;
    struct bench_ids ids; /* of its documents, one behind the other */
    struct cli_buf bytes; /* decoded */
    size_t count;         /* tokens, or whatever the pass counts */
    dstok_status status;  /* of its first failure */
    dstok_error err;
    size_t bad_doc;
};

typedef dstok_status bench_work(struct bench_worker *w, struct bench_doc *doc);

struct bench_pool {
    const dstok_tokenizer *tok;
    const dstok_encode_options *options;
    int simd; /* DSTOK_SIMD_* of its encoders */
    const char *text;
    struct bench_doc *docs;
    size_t n_docs;
    struct bench_worker *workers; /* the first is the main thread's */
    size_t n_workers;
    struct bench_threads *threads; /* how they are told what to do */
};

/* Make the threads; each has an encoder and has encoded one letter when this returns. Returns the first
 * failure. */
dstok_status bench_pool_start(struct bench_pool *p, size_t n_threads);
void bench_pool_stop(struct bench_pool *p);
/* One pass: work on documents [first, last). Returns the worker that failed, or NULL. */
const struct bench_worker *bench_pool_run(struct bench_pool *p, bench_work *work, size_t first, size_t last);

/* Encode text[0, len) and add the ids to *ids: the fastest public way from a text to ids in memory of one's own. */
dstok_status bench_encode(struct bench_worker *w, const char *text, size_t len, struct bench_ids *ids);

/* ---- bench_run.c: the measurements */

enum {
    BENCH_COLD,   /* the first pass over the documents */
    BENCH_UNSEEN, /* its second half */
    BENCH_WARM,   /* the same documents again */
    BENCH_BIG,    /* the whole text as one document */
    BENCH_COUNT,
    BENCH_DECODE,
    BENCH_SPANS, /* ids with the place of each token */
    BENCH_UTF8,  /* only the check that the text is UTF-8 */
    BENCH_FIGURES
};

/* A run: what is measured, and what came out. */
struct bench {
    const struct cli_config *config;
    const struct cli_input *file;
    const char *tier;
    int simd; /* DSTOK_SIMD_* */
    const char *text;
    size_t n_text;
    size_t n_threads;
    int by_cpu;   /* the clock */
    pid_t parent; /* who waits for the results */
    /* results */
    double speed[BENCH_FIGURES]; /* 10^6 bytes of text a second; 0 where it was not measured */
    double load_ms, first_ms;
    double load_mb, rss_mb;    /* growth of the largest resident set: by loading, then by the passes, too */
    double loaded_mb, kept_mb; /* growth of the resident set: after loading, after the passes */
    size_t n_docs, n_tokens;
    size_t unseen_bytes, unseen_tokens;
    uint8_t ids_hash[32], big_hash[32];
    int is_lossless; /* decoding gave the text back */
};

/* Threads that `config` asks for. */
size_t bench_threads(const struct cli_config *c);
/* Measure. To be called once in a process: the first pass must be the first. Returns 0, or an exit code after a
 * message. */
int bench_run(struct bench *b);

/* ---- bench_report.c */

void bench_put_json(struct cli_buf *out, const struct bench *b);
void bench_put_table(struct cli_buf *out, const struct bench *b);

#endif
