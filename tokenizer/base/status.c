/* SPDX-License-Identifier: MIT */
/* Names of status codes and the one place where error details are written. */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *dstok_status_name(dstok_status status) {
    switch (status) {
#define NAME(s)                                                                                              \
    case s:                                                                                                  \
        return #s
        NAME(DSTOK_OK);
        NAME(DSTOK_E_INVAL);
        NAME(DSTOK_E_STATE);
        NAME(DSTOK_E_RANGE);
        NAME(DSTOK_E_SPACE);
        NAME(DSTOK_E_NOMEM);
        NAME(DSTOK_E_IO);
        NAME(DSTOK_E_LIMIT);
        NAME(DSTOK_E_CANCELED);
        NAME(DSTOK_E_UTF8);
        NAME(DSTOK_E_FORMAT);
        NAME(DSTOK_E_VERSION);
        NAME(DSTOK_E_CHECKSUM);
        NAME(DSTOK_E_TRUNCATED);
        NAME(DSTOK_E_UNSUPPORTED);
        NAME(DSTOK_E_SPECIAL);
        NAME(DSTOK_E_UNKNOWN);
        NAME(DSTOK_E_BAD_ID);
        NAME(DSTOK_E_DUPLICATE);
#undef NAME
    default:
        return "DSTOK_E_?";
    }
}

/* Removes a character that snprintf cut in its middle from the end of text. */
static void drop_cut_character(char *text) {
    size_t n = strlen(text), i = n;
    while (i > 0 && ((unsigned char)text[i - 1] & 0xC0) == 0x80) i--;
    if (i == 0) return;
    unsigned char lead = (unsigned char)text[i - 1];
    size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (n - (i - 1) < want) text[i - 1] = '\0';
}

dstok_status dstok__fail(dstok_error *err, dstok_status status, uint64_t offset, uint32_t line,
                         const char *format, ...) {
    if (err == NULL) return status;
    err->status = status;
    err->offset = offset;
    err->line = line;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (n < 0) err->text[0] = '\0';
    if (n >= (int)sizeof err->text) drop_cut_character(err->text);
    return status;
}

/* Bytes of the well-formed multi-byte character at s[0, n); 0 when there is none. */
static size_t character_at(const unsigned char *s, size_t n) {
    size_t want = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || want > n) return 0;
    for (size_t i = 1; i < want; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool too_high = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    bool c1_control = s[0] == 0xC2 && s[1] < 0xA0;
    return overlong || too_high || c1_control ? 0 : want;
}

const char *dstok__quote(const void *text, size_t n, char *out, size_t cap) {
    const unsigned char *s = text;
    size_t w = 0;
    for (size_t i = 0, step; i < n; i += step) {
        char piece[8];
        size_t len = step = s[i] < 0x80 ? 1 : character_at(s + i, n - i);
        if (step == 0 || s[i] < 0x20 || s[i] == 0x7F) {
            step = 1;
            len = (size_t)snprintf(piece, sizeof piece, "\\x%02X", s[i]);
        } else if (s[i] == '"' || s[i] == '\\') {
            len = (size_t)snprintf(piece, sizeof piece, "\\%c", s[i]);
        } else {
            memcpy(piece, s + i, step);
        }
        if (w + len + 4 > cap) {
            memcpy(out + w, "...", 4);
            return out;
        }
        memcpy(out + w, piece, len);
        w += len;
    }
    out[w] = '\0';
    return out;
}
