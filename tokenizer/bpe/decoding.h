/* SPDX-License-Identifier: MIT */
/* Inside of decoding: what is known between one list of ids and the next one of the same text. */
#ifndef DSTOK_BPE_DECODING_H
#define DSTOK_BPE_DECODING_H

#include "model.h"

/* The caller's buffer: counts everything, writes what fits. Up to strip_start of one character are left out at
 * the begin, and up to strip_stop of them at the end. */
typedef struct target {
    uint8_t *out;
    size_t cap, n;
    uint8_t strip[4];
    size_t strip_n;
    uint32_t strip_start, strip_stop;
    size_t held; /* of that character at the end so far, which may have to go */
} target;

/* Bytes that may turn out to be the head of a character cut into several tokens (replace and strict mode). */
typedef struct pending {
    uint8_t bytes[4];
    size_t n;
} pending;

/* One text: its ids come in one list or in several, of which `ids` is the one at work. */
typedef struct dstok__decoding {
    const dstok_tokenizer *tok;
    const uint32_t *ids;
    size_t n;
    bool is_last; /* no list comes behind this one */
    int mode, skip_special;
    target t;
    pending p; /* DSTOK_DECODE_REPLACE */
    size_t unknown;
    uint64_t n_before, first_unknown; /* ids of the lists before; the number of the first unknown one */
    bool has_first;                   /* an id of a list before was the first that gives something */
    bool spm_started, spm_stripped; /* something came out; the token before lost its blank (SentencePiece) */
    size_t first, last;             /* indexes of the first and last id that give something; n: none */
    bool has_runs;                  /* byte tokens that stand side by side are looked at together */
    size_t (*utf8_check)(const uint8_t *text, size_t len);
    dstok__rows rows;
    dstok_error *err;
} dstok__decoding;
typedef dstok__decoding decoding;

void dstok__decoding_start(decoding *d, const dstok_tokenizer *tok, int mode, int skip_special);

/* The list that comes next. */
void dstok__decoding_give(decoding *d, const uint32_t *ids, size_t n);

/* Decodes it, to d->t. Unless d->is_last it must not end in the midst of a run of byte tokens where d->has_runs, nor
 * with the last id that is shown where the plan has a suffix. */
dstok_status dstok__decoding_run(decoding *d);

bool dstok__decoding_is_byte(const decoding *d, size_t i);  /* a byte of a run? */
bool dstok__decoding_is_shown(const decoding *d, size_t i); /* does id i give something? */

/* Longest tail of s[0, n) that is the head of a well-formed character: at most 3 bytes. */
size_t dstok__open_tail(const uint8_t *s, size_t n);

#endif
