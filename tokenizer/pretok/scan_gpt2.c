/* SPDX-License-Identifier: MIT */
/* The GPT-2 scanner, and SmolLM's: the same behind a step that makes every number a piece of its own. */
#include "scan.h"

/* What becomes of numbers: part of the pattern, or pieces of their own, by \p{N} or by the Digits step. */
typedef enum numbers { NUMBERS_IN_PATTERN, NUMBERS_ALONE, NUMBERS_ALONE_BY_DIGITS } numbers;

/* The kind at pos; 0 at the end of the text, and at a number that is a piece of its own, for there ends the piece. */
static inline unsigned kind_in(const uint8_t *text, size_t len, size_t pos, numbers mode, size_t *next) {
    unsigned kind = dstok__kind_at(text, len, pos, next);
    if (mode != NUMBERS_IN_PATTERN && kind == DSTOK__K_NUMBER) return 0;
    if (mode == NUMBERS_ALONE_BY_DIGITS && kind == DSTOK__K_OTHER &&
        dstok__is_digits_step(dstok__decode(text, pos, next)))
        return 0;
    return kind;
}

static inline size_t run_in(const uint8_t *text, size_t len, size_t pos, numbers mode, unsigned set) {
    size_t next;
    while (kind_in(text, len, pos, mode, &next) & set) pos = next;
    return pos;
}

/*  's|'t|'re|'ve|'m|'ll|'d | ?\p{L}+ | ?\p{N}+ | ?[^\s\p{L}\p{N}]+ |\s+(?!\S)|\s+  */
static inline size_t scan(const uint8_t *text, size_t len, size_t pos, numbers mode) {
    const unsigned rest = DSTOK__K_ALL & ~(DSTOK__K_SPACE | DSTOK__K_LETTER | DSTOK__K_NUMBER);
    size_t next;

    size_t end = dstok__contraction(text, len, pos, false);
    if (end != pos) return end;
    if (kind_in(text, len, pos, mode, &next) == 0) return next; /* a number alone */

    size_t body = text[pos] == ' ' ? pos + 1 : pos;
    unsigned kind = kind_in(text, len, body, mode, &next);
    if (kind & DSTOK__K_LETTER) return run_in(text, len, next, mode, DSTOK__K_LETTER);
    if (kind & DSTOK__K_NUMBER) return run_in(text, len, next, mode, DSTOK__K_NUMBER);
    if (kind & rest) return run_in(text, len, next, mode, rest);

    dstok__space_run run = dstok__space_at(text, len, pos);
    return dstok__cut_blanks(run, pos, kind_in(text, len, run.end, mode, &next) == 0);
}

size_t dstok__scan_gpt2(const uint8_t *text, size_t len, size_t pos) {
    return scan(text, len, pos, NUMBERS_IN_PATTERN);
}

size_t dstok__scan_smollm(const uint8_t *text, size_t len, size_t pos) {
    return scan(text, len, pos, NUMBERS_ALONE_BY_DIGITS);
}

size_t dstok__scan_smollm_split(const uint8_t *text, size_t len, size_t pos) {
    return scan(text, len, pos, NUMBERS_ALONE);
}
