/* SPDX-License-Identifier: MIT */
/* The pass over a line: simd/ tells where tokens begin; a small state machine goes through them in order. */
#include "jsonl.h"

#include <string.h>

#define WINDOW 64u /* blocks that are looked at together */

const char dstok__jsonl_too_deep[] = "more than 1000 values inside one another";
static const char at_end[] = "the text ends inside a JSON value";

/* What comes next. */
typedef enum state {
    VALUE,
    VALUE_OR_END, /* behind [ */
    KEY,
    KEY_OR_END, /* behind { */
    COLON,
    AFTER,    /* a value has ended */
    IN_KEY,   /* the quote that ends a key */
    IN_STRING /* ... or a value */
} state;

typedef struct walker {
    dstok__jsonl_scan *scan;
    const uint8_t *text;
    size_t len;
    state state;
    unsigned depth;
    uint64_t objects[DSTOK__JSONL_MAX_DEPTH / 64 + 1]; /* bit d: level d is an object, else an array */
    size_t token;                                      /* where the open string begins */
    size_t value;   /* where the open member of the outermost value begins */
    bool is_wanted; /* some want covers its key */
} walker;

static bool fault(walker *w, size_t at, const char *why) {
    w->scan->where = at < w->len ? at : w->len;
    w->scan->why = at < w->len ? why : at_end;
    return false;
}

/* ---- members of the outermost object ---- */

/* How much of the key that is looked for a key covers: all of it, a part with a dot behind it, or nothing. */
static size_t covered(const dstok__jsonl_want *want, const uint8_t *key, size_t n) {
    if (n == 0 || n > want->n || memcmp(key, want->key, n) != 0) return 0;
    return n == want->n || want->key[n] == '.' ? n : 0;
}

static void read_key(walker *w, size_t end) {
    dstok__jsonl_scan *s = w->scan;
    const uint8_t *key = w->text + w->token + 1;
    size_t n = end - w->token - 1;
    if (n > s->name_cap) return;
    if (n > 0 && memchr(key, '\\', n) != NULL) {
        dstok__jsonl_unescape(s->simd, key, n, true, s->name, &n);
        key = s->name;
    }
    for (size_t k = 0; k < s->n_wants; k++) {
        s->wants[k].covers = covered(&s->wants[k], key, n);
        w->is_wanted |= s->wants[k].covers > 0;
    }
}

static void keep_value(walker *w, size_t end) {
    for (size_t k = 0; k < w->scan->n_wants; k++) {
        dstok__jsonl_want *want = &w->scan->wants[k];
        if (want->covers == 0) continue;
        if (want->covers == want->n) {
            want->whole = (dstok__part){w->value, end};
        } else if (w->text[w->value] == '{') {
            want->inner = (dstok__part){w->value, end};
            want->inner_n = want->covers + 1;
        } else if (want->inner_n == want->covers + 1) { /* of equal keys the last counts */
            want->inner = (dstok__part){0, 0};
        }
    }
    w->is_wanted = false;
}

/* ---- values ---- */

static bool in_object(const walker *w) {
    return (w->objects[(w->depth - 1) / 64] >> ((w->depth - 1) % 64) & 1) != 0;
}

static bool value_ended(walker *w, size_t end) {
    w->state = AFTER;
    if (w->is_wanted && w->depth == 1) keep_value(w, end);
    return true;
}

static bool open_container(walker *w, size_t at, bool is_object) {
    if (w->depth == DSTOK__JSONL_MAX_DEPTH) return fault(w, at, dstok__jsonl_too_deep);
    uint64_t bit = (uint64_t)1 << (w->depth % 64), *word = &w->objects[w->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    w->depth++;
    w->state = is_object ? KEY_OR_END : VALUE_OR_END;
    return true;
}

static bool close_container(walker *w, size_t at) {
    w->depth--;
    return value_ended(w, at + 1);
}

static bool is_digit(const walker *w, size_t i) {
    return i < w->len && w->text[i] >= '0' && w->text[i] <= '9';
}

/* At least one digit; moves behind them. */
static bool digits(walker *w, size_t *i) {
    if (!is_digit(w, *i)) return fault(w, *i, "a digit is missing in a number");
    while (is_digit(w, *i)) ++*i;
    return true;
}

static bool is_byte(const walker *w, size_t i, char a, char b) {
    return i < w->len && (w->text[i] == a || w->text[i] == b);
}

static bool number(walker *w, size_t *i) {
    if (w->text[*i] == '-') ++*i;
    if (is_byte(w, *i, '0', '0'))
        ++*i;
    else if (!digits(w, i))
        return false;
    if (is_byte(w, *i, '.', '.')) {
        ++*i;
        if (!digits(w, i)) return false;
    }
    if (!is_byte(w, *i, 'e', 'E')) return true;
    ++*i;
    if (is_byte(w, *i, '+', '-')) ++*i;
    return digits(w, i);
}

static bool name(walker *w, size_t *i) {
    const char *word = w->text[*i] == 't' ? "true" : w->text[*i] == 'f' ? "false" : "null";
    size_t n = strlen(word);
    if (w->len - *i < n || memcmp(w->text + *i, word, n) != 0) return fault(w, *i, "not a JSON value");
    *i += n;
    return true;
}

/* Behind a value: the next one, or the end of the container. */
static bool after_value(walker *w, size_t at) {
    if (w->depth == 0) return fault(w, at, "more text behind the JSON value");
    bool is_object = in_object(w);
    if (w->text[at] == ',') {
        w->state = is_object ? KEY : VALUE;
        return true;
    }
    if (w->text[at] == (is_object ? '}' : ']')) return close_container(w, at);
    return fault(w, at, is_object ? "',' or '}' is missing" : "',' or ']' is missing");
}

/* Whether a byte may stand behind a number or a name: a blank, or what is a token of its own. */
static bool ends_name(uint8_t c) {
    return c == ' ' || c == ',' || c == '}' || c == ']' || c == '\t' || c == '\n' || c == '\r' || c == '"' ||
           c == '{' || c == '[' || c == ':';
}

/* A value without quotes. */
static bool bare_value(walker *w, size_t at) {
    size_t end = at;
    bool is_number = w->text[at] == '-' || is_digit(w, at);
    if (!(is_number ? number(w, &end) : name(w, &end))) return false;
    value_ended(w, end);
    return end == w->len || ends_name(w->text[end]) || after_value(w, end);
}

static bool begin_value(walker *w, size_t at) {
    if (w->depth == 1) w->value = at;
    switch (w->text[at]) {
    case '"':
        w->token = at;
        w->state = IN_STRING;
        return true;
    case '{':
        return open_container(w, at, true);
    case '[':
        return open_container(w, at, false);
    default:
        return bare_value(w, at);
    }
}

static bool begin_key(walker *w, size_t at) {
    if (w->text[at] != '"') return fault(w, at, "a key in quotes is wanted");
    w->token = at;
    w->state = IN_KEY;
    return true;
}

/* The next token begins at `at`. */
static bool step(walker *w, size_t at) {
    switch (w->state) {
    case VALUE_OR_END:
        if (w->text[at] == ']') return close_container(w, at);
        return begin_value(w, at);
    case VALUE:
        return begin_value(w, at);
    case KEY_OR_END:
        if (w->text[at] == '}') return close_container(w, at);
        return begin_key(w, at);
    case KEY:
        return begin_key(w, at);
    case IN_KEY:
        if (w->depth == 1) read_key(w, at);
        w->state = COLON;
        return true;
    case COLON:
        w->state = VALUE;
        return w->text[at] == ':' || fault(w, at, "':' is missing after a key");
    case IN_STRING:
        return value_ended(w, at + 1);
    default:
        return after_value(w, at);
    }
}

/* ---- inside of strings ---- */

/* What is wrong with a byte of the string that is open, the first one that is. */
static const char *string_fault(const walker *w, size_t at) {
    for (size_t i = w->token + 1; i < at; i++) {
        if (w->text[i] != '\\') continue;
        if (++i == at) return "unknown escape in a string";
        if (w->text[i] == 'u' && at - i <= 4) return "\\u wants four hex digits";
    }
    return "a control character in a string must be written as an escape";
}

/* ---- blocks ---- */

/* The tokens in order, up to the first fault inside of a string. */
static bool walk_block(walker *w, const dstok__json_block *b, size_t base) {
    uint64_t tokens = b->tokens;
    if (b->faults != 0) tokens &= (b->faults & (0 - b->faults)) - 1;
    for (; tokens != 0; tokens &= tokens - 1) {
        if (!step(w, base + (size_t)__builtin_ctzll(tokens))) return false;
    }
    if (b->faults == 0) return true;
    size_t at = base + (size_t)__builtin_ctzll(b->faults);
    return fault(w, at, at < w->len ? string_fault(w, at) : at_end);
}

static bool walk(walker *w) {
    dstok__json_block blocks[WINDOW];
    dstok__json_state from = {0, 0, 0, 0}; /* what goes from block to block */
    const dstok__simd *simd = w->scan->simd;
    size_t base = 0;
    while (w->len - base >= 64) {
        size_t n = (w->len - base) / 64;
        if (n > WINDOW) n = WINDOW;
        simd->json_tokens(w->text + base, n, &from, blocks);
        for (size_t k = 0; k < n; k++, base += 64) {
            if ((blocks[k].tokens | blocks[k].faults) != 0 && !walk_block(w, blocks + k, base)) return false;
        }
    }
    uint8_t rest[64]; /* what is left, and blanks */
    memset(rest, ' ', sizeof rest);
    memcpy(rest, w->text + base, w->len - base);
    simd->json_tokens(rest, 1, &from, blocks);
    if (!walk_block(w, blocks, base)) return false;
    return (w->state == AFTER && w->depth == 0) || fault(w, w->len, at_end);
}

bool dstok__jsonl_scan_line(dstok__jsonl_scan *s, const uint8_t *text, size_t len) {
    walker w;
    memset(&w, 0, sizeof w);
    w.scan = s;
    w.text = text;
    w.len = len;
    s->why = NULL;
    s->where = 0;
    for (size_t k = 0; k < s->n_wants; k++) {
        s->wants[k].whole = s->wants[k].inner = (dstok__part){0, 0};
        s->wants[k].covers = 0;
    }
    return walk(&w);
}
