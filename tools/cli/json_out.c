/* SPDX-License-Identifier: MIT */
/* Writing of JSON, and stepping through text that may not be UTF-8. */
#include "cli.h"

#include <string.h>

/* Bytes that follow a lead byte and the range of the first of them (Unicode, table 3-7); 0 = not a lead
 * byte. */
static size_t lead_rule(unsigned char lead, unsigned char *low, unsigned char *high) {
    *low = 0x80;
    *high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) return 1;
    if (lead >= 0xE0 && lead <= 0xEF) {
        *low = lead == 0xE0 ? 0xA0 : 0x80;
        *high = lead == 0xED ? 0x9F : 0xBF;
        return 2;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        *low = lead == 0xF0 ? 0x90 : 0x80;
        *high = lead == 0xF4 ? 0x8F : 0xBF;
        return 3;
    }
    return 0;
}

size_t cli_utf8_next(const unsigned char *p, size_t n, int *ok, uint32_t *code) {
    unsigned char low, high;
    size_t i, more = lead_rule(p[0], &low, &high);

    *ok = 1;
    *code = p[0];
    if (p[0] < 0x80) return 1;
    *code = p[0] & (more == 1 ? 0x1Fu : more == 2 ? 0x0Fu : 0x07u);
    for (i = 1; i <= more && i < n && p[i] >= low && p[i] <= high; i++) {
        *code = *code << 6 | (p[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *ok = more > 0 && i == more + 1;
    return i;
}

static void escape(struct cli_buf *b, unsigned char c) {
    static const char names[] = "btn?fr"; /* 08 to 0D; 0B has no letter */

    if (c == '"' || c == '\\') {
        cli_buf_char(b, '\\');
        cli_buf_char(b, (char)c);
    } else if (c >= 0x08 && c <= 0x0D && c != 0x0B) {
        cli_buf_char(b, '\\');
        cli_buf_char(b, names[c - 0x08]);
    } else {
        cli_buf_printf(b, "\\u%04x", c);
    }
}

size_t cli_json_string(struct cli_buf *b, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    size_t i = 0, start = 0, bad = 0;

    cli_buf_char(b, '"');
    while (i < n) {
        uint32_t code;
        int ok;
        size_t k = cli_utf8_next(p + i, n - i, &ok, &code);

        if (!ok || code < 0x20 || code == '"' || code == '\\' || code == 0x7F) {
            cli_buf_add(b, p + start, i - start);
            start = i + k;
            if (ok)
                escape(b, p[i]);
            else
                cli_buf_text(b, "\xEF\xBF\xBD");
            bad += !ok;
        }
        i += k;
    }
    cli_buf_add(b, p + start, n - start);
    cli_buf_char(b, '"');
    return bad;
}

void cli_json_text(struct cli_buf *b, const char *text) {
    (void)cli_json_string(b, text, strlen(text));
}

void cli_json_hex(struct cli_buf *b, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    size_t i;

    cli_buf_char(b, '"');
    for (i = 0; i < n; i++) cli_buf_printf(b, "%02x", p[i]);
    cli_buf_char(b, '"');
}
