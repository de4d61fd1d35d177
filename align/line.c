/* SPDX-License-Identifier: MIT */
/* Lines, and paragraphs: lines that no blank line parts. */
#include "breaks.h"

#include "../data/unicode/unicode.h"
#include "../simd/simd.h"

/* Is U+2028 or U+2029, the separators of lines and paragraphs, in front of text[at]? */
static bool is_behind_separator(const uint8_t *text, size_t at) {
    return at >= 3 && text[at - 3] == 0xE2 && text[at - 2] == 0x80 && (text[at - 1] | 1) == 0xA9;
}

/* Does a line begin at `at` > 0? */
static bool begins(const uint8_t *text, size_t len, size_t at) {
    if (text[at - 1] == '\n') return true;
    if (text[at - 1] == '\r') return at == len || text[at] != '\n';
    return is_behind_separator(text, at);
}

size_t dstok__next_line(const uint8_t *text, size_t len, size_t at) {
    static const uint8_t last[3] = {'\n', '\r', 0xE2};
    const dstok__simd *simd = dstok__simd_best(DSTOK__N_TIERS);
    while (at < len) {
        at += simd->find_byte(text + at, len - at, last, 3);
        if (at == len) break;
        if (text[at] == 0xE2) {
            if (len - at >= 3 && is_behind_separator(text, at + 3)) return at + 3;
            at++;
        } else if (begins(text, len, ++at)) {
            return at;
        }
    }
    return len;
}

bool dstok__is_line_border(const dstok__borders *c, size_t at) {
    return begins(c->text, c->len, at);
}

/* ---- paragraphs ---- */

/* The code point at text[at] when it is white space; its length, or 0. */
static size_t blank_at(const uint8_t *text, size_t len, size_t at) {
    size_t width;
    if (text[at] < 0x80) return dstok__uc_is_space(text[at]);
    if (dstok__utf8_ill_formed(text + at, len - at, &width) != 0 || width == 4)
        return 0; /* none has four bytes */
    uint32_t cp = width == 2
                      ? (text[at] & 0x1Fu) << 6 | (text[at + 1] & 0x3Fu)
                      : (text[at] & 0x0Fu) << 12 | (text[at + 1] & 0x3Fu) << 6 | (text[at + 2] & 0x3Fu);
    return dstok__uc_is_space(cp) ? width : 0;
}

/* Where the white space ends that begins at `at`, within the line; *is_blank: it is all of it. */
static size_t skip_blanks(const uint8_t *text, size_t len, size_t at, bool *is_blank) {
    size_t width;
    for (*is_blank = true; at < len; at += width) {
        width = blank_at(text, len, at);
        if (width == 0) *is_blank = false;
        if (width == 0) return at;
        if (begins(text, len, at + width)) return at + width;
    }
    return at;
}

/* What parts it from a paragraph before: a blank line, or U+2029. */
size_t dstok__next_paragraph(const uint8_t *text, size_t len, size_t at) {
    bool was_blank = false, is_blank;
    for (size_t begin = at; at < len;) {
        size_t end = skip_blanks(text, len, at, &is_blank);
        if (!is_blank && was_blank && at > begin) return at;
        at = is_blank ? end : dstok__next_line(text, len, end);
        was_blank = is_blank || (is_behind_separator(text, at) && text[at - 1] == 0xA9);
    }
    return len;
}

/* Is the line blank that ends at `at`? */
static bool was_blank_before(const dstok__borders *c, size_t at) {
    do {
        size_t back = dstok__char_before(c->text, c->len, at);
        if (blank_at(c->text, c->len, back) == 0) return false;
        at = back;
    } while (at > c->from && !begins(c->text, c->len, at));
    return true;
}

bool dstok__is_paragraph_border(const dstok__borders *c, size_t at) {
    bool is_blank;
    if (!begins(c->text, c->len, at)) return false;
    skip_blanks(c->text, c->len, at, &is_blank);
    if (is_blank) return false;
    if (is_behind_separator(c->text, at) && c->text[at - 1] == 0xA9) return true;
    return was_blank_before(c, at);
}
