/* SPDX-License-Identifier: MIT */
/* The check of a whole JSON text: one pass, a bit of state for each open level, every error with its place. */
#include "json.h"
#include "spec.h"

#include <string.h>

_Static_assert(DSTOK__MAX_JSON_DEPTH <= 64, "one bit of objects for each level");

/* Where the check stands. */
typedef struct checker {
    const dstok__json *doc;
    const unsigned char *s;
    size_t n, i;
    uint64_t objects; /* bit d: level d is an object */
    unsigned depth;
    dstok_error *err;
} checker;

static dstok_status bad(checker *c, size_t at, const char *what) {
    return dstok__json_fail(c->doc, DSTOK_E_FORMAT, at, c->err, "not JSON: %s", what);
}

static dstok_status cut_off(checker *c, const char *where) {
    return dstok__json_fail(c->doc, DSTOK_E_TRUNCATED, c->n, c->err, "the file ends inside %s", where);
}

static void skip_space(checker *c) {
    while (c->i < c->n &&
           (c->s[c->i] == ' ' || c->s[c->i] == '\n' || c->s[c->i] == '\r' || c->s[c->i] == '\t'))
        c->i++;
}

/* The length of the UTF-8 character at s, n > 0 bytes left, or 0. */
static size_t character(const unsigned char *s, size_t n) {
    size_t len = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (len == 0 || len > n) return 0;
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
    }
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0; /* longer than need be */
    if (s[0] == 0xED && s[1] > 0x9F) return 0; /* surrogate */
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] > 0x8F) return 0; /* above U+10FFFF */
    return len;
}

/* The four hex digits of the \u at `at`, six bytes of the text; *value gets them. */
static bool hex4(const checker *c, size_t at, uint32_t *value) {
    uint32_t v = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        unsigned char d = c->s[i], low = d | 0x20;
        if (d >= '0' && d <= '9') {
            v = v * 16 + (uint32_t)(d - '0');
        } else if (low >= 'a' && low <= 'f') {
            v = v * 16 + (uint32_t)(low - 'a' + 10);
        } else {
            return false;
        }
    }
    *value = v;
    return true;
}

/* The escape at c->i, a backslash. */
static dstok_status check_escape(checker *c) {
    uint32_t high, low;
    size_t at = c->i;
    if (c->n - at < 2) return cut_off(c, "a string");
    if (c->s[at + 1] != 'u') {
        if (strchr("\"\\/bfnrt", c->s[at + 1]) == NULL || c->s[at + 1] == 0)
            return bad(c, at, "unknown escape");
        c->i += 2;
        return DSTOK_OK;
    }
    if (c->n - at < 6) return cut_off(c, "a string");
    if (!hex4(c, at, &high)) return bad(c, at, "\\u needs four hex digits");
    c->i += 6;
    if (high < 0xD800 || high > 0xDFFF) return DSTOK_OK;
    bool paired = high < 0xDC00 && c->n - c->i >= 6 && c->s[c->i] == '\\' && c->s[c->i + 1] == 'u' &&
                  hex4(c, c->i, &low) && low >= 0xDC00 && low <= 0xDFFF;
    if (!paired) return bad(c, at, "half of a surrogate pair");
    c->i += 6;
    return DSTOK_OK;
}

static dstok_status check_string(checker *c) {
    for (c->i++; c->i < c->n;) {
        unsigned char b = c->s[c->i];
        if (b == '"') {
            c->i++;
            return DSTOK_OK;
        }
        if (b == '\\') {
            DSTOK_TRY(check_escape(c));
        } else if (b < 0x20) {
            return bad(c, c->i, "a control character inside a string");
        } else if (b < 0x80) {
            c->i++;
        } else {
            size_t len = character(c->s + c->i, c->n - c->i);
            if (len == 0)
                return dstok__json_fail(c->doc, DSTOK_E_UTF8, c->i, c->err, "a string is not valid UTF-8");
            c->i += len;
        }
    }
    return cut_off(c, "a string");
}

/* At least one digit. */
static dstok_status check_digits(checker *c) {
    size_t begin = c->i;
    while (c->i < c->n && c->s[c->i] >= '0' && c->s[c->i] <= '9') c->i++;
    if (c->i > begin) return DSTOK_OK;
    return c->i == c->n ? cut_off(c, "a number") : bad(c, c->i, "a number without a digit");
}

static dstok_status check_number(checker *c) {
    if (c->s[c->i] == '-') c->i++;
    size_t begin = c->i;
    DSTOK_TRY(check_digits(c));
    if (c->s[begin] == '0' && c->i - begin > 1) return bad(c, begin, "a number with a leading zero");
    if (c->i < c->n && c->s[c->i] == '.') {
        c->i++;
        DSTOK_TRY(check_digits(c));
    }
    if (c->i < c->n && (c->s[c->i] == 'e' || c->s[c->i] == 'E')) {
        c->i++;
        if (c->i < c->n && (c->s[c->i] == '+' || c->s[c->i] == '-')) c->i++;
        DSTOK_TRY(check_digits(c));
    }
    return DSTOK_OK;
}

static dstok_status check_word(checker *c, const char *word) {
    size_t n = strlen(word), left = c->n - c->i;
    if (memcmp(c->s + c->i, word, left < n ? left : n) != 0) return bad(c, c->i, "unknown word");
    if (left < n) return cut_off(c, "a word");
    c->i += n;
    return DSTOK_OK;
}

static dstok_status check_scalar(checker *c) {
    unsigned char b = c->s[c->i];
    if (b == '"') return check_string(c);
    if (b == '-' || (b >= '0' && b <= '9')) return check_number(c);
    if (b == 'n') return check_word(c, "null");
    if (b == 't') return check_word(c, "true");
    if (b == 'f') return check_word(c, "false");
    return bad(c, c->i, "expected a value");
}

/* The member's name and colon at c->i, up to its value. */
static dstok_status check_key(checker *c) {
    skip_space(c);
    if (c->i == c->n) return cut_off(c, "an object");
    if (c->s[c->i] != '"') return bad(c, c->i, "expected a name in quotes");
    DSTOK_TRY(check_string(c));
    skip_space(c);
    if (c->i == c->n) return cut_off(c, "an object");
    if (c->s[c->i] != ':') return bad(c, c->i, "expected a colon behind a name");
    c->i++;
    return DSTOK_OK;
}

static bool in_object(const checker *c) {
    return (c->objects >> (c->depth - 1) & 1) != 0;
}

/* Goes into the container at c->i; *empty when it is closed at once (then it is left again). */
static dstok_status enter(checker *c, bool *empty) {
    bool object = c->s[c->i] == '{';
    if (c->depth == DSTOK__MAX_JSON_DEPTH)
        return dstok__json_fail(c->doc, DSTOK_E_LIMIT, c->i, c->err, "JSON nested deeper than %u levels",
                                DSTOK__MAX_JSON_DEPTH);
    c->objects = (c->objects & ~((uint64_t)1 << c->depth)) | (uint64_t)object << c->depth;
    c->depth++;
    c->i++;
    skip_space(c);
    *empty = c->i < c->n && c->s[c->i] == (object ? '}' : ']');
    if (!*empty) return object ? check_key(c) : DSTOK_OK;
    c->i++;
    c->depth--;
    return DSTOK_OK;
}

/* Behind a value: closes levels until a comma (then up to the next value) or the end of the outermost. */
static dstok_status leave(checker *c) {
    while (c->depth > 0) {
        skip_space(c);
        if (c->i == c->n) return cut_off(c, in_object(c) ? "an object" : "an array");
        if (c->s[c->i] == ',') {
            c->i++;
            return in_object(c) ? check_key(c) : DSTOK_OK;
        }
        if (c->s[c->i] != (in_object(c) ? '}' : ']'))
            return bad(c, c->i, in_object(c) ? "expected ',' or '}'" : "expected ',' or ']'");
        c->i++;
        c->depth--;
    }
    return DSTOK_OK;
}

/* One value with all that is in it. */
static dstok_status check_value(checker *c) {
    do {
        skip_space(c);
        if (c->i == c->n) return cut_off(c, c->depth > 0 && in_object(c) ? "an object" : "an array");
        if (c->s[c->i] == '{' || c->s[c->i] == '[') {
            bool empty = false;
            DSTOK_TRY(enter(c, &empty));
            if (!empty) continue;
        } else {
            DSTOK_TRY(check_scalar(c));
        }
        DSTOK_TRY(leave(c));
    } while (c->depth > 0);
    return DSTOK_OK;
}

dstok_status dstok__json_open(dstok__json *doc, const char *data, size_t n, const char *name,
                              dstok_error *err) {
    *doc = (dstok__json){.data = data, .n = n, .name = name};
    checker c = {.doc = doc, .s = (const unsigned char *)data, .n = n, .err = err};
    if (n > DSTOK__MAX_FILE)
        return dstok__json_fail(doc, DSTOK_E_LIMIT, 0, err, "the file has more than %zu bytes",
                                DSTOK__MAX_FILE);
    doc->has_bom = n >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0;
    if (doc->has_bom) c.i = 3;
    skip_space(&c);
    if (c.i == n) return dstok__json_fail(doc, DSTOK_E_TRUNCATED, n, err, "the file is empty");
    doc->root = c.i;
    DSTOK_TRY(check_value(&c));
    skip_space(&c);
    if (c.i < n) return bad(&c, c.i, "something stands behind the end of the value");
    return DSTOK_OK;
}
