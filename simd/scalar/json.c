/* SPDX-License-Identifier: MIT */
/* Tokens of JSON, and copying of strings, one byte at a time. */
#include "../simd.h"

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

static int is_hex(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}
static int is_mark(uint8_t c) {
    return c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',';
}
static int is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One byte of a string, the quote that begins it included. */
static int is_fault(uint8_t c, int escaped, dstok__json_state *s) {
    int fault = c < 0x20 || (escaped && c != 'u' && escape_of(c) == 0);
    if (escaped && c == 'u') s->digits |= 0x1E; /* the four bytes behind this one */
    return fault;
}

static void json_byte(uint8_t c, uint64_t bit, dstok__json_state *s, dstok__json_block *out) {
    int escaped = s->escaped != 0, quote = c == '"' && !escaped;
    s->escaped = c == '\\' && !escaped;
    if (quote) s->in_string = ~s->in_string;
    int run = s->in_string == 0 && !quote && !is_mark(c) && !is_blank(c);
    if (quote || (s->in_string == 0 && is_mark(c)) || (run && !s->in_run)) out->tokens |= bit;
    if ((s->digits & 1) != 0 && !is_hex(c)) out->faults |= bit;
    if (s->in_string != 0 && is_fault(c, escaped, s)) out->faults |= bit;
    s->digits >>= 1;
    s->in_run = (uint64_t)run;
}

void dstok__json_tokens(const uint8_t *text, size_t n, dstok__json_state *state, dstok__json_block *out) {
    for (size_t k = 0; k < n; k++, text += 64) {
        out[k] = (dstok__json_block){0, 0};
        for (size_t i = 0; i < 64; i++) json_byte(text[i], (uint64_t)1 << i, state, out + k);
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
