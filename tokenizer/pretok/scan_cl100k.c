/* SPDX-License-Identifier: MIT */
/* The scanners of the cl100k shape: cl100k in its two spellings, Qwen 2 to 3, Qwen 3.5, Seed-Coder, MiniCPM 5. */
#include "scan.h"

/* The shape; word is \p{L} or [\p{L}\p{M}], n is 1 or 3:
 *  (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?word+ | \p{N}{1,n} | ?[^\s\p{N}word]+[\r\n]*
 *  |\s*[\r\n]+|\s+(?!\S)|\s+
 * The prefix of a word may be a mark. Where marks are word themselves, a mark at pos begins the same word whether it
 * is taken as the prefix or not, so the word is tried without a prefix first. */
static inline size_t scan_text(const uint8_t *text, size_t len, size_t pos, unsigned word, int n,
                               bool takes_lines) {
    const unsigned rest = DSTOK__K_ALL & ~(DSTOK__K_SPACE | DSTOK__K_NUMBER | word);
    size_t next, after;

    size_t end = dstok__contraction(text, len, pos, true);
    if (end != pos) return end;

    unsigned kind = dstok__kind_at(text, len, pos, &next);
    if (kind & word) return dstok__run(text, len, next, word);
    if (kind & DSTOK__K_NUMBER) return dstok__run_max(text, len, pos, DSTOK__K_NUMBER, n);

    unsigned following = dstok__kind_at(text, len, next, &after);
    if (kind != DSTOK__K_NEWLINE && (following & word)) return dstok__run(text, len, after, word);
    if ((kind & rest) || (text[pos] == ' ' && (following & rest))) {
        end = dstok__run(text, len, next, rest);
        return takes_lines ? dstok__run(text, len, end, DSTOK__K_NEWLINE) : end;
    }
    return pos; /* whitespace */
}

static inline size_t scan(const uint8_t *text, size_t len, size_t pos, unsigned word, int n) {
    size_t end = scan_text(text, len, pos, word, n, true);
    if (end != pos) return end;
    dstok__space_run run = dstok__space_at(text, len, pos);
    return dstok__cut_lines(run, pos, run.end == len);
}

size_t dstok__scan_cl100k(const uint8_t *text, size_t len, size_t pos) {
    return scan(text, len, pos, DSTOK__K_LETTER, 3);
}

/* As tiktoken spells it since 0.8: \s++$ comes before \s*[\r\n], so whitespace that ends the text is one pretoken. */
size_t dstok__scan_cl100k_tiktoken(const uint8_t *text, size_t len, size_t pos) {
    size_t end = scan_text(text, len, pos, DSTOK__K_LETTER, 3, true);
    if (end != pos) return end;
    dstok__space_run run = dstok__space_at(text, len, pos);
    return run.end == len ? len : dstok__cut_lines(run, pos, false);
}

size_t dstok__scan_qwen2(const uint8_t *text, size_t len, size_t pos) {
    return scan(text, len, pos, DSTOK__K_LETTER, 1);
}

size_t dstok__scan_qwen35(const uint8_t *text, size_t len, size_t pos) {
    return scan(text, len, pos, DSTOK__K_LETTER | DSTOK__K_MARK, 1);
}

/* Seed-Coder: qwen2, but signs take no line ends along. */
size_t dstok__scan_seed_coder(const uint8_t *text, size_t len, size_t pos) {
    size_t end = scan_text(text, len, pos, DSTOK__K_LETTER, 1, false);
    if (end != pos) return end;
    dstok__space_run run = dstok__space_at(text, len, pos);
    return dstok__cut_lines(run, pos, run.end == len);
}

/* MiniCPM 5: a step before puts \p{N}{1,3} apart, so the pieces of the others end in front of numbers. */
size_t dstok__scan_minicpm5(const uint8_t *text, size_t len, size_t pos) {
    size_t next, end = scan_text(text, len, pos, DSTOK__K_LETTER, 3, true);
    if (end != pos) return end;
    dstok__space_run run = dstok__space_at(text, len, pos);
    bool at_number = (dstok__kind_at(text, len, run.end, &next) & DSTOK__K_NUMBER) != 0;
    return dstok__cut_lines(run, pos, run.end == len || at_number);
}
