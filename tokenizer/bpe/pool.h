/* SPDX-License-Identifier: MIT */
/* The inside of a pool: its threads, the call that runs, and how tokens of many sinks come to stand in one
 * array.  A call is a row of blocks of documents. Threads take them in order, each encodes into its own
 * sink, and copies its tokens to the result as soon as it is known how many stand before them: while they
 * are in the processor's cache. */
#ifndef DSTOK_BPE_POOL_H
#define DSTOK_BPE_POOL_H

#include "job.h"

#include <dstok/batch.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/* Tokens side by side in the sink of one worker: of a block, or of a part of a large document. The units of a
 * call are a list in the order of the text. */
typedef struct dstok__unit {
    struct dstok__unit *next;    /* what follows in the text */
    struct dstok__unit *waiting; /* the next one that the same worker has to copy */
    size_t from, n;              /* tokens in the sink */
    size_t at;                   /* ... and in the result: known when all units before are done */
    size_t doc;                  /* of its first token, for errors */
    bool is_done, is_placed;
} dstok__unit;

typedef struct dstok__worker {
    struct dstok_pool *pool;
    dstok_encoder *enc;
    pthread_t thread;
    dstok__unit *unit;         /* what the sink takes tokens for; NULL where nothing is copied */
    dstok__unit *first, *last; /* done and not copied */
    size_t doc;                /* the document at work... */
    size_t doc_from, doc_n;    /* ... its tokens: in the sink from here on, and so many taken before */
    dstok__arena units;        /* of parts */
} dstok__worker;

/* A stretch of a large document that all threads take parts of (share.c). Lives on its owner's stack. */
typedef struct dstok__share {
    struct dstok__share *next;
    const dstok__job *j;
    size_t begin, end; /* in j->norm */
    size_t part;       /* bytes from one wanted begin of a part to the next */
    size_t n_parts, next_part;
    size_t n_helpers; /* threads at work on it */
    size_t n_tokens;
    size_t doc;
    dstok__unit *units; /* one for each part; NULL: they are only counted */
    dstok_status status;
} dstok__share;

typedef struct dstok__call {
    const dstok_doc *docs;
    size_t n_docs;
    const dstok_encode_options *options;
    dstok__wanted want;
    bool is_alone;    /* the caller's thread does it all, and its sink is the result */
    bool has_large;   /* some document is to be shared out */
    uint64_t n_bytes; /* of all documents */
    size_t n_blocks, n_blocks_done;
    atomic_size_t next_block;
    atomic_size_t failed; /* the first document that failed; SIZE_MAX: none */
    dstok_error err;      /* ... and why */
    dstok__unit *open;    /* the first unit that is not done */
    dstok__share *shares; /* at work */
    size_t n_copying;     /* threads that write to the result */
} dstok__call;

/* Sizes in bytes; tests make them small. */
typedef struct dstok__pool_sizes {
    size_t least, most; /* of a block, and of a part */
    size_t share;       /* stretches from here on are shared out */
} dstok__pool_sizes;

/* What is written behind its first group belongs to whoever holds the lock while a call runs. */
struct dstok_pool {
    const dstok_tokenizer *tok;
    const dstok_alloc *al;
    dstok__pool_sizes sizes;
    dstok__worker *workers; /* the first one is the caller */
    size_t n_workers, n_started;
    pid_t process;       /* that made it */
    atomic_flag is_busy; /* a call runs */
    size_t failed;       /* of the last call */
    size_t n_reports;    /* ... */

    pthread_mutex_t lock;
    pthread_cond_t wake;    /* threads between calls wait for it */
    pthread_cond_t changed; /* ... in calls */
    uint64_t round;         /* number of the call */
    bool is_ending;
    size_t n_wanted; /* so many more threads may join in */
    size_t n_inside; /* ... and joined, without the caller */

    dstok__call call;
    size_t *blocks; /* first documents, and n_docs behind the last */
    dstok__unit *units;
    size_t cap_blocks, cap_units;
    dstok__sink out; /* the result; ids, spans and flags only */
    uint64_t *offsets;
    dstok_report *reports;
    size_t cap_offsets, cap_reports;
};

/* ---- pool.c ---- */

/* Runs the blocks on all threads and returns when all is copied. */
void dstok__pool_run(dstok_pool *p);

void dstok__pool_lock(dstok_pool *p);
void dstok__pool_unlock(dstok_pool *p);

/* With the lock held: waits until something may have changed; tells that something has. */
void dstok__pool_wait(dstok_pool *p);
void dstok__pool_tell(dstok_pool *p);

/* ---- batch.c ---- */

/* Encodes documents [first, last) into the worker's sink; false when one failed. */
bool dstok__pool_documents(dstok__worker *w, size_t first, size_t last);

/* With the lock held: the document has failed. Of several the first one counts. */
void dstok__pool_fail(dstok_pool *p, size_t doc, const dstok_error *err);

/* ---- gather.c; all with the lock held ---- */

/* The worker's unit holds the tokens of its sink from `from` on and is done. */
void dstok__unit_done(dstok__worker *w, dstok__unit *u, size_t from);

/* Ends the worker's unit, puts n units behind it, and begins one behind those. */
void dstok__unit_break(dstok__worker *w, dstok__unit *units, size_t n);

/* Copies one unit of the worker, letting go of the lock meanwhile; false, with nothing changed, when there
 * is none whose place is known. */
bool dstok__unit_copy(dstok__worker *w);

/* ---- share.c ---- */

/* Is it worth while to share out n bytes of the document at work? */
bool dstok__share_pays(const dstok__worker *w, size_t n);

/* The tokens of norm[begin, end) as dstok__job_fast gives them, by all threads. */
dstok_status dstok__share_run(dstok__job *j, size_t begin, size_t end);

/* With the lock held: one that has parts left, or NULL; takes them until there are none. */
dstok__share *dstok__share_find(const dstok_pool *p);
void dstok__share_help(dstok__worker *w, dstok__share *s);

#endif
