/* SPDX-License-Identifier: MIT */
/* Characters as rules for borders see them, read forward and backward within the reach of a place. */
#ifndef DSTOK_ALIGN_BORDER_CHARS_H
#define DSTOK_ALIGN_BORDER_CHARS_H

#include "../data/unicode/unicode.h"
#include "borders.h"
#include "breaks.h"

/* What a place may look at: text[from, to), from and to being borders of characters but for what is
 * ill-formed. */
typedef struct reach {
    const uint8_t *text;
    size_t from, to;
} reach;

typedef struct character {
    uint32_t cp;       /* ~0: none (before from, behind to), or ill-formed */
    unsigned sb;       /* DSTOK_SB_*; Other for none */
    unsigned record;   /* dstok__uc_record */
    size_t begin, end; /* begin == end: none */
} character;

character dstok__char_next(const reach *r, size_t at);
character dstok__char_last(const reach *r, size_t at); /* the one that ends at `at` */

static inline bool is_none(const character *c) {
    return c->begin == c->end;
}

static inline unsigned category(const character *c) {
    return c->record & DSTOK_UC_GC_MASK;
}

static inline bool in_set(const character *c, unsigned set) {
    return set >> category(c) & 1;
}

/* LF, CR, VT, FF, NEL, LS, PS: what ends a line. */
static inline bool is_line_break(const character *c) {
    return (c->cp >= 0x0A && c->cp <= 0x0D) || c->cp == 0x85 || c->cp == 0x2028 || c->cp == 0x2029;
}

static inline bool is_blank(const character *c) {
    return (c->record & DSTOK_UC_SPACE) != 0 && !is_line_break(c);
}

static inline bool is_letter(const character *c) {
    return in_set(c, DSTOK_UC_L);
}

static inline bool is_combining(const character *c) {
    return in_set(c, DSTOK_UC_M) || c->sb == DSTOK_SB_FORMAT;
}

/* Opens and closes. */
static inline bool is_straight_quote(const character *c) {
    return c->cp == '"' || c->cp == 0xFF02;
}

/* Scripts without blanks between words, but with signs for the ends of sentences: Han, kana, Bopomofo, Yi. */
static inline bool is_east(const character *c) {
    return (c->record & DSTOK_UC_HAN) != 0 || (c->cp >= 0x3040 && c->cp <= 0x312F) ||
           (c->cp >= 0x31A0 && c->cp <= 0x31FF) || (c->cp >= 0xA000 && c->cp <= 0xA48F) ||
           (c->cp >= 0xFF66 && c->cp <= 0xFF9F);
}

/* Scripts without blanks between words, where a blank ends a phrase: Thai, Lao, Myanmar, Khmer, Tai Le, New
 * Tai Lue, Tai Tham, Tai Viet (Line_Break=SA). */
static inline bool is_spaced(const character *c) {
    return (c->cp >= 0x0E00 && c->cp <= 0x0EFF) || (c->cp >= 0x1000 && c->cp <= 0x109F) ||
           (c->cp >= 0x1780 && c->cp <= 0x17FF) || (c->cp >= 0x1950 && c->cp <= 0x19FF) ||
           (c->cp >= 0x1A20 && c->cp <= 0x1AAF) || (c->cp >= 0xA9E0 && c->cp <= 0xA9FF) ||
           (c->cp >= 0xAA60 && c->cp <= 0xAADF);
}

/* ---- what stands before a place ---- */

/* Closing signs, and the terminators before them. */
typedef struct tail {
    size_t begin;       /* of the terminators; none when n_terms == 0 */
    unsigned n_terms;   /* SATerm and U+2026; at most DSTOK__MAX_TERMS */
    unsigned n_stops;   /* full stops among them */
    unsigned n_dots;    /* U+2026 among them */
    unsigned n_closers; /* closing quotes and brackets behind them */
    bool has_wide;      /* 。．｡！？ or the doubled ones */
    bool has_full;      /* 。or ｡ */
    bool has_nonstop;   /* ! ? ！ ？, or a terminator of another script */
    bool has_native; /* a terminator that is no full stop and not one of !?: danda, Ethiopic full stop, ... */
    bool ends_in_title; /* the first closing sign is 》 or 〉 */
    bool has_initial;   /* “ or the like among the closing signs: it closes in some languages */
    bool has_straight;  /* a straight quote among them, which may open as well */
} tail;

#define DSTOK__MAX_TERMS 16u

tail dstok__tail_before(const reach *r, size_t at);

/* border_sentence.c: may the word before a single full stop at `at` be an abbreviation, an initial, a
 * number? */
bool dstok__is_doubtful_word(const reach *r, size_t at);

/* The scores of places: behind a line break; elsewhere. */
unsigned dstok__line_score(const reach *r, size_t at, int mode);
unsigned dstok__sentence_score(const reach *r, size_t at, int mode);

#endif
