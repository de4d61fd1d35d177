/* SPDX-License-Identifier: MIT */
/* What the files of dstok bench share: what is measured, the passes over a text, and what came out. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "crew.h"
#include "verbs.h"

#include <dstok/batch.h>

#include <sys/types.h>

enum {
    BENCH_COLD,   /* the first pass over the documents */
    BENCH_UNSEEN, /* its second half */
    BENCH_WARM,   /* the same documents again */
    BENCH_BIG,    /* the whole text as one document */
    BENCH_COUNT,
    BENCH_DECODE,
    BENCH_SPANS, /* ids with the place of each token */
    BENCH_MERGE, /* ids without a cache: all that is more than one token is merged */
    BENCH_STAGE, /* behind it a figure for each DSTOK_STAGE_* */
    BENCH_FIGURES = BENCH_STAGE + DSTOK_STAGE_PROBE + 1
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

/* ---- bench_crew.c: threads that share documents, for work that the library's pools do not do */

/* What one thread works with. */
struct bench_worker {
    struct bench_crew *crew;
    size_t index;
    dstok_encoder *enc;
    struct cli_buf bytes; /* what it made */
    dstok_status status;  /* of its first failure */
    dstok_error err;
    size_t bad_doc;
};

typedef dstok_status bench_work(struct bench_worker *w, size_t doc);

struct bench_crew {
    const dstok_tokenizer *tok;
    int simd;                     /* DSTOK_SIMD_* of its encoders */
    struct bench_worker *workers; /* the first is the main thread's */
    size_t n_workers;
    struct cli_crew *threads;
    bench_work *work; /* of the pass */
    void *context;    /* ... */
};

/* Make the threads and an encoder for each. Returns the first failure. */
dstok_status bench_crew_start(struct bench_crew *c, size_t n_threads);
void bench_crew_stop(struct bench_crew *c);
/* One pass: work on documents [0, n). Returns the worker that failed, or NULL. */
const struct bench_worker *bench_crew_run(struct bench_crew *c, bench_work *work, size_t n);

/* ---- bench_work.c: passes over a text, each timed */

struct bench_times {
    struct bench *b;
    dstok_tokenizer *tok;
    dstok_encode_options options;
    uint32_t *allowed;
    dstok_doc *docs; /* the text in pieces of 16 KB */
    size_t n_docs;
    dstok_pool *pool;
    dstok_batch batch;      /* what its last call gave */
    uint64_t total;         /* what its last count gave */
    dstok_pool *bare;       /* the same without a cache */
    struct bench_crew crew; /* for the passes behind the encoding ones */
    int stage;              /* DSTOK_STAGE_* */
    uint32_t *ids;          /* what is decoded: those of document d begin at starts[d] */
    uint64_t *starts;
    struct bench_piece *pieces; /* where each document was decoded to */
};

double bench_now(const struct bench *b);
/* 10^6 bytes a second. */
double bench_speed(size_t n, double time);

/* Each is one pass: *time is what it took. Returns 0, or an exit code after a message. */
typedef int bench_pass(struct bench_times *t, double *time);
bench_pass bench_encode_pass, bench_spans_pass, bench_merge_pass, bench_count_pass, bench_big_pass,
    bench_decode_pass, bench_stage_pass;

void bench_cut(struct bench_times *t);
/* A pool whose encoders remember so many bytes. Returns 0, or an exit code after a message. */
int bench_open_pool(const struct bench_times *t, size_t cache_bytes, dstok_pool **out);
/* Encode documents [first, last). Returns 0, or an exit code after a message. */
int bench_encode_range(struct bench_times *t, size_t first, size_t last, double *time);
/* Keep the ids of the last call for decoding, and make the crew. Returns 0, or an exit code after a message. */
int bench_open_crew(struct bench_times *t);
/* The last DSTOK_STAGE_* that the text has here: 0 when it is no UTF-8, the check alone when the vocabulary has no
 * fast way, or some document. */
int bench_last_stage(struct bench_times *t);
int bench_decoded_is_text(const struct bench_times *t);
void bench_close(struct bench_times *t);
/* Complain about a fault of the library. */
int bench_differs(const struct bench *b, const char *what);

/* ---- bench_report.c */

void bench_put_json(struct cli_buf *out, const struct bench *b);
void bench_put_table(struct cli_buf *out, const struct bench *b);

#endif
