/* SPDX-License-Identifier: MIT */
/* The GPT-2 shape on bit masks; what it computes stands in scan_gpt2.c. */
#include "block_parts.h"

typedef enum numbers { NUMBERS_IN_PATTERN, NUMBERS_ALONE } numbers;

/* What the last blank of a run goes to: any character of the same piece that is no white space. */
DSTOK__EACH uint64_t splits_of(const dstok__kinds *k, numbers mode) {
    uint64_t all = k->valid & ~(k->blank | k->newline);
    return mode == NUMBERS_ALONE ? all & ~k->number : all;
}

typedef struct carry {
    uint64_t letter, rest, white; /* bit 0: the last byte of the block before */
    uint64_t forced;              /* begins behind a contraction */
    uint64_t held;                /* bit 0: a letter of a contraction */
} carry;

/* Begins of runs that take a ' ' before them along. */
DSTOK__EACH uint64_t cut_runs(dstok__window *w, size_t i, numbers mode, bool is_ascii, carry *c) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t letter = dstok__letters(k, is_ascii), rest = k->sign | k->other | dstok__marks(k, is_ascii);
    uint64_t letters = letter & ~(letter << 1 | c->letter), rests = rest & ~(rest << 1 | c->rest);
    uint64_t alone = ~DSTOK__BEFORE(k, space), forced = c->forced, held = c->held;
    uint64_t quotes = k->quote & rests & alone, found = 0;
    c->forced = 0;
    if (quotes != 0) found = dstok__contractions(w, i, quotes, false, &forced, &c->forced);
    letters &= ~(found << 1 | held);
    c->held = found >> 63;
    c->letter = letter >> 63;
    c->rest = rest >> 63;
    uint64_t starts = (letters | rests) & alone;
    if (mode == NUMBERS_ALONE) return starts | (k->number & ~k->tail) | forced;
    return starts | (k->number & ~DSTOK__BEFORE(k, number) & alone) | forced;
}

/* \s+(?!\S)|\s+ */
DSTOK__EACH uint64_t cut_whites(const dstok__kinds *k, numbers mode, bool is_ascii, carry *c) {
    uint64_t white = k->blank | k->newline, before = white << 1 | c->white;
    c->white = white >> 63;
    return white & (~before | dstok__next_in(k, splits_of(k, mode), splits_of(k + 1, mode), is_ascii));
}

static inline void cut(dstok__window *w, numbers mode) {
    carry c = {0, 0, 0, 0, 0};
    for (size_t i = 0; i < w->n; i++) {
        const dstok__kinds *k = &w->blocks[i + 1];
        uint64_t starts = dstok__is_ascii_block(k)
                              ? cut_runs(w, i, mode, true, &c) | cut_whites(k, mode, true, &c)
                              : cut_runs(w, i, mode, false, &c) | cut_whites(k, mode, false, &c);
        w->starts[i] = starts & k->valid;
    }
}

void dstok__block_gpt2(dstok__window *w) {
    cut(w, NUMBERS_IN_PATTERN);
}

void dstok__block_smollm_split(dstok__window *w) {
    cut(w, NUMBERS_ALONE);
}

/* The step Digits has numbers that are not assigned in our tables: they are among the others of four bytes.
 * What such a one does to the blank before it is not known either. */
void dstok__block_smollm(dstok__window *w) {
    cut(w, NUMBERS_ALONE);
    for (size_t i = 0; i < w->n; i++) {
        uint64_t here = w->blocks[i + 1].other & w->blocks[i + 1].lead4,
                 next = w->blocks[i + 2].other & w->blocks[i + 2].lead4;
        if ((here | next) == 0) continue;
        dstok__limit_to(w, i,
                        here | here >> 1 | here >> 2 | here >> 3 | next << 63 | next << 62 | next << 61);
    }
}
