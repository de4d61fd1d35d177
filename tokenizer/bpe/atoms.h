/* SPDX-License-Identifier: MIT */
/* Where merging may start from: bytes, or characters whose bytes come to one token whatever is around them.
 * That is so when no token holds a part of the character side by side with something else, and the token
 * takes part in merges only of higher rank than those that make it. Asked of characters of three bytes:
 * they are most of what is long. */
#ifndef DSTOK_BPE_ATOMS_H
#define DSTOK_BPE_ATOMS_H

#include "../../simd/cuts.h"

#define DSTOK__ATOM_PAGES 1024u /* by all but the last six bits of a character up to U+FFFF */
#define DSTOK__ATOM_PAGE  64u   /* characters */

/* Views of sections of the tables. */
typedef struct dstok__atoms {
    const uint16_t *pages; /* rows of ids by page; NULL: there are only bytes */
    const uint32_t *ids;   /* DSTOK__NO_ID: no atom */
    dstok__cuts torn;      /* which neighbours some token holds, one of them in part */
} dstok__atoms;

/* The page of a character of three bytes. */
static inline unsigned dstok__atom_page(const uint8_t *text) {
    return (text[0] & 0x0Fu) << 6 | (text[1] & 0x3Fu);
}

/* The symbols that merging text[0, n), n > 0, well-formed UTF-8, starts from, to ids, which has room for n.
 * Returns how many. byte_ids: of all bytes. */
size_t dstok__atoms_of(const dstok__atoms *atoms, const uint32_t *byte_ids, const uint8_t *text, size_t n,
                       uint32_t *ids);

#endif
