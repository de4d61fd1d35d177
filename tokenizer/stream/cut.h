/* SPDX-License-Identifier: MIT */
/* Where a chunk ends: of all places that tokens and borders allow, the best one not far from the limit. */
#ifndef DSTOK_STREAM_CUT_H
#define DSTOK_STREAM_CUT_H

#include "../../align/borders.h"

/* Where fenced blocks of Markdown stand, in order: [begin of the opening line, end of the closing line);
 * the end is UINT64_MAX while the block is open. */
typedef struct dstok__fences {
    const dstok_span *spans;
    size_t n;
} dstok__fences;

/* What is wanted of borders. */
enum { DSTOK__LEVEL_SENTENCE, DSTOK__LEVEL_PARAGRAPH, DSTOK__LEVEL_LINE, DSTOK__LEVEL_TOKEN };

/* Tokens and their text, from the begin of a chunk on. */
typedef struct dstok__cut_window {
    dstok__border_text
        borders; /* the text; its end lies DSTOK__BORDER_AHEAD bytes behind token `high`, or ends the text */
    uint64_t base;           /* byte of the document where borders.text begins */
    uint64_t begin;          /* places are behind this byte, a border of graphemes */
    const dstok_span *spans; /* of the tokens, in bytes of the document */
    size_t n_tokens;         /* > high */
    size_t low, high;        /* the chunk may have so many tokens: 0 < low <= high */
    size_t limit;            /* tokens; windows are parts of it */
    int level;               /* DSTOK__LEVEL_* */
    bool inside_tokens;      /* places inside tokens will do, too */
    dstok__fences fences;
} dstok__cut_window;

typedef struct dstok__cut_place {
    size_t n_tokens; /* before it, or partly before it */
    uint64_t byte;   /* of the document */
    int class;       /* DSTOK__BORDER_* */
} dstok__cut_place;

/* The best place for the end. Never fails: where nothing is better, the chunk ends behind token `high`. */
dstok__cut_place dstok__cut_find(const dstok__cut_window *w);

/* The begin of an overlap before a place, at most max_tokens before it: the n_sentences-th border of a
 * sentence from there, or the farthest when n_sentences is 0. The place itself: there is none. */
dstok__cut_place dstok__cut_back(const dstok__cut_window *w, const dstok__cut_place *place, size_t max_tokens,
                                 size_t n_sentences);

#endif
