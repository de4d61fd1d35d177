/* SPDX-License-Identifier: MIT */
/* Many documents in one call, on many threads: flat ids and where each document's begin.
 *
 *     static const dstok_doc docs[] = {{"Hello, world", 12}, {"again", 5}};
 *     dstok_pool *pool;
 *     dstok_batch batch = DSTOK_BATCH_INIT;
 *     int status = dstok_pool_new(tok, NULL, &pool, NULL);
 *     if (status == DSTOK_OK) status = dstok_pool_encode(pool, docs, 2, NULL, &batch, NULL);
 *     for (size_t d = 0; status == DSTOK_OK && d < batch.n_docs; d++)
 *         for (uint64_t i = batch.offsets[d]; i < batch.offsets[d + 1]; i++) printf("%u ", (unsigned)batch.ids[i]);
 *
 * docs/examples/batch.c is a program around it. */
#ifndef DSTOK_BATCH_H
#define DSTOK_BATCH_H

#include <dstok/base.h>
#include <dstok/tokenizer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Threads with an encoder each, made once; what their caches learnt stays from call to call.
 *
 *  Results are those of dstok_encode_view for each document, whatever the number of threads, what ran before,
 *  and who was faster. Documents are handed out in blocks of 64 KB and more. One of 256 KB and more is shared
 *  out, too, where a scanner of ours cuts its text (dstok_info.scanner is neither "pcre2" nor "none") and no
 *  option wants each pretoken looked at (DSTOK_SPANS_HF) or an early end (max_tokens): one thread checks it, looks
 *  for added tokens and normalises; then all take parts of the text between added tokens. Parts begin where every
 *  pretokenizer would begin a pretoken; a text without such places (a gigabyte of one letter) stays with one
 *  thread.
 *
 *  Memory of each thread but the first: at most 16 MB that stay (DSTOK_CACHE_DEFAULT, which fills with some MB
 *  of text, and scratch), and room for the longest document that was normalised or repaired. Beside that the
 *  pool keeps the result: 4 bytes a token with ids_only, else 21, with room to grow, and 64 bytes a document.
 *  While a call runs the tokens of some blocks are there twice.
 *
 *  Threads: one call at a time; a second one meanwhile is E_STATE. With n_threads = 1 no thread is made. Else
 *  the caller's thread works, too; the others sleep between calls, block all signals, and use the tokenizer's
 *  allocator.
 *
 *  fork(): a child may use the tokenizer and make pools of its own. The parent's pool has no threads there:
 *  every call with it is E_STATE, and dstok_pool_free gives its memory back, which is safe only when no call ran
 *  during the fork. */
typedef struct dstok_pool dstok_pool;

/** How to make a pool. Zero is the default of every field.
 *  n_threads  threads in all, the caller's among them, at most DSTOK_MAX_THREADS; 0: as many as CPUs that the
 *      process may use (its affinity; quotas of CPU time are not looked at)
 *  encoder    how each thread's encoder is made, read during dstok_pool_new; NULL = defaults */
typedef struct dstok_pool_options {
    size_t struct_size;
    size_t n_threads;
    const dstok_encoder_options *encoder;
} dstok_pool_options;
#define DSTOK_POOL_OPTIONS_INIT                                                                              \
    { sizeof(dstok_pool_options), 0, NULL }

#define DSTOK_MAX_THREADS ((size_t)1024)

/** Make a pool. tok must outlive it.
 *  options  [in]  NULL = defaults
 *  out      [out] untouched on failure
 *  Returns: DSTOK_OK; E_INVAL (NULL, struct_size, too many threads); E_LIMIT (the system makes no more
 *      threads); what dstok_encoder_new_with returns; E_NOMEM.
 *  Owns: out, to be given to dstok_pool_free.   Threads: safe.   Cost: a thread's start each.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_pool_new(const dstok_tokenizer *tok,
                                                      const dstok_pool_options *options, dstok_pool **out,
                                                      dstok_error *err);

/** End a pool's threads and free it with its results; NULL allowed.   Threads: while no call runs.   Since: 0.1 */
DSTOK_API void dstok_pool_free(dstok_pool *pool);

/** How many threads work for a pool, the caller's among them.   Since: 0.1 */
DSTOK_API size_t dstok_pool_threads(const dstok_pool *pool);

/** One document: bytes, not NUL-terminated; text may be NULL when len is 0. Read during the call only. */
typedef struct dstok_doc {
    const void *text;
    size_t len;
} dstok_doc;

/** The tokens of all documents, one document's behind the other's. The arrays belong to the pool and are valid
 *  until its next call or its end.
 *  ids      shape (n,)
 *  spans    shape (n,), bytes of the token's own document; NULL with options->ids_only
 *  flags    shape (n,), DSTOK_FLAG_*; NULL with options->ids_only
 *  offsets  shape (n_docs + 1,): document d has the tokens [offsets[d], offsets[d + 1]); the last one is n
 *  reports  shape (n_docs,): what dstok_encode_report would say of each */
typedef struct dstok_batch {
    size_t struct_size;
    const uint32_t *ids;
    const dstok_span *spans;
    const uint8_t *flags;
    const uint64_t *offsets;
    const dstok_report *reports;
    size_t n_docs;
    uint64_t n;
} dstok_batch;
#define DSTOK_BATCH_INIT                                                                                     \
    { sizeof(dstok_batch), NULL, NULL, NULL, NULL, NULL, 0, 0 }

/** Encode documents.
 *  docs     [in]  shape (n_docs,); NULL allowed with n_docs = 0
 *  options  [in]  NULL = defaults; the same for all documents
 *  out      [in,out] made with DSTOK_BATCH_INIT; fields up to its struct_size are filled, on success only
 *  Returns: DSTOK_OK; E_INVAL (NULL, struct_size, options); E_STATE (in a child after fork, or a call runs already);
 *      what dstok_encode_view returns for a document. One document that fails is the end of the call: nothing
 *      is given out, and the error is that of the first such document, whatever the threads did: err->text
 *      begins with "document N:", err->offset is a byte of it, dstok_pool_failed is N. (What runs out of memory
 *      first is up to the allocator.) The pool is usable after any failure.
 *  Owns: the pool owns the arrays.   Threads: one call at a time.
 *  Cost: as dstok_encode_view for each document, and one copy of the tokens.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_pool_encode(dstok_pool *pool, const dstok_doc *docs,
                                                         size_t n_docs, const dstok_encode_options *options,
                                                         dstok_batch *out, dstok_error *err);

/** Count the tokens of documents without storing them.
 *  counts  [out] tokens of each document, shape (n_docs,), caller-owned, or NULL; untouched on failure
 *  total   [out] of all together, or NULL; untouched on failure
 *  Returns, Threads: as dstok_pool_encode. What its last call gave out is valid no more.
 *  Cost: as dstok_count for each document.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_pool_count(dstok_pool *pool, const dstok_doc *docs,
                                                        size_t n_docs, const dstok_encode_options *options,
                                                        uint64_t *counts, uint64_t *total, dstok_error *err);

/** The number of the document that the last call failed at; SIZE_MAX when it did not fail, or for another reason.
 *  Since: 0.1 */
DSTOK_API size_t dstok_pool_failed(const dstok_pool *pool);

/** What dstok_encode_report would say of a document of the last call, which encoded or counted; NULL where there is
 *  no such document or that call failed. Valid until the pool's next call or its end.   Since: 0.1 */
DSTOK_API const dstok_report *dstok_pool_report(const dstok_pool *pool, size_t doc);

#ifdef __cplusplus
}
#endif
#endif
