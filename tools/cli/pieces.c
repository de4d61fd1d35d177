/* SPDX-License-Identifier: MIT */
/* Tokens made visible on a terminal. */
#include "pieces.h"

#include "widths.h"

#include <string.h>

/* The ranges are in order. */
static int is_in(const struct range *r, size_t n, uint32_t c) {
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c > r[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && c >= r[low].first;
}

static size_t width_of(uint32_t c) {
    if (is_in(flat, sizeof flat / sizeof *flat, c)) return 0;
    return is_in(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

/* Characters that would be invisible or move the cursor or the writing direction. */
static int is_hidden(uint32_t c) {
    static const struct range hidden[] = {
        {0x00, 0x1F},     {0x7F, 0xA0},     {0xAD, 0xAD},     {0x061C, 0x061C},
        {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200F}, {0x2028, 0x202F},
        {0x205F, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF},
    };

    return is_in(hidden, sizeof hidden / sizeof *hidden, c);
}

static size_t put_sign(struct cli_buf *out, const char *sign) {
    cli_buf_text(out, sign);
    return 1;
}

static size_t put_hidden(struct cli_buf *out, uint32_t c) {
    size_t before = out->n;

    cli_buf_printf(out, c < 0x80 ? "\u2039%02X\u203A" : "\u2039U+%04X\u203A", (unsigned)c);
    return out->n - before - 4; /* each of the two signs takes three bytes and one column */
}

/* One character, or a part of one. */
static size_t put_character(struct cli_buf *out, const unsigned char *p, size_t k, int ok, uint32_t c,
                            int plain_blank) {
    size_t i, before = out->n;

    if (!ok) {
        for (i = 0; i < k; i++) cli_buf_printf(out, "%s%02X", i == 0 ? "\u2039" : " ", p[i]);
        cli_buf_text(out, "\u203A");
        return out->n - before - 4;
    }
    if (c == ' ') return put_sign(out, plain_blank ? " " : "\u2423");
    if (c == '\n') return put_sign(out, "\u21B5");
    if (c == '\r') return put_sign(out, "\u240D");
    if (c == '\t') return put_sign(out, "\u2192");
    if (is_hidden(c)) return put_hidden(out, c);
    cli_buf_add(out, p, k);
    return width_of(c);
}

size_t cli_piece(struct cli_buf *out, const void *bytes, size_t n, int plain_blank) {
    const unsigned char *p = bytes;
    size_t i = 0, columns = 0;

    while (i < n) {
        uint32_t c;
        int ok;
        size_t k = cli_utf8_next(p + i, n - i, &ok, &c);

        /* Bytes that are no characters stay together: the rest of a character is one piece of hex. */
        if (!ok)
            while (i + k < n && (p[i + k] & 0xC0) == 0x80) k++;
        columns += put_character(out, p + i, k, ok, c, plain_blank);
        i += k;
    }
    return columns;
}

static const char *token_bytes(const dstok_tokenizer *tok, uint32_t id, size_t *n) {
    const void *bytes = "";

    *n = 0;
    return dstok_token_bytes(tok, id, &bytes, n) == DSTOK_OK ? bytes : "";
}

/* Black on two colours in turn; added tokens and parts of characters stand out. */
static const char *colour_of(const dstok_tokens *t, size_t i) {
    if (t->flags[i] & (DSTOK_FLAG_ADDED | DSTOK_FLAG_TEMPLATE)) return "\033[30;45m";
    if (t->flags[i] & DSTOK_FLAG_PARTIAL) return "\033[30;41m";
    return i % 2 ? "\033[30;43m" : "\033[30;46m";
}

void cli_pieces_flow(struct cli_buf *out, const dstok_tokenizer *tok, const dstok_tokens *tokens,
                     int colour) {
    int at_start = 1;
    size_t i, n;

    for (i = 0; i < tokens->n; i++) {
        const char *bytes = token_bytes(tok, tokens->ids[i], &n);

        if (colour)
            cli_buf_text(out, colour_of(tokens, i));
        else if (!at_start)
            cli_buf_text(out, "\u2502");
        (void)cli_piece(out, bytes, n, colour);
        if (colour) cli_buf_text(out, "\033[0m");
        at_start = n > 0 && bytes[n - 1] == '\n';
        if (at_start) cli_buf_char(out, '\n');
    }
    if (!at_start || tokens->n == 0) cli_buf_char(out, '\n');
}
