/* SPDX-License-Identifier: MIT */
/* A page in the making: html.c has its parts, html_text.c texts and marks, html_style.c how they look. */
#ifndef DSX_EXPLAIN_HTML_H
#define DSX_EXPLAIN_HTML_H

#include "explain/report.h"

/* ln 10, ten times as likely: the end of the scale, on every page the same; of a sum over tokens, for each of them. */
#define DSX__FULL 2.302585

enum { DSX__SHADES = 10 };

/* How much of it stands on the page.
 *   rest      text far from the best rows: of no target (0), of the first (1), of all (2); it is closed at first
 *   has_faint rows beside the best ones are marked, too
 *   window    bytes of a row at least that are always open
 *   top       rows of a table at most
 *   targets   at most */
typedef struct dsx__html_limits {
    int rest;
    bool has_faint;
    size_t window, top, targets;
} dsx__html_limits;

/* A target's rows that can be marked, in the order of the text, and the best by rank.
 *   full   where the scale ends; n_tokens: DSX__FULL for each of so many; 0: the greatest score instead
 *   looks  the sum of all rows' routing */
typedef struct dsx__html_rows {
    dsx_row *rows, *best;
    size_t n, n_best, n_tokens;
    double full, looks;
} dsx__html_rows;

typedef struct dsx__html {
    dsx__report *r;
    dsx__html_limits limits;
    dsx__html_rows *all; /* [n_targets] */
    /* the target that is written */
    const dsx_explanation *x;
    const dsx__html_rows *of;
    size_t target;
} dsx__html;

/* -10 to 10, of the scale. */
int dsx__html_shade(const dsx__html *h, double score);
/* Among the rows of the table; the others that are marked are so for their score alone. */
bool dsx__html_is_best(const dsx__html *h, const dsx_row *row);

/* Text in one line for cells, attributes and titles, at most so many characters (0: all); blanks become one. */
void dsx__html_line(dsx__report *r, const char *text, size_t n, size_t most);
/* Bytes [from, to) of a text: as text content they are what they were, but for NUL. */
void dsx__html_text(dsx__report *r, const char *text, size_t n, size_t from, size_t to);
/* A number with its sign, and a minus that is one. */
void dsx__html_number(dsx__report *r, const char *format, double x);
/* A source with its marks. */
void dsx__html_source(const dsx__html *h, size_t source);

void dsx__html_style(dsx__report *r);

#endif
