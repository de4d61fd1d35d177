/* SPDX-License-Identifier: MIT */
/* One call of the encoder, as the files of this room pass it on. */
#ifndef DSTOK_BPE_JOB_H
#define DSTOK_BPE_JOB_H

#include "encoder.h"

/* Where one of the two searches for added tokens is: each goes forward, but the second starts behind the first. */
typedef struct dstok__search {
    dstok__map_cursor replaced; /* text -> source */
    size_t segment;             /* the one that the next match may begin in */
    uint64_t segment_begin;
    uint64_t counted; /* control text was counted up to here */
} dstok__search;

/* One call: the options, and where in the text we are. Three coordinate systems, left to right: the caller's
 * bytes (source), the text after ill-formed bytes were replaced (text), one stretch of it after normalisation
 * (norm). */
typedef struct dstok__job {
    dstok_encoder *enc;
    const dstok_tokenizer *tok;
    dstok_encode_options opt;
    const dstok_segment *segments; /* NULL: opt.special everywhere */
    size_t n_segments;
    dstok__search in_text, in_norm; /* before and after normalisation */
    dstok_error *err;

    uint64_t source_len;
    bool is_replaced;
    dstok__map_cursor replaced, replaced_unknown; /* text -> source, for tokens and for bytes without one */

    size_t base;         /* where the stretch begins in text */
    const uint8_t *norm; /* the stretch, normalised */
    size_t norm_len;
    bool is_edited;
    dstok__map_cursor edits, edits_ahead, edits_unknown; /* norm -> stretch */

    const uint8_t *piece_text; /* what the pretokenizer sees: norm, or a copy with a blank before it */
    size_t piece_base;         /* where it begins in norm */
    size_t prefix;             /* 1 when there is such a blank */

    size_t last_first; /* index of the first token of the last pretoken; behind the last token after an added
                          one */
    uint64_t covered;  /* source bytes up to here belong to tokens or were counted as dropped */
    bool no_prefix;    /* this stretch does not begin the text: no blank is put before it */
    bool forbid_control; /* merges must not give control tokens */
} dstok__job;
typedef dstok__job job;

/* Puts one token out (piece.c). */
dstok_status dstok__job_push(job *j, uint32_t id, dstok_span span, unsigned flags);

/* Source ranges; begins must not decrease from call to call. cursor: &j->replaced, or that of a
 * search (piece.c). */
dstok_span dstok__job_text_to_source(job *j, dstok__map_cursor *cursor, uint64_t begin, uint64_t end);
dstok_span dstok__job_norm_to_source(job *j, size_t begin, size_t end);

/* norm[begin, end), free of added tokens: pretokenise and encode (piece.c). */
dstok_status dstok__job_plain(job *j, size_t begin, size_t end);

/* source[begin, end) as one pretoken, whatever its bytes are (piece.c). */
dstok_status dstok__job_bytes(job *j, const uint8_t *source, size_t begin, size_t end);

/* Valid UTF-8 text[0, len) that begins at j->base: cut out added tokens, encode the rest (stretch.c). */
dstok_status dstok__job_text(job *j, const uint8_t *text, size_t len);

/* Judges the added tokens of valid UTF-8 text[0, len) at j->base without encoding it (stretch.c). */
dstok_status dstok__job_judge(job *j, const uint8_t *text, size_t len);

/* Ill-formed source under j->opt.invalid (invalid.c). */
dstok_status dstok__job_invalid(job *j, const uint8_t *source, size_t len);

#endif
