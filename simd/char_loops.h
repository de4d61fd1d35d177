/* SPDX-License-Identifier: MIT */
/* Begins of characters and lines in blocks that follow each other; each tier has its own block. Before this
 * file: CHARS_TARGET, the attribute of the tier; CHARS_NAME(f), its name of f; state, state_of(before) and
 * block(text, &state), the characters of a block; lines_in(text), what a block has of the ends of lines. */
#ifndef DSTOK_SIMD_CHAR_LOOPS_H
#define DSTOK_SIMD_CHAR_LOOPS_H

CHARS_TARGET void CHARS_NAME(fill_page)(const uint8_t *text, size_t n, uint32_t before, dstok__page *page,
                                        size_t k, int unit) {
    state s = state_of(before);
    for (; n > 0; n--, text += 64) rank_fill(page, k++, block(text, &s), unit);
}

CHARS_TARGET void CHARS_NAME(count_chars)(const uint8_t *text, size_t n, uint32_t before, uint64_t count[2]) {
    state s = state_of(before);
    uint64_t starts = 0, fourths = 0;
    for (size_t k = 0; k < n; k++) {
        dstok__chars c = block(text + 64 * k, &s);
        starts += (uint64_t)__builtin_popcountll(c.start);
        fourths += (uint64_t)__builtin_popcountll(c.fourth);
    }
    count[0] += starts;
    count[1] += fourths;
}

CHARS_TARGET void CHARS_NAME(line_begins)(const uint8_t *text, size_t n, uint32_t before, uint64_t *out) {
    dstok__line_carry carry = dstok__line_carry_of(before);
    for (size_t k = 0; k < n; k++) {
        dstok__line_masks m = lines_in(text + 64 * k);
        out[k] = dstok__lines_of(&m, &carry);
    }
}

#endif
