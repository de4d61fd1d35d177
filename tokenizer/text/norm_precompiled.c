/* SPDX-License-Identifier: MIT */
/* Hugging Face's Precompiled: a character map applied to short grapheme clusters, else to characters. */
#include "norm.h"
#include "utf8.h"

enum { LONG_CLUSTER = 6 }; /* bytes: clusters from here on are taken a character at a time */

/* The reference lists the new characters with their `change` before it walks; what is replaced by fewer
 * characters adds to the change of the one listed last, which so must wait. */
typedef struct places {
    dstok__norm_pass *p;
    size_t at;   /* of the walk */
    size_t size; /* of the waiting character; 0: none */
    int32_t change;
} places;

static dstok_status next_place(places *w, size_t size, int32_t change) {
    if (w->size > 0) DSTOK_TRY(dstok__norm_walk(w->p, &w->at, w->size, w->change));
    w->size = size;
    w->change = change;
    return DSTOK_OK;
}

static size_t count_chars(const uint8_t *s, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += !dstok__is_continuation(s[i]);
    return count;
}

/* The places of text[0, n), which replaces src[begin, end): the last ones are additions. */
static dstok_status place_rule(places *w, size_t begin, size_t end, const uint8_t *text, size_t n) {
    if (!w->p->n->want_from) return DSTOK_OK;
    size_t old_n = count_chars(w->p->src + begin, end - begin), new_n = count_chars(text, n), width;
    for (size_t i = 0, k = 0; i < n; i += width, k++) {
        dstok__utf8_get(text + i, &width);
        DSTOK_TRY(next_place(w, width, k >= old_n));
    }
    if (new_n < old_n && w->size > 0) w->change -= (int32_t)(old_n - new_n);
    return DSTOK_OK;
}

/* Replaces src[begin, end) if its beginning has a rule. */
static dstok_status try_rule(places *w, const dstok__charsmap *map, size_t begin, size_t end,
                             bool *replaced) {
    dstok__norm_pass *p = w->p;
    dstok__charsmap_rule rule;
    *replaced = dstok__charsmap_shortest(map, p->src + begin, end - begin, &rule);
    if (!*replaced) return DSTOK_OK;
    DSTOK_TRY(place_rule(w, begin, end, (const uint8_t *)rule.text, rule.n));
    if (rule.n == end - begin && memcmp(rule.text, p->src + begin, rule.n) == 0) return DSTOK_OK;
    return dstok__norm_put(p, begin, end, rule.text, rule.n, DSTOK__NORM_NO_PLACE);
}

static dstok_status take_cluster(places *w, const dstok__charsmap *map, size_t begin, size_t end) {
    bool replaced = false;
    if (end - begin < LONG_CLUSTER) DSTOK_TRY(try_rule(w, map, begin, end, &replaced));
    for (size_t pos = begin, width; !replaced && pos < end; pos += width) {
        bool one;
        dstok__utf8_get(w->p->src + pos, &width);
        DSTOK_TRY(try_rule(w, map, pos, pos + width, &one));
        if (!one) DSTOK_TRY(next_place(w, width, 0));
    }
    return DSTOK_OK;
}

dstok_status dstok__norm_precompiled(dstok__norm_pass *p, const dstok__norm_op *op) {
    places w = {.p = p};
    p->places_itself = true;
    for (size_t pos = 0; pos < p->len;) {
        size_t end = pos + dstok__grapheme_end(p->src + pos, p->len - pos);
        DSTOK_TRY(take_cluster(&w, &op->map, pos, end));
        pos = end;
    }
    return next_place(&w, 0, 0);
}
