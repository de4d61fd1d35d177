/* SPDX-License-Identifier: MIT */
/* Byte spans in other units: code points and UTF-16, snapped outwards to whole characters. */
#include <dstok/align.h>

#include "../simd/simd.h"

/* A position that walks over a text, counted in bytes and in the wanted unit. */
typedef struct cursor {
    const uint8_t *text;
    size_t len;
    int unit;
    size_t byte;    /* start of a character */
    uint64_t units; /* length of text[0, byte) */
} cursor;

/* The character at the cursor: its bytes and units. An ill-formed subpart counts as one unit. */
static size_t character(const cursor *c, uint64_t *units) {
    size_t width, bad = dstok__utf8_ill_formed(c->text + c->byte, c->len - c->byte, &width);
    *units = bad == 0 && width == 4 && c->unit == DSTOK_UNIT_UTF16 ? 2 : 1;
    return bad != 0 ? bad : width;
}

/* The character that ends at the cursor, which is not at the begin. One begins with the next byte on the left
 * that is no
 * continuation, if it reaches as far as this; else the byte stands by itself. */
static void step_back(cursor *c) {
    cursor before = *c;
    uint64_t units;
    for (size_t width = 1; width <= 4 && width <= c->byte; width++) {
        before.byte = c->byte - width;
        if ((c->text[before.byte] & 0xC0) == 0x80) continue;
        if (character(&before, &units) != width) break;
        c->byte -= width;
        c->units -= units;
        return;
    }
    c->byte--;
    c->units--;
}

/* Moves to the last character border <= byte; says whether byte lies inside the character there. */
static int walk(cursor *c, size_t byte) {
    while (c->byte > byte) step_back(c);
    while (c->byte < byte) {
        uint64_t units;
        size_t width = character(c, &units);
        if (width > byte - c->byte) return 1;
        c->byte += width;
        c->units += units;
    }
    return 0;
}

dstok_status dstok_spans_convert(const void *text, size_t len, dstok_span *spans, size_t n, int unit) {
    if (unit == DSTOK_UNIT_BYTE) return DSTOK_OK;
    if (unit != DSTOK_UNIT_CHAR && unit != DSTOK_UNIT_UTF16) return DSTOK_E_INVAL;
    cursor begin = {text, len, unit, 0, 0}, end = begin;
    for (size_t i = 0; i < n; i++) {
        dstok_span s = spans[i];
        if (s.begin > s.end || s.end > len) return DSTOK_E_RANGE;
        walk(&begin, (size_t)s.begin);
        int inside = walk(&end, (size_t)s.end);
        spans[i].begin = begin.units;
        spans[i].end = end.units;
        if (s.begin == s.end) {
            spans[i].end = spans[i].begin;
        } else if (inside) {
            uint64_t units;
            character(&end, &units);
            spans[i].end += units;
        }
    }
    return DSTOK_OK;
}

/* Units of well-formed text: bytes that begin a character, and in UTF-16 one more for each of four bytes. */
static uint64_t well_formed_units(const uint8_t *text, size_t len, int unit) {
    uint64_t units = 0;
    while (len > 0) {
        size_t n = len < 128 ? len : 128;
        uint8_t heads = 0, fours = 0; /* bytes: the compiler adds many at once */
        for (size_t i = 0; i < n; i++) {
            heads = (uint8_t)(heads + ((text[i] & 0xC0) != 0x80));
            fours = (uint8_t)(fours + (text[i] >= 0xF0));
        }
        units += unit == DSTOK_UNIT_UTF16 ? (uint64_t)heads + fours : heads;
        text += n;
        len -= n;
    }
    return units;
}

size_t dstok_text_length(const void *text, size_t len, int unit) {
    if (unit == DSTOK_UNIT_BYTE) return len;
    cursor c = {text, len, unit, 0, 0};
    while (c.byte < len) {
        uint64_t units;
        size_t good = dstok__utf8_check(c.text + c.byte, len - c.byte);
        c.units += well_formed_units(c.text + c.byte, good, unit);
        c.byte += good;
        if (c.byte == len) break;
        c.byte += character(&c, &units);
        c.units += units;
    }
    return (size_t)c.units;
}

size_t dstok_utf8_check(const void *text, size_t len) {
    return dstok__utf8_check(text, len);
}
