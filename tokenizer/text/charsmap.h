/* SPDX-License-Identifier: MIT */
/* A SentencePiece precompiled character map: a double-array trie of byte strings, and what each becomes. */
#ifndef DSTOK_TEXT_CHARSMAP_H
#define DSTOK_TEXT_CHARSMAP_H

#include "../base/base.h"

typedef struct dstok__charsmap {
    const uint8_t *units; /* 4 bytes each, the lowest first */
    uint32_t n_units;     /* 0: the map is empty, nothing is replaced */
    const char *texts;    /* the replacements, each with a NUL behind it; UTF-8 */
    size_t texts_n;
    uint32_t growth; /* a replacement is at most so many times as long as what it replaces, at least 1 ... */
    uint32_t escaped_growth; /* ... and with three bytes for each blank in it; at least 3 */
} dstok__charsmap;

typedef struct dstok__charsmap_rule {
    size_t used;      /* bytes matched */
    const char *text; /* what they become; n bytes */
    size_t n;
} dstok__charsmap_rule;

/* Reads and checks a whole blob, which must outlive the map. E_FORMAT: broken; E_LIMIT: of absurd size;
 * E_NOMEM. */
dstok_status dstok__charsmap_read(const dstok_alloc *al, const char *blob, size_t n, dstok__charsmap *map,
                                  dstok_error *err);

/* The shortest prefix of s[0, len) that has a rule (Hugging Face). */
bool dstok__charsmap_shortest(const dstok__charsmap *map, const uint8_t *s, size_t len,
                              dstok__charsmap_rule *rule);

/* The longest one that ends with a whole character (SentencePiece). */
bool dstok__charsmap_longest(const dstok__charsmap *map, const uint8_t *s, size_t len,
                             dstok__charsmap_rule *rule);

#endif
