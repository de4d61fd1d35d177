/* SPDX-License-Identifier: MIT */
/* Pretokenizers: a list of steps as a vocabulary file states them, run by a family's scanner where the exact
 * pattern text is known and by PCRE2 for the rest. */
#ifndef DSTOK_PRETOK_PRETOK_H
#define DSTOK_PRETOK_PRETOK_H

#include "../base/base.h"
#include "../text/normalize.h"
#include "blocks.h"
#include "regex.h"

typedef enum dstok__step_kind {
    DSTOK__STEP_REGEX,   /* pattern is a regular expression */
    DSTOK__STEP_LITERAL, /* pattern is a plain string */
    DSTOK__STEP_DIGITS,  /* matches one code point: category N of Unicode 17.0 (Rust's char::is_numeric) */
    DSTOK__STEP_PUNCTUATION, /* one code point: ASCII punctuation and symbols, or category P of Unicode 8.0 */
    DSTOK__STEP_BLANK,       /* matches one code point: Rust's char::is_whitespace */
    DSTOK__STEP_WORDS,   /* matches \w+|[^\w\s]+ as Rust's regex crate means it (pre_tokenizer Whitespace) */
    DSTOK__STEP_SCRIPTS, /* cuts between scripts (UnicodeScripts); behavior does not count */
    DSTOK__STEP_FIXED,   /* cuts after every `length` code points; behavior does not count */

    /* These do not cut: they rewrite each piece, and the steps behind them see the new text. */
    DSTOK__STEP_PREFIX, /* ByteLevel(add_prefix_space): a blank before a piece that does not begin with one */
    DSTOK__STEP_META,   /* Metaspace: pattern (one character) for every blank, and before the piece, unless it
                            begins with it already, as `prepend` says */
    DSTOK__STEP_BYTE_MAP /* ByteLevel before other steps: they see the byte-level characters; the cuts are made in
                            the bytes. At most one, and nothing puts a prefix behind it */
} dstok__step_kind;

typedef enum dstok__prepend {
    DSTOK__PREPEND_NEVER,
    DSTOK__PREPEND_FIRST,
    DSTOK__PREPEND_ALWAYS
} dstok__prepend;

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
    const char *pattern; /* REGEX, LITERAL, META; n bytes */
    size_t n;
    dstok__prepend prepend; /* META */
    uint32_t length;        /* FIXED */
} dstok__step;

/* The end of the pretoken that begins at text[pos], pos < len. text[0, len) is one piece of valid UTF-8;
 * nothing beyond len is read, and look-ahead ends there. A scanner's pretokens cover the whole piece. */
typedef size_t dstok__scan_fn(const uint8_t *text, size_t len, size_t pos);

/* A family: step lists that mean the same, and the scanner that replaces them (families.c). */
typedef struct dstok__family {
    const char *name; /* as inspect shows it, e.g. "cl100k" */
    dstok__scan_fn *scan;
    dstok__block_fn *block; /* the same on bit masks (blocks.h) */
} dstok__family;

/* The family whose steps are exactly these (by pattern text), or NULL. */
const dstok__family *dstok__family_find(const dstok__step *steps, size_t n);

/* A pattern by the name users type (--pattern): gpt2, r50k, p50k, cl100k, o200k, qwen2, ...; NULL when
 * unknown. */
const char *dstok__pattern_by_name(const char *name);
const char *
dstok__pattern_name_at(size_t i); /* the i-th known name; NULL at the end: for messages and --help */

typedef struct dstok__pretok dstok__pretok; /* immutable, shared by threads */

#define DSTOK__MAX_STEPS 16

/* The strings of steps are not copied and must outlive the pretokenizer. use_scanners = false forces PCRE2
 * everywhere (tests, --no-scanner). E_UNSUPPORTED: what the reference has no meaning for, or a pattern;
 * E_LIMIT. */
dstok_status dstok__pretok_new(const dstok_alloc *al, const dstok__step *steps, size_t n, bool use_scanners,
                               dstok__pretok **out, dstok_error *err);
void dstok__pretok_free(dstok__pretok *p); /* NULL allowed */

const dstok__family *dstok__pretok_family(const dstok__pretok *p); /* NULL: PCRE2, or no steps at all */

/* A text that a rewriting step made from one piece, for as long as that piece's pretokens are given out. */
typedef struct dstok__level {
    const struct dstok__level *below; /* NULL: the text below is the one given to dstok__pretok_run */
    size_t base;                      /* where the piece begins in the text below */
    size_t len;                       /* its length there */
    dstok__normalized text;           /* the piece rewritten */
} dstok__level;

/* One pretoken: text[begin, end), not empty. */
typedef struct dstok__pretoken {
    const uint8_t *text;
    size_t begin, end;
    const dstok__level *level; /* NULL: text is the one given to dstok__pretok_run */
} dstok__pretoken;

/* Where text[begin, end) of a level stands in the text given to dstok__pretok_run. */
dstok_span dstok__level_map(const dstok__level *level, size_t begin, size_t end);

/* Receives one pretoken. A status other than OK ends the run and is returned. */
typedef dstok_status dstok__piece_fn(void *ctx, const dstok__pretoken *p);

/* One thread's memory for running a pretokenizer. */
typedef struct dstok__pretok_scratch dstok__pretok_scratch;
dstok_status dstok__pretok_scratch_new(const dstok_alloc *al, dstok__pretok_scratch **out);
void dstok__pretok_scratch_free(dstok__pretok_scratch *s); /* NULL allowed */
dstok__regex_scratch *dstok__pretok_scratch_regex(dstok__pretok_scratch *s);
/* Whether texts end in the midst of a longer one. Then a run leaves out the pretokens at the end which what
 * follows may change; closing it returns where these begin, the length of the text where there are none.
 * Not for families; a run that gives nothing may be for want of text, or because such steps are not sure of
 * anything (steps.c). */
size_t dstok__pretok_scratch_open(dstok__pretok_scratch *s, bool is_open);

/* Does the next pretoken (the one that is given out) begin what the first step that cuts cut off? Asked
 * once for each, in an open text: only from there on may the rest of it be run by itself. */
bool dstok__pretok_scratch_begins(dstok__pretok_scratch *s);

/* How the rest of a text that was run in parts is told that it goes on: by no_prefix where the steps that
 * put something before a piece stand before the first one that cuts (BEFORE); not at all where none does or
 * they stand behind it, and where both do there is no way. */
typedef enum dstok__prefixes {
    DSTOK__PREFIXES_BEHIND,
    DSTOK__PREFIXES_BEFORE,
    DSTOK__PREFIXES_BOTH
} dstok__prefixes;
dstok__prefixes dstok__pretok_prefixes(const dstok__pretok *p);

/* Does nothing cut? Then each text is one pretoken. */
bool dstok__pretok_is_whole(const dstok__pretok *p);

/* Whether levels keep from[] (hf spans): their normalized.want_from. */
void dstok__pretok_scratch_want_from(dstok__pretok_scratch *s, bool want);

/* Does the pretokenizer need a scratch? Not where a family's scanner or nothing cuts. */
bool dstok__pretok_needs_scratch(const dstok__pretok *p);

/* Most bytes that rewriting steps can make of len, all pieces together; len itself without such steps;
 * SIZE_MAX when it does not fit. */
size_t dstok__pretok_bound(const dstok__pretok *p, size_t len);

/* Cuts one piece of text, in order. With no steps the piece itself is the only pretoken. What the steps
 * remove is simply not reported. n_first: pieces that begin in so many of the first bytes stand where the
 * whole input begins (Metaspace "first"); no_prefix: no prefix is put before the first piece at all (it
 * goes on from what stood before it). scratch may be NULL unless dstok__pretok_needs_scratch(p). E_LIMIT:
 * err->offset is a place in text. */
dstok_status dstok__pretok_run(const dstok__pretok *p, dstok__pretok_scratch *scratch, const uint8_t *text,
                               size_t len, size_t n_first, bool no_prefix, dstok__piece_fn *emit, void *ctx,
                               dstok_error *err);

#endif
