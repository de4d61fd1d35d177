/* SPDX-License-Identifier: MIT */
/* Extended grapheme clusters: rules GB3 to GB999 of UAX #29. */
#include "breaks.h"

#define BIT(c)   (1u << DSTOK_GCB_##c)
#define CONTROLS (BIT(CR) | BIT(LF) | BIT(CONTROL))
#define EXTENDS  (BIT(EXTEND) | BIT(LINKER) | BIT(ZWNJ)) /* Grapheme_Cluster_Break=Extend */
#define GOES_ON  (EXTENDS | BIT(ZWJ) | BIT(SPACING))     /* GB9, GB9a */
#define ALL      ((1u << DSTOK_N_GCB) - 1)
#define CONJUNCT (BIT(EXTEND) | BIT(LINKER) | BIT(ZWJ)) /* InCB=Extend, InCB=Linker */

/* By the class before a place: the classes behind it that never make it a border (GB3 to GB9b). */
static const uint32_t joins[DSTOK_N_GCB] = {
    [DSTOK_GCB_OTHER] = GOES_ON,
    [DSTOK_GCB_CR] = BIT(LF),
    [DSTOK_GCB_EXTEND] = GOES_ON,
    [DSTOK_GCB_LINKER] = GOES_ON,
    [DSTOK_GCB_ZWNJ] = GOES_ON,
    [DSTOK_GCB_ZWJ] = GOES_ON,
    [DSTOK_GCB_RI] = GOES_ON,
    [DSTOK_GCB_PREPEND] = ALL & ~CONTROLS,
    [DSTOK_GCB_SPACING] = GOES_ON,
    [DSTOK_GCB_L] = GOES_ON | BIT(L) | BIT(V) | BIT(LV) | BIT(LVT),
    [DSTOK_GCB_V] = GOES_ON | BIT(V) | BIT(T),
    [DSTOK_GCB_T] = GOES_ON | BIT(T),
    [DSTOK_GCB_LV] = GOES_ON | BIT(V) | BIT(T),
    [DSTOK_GCB_LVT] = GOES_ON | BIT(T),
    [DSTOK_GCB_PICT] = GOES_ON,
    [DSTOK_GCB_CONSONANT] = GOES_ON,
};

/* Those that may not, by what came before (GB9c, GB11, GB12 and GB13). */
static const uint32_t asks[DSTOK_N_GCB] = {
    [DSTOK_GCB_EXTEND] = BIT(CONSONANT),
    [DSTOK_GCB_LINKER] = BIT(CONSONANT),
    [DSTOK_GCB_ZWJ] = BIT(CONSONANT) | BIT(PICT),
    [DSTOK_GCB_RI] = BIT(RI),
};

/* What a cluster has been so far. */
typedef struct state {
    unsigned last;     /* class */
    bool is_picture;   /* a pictograph, Extends, then maybe one ZWJ */
    bool is_consonant; /* a consonant, then InCB Extends and Linkers, */
    bool is_linked;    /* a Linker among them */
    bool is_odd;       /* a single regional indicator */
} state;

static state state_of(unsigned class) {
    return (state){class, class == DSTOK_GCB_PICT, class == DSTOK_GCB_CONSONANT, false,
                   class == DSTOK_GCB_RI};
}

static bool goes_on(const state *s, unsigned class) {
    if (joins[s->last] >> class & 1) return true;
    if (!(asks[s->last] >> class & 1)) return false;
    if (class == DSTOK_GCB_RI) return s->is_odd;
    return class == DSTOK_GCB_PICT ? s->is_picture : s->is_linked;
}

static void take(state *s, unsigned class) {
    unsigned bit = 1u << class;
    if (class == DSTOK_GCB_PICT || class == DSTOK_GCB_CONSONANT) {
        *s = state_of(class);
        return;
    }
    s->is_picture = s->is_picture && s->last != DSTOK_GCB_ZWJ && (bit & (EXTENDS | BIT(ZWJ)));
    s->is_consonant = s->is_consonant && (bit & CONJUNCT);
    s->is_linked = s->is_consonant && (s->is_linked || class == DSTOK_GCB_LINKER);
    s->is_odd = class == DSTOK_GCB_RI && !s->is_odd;
    s->last = class;
}

size_t dstok__next_grapheme(const uint8_t *text, size_t len, size_t at) {
    size_t width;
    if (text[at] < 0x80 && text[at] != '\r' && (at + 1 == len || text[at + 1] < 0x80)) return at + 1;
    state s = state_of(DSTOK_GCB_OF(dstok__break_at(text, len, at, &width)));
    for (at += width; at < len; at += width) {
        unsigned class = DSTOK_GCB_OF(dstok__break_at(text, len, at, &width));
        if (!goes_on(&s, class)) break;
        take(&s, class);
    }
    return at;
}

/* ---- looking back ---- */

/* GB12, GB13: how many regional indicators end at `at`. */
static bool is_flag_full(const dstok__borders *c, size_t at) {
    size_t n = 0;
    while (at > c->from && DSTOK_GCB_OF(dstok__break_before(c, &at)) == DSTOK_GCB_RI) n++;
    return n % 2 == 0;
}

/* GB11: behind the ZWJ that ends at `at`, is there a picture that it joins another to? */
static bool is_joined_picture(const dstok__borders *c, size_t at) {
    unsigned class = DSTOK_GCB_OF(dstok__break_before(c, &at));
    while (at > c->from) {
        class = DSTOK_GCB_OF(dstok__break_before(c, &at));
        if (!(1u << class & EXTENDS)) return class == DSTOK_GCB_PICT;
    }
    return false;
}

/* GB9c: is there a consonant that a linker joins another to? */
static bool is_linked_consonant(const dstok__borders *c, size_t at) {
    bool is_linked = false;
    while (at > c->from) {
        unsigned class = DSTOK_GCB_OF(dstok__break_before(c, &at));
        if (!(1u << class & CONJUNCT)) return class == DSTOK_GCB_CONSONANT && is_linked;
        is_linked = is_linked || class == DSTOK_GCB_LINKER;
    }
    return false;
}

bool dstok__is_grapheme_border(const dstok__borders *c, size_t at) {
    size_t width, back = at;
    unsigned class = DSTOK_GCB_OF(dstok__break_at(c->text, c->len, at, &width));
    unsigned last = DSTOK_GCB_OF(dstok__break_before(c, &back));
    if (joins[last] >> class & 1) return false;
    if (!(asks[last] >> class & 1)) return true;
    if (class == DSTOK_GCB_RI) return is_flag_full(c, at);
    return class == DSTOK_GCB_PICT ? !is_joined_picture(c, at) : !is_linked_consonant(c, at);
}
