/* SPDX-License-Identifier: MIT */
/* The state of a pattern rewrite, shared by the parts that read items and the part that reads structure. */
#ifndef DSTOK_PRETOK_PARSE_H
#define DSTOK_PRETOK_PARSE_H

#include "property.h"

#define DSTOK__MAX_PATTERN 65536u /* bytes */
#define DSTOK__MAX_DEPTH   100u   /* groups in groups, classes in classes */
#define DSTOK__MAX_REPEAT  1000u
#define DSTOK__MAX_GROUPS  5000u

typedef struct dstok__parse {
    const unsigned char *text; /* valid UTF-8 */
    size_t n, i;
    dstok__dialect dialect;
    bool icase;  /* (?i) holds here */
    bool dotall; /* . takes the line feed too */
    dstok__props props;
    dstok__buf *out;
    dstok_error *err;
} dstok__parse;

/* What stands for one character: a code point, or a set of them. */
typedef struct dstok__item {
    bool is_set;
    uint32_t cp;
    dstok__codeset set; /* initialised and freed by the caller */
} dstok__item;

/* Failures at text[at]. format takes the rest of the arguments. */
#define DSTOK__BAD_SYNTAX(p, at, ...)    dstok__fail((p)->err, DSTOK_E_FORMAT, (at), 0, __VA_ARGS__)
#define DSTOK__NOT_SUPPORTED(p, at, ...) dstok__fail((p)->err, DSTOK_E_UNSUPPORTED, (at), 0, __VA_ARGS__)

/* As dstok__pattern_rewrite. *jit = false when the pattern holds a construct that the JIT compiler of some
 * PCRE2 in use matches wrongly; the interpreter must run it then:
 *  - a group with alternatives that something follows: (?:a|)b*a fails on "a" before 10.43 (its issue 336),
 *    and (CHAN|LINE)[ab]{0,2} on "LINE" from 10.45 on (874);
 *  - atomic groups and possessive repeats of groups: (?>a*|)a matches "aaa" before 10.43 (347);
 *  - repeated groups that hold an {n,m}: its end may be passed over before 10.45 (554);
 *  - classes without a member, before 10.43. */
dstok_status dstok__pattern_rewrite_jit(const char *pattern, size_t n, dstok__dialect dialect,
                                        dstok__buf *out, bool *jit, dstok_error *err);

/* Is literal at the cursor? */
bool dstok__parse_at(const dstok__parse *p, const char *literal);

/* Decodes the code point at the cursor and steps over it; the cursor is not at the end. */
uint32_t dstok__parse_code(dstok__parse *p);

/* Reads the escape at the cursor (a backslash). Anchors and other zero-width escapes are not its business. */
dstok_status dstok__parse_escape(dstok__parse *p, bool in_class, dstok__item *item);

/* Reads the bracketed class at the cursor ('[') to its end. */
dstok_status dstok__parse_bracket(dstok__parse *p, dstok__codeset *set);

#endif
