/* SPDX-License-Identifier: MIT */
/* Reading a character map: all that a walk can reach in it is checked once, when it is read. */
#include "charsmap.h"
#include "utf8.h"

#include "../../simd/simd.h"

#include <string.h>

enum { MAX_BLOB = 4 << 20, MAX_KEY = 256, MAX_TEXT = 4096, HEADER = 4 };

/* A unit of the array: offset to the children, label, and whether a text ends here. */
static uint32_t unit_at(const dstok__charsmap *map, uint32_t i) {
    const uint8_t *u = map->units + (size_t)i * 4;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static bool has_leaf(uint32_t unit) {
    return ((unit >> 8) & 1) != 0;
}

static uint32_t label(uint32_t unit) {
    return unit & 0x800000FFu;
}

static uint32_t child_offset(uint32_t unit) {
    return (unit >> 10) << ((unit & 0x200u) >> 6);
}

/* A place in a trie: the index to which the next label is applied, and the one of its text. */
typedef struct node {
    uint32_t base;
    bool has_text;
} node;

static node root(const dstok__charsmap *map) {
    return (node){child_offset(unit_at(map, 0)), false};
}

/* Goes on by one byte, which is not 0: no key holds one, so where it leads was not checked. */
static bool step(const dstok__charsmap *map, node *at, uint8_t byte) {
    uint32_t i = at->base ^ byte;
    if (i >= map->n_units) return false;
    uint32_t unit = unit_at(map, i);
    if (label(unit) != byte) return false;
    *at = (node){i ^ child_offset(unit), has_leaf(unit)};
    return true;
}

/* The text of a node that has one. */
static bool text_of(const dstok__charsmap *map, node at, const char **text, size_t *n) {
    if (at.base >= map->n_units) return false;
    size_t begin = unit_at(map, at.base) & 0x7FFFFFFFu;
    if (begin > map->texts_n) return false;
    *text = map->texts + begin;
    *n = map->texts_n - begin;
    if (*n > MAX_TEXT + 1) *n = MAX_TEXT + 1; /* check_text refuses those */
    const char *end = *n != 0 ? memchr(*text, '\0', *n) : NULL;
    if (end != NULL) *n = (size_t)(end - *text);
    return *n == 0 || !dstok__is_continuation((uint8_t)(*text)[0]);
}

bool dstok__charsmap_shortest(const dstok__charsmap *map, const uint8_t *s, size_t len,
                              dstok__charsmap_rule *rule) {
    if (map->n_units == 0) return false;
    node at = root(map);
    for (size_t i = 0; i < len && s[i] != 0 && step(map, &at, s[i]); i++) {
        if (!at.has_text) continue;
        rule->used = i + 1;
        return text_of(map, at, &rule->text, &rule->n);
    }
    return false;
}

bool dstok__charsmap_longest(const dstok__charsmap *map, const uint8_t *s, size_t len,
                             dstok__charsmap_rule *rule) {
    if (map->n_units == 0) return false;
    node at = root(map), best = at;
    if (len > MAX_KEY) len = MAX_KEY;
    for (size_t i = 0; i < len && s[i] != 0 && step(map, &at, s[i]); i++) {
        if (!at.has_text || (i + 1 < len && dstok__is_continuation(s[i + 1]))) continue;
        best = at;
        rule->used = i + 1;
    }
    return best.has_text && text_of(map, best, &rule->text, &rule->n);
}

/* ---- checking ---- */

/* A walk over all nodes, the ones nearest to the root first. Keys with the same end may share nodes. */
typedef struct walk {
    dstok__charsmap *map;
    node *queue;
    uint8_t *seen; /* bit for each base */
    size_t n;      /* nodes in the queue */
} walk;

static bool add_node(walk *w, node at) {
    if (at.base >= w->map->n_units) return false;
    uint8_t bit = (uint8_t)(1u << (at.base & 7));
    if ((w->seen[at.base >> 3] & bit) != 0) return true;
    w->seen[at.base >> 3] |= bit;
    w->queue[w->n++] = at;
    return true;
}

static size_t ratio(size_t out, size_t in) {
    return (out + in - 1) / in;
}

static bool check_text(walk *w, node at, size_t depth) {
    const char *text;
    size_t n, blanks = 0;
    if (!text_of(w->map, at, &text, &n) || n > MAX_TEXT) return false;
    for (size_t i = 0; i < n; i++) blanks += text[i] == ' ';
    size_t growth = ratio(n, depth), escaped = ratio(n + 2 * blanks, depth);
    if (growth > w->map->growth) w->map->growth = (uint32_t)growth;
    if (escaped > w->map->escaped_growth) w->map->escaped_growth = (uint32_t)escaped;
    return true;
}

/* Adds the children of a node whose shortest key has depth bytes. */
static bool check_children(walk *w, node at, size_t depth) {
    for (unsigned byte = 1; byte < 256; byte++) {
        node child = at;
        if (!step(w->map, &child, (uint8_t)byte)) continue;
        if (child.has_text && !check_text(w, child, depth + 1)) return false;
        if (!add_node(w, child)) return false;
    }
    return true;
}

static bool check_all(walk *w) {
    if (!add_node(w, root(w->map))) return false;
    size_t depth = 0, level_end = w->n;
    for (size_t i = 0; i < w->n; i++) {
        if (i == level_end) {
            depth++;
            level_end = w->n;
        }
        if (depth >= MAX_KEY || !check_children(w, w->queue[i], depth)) return false;
    }
    return true;
}

static dstok_status check_trie(const dstok_alloc *al, dstok__charsmap *map, dstok_error *err) {
    size_t bits = (size_t)map->n_units / 8 + 1;
    walk w = {.map = map};
    w.queue = dstok__alloc_array(al, map->n_units, sizeof *w.queue);
    w.seen = dstok__alloc_zeroed(al, bits, 1);
    bool had_memory = w.queue != NULL && w.seen != NULL;
    bool good = had_memory && check_all(&w);
    dstok__free(al, w.queue, map->n_units * sizeof *w.queue);
    dstok__free(al, w.seen, bits);
    if (!had_memory) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory");
    if (!good) return dstok__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0, "broken character map");
    return DSTOK_OK;
}

dstok_status dstok__charsmap_read(const dstok_alloc *al, const char *blob, size_t n, dstok__charsmap *map,
                                  dstok_error *err) {
    *map = (dstok__charsmap){.growth = 1, .escaped_growth = 3};
    if (n > MAX_BLOB) {
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "character map of %zu bytes, at most %d",
                           n, (int)MAX_BLOB);
    }
    dstok__charsmap whole = {.units = (const uint8_t *)blob, .n_units = 1};
    size_t trie = n < HEADER ? SIZE_MAX : unit_at(&whole, 0);
    if (trie == SIZE_MAX || trie == 0 || trie % 4 != 0 || trie > n - HEADER)
        return dstok__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0,
                           "broken character map: its trie has no such size");
    map->units = (const uint8_t *)blob + HEADER;
    map->n_units = (uint32_t)(trie / 4);
    map->texts = blob + HEADER + trie;
    map->texts_n = n - HEADER - trie;
    if (dstok__utf8_check((const uint8_t *)map->texts, map->texts_n) != map->texts_n)
        return dstok__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0,
                           "broken character map: a replacement is no UTF-8");
    return check_trie(al, map, err);
}
