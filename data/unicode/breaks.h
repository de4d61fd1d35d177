/* SPDX-License-Identifier: MIT */
/* The classes of UAX #29 (Unicode 16.0): of grapheme clusters, words and sentences, read from a generated
 * two-stage table. */
#ifndef DSTOK_DATA_BREAKS_H
#define DSTOK_DATA_BREAKS_H

#include <stdint.h>

/* Grapheme_Cluster_Break, split where rules GB9c and GB11 look at more. */
enum {
    DSTOK_GCB_OTHER,
    DSTOK_GCB_CR,
    DSTOK_GCB_LF,
    DSTOK_GCB_CONTROL,
    DSTOK_GCB_EXTEND, /* Extend, InCB=Extend */
    DSTOK_GCB_LINKER, /* Extend, InCB=Linker */
    DSTOK_GCB_ZWNJ,   /* Extend, InCB=None: U+200C alone */
    DSTOK_GCB_ZWJ,    /* ZWJ, InCB=Extend */
    DSTOK_GCB_RI,
    DSTOK_GCB_PREPEND,
    DSTOK_GCB_SPACING,
    DSTOK_GCB_L,
    DSTOK_GCB_V,
    DSTOK_GCB_T,
    DSTOK_GCB_LV,
    DSTOK_GCB_LVT,
    DSTOK_GCB_PICT,      /* Other, Extended_Pictographic */
    DSTOK_GCB_CONSONANT, /* Other, InCB=Consonant */
    DSTOK_N_GCB
};

/* Word_Break, split where rule WB3c looks at more. */
enum {
    DSTOK_WB_OTHER,
    DSTOK_WB_CR,
    DSTOK_WB_LF,
    DSTOK_WB_NEWLINE,
    DSTOK_WB_EXTEND,
    DSTOK_WB_FORMAT,
    DSTOK_WB_ZWJ,
    DSTOK_WB_RI,
    DSTOK_WB_KATAKANA,
    DSTOK_WB_HEBREW,
    DSTOK_WB_LETTER,
    DSTOK_WB_SINGLE,
    DSTOK_WB_DOUBLE,
    DSTOK_WB_MIDNUMLET,
    DSTOK_WB_MIDLETTER,
    DSTOK_WB_MIDNUM,
    DSTOK_WB_NUMERIC,
    DSTOK_WB_EXTENDNUMLET,
    DSTOK_WB_SPACE,
    DSTOK_WB_PICT,        /* Other, Extended_Pictographic */
    DSTOK_WB_LETTER_PICT, /* ALetter, Extended_Pictographic */
    DSTOK_N_WB
};

/* Sentence_Break. */
enum {
    DSTOK_SB_OTHER,
    DSTOK_SB_CR,
    DSTOK_SB_LF,
    DSTOK_SB_SEP,
    DSTOK_SB_EXTEND,
    DSTOK_SB_FORMAT,
    DSTOK_SB_SP,
    DSTOK_SB_LOWER,
    DSTOK_SB_UPPER,
    DSTOK_SB_OLETTER,
    DSTOK_SB_NUMERIC,
    DSTOK_SB_ATERM,
    DSTOK_SB_CONTINUE,
    DSTOK_SB_STERM,
    DSTOK_SB_CLOSE,
    DSTOK_N_SB
};

#define DSTOK_BREAK_PAGE_BITS 7
extern const uint8_t dstok__break_pages[];    /* cp >> DSTOK_BREAK_PAGE_BITS -> page; ASCII has page 0 */
extern const uint16_t dstok__break_records[]; /* page and the low bits -> record */

/* The three classes of cp <= 10FFFF: read one with the macros. */
static inline unsigned dstok__break_record(uint32_t cp) {
    unsigned page = dstok__break_pages[cp >> DSTOK_BREAK_PAGE_BITS];
    return dstok__break_records[(page << DSTOK_BREAK_PAGE_BITS) | (cp & ((1u << DSTOK_BREAK_PAGE_BITS) - 1))];
}
#define DSTOK_GCB_OF(record) ((record)&31u)
#define DSTOK_WB_OF(record)  ((record) >> 5 & 31u)
#define DSTOK_SB_OF(record)  ((record) >> 10)

#endif
