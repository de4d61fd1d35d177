/* SPDX-License-Identifier: MIT */
/* The kind of a character above ASCII, read from its bytes, which are well-formed UTF-8: the last byte asks a page of
 * 64 kinds; which page, those before it say (kind_tables.c, generated). */
#ifndef DSTOK_DATA_KINDS_H
#define DSTOK_DATA_KINDS_H

#include <stdint.h>

/* What pretokenizers tell apart. Characters of the ranges U+3040..U+30FF and U+4E00..U+9FA5 have kinds of their own,
 * which are behind the others. */
enum {
    DSTOK_KIND_UPPER,    /* Lu, Lt */
    DSTOK_KIND_LOWER,    /* Ll */
    DSTOK_KIND_NUMBER,   /* N */
    DSTOK_KIND_SIGN,     /* P, S */
    DSTOK_KIND_BLANK,    /* \s */
    DSTOK_KIND_CASELESS, /* Lm, Lo */
    DSTOK_KIND_MARK,     /* M */
    DSTOK_KIND_OTHER,    /* C */
    DSTOK_KIND_EAST_CASELESS,
    DSTOK_KIND_EAST_MARK,
    DSTOK_KIND_EAST_SIGN,
    DSTOK_KIND_EAST_OTHER,
    DSTOK_N_KINDS
};

extern const uint16_t dstok__kind_firsts[]; /* the first two of four bytes -> where a row begins */
extern const uint16_t
    dstok__kind_rows[]; /* row and a byte -> where a page begins; E0-EF have the first rows */
extern const uint8_t dstok__kind_pages[]; /* page and the last byte -> kind; C0-DF have the first pages */

/* Of a character of two, three, four bytes. */
static inline unsigned dstok__kind_of_2(const uint8_t *c) {
    return dstok__kind_pages[64u * c[0] + c[1] - (64u * 0xC0 + 0x80)];
}

static inline unsigned dstok__kind_of_3(const uint8_t *c) {
    unsigned page = dstok__kind_rows[64u * c[0] + c[1] - (64u * 0xE0 + 0x80)];
    return dstok__kind_pages[page + c[2] - 0x80];
}

static inline unsigned dstok__kind_of_4(const uint8_t *c) {
    unsigned row = dstok__kind_firsts[64u * c[0] + c[1] - (64u * 0xF0 + 0x80)];
    unsigned page = dstok__kind_rows[row + c[2] - 0x80];
    return dstok__kind_pages[page + c[3] - 0x80];
}

#endif
