/* SPDX-License-Identifier: MIT */
/* What the scanners share: the kind of a code point, runs of kinds, contractions and the whitespace rule. */
#ifndef DSTOK_PRETOK_SCAN_H
#define DSTOK_PRETOK_SCAN_H

#include "../../data/unicode/unicode.h"
#include "../text/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a code point: exactly one bit, so that a set of kinds is a mask. */
enum {
    DSTOK__K_UPPER = 1 << 0,    /* Lu, Lt */
    DSTOK__K_LOWER = 1 << 1,    /* Ll */
    DSTOK__K_CASELESS = 1 << 2, /* Lm, Lo */
    DSTOK__K_MARK = 1 << 3,     /* M */
    DSTOK__K_NUMBER = 1 << 4,   /* N */
    DSTOK__K_PUNCT = 1 << 5,    /* P */
    DSTOK__K_SYMBOL = 1 << 6,   /* S */
    DSTOK__K_NEWLINE = 1 << 7,  /* CR and LF */
    DSTOK__K_BLANK = 1 << 8,    /* the rest of \s */
    DSTOK__K_OTHER = 1 << 9     /* C without the controls that are \s */
};
#define DSTOK__K_LETTER ((unsigned)(DSTOK__K_UPPER | DSTOK__K_LOWER | DSTOK__K_CASELESS))
#define DSTOK__K_SPACE  ((unsigned)(DSTOK__K_NEWLINE | DSTOK__K_BLANK))
#define DSTOK__K_ALL    0x3FFu

extern const uint16_t dstok__ascii_kinds[128];
unsigned dstok__kind_of(uint32_t cp); /* any code point, ASCII included */

/* What the steps Digits and Punctuation of a tokenizer.json match. The reference takes them from other tables than
 * its patterns: numbers from Unicode 17.0, punctuation from 8.0 and all ASCII punctuation and symbols. */
bool dstok__is_digits_step(uint32_t cp);
bool dstok__is_punctuation_step(uint32_t cp);

/* The code point at text[pos] of valid UTF-8, pos < len. *next  [out] where the following one begins. */
static inline uint32_t dstok__decode(const uint8_t *text, size_t pos, size_t *next) {
    size_t width;
    uint32_t cp = dstok__utf8_get(text + pos, &width);
    *next = pos + width;
    return cp;
}

/* The kind of the code point at pos; 0, which is in no set, at the end of the text. */
static inline unsigned dstok__kind_at(const uint8_t *text, size_t len, size_t pos, size_t *next) {
    if (pos >= len) {
        *next = len;
        return 0;
    }
    uint32_t cp = dstok__decode(text, pos, next);
    return cp < 0x80 ? dstok__ascii_kinds[cp] : dstok__kind_of(cp);
}

/* The end of the run of code points of the set that begins at pos; pos itself when there is none. */
static inline size_t dstok__run(const uint8_t *text, size_t len, size_t pos, unsigned set) {
    size_t next;
    while (dstok__kind_at(text, len, pos, &next) & set) pos = next;
    return pos;
}

/* At most max code points of the set. */
static inline size_t dstok__run_max(const uint8_t *text, size_t len, size_t pos, unsigned set, int max) {
    size_t next;
    for (; max > 0 && (dstok__kind_at(text, len, pos, &next) & set); max--) pos = next;
    return pos;
}

static inline bool dstok__byte_is(const uint8_t *text, size_t len, size_t pos, char byte) {
    return pos < len && text[pos] == (uint8_t)byte;
}

/* The end of 's 't 're 've 'm 'll 'd at pos; pos itself when there is none. any_case is (?i:...): A-Z count, and
 * U+017F, the only other code point that folds to one of these letters. */
size_t dstok__contraction(const uint8_t *text, size_t len, size_t pos, bool any_case);

/* A maximal run of \s. */
typedef struct dstok__space_run {
    size_t end;         /* where it ends */
    size_t last;        /* where its last code point begins */
    size_t newline_end; /* behind its last CR or LF; 0 when it has none */
} dstok__space_run;
dstok__space_run dstok__space_at(const uint8_t *text, size_t len, size_t pos);

/* \s+(?!\S)|\s+ on a run that begins at pos: all of it where the piece ends behind it, else all but its last code
 * point, which belongs to what follows, unless that is all there is. */
static inline size_t dstok__cut_blanks(dstok__space_run run, size_t pos, bool at_piece_end) {
    return at_piece_end || run.last == pos ? run.end : run.last;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+: up to the last line end in the run, else as above. */
static inline size_t dstok__cut_lines(dstok__space_run run, size_t pos, bool at_piece_end) {
    return run.newline_end != 0 ? run.newline_end : dstok__cut_blanks(run, pos, at_piece_end);
}

/* The first place in (from, to), to <= len, where every family begins a pretoken whatever stands before `from`,
 * and cuts what is before as if the text ended there; to when there is none (sure.c). */
size_t dstok__sure_begin(const uint8_t *text, size_t len, size_t from, size_t to);

/* The scanners; each is a dstok__scan_fn, and the text it implements stands in families.c. */
size_t dstok__scan_gpt2(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_smollm(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_smollm_split(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_cl100k(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_cl100k_tiktoken(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_qwen2(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_qwen35(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_seed_coder(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_minicpm5(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_o200k(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_tekken(const uint8_t *text, size_t len, size_t pos);
size_t dstok__scan_deepseek_v3(const uint8_t *text, size_t len, size_t pos);

#endif
