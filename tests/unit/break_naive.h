/* SPDX-License-Identifier: MIT */
/* Borders by the rules of UAX #29 as they are written, one after the other, on arrays of classes; each may
 * look at the whole text. Lines and paragraphs by their definition in align.h. */
#ifndef DSTOK_TEST_BREAK_NAIVE_H
#define DSTOK_TEST_BREAK_NAIVE_H

#include "../../data/unicode/breaks.h"

#include <stdbool.h>
#include <stddef.h>

#define G(x) DSTOK_GCB_##x
#define W(x) DSTOK_WB_##x
#define S(x) DSTOK_SB_##x

/* ---- grapheme clusters ---- */

static bool g_control(uint8_t c) {
    return c == G(CONTROL) || c == G(CR) || c == G(LF);
}
static bool g_extend(uint8_t c) {
    return c == G(EXTEND) || c == G(LINKER) || c == G(ZWNJ);
}
static bool g_conjunct(uint8_t c) { /* InCB=Extend or InCB=Linker */
    return c == G(EXTEND) || c == G(LINKER) || c == G(ZWJ);
}

static bool naive_grapheme(const uint8_t *c, size_t n, size_t i) {
    uint8_t a = c[i - 1], b = c[i];
    size_t j = i, linkers = 0;
    (void)n;
    if (a == G(CR) && b == G(LF)) return false;                                           /* GB3 */
    if (g_control(a)) return true;                                                        /* GB4 */
    if (g_control(b)) return true;                                                        /* GB5 */
    if (a == G(L) && (b == G(L) || b == G(V) || b == G(LV) || b == G(LVT))) return false; /* GB6 */
    if ((a == G(LV) || a == G(V)) && (b == G(V) || b == G(T))) return false;              /* GB7 */
    if ((a == G(LVT) || a == G(T)) && b == G(T)) return false;                            /* GB8 */
    if (g_extend(b) || b == G(ZWJ)) return false;                                         /* GB9 */
    if (b == G(SPACING)) return false;                                                    /* GB9a */
    if (a == G(PREPEND)) return false;                                                    /* GB9b */
    if (b == G(CONSONANT)) {                                                              /* GB9c */
        for (; j > 0 && g_conjunct(c[j - 1]); j--) linkers += c[j - 1] == G(LINKER);
        if (linkers > 0 && j > 0 && c[j - 1] == G(CONSONANT)) return false;
    }
    if (a == G(ZWJ) && b == G(PICT)) { /* GB11 */
        for (j = i - 1; j > 0 && g_extend(c[j - 1]);) j--;
        if (j > 0 && c[j - 1] == G(PICT)) return false;
    }
    if (b == G(RI)) { /* GB12, GB13 */
        for (j = i; j > 0 && c[j - 1] == G(RI);) j--;
        if ((i - j) % 2 == 1) return false;
    }
    return true; /* GB999 */
}

/* ---- words ---- */

static bool w_break(uint8_t c) {
    return c == W(NEWLINE) || c == W(CR) || c == W(LF);
}
static bool w_ignored(uint8_t c) {
    return c == W(EXTEND) || c == W(FORMAT) || c == W(ZWJ);
}
static bool w_letter(uint8_t c) { /* AHLetter */
    return c == W(LETTER) || c == W(LETTER_PICT) || c == W(HEBREW);
}
static bool w_mid_quote(uint8_t c) { /* MidNumLetQ */
    return c == W(MIDNUMLET) || c == W(SINGLE);
}
static bool w_mid(uint8_t c) {
    return c == W(MIDLETTER) || w_mid_quote(c);
}
static bool w_midnum(uint8_t c) {
    return c == W(MIDNUM) || w_mid_quote(c);
}

#define NAIVE_MAX 400

/* The text without what WB4 (SB5) ignores: its classes, and where i stands in it. False when i is ignored
 * itself. */
static bool reduce(const uint8_t *c, size_t n, size_t i, bool (*is_break)(uint8_t),
                   bool (*is_ignored)(uint8_t), uint8_t *out, size_t *n_out, size_t *at) {
    size_t count = 0;
    bool found = false;
    *at = 0;
    for (size_t k = 0; k < n; k++) {
        bool is_base = k == 0 || is_break(c[k - 1]) || !is_ignored(c[k]);
        if (k == i && is_base) *at = count;
        if (k == i) found = is_base;
        if (is_base) out[count++] = c[k];
    }
    *n_out = count;
    return found;
}

static bool naive_word(const uint8_t *raw, size_t raw_n, size_t raw_i) {
    uint8_t a = raw[raw_i - 1], b = raw[raw_i], c[NAIVE_MAX];
    size_t n, i, flags = 0;
    if (a == W(CR) && b == W(LF)) return false;                                  /* WB3 */
    if (w_break(a)) return true;                                                 /* WB3a */
    if (w_break(b)) return true;                                                 /* WB3b */
    if (a == W(ZWJ) && (b == W(PICT) || b == W(LETTER_PICT))) return false;      /* WB3c */
    if (a == W(SPACE) && b == W(SPACE)) return false;                            /* WB3d */
    if (!reduce(raw, raw_n, raw_i, w_break, w_ignored, c, &n, &i)) return false; /* WB4 */
    a = c[i - 1];
    uint8_t before = i > 1 ? c[i - 2] : W(OTHER), after = i + 1 < n ? c[i + 1] : W(OTHER);
    if (w_letter(a) && w_letter(b)) return false;                              /* WB5 */
    if (w_letter(a) && w_mid(b) && w_letter(after)) return false;              /* WB6 */
    if (w_letter(before) && w_mid(a) && w_letter(b)) return false;             /* WB7 */
    if (a == W(HEBREW) && b == W(SINGLE)) return false;                        /* WB7a */
    if (a == W(HEBREW) && b == W(DOUBLE) && after == W(HEBREW)) return false;  /* WB7b */
    if (before == W(HEBREW) && a == W(DOUBLE) && b == W(HEBREW)) return false; /* WB7c */
    if (a == W(NUMERIC) && b == W(NUMERIC)) return false;                      /* WB8 */
    if (w_letter(a) && b == W(NUMERIC)) return false;                          /* WB9 */
    if (a == W(NUMERIC) && w_letter(b)) return false;                          /* WB10 */
    if (before == W(NUMERIC) && w_midnum(a) && b == W(NUMERIC)) return false;  /* WB11 */
    if (a == W(NUMERIC) && w_midnum(b) && after == W(NUMERIC)) return false;   /* WB12 */
    if (a == W(KATAKANA) && b == W(KATAKANA)) return false;                    /* WB13 */
    if ((w_letter(a) || a == W(NUMERIC) || a == W(KATAKANA) || a == W(EXTENDNUMLET)) && b == W(EXTENDNUMLET))
        return false; /* WB13a */
    if (a == W(EXTENDNUMLET) && (w_letter(b) || b == W(NUMERIC) || b == W(KATAKANA)))
        return false; /* WB13b */
    if (b == W(RI)) { /* WB15, WB16 */
        while (flags < i && c[i - flags - 1] == W(RI)) flags++;
        if (flags % 2 == 1) return false;
    }
    return true; /* WB999 */
}

/* ---- sentences ---- */

static bool s_break(uint8_t c) {
    return c == S(SEP) || c == S(CR) || c == S(LF);
}
static bool s_ignored(uint8_t c) {
    return c == S(EXTEND) || c == S(FORMAT);
}
static bool s_term(uint8_t c) {
    return c == S(STERM) || c == S(ATERM);
}

static bool naive_sentence(const uint8_t *raw, size_t raw_n, size_t raw_i) {
    uint8_t a = raw[raw_i - 1], b = raw[raw_i], c[NAIVE_MAX];
    size_t n, i, close, term, ahead;
    if (a == S(CR) && b == S(LF)) return false;                                  /* SB3 */
    if (s_break(a)) return true;                                                 /* SB4 */
    if (!reduce(raw, raw_n, raw_i, s_break, s_ignored, c, &n, &i)) return false; /* SB5 */
    a = c[i - 1];
    if (a == S(ATERM) && b == S(NUMERIC)) return false; /* SB6 */
    if (i > 1 && (c[i - 2] == S(UPPER) || c[i - 2] == S(LOWER)) && a == S(ATERM) && b == S(UPPER))
        return false; /* SB7 */
    close = i;        /* behind Close* */
    while (close > 0 && c[close - 1] == S(SP)) close--;
    term = close; /* behind SATerm */
    while (term > 0 && c[term - 1] == S(CLOSE)) term--;
    if (term == 0 || !s_term(c[term - 1])) return false; /* SB998 */
    for (ahead = i; ahead < n && c[ahead] != S(OLETTER) && c[ahead] != S(UPPER) && c[ahead] != S(LOWER) &&
                    !s_break(c[ahead]) && !s_term(c[ahead]);)
        ahead++;
    if (c[term - 1] == S(ATERM) && ahead < n && c[ahead] == S(LOWER)) return false; /* SB8 */
    if (b == S(CONTINUE) || s_term(b)) return false;                                /* SB8a */
    if (close == i && (b == S(CLOSE) || b == S(SP) || s_break(b))) return false;    /* SB9 */
    if (b == S(SP) || s_break(b)) return false;                                     /* SB10 */
    return true;                                                                    /* SB11 */
}

#endif
