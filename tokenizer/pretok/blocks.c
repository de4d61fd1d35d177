/* SPDX-License-Identifier: MIT */
/* From byte classes to character classes: the ASCII masks are taken as they are, longer characters are looked up one by
 * one, but for ideographs, which the byte classes find. */
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

/* text: the block, whose characters may end in the bytes behind it. What ran over into it is there already. */
static void widen(dstok__kinds *k, const dstok__classes *c, const uint8_t *text, uint64_t valid) {
    k->upper |= c->upper & valid;
    k->lower |= c->lower & valid;
    k->number |= c->digit & valid;
    k->sign |= c->sign & valid;
    k->newline |= c->newline & valid;
    k->blank |= c->blank & valid;
    k->other |= valid & ~(c->upper | c->lower | c->digit | c->sign | c->newline | c->blank | c->high);
    k->valid = valid;
    k->lead = valid & ~c->tail;
    k->space = c->space & valid;
    k->quote = c->quote & valid;
    k->slash = c->slash & valid;
    if ((c->high & valid) == 0) return;
    put_ideographs(k, c->ideograph & valid);
    for (uint64_t rest = c->high & ~c->tail & ~c->ideograph & valid; rest != 0; rest &= rest - 1)
        put_character(k, text, dstok__low_bit(rest));
}

void dstok__window_read(dstok__window *w, const dstok__simd *simd, const uint8_t *text, size_t len, size_t max) {
    uint8_t last[64 + 4] = {0}; /* the end of the text, with zeros behind it */
    size_t whole = len / 64, n = (len + 63) / 64;
    w->text = text;
    w->len = len;
    w->n = n < max ? n : max;
    w->limit = 64 * w->n < len ? 64 * w->n : len;
    size_t wanted = w->n + 1 < n ? w->n + 1 : n, full = wanted < whole ? wanted : whole;
    memset(w->blocks, 0, (w->n + 3) * sizeof *w->blocks);
    simd->classify(text, full, w->classes);
    if (wanted > full) {
        memcpy(last, text + 64 * full, len - 64 * full);
        simd->classify(last, 1, &w->classes[full]);
    }
    w->has_high = false;
    for (size_t i = 0; i < wanted; i++) {
        bool is_last = i == full;
        uint64_t valid = is_last ? ((uint64_t)1 << (len - 64 * full)) - 1 : UINT64_MAX;
        widen(&w->blocks[i + 1], &w->classes[i], is_last ? last : text + 64 * i, valid);
        w->has_high |= (w->classes[i].high & valid) != 0;
    }
}
