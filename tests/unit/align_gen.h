/* SPDX-License-Identifier: MIT */
/* Random texts, and spans as hard as the contract allows: overlaps, zero widths, gaps, halves of characters. */
#ifndef DSTOK_TESTS_ALIGN_GEN_H
#define DSTOK_TESTS_ALIGN_GEN_H

#include "../oracle/gen.h"

static size_t make_text(t_rng *rng, uint8_t *text, size_t max) {
    static const char torture[] = "\xEF\xBB\xBF\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9 e\xCC\x81 "
                                  "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA. "
                                  "\xE4\xBD\xA0\xE5\xA5\xBD\xE3\x80\x82 can't "
                                  "3.14\r\n\r\n\xE1\x84\x80\xE1\x85\xA1 \x00\xC2\x85\xE0\xA4\x95"
                                  "\xE0\xA5\x8D\xE0\xA4\xB7! \xFF\xE4\xBD Next.";
    switch (t_below(rng, 5)) {
    case 0:
        return gen_bytes(rng, text, max);
    case 1: {
        size_t from = t_below(rng, (uint32_t)sizeof torture),
               n = t_below(rng, (uint32_t)(sizeof torture - from));
        n = n < max ? n : max;
        memcpy(text, torture + from, n);
        return n;
    }
    case 2:
        return t_below(rng, 3);
    default:
        return gen_text(rng, text, max);
    }
}

static size_t make_spans(t_rng *rng, size_t len, dstok_span *spans, size_t max) {
    uint64_t begin = 0, end = 0;
    size_t n = 0;
    uint32_t step = 1 + t_below(rng, 12), shape = t_below(rng, 4);
    while (n < max) {
        uint32_t what = shape == 0 ? 9 : t_below(rng, 10);
        if (what == 0)
            begin = end += t_below(rng, 3); /* zero width, also in a gap */
        else if (what == 1)
            end += t_below(rng, step + 1); /* overlap, or the same span */
        else {
            begin = end + (what == 2 ? t_below(rng, 3) : 0);
            end = begin + t_below(rng, step) + 1;
        }
        if (end > len || begin > len) break;
        spans[n].begin = begin;
        spans[n++].end = end;
        if (n == max || (end == len && t_below(rng, 3) != 0)) break;
    }
    return n;
}

#endif
