/* SPDX-License-Identifier: MIT */
/* Bytes that are no UTF-8, taken as they are, and short stretches of text between them. */
#ifndef DSTOK_BPE_RAW_H
#define DSTOK_BPE_RAW_H

#include "job.h"

/* The ids of text[0, len), any bytes, as one pretoken; only where dstok__job_knows_bytes. To the sink,
 * without spans. */
dstok_status dstok__raw_ids(job *j, const uint8_t *text, size_t len);

/* Where the well-formed text that begins at source[i] ends; it may be empty. */
size_t dstok__well_formed_end(const job *j, const uint8_t *source, size_t len, size_t i);

/* Where the ill-formed bytes that begin at source[i] end; *n is how many U+FFFD would replace them. */
size_t dstok__ill_formed_end(const uint8_t *source, size_t len, size_t i, size_t *n);

/* Before these places, counted in the source, no added token begins: matched before and after normalisation. */
typedef struct dstok__ahead {
    size_t added[2];
} dstok__ahead;

/* May an added token begin in source[begin, end)? begin must not decrease from call to call; 0 at first. */
bool dstok__may_have_added(const job *j, dstok__ahead *ahead, const uint8_t *source, size_t len, size_t begin,
                           size_t end);

/* Stretches of text and runs of ill-formed bytes from source[*at] on, as long as they are short and there
 * is nothing special about them. *at: where the next one begins. */
dstok_status dstok__raw_shorts(job *j, dstok__ahead *ahead, const uint8_t *source, size_t len, size_t *at);

#endif
