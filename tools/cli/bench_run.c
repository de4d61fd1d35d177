/* SPDX-License-Identifier: MIT */
/* The measurements of dstok bench, in the order in which they must come. */
#include "bench.h"
#include "sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_PASSES 99

/* ---- memory */

/* Largest resident set so far, in MiB. */
static double peak_mb(void) {
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : 0;
}

/* Resident set now, in MiB; where the system does not tell, the largest one. */
static double resident_mb(void) {
    FILE *f = fopen("/proc/self/statm", "r");
    long size, pages = -1, page = sysconf(_SC_PAGESIZE);

    if (f == NULL) return peak_mb();
    if (fscanf(f, "%ld %ld", &size, &pages) != 2) pages = -1;
    (void)fclose(f);
    return pages < 0 ? peak_mb() : (double)pages * (double)page / (1 << 20);
}

size_t bench_threads(const struct cli_config *c) {
    long cores = c->threads ? (long)c->threads : sysconf(_SC_NPROCESSORS_ONLN);

    return cores < 1 ? 1 : cores > 256 ? 256 : (size_t)cores;
}

/* ---- passes again and again */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The first pass may find buffers too small, so it counts only where it is the only one. */
static double median(double *times, size_t n) {
    size_t skip = n > 1;

    qsort(times + skip, n - skip, sizeof *times, by_value);
    return (times[skip + (n - skip - 1) / 2] + times[skip + (n - skip) / 2]) / 2;
}

static double seconds(void) {
    struct timespec t = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Passes until the budget is spent; stages have a quarter of it. A second one is made in any case unless the
 * first took seconds. */
static int repeat(struct bench_times *t, bench_pass *pass, int figure) {
    double times[MAX_PASSES], start = seconds(), budget = (double)t->b->config->budget * 1e-3;
    size_t n = 0;
    int rc = 0;

    if (figure >= BENCH_STAGE) budget /= 4;
    while (rc == 0 && n < MAX_PASSES && (seconds() - start < budget || n == 0 || (n == 1 && times[0] < 2))) {
        rc = pass(t, &times[n]);
        n++;
        if (getppid() != t->b->parent) _exit(CLI_FAIL); /* nobody waits any more */
    }
    if (rc == 0) t->b->speed[figure] = bench_speed(t->b->n_text, median(times, n));
    return rc;
}

/* ---- ids */

static void hash_ids(struct cli_sha256 *s, const dstok_batch *batch) {
    uint8_t bytes[1024];
    size_t i, k;

    for (i = 0; i < batch->n;) {
        for (k = 0; k < sizeof bytes && i < batch->n; k += 4, i++) {
            bytes[k] = (uint8_t)batch->ids[i];
            bytes[k + 1] = (uint8_t)(batch->ids[i] >> 8);
            bytes[k + 2] = (uint8_t)(batch->ids[i] >> 16);
            bytes[k + 3] = (uint8_t)(batch->ids[i] >> 24);
        }
        cli_sha256_add(s, bytes, k);
    }
}

static void hash_batch(const dstok_batch *batch, uint8_t digest[32]) {
    struct cli_sha256 s;

    cli_sha256_start(&s);
    hash_ids(&s, batch);
    cli_sha256_end(&s, digest);
}

/* Passes that give the ids of all documents again. */
static int encode_again(struct bench_times *t, bench_pass *pass, int figure, const char *fault) {
    uint8_t again[32];
    int rc = repeat(t, pass, figure);

    if (rc) return rc;
    hash_batch(&t->batch, again);
    return memcmp(again, t->b->ids_hash, sizeof again) == 0 ? 0 : bench_differs(t->b, fault);
}

/* ---- the measurements */

static int load(struct bench_times *t) {
    struct bench *b = t->b;
    const struct cli_config *c = b->config;
    double before = peak_mb(), resident = resident_mb(), start = bench_now(b);
    int rc = cli_vocab_load(c, c->n_vocabs ? c->vocabs[0] : NULL, &t->tok);

    b->load_ms = (bench_now(b) - start) * 1e3;
    b->load_mb = peak_mb() - before;
    b->loaded_mb = resident_mb() - resident;
    return rc ? rc : cli_encode_options(c, t->tok, &t->options, &t->allowed);
}

/* What the first call costs besides the text is no part of any pass. */
static int first_call(struct bench_times *t) {
    static const dstok_doc letter = {"a", 1};
    double start = bench_now(t->b);
    int rc = bench_open_pool(t, DSTOK_CACHE_DEFAULT, &t->pool);

    if (rc) return rc;
    if (dstok_pool_encode(t->pool, &letter, 1, &t->options, &t->batch, NULL) != DSTOK_OK)
        return bench_differs(t->b, "one letter cannot be encoded");
    t->b->first_ms = (bench_now(t->b) - start) * 1e3;
    return 0;
}

static size_t bytes_from(const struct bench_times *t, size_t doc) {
    return t->b->n_text - (size_t)((const char *)t->docs[doc].text - t->b->text);
}

static int cold(struct bench_times *t) {
    struct bench *b = t->b;
    struct cli_sha256 s;
    size_t half = t->n_docs / 2;
    double first = 0, second = 0;
    int rc = bench_encode_range(t, 0, half, &first);

    if (rc) return rc;
    cli_sha256_start(&s);
    hash_ids(&s, &t->batch);
    b->n_tokens = (size_t)t->batch.n;
    rc = bench_encode_range(t, half, t->n_docs, &second);
    if (rc) return rc;
    hash_ids(&s, &t->batch);
    cli_sha256_end(&s, b->ids_hash);
    b->n_docs = t->n_docs;
    b->unseen_tokens = (size_t)t->batch.n;
    b->n_tokens += b->unseen_tokens;
    b->unseen_bytes = bytes_from(t, half);
    b->speed[BENCH_COLD] = bench_speed(b->n_text, first + second);
    b->speed[BENCH_UNSEEN] = bench_speed(b->unseen_bytes, second);
    return 0;
}

static int decode(struct bench_times *t) {
    int rc = repeat(t, bench_decode_pass, BENCH_DECODE);

    t->b->is_lossless = rc == 0 && bench_decoded_is_text(t);
    return rc;
}

static int count(struct bench_times *t) {
    int rc = repeat(t, bench_count_pass, BENCH_COUNT);

    if (rc || t->total == t->b->n_tokens) return rc;
    return bench_differs(t->b, "counting gave another number of tokens than encoding");
}

static int merge(struct bench_times *t) {
    int rc = bench_open_pool(t, 0, &t->bare);

    if (rc) return rc;
    rc = encode_again(t, bench_merge_pass, BENCH_MERGE, "without a cache there were other ids");
    dstok_pool_free(t->bare);
    t->bare = NULL;
    return rc;
}

/* One call takes less than 2 GiB; a longer text has no such figure. */
static int big(struct bench_times *t) {
    int rc;

    if (t->b->n_text > DSTOK_MAX_INPUT) return 0;
    rc = repeat(t, bench_big_pass, BENCH_BIG);
    if (rc == 0) hash_batch(&t->batch, t->b->big_hash);
    return rc;
}

static int stages(struct bench_times *t) {
    int rc = 0, last = bench_last_stage(t);

    for (t->stage = DSTOK_STAGE_UTF8; t->stage <= last && rc == 0; t->stage++)
        rc = repeat(t, bench_stage_pass, BENCH_STAGE + t->stage);
    return rc;
}

/* The rest, in any order. */
static int others(struct bench_times *t) {
    int rc = bench_open_crew(t), all = !t->b->config->no_stages;

    if (rc == 0) rc = decode(t);
    if (rc == 0 && all) rc = stages(t);
    if (rc == 0) rc = count(t);
    if (rc == 0 && all)
        rc = encode_again(t, bench_spans_pass, BENCH_SPANS, "with spans there were other ids");
    if (rc == 0 && all) rc = merge(t);
    return rc ? rc : big(t);
}

int bench_run(struct bench *b) {
    struct bench_times t;
    double before, resident;
    int rc;

    memset(&t, 0, sizeof t);
    t.b = b;
    t.batch.struct_size = sizeof t.batch;
    bench_cut(&t);
    before = peak_mb();
    resident = resident_mb();
    rc = load(&t);
    if (rc == 0) rc = first_call(&t);
    if (rc == 0) rc = cold(&t);
    if (rc == 0) rc = encode_again(&t, bench_encode_pass, BENCH_WARM, "a repeated pass gave other ids");
    b->rss_mb = peak_mb() - before;
    b->kept_mb = resident_mb() - resident;
    if (rc == 0) rc = others(&t);
    bench_close(&t);
    return rc;
}
