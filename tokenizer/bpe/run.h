/* SPDX-License-Identifier: MIT */
/* One text on its way through the fast way, as fast.c and raw.c share it. */
#ifndef DSTOK_BPE_RUN_H
#define DSTOK_BPE_RUN_H

#include "job.h"

/* Ids go to at, which has room for all that the bytes up to the end of the window can give. */
typedef struct dstok__run {
    job *j;
    dstok__fast *f;
    const dstok_tokenizer *tok;
    const uint8_t *text;
    size_t len;
    uint32_t *at;
    bool is_raw; /* what is merged is no UTF-8 */
} dstok__run;

dstok__run dstok__run_start(job *j, const uint8_t *text, size_t len);

/* Room for the ids of n bytes; they join the others of the sink with the commit. */
dstok_status dstok__run_reserve(dstok__run *r, size_t n);
void dstok__run_commit(dstok__run *r);

/* Puts out a piece, by the cache where it is there. is_whole: a pretoken and no part of one. */
dstok_status dstok__run_put(dstok__run *r, const uint8_t *text, size_t len, bool is_whole);

#endif
