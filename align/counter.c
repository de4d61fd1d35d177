/* SPDX-License-Identifier: MIT */
/* Counting a stream. */
#include "counter.h"

#include "pages.h"

#include <string.h>

/* The four bytes before text[at], of which earlier ones are in `before`. */
static uint32_t last_four(const uint8_t *text, size_t at, uint32_t before) {
    for (size_t k = at < 4 ? 0 : at - 4; k < at; k++) before = before >> 8 | (uint32_t)text[k] << 24;
    return before;
}

void dstok__count_part(const dstok__simd *simd, const uint8_t *text, size_t n, uint32_t before,
                       uint64_t count[2]) {
    uint8_t block[64] = {0};
    size_t rest = n % 64, whole = n - rest;
    if (whole > 0) simd->count_chars(text, n / 64, before, count);
    if (rest == 0) return;
    memcpy(block, text + whole, rest);
    simd->count_chars(block, 1, last_four(text, whole, before), count);
    count[0] -= 64 - rest; /* each of the zeros is a character */
}

/* Adds the begins of lines in up to 64 blocks, the last of which may be cut off; *last is set to the last
 * one. */
static void add_lines(const dstok__simd *simd, const uint8_t *text, size_t n, uint32_t before,
                      uint64_t *lines, size_t *last, size_t at) {
    uint64_t begins[64];
    uint8_t block[64] = {0};
    size_t rest = n % 64, whole = n / 64, blocks = whole;
    simd->line_begins(text, whole, before, begins);
    if (rest > 0) {
        memcpy(block, text + 64 * whole, rest);
        simd->line_begins(block, 1, last_four(text, 64 * whole, before), begins + whole);
        begins[blocks++] &= ((uint64_t)1 << rest) - 1;
    }
    for (size_t k = 0; k < blocks; k++) {
        if (begins[k] == 0) continue;
        *lines += (uint64_t)__builtin_popcountll(begins[k]);
        *last = at + 64 * k + 63 - (size_t)__builtin_clzll(begins[k]);
    }
}

void dstok__counter_feed(dstok__counter *c, const dstok__simd *simd, const uint8_t *piece, size_t n) {
    size_t last = SIZE_MAX, from = 0;
    uint64_t count[2] = {0, 0};
    if (n == 0) return;
    for (size_t at = 0; at < n; at += 4096) {
        size_t part = n - at < 4096 ? n - at : 4096;
        add_lines(simd, piece + at, part, last_four(piece, at, c->before), &c->lines, &last, at);
    }
    if (last != SIZE_MAX) {
        dstok__count_part(simd, piece, last, c->before, count);
        c->line_chars = c->chars + count[0];
        c->line_fourths = c->fourths + count[1];
        from = last;
    }
    dstok__count_part(simd, piece + from, n - from, last_four(piece, from, c->before), count);
    c->chars += count[0];
    c->fourths += count[1];
    c->bytes += n;
    c->before = last_four(piece, n, c->before);
}

/* Does a line begin behind the last byte? */
static int is_line(uint32_t before, int next) {
    uint32_t last = before >> 24;
    if (last == '\r') return next != '\n';
    return last == '\n' || before >> 8 == 0xA880E2 || before >> 8 == 0xA980E2;
}

void dstok__counter_at(const dstok__counter *c, int next, dstok__at *out) {
    uint64_t chars = c->chars, bytes = c->bytes;
    if (next >= 0 && bytes > 0 && !dstok__begins_char(c->before, (uint8_t)next)) {
        chars--;
        for (uint32_t before = c->before; (before >> 24 & 0xC0) == 0x80; before <<= 8) bytes--;
        bytes--;
    }
    *out = (dstok__at){bytes, chars, chars + c->fourths, c->lines + 1, 1, 1};
    if (bytes > 0 && is_line(c->before, next)) {
        out->line++;
    } else {
        out->column += chars - c->line_chars;
        out->column_utf16 += chars - c->line_chars + c->fourths - c->line_fourths;
    }
}
