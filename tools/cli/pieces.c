/* SPDX-License-Identifier: MIT */
/* Tokens made visible on a terminal. */
#include "pieces.h"

#include <string.h>

struct range {
    uint32_t first, last;
};

static int is_in(const struct range *r, size_t n, uint32_t c) {
    size_t i;

    for (i = 0; i < n; i++)
        if (c >= r[i].first && c <= r[i].last) return 1;
    return 0;
}

/* Two columns on most terminals. A rough table: only the look of a column depends on it. */
static int is_wide(uint32_t c) {
    static const struct range wide[] = {
        {0x1100, 0x115F}, {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
        {0xA000, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
        {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD},
    };

    return is_in(wide, sizeof wide / sizeof *wide, c);
}

/* Marks that stand on the character before them. */
static int is_mark(uint32_t c) {
    static const struct range marks[] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
        {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D},
        {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
        {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    };

    return is_in(marks, sizeof marks / sizeof *marks, c);
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
    return is_mark(c) ? 0 : is_wide(c) ? 2 : 1;
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
