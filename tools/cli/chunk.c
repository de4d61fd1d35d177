/* SPDX-License-Identifier: MIT */
/* dstok chunk: texts cut into chunks of at most so many tokens. */
#include "record.h"

#include <dstok/chunker.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A chunker, and what it works on. Threads take one that is free, or make one. */
struct worker {
    struct worker *next;
    dstok_chunker *chunker;
    const struct cli_config *config;
    struct cli_record *rec;
    struct timespec since; /* CPU time of the thread behind the chunk before */
    size_t n, cap;         /* chunks of the record */
    float *us;             /* CPU time of each: from the one before, its text encoded and cut */
    uint64_t done;         /* the end of the last one */
    uint64_t borders[DSTOK_BORDER_END + 1], n_forced, n_tokens, n_full;
};

struct chunking {
    pthread_mutex_t lock;   /* over all below */
    struct worker *idle[2]; /* [1]: bad bytes are replaced */
    float *us;              /* CPU time of each chunk */
    size_t n, cap;
    uint64_t borders[DSTOK_BORDER_END + 1], n_forced, n_tokens, n_full;
};

static double cpu_us(struct worker *w) {
    struct timespec now;
    double us;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    us = (double)(now.tv_sec - w->since.tv_sec) * 1e6 + (double)(now.tv_nsec - w->since.tv_nsec) / 1e3;
    w->since = now;
    return us;
}

static float *with_room(float *p, size_t *cap, size_t need) {
    while (*cap < need) *cap = *cap ? 2 * *cap : 64;
    return cli_realloc(p, *cap * sizeof *p);
}

/* ---- lines of output: what stands behind {"doc":N */

static void put_span(struct cli_buf *out, const char *name, dstok_span span) {
    cli_buf_printf(out, ",\"%s\":[%llu,%llu]", name, (unsigned long long)span.begin,
                   (unsigned long long)span.end);
}

static void put_ids(struct cli_buf *out, const dstok_chunk *chunk) {
    size_t i;

    cli_buf_text(out, ",\"ids\":[");
    cli_buf_reserve(out, chunk->n * 7);
    for (i = 0; i < chunk->n; i++) {
        if (i > 0) cli_buf_char(out, ',');
        cli_buf_uint(out, chunk->ids[i]);
    }
    cli_buf_char(out, ']');
}

static int put_chunk(void *context, const dstok_chunk *chunk) {
    struct worker *w = context;
    struct cli_buf *out = &w->rec->out;

    if (w->n == w->cap) w->us = with_room(w->us, &w->cap, w->n + 1);
    w->us[w->n++] = (float)cpu_us(w);
    cli_buf_printf(out, ",\"chunk\":%llu", (unsigned long long)chunk->number);
    put_span(out, "byte", chunk->bytes);
    put_span(out, "char", chunk->chars);
    put_span(out, "token", chunk->tokens);
    cli_buf_printf(out, ",\"tokens\":%zu,\"border\":\"%s\",\"forced\":%s", chunk->n,
                   dstok_border_name(chunk->border), chunk->forced ? "true" : "false");
    if (w->config->show_ids) put_ids(out, chunk);
    if (!w->config->no_text) {
        cli_buf_text(out, ",\"text\":");
        (void)cli_json_string(out, chunk->text, chunk->text_len);
    }
    cli_buf_text(out, "}\n");
    w->done = chunk->bytes.end;
    w->borders[chunk->border]++;
    w->n_forced += chunk->forced != 0;
    w->rec->n_tokens = chunk->tokens.end;
    if (chunk->border != DSTOK_BORDER_END) w->n_full++, w->n_tokens += chunk->n;
    (void)cpu_us(w); /* what is written here is no part of the next one */
    return 0;
}

/* ---- chunkers */

static void fill_options(const struct cli_config *c, dstok_chunker_options *o) {
    o->max_tokens = c->max_tokens ? (size_t)c->max_tokens : 65536;
    o->min_tokens = (size_t)c->min_tokens;
    o->border = c->border;
    o->ids = c->border_tokens;
    o->mode = c->chunk_mode;
    o->balance = c->balance;
    o->overlap = (size_t)c->overlap;
    o->overlap_sentences = (size_t)c->overlap_sentences;
}

static dstok_status new_worker(const struct cli_run *run, int mends, struct worker **out, dstok_error *err) {
    dstok_encode_options encode = *run->encode;
    dstok_chunker_options options = DSTOK_CHUNKER_OPTIONS_INIT;
    struct worker *w = cli_alloc(sizeof *w);
    dstok_status status;

    memset(w, 0, sizeof *w);
    w->config = run->config;
    if (mends) encode.invalid = DSTOK_INVALID_REPLACE;
    fill_options(run->config, &options);
    options.encode = &encode;
    status = dstok_chunker_new(run->tok, &options, put_chunk, w, &w->chunker, err);
    if (status == DSTOK_OK)
        *out = w;
    else
        free(w);
    return status;
}

static dstok_status take_worker(const struct cli_run *run, int mends, struct worker **out, dstok_error *err) {
    struct chunking *k = run->context;

    (void)pthread_mutex_lock(&k->lock);
    *out = k->idle[mends];
    if (*out != NULL) k->idle[mends] = (*out)->next;
    (void)pthread_mutex_unlock(&k->lock);
    return *out != NULL ? DSTOK_OK : new_worker(run, mends, out, err);
}

/* Adds what it counted, if the record is good, and puts it back. */
static void give_worker(struct chunking *k, int mends, struct worker *w, int is_good) {
    size_t i;

    (void)pthread_mutex_lock(&k->lock);
    if (is_good) {
        k->us = with_room(k->us, &k->cap, k->n + w->n + 1);
        for (i = 0; i < w->n; i++) k->us[k->n++] = w->us[i];
        for (i = 0; i <= DSTOK_BORDER_END; i++) k->borders[i] += w->borders[i];
        k->n_forced += w->n_forced;
        k->n_tokens += w->n_tokens;
        k->n_full += w->n_full;
    }
    w->n = 0;
    memset(w->borders, 0, sizeof w->borders);
    w->n_forced = w->n_tokens = w->n_full = 0;
    w->next = k->idle[mends];
    k->idle[mends] = w;
    (void)pthread_mutex_unlock(&k->lock);
}

static void free_workers(struct worker *w) {
    while (w != NULL) {
        struct worker *next = w->next;

        dstok_chunker_free(w->chunker);
        free(w->us);
        free(w);
        w = next;
    }
}

/* ---- records */

static dstok_status cut(const struct cli_run *run, int mends, struct cli_record *rec, const char *text,
                        size_t n, dstok_error *err) {
    struct worker *w;
    dstok_status status = take_worker(run, mends, &w, err);

    if (status != DSTOK_OK) return status;
    w->rec = rec;
    rec->out.n = 0;
    (void)cpu_us(w);
    status = dstok_chunker_feed(w->chunker, text, n, err);
    if (status == DSTOK_OK) status = dstok_chunker_finish(w->chunker, err);
    if (status != DSTOK_OK) dstok_chunker_reset(w->chunker);
    give_worker(run->context, mends, w, status == DSTOK_OK);
    return status;
}

static void work(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec) {
    const char *text;
    size_t n;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    (void)enc;
    if (rec->rest != NULL) return; /* commit cuts it */
    if (cli_record_text(run, rec, &text, &n)) return;
    rec->n_bytes = n;
    status = cut(run, 0, rec, text, n, &err);
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status != DSTOK_OK) cli_record_failed(run, rec, &err, status);
    if (status != DSTOK_E_UTF8 || run->config->on_error != CLI_ERROR_REPLACE) return;
    status = cut(run, 1, rec, text, n, &err);
    if (status == DSTOK_OK) {
        cli_buf_text(&rec->why, "; bad bytes became U+FFFD");
        rec->state = CLI_RECORD_MENDED;
    } else {
        cli_record_failed(run, rec, &err, status);
    }
}

static void put_head(const struct cli_run *run, const struct cli_record *rec, struct cli_buf *head) {
    cli_buf_printf(head, "{\"doc\":%llu", (unsigned long long)run->n_records);
    if (rec->id.n > 0) {
        cli_buf_text(head, ",\"id\":");
        cli_buf_add(head, rec->id.p, rec->id.n);
    }
    if (run->files.n > 1) {
        cli_buf_text(head, ",\"file\":");
        cli_json_text(head, run->files.items[rec->input].name);
    }
}

/* The lines of a record, each behind its head. */
static int write_lines(const struct cli_buf *head, struct cli_record *rec) {
    const char *p = rec->out.p, *end = p + rec->out.n;
    int rc = 0;

    while (rec->out.n > 0 && p < end && rc == 0) {
        const char *next = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;

        rc = cli_out_buf(head);
        if (rc == 0) rc = cli_out(p, (size_t)(next - p));
        p = next;
    }
    rec->out.n = 0;
    return rc;
}

/* ---- a text that is read, cut and written bit by bit: memory does not grow with it */

/* Part after part. What was written is forgotten; what is left is kept, for the line of an error. */
static int cut_parts(struct cli_run *run, struct cli_record *rec, struct worker *w,
                     const struct cli_buf *head, dstok_status *status, dstok_error *err) {
    size_t at = 0;
    int rc = 0;

    do {
        *status = dstok_chunker_feed(w->chunker, rec->raw.p + at, rec->raw.n - at, err);
        if (*status == DSTOK_OK) rc = write_lines(head, rec);
        if (*status != DSTOK_OK || rc) return rc;
        cli_reader_forget(rec->rest, rec, w->done);
        cli_progress(run, 0);
        at = rec->raw.n;
        rc = cli_reader_more(rec->rest, rec);
    } while (rc == CLI_READ_RECORD);
    if (rc == CLI_READ_FAILED) return CLI_FAIL;
    *status = dstok_chunker_finish(w->chunker, err);
    return *status == DSTOK_OK ? write_lines(head, rec) : 0;
}

static int commit_long(struct cli_run *run, struct cli_record *rec) {
    struct cli_buf head = {0};
    struct worker *w = NULL;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status = take_worker(run, 0, &w, &err);
    int rc = 0;

    if (status == DSTOK_OK) {
        put_head(run, rec, &head);
        w->rec = rec;
        w->done = 0;
        (void)cpu_us(w);
        rc = cut_parts(run, rec, w, &head, &status, &err);
        if (rc || status != DSTOK_OK) dstok_chunker_reset(w->chunker);
        give_worker(run->context, 0, w, 1);
        cli_buf_free(&head);
    }
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status == DSTOK_OK) return rc;
    if (err.offset != DSTOK_NO_OFFSET) err.offset -= rec->offset; /* not before the last chunk's end */
    cli_record_failed(run, rec, &err, status);
    return cli_record_report(run, rec);
}

static int commit(struct cli_run *run, struct cli_record *rec) {
    struct cli_buf head = {0};
    int rc;

    if (rec->rest != NULL) return commit_long(run, rec);
    rc = cli_record_report(run, rec);
    if (rec->state == CLI_RECORD_BAD || rec->out.n == 0) return rc;
    put_head(run, rec, &head);
    if (rc == 0) rc = write_lines(&head, rec);
    cli_buf_free(&head);
    return rc;
}

static void end(struct cli_run *run) {
    struct chunking *k = run->context;

    free_workers(k->idle[0]);
    free_workers(k->idle[1]);
}

/* ---- what was done */

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static void tell(struct chunking *k, uint64_t limit) {
    struct cli_buf text = {0};
    int i;

    if (k->n == 0) return;
    for (i = DSTOK_BORDER_END; i > 0; i--)
        if (k->borders[i] > 0)
            cli_buf_printf(&text, "%s%s %llu", text.n > 0 ? ", " : "", dstok_border_name(i),
                           (unsigned long long)k->borders[i]);
    (void)cli_out_flush();
    cli_note("chunks: %zu; they end at: %s; forced: %llu", k->n, cli_buf_string(&text),
             (unsigned long long)k->n_forced);
    qsort(k->us, k->n, sizeof *k->us, by_size);
    if (k->n_full > 0)
        cli_note("full to %.2f %% but for the last ones; CPU time for a chunk: p50 %.0f us, p99 %.0f us",
                 100.0 * (double)k->n_tokens / ((double)k->n_full * (double)limit), (double)k->us[k->n / 2],
                 (double)k->us[(k->n - 1) * 99 / 100]);
    cli_buf_free(&text);
}

/* Options that do not fit together show before the first input is read. */
static int check(const struct cli_config *c) {
    uint64_t limit = c->max_tokens ? c->max_tokens : 65536;

    if (limit < DSTOK_CHUNK_MIN_LIMIT || limit > DSTOK_CHUNK_MAX_LIMIT)
        return cli_usage(c->verb, "--max-tokens: from %u to %u", DSTOK_CHUNK_MIN_LIMIT,
                         DSTOK_CHUNK_MAX_LIMIT);
    if (c->min_tokens > limit / 2) return cli_usage(c->verb, "--min-tokens: at most half of --max-tokens");
    if (c->overlap >= limit / 2 || c->overlap_sentences > limit / 4)
        return cli_usage(c->verb, "--overlap: below half of --max-tokens (in sentences: a quarter)");
    return 0;
}

int cli_chunk(struct cli_config *c) {
    struct chunking k;
    struct cli_run run;
    int rc = check(c);

    if (rc) return rc;
    memset(&k, 0, sizeof k);
    memset(&run, 0, sizeof run);
    (void)pthread_mutex_init(&k.lock, NULL);
    run.work = work;
    run.commit = commit;
    run.end = end;
    run.takes_parts = 1;
    run.context = &k;
    rc = cli_run_texts(c, &run);
    if (rc == 0 || rc == CLI_SKIPPED) tell(&k, c->max_tokens ? c->max_tokens : 65536);
    free(k.us);
    (void)pthread_mutex_destroy(&k.lock);
    cli_files_free(&run.files);
    return rc;
}
