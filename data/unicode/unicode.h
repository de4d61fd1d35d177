/* SPDX-License-Identifier: MIT */
/* Unicode 16.0 properties of a code point, read from the generated two-stage tables in unicode_tables.c. */
#ifndef DSTOK_DATA_UNICODE_H
#define DSTOK_DATA_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

#define DSTOK_UC_MAX 0x10FFFFu

/* General categories, in the order the tables store them. */
enum {
    DSTOK_GC_CN,
    DSTOK_GC_LU,
    DSTOK_GC_LL,
    DSTOK_GC_LT,
    DSTOK_GC_LM,
    DSTOK_GC_LO,
    DSTOK_GC_MN,
    DSTOK_GC_MC,
    DSTOK_GC_ME,
    DSTOK_GC_ND,
    DSTOK_GC_NL,
    DSTOK_GC_NO,
    DSTOK_GC_PC,
    DSTOK_GC_PD,
    DSTOK_GC_PS,
    DSTOK_GC_PE,
    DSTOK_GC_PI,
    DSTOK_GC_PF,
    DSTOK_GC_PO,
    DSTOK_GC_SM,
    DSTOK_GC_SC,
    DSTOK_GC_SK,
    DSTOK_GC_SO,
    DSTOK_GC_ZS,
    DSTOK_GC_ZL,
    DSTOK_GC_ZP,
    DSTOK_GC_CC,
    DSTOK_GC_CF,
    DSTOK_GC_CS,
    DSTOK_GC_CO
};

/* Sets of categories: one bit each, (1u << category). */
#define DSTOK_UC_BIT(gc) (1u << (gc))
#define DSTOK_UC_LU      DSTOK_UC_BIT(DSTOK_GC_LU)
#define DSTOK_UC_LL      DSTOK_UC_BIT(DSTOK_GC_LL)
#define DSTOK_UC_LT      DSTOK_UC_BIT(DSTOK_GC_LT)
#define DSTOK_UC_LM      DSTOK_UC_BIT(DSTOK_GC_LM)
#define DSTOK_UC_LO      DSTOK_UC_BIT(DSTOK_GC_LO)
#define DSTOK_UC_L       (DSTOK_UC_LU | DSTOK_UC_LL | DSTOK_UC_LT | DSTOK_UC_LM | DSTOK_UC_LO)
#define DSTOK_UC_M       (DSTOK_UC_BIT(DSTOK_GC_MN) | DSTOK_UC_BIT(DSTOK_GC_MC) | DSTOK_UC_BIT(DSTOK_GC_ME))
#define DSTOK_UC_ND      DSTOK_UC_BIT(DSTOK_GC_ND)
#define DSTOK_UC_N       (DSTOK_UC_ND | DSTOK_UC_BIT(DSTOK_GC_NL) | DSTOK_UC_BIT(DSTOK_GC_NO))
#define DSTOK_UC_P                                                                                           \
    (DSTOK_UC_BIT(DSTOK_GC_PC) | DSTOK_UC_BIT(DSTOK_GC_PD) | DSTOK_UC_BIT(DSTOK_GC_PS) |                     \
     DSTOK_UC_BIT(DSTOK_GC_PE) | DSTOK_UC_BIT(DSTOK_GC_PI) | DSTOK_UC_BIT(DSTOK_GC_PF) |                     \
     DSTOK_UC_BIT(DSTOK_GC_PO))
#define DSTOK_UC_S                                                                                           \
    (DSTOK_UC_BIT(DSTOK_GC_SM) | DSTOK_UC_BIT(DSTOK_GC_SC) | DSTOK_UC_BIT(DSTOK_GC_SK) |                     \
     DSTOK_UC_BIT(DSTOK_GC_SO))
#define DSTOK_UC_Z (DSTOK_UC_BIT(DSTOK_GC_ZS) | DSTOK_UC_BIT(DSTOK_GC_ZL) | DSTOK_UC_BIT(DSTOK_GC_ZP))
#define DSTOK_UC_C                                                                                           \
    (DSTOK_UC_BIT(DSTOK_GC_CN) | DSTOK_UC_BIT(DSTOK_GC_CC) | DSTOK_UC_BIT(DSTOK_GC_CF) |                     \
     DSTOK_UC_BIT(DSTOK_GC_CS) | DSTOK_UC_BIT(DSTOK_GC_CO))

/* A record: the category in the low five bits, then one flag a bit. */
#define DSTOK_UC_GC_MASK 0x1Fu
#define DSTOK_UC_SPACE   0x20u  /* \s: the 25 White_Space code points */
#define DSTOK_UC_WORD    0x40u  /* \w as Rust's regex reads it: Alphabetic, M, Nd, Pc, Join_Control */
#define DSTOK_UC_HAN     0x80u  /* Script=Han */
#define DSTOK_UC_IN_9    0x100u /* assigned in Unicode 9.0: the view of the reference normalisers */
#define DSTOK_UC_FOLDS   0x400u /* simple case folding relates it to another code point */

/* For normalisation, in the 9.0 view: a code point that is not in it has combining class 0, no decomposition and
 * no compositions. Inert in a normal form: of combining class 0, kept by the form, and (NFC, NFKC) never the second
 * half of a composition; that is Quick_Check=Yes. A run of inert code points is unchanged, and text may be cut
 * before any of them. What follows may still change the last of a run: compose with it, or reorder its marks. */
#define DSTOK_UC_NFC_INERT  0x200u
#define DSTOK_UC_NFD_INERT  0x800u
#define DSTOK_UC_NFKC_INERT 0x1000u
#define DSTOK_UC_NFKD_INERT 0x2000u
#define DSTOK_UC_NFC_SECOND 0x4000u /* may compose with a code point before it (Quick_Check=Maybe) */

/* Of a combining class that is not 0, kept by all forms and never the second half of a composition. Behind an inert
 * code point, and behind others of these whose classes are not higher, it is unchanged, too. */
#define DSTOK_UC_QUIET_MARK 0x8000u

#define DSTOK_UC_PAGE_BITS 7
extern const uint16_t dstok__uc_pages[];   /* cp >> DSTOK_UC_PAGE_BITS -> page number */
extern const uint16_t dstok__uc_records[]; /* page number << DSTOK_UC_PAGE_BITS | low bits -> record */

/* cp may be any value up to DSTOK_UC_MAX. */
static inline unsigned dstok__uc_record(uint32_t cp) {
    unsigned page = dstok__uc_pages[cp >> DSTOK_UC_PAGE_BITS];
    return dstok__uc_records[(page << DSTOK_UC_PAGE_BITS) | (cp & ((1u << DSTOK_UC_PAGE_BITS) - 1))];
}

/* Is cp in one of the categories of the set (DSTOK_UC_L | DSTOK_UC_N, ...)? */
static inline bool dstok__uc_in(uint32_t cp, unsigned set) {
    return (set >> (dstok__uc_record(cp) & DSTOK_UC_GC_MASK)) & 1;
}

static inline bool dstok__uc_is_space(uint32_t cp) {
    return (dstok__uc_record(cp) & DSTOK_UC_SPACE) != 0;
}
static inline bool dstok__uc_is_word(uint32_t cp) {
    return (dstok__uc_record(cp) & DSTOK_UC_WORD) != 0;
}

/* Simple case folding (CaseFolding.txt C + S): the code point itself when it folds to nothing else. */
uint32_t dstok__uc_fold(uint32_t cp);

/* The script as the reference's UnicodeScripts sees it, Unicode 9.0: a number that means nothing by itself; 0 for
 * the blank and for what has none. Hiragana, Katakana and U+30FC count as Han. */
unsigned dstok__uc_script(uint32_t cp);

#endif
