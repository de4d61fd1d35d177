/* SPDX-License-Identifier: MIT */
/* Characters and their classes, and the calls for all kinds of borders. */
#include "breaks.h"

#include "../simd/simd.h"

/* ---- characters ---- */

static bool is_tail(uint8_t c) {
    return (c & 0xC0) == 0x80;
}

unsigned dstok__break_long(const uint8_t *text, size_t len, size_t at, size_t *width) {
    const uint8_t *s = text + at;
    size_t bad = dstok__utf8_ill_formed(s, len - at, width);
    if (bad != 0) {
        *width = bad;
        return 0;
    }
    uint32_t cp = s[0];
    if (*width == 2) cp = (cp & 0x1F) << 6 | (s[1] & 0x3Fu);
    if (*width == 3) cp = (cp & 0x0F) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    if (*width == 4) cp = (cp & 0x07) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    return dstok__break_record(cp);
}

/* Length of the character, or of the ill-formed subpart, at text[at]. */
static size_t width_at(const uint8_t *text, size_t len, size_t at) {
    size_t width, bad = dstok__utf8_ill_formed(text + at, len - at, &width);
    return bad != 0 ? bad : width;
}

size_t dstok__char_of(const uint8_t *text, size_t len, size_t at) {
    if (at >= len || !is_tail(text[at])) return at;
    for (size_t back = 1; back <= 3 && back <= at; back++) { /* the lead, if it reaches as far as this */
        if (is_tail(text[at - back])) continue;
        return width_at(text, len, at - back) > back ? at - back : at;
    }
    return at;
}

size_t dstok__char_before(const uint8_t *text, size_t len, size_t at) {
    return text[at - 1] < 0x80 ? at - 1 : dstok__char_of(text, len, at - 1);
}

/* ---- all kinds ---- */

typedef struct kind {
    size_t (*next)(const uint8_t *text, size_t len, size_t at);
    bool (*is_border)(const dstok__borders *c, size_t at);
} kind;

static const kind kinds[] = {
    [DSTOK_BREAK_GRAPHEME] = {dstok__next_grapheme, dstok__is_grapheme_border},
    [DSTOK_BREAK_WORD] = {dstok__next_word, dstok__is_word_border},
    [DSTOK_BREAK_SENTENCE] = {dstok__next_sentence, dstok__is_sentence_border},
    [DSTOK_BREAK_LINE] = {dstok__next_line, dstok__is_line_border},
    [DSTOK_BREAK_PARAGRAPH] = {dstok__next_paragraph, dstok__is_paragraph_border},
};

static bool is_kind(int number) {
    return number >= 0 && number < (int)(sizeof kinds / sizeof *kinds);
}

size_t dstok__last_border(const dstok__borders *c, size_t at, int number) {
    at = dstok__char_of(c->text, c->len, at);
    if (at <= c->from) return c->from;
    while (at > c->from && at < c->len && !kinds[number].is_border(c, at))
        at = dstok__char_before(c->text, c->len, at);
    return at;
}

dstok_status dstok_break_next(const void *text, size_t len, uint64_t at, int number, uint64_t *next) {
    if (!is_kind(number)) return DSTOK_E_INVAL;
    if (at > len) return DSTOK_E_RANGE;
    *next = at < len ? kinds[number].next(text, len, (size_t)at) : len;
    return DSTOK_OK;
}

dstok_status dstok_break_last(const void *text, size_t len, uint64_t from, uint64_t at, int number,
                              uint64_t *border) {
    if (!is_kind(number)) return DSTOK_E_INVAL;
    if (from > at || at > len) return DSTOK_E_RANGE;
    const dstok__borders c = {text, (size_t)from, len};
    *border = dstok__last_border(&c, (size_t)at, number);
    return DSTOK_OK;
}

/* Eight bytes of ASCII without CR from `at` on: seven clusters of one byte, and the begin of another. */
static bool is_plain(const uint8_t *s) {
    uint8_t all = 0, cr = 0;
    for (int i = 0; i < 8; i++) {
        all |= s[i];
        cr |= s[i] == '\r';
    }
    return all < 0x80 && cr == 0;
}

dstok_status dstok_breaks(const void *text, size_t len, int number, dstok_span *spans, size_t cap,
                          size_t *n) {
    if (!is_kind(number)) return DSTOK_E_INVAL;
    const uint8_t *s = text;
    size_t count = 0;
    for (size_t at = 0, end; at < len; at = end) {
        if (number == DSTOK_BREAK_GRAPHEME && len - at >= 8 && is_plain(s + at)) {
            size_t room = count < cap ? cap - count : 0;
            for (size_t k = 0; k < 7 && k < room; k++) spans[count + k] = (dstok_span){at + k, at + k + 1};
            count += 7;
            end = at + 7;
            continue;
        }
        end = kinds[number].next(s, len, at);
        if (count < cap) spans[count] = (dstok_span){at, end};
        count++;
    }
    *n = count;
    return count <= cap ? DSTOK_OK : DSTOK_E_SPACE;
}
