/* SPDX-License-Identifier: MIT */
/* The decoder of a vocabulary file: what becomes of each token's text, and what is done to the whole. */
#ifndef DSTOK_BPE_DECODER_H
#define DSTOK_BPE_DECODER_H

#include "../base/base.h"

typedef enum dstok__dec_kind {
    DSTOK__DEC_BYTE_LEVEL, /* byte-level characters -> bytes; a token with another character stays as it is */
    DSTOK__DEC_REPLACE, /* pattern (a plain string) by content in each token (in the whole text behind FUSE) */
    DSTOK__DEC_BYTE_FALLBACK, /* "<0xE4>" -> the byte */
    DSTOK__DEC_FUSE,          /* the steps behind it see one text */
    DSTOK__DEC_STRIP, /* up to `start` and `stop` times content (one character) off the ends of each token */
    DSTOK__DEC_METASPACE, /* pattern (one character) -> blank; `flag`: in the first token -> nothing */
    DSTOK__DEC_BPE,       /* pattern (a suffix) -> blank; in the last token -> nothing */
    DSTOK__DEC_WORDPIECE, /* pattern (a prefix) off each token, else a blank before it; `flag`: clean up */
    DSTOK__DEC_SPM, /* SentencePiece's own: `start` 1: one blank (U+2581 in the piece) off the first token, 2: off
                       every token as long as nothing has come out, 0: none; runs of byte tokens that are not
                       UTF-8 are shown character by character */
    DSTOK__DEC_CTC /* pattern = pad token, content = word delimiter; `flag`: clean up */
} dstok__dec_kind;

typedef struct dstok__dec {
    dstok__dec_kind kind;
    const char *pattern, *content;
    size_t pattern_n, content_n;
    uint32_t start, stop;
    bool flag;
} dstok__dec;

#define DSTOK__MAX_DECS 16

/* What a list of steps comes to: each token has its own bytes, and these rules hold for the whole. It is
 * part of compiled vocabularies, so all fields have a fixed width and no pointers. */
typedef struct dstok__dec_plan {
    uint32_t strip_start, strip_stop; /* at most so many of strip_char off the ends of the whole text */
    uint32_t strip_char;              /* code point */
    /* Code point: in the first token each of it is left out instead of becoming a blank; 0: none. */
    uint32_t first_drops;
    /* DEC_BPE: length of the suffix (the model's end_of_word_suffix) that the last token loses; 0: none. */
    uint32_t last_suffix_n;
    uint32_t spm_strip; /* DEC_SPM: its start */
    uint32_t spm_bytes; /* DEC_SPM: 1; else 0 */
    /* Code point: where byte tokens make this character together it becomes a blank, or nothing if first_drops
     * stands and they come first; 0: none. */
    uint32_t run_char;
} dstok__dec_plan;

/* Works out the plan. E_UNSUPPORTED (err->text names the step) where a list cannot be brought to this form. */
dstok_status dstok__dec_plan_make(const dstok__dec *decs, size_t n, dstok__dec_plan *plan, dstok_error *err);

/* What a token's key (its UTF-8 text in the file, not mapped) becomes by itself under the steps: appended
 * to out. With no steps: the text itself. *is_byte  [out] it became one byte by BYTE_FALLBACK. */
dstok_status dstok__dec_token(const dstok__dec *decs, size_t n, const char *key, size_t key_n,
                              dstok__buf *out, bool *is_byte);

/* The byte that a token text "<0xE4>" (or "<0xe4>") names, or -1. */
int dstok__dec_byte(const char *text, size_t n);

#endif
