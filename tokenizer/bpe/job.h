/* SPDX-License-Identifier: MIT */
/* One call of the encoder, as the files of this room pass it on. */
#ifndef DSTOK_BPE_JOB_H
#define DSTOK_BPE_JOB_H

#include "encoder.h"

/* Where one of the two searches for added tokens is: each goes forward, but the second starts behind the
 * first. */
typedef struct dstok__search {
    dstok__map_cursor replaced; /* text -> source */
    size_t segment;             /* the one that the next match may begin in */
    uint64_t segment_begin;
    uint64_t counted; /* control text was counted up to here */
} dstok__search;

/* A place in the text that Hugging Face merges: a byte-level vocabulary's has a character for each byte. */
typedef struct dstok__hf_walk {
    size_t at;   /* there */
    size_t byte; /* in the pretoken, counted from its begin */
} dstok__hf_walk;

/* Where the last pretokens begin in the source, and what was there before each. at is 0 where that is no place
 * of the source, but for the first one. */
#define DSTOK__BEGINS 64u
typedef struct dstok__begin {
    uint64_t at, covered;
    size_t n; /* tokens */
    dstok_report report;
} dstok__begin;
typedef struct dstok__begins {
    dstok__begin rows[DSTOK__BEGINS]; /* number i is in rows[i % DSTOK__BEGINS] */
    size_t n;
} dstok__begins;

/* What a text is of a longer one, of which it is all by default. */
typedef struct dstok__part {
    bool goes_on;       /* text stands before it */
    bool is_fresh;      /* ... the last of it an added token */
    bool is_behind_raw; /* ... some of it no UTF-8 that was taken raw */
    bool is_open;       /* text comes behind it */
    size_t
        n_one; /* so many bytes at its begin, normalised, belong to one pretoken, up to the first added token */
    bool
        is_piece; /* pretokens at its ends may be parts of longer ones, so that they are not looked up as a whole */
    dstok__begins *begins; /* its last pretoken that may grow is left out; those before are noted. NULL: no */
} dstok__part;

/* As dstok__encode_more (encoder.h) for a part of a text. Places count from its begin (encode.c). */
dstok_status dstok__encode_part(dstok_encoder *enc, const void *text, size_t len, const dstok__part *part,
                                const dstok_encode_options *options, dstok__wanted want, dstok_error *err);

/* Are these two tokens what the text of both, by itself, is merged to (symbols.c)? */
dstok_status dstok__tokens_stay(dstok_encoder *enc, uint32_t left, uint32_t right,
                                const dstok_encode_options *options, bool *stay);

/* One call: the options, and where in the text we are. Three coordinate systems, left to right: the caller's
 * bytes (source), the text after ill-formed bytes were replaced (text), one stretch of it after normalisation
 * (norm). A pretokenizer that rewrites adds a fourth: the pretoken's own text (piece). */
typedef struct dstok__job {
    dstok_encoder *enc;
    const dstok_tokenizer *tok;
    dstok_encode_options opt;
    const dstok_segment *segments; /* NULL: opt.special everywhere */
    size_t n_segments;
    dstok__search in_text, in_norm; /* before and after normalisation */
    dstok_error *err;

    const uint8_t *source; /* source_len bytes */
    uint64_t source_len;
    bool is_replaced;
    dstok__map_cursor replaced, replaced_unknown; /* text -> source, for tokens and for bytes without one */

    size_t base;            /* where the stretch begins in text */
    const uint8_t *stretch; /* the stretch; stretch_len bytes */
    size_t stretch_len;
    const uint8_t *norm; /* the stretch, normalised */
    size_t norm_len;
    bool is_edited;
    bool drops; /* the normaliser took bytes of the stretch away: where, as seen from tokens, is looked at */
    size_t n_first; /* so many of its first bytes stand at the begin of the whole input */
    dstok__map_cursor edits, edits_ahead, edits_unknown; /* norm -> stretch */

    size_t piece_base;            /* where the text given to the pretokenizer begins in norm */
    const dstok__pretoken *piece; /* the pretoken at work */
    dstok__hf_walk hf;            /* DSTOK_SPANS_HF: where the pretoken's tokens are */
    bool is_raw;                  /* its bytes are no UTF-8: each byte is a character of its own */

    size_t last_first; /* index of the first token of the last pretoken; behind the last token after an added
                          one */
    size_t first;      /* index of the first token of the call */
    size_t n_before;   /* ... and of the first behind the template's before the text */
    uint64_t covered;  /* source bytes up to here belong to tokens or were counted as dropped */
    dstok__part part;  /* of a longer text */
    bool is_later;     /* the stretch goes on from the text before the part */
    bool is_begin;     /* ... begins with the part */
    bool is_end;       /* ... ends with it */
    bool is_piece;     /* the pretoken may be a part of a longer one */
    bool no_prefix;    /* this stretch does not begin the text: no blank is put before it */
    bool forbid_control; /* merges must not give control tokens */
    bool is_slow;        /* every pretoken by itself: what follows looks at them */
} dstok__job;
typedef dstok__job job;

/* Puts one token out (piece.c). */
dstok_status dstok__job_push(job *j, uint32_t id, dstok_span span, unsigned flags);

/* Puts out the token of a part of the pretoken, counted from its begin (piece.c). Under DSTOK_SPANS_HF the
 * range is in
 * Hugging Face's text of the pretoken (hf_spans.c). */
dstok_status dstok__job_push_part(job *j, uint32_t id, size_t begin, size_t end, bool is_partial);

/* Counts a character (or byte) of the pretoken, counted from its begin, that has no token; an error under
 * `strict` (piece.c). */
dstok_status dstok__job_unknown(job *j, size_t begin, size_t end);

/* The ids of text[0, len), free of added tokens, to the sink, without spans (fast.c). */
dstok_status dstok__fast_ids(job *j, const uint8_t *text, size_t len);

/* Goes through text[0, len), which is UTF-8, up to a stage from DSTOK_STAGE_CLASSIFY to _PIECES. Returns what
 * it found (fast.c). */
size_t dstok__fast_stage(job *j, int stage, const uint8_t *text, size_t len);

/* The tokens of norm[begin, end) by way of it (piece.c). */
dstok_status dstok__job_fast(job *j, size_t begin, size_t end);

/* Whether some part of the text is under a policy that forbids control tokens from merges (encode.c). */
bool dstok__job_forbids_control(const job *j);

/* Encodes the pretoken j->piece (symbols.c). */
dstok_status dstok__job_pretoken(job *j);

/* ---- hf_spans.c ---- */

/* How long a byte of the pretoken is in the text that Hugging Face merges. */
size_t dstok__hf_width(const job *j, uint8_t byte);

/* The span of a part of that text, of a stretch's range in norm, and of an added token found before
 * normalisation. */
dstok_span dstok__hf_part(job *j, size_t begin, size_t end);
dstok_span dstok__hf_norm(job *j, size_t begin, size_t end);

/* Where the post_processor does that: as many characters are taken off a span's ends as a token's text has
 * blanks there.
 * The text of an added token is what it matched. */
dstok_span dstok__hf_trim(const job *j, uint32_t id, dstok_span span);
dstok_span dstok__hf_trim_text(const job *j, const uint8_t *text, size_t n, dstok_span span);

/* ---- places ---- */

/* Source ranges; begins must not decrease from call to call. cursor: &j->replaced, or that of a
 * search (piece.c). */
dstok_span dstok__job_text_to_source(job *j, dstok__map_cursor *cursor, uint64_t begin, uint64_t end);
dstok_span dstok__job_norm_to_source(job *j, size_t begin, size_t end);

/* norm[begin, end), free of added tokens: pretokenise and encode (piece.c). */
dstok_status dstok__job_plain(job *j, size_t begin, size_t end);

/* source[begin, end) as one pretoken, whatever its bytes are (piece.c). */
dstok_status dstok__job_bytes(job *j, const uint8_t *source, size_t begin, size_t end);

/* Is there a fast way for any bytes (raw.c)? */
bool dstok__job_knows_bytes(const job *j);

/* Spans of the tokens from `first` on, which tile source[begin, end), as it is, with nothing around it
 * (piece.c). */
dstok_status dstok__job_tiles(job *j, const uint8_t *source, size_t begin, size_t end, size_t first);

/* Counts ill-formed parts of the text, the first of them at `at` (invalid.c). */
void dstok__note_invalid(job *j, size_t at, size_t n);

/* Valid UTF-8 text[0, len) that begins at j->base: cut out added tokens, encode the rest (stretch.c). */
dstok_status dstok__job_text(job *j, const uint8_t *text, size_t len);

/* Judges the added tokens of valid UTF-8 text[0, len) at j->base without encoding it (stretch.c). */
dstok_status dstok__job_judge(job *j, const uint8_t *text, size_t len);

/* Ill-formed source under j->opt.invalid (invalid.c). */
dstok_status dstok__job_invalid(job *j, const uint8_t *source, size_t len);

#endif
