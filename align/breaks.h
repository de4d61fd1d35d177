/* SPDX-License-Identifier: MIT */
/* Borders of grapheme clusters, words, sentences (UAX #29, Unicode 16.0), lines and paragraphs. Of each
 * kind: the next border behind one, found forward; and whether a place is a border, found by looking back
 * and a little ahead. Both say the same of every text, also of ill-formed ones: there each maximal subpart
 * is one character of class Other. */
#ifndef DSTOK_ALIGN_BREAKS_H
#define DSTOK_ALIGN_BREAKS_H

#include <dstok/align.h>

#include "../data/unicode/breaks.h"

#include <stdbool.h>

/* The text as far back as a search may look: `from` is a border of the kind that is looked for, 0 is one
 * always. */
typedef struct dstok__borders {
    const uint8_t *text;
    size_t from, len;
} dstok__borders;

/* The first border > at, where at < len is a border. Linear in what it passes, but for this: an apostrophe,
 * a quote or a full stop may be decided far behind; what is read there is read at most once more by later
 * calls. */
size_t dstok__next_grapheme(const uint8_t *text, size_t len, size_t at);
size_t dstok__next_word(const uint8_t *text, size_t len, size_t at);
size_t dstok__next_sentence(const uint8_t *text, size_t len, size_t at);
size_t dstok__next_line(const uint8_t *text, size_t len, size_t at);
size_t dstok__next_paragraph(const uint8_t *text, size_t len, size_t at);

/* Is `at` a border, c->from < at < c->len, at the begin of a character? How far they look back:
 *   grapheme   one character; over a run of regional indicators; over the marks before a pictograph behind ZWJ, and
 *              before a consonant
 *   word       two characters and the marks behind them; over a run of regional indicators
 *   sentence   over the blanks and closing signs before the place, one character more, and the marks among them;
 *              ahead to the next letter that is not lower case, full stop or end of the line
 *   line       three bytes
 *   paragraph  over white space, back and ahead
 * Asked of every place of a text they look at each byte a bounded number of times in all, but for runs of regional
 * indicators: there `from` must keep up. */
bool dstok__is_grapheme_border(const dstok__borders *c, size_t at);
bool dstok__is_word_border(const dstok__borders *c, size_t at);
bool dstok__is_sentence_border(const dstok__borders *c, size_t at);
bool dstok__is_line_border(const dstok__borders *c, size_t at);
bool dstok__is_paragraph_border(const dstok__borders *c, size_t at);

/* The last border <= at of a kind (DSTOK_BREAK_*), from <= at <= len; looks back from there. */
size_t dstok__last_border(const dstok__borders *c, size_t at, int kind);

/* ---- characters ---- */

/* The record of the character at text[at], at < len, and its length; of what is ill-formed it is 0: all
 * Other. */
unsigned dstok__break_long(const uint8_t *text, size_t len, size_t at, size_t *width);

static inline unsigned dstok__break_at(const uint8_t *text, size_t len, size_t at, size_t *width) {
    if (text[at] >= 0x80) return dstok__break_long(text, len, at, width);
    *width = 1;
    return dstok__break_records[text[at]];
}

/* Where the character begins that ends at `at` > 0, a border of characters. */
size_t dstok__char_before(const uint8_t *text, size_t len, size_t at);

/* Where the character begins that text[at] is in; len when at == len. */
size_t dstok__char_of(const uint8_t *text, size_t len, size_t at);

/* The record of the character that ends at *at > from; *at becomes its begin. */
static inline unsigned dstok__break_before(const dstok__borders *c, size_t *at) {
    size_t width;
    *at = dstok__char_before(c->text, c->len, *at);
    return dstok__break_at(c->text, c->len, *at, &width);
}

#endif
