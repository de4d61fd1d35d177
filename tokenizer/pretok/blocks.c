/* SPDX-License-Identifier: MIT */
/* From byte classes to character classes: the ASCII masks are taken as they are, longer characters are
 * looked up one by one, but for ideographs, which the byte classes find. */
#include "blocks.h"

#include "../../data/unicode/kinds.h"
#include "../text/utf8.h"

#include <string.h>

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

/* Masks by kind of character, of the block that was read last. */
typedef uint64_t by_kind[DSTOK_N_KINDS];

/* What runs over into a block: its bytes up to the first that begins a character have the kind of the last byte
 * before it. */
static void run_over(by_kind masks, uint64_t tail) {
    uint64_t bytes = tail & ~(tail + 1);
    for (unsigned i = 0; i < DSTOK_N_KINDS; i++) masks[i] = (0 - (masks[i] >> 63)) & bytes;
}

/* Looks up the characters of 2, 3, 4 bytes that begin in the block at text. */
static void look_up(by_kind masks, const uint8_t *text, uint64_t two, uint64_t three, uint64_t four) {
    for (; two != 0; two &= two - 1) {
        unsigned i = dstok__low_bit(two);
        masks[dstok__kind_of_2(text + i)] |= (uint64_t)3 << i;
    }
    for (; three != 0; three &= three - 1) {
        unsigned i = dstok__low_bit(three);
        masks[dstok__kind_of_3(text + i)] |= (uint64_t)7 << i;
    }
    for (; four != 0; four &= four - 1) {
        unsigned i = dstok__low_bit(four);
        masks[dstok__kind_of_4(text + i)] |= (uint64_t)15 << i;
    }
}

static void put_kinds(dstok__kinds *k, const by_kind masks) {
    uint64_t caseless = masks[DSTOK_KIND_EAST_CASELESS], mark = masks[DSTOK_KIND_EAST_MARK],
             sign = masks[DSTOK_KIND_EAST_SIGN], other = masks[DSTOK_KIND_EAST_OTHER];
    k->upper |= masks[DSTOK_KIND_UPPER];
    k->lower |= masks[DSTOK_KIND_LOWER];
    k->number |= masks[DSTOK_KIND_NUMBER];
    k->sign |= masks[DSTOK_KIND_SIGN] | sign;
    k->blank |= masks[DSTOK_KIND_BLANK];
    k->caseless = masks[DSTOK_KIND_CASELESS] | caseless;
    k->mark = masks[DSTOK_KIND_MARK] | mark;
    k->other |= masks[DSTOK_KIND_OTHER] | other;
    k->east = caseless | mark | sign | other;
}

/* The characters above ASCII of the block at text. next_tail: of the block behind it. masks [in,out]: of the
 * block before, of this one. */
static void widen(dstok__kinds *k, const uint8_t *text, uint64_t next_tail, by_kind masks) {
    uint64_t lead = k->high & ~k->tail, first = k->ideograph;
    uint64_t third = k->tail >> 2 | next_tail << 62, fourth = k->tail >> 3 | next_tail << 61;
    k->lead2 = lead & ~third;
    k->lead3 = lead & third & ~fourth;
    k->lead4 = lead & third & fourth;
    run_over(masks, k->tail);
    masks[DSTOK_KIND_EAST_CASELESS] |= first | first << 1 | first << 2;
    look_up(masks, text, k->lead2, k->lead3 & ~first, k->lead4);
    put_kinds(k, masks);
}

/* Which of the bytes at text[0, len) go on with the character before it. */
static uint64_t tail_at(const uint8_t *text, size_t len) {
    uint64_t tail = 0;
    for (unsigned i = 0; i < len && dstok__is_continuation(text[i]); i++) tail |= (uint64_t)1 << i;
    return tail;
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
    w->classes[wanted].tail = 64 * wanted < len ? tail_at(text + 64 * wanted, len - 64 * wanted) : 0;
    by_kind masks = {0};
    for (size_t i = 0; i < wanted; i++) {
        dstok__kinds *k = &w->blocks[i + 1];
        uint64_t valid = i < full ? UINT64_MAX : ((uint64_t)1 << (len - 64 * full)) - 1;
        take_classes(k, &w->classes[i], valid);
        if (i == full) cut_off(k, valid);
        if (k->high != 0) {
            widen(k, i < full ? text + 64 * i : last, w->classes[i + 1].tail, masks);
            w->has_high = true;
        }
    }
}

uint64_t dstok__count_threes(const dstok__kinds *k, unsigned *before) {
    uint64_t runs = k->number & ~DSTOK__BEFORE(k, number), starts = 0;
    for (uint64_t rest = k->number & ~k->tail; rest != 0; rest &= rest - 1) {
        uint64_t bit = rest & (0 - rest);
        if ((runs & bit) != 0 || *before == 3) {
            starts |= bit;
            *before = 0;
        }
        ++*before;
    }
    if (!(k->number >> 63)) *before = 0;
    return starts;
}
