/* SPDX-License-Identifier: MIT */
/* Scores of places: what is looked at, and which rules are asked. */
#include "borders.h"

#include "../simd/simd.h"
#include "border_chars.h"

static const character nothing = {~0u, DSTOK_SB_OTHER, DSTOK_GC_CN, 0, 0};

static character decoded(const reach *r, size_t at, size_t width) {
    const uint8_t *s = r->text + at;
    uint32_t cp = s[0];
    if (width == 2) cp = (cp & 0x1F) << 6 | (s[1] & 0x3Fu);
    if (width == 3) cp = (cp & 0x0F) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    if (width == 4) cp = (cp & 0x07) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    unsigned sb = DSTOK_SB_OF(dstok__break_record(cp));
    return (character){cp, sb, dstok__uc_record(cp), at, at + width};
}

character dstok__char_next(const reach *r, size_t at) {
    if (at >= r->to) return nothing;
    if (r->text[at] < 0x80) return decoded(r, at, 1);
    size_t width, bad = dstok__utf8_ill_formed(r->text + at, r->to - at, &width);
    if (bad == 0) return decoded(r, at, width);
    character c = nothing;
    c.begin = at;
    c.end = at + bad;
    return c;
}

character dstok__char_last(const reach *r, size_t at) {
    if (at <= r->from) return nothing;
    size_t begin = dstok__char_before(r->text, at, at);
    return begin < r->from ? nothing : dstok__char_next(&(reach){r->text, r->from, at}, begin);
}

/* ---- closing signs and terminators ---- */

/* A sign that may close: quotes of any form, as the same sign opens in one language and closes in another, and
 * brackets that close. */
static bool is_closer(const character *c) {
    return c->sb == DSTOK_SB_CLOSE && category(c) != DSTOK_GC_PS;
}

static bool is_term(const character *c) {
    return c->sb == DSTOK_SB_ATERM || c->sb == DSTOK_SB_STERM || c->cp == 0x2026;
}

static bool is_wide_term(uint32_t cp) {
    return cp == 0x3002 || cp == 0xFF01 || cp == 0xFF1F || cp == 0xFF0E || cp == 0xFF61 ||
           (cp >= 0x203C && cp <= 0x203D) || (cp >= 0x2047 && cp <= 0x2049);
}

static void note_term(tail *t, const character *c) {
    uint32_t cp = c->cp;
    bool is_exclaimed = cp == '!' || cp == '?' || cp == 0xFF01 || cp == 0xFF1F || cp == 0x061F;
    t->n_terms++;
    t->n_stops += cp == '.';
    t->n_dots += cp == 0x2026;
    t->has_wide |= is_wide_term(cp);
    t->has_full |= cp == 0x3002 || cp == 0xFF61;
    t->has_native |= c->sb == DSTOK_SB_STERM && !is_exclaimed && !is_wide_term(cp);
    t->has_nonstop |= c->sb == DSTOK_SB_STERM && cp != 0x3002 && cp != 0xFF61;
    t->begin = c->begin;
}

tail dstok__tail_before(const reach *r, size_t at) {
    tail t = {0};
    character c = dstok__char_last(r, at);
    while (is_closer(&c) && t.n_closers < 4) {
        t.n_closers++;
        t.ends_in_title = c.cp == 0x300B || c.cp == 0x3009;
        t.has_initial |= category(&c) == DSTOK_GC_PI;
        t.has_straight |= is_straight_quote(&c);
        c = dstok__char_last(r, c.begin);
        if (c.cp == 0xA0 || c.cp == 0x202F) c = dstok__char_last(r, c.begin); /* "mot. »" in French */
    }
    for (; is_term(&c) && t.n_terms < DSTOK__MAX_TERMS; c = dstok__char_last(r, c.begin)) note_term(&t, &c);
    return t;
}

/* ---- scores ---- */

bool dstok__border_is_grapheme(const dstok__border_text *b, size_t from, size_t at) {
    if (at == 0 || at >= b->len || at <= from) return true;
    return dstok__is_grapheme_border(&(dstok__borders){b->text, from, b->len}, at);
}

/* Whether anything can be said of a place, by the bytes beside it: most places are within words. */
static bool is_plain(uint8_t last, uint8_t next) {
    static const uint8_t signs[256] = {
        ['\t'] = 1, ['\n'] = 1, ['\v'] = 1, ['\f'] = 1, ['\r'] = 1, [' '] = 1,
        ['!'] = 1,  ['"'] = 1,  ['\''] = 1, [')'] = 1,  [','] = 1,  ['.'] = 1,
        [':'] = 1,  [';'] = 1,  ['?'] = 1,  [']'] = 1,  ['}'] = 1,
    };
    return last < 0x80 && next < 0x80 && !signs[last] && !signs[next];
}

unsigned dstok__border_score(const dstok__border_text *b, size_t at) {
    if (is_plain(b->text[at - 1], b->text[at])) return 0;
    reach r = {b->text, at > DSTOK__BORDER_BACK ? at - DSTOK__BORDER_BACK : 0,
               b->len - at > DSTOK__BORDER_AHEAD ? at + DSTOK__BORDER_AHEAD : b->len};
    while (r.from > 0 && r.from < at && (b->text[r.from] & 0xC0) == 0x80) r.from++;
    character last = dstok__char_last(&r, at), next = dstok__char_next(&r, at);
    if (last.cp == '\r' && next.cp == '\n') return 0;
    if (is_combining(&next) && !is_line_break(&last)) return 0;
    unsigned score =
        is_line_break(&last) ? dstok__line_score(&r, at, b->mode) : dstok__sentence_score(&r, at, b->mode);
    if (score == 0 || next.cp < 0x80) return score;
    return dstok__border_is_grapheme(b, r.from, at) ? score : 0;
}
