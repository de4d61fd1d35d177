/* SPDX-License-Identifier: MIT */
/* Pure functions on byte ranges, one table of them for each instruction set. The versions in scalar/ are the
 * definition of right. */
#ifndef DSTOK_SIMD_SIMD_H
#define DSTOK_SIMD_SIMD_H

#include "chars.h"
#include "cuts.h"
#include "slots.h"

#include <stddef.h>
#include <stdint.h>

/* Instruction sets, each a superset of what the ones before it need on its machine. */
typedef enum dstok__tier {
    DSTOK__TIER_SCALAR,
    DSTOK__TIER_AVX2,   /* x86-64 with AVX2, BMI1, BMI2, POPCNT */
    DSTOK__TIER_AVX512, /* ... and AVX-512 F, BW, DQ, VL, VBMI, VBMI2, PCLMULQDQ */
    DSTOK__TIER_NEON,   /* AArch64 */
    DSTOK__N_TIERS
} dstok__tier;

/* The classes of 64 bytes of text: bit i of a mask belongs to byte i. Each ASCII byte is in exactly one of
 * the first six, or in none when it is a control character that is no white space. Bytes of longer
 * characters are in `high`. */
typedef struct dstok__classes {
    uint64_t upper, lower; /* A-Z, a-z */
    uint64_t digit;        /* 0-9 */
    uint64_t sign;         /* !-/ :-@ [-` {-~ */
    uint64_t newline;      /* 0A 0D */
    uint64_t blank;        /* 09 0B 0C 20 */
    uint64_t high;         /* 80-FF */
    uint64_t tail;         /* 80-BF: goes on with a character */
    uint64_t
        ideograph; /* first bytes of U+4E00..U+9F7F: E5-E8; E4 and E9 where the second byte is in the block,
                              too, and is at least B8 behind E4, below BE behind E9 */
    uint64_t space, quote, slash; /* 20, 27, 2F: they are in blank or sign, too */
} dstok__classes;

/* What JSON has in 64 bytes of text. Tokens: { } [ ] : , outside of strings; the quotes that begin and end
 * strings; the first bytes of runs of anything else but blanks: numbers, names, what must not be there.
 * Faults, in strings: control characters; what is no escape behind a backslash; what stands where \u wants a
 * hex digit. */
typedef struct dstok__json_block {
    uint64_t tokens, faults;
} dstok__json_block;

/* What the next block has to know; zeros at the begin of a text. */
typedef struct dstok__json_state {
    uint64_t in_string; /* all ones: its first byte stands in a string, all zeros: it does not */
    uint64_t escaped;   /* 1: it stands behind a backslash that is not escaped itself */
    uint64_t digits;    /* bit i: byte i must be a hex digit, i < 4 */
    uint64_t in_run;    /* 1: a run goes on that began a token */
} dstok__json_state;

/* Functions of one tier. */
typedef struct dstok__simd {
    dstok__tier tier;
    const char *name; /* "scalar", "avx2", "avx512", "neon" */

    /* First byte of text[0, len) that is not part of well-formed UTF-8, or len. */
    size_t (*utf8_check)(const uint8_t *text, size_t len);

    /* The classes of n blocks of 64 bytes; reads text[0, 64 n) and nothing else. */
    void (*classify)(const uint8_t *text, size_t n, dstok__classes *out);

    /* The first place in text[0, len) that holds one of the bytes first[0, n), 1 <= n <= 4, or len. */
    size_t (*find_byte)(const uint8_t *text, size_t len, const uint8_t *first, size_t n);

    /* The places of all set bits of words[0, n), in order, bit i of word k at 64 k + i. Returns how many;
     * may write up to 64 numbers more than that. */
    size_t (*positions)(const uint64_t *words, size_t n, uint32_t *out);

    /* The bytes of n blocks of 64 that may begin a character which NFC changes, or joins with what is
     * before it, or puts elsewhere: CC-CE, D2, D6-D9, DB-DD, DF, E0-E3, EA, EF, F0. With other bytes none
     * begins. */
    void (*nfc_leads)(const uint8_t *text, size_t n, uint64_t *out);

    /* The JSON tokens of n blocks of 64 bytes; reads text[0, 64 n) and nothing else. */
    void (*json_tokens)(const uint8_t *text, size_t n, dstok__json_state *state, dstok__json_block *out);

    /* Copies text[0, len) to out, a backslash and the letter behind it as the byte they stand for ("\n", "\\",
     * ...: the eight of JSON), up to the first backslash with anything else behind it, or with nothing. Returns
     * how much of text is done, *n gets the length of the copy. May write up to 64 bytes more than that. */
    size_t (*json_copy)(const uint8_t *text, size_t len, uint8_t *out, size_t *n);

    /* out[i] = the word w of the eight at lines[i] that has w >> 24 == keys[i], or all ones; no two of a
     * line have it, but for words of all ones. */
    void (*find_words)(const uint64_t *const *lines, const uint64_t *keys, size_t n, uint64_t *out);

    /* out[i] = the least of the 32 numbers at rows[i]. */
    void (*least)(const int32_t *const *rows, size_t n, int32_t *out);

    /* The pairs of the bytes text[0, n), 1 <= n <= 30; 16 bytes of text can be read. An entry of pairs, by
     * first byte << 8 | second byte, is a rank << 5 and flags, not negative. ranks[i] for 0 < i < n is rank
     * << 5 | i of the pair that begins with text[i - 1]; else, up to ranks[31], the rank is the highest.
     * Bit i of what is returned: that pair has flag 4, the pair before it flag 1 and a higher rank, the one
     * behind it flag 2 and no lower rank. What stands before the first pair and behind the last one has all
     * flags and the highest rank. */
    uint32_t (*byte_ranks)(const int32_t *pairs, const uint8_t *text, size_t n, int32_t *ranks);

    /* Sets a bit in cuts[0, n), n <= 64, for each place of which asked[0, n) has a bit, where the character
     * that ends there and the one that begins may not join. Around such a place four bytes before it and
     * four from it on can be read. places: room for 64 n + 64 numbers. */
    void (*cut)(const dstok__cuts *c, const uint8_t *text, const uint64_t *asked, size_t n, uint32_t *places,
                uint64_t *cuts);

    /* The keys of the n pieces that begin at text[places[i]] and end where the next one begins, places[n]
     * being the end of the last; from the begin of each 16 bytes can be read. slots[i]: where each is
     * looked for first in the 2^bits slots of `table`, 4 < bits < 60; they are fetched from memory. */
    void (*keys)(const uint8_t *text, const uint32_t *places, size_t n, dstok__cached *table, unsigned bits,
                 dstok__key *keys, dstok__cached **slots);

    /* Writes the ids of piece i = 0, 1, ... to *out, which moves behind them, as long as slots[i], or the
     * other slot of its line, has keys[i]. Returns how many pieces that were; may write up to three numbers
     * more than that. */
    size_t (*hits)(const dstok__key *keys, dstok__cached *const *slots, size_t n, uint32_t **out);

    /* The numbers of the pieces that hits would end at, in order, to out, which has room for n. Returns how
     * many. */
    size_t (*absent)(const dstok__key *keys, dstok__cached *const *slots, size_t n, uint32_t *out);

    /* ---- characters and lines (chars.h) ---- Of n blocks of 64 bytes; each reads text[0, 64 n) and
     * nothing else. `before`: the four bytes before them, the first one lowest; 0 at the begin of a text. */

    /* Puts them into the blocks k to k + n - 1 of a page that has before[k]; unit: DSTOK__IN_*. */
    void (*fill_page)(const uint8_t *text, size_t n, uint32_t before, dstok__page *page, size_t k, int unit);

    /* Adds how many characters begin, and how many fourth bytes there are. */
    void (*count_chars)(const uint8_t *text, size_t n, uint32_t before, uint64_t count[2]);

    /* Bit i of out[k]: a line begins with byte i of block k, because a line break stands before it. */
    void (*line_begins)(const uint8_t *text, size_t n, uint32_t before, uint64_t *out);

    /* Sums up the begins of n blocks from k on, in a page that is filled and has lines[k] and base[k]. */
    void (*sum_lines)(dstok__line_page *page, size_t k, size_t n);

    /* Spans in bytes, places[2 i] to places[2 i + 1], become spans in the units of a page, widened to whole
     * characters; empty ones go to the begin of the character they are in. Ends at the first span that goes
     * back, or is not all in the page. Returns how many were done. */
    size_t (*span_units)(const dstok__page *page, uint64_t *places, size_t n);

    /* The way back. Ends where a span goes back, or has units that the page does not hold. */
    size_t (*span_bytes)(const dstok__page *page, uint64_t *places, size_t n);

    /* Line and column of bytes, which go back to the begin of the character they are in: out[2 i] and
     * out[2 i + 1], from 1. Ends at the first byte that the page does not hold. Returns how many were done. */
    size_t (*line_places)(const dstok__line_page *page, const uint64_t *bytes, size_t n, uint64_t *out);
} dstok__simd;

/* The best tier of this machine that is not above `cap` (DSTOK__N_TIERS: no cap). Never NULL. Reads what
 * the CPU can do; keeps nothing. */
const dstok__simd *dstok__simd_best(dstok__tier cap);

/* The functions of a tier, or NULL where this build or this machine lacks it. */
const dstok__simd *dstok__simd_tier(dstok__tier tier);

/* ---- the scalar versions, and what has no other ---- */

size_t dstok__utf8_check(const uint8_t *text, size_t len);
void dstok__classify(const uint8_t *text, size_t n, dstok__classes *out);
size_t dstok__find_byte(const uint8_t *text, size_t len, const uint8_t *first, size_t n);
size_t dstok__positions(const uint64_t *words, size_t n, uint32_t *out);
void dstok__nfc_leads(const uint8_t *text, size_t n, uint64_t *out);
void dstok__json_tokens(const uint8_t *text, size_t n, dstok__json_state *state, dstok__json_block *out);
size_t dstok__json_copy(const uint8_t *text, size_t len, uint8_t *out, size_t *n);
void dstok__find_words(const uint64_t *const *lines, const uint64_t *keys, size_t n, uint64_t *out);
void dstok__cut(const dstok__cuts *c, const uint8_t *text, const uint64_t *asked, size_t n, uint32_t *places,
                uint64_t *cuts);
void dstok__keys(const uint8_t *text, const uint32_t *places, size_t n, dstok__cached *table, unsigned bits,
                 dstok__key *keys, dstok__cached **slots);
size_t dstok__hits(const dstok__key *keys, dstok__cached *const *slots, size_t n, uint32_t **out);
size_t dstok__absent(const dstok__key *keys, dstok__cached *const *slots, size_t n, uint32_t *out);
void dstok__least(const int32_t *const *rows, size_t n, int32_t *out);
uint32_t dstok__byte_ranks(const int32_t *pairs, const uint8_t *text, size_t n, int32_t *ranks);
void dstok__fill_page(const uint8_t *text, size_t n, uint32_t before, dstok__page *page, size_t k, int unit);
void dstok__count_chars(const uint8_t *text, size_t n, uint32_t before, uint64_t count[2]);
void dstok__line_begins(const uint8_t *text, size_t n, uint32_t before, uint64_t *out);
void dstok__sum_lines(dstok__line_page *page, size_t k, size_t n);
size_t dstok__span_units(const dstok__page *page, uint64_t *places, size_t n);
size_t dstok__span_bytes(const dstok__page *page, uint64_t *places, size_t n);
size_t dstok__line_places(const dstok__line_page *page, const uint64_t *bytes, size_t n, uint64_t *out);

/* Whether a byte begins a character, where these four are before it. */
int dstok__begins_char(uint32_t before, uint8_t c);

/* Length of the maximal ill-formed subpart that begins at text[0], len > 0: how many bytes one U+FFFD
 * replaces (Unicode 16.0, 3.9, "U+FFFD Substitution of Maximal Subparts"). 0 when a well-formed character
 * begins there; *width (may be NULL) is then its length. */
size_t dstok__utf8_ill_formed(const uint8_t *text, size_t len, size_t *width);

#endif
