/* SPDX-License-Identifier: MIT */
/* Any pattern by PCRE2, rewritten: classes follow our Unicode 16.0 tables, syntax follows its owner's
 * engine. */
#ifndef DSTOK_PRETOK_REGEX_H
#define DSTOK_PRETOK_REGEX_H

#include "../base/base.h"

/* Whose rules a pattern text follows. */
typedef enum dstok__dialect {
    DSTOK__DIALECT_ONIG, /* Oniguruma, Ruby syntax: tokenizer.json files. ^ and $ are line anchors */
    DSTOK__DIALECT_FANCY /* Rust fancy-regex: tiktoken files. ^ and $ are text anchors */
} dstok__dialect;

/* Rewrites a pattern into PCRE2 syntax (pattern.c). Every character class, \p, \s, \d, \w, \b, case-insensitive
 * letter and && becomes what the owning engine means by it under Unicode 16.0; a construct we do not know is
 * E_UNSUPPORTED with its offset in the pattern, never passed on by hope.
 *  out  [out] appended to; a NUL follows the text but is not counted in len */
dstok_status dstok__pattern_rewrite(const char *pattern, size_t n, dstok__dialect dialect, dstok__buf *out,
                                    dstok_error *err);

typedef struct dstok__regex dstok__regex; /* compiled; immutable, shared by threads */
typedef struct dstok__regex_scratch
    dstok__regex_scratch; /* one thread's match data and JIT stack, for any regex */

dstok_status dstok__regex_new(const dstok_alloc *al, const char *pattern, size_t n, dstok__dialect dialect,
                              dstok__regex **out, dstok_error *err);
void dstok__regex_free(dstok__regex *re); /* NULL allowed */
bool dstok__regex_is_jit(const dstok__regex *re);

dstok_status dstok__regex_scratch_new(const dstok_alloc *al, dstok__regex_scratch **out);
void dstok__regex_scratch_free(dstok__regex_scratch *scratch); /* NULL allowed */

/* First match at or after pos in text[0, len), which is valid UTF-8 (not checked again); lookbehind sees text[0, pos).
 *  *begin, *end  [out] the match; *begin = SIZE_MAX when there is none
 * E_LIMIT when match, depth or heap limits are met (err->offset = pos): never reported as "no match". */
#define DSTOK__FIND_MORE ((dstok_status)-1001) /* never given to a caller of the library */

/* The same in a text that goes on behind text[0, len): FIND_MORE where what follows may change the answer,
 * and always for patterns that look back or match nothing, which may not be asked from the midst of a text
 * on. */
dstok_status dstok__regex_find_open(const dstok__regex *re, dstok__regex_scratch *scratch,
                                    const uint8_t *text, size_t len, size_t pos, size_t *begin, size_t *end,
                                    dstok_error *err);

dstok_status dstok__regex_find(const dstok__regex *re, dstok__regex_scratch *scratch, const uint8_t *text,
                               size_t len, size_t pos, size_t *begin, size_t *end, dstok_error *err);

#endif
