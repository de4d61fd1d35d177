/* SPDX-License-Identifier: MIT */
/* Begins of characters and lines, one byte at a time. */
#include "../tiers.h"

/* Bits one by one: there need be no instruction that finds or counts them. */
static inline uint64_t rank_select(uint64_t word, uint64_t n) {
    while (n-- > 0) word &= word - 1;
    return (uint64_t)__builtin_ctzll(word);
}
#define RANK_INLINE static inline
#include "../ranks.h"

/* How the character at hand may go on. */
typedef struct reader {
    size_t tails; /* at most so many bytes more, the next one in [low, high] */
    uint8_t low, high;
    int is_four; /* it has four bytes when it is complete */
} reader;

/* What a byte is: 1 begins a character, 2 is the fourth byte of one, 0 is another byte of one. */
static int read_byte(reader *r, uint8_t c) {
    if (r->tails > 0 && c >= r->low && c <= r->high) {
        r->low = 0x80;
        r->high = 0xBF;
        return --r->tails == 0 && r->is_four ? 2 : 0;
    }
    size_t width = dstok__utf8_lead(c, &r->low, &r->high);
    r->tails = width > 1 ? width - 1 : 0;
    r->is_four = width == 4;
    return 1;
}

static reader reader_behind(uint32_t before) {
    reader r = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) read_byte(&r, (uint8_t)(before >> 8 * i));
    return r;
}

int dstok__begins_char(uint32_t before, uint8_t c) {
    reader r = reader_behind(before);
    return read_byte(&r, c) == 1;
}

void dstok__fill_page(const uint8_t *text, size_t n, uint32_t before, dstok__page *page, size_t k, int unit) {
    reader r = reader_behind(before);
    for (; n > 0; n--, text += 64) {
        dstok__chars c = {0, 0};
        for (size_t i = 0; i < 64; i++) {
            int what = read_byte(&r, text[i]);
            if (what == 1) c.start |= (uint64_t)1 << i;
            if (what == 2) c.fourth |= (uint64_t)1 << i;
        }
        rank_fill(page, k++, c, unit);
    }
}

void dstok__count_chars(const uint8_t *text, size_t n, uint32_t before, uint64_t count[2]) {
    reader r = reader_behind(before);
    for (size_t i = 0; i < 64 * n; i++) {
        int what = read_byte(&r, text[i]);
        count[0] += what == 1;
        count[1] += what == 2;
    }
}

void dstok__line_begins(const uint8_t *text, size_t n, uint32_t before, uint64_t *out) {
    for (size_t k = 0; k < n; k++, text += 64) {
        out[k] = 0;
        for (size_t i = 0; i < 64; i++) {
            uint8_t last = (uint8_t)(before >> 24);
            int is_separator = before >> 8 == 0xA880E2 || before >> 8 == 0xA980E2; /* U+2028, U+2029 */
            if (last == '\n' || (last == '\r' && text[i] != '\n') || is_separator) out[k] |= (uint64_t)1 << i;
            before = before >> 8 | (uint32_t)text[i] << 24;
        }
    }
}

void dstok__sum_lines(dstok__line_page *page, size_t k, size_t n) {
    rank_lines(page, k, n);
}
size_t dstok__span_units(const dstok__page *page, uint64_t *places, size_t n) {
    return rank_units(page, places, n);
}
size_t dstok__span_bytes(const dstok__page *page, uint64_t *places, size_t n) {
    return rank_bytes(page, places, n);
}
size_t dstok__line_places(const dstok__line_page *page, const uint64_t *bytes, size_t n, uint64_t *out) {
    return rank_places(page, bytes, n, out);
}

/* ---- carries ---- */

/* Nothing is known of what is before the four bytes: a character that goes on from there ends within three
 * of them. */
dstok__char_carry dstok__char_carry_of(uint32_t before) {
    dstok__char_carry c = {0, 0, 0, 0};
    reader r = {0, 0, 0, 0};
    size_t place = 0; /* of the byte in its character */
    for (int i = 0; i < 4; i++) {
        uint8_t byte = (uint8_t)(before >> 8 * i);
        uint64_t bit = (uint64_t)1 << (60 + i);
        place = read_byte(&r, byte) == 1 ? 1 : place + 1;
        if (place == 2) c.second |= bit;
        if (place == 3) c.third |= bit;
        if (byte >= 0xE0) c.three |= bit;
        if (byte >= 0xF0) c.four |= bit;
    }
    return c;
}

dstok__line_carry dstok__line_carry_of(uint32_t before) {
    dstok__line_carry c = {0, 0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        uint8_t byte = (uint8_t)(before >> 8 * i);
        uint64_t bit = (uint64_t)1 << (60 + i);
        if (byte == '\n') c.lf |= bit;
        if (byte == '\r') c.cr |= bit;
        if (byte == 0xE2) c.e2 |= bit;
        if (byte == 0x80) c.x80 |= bit;
        if ((byte | 1) == 0xA9) c.separator |= bit & c.x80 << 1 & c.e2 << 2;
    }
    return c;
}
