/* SPDX-License-Identifier: MIT */
/* Added tokens found in a text: leftmost-longest matching under a policy, as Hugging Face does it. */
#ifndef DSTOK_TEXT_ADDED_H
#define DSTOK_TEXT_ADDED_H

#include "../../simd/simd.h"
#include "../base/base.h"

typedef struct dstok__added_entry {
    const uint8_t *text; /* n bytes to be found */
    uint32_t n;
    uint32_t id;
    uint32_t flags; /* DSTOK__ADDED_* */
} dstok__added_entry;

#define DSTOK__ADDED_SPECIAL     1u
#define DSTOK__ADDED_SINGLE_WORD 2u
#define DSTOK__ADDED_LSTRIP      4u
#define DSTOK__ADDED_RSTRIP      8u
#define DSTOK__ADDED_CONTROL     16u
#define DSTOK__ADDED_BY_NAME     32u /* found only where the caller lists it */

/* The entries in byte order, and which pairs of first two bytes begin one. Immutable after the build. */
typedef struct dstok__added_set {
    const dstok_alloc *al;
    dstok__added_entry *entries;
    size_t n, cap;
    uint64_t *starts; /* bit b0 << 8 | b1; an entry of one byte sets all 256 bits; NULL when n == 0 */
    uint8_t first[4]; /* the first bytes of all entries ... */
    size_t n_first;   /* ... where these are enough; else 0 */
    const dstok__simd *simd;
} dstok__added_set;

void dstok__added_init(dstok__added_set *set, const dstok_alloc *al);
void dstok__added_free(dstok__added_set *set);
dstok_status dstok__added_put(dstok__added_set *set, const dstok__added_entry *entry);
dstok_status dstok__added_build(
    dstok__added_set *set); /* sorts, unless they are in order; of equal texts the one put last stays */

/* What a policy says about one occurrence. */
typedef enum dstok__verdict {
    DSTOK__ACCEPT,  /* it is this token */
    DSTOK__IGNORE,  /* as if the token were not in the set: a shorter one may match here */
    DSTOK__CONSUME, /* it is ordinary text, and so is all of it: no other token begins inside */
    DSTOK__REFUSE   /* the call fails here */
} dstok__verdict;

typedef dstok__verdict dstok__policy_fn(void *ctx, const dstok__added_entry *entry, size_t begin, size_t end);

/* Of tokens that are prefixes of one another this many are tried at a place, the longest first. */
#define DSTOK_ADDED_PREFIXES 64

typedef struct dstok__added_match {
    const dstok__added_entry *entry;
    size_t begin, end; /* with the blanks that lstrip and rstrip take in */
    size_t inner;      /* where the token's own text begins */
} dstok__added_match;

/* The next match at or after pos in text[0, len); lstrip never reaches before pos. Returns false when there
 * is none. A REFUSE verdict ends the search with match->entry set and *refused = true. */
bool dstok__added_find(const dstok__added_set *set, const uint8_t *text, size_t len, size_t pos,
                       dstok__policy_fn *policy, void *ctx, dstok__added_match *match, bool *refused);

/* The first place from pos on where an entry may begin, or len: one that begins elsewhere is not found there. */
size_t dstok__added_next(const dstok__added_set *set, const uint8_t *text, size_t len, size_t pos);

#endif
