/* SPDX-License-Identifier: MIT */
/* Sentences: rules SB3 to SB998 of UAX #29. */
#include "breaks.h"

#define BIT(c)  (1u << DSTOK_SB_##c)
#define SEPS    (BIT(CR) | BIT(LF) | BIT(SEP)) /* ParaSep */
#define TERMS   (BIT(ATERM) | BIT(STERM))      /* SATerm */
#define IGNORED (BIT(EXTEND) | BIT(FORMAT))    /* SB5 */
#define CASED   (BIT(UPPER) | BIT(LOWER))
#define STOPS   (CASED | BIT(OLETTER) | SEPS | TERMS) /* where SB8 looks no further */
#define NONE    DSTOK_N_SB                            /* a class of nothing */

static unsigned class_at(const uint8_t *text, size_t len, size_t at, size_t *width) {
    return DSTOK_SB_OF(dstok__break_at(text, len, at, width));
}

static bool in(unsigned class, uint32_t set) {
    return set >> class & 1;
}

/* What stands before a place: a SATerm, Close*, Sp*. */
typedef struct end {
    unsigned term;   /* its class, NONE: none */
    unsigned before; /* the class before it */
    bool close, blank;
} end;

/* SB8: is the first letter from `at` on, within the line and before other full stops, a small one? */
static bool small_follows(const uint8_t *text, size_t len, size_t at) {
    for (size_t width; at < len; at += width) {
        unsigned class = class_at(text, len, at, &width);
        if (in(class, STOPS)) return class == DSTOK_SB_LOWER;
    }
    return false;
}

/* SB6 to SB11: does a sentence end between e and the character at `at`, of a class that is not ignored? */
static bool ends(const end *e, const uint8_t *text, size_t len, size_t at, unsigned class) {
    if (e->term == NONE) return false;
    bool is_next = !e->close && !e->blank, is_full_stop = e->term == DSTOK_SB_ATERM;
    if (is_full_stop && is_next && class == DSTOK_SB_NUMERIC) return false;
    if (is_full_stop && is_next && class == DSTOK_SB_UPPER && in(e->before, CASED)) return false;
    if (in(class, BIT(CONTINUE) | TERMS | BIT(SP) | SEPS)) return false;
    if (class == DSTOK_SB_CLOSE && !e->blank) return false;
    return !is_full_stop || !small_follows(text, len, at);
}

/* ---- forward ---- */

static size_t behind_break(const uint8_t *text, size_t len, size_t at, unsigned class, size_t width) {
    at += width;
    return class == DSTOK_SB_CR && at < len && text[at] == '\n' ? at + 1 : at;
}

size_t dstok__next_sentence(const uint8_t *text, size_t len, size_t at) {
    end e = {NONE, NONE, false, false};
    unsigned last = NONE; /* class of the last character that is not ignored */
    size_t width;
    for (size_t begin = at; at < len; at += width) {
        unsigned class = class_at(text, len, at, &width);
        if (in(class, IGNORED) && at > begin) continue;
        if (ends(&e, text, len, at, class)) return at;
        if (in(class, SEPS)) return behind_break(text, len, at, class, width);
        if (in(class, TERMS))
            e = (end){class, last, false, false};
        else if (class == DSTOK_SB_SP)
            e.blank = true;
        else if (class == DSTOK_SB_CLOSE && !e.blank)
            e.close = true;
        else
            e = (end){NONE, NONE, false, false};
        last = class;
    }
    return len;
}

/* ---- looking back ---- */

/* The class of the last character before *at that is not ignored; *at becomes its begin. Marks at the begin
 * of a line or of the text belong to nothing: NONE. */
static unsigned significant_before(const dstok__borders *c, size_t *at) {
    while (*at > c->from) {
        unsigned class = DSTOK_SB_OF(dstok__break_before(c, at));
        if (in(class, SEPS)) return NONE;
        if (!in(class, IGNORED)) return class;
    }
    return NONE;
}

static end end_before(const dstok__borders *c, size_t at) {
    end e = {NONE, NONE, false, false};
    unsigned class = significant_before(c, &at);
    for (; class == DSTOK_SB_SP; class = significant_before(c, &at)) e.blank = true;
    for (; class == DSTOK_SB_CLOSE; class = significant_before(c, &at)) e.close = true;
    if (class == NONE || !in(class, TERMS)) return e;
    e.term = class;
    e.before = significant_before(c, &at);
    return e;
}

bool dstok__is_sentence_border(const dstok__borders *c, size_t at) {
    size_t width, back = at;
    unsigned class = class_at(c->text, c->len, at, &width), last = DSTOK_SB_OF(dstok__break_before(c, &back));
    if (in(last, SEPS)) return !(last == DSTOK_SB_CR && class == DSTOK_SB_LF);
    /* What never begins a sentence, and what is cheap to see: runs must not be walked over again and again. */
    if (in(class, IGNORED | BIT(SP) | SEPS | TERMS | BIT(CONTINUE))) return false;
    if (!in(last, IGNORED | BIT(SP) | BIT(CLOSE) | TERMS)) return false;
    back = at;
    if (class == DSTOK_SB_CLOSE && significant_before(c, &back) == DSTOK_SB_CLOSE) return false;
    end e = end_before(c, at);
    return ends(&e, c->text, c->len, at, class);
}
