/* SPDX-License-Identifier: MIT */
/* Inside the runner: a compiled pretokenizer, one run of it, and the texts its steps look at. */
#ifndef DSTOK_PRETOK_RUN_H
#define DSTOK_PRETOK_RUN_H

#include "pretok.h"
#include "scan.h"

#include <string.h>

#define DSTOK__MAX_MARK 4u /* bytes of the one character of a Metaspace */

/* One of scan, regex is set for STEP_REGEX, none for the other kinds. */
typedef struct dstok__step_runner {
    dstok__scan_fn *scan;
    dstok__regex *regex;
    char mark[DSTOK__MAX_MARK + 1]; /* STEP_META: its character, with a NUL behind it */
} dstok__step_runner;

struct dstok__pretok {
    dstok_alloc al;
    const dstok__family *family;
    bool needs_scratch;
    bool has_byte_map;
    size_t n_steps;
    dstok__step steps[DSTOK__MAX_STEPS];
    dstok__step_runner runners[DSTOK__MAX_STEPS];
};

struct dstok__pretok_scratch {
    dstok_alloc al;
    dstok__regex_scratch *regex;
    dstok__level levels[DSTOK__MAX_STEPS]; /* by step */
    uint8_t *mapped;                       /* STEP_BYTE_MAP: the byte-level characters of one piece */
    size_t cap_mapped;
    bool is_open;    /* see dstok__pretok_scratch_open */
    size_t open_end; /* ... where the pretokens begin that were left out */
    bool is_begin;   /* ... the next pretoken is the first one of what the first step cut off */
};

typedef struct dstok__pretok_pass {
    const dstok__pretok *p;
    dstok__pretok_scratch *scratch;
    size_t n_first;
    bool no_prefix;
    dstok__piece_fn *emit;
    void *ctx;
    dstok_error *err;
} dstok__pretok_pass;

/* A text that steps look at. Behind STEP_BYTE_MAP it holds the byte-level characters of `below`, and a cursor, which
 * only goes forwards, tells which byte a character stands for. */
typedef struct dstok__view {
    const uint8_t *text;
    const dstok__level *level; /* of text; behind STEP_BYTE_MAP of below */
    const uint8_t *below;      /* NULL: text is no byte map */
    size_t at, byte;           /* text[at] stands for below[byte] */
} dstok__view;

/* Cuts text[begin, end) of the view by the step and those behind it (steps.c). */
dstok_status dstok__run_step(const dstok__pretok_pass *r, dstok__view *v, size_t step, size_t begin,
                             size_t end);

/* The first step that does not rewrite: what it cuts off is not changed by the others (steps.c). */
size_t dstok__run_first_cut(const dstok__pretok *p);

/* Runs a step that rewrites (levels.c). */
dstok_status dstok__run_rewrite(const dstok__pretok_pass *r, dstok__view *v, size_t step, size_t begin,
                                size_t end);

/* Gives out text[begin, end) of the view (levels.c). */
dstok_status dstok__run_emit(const dstok__pretok_pass *r, dstok__view *v, size_t begin, size_t end);

/* Where a place of the view stands in the text of the run; the view is of no use for pretokens then (levels.c). */
size_t dstok__run_place(dstok__view *v, size_t at);

#endif
