/* SPDX-License-Identifier: MIT */
/* Normalisers with an edit list: the normalised text, and for each changed stretch the source bytes it came from. */
#ifndef DSTOK_TEXT_NORMALIZE_H
#define DSTOK_TEXT_NORMALIZE_H

#include "../base/base.h"

typedef enum dstok__norm_kind {
    DSTOK__NORM_NFC,
    DSTOK__NORM_NFD,
    DSTOK__NORM_NFKC,
    DSTOK__NORM_NFKD,
    DSTOK__NORM_LOWERCASE
} dstok__norm_kind;

#define DSTOK__MAX_NORMS 8

/* One edit: normalised bytes [out, out + out_n) came from source bytes [src, src + src_n) (their hull). Edits are in
 * order of out and of src and never overlap in out; between edits bytes correspond one to one. out_n or src_n may be 0
 * (deleted or inserted text). */
typedef struct dstok__edit {
    size_t out, src;
    uint32_t out_n, src_n;
} dstok__edit;

/* A text after normalisation. When nothing changed, text points at the source and there are no edits. */
typedef struct dstok__normalized {
    const uint8_t *text;
    size_t len;
    dstok__buf buf, spare; /* the storage, reused from call to call */
    dstok__edit *edits;
    size_t n_edits, cap_edits;
    dstok__edit *later; /* the edits of the kind being applied, before they join the others */
    size_t n_later, cap_later;
    struct dstok__norm_char *chars; /* the characters being reordered and composed */
    size_t cap_chars;
} dstok__normalized;

void dstok__normalized_init(dstok__normalized *n, const dstok_alloc *al);
void dstok__normalized_free(dstok__normalized *n);

/* Applies the kinds one after another to src[0, len), valid UTF-8, with the reference normalisers' view: Unicode 9.0,
 * younger code points are left alone. Each normalised character has its own edit where it changed, so that a span is
 * the hull of exactly the characters it came from; reordered marks share one edit.
 * E_LIMIT when the result passes max bytes; E_NOMEM. After a failure the result is unspecified, n can be used
 * again. */
dstok_status dstok__normalize(dstok__normalized *n, const dstok__norm_kind *kinds, size_t n_kinds,
                              const uint8_t *src, size_t len, size_t max);

/* Puts text before everything else, as an edit of zero source width at source offset 0. The same maximum holds. */
dstok_status dstok__normalized_prepend(dstok__normalized *n, const char *text, size_t text_n);

/* A cursor that maps growing normalised positions to source ranges. */
typedef struct dstok__map_cursor {
    const dstok__normalized *n;
    size_t edit;   /* first edit that may still matter */
    int64_t shift; /* source - normalised, between edits */
} dstok__map_cursor;

void dstok__map_cursor_init(dstok__map_cursor *c, const dstok__normalized *n);

/* The source range of normalised bytes [begin, end), begin not smaller than in the call before. A range that touches
 * an edit takes that edit's whole source hull; a range inside one edit (or holding half a character of it) too. An
 * empty range maps to an empty one (inside an edit: at the begin of its hull). Adjacent ranges that cut between
 * edits give adjacent source ranges. */
dstok_span dstok__map_range(dstok__map_cursor *c, size_t begin, size_t end);

#endif
