/* SPDX-License-Identifier: MIT */
/* Exact cuts: between two characters that no token of the vocabulary holds side by side, no merge can ever
 * join them, for what it makes would be such a token. A pretoken may be cut there without changing an id.
 * Asked of characters from U+0800 on and their neighbours: elsewhere almost every pair occurs. Both tables
 * answer "may join" too often, never too seldom. */
#ifndef DSTOK_BPE_CUTS_H
#define DSTOK_BPE_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DSTOK__OPEN_BITS    14u
#define DSTOK__OPEN_SIZE    ((1u << DSTOK__OPEN_BITS) + 256u) /* by hash of a character, then by first byte */
#define DSTOK__OPEN_LEFT    1u                                /* may join with anything before it */
#define DSTOK__OPEN_RIGHT   2u                                /* ... behind it */
#define DSTOK__MIN_CUT_BITS 12u
#define DSTOK__MAX_CUT_BITS 22u

/* Views of sections of the tables. */
typedef struct dstok__cuts {
    const uint64_t *pairs; /* NULL: nothing is cut */
    unsigned shift;        /* 64 - log2 of the bits in pairs */
    const uint8_t *open;   /* DSTOK__OPEN_SIZE */
} dstok__cuts;

/* A character as the tables know it: its UTF-8 bytes, the first one lowest. At most 4 bytes at p are read. */
static inline uint32_t dstok__char_key(const uint8_t *p, size_t width) {
    uint32_t key = 0;
    for (size_t i = 0; i < width; i++) key |= (uint32_t)p[i] << (8 * i);
    return key;
}

static inline uint64_t dstok__cut_bit(uint32_t left, uint32_t right, unsigned shift) {
    return (((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u) >> shift;
}

static inline uint32_t dstok__open_at(uint32_t key) {
    return (key * 0x9E3779B1u) >> (32 - DSTOK__OPEN_BITS);
}

/* May the vocabulary join the two? */
static inline bool dstok__may_join(const dstok__cuts *c, uint32_t left, uint32_t right) {
    uint64_t bit = dstok__cut_bit(left, right, c->shift);
    unsigned pair = (unsigned)(c->pairs[bit / 64] >> (bit % 64)) & 1;
    unsigned open = (c->open[dstok__open_at(right)] & DSTOK__OPEN_LEFT) |
                    (c->open[dstok__open_at(left)] & DSTOK__OPEN_RIGHT) |
                    c->open[(1u << DSTOK__OPEN_BITS) + (right & 0xFF)];
    return (pair | open) != 0;
}

#endif
