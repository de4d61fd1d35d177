/* SPDX-License-Identifier: MIT */
/* Where a text may be broken. All of it errs on the side of "not here". */
#include "seams.h"

#include "../bpe/decoding.h"
#include "../pretok/scan.h"

#include <string.h>

/* ---- added tokens ---- */

static void put_point(dstok__points *p, uint32_t cp) {
    p->bits[cp / 64 % 16] |= (uint64_t)1 << (cp % 64);
}

static bool has_point(const dstok__points *p, uint32_t cp) {
    return (p->bits[cp / 64 % 16] >> (cp % 64)) & 1;
}

static void guard_init(dstok__guard *g, const dstok__added_set *set) {
    *g = (dstok__guard){.set = set};
    for (size_t i = 0; i < set->n; i++) {
        const dstok__added_entry *e = &set->entries[i];
        uint32_t cp = 0;
        if (e->n > g->longest) g->longest = e->n;
        g->flags |= e->flags;
        for (size_t at = 0, width; at < e->n; at += width) {
            cp = dstok__utf8_get(e->text + at, &width);
            put_point(at == 0 ? &g->first : &g->inner, cp);
        }
        put_point(&g->last, cp);
    }
}

void dstok__seams_init(dstok__seams *b, const dstok_tokenizer *tok) {
    b->tok = tok;
    guard_init(&b->raw, &tok->raw);
    guard_init(&b->normalized, &tok->normalized);
}

/* The order of entries: by bytes, a head before what it is the head of. Does an entry begin with head[0, n)? */
static bool is_head(const dstok__added_set *set, const uint8_t *head, size_t n) {
    size_t lo = 0, hi = set->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const dstok__added_entry *e = &set->entries[mid];
        int c = memcmp(e->text, head, e->n < n ? e->n : n);
        if (c < 0 || (c == 0 && e->n < n)) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < set->n && set->entries[lo].n >= n && memcmp(set->entries[lo].text, head, n) == 0;
}

/* Does an entry stand before `at` and reach it, or may one go over it? */
static bool touches(const dstok__guard *g, const uint8_t *text, size_t at) {
    size_t from = at > g->longest ? at - g->longest : 0;
    for (size_t i = from; (i = dstok__added_next(g->set, text, at, i)) < at; i++)
        if (is_head(g->set, text + i, at - i)) return true;
    /* The last byte alone: the search above takes what follows for the end of the text. */
    return g->longest > 0 && at > 0 && is_head(g->set, text + at - 1, 1);
}

bool dstok__seam_is_crossed(const dstok__seams *b, const uint8_t *text, size_t at) {
    const dstok__guard *g = &b->raw;
    for (size_t i = at > g->longest ? at - g->longest : 0; i < at; i++)
        if (is_head(g->set, text + i, at + 1 - i)) return true;
    return false;
}

/* Blanks that a token on either side may take, and characters that keep one from standing alone. */
static bool may_lose_neighbours(const dstok__guard *g, uint32_t a, bool begins) {
    if ((g->flags & (DSTOK__ADDED_LSTRIP | DSTOK__ADDED_RSTRIP)) && dstok__uc_is_space(a)) return true;
    return (g->flags & DSTOK__ADDED_SINGLE_WORD) && begins;
}

/* In the text itself ... */
static bool guards_text(const dstok__guard *g, const uint8_t *text, size_t at, uint32_t a, uint32_t b) {
    if (g->set->n == 0) return false;
    return touches(g, text, at) || may_lose_neighbours(g, a, has_point(&g->first, b));
}

/* ... and in the normalised text, of which the characters on both sides are known. */
static bool guards_image(const dstok__guard *g, uint32_t a, uint32_t b) {
    if (g->set->n == 0) return false;
    return has_point(&g->inner, b) || has_point(&g->last, a) ||
           may_lose_neighbours(g, a, has_point(&g->first, b));
}

/* ---- places ---- */

/* The well-formed character that begins at text[at]: its width, 0 when there is none. */
static size_t character_at(const uint8_t *text, size_t len, size_t at, uint32_t *cp) {
    if (at >= len) return 0;
    uint8_t lead = text[at];
    size_t width = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (width > len - at || dstok__utf8_ill_formed(text + at, width, NULL) != 0) return 0;
    *cp = dstok__utf8_get(text + at, &width);
    return width;
}

/* The one that ends there. */
static bool character_before(const uint8_t *text, size_t at, uint32_t *cp) {
    for (size_t k = 1; k <= 4 && k <= at; k++) {
        if (dstok__is_continuation(text[at - k])) continue;
        return character_at(text, at, at - k, cp) == k;
    }
    return false;
}

bool dstok__seam_at(const dstok__seams *b, const uint8_t *text, size_t len, size_t at) {
    uint32_t before, next, behind, image_before, image_next, image_behind;
    size_t width = character_at(text, len, at, &next);
    if (at == 0 || width == 0 || !character_before(text, at, &before)) return false;
    if (guards_text(&b->raw, text, at, before, next)) return false;
    const dstok__normalizer *z = b->tok->normalizer;
    if (z == NULL) return !guards_text(&b->normalized, text, at, before, next);
    if (character_at(text, len, at + width, &behind) == 0) return false;
    return dstok__normalizer_image(z, before, &image_before) &&
           dstok__normalizer_image(z, next, &image_next) &&
           dstok__normalizer_image(z, behind, &image_behind) &&
           !guards_image(&b->normalized, image_before, image_next);
}

size_t dstok__whole_characters(const uint8_t *text, size_t len) {
    return len - dstok__open_tail(text, len);
}

/* The last one in text[from, to), which is well-formed from `from` on up to `to`; 0: none. */
static size_t last_in(const dstok__seams *b, const uint8_t *text, size_t len, size_t from, size_t to) {
    size_t found = 0;
    for (size_t at = from; (at = dstok__sure_begin(text, to, at, to)) < to;) {
        if (dstok__seam_at(b, text, len, at)) found = at;
    }
    return found;
}

size_t dstok__seam_last(const dstok__seams *b, const uint8_t *text, size_t len) {
    size_t end = dstok__whole_characters(text, len);
    for (size_t window = 256, to = end; to > 0; window *= 4) {
        size_t from = end > window ? end - window : 0, found = 0;
        while (from > 0 && from < to && dstok__is_continuation(text[from])) from++;
        for (size_t at = from; at < to;) { /* each well-formed stretch */
            size_t good = dstok__utf8_check(text + at, to - at);
            size_t here = good > 0 ? last_in(b, text, len, at, at + good) : 0;
            if (here > 0) found = here;
            at += good;
            if (at < to) at += dstok__utf8_ill_formed(text + at, to - at, NULL);
        }
        if (found > 0 || from == 0) return found;
        to = from;
    }
    return 0;
}
