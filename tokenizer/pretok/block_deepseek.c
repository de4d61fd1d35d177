/* SPDX-License-Identifier: MIT */
/* DeepSeek-V3 on bit masks; what it computes stands in scan_deepseek.c. */
#include "block_parts.h"

typedef struct carry {
    uint64_t word, sign, east; /* bit 0: the last byte of the block before */
    uint64_t absorbed;         /* ... is a line end behind signs */
    uint64_t behind_prefix;    /* bit 0: ... is a sign that goes to the letters behind it */
    uint64_t led;              /* ... is one of the ASCII letters behind such a sign */
    unsigned numbers;
    dstok__lines lines;
} carry;

/* What the last blank of a run goes to, or is left alone for: other characters of the same piece. */
static inline uint64_t splits_of(const dstok__kinds *k) {
    return k->valid & ~(k->blank | k->newline | k->number | k->east);
}

DSTOK__EACH uint64_t word_of(const dstok__kinds *k, bool is_ascii) {
    uint64_t word = dstok__letters(k, is_ascii) | dstok__marks(k, is_ascii);
    return is_ascii ? word : word & ~k->east;
}

static inline uint64_t ascii_letters(const dstok__kinds *k) {
    return (k->upper | k->lower) & ~k->high;
}

/* Runs of kana and ideographs: words but for a few signs. What is neither is left to the scanner. */
static inline uint64_t cut_east(dstok__window *w, size_t i) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t east = k->east, sign = k->sign & east, before = DSTOK__BEFORE(k, sign) & DSTOK__BEFORE(k, east);
    dstok__limit_to(w, i, east & k->other);
    return (east & ~DSTOK__BEFORE(k, east)) | (east & (sign ^ before) & ~k->tail);
}

/* Other words, with a blank or another character before them, and what a sign takes along. */
DSTOK__EACH uint64_t cut_words(dstok__window *w, size_t i, bool is_ascii, carry *c) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t word = word_of(k, is_ascii), sign = k->sign & ~k->east, ascii = ascii_letters(k);
    uint64_t words = word & ~(word << 1 | c->word) & ~DSTOK__BEFORE(k, blank) & ~DSTOK__BEFORE(k, other);
    uint64_t signs = sign & ~(sign << 1 | c->sign) & ~DSTOK__BEFORE(k, space);

    uint64_t prefixes = signs & ~k->high & (ascii >> 1 | ascii_letters(k + 1) << 63);
    uint64_t behind = prefixes << 1 | c->behind_prefix;
    uint64_t reached = dstok__reach(behind | c->led, ascii);
    uint64_t others = k->other & ~k->tail;
    if (others != 0)
        others &= ~DSTOK__BEFORE(k, other) | dstok__next_in(k, word, word_of(k + 1, is_ascii), is_ascii);
    uint64_t starts = (words & ~behind) | signs | others | (reached & word & ~ascii & ~behind);
    c->behind_prefix = prefixes >> 63;
    c->led = (reached & ascii) >> 63;
    c->word = word >> 63;
    return starts;
}

DSTOK__EACH uint64_t cut_block(dstok__window *w, size_t i, bool is_ascii, carry *c) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t sign = k->sign & ~k->east;
    uint64_t starts = cut_words(w, i, is_ascii, c) | (is_ascii ? 0 : cut_east(w, i));
    uint64_t absorbed = dstok__absorbed(k->newline, k->newline & (sign << 1 | c->sign), &c->absorbed);
    starts |= dstok__cut_lines_of(w, i, k->newline & ~absorbed, splits_of, is_ascii, &c->lines);
    starts |= dstok__cut_threes(k, &c->numbers);
    c->sign = sign >> 63;
    return starts & k->valid;
}

void dstok__block_deepseek_v3(dstok__window *w) {
    carry c;
    memset(&c, 0, sizeof c);
    for (size_t i = 0; i < w->n; i++) {
        bool is_ascii = dstok__is_ascii_block(&w->blocks[i + 1]);
        w->starts[i] = is_ascii ? cut_block(w, i, true, &c) : cut_block(w, i, false, &c);
    }
    dstok__cut_lines_end(w, &c.lines);
}
