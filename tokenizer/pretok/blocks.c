/* SPDX-License-Identifier: MIT */
/* From byte classes to character classes: the ASCII masks are taken as they are, longer characters are
 * looked up one by one, but for ideographs, which the byte classes find. */
#include "blocks.h"
#include "scan.h"

#include <string.h>

/* The mask that holds the kind of a character. */
static uint64_t *mask_of(dstok__kinds *k, unsigned kind) {
    switch (kind) {
    case DSTOK__K_UPPER:
        return &k->upper;
    case DSTOK__K_LOWER:
        return &k->lower;
    case DSTOK__K_CASELESS:
        return &k->caseless;
    case DSTOK__K_MARK:
        return &k->mark;
    case DSTOK__K_NUMBER:
        return &k->number;
    case DSTOK__K_PUNCT:
    case DSTOK__K_SYMBOL:
        return &k->sign;
    case DSTOK__K_BLANK:
        return &k->blank;
    default:
        return &k->other;
    }
}

static bool is_east(uint32_t cp) {
    return (cp >= 0x3040 && cp <= 0x30FF) || (cp >= 0x4E00 && cp <= 0x9FA5);
}

/* Sets width bits from bit i on, in this block and in the next. */
static void fill(uint64_t *mask, uint64_t *next, unsigned i, size_t width) {
    uint64_t bits = ((uint64_t)1 << width) - 1;
    *mask |= bits << i;
    if (i + width > 64) *next |= bits >> (64 - i);
}

/* One character at text[i] of block k. Bytes that run over into the next block are set there. */
static void put_character(dstok__kinds *k, const uint8_t *text, unsigned i) {
    size_t width;
    uint32_t cp = dstok__utf8_get(text + i, &width);
    uint64_t *mask = mask_of(k, dstok__kind_of(cp)), bit = (uint64_t)1 << i;
    fill(mask, mask + sizeof *k / sizeof *mask, i, width);
    if (is_east(cp)) fill(&k[0].east, &k[1].east, i, width);
    if (width == 2) k->lead2 |= bit;
    if (width == 3) k->lead3 |= bit;
    if (width == 4) k->lead4 |= bit;
}

static void put_ideographs(dstok__kinds *k, uint64_t first) {
    uint64_t all = first | first << 1 | first << 2, over = (first >> 63) * 3 | (first >> 62 & 1);
    k[0].caseless |= all;
    k[1].caseless |= over;
    k[0].east |= all;
    k[1].east |= over;
    k->lead3 |= first;
}

/* Takes over the classes of ASCII. */
static void take_classes(dstok__kinds *k, const dstok__classes *c, uint64_t valid) {
    memcpy(k, c, sizeof *c);
    k->valid = valid;
    k->other = ~(c->upper | c->lower | c->digit | c->sign | c->newline | c->blank | c->high);
    k->caseless = k->mark = k->lead2 = k->lead3 = k->lead4 = k->east = 0;
}

/* The last block of the text: what stands behind the text is nothing. */
static void cut_off(dstok__kinds *k, uint64_t valid) {
    uint64_t *mask = &k->upper;
    for (size_t i = 0; i < sizeof *k / sizeof *mask; i++) mask[i] &= valid;
}

static void add(dstok__kinds *k, const dstok__kinds *over) {
    uint64_t *mask = &k->upper;
    const uint64_t *more = &over->upper;
    for (size_t i = 0; i < sizeof *k / sizeof *mask; i++) mask[i] |= more[i];
}

/* The characters above ASCII of the block that begins at text. over [in,out]: what runs over into the next
 * block. */
static void widen(dstok__kinds *k, const uint8_t *text, dstok__kinds *over) {
    dstok__kinds two[2];
    two[0] = *k;
    add(&two[0], over);
    memset(&two[1], 0, sizeof two[1]);
    put_ideographs(two, k->ideograph);
    for (uint64_t rest = k->high & ~k->tail & ~k->ideograph; rest != 0; rest &= rest - 1)
        put_character(two, text, dstok__low_bit(rest));
    *k = two[0];
    *over = two[1];
}

void dstok__window_read(dstok__window *w, const dstok__simd *simd, const uint8_t *text, size_t len,
                        size_t max) {
    uint8_t last[64 + 4] = {0}; /* the end of the text, with zeros behind it */
    size_t whole = len / 64, n = (len + 63) / 64;
    w->text = text;
    w->len = len;
    w->n = n < max ? n : max;
    w->limit = 64 * w->n < len ? 64 * w->n : len;
    w->has_high = false;
    size_t wanted = w->n + 1 < n ? w->n + 1 : n, full = wanted < whole ? wanted : whole;
    simd->classify(text, full, w->classes);
    if (wanted > full) {
        memcpy(last, text + 64 * full, len - 64 * full);
        simd->classify(last, 1, &w->classes[full]);
    }
    memset(&w->blocks[0], 0, sizeof w->blocks[0]);
    memset(&w->blocks[wanted + 1], 0, sizeof w->blocks[0]);
    dstok__kinds over;
    memset(&over, 0, sizeof over);
    for (size_t i = 0; i < wanted; i++) {
        dstok__kinds *k = &w->blocks[i + 1];
        uint64_t valid = i < full ? UINT64_MAX : ((uint64_t)1 << (len - 64 * full)) - 1;
        take_classes(k, &w->classes[i], valid);
        if (i == full) cut_off(k, valid);
        if (k->high != 0) {
            widen(k, i < full ? text + 64 * i : last, &over);
            w->has_high = true;
        }
    }
}
