/* SPDX-License-Identifier: MIT */
/* A set of ids, as bits. */
#ifndef DSTOK_LOAD_BITS_H
#define DSTOK_LOAD_BITS_H

#include "spec.h"

typedef struct dstok__bits {
    const dstok_alloc *al;
    uint8_t *bytes;
    size_t n; /* bytes; ids beyond are not in the set */
} dstok__bits;

void dstok__bits_init(dstok__bits *b, const dstok_alloc *al);
void dstok__bits_free(dstok__bits *b);
bool dstok__bits_has(const dstok__bits *b, uint32_t id);
dstok_status dstok__bits_add(dstok__bits *b, uint32_t id,
                             dstok_error *err); /* id below DSTOK__MAX_IDS; E_NOMEM */

#endif
