/* SPDX-License-Identifier: MIT */
/* Positions of a text in other units: code points, UTF-16 units, lines; and its borders: graphemes, words, sentences,
 * lines, paragraphs. */
#ifndef DSTOK_ALIGN_H
#define DSTOK_ALIGN_H

#include <dstok/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DSTOK_UNIT_BYTE = 0,
    DSTOK_UNIT_CHAR = 1, /**< code points, as Python counts */
    DSTOK_UNIT_UTF16 = 2 /**< 16-bit units, as JavaScript and Java count */
};

/** Line and column of a place in a text, both from 1. A line ends with LF, CR LF (one break), a CR alone, U+2028 or
 *  U+2029, as in JavaScript; the break belongs to the line it ends. VT, FF and U+0085 (NEL) end none. The column
 *  counts in the unit that the call says. */
typedef struct dstok_place {
    uint64_t line;
    uint64_t column;
} dstok_place;

/** Convert byte spans of a text to another unit, in place. A span that begins or ends inside a character is
 *  widened to hold it whole; a maximal ill-formed subpart counts as one character (one unit in UTF-16).
 *  Empty spans stay empty.
 *  text   [in]     the text the spans are of, shape (len,)
 *  spans  [in,out] shape (n,), in any order; begin <= end <= len
 *  unit   [in]     DSTOK_UNIT_*
 *  Returns: DSTOK_OK; E_INVAL (unknown unit); E_RANGE (a span ends before it begins or
 *      passes len; spans unspecified).   Threads: safe.
 *  Cost: O(len + n) where begins and ends do not decrease; else a second look at the text up to there, once, and for
 *      each step back or far ahead up to max(1 KiB, len / 511) of it again. Allocates nothing.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_spans_convert(const void *text, size_t len, dstok_span *spans,
                                                           size_t n, int unit);

/** Convert spans of a text from a unit to bytes, in place: the way back. A UTF-16 place between the two units of a
 *  character is moved outwards, to where the character begins or ends. Empty spans stay empty.
 *  text   [in]     the text the spans are of, shape (len,)
 *  spans  [in,out] shape (n,), in any order; begin <= end <= dstok_text_length(text, len, unit)
 *  unit   [in]     DSTOK_UNIT_*, of the spans given
 *  Returns: DSTOK_OK; E_INVAL (unknown unit); E_RANGE (a span ends before it begins or behind
 *      the text; spans unspecified).   Threads: safe.   Cost: as dstok_spans_convert.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_spans_to_bytes(const void *text, size_t len, dstok_span *spans,
                                                            size_t n, int unit);

/** Lines and columns of bytes of a text. A byte inside a character is where that begins.
 *  text    [in]  shape (len,)
 *  bytes   [in]  shape (n,), in any order; each <= len
 *  unit    [in]  DSTOK_UNIT_* of the columns
 *  places  [out] shape (n,)
 *  Returns: DSTOK_OK; E_INVAL (unknown unit); E_RANGE (a byte is behind len; places unspecified).
 *  Threads: safe.   Cost: as dstok_spans_convert.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_places(const void *text, size_t len, const uint64_t *bytes,
                                                    size_t n, int unit, dstok_place *places);

/** Bytes of lines and columns: the way back. In UTF-16 the second column of a character is where it begins.
 *  text    [in]  shape (len,)
 *  places  [in]  shape (n,), in any order, columns up to the last place of their line: that of the line break's last
 *      character, or of the end of the text
 *  unit    [in]  DSTOK_UNIT_* of the columns
 *  bytes   [out] shape (n,)
 *  Returns: DSTOK_OK; E_INVAL (unknown unit); E_RANGE (the text has no such line, or the line no such
 *      column; bytes unspecified).   Threads: safe.   Cost: as dstok_spans_convert.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_places_to_bytes(const void *text, size_t len,
                                                             const dstok_place *places, size_t n, int unit,
                                                             uint64_t *bytes);

/** Length of a text in a unit; ill-formed subparts count as one.   Threads: safe.
 *  Cost: O(len).   Since: 0.1 */
DSTOK_API size_t dstok_text_length(const void *text, size_t len, int unit);

/* ---- borders ---- */

/** What a text can be parted into. The segments of a kind tile the text. Grapheme clusters (extended ones), words and
 *  sentences are those of UAX #29, Unicode 16.0, without tailoring; a maximal ill-formed subpart is one character of
 *  the class Other. Blanks and signs are words, too. */
enum {
    DSTOK_BREAK_GRAPHEME = 0, /**< what a reader takes for one character */
    DSTOK_BREAK_WORD = 1,
    DSTOK_BREAK_SENTENCE = 2,
    DSTOK_BREAK_LINE = 3, /**< lines as in dstok_place, each with the break that ends it */
    DSTOK_BREAK_PARAGRAPH =
        4 /**< lines, with the blank ones (white space only) behind them; a paragraph also ends
                                   with U+2029. Blank lines at the begin of a text stand by themselves */
};

/** The next border of a text: where the segment ends that begins at `at`.
 *  text  [in]  shape (len,)
 *  at    [in]  a border of this kind: 0, or what an earlier call gave (elsewhere the answer is that for a text that
 *      begins there); at <= len
 *  kind  [in]  DSTOK_BREAK_*
 *  next  [out] the first border > at; len where at == len
 *  Returns: DSTOK_OK; E_INVAL (unknown kind); E_RANGE (at > len).   Threads: safe.
 *  Cost: O(next - at), and what must be read behind `next` to know it: up to the first letter, full stop or line break
 *      behind a full stop, up to the first character that is no mark behind an apostrophe or a comma. All calls of a
 *      walk over a text together are O(len).   Source: UAX #29 revision 45.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_break_next(const void *text, size_t len, uint64_t at, int kind,
                                                        uint64_t *next);

/** The last border of a text at or before a place, found by looking back from there.
 *  text    [in]  shape (len,)
 *  from    [in]  a border of this kind at or before `at`: 0, or what an earlier call gave
 *  at      [in]  any byte; from <= at <= len
 *  kind    [in]  DSTOK_BREAK_*
 *  border  [out] the last border in [from, at]; `at` itself where that is one
 *  Returns: DSTOK_OK; E_INVAL (unknown kind); E_RANGE (from > at or at > len).   Threads: safe.
 *  Cost: O(at - border) and as far behind as dstok_break_next reads; in a run of regional indicators (flags)
 *      O(at - from).   Source: as dstok_break_next.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_break_last(const void *text, size_t len, uint64_t from,
                                                        uint64_t at, int kind, uint64_t *border);

/** All segments of a text.
 *  text   [in]  shape (len,)
 *  kind   [in]  DSTOK_BREAK_*
 *  spans  [out] byte ranges in order, shape (cap,), caller-owned; NULL if cap == 0
 *  cap    [in]  len is enough always
 *  n      [out] how many there are; on DSTOK_E_SPACE, too
 *  Returns: DSTOK_OK; E_INVAL (unknown kind); E_SPACE (more than cap; spans[0..cap) are the first ones).
 *  Threads: safe.   Cost: O(len).   Source: as dstok_break_next.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_breaks(const void *text, size_t len, int kind, dstok_span *spans,
                                                    size_t cap, size_t *n);

/** First ill-formed UTF-8 byte of a text, or len when there is none. Overlong forms, surrogates and values
 *  above U+10FFFF are ill-formed.   Threads: safe.
 *  Cost: O(len).   Since: 0.1 */
DSTOK_API size_t dstok_utf8_check(const void *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
