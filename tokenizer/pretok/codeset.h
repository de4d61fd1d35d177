/* SPDX-License-Identifier: MIT */
/* A set of code points: sorted, disjoint, non-touching closed ranges. */
#ifndef DSTOK_PRETOK_CODESET_H
#define DSTOK_PRETOK_CODESET_H

#include "../base/base.h"

#define DSTOK__CODE_MAX 0x10FFFFu

typedef struct dstok__range {
    uint32_t lo, hi; /* both belong to it */
} dstok__range;

typedef struct dstok__codeset {
    const dstok_alloc *al;
    dstok__range *ranges;
    size_t n, cap;
} dstok__codeset;

/* a op b as a truth table: bit (in_a + 2 * in_b) says whether the code point is in the result. */
typedef enum dstok__set_op {
    DSTOK__SET_SUB = 1 << 1,
    DSTOK__SET_XOR = 1 << 1 | 1 << 2,
    DSTOK__SET_AND = 1 << 3,
    DSTOK__SET_OR = 1 << 1 | 1 << 2 | 1 << 3
} dstok__set_op;

void dstok__codeset_init(dstok__codeset *s, const dstok_alloc *al);
void dstok__codeset_free(dstok__codeset *s);
void dstok__codeset_clear(dstok__codeset *s); /* keeps the memory */
bool dstok__codeset_has(const dstok__codeset *s, uint32_t cp);
dstok_status dstok__codeset_add(dstok__codeset *s, uint32_t lo, uint32_t hi); /* lo <= hi */
dstok_status dstok__codeset_apply(dstok__codeset *a, dstok__set_op op,
                                  const dstok__codeset *b); /* a = a op b */
dstok_status dstok__codeset_negate(dstok__codeset *s);

#endif
