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

#define DSTOK__OPEN_BITS 14u
#define DSTOK__OPEN_SIZE                                                                                     \
    ((1u << DSTOK__OPEN_BITS) + 8u) /* by hash of a character; then 64 bits by first byte */
#define DSTOK__OPEN_LEFT    1u      /* may join with anything before it */
#define DSTOK__OPEN_RIGHT   2u      /* ... behind it */
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

/* A character's hash: all places come from it. */
static inline uint64_t dstok__char_hash(uint32_t key) {
    return key * 0x9E3779B97F4A7C15u;
}

/* Where a pair is in the table, before shifting: the hashes of its two characters, one of them turned. */
static inline uint64_t dstok__cut_at(uint64_t left, uint64_t right) {
    return left + (right << 23 | right >> 41);
}

static inline size_t dstok__open_at(uint64_t hash) {
    return (size_t)(hash >> (64 - DSTOK__OPEN_BITS));
}

/* Bit k: characters whose first byte is C0 + k may join with anything before them. */
static inline uint64_t dstok__open_firsts(const dstok__cuts *c) {
    uint64_t firsts;
    memcpy(&firsts, c->open + (1u << DSTOK__OPEN_BITS), sizeof firsts);
    return firsts;
}

/* For bytes that are no UTF-8: bit left << 8 | right of so many words, where some token holds these two bytes
 * side by side. Between other two bytes nothing merges. */
#define DSTOK__JOINS 1024u

static inline bool dstok__bytes_join(const uint64_t *joins, uint8_t left, uint8_t right) {
    unsigned bit = (unsigned)left << 8 | right;
    return (joins[bit / 64] >> (bit % 64)) & 1;
}

/* What is asked of the left one of a pair. */
typedef struct dstok__side {
    uint64_t hash;
    unsigned open; /* DSTOK__OPEN_* */
} dstok__side;

/* The side of a character with nothing before it. */
static inline dstok__side dstok__side_of(const dstok__cuts *c, uint32_t key) {
    uint64_t hash = dstok__char_hash(key);
    return (dstok__side){hash, c->open[dstok__open_at(hash)]};
}

/* May the vocabulary join the character before, whose side it is, and one from U+0080 on, of that key?
 * *side becomes the latter's. Bit 0 of the result; the others mean nothing. */
static inline uint64_t dstok__join_bit(const dstok__cuts *c, uint64_t firsts, uint32_t key,
                                       dstok__side *side) {
    uint64_t hash = dstok__char_hash(key), bit = dstok__cut_at(side->hash, hash) >> c->shift;
    unsigned open = c->open[dstok__open_at(hash)];
    uint64_t joins = c->pairs[bit / 64] >> (bit % 64) | firsts >> (key & 0x3F) | open | side->open >> 1;
    *side = (dstok__side){hash, open};
    return joins;
}

/* The same for any character: those of ASCII have no bit in firsts. */
static inline bool dstok__may_join(const dstok__cuts *c, uint64_t firsts, uint32_t key, dstok__side *side) {
    return dstok__join_bit(c, (key & 0x80) != 0 ? firsts : 0, key, side) & 1;
}

#endif
