/* SPDX-License-Identifier: MIT */
/* The inside of a stream: the text that is kept, and how its tokens become final. */
#ifndef DSTOK_STREAM_INSIDE_H
#define DSTOK_STREAM_INSIDE_H

#include <dstok/stream.h>

#include "../bpe/job.h"
#include "seams.h"

#define DSTOK__STREAM_STEP ((size_t)64 << 10)
#define DSTOK__STREAM_HOLD ((size_t)4 << 10)
#define DSTOK__STREAM_ROOM 16u /* bytes behind the text that long.c writes to */
#define DSTOK__STREAM_HEAD 64u /* bytes of a long pretoken that stand for those given out */

/* Where a text of this vocabulary is broken. */
typedef enum dstok__stream_way {
    DSTOK__WAY_SURE,   /* where each family begins a pretoken (seams.h) */
    DSTOK__WAY_OPEN,   /* where the steps begin one, as far as they are sure (pretok.h) */
    DSTOK__WAY_TOKENS, /* between tokens: nothing cuts (parts) */
    DSTOK__WAY_NONE    /* nowhere */
} dstok__stream_way;

struct dstok_stream {
    const dstok_tokenizer *tok;
    dstok_encoder *enc;
    dstok_encode_options opt;
    uint32_t *allowed; /* opt.allowed */
    dstok__stream_way way;
    dstok__seams seams;
    dstok__begins begins;
    dstok__part tried; /* the part that was encoded last */

    uint8_t *text; /* what is kept: len bytes, and DSTOK__STREAM_ROOM more */
    size_t len, cap, max_held;
    size_t step;    /* bytes that are encoded together: DSTOK__STREAM_STEP, but for tests */
    size_t hold;    /* bytes at the end that run.c speaks of: DSTOK__STREAM_HOLD, but for tests */
    size_t wanted;  /* so many bytes are worth a try */
    uint64_t at;    /* bytes of the whole text before those kept */
    bool is_fresh;  /* ... the last of them an added token's */
    bool is_within; /* ... tokens that may join with what is kept: the last is left_id */
    uint32_t left_id;
    uint8_t head[DSTOK__STREAM_HEAD]; /* long.c: how the pretoken begins that goes on in what is kept */
    size_t n_head;                    /* 0: none does */

    uint64_t n_tokens; /* given out before this call */
    dstok_report report;
    bool is_over, is_failed, is_full;
};

/* Encodes text[0, len), a part of the whole, and adds to the tokens. is_trial: some may be taken back, so
 * that they get their spans in any case, and the report is left to the caller. */
dstok_status dstok__stream_encode(dstok_stream *s, size_t len, const dstok__part *part, bool is_trial,
                                  dstok_error *err);

/* Drops text[0, n), whose tokens are final. */
void dstok__stream_drop(dstok_stream *s, size_t n, bool is_fresh);

/* The part of a text that text[0, ...) is now. */
dstok__part dstok__stream_part(const dstok_stream *s, bool is_open);

void dstok__stream_add_report(dstok_stream *s, const dstok_report *r); /* of a part that begins at s->at */

/* Are the tokens from `first` on, of what is kept, those of the whole text, too? E_LIMIT where not (run.c). */
dstok_status dstok__stream_goes_on(dstok_stream *s, size_t first, dstok_error *err);

/* Of the tokens from `first` on, which are those of what is kept, keeps those before the last place, at
 * most `most`, where the text may be broken between two of them. *done  [out] that place, 0: none is kept
 * (run.c). */
dstok_status dstok__stream_keep_tokens(dstok_stream *s, size_t first, size_t most, size_t *done,
                                       dstok_error *err);

/* A family's text without a place to break it: pretoken by pretoken, and inside of one that does not end.
 * *done as dstok__stream_some (long.c). */
dstok_status dstok__stream_long(dstok_stream *s, size_t *done, dstok_error *err);

/* The last place near the end where the text may be broken as far as added tokens and normaliser are
 * concerned; 0. */
size_t dstok__stream_last_break(const dstok_stream *s);

/* All of what is kept, the end of the text, where a pretoken goes on in it (long.c). */
dstok_status dstok__stream_end_long(dstok_stream *s, dstok_error *err);

/* Makes tokens of what is kept, as far as they are final; *done  [out] bytes, 0: none is. (run.c) */
dstok_status dstok__stream_some(dstok_stream *s, size_t *done, dstok_error *err);

/* All tokens of what is kept, the end of the text (run.c). */
dstok_status dstok__stream_rest(dstok_stream *s, dstok_error *err);

#endif
