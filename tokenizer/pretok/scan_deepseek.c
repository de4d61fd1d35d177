/* SPDX-License-Identifier: MIT */
/* The DeepSeek-V3 and V4 scanner: three splits in sequence, done in one pass. */
#include "scan.h"

/* The steps, all Isolated:
 *  1. \p{N}{1,3}
 *  2. [\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+
 *  3. [!-/:-~][A-Za-z]+ | [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+ | ?[\p{P}\p{S}]+[\r\n]* |\s*[\r\n]+|\s+(?!\S)|\s+
 *     (its first class is the ASCII punctuation)
 * A piece of step 3 is therefore one to three numbers, which it leaves whole, or a maximal run without numbers that
 * lies in the class of step 2 or outside of it, here called its side. What step 3 does not match stays as the text
 * between two matches. */
enum { WORD = (int)(DSTOK__K_LETTER | DSTOK__K_MARK), SIGN = DSTOK__K_PUNCT | DSTOK__K_SYMBOL };

static bool is_east(uint32_t cp) {
    return (cp >= 0x3040 && cp <= 0x30FF) || (cp >= 0x4E00 && cp <= 0x9FA5);
}

/* The kind at pos; 0 at the end of the piece whose side is east. */
static unsigned kind_in(const uint8_t *text, size_t len, size_t pos, bool east, size_t *next) {
    *next = len;
    if (pos >= len) return 0;
    uint32_t cp = dstok__decode(text, pos, next);
    if (cp < 0x80) return east ? 0 : dstok__ascii_kinds[cp] & ~(unsigned)DSTOK__K_NUMBER;
    if (is_east(cp) != east) return 0;
    return dstok__kind_of(cp) & ~(unsigned)DSTOK__K_NUMBER;
}

static size_t run_in(const uint8_t *text, size_t len, size_t pos, bool east, unsigned set) {
    size_t next;
    while (kind_in(text, len, pos, east, &next) & set) pos = next;
    return pos;
}

static bool is_ascii_letter(uint8_t byte) {
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/* [!-/:-~][A-Za-z]+ at pos; pos itself when it does not match. */
static size_t sign_and_letters(const uint8_t *text, size_t len, size_t pos) {
    if (text[pos] >= 0x80 || !(dstok__ascii_kinds[text[pos]] & SIGN)) return pos;
    size_t end = pos + 1;
    while (end < len && is_ascii_letter(text[end])) end++;
    return end > pos + 1 ? end : pos;
}

/* The end of the text that step 3 leaves between matches: a match begins at any code point that is not of the kind
 * OTHER, and at an OTHER that is the prefix of a word. The one at pos is known to be neither. */
static size_t unmatched(const uint8_t *text, size_t len, size_t pos, bool east) {
    size_t next, after;
    (void)kind_in(text, len, pos, east, &pos);
    while (kind_in(text, len, pos, east, &next) & DSTOK__K_OTHER) {
        if (kind_in(text, len, next, east, &after) & WORD) break;
        pos = next;
    }
    return pos;
}

size_t dstok__scan_deepseek_v3(const uint8_t *text, size_t len, size_t pos) {
    size_t next, after;
    if (dstok__kind_at(text, len, pos, &next) & DSTOK__K_NUMBER)
        return dstok__run_max(text, len, pos, DSTOK__K_NUMBER, 3);

    size_t end = sign_and_letters(text, len, pos);
    if (end != pos) return end;

    bool east = is_east(dstok__decode(text, pos, &next));
    unsigned kind = kind_in(text, len, pos, east, &next);
    unsigned following = kind_in(text, len, next, east, &after);
    if (kind & WORD) return run_in(text, len, next, east, WORD); /* a mark as the prefix gives the same */
    if (!(kind & (DSTOK__K_NEWLINE | SIGN)) && (following & WORD))
        return run_in(text, len, after, east, WORD);
    if ((kind & SIGN) || (text[pos] == ' ' && (following & SIGN))) {
        end = run_in(text, len, next, east, SIGN);
        return run_in(text, len, end, east, DSTOK__K_NEWLINE);
    }
    if (kind & DSTOK__K_OTHER) return unmatched(text, len, pos, east);

    dstok__space_run run = dstok__space_at(text, len, pos); /* never east */
    return dstok__cut_lines(run, pos, kind_in(text, len, run.end, false, &next) == 0);
}
