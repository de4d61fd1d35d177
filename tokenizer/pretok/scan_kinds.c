/* SPDX-License-Identifier: MIT */
/* The parts of the scanners that are not worth inlining: kinds of code points, contractions, whitespace runs. */
#include "scan.h"

#define U DSTOK__K_UPPER
#define L DSTOK__K_LOWER
#define N DSTOK__K_NUMBER
#define P DSTOK__K_PUNCT
#define S DSTOK__K_SYMBOL
#define E DSTOK__K_NEWLINE
#define B DSTOK__K_BLANK
#define O DSTOK__K_OTHER
/* clang-format off */
const uint16_t dstok__ascii_kinds[128] = {
    O, O, O, O, O, O, O, O, O, B, E, B, B, E, O, O, /* 00: tab, LF, VT, FF, CR */
    O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, /* 10 */
    B, P, P, P, S, P, P, P, P, P, P, S, P, P, P, P, /* 20: blank ! " # $ % & ' ( ) * + , - . / */
    N, N, N, N, N, N, N, N, N, N, P, P, S, S, S, P, /* 30: 0-9 : ; < = > ? */
    P, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, /* 40: @ A-O */
    U, U, U, U, U, U, U, U, U, U, U, P, P, P, S, P, /* 50: P-Z [ \ ] ^ _ */
    S, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* 60: ` a-o */
    L, L, L, L, L, L, L, L, L, L, L, P, S, P, S, O, /* 70: p-z { | } ~ DEL */
};
/* By general category, in the order of unicode.h. */
static const uint16_t category_kinds[32] = {
    O, U, L, U, DSTOK__K_CASELESS, DSTOK__K_CASELESS,       /* Cn Lu Ll Lt Lm Lo */
    DSTOK__K_MARK, DSTOK__K_MARK, DSTOK__K_MARK,            /* Mn Mc Me */
    N, N, N,                                                /* Nd Nl No */
    P, P, P, P, P, P, P,                                    /* Pc Pd Ps Pe Pi Pf Po */
    S, S, S, S,                                             /* Sm Sc Sk So */
    B, B, B,                                                /* Zs Zl Zp */
    O, O, O, O,                                             /* Cc Cf Cs Co */
    O, O
};
/* clang-format on */
#undef U
#undef L
#undef N
#undef P
#undef S
#undef E
#undef B
#undef O

unsigned dstok__kind_of(uint32_t cp) {
    if (cp == '\r' || cp == '\n') return DSTOK__K_NEWLINE;
    unsigned record = dstok__uc_record(cp);
    if (record & DSTOK_UC_SPACE) return DSTOK__K_BLANK;
    return category_kinds[record & DSTOK_UC_GC_MASK];
}

bool dstok__is_digits_step(uint32_t cp) {
    if (dstok__uc_in(cp, DSTOK_UC_N)) return true;
    return (cp >= 0x11DE0 && cp <= 0x11DE9) || (cp >= 0x16FF4 && cp <= 0x16FF6); /* new in 17.0 */
}

/* Ranges whose punctuation is all new in Unicode 9.0. */
static bool is_punctuation_range_of_9(uint32_t cp) {
    return (cp >= 0x2E43 && cp <= 0x2E44) || (cp >= 0x1144B && cp <= 0x1145D) ||
           (cp >= 0x11660 && cp <= 0x1166C) || (cp >= 0x11C41 && cp <= 0x11C71) ||
           (cp >= 0x1E95E && cp <= 0x1E95F);
}

bool dstok__is_punctuation_step(uint32_t cp) {
    if (cp < 0x80) return (dstok__ascii_kinds[cp] & (DSTOK__K_PUNCT | DSTOK__K_SYMBOL)) != 0;
    if (cp == 0x166D || cp == 0x111C9) return true; /* no longer P in 16.0 */
    return dstok__uc_in(cp, DSTOK_UC_P) && (dstok__uc_record(cp) & DSTOK_UC_IN_9) &&
           !is_punctuation_range_of_9(cp);
}

/* A byte of the text; NUL, which no contraction holds, at its end. */
static uint8_t byte_at(const uint8_t *text, size_t len, size_t pos, bool any_case) {
    uint8_t byte = pos < len ? text[pos] : 0;
    return any_case && byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 'a' - 'A') : byte;
}

size_t dstok__contraction(const uint8_t *text, size_t len, size_t pos, bool any_case) {
    if (!dstok__byte_is(text, len, pos, '\'')) return pos;
    uint8_t first = byte_at(text, len, pos + 1, any_case);
    uint8_t second = byte_at(text, len, pos + 2, any_case);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return pos + 2;
    if ((first == 'r' || first == 'v') && second == 'e') return pos + 3;
    if (first == 'l' && second == 'l') return pos + 3;
    if (any_case && first == 0xC5 && second == 0xBF) return pos + 3; /* U+017F, long s */
    return pos;
}

dstok__space_run dstok__space_at(const uint8_t *text, size_t len, size_t pos) {
    dstok__space_run run = {.end = pos, .last = pos, .newline_end = 0};
    size_t next;
    unsigned kind;
    while ((kind = dstok__kind_at(text, len, run.end, &next)) & DSTOK__K_SPACE) {
        if (kind == DSTOK__K_NEWLINE) run.newline_end = next;
        run.last = run.end;
        run.end = next;
    }
    return run;
}
