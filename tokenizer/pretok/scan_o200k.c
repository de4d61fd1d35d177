/* SPDX-License-Identifier: MIT */
/* The scanners of the o200k shape: o200k, and tekken, which has single digits and no contractions. */
#include "scan.h"

/* Sets of the two letter classes; caseless letters and marks are in both. */
#define IN_BOTH ((unsigned)(DSTOK__K_CASELESS | DSTOK__K_MARK))
#define UPPERS  ((unsigned)DSTOK__K_UPPER | IN_BOTH) /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] */
#define LOWERS  ((unsigned)DSTOK__K_LOWER | IN_BOTH) /* [\p{Ll}\p{Lm}\p{Lo}\p{M}] */

/* UPPERS* LOWERS+ at pos; pos itself when it does not match. After the greedy UPPERS* there stands either Ll, and
 * LOWERS+ goes on from it, or nothing that LOWERS+ can take. Then code points are given back up to the last one that
 * is in both classes; what it is followed by is Lu or Lt or the end of the run, so LOWERS+ takes it alone.
 *  *run_end  [out] where UPPERS* ends */
static size_t mixed_word(const uint8_t *text, size_t len, size_t pos, size_t *run_end) {
    size_t end = pos, next;
    unsigned kind;
    *run_end = pos;
    while ((kind = dstok__kind_at(text, len, *run_end, &next)) & UPPERS) {
        if (kind & IN_BOTH) end = next;
        *run_end = next;
    }
    return kind == DSTOK__K_LOWER ? dstok__run(text, len, next, LOWERS) : end;
}

/* [^\r\n\p{L}\p{N}]? UPPERS* LOWERS+ | [^\r\n\p{L}\p{N}]? UPPERS+ LOWERS*  without the contractions; pos itself when
 * neither matches. The order of tries is: first form with prefix, first form without, second form. The second form
 * gets its turn only where the code points behind the prefix are Lu and Lt alone, so its LOWERS* takes nothing. */
static size_t word(const uint8_t *text, size_t len, size_t pos) {
    size_t next, run_end;
    unsigned kind = dstok__kind_at(text, len, pos, &next);
    if (kind & (DSTOK__K_NEWLINE | DSTOK__K_NUMBER)) return pos;

    size_t begin = kind & DSTOK__K_LETTER ? pos : next; /* letters are no prefix, all else here is */
    size_t end = mixed_word(text, len, begin, &run_end);
    if (end != begin) return end;
    if (kind == DSTOK__K_MARK) return next; /* without prefix: the mark is the last one of both classes */
    return run_end != begin ? run_end : pos;
}

static inline size_t scan(const uint8_t *text, size_t len, size_t pos, bool contractions, int n) {
    const unsigned rest = DSTOK__K_ALL & ~(DSTOK__K_SPACE | DSTOK__K_LETTER | DSTOK__K_NUMBER);
    size_t next, after;

    size_t end = word(text, len, pos);
    if (end != pos) return contractions ? dstok__contraction(text, len, end, true) : end;

    unsigned kind = dstok__kind_at(text, len, pos, &next);
    if (kind & DSTOK__K_NUMBER) return dstok__run_max(text, len, pos, DSTOK__K_NUMBER, n);

    /*  ?[^\s\p{L}\p{N}]+[\r\n/]*  */
    if ((kind & rest) || (text[pos] == ' ' && (dstok__kind_at(text, len, next, &after) & rest))) {
        end = dstok__run(text, len, next, rest);
        while (end < len && (text[end] == '\r' || text[end] == '\n' || text[end] == '/')) end++;
        return end;
    }

    dstok__space_run run = dstok__space_at(text, len, pos);
    return dstok__cut_lines(run, pos, run.end == len);
}

size_t dstok__scan_o200k(const uint8_t *text, size_t len, size_t pos) {
    return scan(text, len, pos, true, 3);
}

size_t dstok__scan_tekken(const uint8_t *text, size_t len, size_t pos) {
    return scan(text, len, pos, false, 1);
}
