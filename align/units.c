/* SPDX-License-Identifier: MIT */
/* Byte spans in other units, code points and UTF-16, snapped outwards to whole characters, and the way back. */
#include "counter.h"
#include "pages.h"
#include "units.h"

static int is_unit(int unit) {
    return unit == DSTOK_UNIT_BYTE || unit == DSTOK_UNIT_CHAR || unit == DSTOK_UNIT_UTF16;
}

/* A place that no hot loop could do: one span on a page of its own. */
static void one_span(dstok__pages *p, uint64_t byte, uint64_t pair[2]) {
    const dstok__line_page *l = dstok__pages_find(p, byte);
    if (p->simd->span_units(&l->page, pair, 1) == 1) return;
    l = dstok__pages_turn(p, byte);
    (void)p->simd->span_units(&l->page, pair, 1); /* now it is there whole */
}

/* Begin and end may be far from each other. */
static void far_span(dstok__pages *p, dstok_span *s) {
    uint64_t begin[2] = {s->begin, s->begin}, end[2] = {s->end - 1, s->end};
    one_span(p, s->begin, begin);
    if (s->begin != s->end)
        one_span(p, s->end, end);
    else
        end[1] = begin[0];
    *s = (dstok_span){begin[0], end[1]};
}

dstok_status dstok__spans_convert(const dstok__simd *simd, const void *text, size_t len, dstok_span *spans,
                                  size_t n, int unit) {
    dstok__pages p;
    dstok__pages_init(&p, simd, text, len, unit, 0);
    for (size_t i = 0; i < n;) {
        i += simd->span_units(&p.page[p.now].page, &spans[i].begin, n - i);
        if (i == n) break;
        if (spans[i].begin > spans[i].end || spans[i].end > len) return DSTOK_E_RANGE;
        far_span(&p, &spans[i++]);
    }
    return DSTOK_OK;
}

dstok_status dstok_spans_convert(const void *text, size_t len, dstok_span *spans, size_t n, int unit) {
    if (!is_unit(unit)) return DSTOK_E_INVAL;
    if (unit == DSTOK_UNIT_BYTE) return DSTOK_OK;
    return dstok__spans_convert(dstok__simd_best(DSTOK__N_TIERS), text, len, spans, n, unit);
}

/* ---- back ---- */

/* The first byte of the character that has a unit, and whether the unit is its second one; UINT64_MAX when
 * the text has no such unit. */
static uint64_t byte_of(dstok__pages *p, uint64_t unit, int *is_second) {
    uint64_t byte[2] = {unit, unit};
    const dstok__line_page *l = dstok__pages_find_unit(p, unit);
    if (l == NULL) return UINT64_MAX;
    (void)p->simd->span_bytes(&l->page, byte, 1);
    uint64_t again[2] = {byte[0], byte[0]};
    one_span(p, byte[0], again);
    *is_second = again[0] != unit;
    return byte[0];
}

static dstok_status far_span_back(dstok__pages *p, dstok_span *s) {
    int begin_in, end_in;
    if (s->begin > s->end) return DSTOK_E_RANGE;
    uint64_t begin = byte_of(p, s->begin, &begin_in), end = byte_of(p, s->end, &end_in);
    if (begin == UINT64_MAX || end == UINT64_MAX) return DSTOK_E_RANGE;
    if (s->begin != s->end && end_in) end += 4;
    *s = (dstok_span){begin, end};
    return DSTOK_OK;
}

dstok_status dstok__spans_to_bytes(const dstok__simd *simd, const void *text, size_t len, dstok_span *spans,
                                   size_t n, int unit) {
    dstok__pages p;
    dstok__pages_init(&p, simd, text, len, unit, 0);
    for (size_t i = 0; i < n;) {
        if (p.page[p.now].page.size > 0) i += simd->span_bytes(&p.page[p.now].page, &spans[i].begin, n - i);
        if (i == n) break;
        dstok_status status = far_span_back(&p, &spans[i++]);
        if (status != DSTOK_OK) return status;
    }
    return DSTOK_OK;
}

dstok_status dstok_spans_to_bytes(const void *text, size_t len, dstok_span *spans, size_t n, int unit) {
    if (!is_unit(unit)) return DSTOK_E_INVAL;
    return dstok__spans_to_bytes(dstok__simd_best(DSTOK__N_TIERS), text, len, spans, n, unit);
}

/* ---- lengths ---- */

size_t dstok__text_length(const dstok__simd *simd, const uint8_t *text, size_t len, int unit) {
    uint64_t count[2] = {0, 0};
    dstok__count_part(simd, text, len, 0, count);
    return (size_t)(count[0] + (unit == DSTOK_UNIT_UTF16 ? count[1] : 0));
}

size_t dstok_text_length(const void *text, size_t len, int unit) {
    if (unit == DSTOK_UNIT_BYTE) return len;
    return dstok__text_length(dstok__simd_best(DSTOK__N_TIERS), text, len, unit);
}

size_t dstok_utf8_check(const void *text, size_t len) {
    return dstok__simd_best(DSTOK__N_TIERS)->utf8_check(text, len);
}
