/* SPDX-License-Identifier: MIT */
/* Exact cuts: between two characters that no token of the vocabulary holds side by side, no merge can ever
 * join them, for what it makes would be such a token. A pretoken may be cut there without changing an id.
 * Asked of characters from U+0800 on and their neighbours: elsewhere almost every pair occurs. The tables
 * answer "may join" too often, never too seldom. */
#ifndef DSTOK_SIMD_CUTS_H
#define DSTOK_SIMD_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DSTOK__MIN_CUT_BITS 12u
#define DSTOK__MAX_CUT_BITS 22u
#define DSTOK__PART_BITS    16u
#define DSTOK__TAIL_WORDS   ((size_t)1 << (DSTOK__PART_BITS - 6))
#define DSTOK__EDGES        (64u + 128u)
#define DSTOK__PART_WORDS                                                                                    \
    (DSTOK__TAIL_WORDS + DSTOK__EDGES / 8 + 1) /* four bytes from any of the edges on can be read */
#define DSTOK__LEFT_FACTOR  0x9E3779B1u
#define DSTOK__RIGHT_FACTOR 0x85EBCA77u

/* Bits by hash of two neighbours. Where a token holds but the end of the left one, its last byte stands for it in
 * parts. Where it holds but the begin of the right one, the last byte of the left one and the first byte of the
 * right one have a class in common: behind the bits there is one byte for each first byte and for each last byte, with
 * a bit for each class. */
typedef struct dstok__cuts {
    const uint64_t *pairs; /* NULL: nothing is cut */
    const uint64_t *parts; /* DSTOK__PART_WORDS */
    unsigned shift;        /* 32 - log2 of the bits in pairs */
} dstok__cuts;

/* Where the classes of a first byte from C0 on are, and those of a last byte. */
static inline uint32_t dstok__first_edge(uint32_t first) {
    return first & 63;
}

static inline uint32_t dstok__last_edge(uint32_t last) {
    return 64 + ((last & 63) | (~last >> 1 & 64));
}

static inline const uint8_t *dstok__edges(const dstok__cuts *c) {
    return (const uint8_t *)(c->parts + DSTOK__TAIL_WORDS);
}

/* A character as the tables know it: its UTF-8 bytes, the first one lowest. */
static inline uint32_t dstok__char_key(const uint8_t *p, size_t width) {
    uint32_t key = 0;
    for (size_t i = 0; i < width; i++) key |= (uint32_t)p[i] << (8 * i);
    return key;
}

/* The key of the character that ends before p. */
static inline uint32_t dstok__key_before(const uint8_t *p) {
    size_t width = 1;
    while (width < 4 && (p[-(ptrdiff_t)width] & 0xC0) == 0x80) width++;
    return dstok__char_key(p - width, width);
}

/* ... and of the one that begins there. */
static inline uint32_t dstok__key_at(const uint8_t *p) {
    return dstok__char_key(p, p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4);
}

/* The last byte of a character. */
static inline uint32_t dstok__last_byte(uint32_t key) {
    return key >> (key < 0x100 ? 0 : key < 0x10000 ? 8 : key < 0x1000000 ? 16 : 24);
}

/* Where two neighbours are in a table, before shifting. */
static inline uint32_t dstok__pair_hash(uint32_t left, uint32_t right) {
    return left * DSTOK__LEFT_FACTOR + right * DSTOK__RIGHT_FACTOR;
}

static inline unsigned dstok__has_pair(const uint64_t *bits, unsigned shift, uint32_t left, uint32_t right) {
    uint32_t bit = dstok__pair_hash(left, right) >> shift;
    return (unsigned)(bits[bit / 64] >> (bit % 64)) & 1;
}

/* May some token hold two neighbours side by side, and not the whole of both? */
static inline unsigned dstok__may_tear(const dstok__cuts *c, uint32_t left, uint32_t right) {
    uint32_t last = dstok__last_byte(left), first = right & 0xFF;
    const uint8_t *edges = dstok__edges(c);
    return dstok__has_pair(c->parts, 32 - DSTOK__PART_BITS, last, right) |
           (unsigned)(first >= 0xC0 &&
                      (edges[dstok__first_edge(first)] & edges[dstok__last_edge(last)]) != 0);
}

/* May the vocabulary join two neighbours? */
static inline bool dstok__may_join(const dstok__cuts *c, uint32_t left, uint32_t right) {
    return (dstok__has_pair(c->pairs, c->shift, left, right) | dstok__may_tear(c, left, right)) != 0;
}

/* For bytes that are no UTF-8: bit left << 8 | right of so many words, where some token holds these two bytes
 * side by side. Between other two bytes nothing merges. */
#define DSTOK__JOINS 1024u

static inline bool dstok__bytes_join(const uint64_t *joins, uint8_t left, uint8_t right) {
    unsigned bit = (unsigned)left << 8 | right;
    return (joins[bit / 64] >> (bit % 64)) & 1;
}

#endif
