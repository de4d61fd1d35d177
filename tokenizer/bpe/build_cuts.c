/* SPDX-License-Identifier: MIT */
/* Which characters the tokens hold side by side (cuts.h), and which of them in part only (atoms.h). */
#include "build.h"

#include <string.h>

/* By first byte the last bytes that some token has before it, when it is all of its character. */
typedef struct edges {
    bool last[64][128];
} edges;

typedef struct cutting {
    uint64_t *pairs, *parts; /* NULL while pairs are counted; or parts are not asked for */
    edges *edges;
    unsigned shift;
    bool torn; /* only borders where a token holds but a part of one of the two */
    size_t n;  /* pairs met: their bits are set in a second round, when their number is known */
} cutting;

/* A character of a token, whole or what the token holds of it. */
typedef struct part {
    const uint8_t *at;
    size_t n, width; /* width: of the whole character; unknown when is_tail */
    bool is_tail;    /* it begins before the token */
} part;

static size_t width_of(uint8_t first) {
    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

static part part_at(const uint8_t *text, size_t n, size_t i) {
    part p = {.at = text + i, .n = 1, .width = width_of(text[i])};
    if ((text[i] & 0xC0) == 0x80) { /* only at the begin, or in a token that is no text at all */
        p.is_tail = true;
        while (i + p.n < n && (text[i + p.n] & 0xC0) == 0x80) p.n++;
        return p;
    }
    while (p.n < p.width && i + p.n < n && (text[i + p.n] & 0xC0) == 0x80) p.n++;
    return p;
}

static void set_bit(uint64_t *bits, unsigned shift, uint32_t left, uint32_t right) {
    uint32_t bit = dstok__pair_hash(left, right) >> shift;
    bits[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static void put_pair(cutting *c, uint32_t left, uint32_t right) {
    c->n++;
    if (c->pairs != NULL) set_bit(c->pairs, c->shift, left, right);
}

static void put_tail(cutting *c, uint32_t last, uint32_t right) {
    if (c->parts != NULL) set_bit(c->parts, 32 - DSTOK__PART_BITS, last, right);
}

static void put_edge(cutting *c, uint32_t last, uint32_t first) {
    if (c->edges != NULL) c->edges->last[dstok__first_edge(first)][dstok__last_edge(last) - 64] = true;
}

/* Two neighbours in a token may join. What a half character is half of is not known: a first half that
 * lacks one byte is each of 64 characters; else its last byte stands for the left one, its first byte for the
 * right one. */
static void put_neighbours(cutting *c, const part *left, const part *right) {
    size_t lacks = right->n < right->width ? right->width - right->n : 0;
    uint32_t last = left->at[left->n - 1], before = dstok__char_key(left->at, left->n < 4 ? left->n : 4),
             key = dstok__char_key(right->at, right->n);
    if (lacks > 1 || (lacks == 1 && left->is_tail)) {
        put_edge(c, last, right->at[0]);
    } else if (left->is_tail) {
        put_tail(c, last, key);
    } else if (lacks == 1) {
        for (uint32_t byte = 0x80; byte < 0xC0; byte++) put_pair(c, before, key | byte << (8 * right->n));
    } else {
        put_pair(c, before, key);
    }
}

/* Does the encoder ask about these two? Only where one is from U+0800 on. */
static bool is_asked(const part *left, const part *right) {
    return right->width >= 3 || left->is_tail || left->width >= 3;
}

static bool is_torn(const part *left, const part *right) {
    return left->is_tail || right->n < right->width;
}

static void put_token(cutting *c, const uint8_t *text, size_t n) {
    part left = part_at(text, n, 0);
    for (size_t i = left.n; i < n;) {
        part right = part_at(text, n, i);
        if (!right.is_tail && is_asked(&left, &right) && (!c->torn || is_torn(&left, &right)))
            /* a tail inside: no text holds this token */
            put_neighbours(c, &left, &right);
        i += right.n;
        left = right;
    }
}

static void put_tokens(dstok__build *b, cutting *c) {
    const dstok__ref *texts = (const dstok__ref *)(const void *)b->sections[DSTOK__S_TEXTS].data;
    c->n = 0;
    for (uint32_t id = 0; id < b->head.n_ids; id++)
        if (texts[id].n > 1) put_token(c, b->sections[DSTOK__S_STRINGS].data + texts[id].at, texts[id].n);
}

static dstok_status build(dstok__build *b, dstok__section pairs, cutting c) {
    put_tokens(b, &c);
    unsigned bits = DSTOK__MIN_CUT_BITS;
    while (bits < DSTOK__MAX_CUT_BITS && (size_t)1 << bits < 16 * c.n) bits++;
    DSTOK_TRY(dstok__build_zeroed(b, pairs, (size_t)1 << (bits - 6), sizeof(uint64_t)));
    c.pairs = (uint64_t *)(void *)b->sections[pairs].data;
    c.shift = 32 - bits;
    put_tokens(b, &c);
    return DSTOK_OK;
}

static unsigned count_different(const bool a[128], const bool b[128]) {
    unsigned n = 0;
    for (size_t i = 0; i < 128; i++) n += a[i] != b[i];
    return n;
}

/* Puts each first byte that has last bytes into a class of its own, or into the one that fits it best. to: the
 * classes of 64 first and of 128 last bytes. */
static void put_classes(const edges *e, uint8_t *to) {
    bool class[8][128] = {{false}}, none[128] = {false};
    size_t n = 0;
    for (size_t first = 0; first < 64; first++) {
        const bool *last = e->last[first];
        size_t best = 0;
        if (count_different(none, last) == 0) continue;
        for (size_t k = 1; k < n; k++)
            if (count_different(class[k], last) < count_different(class[best], last)) best = k;
        if (n == 0 || (n < 8 && count_different(class[best], last) > 0)) best = n++;
        for (size_t i = 0; i < 128; i++) class[best][i] |= last[i];
        to[first] = (uint8_t)(1u << best);
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < 128; i++) to[64 + i] |= (uint8_t)(class[k][i] << k);
}

dstok_status dstok__build_cuts(dstok__build *b) {
    edges e;
    memset(&e, 0, sizeof e);
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_CUT_PARTS, DSTOK__PART_WORDS, sizeof(uint64_t)));
    uint64_t *parts = (uint64_t *)(void *)b->sections[DSTOK__S_CUT_PARTS].data;
    DSTOK_TRY(build(b, DSTOK__S_CUT_PAIRS, (cutting){.parts = parts, .edges = &e}));
    put_classes(&e, (uint8_t *)(parts + DSTOK__TAIL_WORDS));
    if (b->sections[DSTOK__S_ATOMS].len == 0) return DSTOK_OK;
    return build(b, DSTOK__S_TORN_PAIRS, (cutting){.torn = true});
}
