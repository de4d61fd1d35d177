/* SPDX-License-Identifier: MIT */
/* Places where a long text can be cut in two that are pretokenized each by itself, in every family. */
#include "scan.h"

/* Words of all families are letters and marks, perhaps with one character before them and a contraction behind;
 * runs of numbers are numbers alone. So a letter is followed, in its pretoken, by nothing but letters, marks or a
 * quote, and a number by nothing but numbers. And only white space is cut by what follows it: a letter or number
 * ends its pretoken in front of such a character as it does at the end of the text (tests/diff/test_sure.c). */
static bool is_sure(unsigned kind, unsigned next, uint8_t byte) {
    if (kind & DSTOK__K_LETTER) return !(next & (DSTOK__K_LETTER | DSTOK__K_MARK)) && byte != '\'';
    return kind == DSTOK__K_NUMBER && !(next & (DSTOK__K_NUMBER | DSTOK__K_MARK));
}

size_t dstok__sure_begin(const uint8_t *text, size_t len, size_t from, size_t to) {
    while (from < to && dstok__is_continuation(text[from])) from++;
    if (from >= to) return to;
    size_t at;
    unsigned kind = dstok__kind_at(text, len, from, &at);
    for (size_t next; at < to; at = next) {
        unsigned following = dstok__kind_at(text, len, at, &next);
        if (is_sure(kind, following, text[at])) return at;
        kind = following;
    }
    return to;
}
