/* SPDX-License-Identifier: MIT */
/* Runs records through their work in batches, on several threads, and hands the results on in order. */
#include "crew.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A batch ends at either; what a record keeps between batches is bounded too. */
#define BATCH_RECORDS ((size_t)1024)
#define BATCH_BYTES   ((size_t)4 << 20)
#define KEEP_BYTES    ((size_t)1 << 14)

/* A record from here on is large: it is worked on alone, by all threads if that can be. Where it cannot, many
 * records at a time are faster, and being alone pays where it saves memory: the output need not be held. */
#define LARGE_BYTES       ((size_t)1 << 20)
#define LARGE_BYTES_ALONE ((size_t)64 << 20)

struct batch {
    struct cli_record *records; /* BATCH_RECORDS of them */
    size_t n;
    int has_large; /* the last one is large */
};

/* What a thread works with. */
struct tools {
    int is_made;
    dstok_encoder *encoder;  /* NULL where none is needed */
    struct cli_jsonl *jsonl; /* NULL where lines of JSON are no input */
};

struct pipeline {
    struct cli_run *run;
    struct batch batch;
    struct cli_crew *crew;
    struct tools *tools; /* of each thread */
    size_t large;        /* bytes from which on a record is large */
    int may_share;       /* such records go to the pool... */
    dstok_pool *pool;    /* ... which is made for the first one */
};

static dstok_encoder *new_encoder(const struct cli_run *run) {
    dstok_encoder_options options = DSTOK_ENCODER_OPTIONS_INIT;
    dstok_encoder *enc = NULL;

    if (run->encode == NULL) return NULL;
    options.simd = run->config->simd;
    if (dstok_encoder_new_with(run->tok, &options, &enc, NULL) != DSTOK_OK) cli_no_memory();
    return enc;
}

/* Each thread makes its own when it first works. */
static const struct tools *tools_of(struct pipeline *p, size_t worker) {
    struct tools *tools = &p->tools[worker];
    dstok_error err; /* the keys have been checked */

    if (!tools->is_made) {
        tools->encoder = new_encoder(p->run);
        tools->jsonl = cli_jsonl_new(p->run->config, &err);
        tools->is_made = 1;
    }
    return tools;
}

static void free_tools(struct pipeline *p) {
    size_t i;

    for (i = 0; i < cli_crew_size(p->crew); i++) {
        dstok_encoder_free(p->tools[i].encoder);
        cli_jsonl_free(p->tools[i].jsonl);
    }
    free(p->tools);
}

static void clear_result(struct cli_record *rec) {
    rec->text.n = rec->id.n = rec->out.n = rec->why.n = 0;
    rec->state = CLI_RECORD_OK;
    rec->is_dropped = rec->has_fault = rec->fault_in_text = 0;
    rec->fault = rec->column = 0;
    rec->n_tokens = rec->n_bytes = rec->n_chars = rec->n_unknown_ids = 0;
    memset(&rec->report, 0, sizeof rec->report);
    rec->first_dropped = DSTOK_NO_OFFSET;
}

static void work_on(struct pipeline *p, size_t worker, struct cli_record *rec) {
    const struct tools *tools = tools_of(p, worker);

    clear_result(rec);
    rec->jsonl = tools->jsonl;
    p->run->work(p->run, tools->encoder, rec);
}

static void work(void *context, size_t worker, size_t i) {
    struct pipeline *p = context;
    struct cli_record *rec = &p->batch.records[i];

    rec->is_large = 0;
    rec->pool = NULL;
    work_on(p, worker, rec);
}

/* The pool for large records; NULL where the system makes no more threads. */
static dstok_pool *pool_of(struct pipeline *p) {
    dstok_pool_options options = DSTOK_POOL_OPTIONS_INIT;
    dstok_encoder_options encoder = DSTOK_ENCODER_OPTIONS_INIT;

    if (p->pool != NULL || !p->may_share) return p->pool;
    encoder.simd = p->run->config->simd;
    options.encoder = &encoder;
    options.n_threads = cli_crew_size(p->crew);
    p->may_share = dstok_pool_new(p->run->tok, &options, &p->pool, NULL) == DSTOK_OK;
    return p->pool;
}

static void run_batch(struct pipeline *p) {
    struct batch *b = &p->batch;
    struct cli_record *last;

    cli_crew_run(p->crew, b->has_large ? b->n - 1 : b->n, work, p);
    if (!b->has_large) return;
    last = &b->records[b->n - 1];
    last->is_large = 1;
    last->pool = pool_of(p);
    work_on(p, 0, last);
}

/* Threads wanted, the main one included. */
static size_t wanted_threads(const struct cli_config *c) {
    long cores = c->threads ? (long)c->threads : sysconf(_SC_NPROCESSORS_ONLN);

    return cores < 1 ? 1 : cores > 256 ? 256 : (size_t)cores;
}

/* Collect records until the batch is full, the last one is large, the input ends, or it would have to be
 * waited for. When there is nothing at all yet, hand over the output so far first: a peer may wait for it
 * before it writes more. */
static int fill_batch(struct cli_reader *reader, struct batch *b, size_t large) {
    size_t bytes = 0;
    int rc = CLI_READ_RECORD;

    b->n = 0;
    b->has_large = 0;
    while (b->n < BATCH_RECORDS && bytes < BATCH_BYTES && !b->has_large) {
        struct cli_record *rec = &b->records[b->n];

        rc = cli_reader_next(reader, 0, rec);
        if (rc == CLI_READ_WAIT && b->n == 0) {
            if (cli_out_flush()) return CLI_READ_FAILED;
            rc = cli_reader_next(reader, 1, rec);
        }
        if (rc != CLI_READ_RECORD) break;
        bytes += rec->raw.n;
        b->has_large = rec->raw.n >= large || rec->rest != NULL;
        b->n++;
    }
    return rc;
}

static int commit_batch(struct cli_run *run, struct batch *b) {
    size_t i;
    int rc = 0;

    for (i = 0; i < b->n && rc == 0; i++) {
        struct cli_record *rec = &b->records[i];

        rc = run->commit(run, rec);
        run->n_records++;
        run->n_tokens += rec->n_tokens;
        run->n_bytes += rec->raw.n + (rec->rest != NULL ? rec->offset : 0);
        cli_buf_clear(&rec->raw, KEEP_BYTES);
        cli_buf_clear(&rec->text, KEEP_BYTES);
        cli_buf_clear(&rec->id, KEEP_BYTES);
        cli_buf_clear(&rec->out, KEEP_BYTES);
    }
    return rc;
}

static void free_batch(struct batch *b) {
    size_t i;

    for (i = 0; i < BATCH_RECORDS; i++) {
        cli_buf_free(&b->records[i].raw);
        cli_buf_free(&b->records[i].text);
        cli_buf_free(&b->records[i].id);
        cli_buf_free(&b->records[i].out);
        cli_buf_free(&b->records[i].why);
    }
    free(b->records);
}

static int run_all(struct pipeline *p, struct cli_reader *reader) {
    int rc = 0, reading = CLI_READ_RECORD;

    while (rc == 0 && reading != CLI_READ_END && reading != CLI_READ_FAILED) {
        reading = fill_batch(reader, &p->batch, p->large);
        run_batch(p);
        rc = commit_batch(p->run, &p->batch);
        cli_progress(p->run, 0);
    }
    return rc ? rc : reading == CLI_READ_FAILED ? CLI_FAIL : 0;
}

/* Whether there are threads, and the library knows places to cut a text at. */
static int may_share(const struct cli_run *run, size_t n_threads) {
    dstok_info info = DSTOK_INFO_INIT;

    if (n_threads == 1 || run->encode == NULL || run->encode->span_style == DSTOK_SPANS_HF) return 0;
    (void)dstok_tokenizer_info(run->tok, &info);
    return strcmp(info.scanner, "pcre2") != 0 && strcmp(info.scanner, "none") != 0;
}

static void open_pipeline(struct pipeline *p, struct cli_run *run) {
    size_t n_threads = wanted_threads(run->config);

    memset(p, 0, sizeof *p);
    p->run = run;
    p->batch.records = cli_alloc(BATCH_RECORDS * sizeof *p->batch.records);
    memset(p->batch.records, 0, BATCH_RECORDS * sizeof *p->batch.records);
    run->crew = p->crew = cli_crew_new(n_threads);
    p->may_share = may_share(run, n_threads);
    p->large = p->may_share || n_threads == 1 ? LARGE_BYTES : LARGE_BYTES_ALONE;
    p->tools = cli_alloc(n_threads * sizeof *p->tools);
    memset(p->tools, 0, n_threads * sizeof *p->tools);
}

int cli_run_records(struct cli_run *run) {
    struct cli_reader *reader = cli_reader_new(run);
    struct pipeline p;
    int rc;

    cli_progress(run, 0); /* the clock starts before the first record is read */
    open_pipeline(&p, run);
    rc = run_all(&p, reader);
    free_tools(&p);
    dstok_pool_free(p.pool);
    cli_crew_free(p.crew);
    cli_progress(run, 1);
    free_batch(&p.batch);
    cli_reader_free(reader);
    return rc;
}
