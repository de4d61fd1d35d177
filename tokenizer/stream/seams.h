/* SPDX-License-Identifier: MIT */
/* Places where a text may be broken in two that are encoded one after the other, as far as added tokens,
 * normaliser and families are concerned. */
#ifndef DSTOK_STREAM_SEAMS_H
#define DSTOK_STREAM_SEAMS_H

#include "../bpe/model.h"

/* A set of code points, or of more: 1024 bits by the low ones. */
typedef struct dstok__points {
    uint64_t bits[16];
} dstok__points;

/* One set of added tokens. */
typedef struct dstok__guard {
    const dstok__added_set *set;
    size_t longest; /* bytes of an entry */
    uint32_t flags; /* DSTOK__ADDED_* of any entry */
    dstok__points first, inner,
        last; /* characters that entries begin with, have behind the first one, end with */
} dstok__guard;

typedef struct dstok__seams {
    const dstok_tokenizer *tok;
    dstok__guard raw, normalized;
} dstok__seams;

void dstok__seams_init(dstok__seams *b, const dstok_tokenizer *tok);

/* May text[0, len) be broken at `at`, a place inside of it? Then no added token's text touches the place
 * from before, and the normaliser does the same to both parts as to the whole. False also where the
 * characters around are not well-formed or not all there. */
bool dstok__seam_at(const dstok__seams *b, const uint8_t *text, size_t len, size_t at);

/* Might an added token that is matched before normalisation stand over the place, which is inside of the
 * text? One that the policy passes over is counted there. */
bool dstok__seam_is_crossed(const dstok__seams *b, const uint8_t *text, size_t at);

/* For families: the last place from `from` on where it may be broken in that way and every family begins a
 * pretoken, whatever stands on the other side; 0: none was found. */
size_t dstok__seam_last(const dstok__seams *b, const uint8_t *text, size_t len);

/* The text as far as it is well-formed or cannot become so: without the head of a character at its end. */
size_t dstok__whole_characters(const uint8_t *text, size_t len);

#endif
