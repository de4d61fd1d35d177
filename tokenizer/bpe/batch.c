/* SPDX-License-Identifier: MIT */
/* The calls of a pool: documents in, blocks of them for the threads, one result or one error out. */
#include "pool.h"

#include "../base/sized.h"

#include <unistd.h>

#define DOC_BYTES 64u /* what a document costs beside its text, in bytes of text */

/* ---- documents ---- */

void dstok__pool_fail(dstok_pool *p, size_t doc, const dstok_error *err) {
    if (doc >= atomic_load(&p->call.failed)) return;
    p->call.err = *err;
    atomic_store(&p->call.failed, doc);
    dstok__pool_tell(p);
}

static dstok_status encode(dstok__worker *w, const dstok_doc *doc, dstok_error *err) {
    const dstok__call *c = &w->pool->call;
    if (doc->text == NULL && doc->len > 0)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "its text is NULL");
    if (c->want == DSTOK__WANT_COUNT) w->enc->out.n = 0;
    w->doc_n = 0;
    w->doc_from = w->enc->out.n;
    DSTOK_TRY(dstok__encode_more(w->enc, doc->text, doc->len, c->options, c->want, err));
    w->doc_n += w->enc->out.n - w->doc_from;
    return DSTOK_OK;
}

bool dstok__pool_documents(dstok__worker *w, size_t first, size_t last) {
    dstok_pool *p = w->pool;
    dstok__call *c = &p->call;
    for (w->doc = first; w->doc < last; w->doc++) {
        dstok_error err;
        if (w->doc > atomic_load(&c->failed)) return false;
        if (encode(w, &c->docs[w->doc], &err) != DSTOK_OK) {
            dstok__pool_lock(p);
            dstok__pool_fail(p, w->doc, &err);
            dstok__pool_unlock(p);
            return false;
        }
        p->offsets[w->doc + 1] = w->doc_n;
        p->reports[w->doc] = w->enc->report;
    }
    return true;
}

/* ---- blocks ---- */

static uint64_t cost(const dstok_doc *doc) {
    return (doc->len < DSTOK_MAX_INPUT ? doc->len : DSTOK_MAX_INPUT) + DOC_BYTES;
}

static dstok_status add_block(dstok_pool *p, size_t first) {
    size_t n = p->call.n_blocks++;
    DSTOK_TRY(dstok__grow(p->al, (void **)&p->blocks, &p->cap_blocks, n + 2, sizeof *p->blocks, SIZE_MAX));
    DSTOK_TRY(dstok__grow(p->al, (void **)&p->units, &p->cap_units, n + 1, sizeof *p->units, SIZE_MAX));
    p->blocks[n] = first;
    p->units[n] = (dstok__unit){.doc = first};
    return DSTOK_OK;
}

/* Cuts the documents into blocks of about equal cost, eight and more for each thread where they are not too
 * small. */
static dstok_status make_blocks(dstok_pool *p) {
    dstok__call *c = &p->call;
    uint64_t all = 0, sum = 0;
    for (size_t i = 0; i < c->n_docs; i++) {
        all += cost(&c->docs[i]);
        c->has_large |= c->docs[i].len >= p->sizes.share;
    }
    uint64_t size = all / (8 * p->n_workers);
    if (size < p->sizes.least) size = p->sizes.least;
    if (size > p->sizes.most) size = p->sizes.most;
    for (size_t i = 0; i < c->n_docs; i++) {
        if (sum == 0) DSTOK_TRY(add_block(p, i));
        sum += cost(&c->docs[i]);
        if (sum >= size) sum = 0;
    }
    c->n_bytes = all - DOC_BYTES * (uint64_t)c->n_docs;
    c->is_alone = p->n_workers == 1 || c->n_blocks == 0 || (c->n_blocks == 1 && !c->has_large);
    if (c->is_alone) return DSTOK_OK;
    p->blocks[c->n_blocks] = c->n_docs;
    for (size_t i = 0; i + 1 < c->n_blocks; i++) p->units[i].next = &p->units[i + 1];
    c->open = p->units;
    return DSTOK_OK;
}

/* ---- a call ---- */

static dstok_status prepare(dstok_pool *p) {
    size_t n = p->call.n_docs;
    DSTOK_TRY(dstok__grow(p->al, (void **)&p->offsets, &p->cap_offsets, n + 1, sizeof *p->offsets, SIZE_MAX));
    p->offsets[0] = 0;
    DSTOK_TRY(dstok__grow(p->al, (void **)&p->reports, &p->cap_reports, n, sizeof *p->reports, SIZE_MAX));
    return make_blocks(p);
}

static dstok_status run(dstok_pool *p, dstok_error *err) {
    dstok__call *c = &p->call;
    size_t n;
    DSTOK_TRY(dstok_count(p->workers[0].enc, NULL, 0, c->options, &n, err)); /* are the options good? */
    p->out.ids_only = p->workers[0].enc->out.ids_only;
    dstok_status status = prepare(p);
    if (status != DSTOK_OK)
        return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "out of memory for %zu documents", c->n_docs);
    dstok__pool_run(p);
    p->failed = atomic_load(&c->failed);
    if (p->failed == SIZE_MAX) {
        p->n_reports = c->n_docs;
        return DSTOK_OK;
    }
    return dstok__fail(err, c->err.status, c->err.offset, c->err.line, "document %zu: %s", p->failed,
                       c->err.text);
}

/* From here on until finish() the pool is this call's. */
static dstok_status start(dstok_pool *p, const dstok_doc *docs, size_t n_docs,
                          const dstok_encode_options *options, dstok__wanted want, dstok_error *err) {
    if (p == NULL || (docs == NULL && n_docs > 0) || n_docs == SIZE_MAX)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the pool or the documents are NULL");
    if (p->process != getpid())
        return dstok__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET, 0,
                           "the pool belongs to the process before fork(): make one here");
    if (atomic_flag_test_and_set(&p->is_busy))
        return dstok__fail(err, DSTOK_E_STATE, DSTOK_NO_OFFSET, 0, "another call with this pool is running");
    p->call =
        (dstok__call){.docs = docs, .n_docs = n_docs, .options = options, .want = want, .failed = SIZE_MAX};
    p->failed = SIZE_MAX;
    p->n_reports = 0;
    return DSTOK_OK;
}

static void finish(dstok_pool *p) {
    atomic_flag_clear(&p->is_busy);
}

static void give(dstok_pool *p, dstok_batch *out) {
    const dstok__sink *s = p->call.is_alone ? &p->workers[0].enc->out : &p->out;
    for (size_t i = 0; i < p->call.n_docs; i++) p->offsets[i + 1] += p->offsets[i];
    dstok_batch batch = {
        .ids = s->ids, .offsets = p->offsets, .reports = p->reports, .n_docs = p->call.n_docs};
    if (!p->out.ids_only) {
        batch.spans = s->spans;
        batch.flags = s->flags;
    }
    batch.n = p->offsets[p->call.n_docs];
    dstok__sized_write(out, &batch, sizeof batch);
}

dstok_status dstok_pool_encode(dstok_pool *p, const dstok_doc *docs, size_t n_docs,
                               const dstok_encode_options *options, dstok_batch *out, dstok_error *err) {
    DSTOK_TRY(dstok__sized_check(out, DSTOK__SIZE_TO(dstok_batch, n), "batch", "DSTOK_BATCH_INIT", err));
    DSTOK_TRY(start(p, docs, n_docs, options, DSTOK__WANT_ALL, err));
    dstok_status status = run(p, err);
    if (status == DSTOK_OK) give(p, out);
    finish(p);
    return status;
}

dstok_status dstok_pool_count(dstok_pool *p, const dstok_doc *docs, size_t n_docs,
                              const dstok_encode_options *options, uint64_t *counts, uint64_t *total,
                              dstok_error *err) {
    DSTOK_TRY(start(p, docs, n_docs, options, DSTOK__WANT_COUNT, err));
    dstok_status status = run(p, err);
    uint64_t sum = 0;
    for (size_t i = 0; status == DSTOK_OK && i < n_docs; i++) {
        sum += p->offsets[i + 1];
        if (counts != NULL) counts[i] = p->offsets[i + 1];
    }
    if (status == DSTOK_OK && total != NULL) *total = sum;
    finish(p);
    return status;
}

size_t dstok_pool_failed(const dstok_pool *p) {
    return p->failed;
}

const dstok_report *dstok_pool_report(const dstok_pool *p, size_t doc) {
    return doc < p->n_reports ? &p->reports[doc] : NULL;
}
