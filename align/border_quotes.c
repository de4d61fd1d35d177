/* SPDX-License-Identifier: MIT */
/* Quotes and brackets of a line. The same sign opens in one language and closes in another: what stands
 * beside it tells, where that tells anything, and its own direction where not. */
#include "border_quotes.h"

enum { OPENS = 1, CLOSES = 2 };

typedef struct state {
    unsigned brackets, quotes, titles;
    bool is_low; /* the open quote began with the low sign: U+201C closes it */
} state;

static bool is_double_quote(uint32_t cp) {
    return cp == '"' || cp == 0xAB || cp == 0xBB || (cp >= 0x201C && cp <= 0x201F) || cp == 0x300C ||
           cp == 0x300D || cp == 0x300E || cp == 0x300F || cp == 0xFF02 || cp == 0x301D || cp == 0x301E ||
           cp == 0x301F || cp == 0xFF62 || cp == 0xFF63;
}

/* By its own direction; 0 for the straight ones. */
static int own_direction(const character *c) {
    if (category(c) == DSTOK_GC_PS || category(c) == DSTOK_GC_PI) return OPENS;
    return category(c) == DSTOK_GC_PE || category(c) == DSTOK_GC_PF ? CLOSES : 0;
}

/* A straight quote between letters, as in Chinese: behind a colon or comma it opens, before one it closes,
 * and else it is the other one of a pair. */
static int straight_direction(const state *s, const character *last, const character *next) {
    if (last->sb == DSTOK_SB_CONTINUE) return OPENS;
    if (next->sb == DSTOK_SB_CONTINUE || last->sb == DSTOK_SB_STERM || last->sb == DSTOK_SB_ATERM)
        return CLOSES;
    return s->quotes > 0 ? CLOSES : OPENS;
}

static int direction(const state *s, const character *last, const character *c, const character *next) {
    int own = own_direction(c);
    if (c->cp >= 0x3000 && c->cp != 0xFF02) return own;
    if (c->cp == 0x201C && s->is_low && s->quotes > 0) return CLOSES;
    bool is_left = is_none(last) || is_blank(last) || category(last) == DSTOK_GC_PS;
    bool is_right = is_none(next) || is_blank(next) || is_line_break(next) ||
                    (in_set(next, DSTOK_UC_P) && next->sb != DSTOK_SB_CLOSE);
    if (is_left && !is_right) return OPENS;
    if (!is_left && is_right) return CLOSES;
    return own != 0 ? own : straight_direction(s, last, next);
}

static void count(unsigned *n, int direction) {
    if (direction == OPENS)
        ++*n;
    else if (*n > 0)
        --*n;
}

static void take(state *s, const character *last, const character *c, const character *next) {
    if (is_double_quote(c->cp)) {
        int way = direction(s, last, c, next);
        if (way == OPENS) s->is_low = c->cp == 0x201E;
        count(&s->quotes, way);
    } else if (c->cp == 0x300A || c->cp == 0x3008) {
        s->titles++;
    } else if (c->cp == 0x300B || c->cp == 0x3009) {
        count(&s->titles, CLOSES);
    } else if (category(c) == DSTOK_GC_PS || category(c) == DSTOK_GC_PE) {
        if (c->cp != 0x201A) count(&s->brackets, category(c) == DSTOK_GC_PS ? OPENS : CLOSES);
    }
}

/* Where the line begins, as far as it is reached. */
static size_t line_begin(const reach *r, size_t at) {
    size_t begin = at;
    while (begin > r->from) {
        uint8_t c = r->text[begin - 1];
        if (c >= 0x0A && c <= 0x0D) break;
        begin--;
    }
    return begin;
}

quote_depth dstok__quote_depth(const reach *r, size_t at) {
    state s = {0};
    reach line = {r->text, line_begin(r, at), r->to};
    character last = dstok__char_last(&line, line.from);
    for (size_t i = line.from; i < at;) {
        uint8_t byte = r->text[i];
        if ((byte >= 'a' && byte <= 'z') || byte == ' ') { /* most bytes, and no sign */
            i++;
            continue;
        }
        character c = dstok__char_next(&line, i);
        if (c.sb == DSTOK_SB_CLOSE) {
            last = dstok__char_last(&line, i);
            character next = dstok__char_next(&line, c.end);
            take(&s, &last, &c, &next);
        }
        i = c.end;
    }
    return (quote_depth){s.brackets + s.quotes + s.titles, s.quotes, s.titles};
}
