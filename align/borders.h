/* SPDX-License-Identifier: MIT */
/* Where a text is best cut: every place has a class, from the middle of a word up to the begin of a page. A
 * class is a local judgement: it depends on the kilobyte around the place and on nothing else, so that it
 * is the same wherever the window that is searched begins or ends. docs/chunking.md lists the rules. */
#ifndef DSTOK_ALIGN_BORDERS_H
#define DSTOK_ALIGN_BORDERS_H

#include <dstok/base.h>

#include <stdbool.h>

/* Classes, the better the greater. */
enum {
    DSTOK__BORDER_NONE,     /* nothing that is known of; maybe between graphemes: dstok__border_is_grapheme */
    DSTOK__BORDER_TOKEN,    /* never given here: these two are the chunker's */
    DSTOK__BORDER_GRAPHEME, /* ... */
    DSTOK__BORDER_BLANK,    /* before a blank */
    DSTOK__BORDER_CLAUSE,   /* behind a comma, semicolon or colon */
    DSTOK__BORDER_WRAP,     /* behind a line break within a sentence */
    DSTOK__BORDER_SPACED,   /* before a blank of a script that has blanks between phrases only (Thai, ...) */
    DSTOK__BORDER_LINE,     /* behind a line break */
    DSTOK__BORDER_DOUBTFUL, /* a sentence of UAX #29, behind what may well be an abbreviation, or within quotes */
    DSTOK__BORDER_SENTENCE, /* a sentence of UAX #29 */
    DSTOK__BORDER_SURE,     /* a sentence whose end is plain to see */
    DSTOK__BORDER_ENDED,    /* behind a line break that follows the end of a sentence */
    DSTOK__BORDER_BLOCK,    /* behind a blank line */
    DSTOK__BORDER_FENCE,    /* behind a fenced block (Markdown) */
    DSTOK__BORDER_HEADING,  /* before a heading or a page */
    DSTOK__N_BORDERS
};

/* How a text is read. */
enum { DSTOK__MODE_PROSE, DSTOK__MODE_MARKDOWN, DSTOK__MODE_CODE };

#define DSTOK__BORDER_BACK  400u   /* bytes before a place that count */
#define DSTOK__BORDER_AHEAD 512u   /* bytes behind it */
#define DSTOK__MODE_BYTES   16384u /* the begin of a text tells its mode */

/* A score: class << 8 | grade; of two borders of a class that of the higher grade is better. */
#define DSTOK__SCORE(class, grade) ((unsigned)(class) << 8 | (unsigned)(grade))

typedef struct dstok__border_text {
    const uint8_t
        *text;  /* from at least DSTOK__BORDER_BACK bytes before the places asked, or from its begin */
    size_t len; /* up to DSTOK__BORDER_AHEAD bytes behind them, or to its end */
    int mode;
} dstok__border_text;

/* The score of the place `at`, 0 < at < len, a border of characters. 0 for none, and within a grapheme
 * cluster. */
unsigned dstok__border_score(const dstok__border_text *b, size_t at);

/* Is it a border of grapheme clusters? Looks back to `from`, which is one. */
bool dstok__border_is_grapheme(const dstok__border_text *b, size_t from, size_t at);

/* The mode of a text that begins with text[0, len), len up to DSTOK__MODE_BYTES. */
int dstok__border_mode(const uint8_t *text, size_t len);

#endif
