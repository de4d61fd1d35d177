/* SPDX-License-Identifier: MIT */
/* From a piece to the symbols that its merging starts from. */
#include "atoms.h"

#include "../text/utf8.h"

static uint32_t atom_of(const dstok__atoms *a, const uint8_t *text) {
    return a->ids[(size_t)a->pages[dstok__atom_page(text)] * DSTOK__ATOM_PAGE + (text[2] & 0x3F)];
}

/* The character text[0, width), as an atom where it is one and is not torn. */
static size_t put(const dstok__atoms *a, const uint32_t *byte_ids, const uint8_t *text, size_t width,
                  bool is_torn, uint32_t *ids) {
    if (width == 3 && !is_torn && (ids[0] = atom_of(a, text)) != UINT32_MAX) return 1;
    for (size_t i = 0; i < width; i++) ids[i] = byte_ids[text[i]];
    return width;
}

/* The bytes of a piece; *has_long: some character has three or four. */
static void put_bytes(const uint32_t *byte_ids, const uint8_t *text, size_t n, uint32_t *ids,
                      bool *has_long) {
    uint8_t most = 0;
    for (size_t i = 0; i < n; i++) {
        ids[i] = byte_ids[text[i]];
        most = text[i] > most ? text[i] : most;
    }
    *has_long = most >= 0xE0;
}

size_t dstok__atoms_of(const dstok__atoms *a, const uint32_t *byte_ids, const uint8_t *text, size_t n,
                       uint32_t *ids) {
    size_t width, last = 0, n_ids = 0;
    bool has_long, is_torn = false; /* the character before, at its left */
    uint32_t left = 0;
    put_bytes(byte_ids, text, n, ids, &has_long);
    if (!has_long || a->pages == NULL) return n;
    for (size_t at = 0; at < n; at += width) {
        (void)dstok__utf8_get(text + at, &width);
        uint32_t right = dstok__char_key(text + at, width);
        bool torn = at > 0 && dstok__may_join(&a->torn, left, right);
        if (at > 0) n_ids += put(a, byte_ids, text + last, at - last, is_torn || torn, ids + n_ids);
        is_torn = torn;
        last = at;
        left = right;
    }
    return n_ids + put(a, byte_ids, text + last, n - last, is_torn, ids + n_ids);
}
