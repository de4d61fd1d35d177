/* SPDX-License-Identifier: MIT */
/* Scores of tokens traced back to the text: an attention mask or any numbers, one a token, become sums over
 * tokens, words, sentences, paragraphs or sources, with the bytes they stand for.  A token's score is
 * shared out among the parts that hold its bytes, by how many bytes of it each holds: half of a token that
 * lies half in each of two words goes to each. So the sums of all rows, and the scores of tokens without
 * text (dstok_trace_totals), add up to the sum of all scores at every level, up to rounding. */
#ifndef DSTOK_TRACE_H
#define DSTOK_TRACE_H

#include <dstok/align.h>
#include <dstok/tokenizer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a row is. Rows never cross the border of a segment, and parts are those of the segment alone: the text of
 *  a template changes no word or sentence of a source. White space is no part of words, sentences and
 *  paragraphs: it goes with what follows, as it does in most tokens, at the end of the segment with what is before it,
 *  and is a row only where there is nothing else. */
enum {
    DSTOK_TRACE_TOKEN = 0,    /**< tokens, widened to whole characters; those that then overlap are one row */
    DSTOK_TRACE_WORD = 1,     /**< words of UAX #29; signs are words, too */
    DSTOK_TRACE_SENTENCE = 2, /**< sentences of UAX #29 */
    DSTOK_TRACE_PARAGRAPH = 3, /**< as DSTOK_BREAK_PARAGRAPH */
    DSTOK_TRACE_SOURCE = 4     /**< segments */
};

/** A row: a stretch of text and what the scores say of it.
 *  bytes    its range in the whole text. Rows are in order; they tile the text, but at token level, where bytes
 *           that no token holds are in no row
 *  core     the same without white space at both ends; the same as bytes at token level and where there is
 *           nothing else
 *  tokens   [begin, end) of the tokens that hold bytes of it, as dstok_map_tokens has them
 *  sum      of the shares of their scores
 *  weight   of how many tokens: the sum of the shares a score of 1 would give; 0 where no token holds a byte
 *  max      the largest whole score among the tokens; 0 where there is none
 *  segment  index of the segment; 0 where there are none
 *  The mean score is sum / weight. */
typedef struct dstok_trace_row {
    dstok_span bytes;
    dstok_span core;
    dstok_span tokens;
    double sum;
    double weight;
    double max;
    size_t segment;
} dstok_trace_row;

/** Sums over all tokens.
 *  n_outside  tokens of zero width: a template's (BOS, EOS), a dummy prefix
 *  outside    sum of their scores, which are in no row
 *  total      sum of all scores */
typedef struct dstok_trace_sums {
    size_t n_outside;
    double outside;
    double total;
} dstok_trace_sums;

/** What is traced.
 *  text      shape (len,)
 *  spans     byte spans of the tokens, shape (n,), as an encoder gave them
 *  scores    shape (n,): 0 or 1 of a mask, or any finite numbers, also negative ones
 *  segments  as for dstok_encode_segments, shape (n_segments,); their lengths add up to len. n_segments 0: the
 *            text is one segment */
typedef struct dstok_trace_input {
    size_t struct_size;
    const void *text;
    size_t len;
    const dstok_span *spans;
    const double *scores;
    size_t n;
    const dstok_segment *segments;
    size_t n_segments;
} dstok_trace_input;
#define DSTOK_TRACE_INPUT_INIT                                                                               \
    { sizeof(dstok_trace_input), NULL, 0, NULL, NULL, 0, NULL, 0 }

/** Trace scores back to the text.
 *  in     [in]  made with DSTOK_TRACE_INPUT_INIT
 *  level  [in]  DSTOK_TRACE_*
 *  rows   [out] in the order of the text, shape (cap,), caller-owned; NULL if cap == 0
 *  cap    [in]  len + n_segments is enough always
 *  n_rows [out] how many there are; on E_SPACE, too
 *  sums   [out] or NULL
 *  Returns: DSTOK_OK; E_SPACE (more than cap; rows[0..cap) are the first ones); E_RANGE (spans that leave the
 *      text or decrease; err->offset = index of the token); E_INVAL (a score that is not finite, err->offset =
 *      index of the token; segments that do not add up to len; unknown level; struct_size; NULL).
 *  Owns: nothing; allocates nothing.   Threads: safe.
 *  Cost: O(len + n + rows), and what tokens that share bytes of several rows take for each of them.
 *  Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_trace(const dstok_trace_input *in, int level,
                                                   dstok_trace_row *rows, size_t cap, size_t *n_rows,
                                                   dstok_trace_sums *sums, dstok_error *err);

/** Join rows that touch: where one ends with the byte at which the next begins, in the same segment, they become
 *  one; sums and weights add up, the largest score stays. To be called with those rows that are to be kept.
 *  rows  [in,out] shape (n,), in the order of the text
 *  Returns: how many are left, at the front.   Threads: safe.   Cost: O(n).   Since: 0.1 */
DSTOK_API size_t dstok_trace_join(dstok_trace_row *rows, size_t n);

/** Where padding stands in scores that are longer than the tokens. */
enum {
    DSTOK_PAD_NONE = 0,
    DSTOK_PAD_LEFT = 1, /**< before the tokens */
    DSTOK_PAD_RIGHT = 2 /**< behind them */
};

/** Find the scores of the tokens among scores with padding.
 *  n_scores, n  [in]  how many there are, and how many tokens
 *  pad          [in]  DSTOK_PAD_*
 *  first        [out] index of the first token's score
 *  Returns: DSTOK_OK; E_RANGE (fewer scores than tokens, or more without padding; err->text has both numbers);
 *      E_INVAL (unknown pad).   Threads: safe.   Cost: O(1).   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_trace_fit(size_t n_scores, size_t n, int pad, size_t *first,
                                                       dstok_error *err);

#ifdef __cplusplus
}
#endif
#endif
