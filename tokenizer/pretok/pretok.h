/* SPDX-License-Identifier: MIT */
/* Pretokenizers: a list of steps as a vocabulary file states them, run by a family's scanner where the exact
 * pattern text is known and by PCRE2 for the rest. */
#ifndef DSTOK_PRETOK_PRETOK_H
#define DSTOK_PRETOK_PRETOK_H

#include "../base/base.h"
#include "regex.h"

typedef enum dstok__step_kind {
    DSTOK__STEP_REGEX,   /* pattern is a regular expression */
    DSTOK__STEP_LITERAL, /* pattern is a plain string */
    DSTOK__STEP_DIGITS,  /* matches one code point: category N of Unicode 17.0 (Rust's char::is_numeric) */
    DSTOK__STEP_PUNCTUATION /* matches one code point: ASCII punctuation and symbols, or category P of Unicode 8.0 */
} dstok__step_kind;

/* What becomes of matches and of the text between them (Hugging Face names). */
typedef enum dstok__behavior {
    DSTOK__REMOVED,
    DSTOK__ISOLATED,
    DSTOK__MERGED_WITH_PREVIOUS,
    DSTOK__MERGED_WITH_NEXT,
    DSTOK__CONTIGUOUS
} dstok__behavior;

typedef struct dstok__step {
    dstok__step_kind kind;
    dstok__behavior behavior;
    bool invert; /* swap match and non-match before behavior is applied */
    dstok__dialect dialect;
    const char *pattern; /* REGEX and LITERAL; n bytes */
    size_t n;
} dstok__step;

/* The end of the pretoken that begins at text[pos], pos < len. text[0, len) is one piece of valid UTF-8; nothing
 * beyond len is read, and look-ahead ends there. A scanner's pretokens cover the whole piece. */
typedef size_t dstok__scan_fn(const uint8_t *text, size_t len, size_t pos);

/* A family: step lists that mean the same, and the scanner that replaces them (families.c). */
typedef struct dstok__family {
    const char *name; /* as inspect shows it, e.g. "cl100k" */
    dstok__scan_fn *scan;
} dstok__family;

/* The family whose steps are exactly these (by pattern text), or NULL. */
const dstok__family *dstok__family_find(const dstok__step *steps, size_t n);

/* A pattern by the name users type (--pattern): gpt2, r50k, p50k, cl100k, o200k, qwen2, ...; NULL when unknown. */
const char *dstok__pattern_by_name(const char *name);
const char *
dstok__pattern_name_at(size_t i); /* the i-th known name; NULL at the end: for messages and --help */

typedef struct dstok__pretok dstok__pretok; /* immutable, shared by threads */

#define DSTOK__MAX_STEPS 16

/* Copies the steps. use_scanners = false forces PCRE2 everywhere (tests, --no-scanner). */
dstok_status dstok__pretok_new(const dstok_alloc *al, const dstok__step *steps, size_t n, bool use_scanners,
                               dstok__pretok **out, dstok_error *err);
void dstok__pretok_free(dstok__pretok *p); /* NULL allowed */

const dstok__family *dstok__pretok_family(const dstok__pretok *p); /* NULL: PCRE2, or no steps at all */
size_t dstok__pretok_step_count(const dstok__pretok *p);
const dstok__step *dstok__pretok_step(const dstok__pretok *p, size_t i);

/* Receives one non-empty pretoken text[begin, end). A status other than OK ends the run and is returned. */
typedef dstok_status dstok__piece_fn(void *ctx, size_t begin, size_t end);

/* Cuts one piece of text, in order. With no steps the piece itself is the only pretoken. What the steps remove is
 * simply not reported. scratch may be NULL only if dstok__pretok_family(p) != NULL or there are no steps. */
dstok_status dstok__pretok_run(const dstok__pretok *p, dstok__regex_scratch *scratch, const uint8_t *text,
                               size_t len, dstok__piece_fn *emit, void *ctx, dstok_error *err);

#endif
