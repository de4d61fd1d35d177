/* SPDX-License-Identifier: MIT */
/* Positions of a text in other units: code points, UTF-16 units, lines. */
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

/** Convert byte spans of a text to another unit, in place. A span that begins or ends inside a character is
 *  widened to hold it whole; a maximal ill-formed subpart counts as one character (one unit in UTF-16).
 *  Empty spans stay empty.
 *  text   [in]     the text the spans are of, shape (len,)
 *  spans  [in,out] shape (n,), in any order; begin <= end <= len
 *  unit   [in]     DSTOK_UNIT_*
 *  Returns: DSTOK_OK; E_INVAL (unknown unit); E_RANGE (a span ends before it begins or
 *      passes len; spans unspecified).   Threads: safe.
 *  Cost: O(len + n), and the ways back where begins or ends decrease.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_spans_convert(const void *text, size_t len, dstok_span *spans,
                                                           size_t n, int unit);

/** Length of a text in a unit; ill-formed subparts count as one.   Threads: safe.
 *  Cost: O(len).   Since: 0.1 */
DSTOK_API size_t dstok_text_length(const void *text, size_t len, int unit);

/** First ill-formed UTF-8 byte of a text, or len when there is none. Overlong forms, surrogates and values
 *  above U+10FFFF are ill-formed.   Threads: safe.
 *  Cost: O(len).   Since: 0.1 */
DSTOK_API size_t dstok_utf8_check(const void *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
