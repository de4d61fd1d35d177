/* SPDX-License-Identifier: MIT */
/* Reading values of a checked JSON text: skipping, strings with their escapes, numbers, items. */
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint32_t line_of(const dstok__json *doc, size_t at) {
    uint32_t line = 1;
    for (size_t i = 0; i < at && i < doc->n; i++) line += doc->data[i] == '\n';
    return line;
}

dstok_status dstok__json_fail(const dstok__json *doc, dstok_status status, size_t at, dstok_error *err,
                              const char *format, ...) {
    if (err == NULL) return status;
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return dstok__fail(err, status, at, line_of(doc, at), "%s%s", doc->name, text);
}

dstok__json_kind dstok__json_kind_at(const dstok__json *doc, size_t at) {
    switch (doc->data[at]) {
    case 'n':
        return DSTOK__JSON_NULL;
    case 'f':
        return DSTOK__JSON_FALSE;
    case 't':
        return DSTOK__JSON_TRUE;
    case '"':
        return DSTOK__JSON_STRING;
    case '[':
        return DSTOK__JSON_ARRAY;
    case '{':
        return DSTOK__JSON_OBJECT;
    default:
        return DSTOK__JSON_NUMBER;
    }
}

/* ---- skipping: the text is well-formed, so each of these ends inside it ---- */

static bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static size_t skip_space(const char *s, size_t i, size_t n) {
    while (i < n && is_space(s[i])) i++;
    return i;
}

static size_t skip_string(const char *s, size_t i) {
    for (i++; s[i] != '"'; i++) i += s[i] == '\\';
    return i + 1;
}

/* A number, true, false or null ends before one of these, or with the text. */
static size_t skip_bare(const char *s, size_t i, size_t n) {
    while (i < n && s[i] != ',' && s[i] != ']' && s[i] != '}' && !is_space(s[i])) i++;
    return i;
}

/* '[' and '{', and ']' and '}', differ in one bit. */
static size_t skip_container(const char *s, size_t i) {
    size_t depth = 0;
    for (;;) {
        while (s[i] == '"') i = skip_string(s, i);
        char c = (char)(s[i++] | 0x20);
        if (c == '{') depth++;
        if (c == '}' && --depth == 0) return i;
    }
}

static size_t skip_value(const dstok__json *doc, size_t at) {
    switch (dstok__json_kind_at(doc, at)) {
    case DSTOK__JSON_STRING:
        return skip_string(doc->data, at);
    case DSTOK__JSON_ARRAY:
    case DSTOK__JSON_OBJECT:
        return skip_container(doc->data, at);
    default:
        return skip_bare(doc->data, at, doc->n);
    }
}

/* ---- items ---- */

void dstok__json_iter_init(dstok__json_iter *it, const dstok__json *doc, size_t at) {
    *it = (dstok__json_iter){.doc = doc, .is_object = doc->data[at] == '{', .at = at};
}

bool dstok__json_next(dstok__json_iter *it) {
    const char *s = it->doc->data;
    size_t n = it->doc->n;
    size_t i = skip_space(s, it->value == 0 ? it->at + 1 : skip_value(it->doc, it->value), n);
    if (s[i] == ']' || s[i] == '}') return false;
    if (s[i] == ',') i = skip_space(s, i + 1, n);
    if (it->is_object) {
        it->key = i;
        i = skip_space(s, skip_string(s, i), n); /* the colon */
        i = skip_space(s, i + 1, n);
    }
    it->value = i;
    return true;
}

/* ---- scalars ---- */

bool dstok__json_uint(const dstok__json *doc, size_t at, uint32_t max, uint32_t *value) {
    size_t end = skip_value(doc, at);
    uint64_t v = 0;
    for (size_t i = at; i < end; i++) {
        char c = doc->data[i];
        if (c < '0' || c > '9') return false;
        v = v * 10 + (uint64_t)(c - '0');
        if (v > max) return false;
    }
    *value = (uint32_t)v;
    return true;
}

bool dstok__json_is_zero(const dstok__json *doc, size_t at) {
    if (dstok__json_kind_at(doc, at) != DSTOK__JSON_NUMBER) return false;
    size_t end = skip_value(doc, at);
    for (size_t i = at; i < end && doc->data[i] != 'e' && doc->data[i] != 'E'; i++) {
        if (doc->data[i] >= '1' && doc->data[i] <= '9') return false;
    }
    return true;
}

static uint32_t hex4(const char *s) {
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t c = (unsigned char)s[i];
        v = v * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return v;
}

/* Appends a code point as UTF-8. */
static dstok_status put_code(dstok__buf *out, uint32_t c) {
    uint8_t b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t leads[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6) b[i] = (uint8_t)(0x80 | (c & 0x3F));
    b[0] = (uint8_t)(leads[n] | c);
    return dstok__buf_append(out, b, n);
}

/* Appends what the escape at s stands for; *used gets its length. */
static dstok_status put_escape(dstok__buf *out, const char *s, size_t *used) {
    static const char names[] = "bfnrt", codes[] = "\b\f\n\r\t";
    *used = 2;
    if (s[1] != 'u') {
        const char *name = strchr(names, s[1]);
        return dstok__buf_push(out, (uint8_t)(name != NULL ? codes[name - names] : s[1]));
    }
    *used = 6;
    uint32_t c = hex4(s + 2);
    if (c >= 0xD800 && c < 0xDC00) {
        c = 0x10000 + ((c - 0xD800) << 10) + (hex4(s + 8) - 0xDC00);
        *used = 12;
    }
    return put_code(out, c);
}

dstok_status dstok__json_string(const dstok__json *doc, size_t at, dstok__buf *scratch, const char **text,
                                size_t *n) {
    const char *s = doc->data + at + 1;
    size_t len = skip_string(doc->data, at) - at - 2;
    *text = s;
    *n = len;
    const char *escape = memchr(s, '\\', len);
    if (escape == NULL) return DSTOK_OK;
    scratch->len = 0;
    for (size_t i = 0; i < len;) {
        size_t run = escape == NULL ? len - i : (size_t)(escape - s) - i, used = 0;
        DSTOK_TRY(dstok__buf_append(scratch, s + i, run));
        i += run;
        if (escape == NULL) break;
        DSTOK_TRY(put_escape(scratch, s + i, &used));
        i += used;
        escape = memchr(s + i, '\\', len - i);
    }
    *text = (const char *)scratch->data;
    *n = scratch->len;
    return DSTOK_OK;
}
