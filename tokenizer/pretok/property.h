/* SPDX-License-Identifier: MIT */
/* Character properties as code point sets: our Unicode 16.0 tables, and what the linked PCRE2 knows. */
#ifndef DSTOK_PRETOK_PROPERTY_H
#define DSTOK_PRETOK_PROPERTY_H

#include "codeset.h"
#include "regex.h"

/* The code points from lo up to the next run's lo share value. The last run ends at U+10FFFF. */
typedef struct dstok__run {
    uint32_t lo, value;
} dstok__run;

typedef struct dstok__runs {
    dstok__run *at; /* NULL: not made yet */
    size_t n, cap;
} dstok__runs;

/* Caches of one rewrite; every part is made when it is first needed. */
typedef struct dstok__props {
    const dstok_alloc *al;
    dstok__runs own;   /* our tables; value = record */
    dstok__runs folds; /* lo = a code point that folding touches, value = what it folds to; sorted by value */
    dstok__runs native;  /* general categories (DSTOK_GC_*) as the linked PCRE2 has them */
    unsigned n_measured; /* other properties that PCRE2 was asked for, one by one: milliseconds each */
} dstok__props;

extern const char dstok__category_names[30][3]; /* by DSTOK_GC_* number */

void dstok__props_init(dstok__props *props, const dstok_alloc *al);
void dstok__props_free(dstok__props *props);

dstok_status dstok__props_scan(dstok__props *props); /* fills props->own */
dstok_status dstok__runs_push(const dstok_alloc *al, dstok__runs *runs, uint32_t lo, uint32_t value);

/* Each adds its code points to *set. */
dstok_status dstok__props_add_gc(dstok__props *props, uint32_t categories, dstok__codeset *set);
dstok_status dstok__props_add_flag(dstok__props *props, uint32_t flag,
                                   dstok__codeset *set); /* DSTOK_UC_SPACE, ... */

/* \w. Oniguruma has two of them: outside of brackets (and in \b) six Latin-1 superscripts and fractions
 * belong to it, inside they do not. */
dstok_status dstok__props_add_word(dstok__props *props, dstok__dialect dialect, bool in_class,
                                   dstok__codeset *set);

/* \p{name}; *known = false (and OK) when the name is not one of ours. Scripts other than Han, Alphabetic,
 * Uppercase and Lowercase are not in our tables: they come from the linked PCRE2 and are exact if it has
 * Unicode 14 or later. */
dstok_status dstok__props_add_named(dstok__props *props, const char *name, size_t n, dstok__dialect dialect,
                                    dstok__codeset *set, bool *known);

/* [:name:]: ASCII in Rust, Unicode in Oniguruma. */
dstok_status dstok__props_add_posix(dstok__props *props, const char *name, size_t n, dstok__dialect dialect,
                                    dstok__codeset *set, bool *known);

/* Adds everything that simple case folding relates to a member. */
dstok_status dstok__props_close_case(dstok__props *props, dstok__codeset *set);

/* native.c: the linked PCRE2's own \p{item}, where it has one; *known = false otherwise. */
dstok_status dstok__native_add(dstok__props *props, const char *item, dstok__codeset *set, bool *known);
dstok_status dstok__native_categories(dstok__props *props); /* fills props->native */

/* classtext.c: appends the set as one PCRE2 item that matches exactly its members. */
dstok_status dstok__class_write(dstok__props *props, dstok__codeset *set, dstok__buf *out);

#endif
