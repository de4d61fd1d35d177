/* SPDX-License-Identifier: MIT */
/* Which characters the tokens hold side by side (cuts.h), and which of them in part only (atoms.h). */
#include "build.h"

#include <string.h>

typedef struct cutting {
    uint64_t *pairs;
    uint8_t *open;
    unsigned shift;
    bool torn; /* only borders where a token holds but a part of one of the two */
    size_t n;  /* pairs met; bits are set in a second round, when their number is known */
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

static void put_pair(cutting *c, uint32_t left, uint32_t right) {
    c->n++;
    if (c->pairs == NULL) return;
    uint64_t bit = dstok__cut_at(dstok__char_hash(left), dstok__char_hash(right)) >> c->shift;
    c->pairs[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static void put_open(cutting *c, uint32_t key, unsigned flag) {
    c->open[dstok__open_at(dstok__char_hash(key))] |= (uint8_t)flag;
}

/* Two neighbours in a token may join. What a half character is half of is not known: a first half that
 * lacks one byte is each of 64 characters; for the rest, the other side may join with anything. */
static void put_neighbours(cutting *c, const part *left, const part *right) {
    bool is_half = right->n < right->width;
    uint32_t key = dstok__char_key(right->at, right->n);
    if (left->is_tail && is_half) {
        c->open[(1u << DSTOK__OPEN_BITS) + (right->at[0] & 0x3F) / 8] |= (uint8_t)(1u << right->at[0] % 8);
    } else if (left->is_tail) {
        put_open(c, key, DSTOK__OPEN_LEFT);
    } else if (is_half && right->n + 1 < right->width) {
        put_open(c, dstok__char_key(left->at, left->n), DSTOK__OPEN_RIGHT);
    } else if (is_half) {
        for (uint32_t last = 0x80; last < 0xC0; last++)
            put_pair(c, dstok__char_key(left->at, left->n), key | last << (8 * right->n));
    } else {
        put_pair(c, dstok__char_key(left->at, left->n), key);
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

static dstok_status build(dstok__build *b, dstok__section pairs, dstok__section open, bool torn) {
    DSTOK_TRY(dstok__build_zeroed(b, open, DSTOK__OPEN_SIZE, 1));
    cutting c = {.open = b->sections[open].data, .torn = torn};
    put_tokens(b, &c);
    unsigned bits = DSTOK__MIN_CUT_BITS;
    while (bits < DSTOK__MAX_CUT_BITS && (size_t)1 << bits < 16 * c.n) bits++;
    DSTOK_TRY(dstok__build_zeroed(b, pairs, (size_t)1 << (bits - 6), sizeof(uint64_t)));
    c.pairs = (uint64_t *)(void *)b->sections[pairs].data;
    c.shift = 64 - bits;
    put_tokens(b, &c);
    return DSTOK_OK;
}

dstok_status dstok__build_cuts(dstok__build *b) {
    DSTOK_TRY(build(b, DSTOK__S_CUT_PAIRS, DSTOK__S_CUT_OPEN, false));
    if (b->sections[DSTOK__S_ATOMS].len == 0) return DSTOK_OK;
    return build(b, DSTOK__S_TORN_PAIRS, DSTOK__S_TORN_OPEN, true);
}
