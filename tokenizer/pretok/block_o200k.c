/* SPDX-License-Identifier: MIT */
/* The o200k shape on bit masks; what it computes stands in scan_o200k.c. */
#include "block_parts.h"

typedef struct carry {
    uint64_t word, letter, sign; /* bit 0: the last byte of the block before */
    uint64_t run;                /* ... is in a run of signs and marks that is no word */
    uint64_t absorbed;           /* ... is a line end behind such a run */
    uint64_t seen;               /* ... belongs to a pretoken with a small letter, and could go on */
    uint64_t caseless;           /* ... is a letter without case, or a mark of a word */
    uint64_t behind_prefix;      /* the places behind prefixes that are signs */
    uint64_t forced;             /* begins behind a contraction */
    uint64_t found;              /* quotes of contractions in the block before */
    size_t contraction_end;      /* of the last one */
    unsigned numbers;
    dstok__lines lines;
} carry;

static inline uint64_t splits_of(const dstok__kinds *k) {
    return k->valid & ~(k->blank | k->newline);
}

/* Quotes of contractions: they end the word before them. One that follows another at once is none. */
static inline uint64_t find_contractions(dstok__window *w, size_t i, uint64_t quotes, uint64_t *forced,
                                         carry *c) {
    uint64_t found = 0;
    for (; quotes != 0; quotes &= quotes - 1) {
        size_t at = 64 * i + dstok__low_bit(quotes);
        if (at == c->contraction_end) continue;
        uint64_t one = dstok__contractions(w, i, quotes & (0 - quotes), true, forced, &c->forced);
        found |= one;
        if (one != 0) c->contraction_end = dstok__contraction(w->text, w->len, at, true);
    }
    return found;
}

/* Capitals behind a caseless letter where no small letter was before: they begin a pretoken unless a small
 * or caseless one follows them. Returns those that do. */
static inline uint64_t look_ahead(dstok__window *w, size_t i, uint64_t capitals) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t found = 0;
    for (; capitals != 0; capitals &= capitals - 1) {
        unsigned at = dstok__low_bit(capitals);
        uint64_t others = ~k->upper & (UINT64_MAX << at), bit;
        const dstok__kinds *where = k;
        if (others == 0) {
            where = k + 1;
            others = ~where->upper;
            if (others == 0) dstok__limit_to(w, i, capitals);
            if (others == 0) return found;
        }
        bit = others & (0 - others);
        if (((where->lower | where->caseless | where->mark) & bit) == 0) found |= (uint64_t)1 << at;
    }
    return found;
}

/* Where a run of letters and marks is cut inside: before a capital behind a small letter. word: it, without
 * the marks that belong to signs. broken: places that no pretoken reaches from the left. */
DSTOK__EACH uint64_t cut_case(dstok__window *w, size_t i, uint64_t word, uint64_t broken, bool is_ascii,
                              carry *c) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t behind_small = (k->lower << 1 | c->seen) & ~broken;
    if (is_ascii) {
        c->seen = k->lower >> 63;
        c->caseless = 0;
        return k->upper & behind_small;
    }
    uint64_t caseless = word & (k->caseless | k->mark), through = (k->lower | caseless) & ~(broken >> 1);
    uint64_t seen = dstok__reach(behind_small, through), starts = k->upper & seen;
    uint64_t unsure = k->upper & ~seen & (caseless << 1 | c->caseless) & ~broken;
    if (unsure != 0) starts |= look_ahead(w, i, unsure);
    c->seen = (k->lower | (through & seen)) >> 63;
    c->caseless = caseless >> 63;
    return starts;
}

/* Signs and what they take along, in one block. */
typedef struct signs {
    uint64_t all;      /* characters that count as signs here */
    uint64_t begins;   /* of their runs */
    uint64_t prefixes; /* single ones that go to the word behind them */
    uint64_t run;      /* runs that are no prefix, with the marks in them */
    uint64_t absorbed; /* line ends and slashes behind those */
    uint64_t over;     /* bit 0: ... at the end of the block */
} signs;

DSTOK__EACH void find_signs(const dstok__kinds *k, uint64_t found, bool is_ascii, const carry *c, signs *s) {
    uint64_t alone = ~DSTOK__BEFORE(k, space), next = dstok__letters(k, is_ascii) | dstok__marks(k, is_ascii);
    uint64_t next_behind = dstok__letters(k + 1, is_ascii) | dstok__marks(k + 1, is_ascii);
    s->begins = s->all & ~(s->all << 1 | c->sign) & ~found;
    s->prefixes = s->begins & alone & dstok__next_in(k, next, next_behind, is_ascii);
    if (is_ascii) {
        s->run = s->all & ~s->prefixes & ~found;
        s->begins &= alone;
    } else {
        s->run = dstok__flood((s->begins & ~s->prefixes) | c->run, s->all | k->mark);
        s->prefixes &= ~s->run;
        s->begins &= alone & ~(s->run << 1 | c->run);
    }
    s->over = c->absorbed;
    s->absorbed = dstok__absorbed(k->newline | k->slash, k->newline & (s->run << 1 | c->run), &s->over);
}

/* A slash behind an absorbed line end is absorbed, too, and is no sign then. */
DSTOK__EACH void settle_signs(dstok__window *w, size_t i, uint64_t found, bool is_ascii, const carry *c,
                              signs *s) {
    const dstok__kinds *k = &w->blocks[i + 1];
    s->all = k->sign | k->other;
    find_signs(k, found, is_ascii, c, s);
    uint64_t slashes = s->absorbed & k->slash;
    if (slashes == 0) return;
    s->all &= ~slashes;
    find_signs(k, found, is_ascii, c, s);
    dstok__limit_to(w, i, slashes ^ (s->absorbed & k->slash));
}

DSTOK__EACH uint64_t cut_block(dstok__window *w, size_t i, bool contractions, int n, bool is_ascii,
                               carry *c) {
    const dstok__kinds *k = &w->blocks[i + 1];
    uint64_t letter = dstok__letters(k, is_ascii), forced = c->forced, found = 0;
    c->forced = 0;
    if (contractions && k->quote) {
        found = find_contractions(w, i, k->quote & (letter << 1 | c->letter), &forced, c);
        dstok__limit_to(w, i, k->quote & DSTOK__BEFORE(k, mark));
    }
    uint64_t held = found << 1 | c->found >> 63, inner = (found << 2 | c->found >> 62) & ~forced;
    signs s;
    settle_signs(w, i, found, is_ascii, c, &s);
    uint64_t behind = dstok__step_over(k, s.prefixes, &c->behind_prefix, is_ascii);

    uint64_t word = letter | (dstok__marks(k, is_ascii) & ~s.run);
    uint64_t words = word & ~(word << 1 | c->word) & ~behind & ~DSTOK__BEFORE(k, blank) & ~held;
    uint64_t starts = s.begins | words | forced | (cut_case(w, i, word, forced, is_ascii, c) & ~inner);
    starts |= dstok__cut_lines_of(w, i, k->newline & ~s.absorbed, splits_of, is_ascii, &c->lines);
    starts |= n == 1 ? k->number & ~k->tail : dstok__cut_threes(k, &c->numbers);
    c->letter = letter >> 63;
    c->word = word >> 63;
    c->sign = s.all >> 63;
    c->run = s.run >> 63;
    c->absorbed = s.over;
    c->found = found;
    return starts & k->valid;
}

static inline void cut(dstok__window *w, bool contractions, int n) {
    carry c;
    memset(&c, 0, sizeof c);
    for (size_t i = 0; i < w->n; i++) {
        bool is_ascii = dstok__is_ascii_block(&w->blocks[i + 1]);
        w->starts[i] = is_ascii ? cut_block(w, i, contractions, n, true, &c)
                                : cut_block(w, i, contractions, n, false, &c);
    }
    dstok__cut_lines_end(w, &c.lines);
}

void dstok__block_o200k(dstok__window *w) {
    cut(w, true, 3);
}

void dstok__block_tekken(dstok__window *w) {
    cut(w, false, 1);
}
