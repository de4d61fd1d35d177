/* SPDX-License-Identifier: MIT */
/* JSON read byte by byte. */
#include "json_plain.h"

#include <string.h>

/* A cursor with the end and the first fault. */
struct scan {
    const char *p, *end;
    const char *why;
};

static int is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void skip_blanks(struct scan *s) {
    while (s->p < s->end && is_blank(*s->p)) s->p++;
}

static int fault(struct scan *s, const char *why) {
    if (s->why == NULL) s->why = s->p < s->end ? why : "the text ends inside a JSON value";
    return 0;
}

static int skip_escape(struct scan *s) {
    int i;

    if (++s->p == s->end) return fault(s, "");
    if (*s->p != 'u') {
        if (strchr("\"\\/bfnrt", *s->p) == NULL || *s->p == '\0')
            return fault(s, "unknown escape in a string");
        s->p++;
        return 1;
    }
    s->p++;
    for (i = 0; i < 4; i++, s->p++)
        if (s->p == s->end || hex_value(*s->p) < 0) return fault(s, "\\u wants four hex digits");
    return 1;
}

static int skip_string(struct scan *s) {
    s->p++;
    while (s->p < s->end && *s->p != '"') {
        if ((unsigned char)*s->p < 0x20)
            return fault(s, "a control character in a string must be written as an escape");
        if (*s->p != '\\')
            s->p++;
        else if (!skip_escape(s))
            return 0;
    }
    if (s->p == s->end) return fault(s, "");
    s->p++;
    return 1;
}

static int skip_digits(struct scan *s) {
    if (s->p == s->end || !is_digit(*s->p)) return fault(s, "a digit is missing in a number");
    while (s->p < s->end && is_digit(*s->p)) s->p++;
    return 1;
}

static int skip_number(struct scan *s) {
    if (*s->p == '-') s->p++;
    if (s->p < s->end && *s->p == '0')
        s->p++;
    else if (!skip_digits(s))
        return 0;
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        if (!skip_digits(s)) return 0;
    }
    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        if (s->p < s->end && (*s->p == '+' || *s->p == '-')) s->p++;
        return skip_digits(s);
    }
    return 1;
}

static int skip_word(struct scan *s, const char *word) {
    size_t n = strlen(word);

    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0) return fault(s, "not a JSON value");
    s->p += n;
    return 1;
}

/* A value without parts. */
static int skip_scalar(struct scan *s) {
    if (*s->p == '"') return skip_string(s);
    if (*s->p == '-' || is_digit(*s->p)) return skip_number(s);
    return skip_word(s, *s->p == 't' ? "true" : *s->p == 'f' ? "false" : "null");
}

static int skip_key(struct scan *s) {
    skip_blanks(s);
    if (s->p == s->end || *s->p != '"') return fault(s, "a key in quotes is wanted");
    if (!skip_string(s)) return 0;
    skip_blanks(s);
    if (s->p == s->end || *s->p != ':') return fault(s, "':' is missing after a key");
    s->p++;
    skip_blanks(s);
    return 1;
}

/* After a value at `depth`: leave containers that end here, or go to the next value. */
static int after_value(struct scan *s, const char *kinds, size_t *depth) {
    while (*depth > 0) {
        int in_object = kinds[*depth - 1] == '{';

        skip_blanks(s);
        if (s->p < s->end && *s->p == ',') {
            s->p++;
            skip_blanks(s);
            return in_object ? skip_key(s) : 1;
        }
        if (s->p == s->end || *s->p != (in_object ? '}' : ']'))
            return fault(s, in_object ? "',' or '}' is missing" : "',' or ']' is missing");
        s->p++;
        (*depth)--;
    }
    return 1;
}

/* Step over one value, whatever it holds. */
static int skip_value(struct scan *s) {
    char kinds[PLAIN_MAX_DEPTH];
    size_t depth = 0;

    do {
        if (s->p == s->end) return fault(s, "");
        if (*s->p == '{' || *s->p == '[') {
            if (depth == PLAIN_MAX_DEPTH) return fault(s, "more than 1000 values inside one another");
            kinds[depth++] = *s->p++;
            skip_blanks(s);
            if (s->p < s->end && *s->p == (kinds[depth - 1] == '{' ? '}' : ']')) {
                s->p++;
                depth--;
            } else {
                if (kinds[depth - 1] == '{' && !skip_key(s)) return 0;
                continue;
            }
        } else if (!skip_scalar(s)) {
            return 0;
        }
        if (!after_value(s, kinds, &depth)) return 0;
    } while (depth > 0);
    return 1;
}

const char *plain_json_check(const char *text, size_t n, struct plain_json *value, size_t *where) {
    struct scan s = {text, text + n, NULL};

    skip_blanks(&s);
    value->p = s.p;
    if (skip_value(&s)) {
        value->n = (size_t)(s.p - value->p);
        skip_blanks(&s);
        if (s.p == s.end) return NULL;
        s.why = "more text behind the JSON value";
    }
    *where = (size_t)(s.p - text);
    return s.why;
}

static uint32_t hex4(const char *p) {
    return (uint32_t)(hex_value(p[0]) << 12 | hex_value(p[1]) << 8 | hex_value(p[2]) << 4 | hex_value(p[3]));
}

static void put_code(struct cli_buf *out, uint32_t c) {
    char u[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

    for (i = n; i-- > 1; c >>= 6) u[i] = (char)(0x80 | (c & 0x3F));
    u[0] = (char)(n == 1 ? c : (0xF00u >> n & 0xFFu) | c);
    cli_buf_add(out, u, n);
}

/* The character of an escape at p; its length in *used. A lone surrogate gives its own value. */
static uint32_t escape_value(const char *p, size_t n, size_t *used) {
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *letter;
    uint32_t c, low;

    *used = 2;
    if (p[1] != 'u') {
        letter = strchr(from, p[1]);
        return (unsigned char)(letter ? to[letter - from] : p[1]);
    }
    *used = 6;
    c = hex4(p + 2);
    if (c < 0xD800 || c > 0xDBFF || n < 12 || p[6] != '\\' || p[7] != 'u') return c;
    low = hex4(p + 8);
    if (low < 0xDC00 || low > 0xDFFF) return c;
    *used = 12;
    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

int plain_json_copy_string(struct plain_json string, int replace, struct cli_buf *out, size_t *where) {
    const char *p = string.p + 1, *end = string.p + string.n - 1;

    cli_buf_reserve(out, string.n);
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t used;
        uint32_t c;

        cli_buf_add(out, p, (size_t)((slash ? slash : end) - p));
        if (slash == NULL) break;
        c = escape_value(slash, (size_t)(end - slash), &used);
        if (c >= 0xD800 && c <= 0xDFFF) {
            *where = (size_t)(slash - string.p);
            if (!replace) return -1;
            c = 0xFFFD;
        }
        put_code(out, c);
        p = slash + used;
    }
    return 0;
}

/* How much of `key` a key of the text covers: all of it, a part that a dot follows (0 < result < n), or
 * nothing. */
static size_t key_covers(struct plain_json name, const char *key, size_t n) {
    struct cli_buf plain = {0};
    const char *text = name.p + 1;
    size_t length = name.n - 2, where, covered = 0;

    if (memchr(text, '\\', length) != NULL) {
        (void)plain_json_copy_string(name, 1, &plain, &where);
        text = plain.p;
        length = plain.n;
    }
    if (length > 0 && length <= n && memcmp(text, key, length) == 0)
        covered = length == n || key[length] == '.' ? length : 0;
    cli_buf_free(&plain);
    return covered;
}

/* One level of plain_json_find. *rest becomes the part of the key that is left for the object found. */
static struct plain_json find_here(struct plain_json object, const char *key, size_t n, size_t *rest) {
    struct scan s = {object.p + 1, object.p + object.n - 1, NULL};
    struct plain_json whole = {NULL, 0}, inner = {NULL, 0};
    size_t covered, inner_covered = 0;

    skip_blanks(&s);
    while (s.p < s.end) {
        struct plain_json name = {s.p, 0}, value;

        (void)skip_string(&s);
        name.n = (size_t)(s.p - name.p);
        covered = key_covers(name, key, n);
        skip_blanks(&s);
        s.p++; /* ':' */
        skip_blanks(&s);
        value.p = s.p;
        (void)skip_value(&s);
        value.n = (size_t)(s.p - value.p);
        if (covered == n) {
            whole = value;
        } else if (covered > 0 && value.p[0] == '{') {
            inner = value;
            inner_covered = covered + 1;
        } else if (covered > 0 && inner_covered == covered + 1) { /* of equal keys the last counts */
            inner = (struct plain_json){NULL, 0};
        }
        skip_blanks(&s);
        if (s.p < s.end) s.p++; /* ',' */
        skip_blanks(&s);
    }
    *rest = whole.p ? n : inner_covered;
    return whole.p ? whole : inner;
}

struct plain_json plain_json_find(struct plain_json object, const char *key, size_t key_length) {
    size_t rest = 0;

    while (object.p != NULL && key_length > 0) {
        object = find_here(object, key, key_length, &rest);
        key += rest;
        key_length -= rest;
    }
    return object;
}
