/* SPDX-License-Identifier: MIT */
/* The measurements of dstok bench, in the order in which they must come. */
#include "bench.h"
#include "sha256.h"

#include <dstok/align.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define DOC_BYTES  ((size_t)16384)
#define MAX_PASSES 99

/* The parts of a measurement that only this file needs. */
struct run {
    struct bench *b;
    dstok_tokenizer *tok;
    dstok_encode_options options;
    uint32_t *allowed;
    struct bench_pool pool;
    struct bench_ids big; /* ids of the whole text */
};

/* ---- clocks and memory */

static double seconds(clockid_t clock) {
    struct timespec t = {0, 0};

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(const struct bench *b) {
    return seconds(b->by_cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC);
}

/* 10^6 bytes a second; a clock that did not move gives a very large number, not infinity. */
static double speed(size_t n, double time) {
    return (double)n / (time > 1e-9 ? time : 1e-9) * 1e-6;
}

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

/* ---- documents */

/* Documents of 16 KB, cut before the next byte that begins a character. */
static void cut(struct run *r) {
    const struct bench *b = r->b;
    struct bench_doc *doc;
    size_t at = 0;

    r->pool.docs = cli_alloc((b->n_text / DOC_BYTES + 1) * sizeof *doc);
    while (at < b->n_text) {
        doc = &r->pool.docs[r->pool.n_docs++];
        memset(doc, 0, sizeof *doc);
        doc->begin = at;
        at = b->n_text - at < DOC_BYTES ? b->n_text : at + DOC_BYTES;
        while (at < b->n_text && ((unsigned char)b->text[at] & 0xC0) == 0x80) at++;
        doc->end = at;
    }
}

static const char *text_of(const struct bench_worker *w, const struct bench_doc *doc) {
    return w->pool->text + doc->begin;
}

static dstok_status encode_doc(struct bench_worker *w, struct bench_doc *doc) {
    dstok_status status;

    doc->id_worker = w->index;
    doc->id_at = w->ids.n;
    status = bench_encode(w, text_of(w, doc), doc->end - doc->begin, &w->ids);
    doc->n_ids = w->ids.n - doc->id_at;
    w->count += doc->n_ids;
    return status;
}

static dstok_status count_doc(struct bench_worker *w, struct bench_doc *doc) {
    size_t n = 0;
    dstok_status status =
        dstok_count(w->enc, text_of(w, doc), doc->end - doc->begin, w->pool->options, &n, &w->err);

    w->count += n;
    return status;
}

static dstok_status spans_doc(struct bench_worker *w, struct bench_doc *doc) {
    dstok_tokens t = {NULL, NULL, NULL, 0};
    dstok_encode_options options = *w->pool->options;
    dstok_status status;

    options.ids_only = 0;
    status = dstok_encode_view(w->enc, text_of(w, doc), doc->end - doc->begin, &options, &t, &w->err);

    w->count += t.n;
    return status;
}

static dstok_status utf8_doc(struct bench_worker *w, struct bench_doc *doc) {
    w->count += dstok_utf8_check(text_of(w, doc), doc->end - doc->begin);
    return DSTOK_OK;
}

static dstok_status decode_doc(struct bench_worker *w, struct bench_doc *doc) {
    const uint32_t *ids = w->pool->workers[doc->id_worker].ids.p;
    struct cli_buf *out = &w->bytes;
    size_t n = doc->end - doc->begin;
    dstok_status status;

    if (doc->n_ids > 0) ids += doc->id_at;
    do {
        cli_buf_reserve(out, n);
        status = dstok_decode(w->pool->tok, ids, doc->n_ids, DSTOK_DECODE_LOSSLESS, 0, out->p + out->n,
                              out->cap - out->n, &n, NULL, &w->err);
    } while (status == DSTOK_E_SPACE);
    doc->byte_worker = w->index;
    doc->byte_at = out->n;
    doc->n_bytes = n;
    if (status == DSTOK_OK) out->n += n;
    return status;
}

/* The whole text, on the main thread. */
static dstok_status encode_big(struct run *r) {
    r->big.n = 0;
    return bench_encode(&r->pool.workers[0], r->b->text, r->b->n_text, &r->big);
}

/* ---- passes */

/* Say what went wrong, with its place in the file. */
static int failed(const struct run *r, const struct bench_worker *w, size_t begin) {
    const char *what = w->err.text[0] ? w->err.text : dstok_status_name(w->status);
    const char *option = w->status == DSTOK_E_UTF8      ? " (--invalid)"
                         : w->status == DSTOK_E_SPECIAL ? " (--special)"
                                                        : "";

    if (w->status == DSTOK_E_NOMEM) cli_no_memory();
    if (w->err.offset == DSTOK_NO_OFFSET)
        cli_error("%s: %s%s", cli_input_name(r->b->file), what, option);
    else
        cli_error("%s: byte %llu: %s%s", cli_input_name(r->b->file),
                  (unsigned long long)(w->err.offset + begin), what, option);
    return CLI_FAIL;
}

static int differs(const struct run *r, const char *what) {
    cli_error("%s: %s; that is a fault of dstok", cli_input_name(r->b->file), what);
    return CLI_FAIL;
}

/* Forget what the last pass left. The ids stay where they are until documents are encoded again. */
static void forget(struct run *r, bench_work *work) {
    size_t i;

    for (i = 0; i < r->pool.n_workers; i++) {
        struct bench_worker *w = &r->pool.workers[i];

        w->count = 0;
        w->bytes.n = 0;
        if (work == encode_doc) w->ids.n = 0;
    }
}

static size_t counted(const struct run *r) {
    size_t i, n = 0;

    for (i = 0; i < r->pool.n_workers; i++) n += r->pool.workers[i].count;
    return n;
}

/* One timed pass over documents [first, last). Returns 0, or CLI_FAIL after a message. */
static int pass(struct run *r, bench_work *work, size_t first, size_t last, double *time) {
    const struct bench_worker *bad;
    double start = now(r->b);

    bad = bench_pool_run(&r->pool, work, first, last);
    *time = now(r->b) - start;
    return bad ? failed(r, bad, r->pool.docs[bad->bad_doc].begin) : 0;
}

/* One timed pass over the whole text. */
static int big_pass(struct run *r, double *time) {
    struct bench_worker *w = &r->pool.workers[0];
    double start = now(r->b);

    w->status = encode_big(r);
    *time = now(r->b) - start;
    return w->status == DSTOK_OK ? 0 : failed(r, w, 0);
}

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

/* Passes until the budget is spent: over the documents, or with work == NULL over the whole text. A second one is
 * made in any case unless the first took seconds. */
static int repeat(struct run *r, bench_work *work, int figure) {
    double times[MAX_PASSES], start = seconds(CLOCK_MONOTONIC), budget = (double)r->b->config->budget * 1e-3;
    size_t n = 0;
    int rc = 0;

    while (rc == 0 && n < MAX_PASSES &&
           (seconds(CLOCK_MONOTONIC) - start < budget || n == 0 || (n == 1 && times[0] < 2))) {
        if (work) forget(r, work);
        rc = work ? pass(r, work, 0, r->pool.n_docs, &times[n]) : big_pass(r, &times[n]);
        n++;
        if (getppid() != r->b->parent) _exit(CLI_FAIL); /* nobody waits any more */
    }
    if (rc == 0) r->b->speed[figure] = speed(r->b->n_text, median(times, n));
    return rc;
}

/* ---- what was made */

static void hash_ids(struct cli_sha256 *s, const uint32_t *ids, size_t n) {
    uint8_t bytes[1024];
    size_t i, k;

    for (i = 0; i < n;) {
        for (k = 0; k < sizeof bytes && i < n; k += 4, i++) {
            bytes[k] = (uint8_t)ids[i];
            bytes[k + 1] = (uint8_t)(ids[i] >> 8);
            bytes[k + 2] = (uint8_t)(ids[i] >> 16);
            bytes[k + 3] = (uint8_t)(ids[i] >> 24);
        }
        cli_sha256_add(s, bytes, k);
    }
}

/* The ids of all documents, in order. */
static void hash_docs(const struct run *r, uint8_t digest[32]) {
    struct cli_sha256 s;
    size_t i;

    cli_sha256_start(&s);
    for (i = 0; i < r->pool.n_docs; i++) {
        const struct bench_doc *doc = &r->pool.docs[i];

        if (doc->n_ids > 0) hash_ids(&s, r->pool.workers[doc->id_worker].ids.p + doc->id_at, doc->n_ids);
    }
    cli_sha256_end(&s, digest);
}

static int decoded_is_text(const struct run *r) {
    size_t i;

    for (i = 0; i < r->pool.n_docs; i++) {
        const struct bench_doc *doc = &r->pool.docs[i];

        if (doc->n_bytes != doc->end - doc->begin) return 0;
        if (memcmp(r->pool.workers[doc->byte_worker].bytes.p + doc->byte_at, r->b->text + doc->begin,
                   doc->n_bytes) != 0)
            return 0;
    }
    return 1;
}

/* ---- the measurements */

static int load(struct run *r) {
    struct bench *b = r->b;
    const struct cli_config *c = b->config;
    double before = peak_mb(), resident = resident_mb(), start = now(b);
    int rc = cli_vocab_load(c, c->n_vocabs ? c->vocabs[0] : NULL, &r->tok);

    b->load_ms = (now(b) - start) * 1e3;
    b->load_mb = peak_mb() - before;
    b->loaded_mb = resident_mb() - resident;
    if (rc == 0) rc = cli_encode_options(c, r->tok, &r->options, &r->allowed);
    r->options.ids_only = 1;
    return rc;
}

static int first_call(struct run *r) {
    double start = now(r->b);
    dstok_status status;

    r->pool.tok = r->tok;
    r->pool.options = &r->options;
    r->pool.simd = r->b->simd;
    r->pool.text = r->b->text;
    status = bench_pool_start(&r->pool, r->b->n_threads);
    r->b->first_ms = (now(r->b) - start) * 1e3;
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    return status == DSTOK_OK ? 0 : differs(r, "one letter cannot be encoded");
}

static int cold(struct run *r) {
    struct bench *b = r->b;
    size_t half = r->pool.n_docs / 2, before;
    double first = 0, second = 0;
    int rc;

    forget(r, encode_doc);
    rc = pass(r, encode_doc, 0, half, &first);
    before = counted(r);
    if (rc == 0) rc = pass(r, encode_doc, half, r->pool.n_docs, &second);
    if (rc) return rc;
    b->n_docs = r->pool.n_docs;
    b->n_tokens = counted(r);
    b->unseen_bytes = b->n_text - r->pool.docs[half].begin;
    b->unseen_tokens = b->n_tokens - before;
    b->speed[BENCH_COLD] = speed(b->n_text, first + second);
    b->speed[BENCH_UNSEEN] = speed(b->unseen_bytes, second);
    hash_docs(r, b->ids_hash);
    return 0;
}

static int warm(struct run *r) {
    uint8_t again[32];
    int rc = repeat(r, encode_doc, BENCH_WARM);

    if (rc) return rc;
    hash_docs(r, again);
    return memcmp(again, r->b->ids_hash, sizeof again) == 0 ? 0
                                                            : differs(r, "a repeated pass gave other ids");
}

static int decode(struct run *r) {
    int rc = repeat(r, decode_doc, BENCH_DECODE);

    r->b->is_lossless = rc == 0 && decoded_is_text(r);
    return rc;
}

/* Passes that count tokens: the number is known. */
static int recount(struct run *r, bench_work *work, int figure) {
    int rc = repeat(r, work, figure);

    if (rc == 0 && counted(r) != r->b->n_tokens)
        rc = differs(r, "counting gave another number of tokens than encoding");
    return rc;
}

/* One call takes less than 2 GiB; a longer text has no such figure. */
static int big(struct run *r) {
    struct cli_sha256 s;
    int rc;

    if (r->b->n_text > DSTOK_MAX_INPUT) return 0;
    rc = repeat(r, NULL, BENCH_BIG);
    cli_sha256_start(&s);
    hash_ids(&s, r->big.p, r->big.n);
    cli_sha256_end(&s, r->b->big_hash);
    return rc;
}

/* The rest, in any order. */
static int others(struct run *r) {
    int rc = decode(r);

    if (rc == 0) rc = recount(r, count_doc, BENCH_COUNT);
    if (rc == 0) rc = recount(r, spans_doc, BENCH_SPANS);
    if (rc == 0) rc = repeat(r, utf8_doc, BENCH_UTF8);
    return rc ? rc : big(r);
}

int bench_run(struct bench *b) {
    struct run r;
    double before, resident;
    int rc;

    memset(&r, 0, sizeof r);
    r.b = b;
    cut(&r);
    before = peak_mb();
    resident = resident_mb();
    rc = load(&r);
    if (rc == 0) rc = first_call(&r);
    if (rc == 0) rc = cold(&r);
    if (rc == 0) rc = warm(&r);
    b->rss_mb = peak_mb() - before;
    b->kept_mb = resident_mb() - resident;
    if (rc == 0) rc = others(&r);
    if (r.pool.threads) bench_pool_stop(&r.pool);
    free(r.pool.docs);
    free(r.big.p);
    free(r.allowed);
    dstok_tokenizer_free(r.tok);
    return rc;
}
