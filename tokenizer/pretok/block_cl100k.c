/* SPDX-License-Identifier: MIT */
/* The cl100k shape on bit masks; what it computes stands in scan_cl100k.c. */
#include "block_parts.h"

/* In what the families differ. */
typedef struct shape {
    bool marks;         /* are letters */
    bool takes_lines;   /* signs take line ends along */
    bool numbers_apart; /* blanks in front of numbers end as in front of nothing */
    int n;              /* numbers in a group: 1 or 3 */
} shape;

typedef struct carry {
    uint64_t word, rest;    /* bit 0: the last byte of the block before */
    uint64_t absorbed;      /* ... is a line end behind signs */
    uint64_t behind_prefix; /* the places behind prefixes that are signs */
    uint64_t forced;        /* begins behind a contraction */
    unsigned numbers;       /* dstok__cut_threes */
    dstok__lines lines;
} carry;

/* What the pattern calls a word, and what is neither that nor a number nor white space. */
DSTOK__EACH uint64_t word_of(const dstok__kinds *k, bool marks, bool is_ascii) {
    return dstok__letters(k, is_ascii) | (marks ? dstok__marks(k, is_ascii) : 0);
}

DSTOK__EACH uint64_t rest_of(const dstok__kinds *k, bool marks, bool is_ascii) {
    return k->sign | k->other | (marks ? 0 : dstok__marks(k, is_ascii));
}

static inline uint64_t splits_of(const dstok__kinds *k) {
    return k->valid & ~(k->blank | k->newline);
}

static inline uint64_t splits_but_numbers(const dstok__kinds *k) {
    return k->valid & ~(k->blank | k->newline | k->number);
}

DSTOK__EACH uint64_t cut_block(dstok__window *w, size_t i, shape s, bool is_ascii, carry *c) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t word = word_of(k, s.marks, is_ascii), rest = rest_of(k, s.marks, is_ascii),
             alone = ~DSTOK__BEFORE(k, space);
    uint64_t words = word & ~(word << 1 | c->word), rests = rest & ~(rest << 1 | c->rest) & alone;

    /* A single sign, not behind a ' ', goes to the word behind it, or begins a contraction. */
    uint64_t prefixes = rests & dstok__next_in(k, word, word_of(k + 1, s.marks, is_ascii), is_ascii);
    uint64_t behind = dstok__step_over(k, prefixes, &c->behind_prefix, is_ascii), forced = c->forced;
    c->forced = 0;
    if (prefixes & k->quote) (void)dstok__contractions(w, i, prefixes & k->quote, true, &forced, &c->forced);
    uint64_t starts = rests | (words & ~behind & ~DSTOK__BEFORE(k, blank)) | forced;

    uint64_t absorbed = s.takes_lines ? dstok__absorbed(k->newline, rest << 1 | c->rest, &c->absorbed) : 0;
    starts |= dstok__cut_lines_of(w, i, k->newline & ~absorbed,
                                  s.numbers_apart ? splits_but_numbers : splits_of, is_ascii, &c->lines);
    starts |= s.n == 1 ? k->number & ~k->tail : dstok__cut_threes(k, &c->numbers);
    c->word = word >> 63;
    c->rest = rest >> 63;
    return starts & k->valid;
}

DSTOK__EACH void cut(dstok__window *w, shape s) {
    carry c;
    memset(&c, 0, sizeof c);
    for (size_t i = 0; i < w->n; i++) {
        bool is_ascii = dstok__is_ascii_block(&w->blocks[i + 1]);
        w->starts[i] = is_ascii ? cut_block(w, i, s, true, &c) : cut_block(w, i, s, false, &c);
    }
    dstok__cut_lines_end(w, &c.lines);
}

void dstok__block_cl100k(dstok__window *w) {
    cut(w, (shape){.takes_lines = true, .n = 3});
}

/* Where the white space begins that ends what the window has of the text. */
static size_t last_white(const dstok__window *w) {
    for (size_t i = w->n; i-- > 0;) {
        const dstok__kinds *k = &w->blocks[i + 1];
        uint64_t others = k->valid & ~(k->blank | k->newline);
        if (others != 0) return 64 * i + 64 - (unsigned)__builtin_clzll(others);
    }
    return 0;
}

/* \s++$ comes before \s*[\r\n]: white space that ends the text is one pretoken. */
void dstok__block_cl100k_tiktoken(dstok__window *w) {
    dstok__block_cl100k(w);
    bool is_end = 64 * w->n >= w->len, found = false;
    for (size_t at = last_white(w); at < 64 * w->n && at < w->limit; at++) {
        if (!((w->starts[at / 64] >> (at % 64)) & 1)) continue;
        if (!is_end) { /* whether it ends the text is not known */
            w->limit = at + 1;
            return;
        }
        if (found) w->starts[at / 64] &= ~((uint64_t)1 << (at % 64));
        found = true;
    }
}

void dstok__block_qwen2(dstok__window *w) {
    cut(w, (shape){.takes_lines = true, .n = 1});
}

void dstok__block_qwen35(dstok__window *w) {
    cut(w, (shape){.marks = true, .takes_lines = true, .n = 1});
}

void dstok__block_seed_coder(dstok__window *w) {
    cut(w, (shape){.n = 1});
}

void dstok__block_minicpm5(dstok__window *w) {
    cut(w, (shape){.takes_lines = true, .numbers_apart = true, .n = 3});
}
