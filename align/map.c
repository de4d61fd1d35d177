/* SPDX-License-Identifier: MIT */
/* The map between a text and its tokens: searches in the caller's spans, and tables of where parts begin. */
#include <dstok/map.h>

#include "breaks.h"
#include "map.h"

#include "../data/unicode/unicode.h"
#include "../simd/simd.h"
#include "../tokenizer/base/base.h"
#include "../tokenizer/base/sized.h"

#include <string.h>

#define N_KINDS (DSTOK_MAP_CHAR + 1)

/* Where the parts of a kind begin. */
typedef struct parts {
    uint32_t *begins;
    size_t n, cap;
} parts;

struct dstok_map {
    dstok_alloc al;
    const uint8_t *text;
    size_t len;
    const dstok_span *spans;
    size_t n;
    uint32_t kinds;
    parts of[N_KINDS];
};

size_t dstok__char_end(const uint8_t *text, size_t len, size_t at) {
    size_t begin = dstok__char_of(text, len, at), width;
    if (begin == at) return at;
    (void)dstok__break_at(text, len, begin, &width);
    return begin + width;
}

/* The first token whose span ends behind a byte. */
static size_t first_behind(const dstok_map *map, uint64_t byte) {
    size_t low = 0, high = map->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->spans[middle].end > byte)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The first token whose span begins at a byte or behind it. */
static size_t first_from(const dstok_map *map, uint64_t byte) {
    size_t low = 0, high = map->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->spans[middle].begin >= byte)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_empty(dstok_span s) {
    return s.begin >= s.end;
}

dstok_span dstok_map_tokens(const dstok_map *map, dstok_span bytes) {
    dstok_span tokens;
    if (bytes.end > map->len) bytes.end = map->len;
    if (bytes.begin > bytes.end) bytes.begin = bytes.end;
    if (is_empty(bytes)) { /* tokens that stand at this place */
        tokens.begin = first_from(map, bytes.begin);
        tokens.end = first_behind(map, bytes.begin);
        if (tokens.end < tokens.begin) tokens.begin = tokens.end; /* one that began before reaches over it */
        return tokens;
    }
    tokens.begin = first_behind(map, bytes.begin);
    tokens.end = first_from(map, bytes.end);
    if (tokens.end < tokens.begin) tokens.end = tokens.begin;
    while (tokens.begin < tokens.end && is_empty(map->spans[tokens.begin])) tokens.begin++;
    while (tokens.end > tokens.begin && is_empty(map->spans[tokens.end - 1])) tokens.end--;
    return tokens;
}

/* ---- parts ---- */

static size_t part_end(const dstok_map *map, int kind, size_t at) {
    uint64_t next;
    size_t width;
    if (kind != DSTOK_MAP_CHAR && dstok_break_next(map->text, map->len, at, kind, &next) == DSTOK_OK)
        return (size_t)next;
    (void)dstok__break_at(map->text, map->len, at, &width);
    return at + width;
}

static dstok_status add_parts(dstok_map *map, int kind) {
    parts *p = &map->of[kind];
    for (size_t at = 0; at < map->len; at = part_end(map, kind, at)) {
        if (p->n == p->cap)
            DSTOK_TRY(dstok__grow(&map->al, (void **)&p->begins, &p->cap, p->n + 1, sizeof *p->begins,
                                  DSTOK_MAP_MAX_TEXT));
        p->begins[p->n++] = (uint32_t)at;
    }
    return DSTOK_OK;
}

static bool has_kind(const dstok_map *map, int kind) {
    return kind >= 0 && kind < N_KINDS && (map->kinds >> kind & 1) != 0;
}

size_t dstok_map_count(const dstok_map *map, int kind) {
    return has_kind(map, kind) ? map->of[kind].n : 0;
}

dstok_status dstok_map_part(const dstok_map *map, int kind, size_t i, dstok_span *bytes) {
    if (!has_kind(map, kind)) return DSTOK_E_STATE;
    const parts *p = &map->of[kind];
    if (i >= p->n) return DSTOK_E_RANGE;
    bytes->begin = p->begins[i];
    bytes->end = i + 1 < p->n ? p->begins[i + 1] : map->len;
    return DSTOK_OK;
}

size_t dstok_map_at(const dstok_map *map, int kind, uint64_t byte) {
    if (!has_kind(map, kind)) return 0;
    const parts *p = &map->of[kind];
    size_t low = 0, high = p->n; /* the first part that begins behind the byte */
    if (byte >= map->len) return p->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->begins[middle] > byte)
            high = middle;
        else
            low = middle + 1;
    }
    return low - 1;
}

/* ---- making ---- */

dstok_status dstok__spans_check(const dstok_span *spans, size_t n, size_t len, dstok_error *err) {
    for (size_t i = 0; i < n; i++) {
        const char *why = spans[i].end > len              ? "ends behind the text"
                          : spans[i].begin > spans[i].end ? "ends before it begins"
                          : i > 0 && (spans[i].begin < spans[i - 1].begin || spans[i].end < spans[i - 1].end)
                              ? "begins or ends before the one before it"
                              : NULL;
        if (why != NULL)
            return dstok__fail(err, DSTOK_E_RANGE, i, 0, "the span of token %llu %s", (unsigned long long)i,
                               why);
    }
    return DSTOK_OK;
}

static dstok_status fill(dstok_map *map) {
    for (int kind = 0; kind < N_KINDS; kind++)
        if (has_kind(map, kind)) DSTOK_TRY(add_parts(map, kind));
    return DSTOK_OK;
}

dstok_status dstok_map_new(const void *text, size_t len, const dstok_span *spans, size_t n,
                           const dstok_map_options *options, dstok_map **out, dstok_error *err) {
    dstok_map_options o = DSTOK_MAP_OPTIONS_INIT;
    if (options != NULL) {
        DSTOK_TRY(dstok__sized_check(options, DSTOK__SIZE_TO(dstok_map_options, kinds), "map_options",
                                     "DSTOK_MAP_OPTIONS_INIT", err));
        dstok__sized_read(&o, sizeof o, options);
    }
    if (out == NULL || (text == NULL && len > 0) || (spans == NULL && n > 0) || o.kinds >> N_KINDS != 0)
        return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                           "map: a pointer is NULL, or a kind unknown");
    if (len > DSTOK_MAP_MAX_TEXT)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0, "map: the text has more than %llu bytes",
                           (unsigned long long)DSTOK_MAP_MAX_TEXT);
    DSTOK_TRY(dstok__spans_check(spans, n, len, err));
    const dstok_alloc *al = o.alloc ? o.alloc : &dstok__default_alloc;
    dstok_map *map = dstok__alloc_zeroed(al, 1, sizeof *map);
    if (map == NULL) return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "map: no memory");
    map->al = *al;
    map->text = text;
    map->len = len;
    map->spans = spans;
    map->n = n;
    map->kinds = o.kinds;
    dstok_status status = fill(map);
    if (status != DSTOK_OK) {
        dstok_map_free(map);
        return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "map: no memory");
    }
    *out = map;
    return DSTOK_OK;
}

void dstok_map_free(dstok_map *map) {
    if (map == NULL) return;
    dstok_alloc al = map->al;
    for (int kind = 0; kind < N_KINDS; kind++)
        dstok__free(&al, map->of[kind].begins, map->of[kind].cap * sizeof *map->of[kind].begins);
    dstok__free(&al, map, sizeof *map);
}

/* ---- redundancy ---- */

uint32_t dstok__code_at(const uint8_t *text, size_t len, size_t at, size_t *width) {
    static const uint8_t masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = text[at];
    if (code < 0x80) {
        *width = 1;
        return code;
    }
    size_t bad = dstok__utf8_ill_formed(text + at, len - at, width);
    if (bad != 0) {
        *width = bad;
        return 0xFFFD;
    }
    code &= masks[*width];
    for (size_t i = 1; i < *width; i++) code = code << 6 | (text[at + i] & 0x3Fu);
    return code;
}

/* Whether a word of UAX #29 is one to a reader, too: neither blanks nor signs alone. */
static bool is_word(const dstok_map *map, dstok_span word) {
    size_t width;
    for (size_t at = (size_t)word.begin; at < word.end; at += width)
        if (dstok__uc_in(dstok__code_at(map->text, map->len, at, &width), DSTOK_UC_L | DSTOK_UC_N))
            return true;
    return false;
}

static void count_word(const dstok_map *map, dstok_span word, dstok_redundancy *out) {
    if (!is_word(map, word)) return;
    dstok_span tokens = dstok_map_tokens(map, word);
    out->n_words++;
    out->n_in_words += tokens.end - tokens.begin;
    out->n_fragmented += tokens.end - tokens.begin > 1;
}

void dstok_map_redundancy(const dstok_map *map, dstok_redundancy *out) {
    memset(out, 0, sizeof *out);
    out->n_chars = dstok_text_length(map->text, map->len, DSTOK_UNIT_CHAR);
    for (size_t i = 0; i < map->n; i++) {
        size_t begin = (size_t)map->spans[i].begin, end = (size_t)map->spans[i].end;
        if (begin == end) continue;
        out->n_tokens++;
        out->n_partial += dstok__char_of(map->text, map->len, begin) != begin ||
                          dstok__char_of(map->text, map->len, end) != end;
    }
    for (size_t at = 0; at < map->len;) {
        dstok_span word = {at, dstok__next_word(map->text, map->len, at)};
        count_word(map, word, out);
        at = (size_t)word.end;
    }
}
