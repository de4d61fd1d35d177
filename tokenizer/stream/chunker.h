/* SPDX-License-Identifier: MIT */
/* Inside a chunker. */
#ifndef DSTOK_STREAM_CHUNKER_H
#define DSTOK_STREAM_CHUNKER_H

#include <dstok/chunker.h>
#include <dstok/stream.h>

#include "../base/base.h"
#include "cut.h"

/* What text and tokens come from, in order and in pieces (source.c). */
typedef struct dstok__source {
    const dstok_tokenizer *tok;
    dstok_stream *stream; /* NULL: the options need the whole text, which is gathered */
    dstok_encoder *enc;
    dstok_encode_options encode;
    dstok__buf text;
} dstok__source;
dstok_status dstok__source_new(const dstok_tokenizer *tok, const dstok_encode_options *encode,
                               dstok__source **out, dstok_error *err);
void dstok__source_free(dstok__source *s);
void dstok__source_reset(dstok__source *s);
/* Tokens that are final now; never more than DSTOK__SOURCE_BYTES at once are fed. */
#define DSTOK__SOURCE_BYTES ((size_t)64 << 10)
dstok_status dstok__source_feed(dstok__source *s, const void *bytes, size_t len, dstok_tokens *out,
                                dstok_error *err);
dstok_status dstok__source_finish(dstok__source *s, dstok_tokens *out, dstok_error *err);

/* Fenced blocks, found line by line as the text comes. A longer line is none of theirs: so what is known of
 * blocks that begin before a place does not depend on how much of the text behind it is. */
#define DSTOK__FENCE_LINE 400u
typedef struct dstok__fence_scan {
    dstok_span *spans;
    size_t head, n, cap; /* spans[head, n) count */
    uint64_t at;         /* the begin of the line that comes next */
    bool is_inside;      /* ... not of the line: it goes on there, and is too long */
    unsigned width;      /* of the open fence, 0: none is open */
    uint8_t sign;
} dstok__fence_scan;

/* Looks at the lines of text[0, len) from `scan->at` on, whose byte `base` is text[0]. is_end: the text
 * ends there. */
dstok_status dstok__fence_feed(const dstok_alloc *al, dstok__fence_scan *scan, const uint8_t *text,
                               size_t len, uint64_t base, bool is_end);

struct dstok_chunker {
    const dstok_tokenizer *tok;
    dstok_alloc al;
    dstok_chunker_options o;
    dstok_chunk_sink *sink;
    void *context;
    dstok__source *source;
    dstok_encoder *again;       /* encodes chunks by themselves, or NULL */
    dstok_encode_options plain; /* how: without the template */
    uint32_t *allowed;
    size_t limit;       /* tokens of a chunk without its template */
    uint32_t *template; /* its ids: n_prefix before the text, the others behind it */
    size_t n_prefix, n_template, template_cap;

    /* text: bytes [base, base + len) of the document are text[head, head + len) */
    uint8_t *text;
    size_t text_head, text_len, text_cap;
    uint64_t text_base;
    /* tokens from the begin of the next chunk on: [head, head + n) of the arrays */
    uint32_t *ids;
    dstok_span *spans;
    size_t head, n_tokens, ids_cap, spans_cap;
    dstok__fence_scan fences;

    uint64_t document, number;
    uint64_t first_token;       /* number of the first one */
    uint64_t begin, begin_char; /* where the next chunk begins */
    uint64_t fresh;             /* where what no chunk has yet begins */
    size_t n_old;               /* tokens before it */
    uint64_t n_given;           /* ids given out (DSTOK_CHUNK_RETOKENIZE) */
    int mode;                   /* DSTOK__MODE_*, -1: not known yet */
    bool is_failed;

    uint32_t *out_ids;
    dstok_span *out_spans;
    size_t out_ids_cap, out_spans_cap;
};

/* chunks.c: gives out the chunks that are sure, all of them when the text is_end. */
dstok_status dstok__chunks_give(dstok_chunker *c, bool is_end, dstok_error *err);

#endif
