/* SPDX-License-Identifier: MIT */
/* What only speed needs, for vocabularies of bytes: which tokens their own bytes merge to, and where
 * pretokens may be cut (cuts.h). */
#include "build.h"
#include "cuts.h"
#include "merge.h"

#include <string.h>

/* ---- tokens that are found whole ---- */

static dstok_status symbols_of(dstok__build *b, dstok__merge_scratch *m, const uint8_t *text, size_t n,
                               bool *known) {
    DSTOK_TRY(dstok__merge_reserve(m, n));
    *known = true;
    for (size_t i = 0; i < n && *known; i++) {
        *known = b->head.byte_ids[text[i]] != DSTOK__NO_ID;
        m->symbols[i] = (dstok__symbol){b->head.byte_ids[text[i]], (uint32_t)i, (uint32_t)i + 1};
    }
    return DSTOK_OK;
}

/* What merging each token by itself needs: by id, a flag that is always set, the pairs that were met, and those that made
 * whole tokens. */
typedef struct wholes {
    dstok__merge_scratch merge;
    uint8_t *ones;
    dstok__split *met, *lasts;
} wholes;

static dstok_status merge_each(dstok__build *b, wholes *w) {
    const dstok__buf *plain = &b->sections[DSTOK__S_PAIRS];
    dstok__pairs pairs = {.seed = b->head.seed,
                          .slots = (dstok__pair *)(void *)plain->data,
                          .cap = plain->len / sizeof *pairs.slots};
    dstok__merge_rules rules = {.pairs = &pairs, .flags = w->ones, .noted = 1, .splits = w->met};
    const dstok__ref *texts = (const dstok__ref *)(const void *)b->sections[DSTOK__S_TEXTS].data;
    for (uint32_t id = 0; id < b->head.n_ids; id++) {
        const uint8_t *text = b->sections[DSTOK__S_STRINGS].data + texts[id].at;
        size_t left = 0;
        bool known;
        if (texts[id].n == 0) continue;
        DSTOK_TRY(symbols_of(b, &w->merge, text, texts[id].n, &known));
        if (known) DSTOK_TRY(dstok__merge_run(&w->merge, &rules, texts[id].n, &left));
        if (left != 1 || w->merge.symbols[0].id != id) continue;
        dstok__build_flags(b)[id] |= DSTOK__TOKEN_WHOLE;
        if (texts[id].n > 1) w->lasts[id] = w->met[id];
    }
    return DSTOK_OK;
}

/* Flags whole tokens and packs the pairs. */
static dstok_status build_wholes(dstok__build *b) {
    size_t n = b->head.n_ids;
    wholes w = {.ones = dstok__alloc_array(b->al, n, 1),
                .met = dstok__alloc_array(b->al, n, sizeof *w.met),
                .lasts = dstok__alloc_array(b->al, n, sizeof *w.lasts)};
    dstok__merge_init(&w.merge, b->al);
    dstok_status status = DSTOK_E_NOMEM;
    if (w.ones != NULL && w.met != NULL && w.lasts != NULL) {
        memset(w.ones, 1, n);
        for (size_t i = 0; i < n; i++) w.lasts[i] = (dstok__split){DSTOK__NO_ID, DSTOK__NO_ID};
        status = merge_each(b, &w);
    }
    if (status == DSTOK_OK) status = dstok__build_packed(b, w.lasts);
    dstok__merge_free(&w.merge);
    dstok__free(b->al, w.ones, n);
    dstok__free(b->al, w.met, n * sizeof *w.met);
    dstok__free(b->al, w.lasts, n * sizeof *w.lasts);
    return status;
}

/* ---- cuts ---- */

typedef struct cutting {
    uint64_t *pairs;
    uint8_t *open;
    unsigned shift;
    size_t n; /* pairs met; bits are set in a second round, when their number is known */
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

static void put_token(cutting *c, const uint8_t *text, size_t n) {
    part left = part_at(text, n, 0);
    for (size_t i = left.n; i < n;) {
        part right = part_at(text, n, i);
        if (!right.is_tail && is_asked(&left, &right)) /* a tail inside: no text holds this token */
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

static dstok_status build_cuts(dstok__build *b) {
    dstok__buf *pairs = &b->sections[DSTOK__S_CUT_PAIRS], *open = &b->sections[DSTOK__S_CUT_OPEN];
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_CUT_OPEN, DSTOK__OPEN_SIZE, 1));
    cutting c = {.open = open->data};
    put_tokens(b, &c);
    unsigned bits = DSTOK__MIN_CUT_BITS;
    while (bits < DSTOK__MAX_CUT_BITS && (size_t)1 << bits < 16 * c.n) bits++;
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_CUT_PAIRS, (size_t)1 << (bits - 6), sizeof(uint64_t)));
    c.pairs = (uint64_t *)(void *)pairs->data;
    c.shift = 64 - bits;
    put_tokens(b, &c);
    return DSTOK_OK;
}

dstok_status dstok__build_fast(dstok__build *b) {
    if (!(b->head.options & DSTOK__T_PLAIN_ATOMS) || b->head.n_ids == 0) return DSTOK_OK;
    DSTOK_TRY(build_wholes(b));
    return build_cuts(b);
}
