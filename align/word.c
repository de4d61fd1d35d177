/* SPDX-License-Identifier: MIT */
/* Words: rules WB3 to WB999 of UAX #29. */
#include "breaks.h"

#define BIT(c)  (1u << DSTOK_WB_##c)
#define LETTERS (BIT(LETTER) | BIT(LETTER_PICT) | BIT(HEBREW)) /* AHLetter */
#define PICTS   (BIT(PICT) | BIT(LETTER_PICT))
#define BREAKS  (BIT(CR) | BIT(LF) | BIT(NEWLINE))
#define IGNORED (BIT(EXTEND) | BIT(FORMAT) | BIT(ZWJ)) /* WB4 */
#define MID     (BIT(MIDLETTER) | BIT(MIDNUMLET) | BIT(SINGLE))
#define MIDNUM  (BIT(MIDNUM) | BIT(MIDNUMLET) | BIT(SINGLE))
#define NONE    DSTOK_N_WB /* a class of nothing */

static unsigned class_at(const uint8_t *text, size_t len, size_t at, size_t *width) {
    return DSTOK_WB_OF(dstok__break_at(text, len, at, width));
}

static bool in(unsigned class, uint32_t set) {
    return set >> class & 1;
}

/* By the class before a place, marks left out: the classes behind it that never make it a border (WB5, WB8
 * to WB10, WB13 to WB13b, WB7a). */
#define LETTER_JOINS (LETTERS | BIT(NUMERIC) | BIT(EXTENDNUMLET))
static const uint32_t joins[DSTOK_N_WB + 1] = {
    [DSTOK_WB_LETTER] = LETTER_JOINS,
    [DSTOK_WB_LETTER_PICT] = LETTER_JOINS,
    [DSTOK_WB_HEBREW] = LETTER_JOINS | BIT(SINGLE),
    [DSTOK_WB_NUMERIC] = LETTER_JOINS,
    [DSTOK_WB_KATAKANA] = BIT(KATAKANA) | BIT(EXTENDNUMLET),
    [DSTOK_WB_EXTENDNUMLET] = LETTER_JOINS | BIT(KATAKANA),
};

/* What two characters around a sign must be for it to stand in a word: WB6 and WB7, WB7b and WB7c, WB11 and
 * WB12. */
static bool is_inside(unsigned before, unsigned sign, unsigned after) {
    if (in(before, LETTERS) && in(sign, MID) && in(after, LETTERS)) return true;
    if (before == DSTOK_WB_HEBREW && sign == DSTOK_WB_DOUBLE && after == DSTOK_WB_HEBREW) return true;
    return before == DSTOK_WB_NUMERIC && in(sign, MIDNUM) && after == DSTOK_WB_NUMERIC;
}

static bool is_sign(unsigned class) {
    return in(class, MID | MIDNUM | BIT(DOUBLE));
}

/* The class of the first character from *at on that is not ignored; *at becomes its end. */
static unsigned significant(const uint8_t *text, size_t len, size_t *at) {
    while (*at < len) {
        size_t width;
        unsigned class = class_at(text, len, *at, &width);
        *at += width;
        if (!in(class, IGNORED)) return class;
    }
    return NONE;
}

/* ---- forward ---- */

/* ASCII that goes on in words whatever is around it. */
static bool is_wordy(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* How a word goes on. */
typedef struct state {
    unsigned base; /* class of the last character that is not ignored, of the first one always */
    unsigned last; /* class of the last character */
    bool is_odd;   /* base is the first of two regional indicators */
} state;

/* Does the character of this class, which ends at `end`, belong to the word? Where a sign does because of
 * what follows it, *end is behind that. */
static bool goes_on(state *s, const uint8_t *text, size_t len, unsigned class, size_t *end) {
    if (in(class, BREAKS)) return false;
    bool is_close = (s->last == DSTOK_WB_ZWJ && in(class, PICTS)) ||
                    (s->last == DSTOK_WB_SPACE && class == DSTOK_WB_SPACE); /* WB3c, WB3d */
    s->last = class;
    if (in(class, IGNORED)) return true;
    unsigned base = s->base;
    bool was_odd = s->is_odd;
    s->base = class;
    s->is_odd = class == DSTOK_WB_RI;
    if (is_sign(class) && (in(base, LETTERS) || base == DSTOK_WB_NUMERIC)) {
        size_t behind = *end;
        unsigned after = significant(text, len, &behind);
        if (is_inside(base, class, after)) {
            s->base = s->last = after;
            *end = behind;
            return true;
        }
    }
    if (base == DSTOK_WB_RI && class == DSTOK_WB_RI) { /* WB15, WB16 */
        s->is_odd = !was_odd;
        return was_odd;
    }
    return is_close || in(class, joins[base]);
}

size_t dstok__next_word(const uint8_t *text, size_t len, size_t at) {
    size_t width;
    unsigned class = class_at(text, len, at, &width);
    at += width;
    if (in(class, BREAKS)) return class == DSTOK_WB_CR && at < len && text[at] == '\n' ? at + 1 : at;
    state s = {class, class, class == DSTOK_WB_RI};
    while (at < len) {
        if (text[at] < 0x80 && s.last == s.base && in(s.base, LETTER_JOINS) && is_wordy(text[at])) {
            do at++;
            while (at < len && is_wordy(text[at]));
            s.base = s.last = class_at(text, len, at - 1, &width);
            continue;
        }
        size_t end = at;
        class = class_at(text, len, at, &width);
        end += width;
        if (!goes_on(&s, text, len, class, &end)) return at;
        at = end;
    }
    return at;
}

/* ---- looking back ---- */

/* The class of the last character before *at that is not ignored; *at becomes its begin. Marks at the begin
 * of a line or of the text belong to nothing: NONE. */
static unsigned significant_before(const dstok__borders *c, size_t *at) {
    while (*at > c->from) {
        unsigned class = DSTOK_WB_OF(dstok__break_before(c, at));
        if (in(class, BREAKS)) return NONE;
        if (!in(class, IGNORED)) return class;
    }
    return NONE;
}

/* WB15, WB16: is the number of regional indicators before `at` even? */
static bool are_flags_full(const dstok__borders *c, size_t at) {
    size_t n = 0;
    while (significant_before(c, &at) == DSTOK_WB_RI) n++;
    return n % 2 == 0;
}

bool dstok__is_word_border(const dstok__borders *c, size_t at) {
    size_t width, back = at, ahead = at;
    unsigned class = class_at(c->text, c->len, at, &width), last = DSTOK_WB_OF(dstok__break_before(c, &back));
    if (last == DSTOK_WB_CR && class == DSTOK_WB_LF) return false;
    if (in(last, BREAKS) || in(class, BREAKS)) return true;
    if (last == DSTOK_WB_ZWJ && in(class, PICTS)) return false;
    if (last == DSTOK_WB_SPACE && class == DSTOK_WB_SPACE) return false;
    if (in(class, IGNORED)) return false;
    back = at;
    unsigned base = significant_before(c, &back);
    if (in(class, joins[base])) return false;
    if (base == DSTOK_WB_RI && class == DSTOK_WB_RI) return are_flags_full(c, at);
    if (is_sign(class)) {
        ahead += width;
        return !is_inside(base, class, significant(c->text, c->len, &ahead));
    }
    return !is_sign(base) || !is_inside(significant_before(c, &back), base, class);
}
