/* SPDX-License-Identifier: MIT */
/* What JSON is made of, and copying of strings, one byte at a time. */
#include "../simd.h"

static void json_byte(uint8_t c, uint64_t bit, dstok__json_masks *m) {
    if (c < 0x20) m->control |= bit;
    if (c == '"') m->quote |= bit;
    if (c == '\\') m->backslash |= bit;
    if (c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',') m->mark |= bit;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') m->blank |= bit;
}

void dstok__json_masks_of(const uint8_t *text, size_t n, dstok__json_masks *out) {
    for (size_t k = 0; k < n; k++, text += 64) {
        dstok__json_masks m = {0, 0, 0, 0, 0};
        for (size_t i = 0; i < 64; i++) json_byte(text[i], (uint64_t)1 << i, &m);
        out[k] = m;
    }
}

/* What stands for an escape of two bytes, by its second one; 0 when it is none. */
static uint8_t escape_of(uint8_t letter) {
    switch (letter) {
    case '"':
    case '\\':
    case '/':
        return letter;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

size_t dstok__json_copy(const uint8_t *text, size_t len, uint8_t *out, size_t *n) {
    size_t i = 0, count = 0;
    while (i < len) {
        uint8_t c = text[i];
        if (c == '\\') {
            c = len - i > 1 ? escape_of(text[i + 1]) : 0;
            if (c == 0) break;
            i++;
        }
        out[count++] = c;
        i++;
    }
    *n = count;
    return i;
}
