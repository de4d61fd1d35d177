/* SPDX-License-Identifier: MIT */
/* Bytes as lines and columns, and the way back. */
#include "pages.h"
#include "units.h"

static int is_unit(int unit) {
    return unit == DSTOK_UNIT_BYTE || unit == DSTOK_UNIT_CHAR || unit == DSTOK_UNIT_UTF16;
}

static void far_place(dstok__pages *p, uint64_t byte, dstok_place *out) {
    const dstok__line_page *l = dstok__pages_find(p, byte);
    if (p->simd->line_places(l, &byte, 1, &out->line) == 1) return;
    l = dstok__pages_turn(p, byte);
    (void)p->simd->line_places(l, &byte, 1, &out->line); /* now its character is there whole */
}

dstok_status dstok__places_of(const dstok__simd *simd, const void *text, size_t len, const uint64_t *bytes,
                              size_t n, int unit, dstok_place *out) {
    dstok__pages p;
    dstok__pages_init(&p, simd, text, len, unit, 1);
    for (size_t i = 0; i < n; i++) {
        i += simd->line_places(&p.page[p.now], bytes + i, n - i, &out[i].line);
        if (i == n) break;
        if (bytes[i] > len) return DSTOK_E_RANGE;
        far_place(&p, bytes[i], &out[i]);
    }
    return DSTOK_OK;
}

dstok_status dstok_places(const void *text, size_t len, const uint64_t *bytes, size_t n, int unit,
                          dstok_place *places) {
    if (!is_unit(unit)) return DSTOK_E_INVAL;
    return dstok__places_of(dstok__simd_best(DSTOK__N_TIERS), text, len, bytes, n, unit, places);
}

/* ---- back ---- */

/* The units before a line, UINT64_MAX when the text has no such line. */
static uint64_t line_begin(dstok__pages *p, uint64_t line) {
    if (line <= 1) return line == 1 ? 0 : UINT64_MAX;
    const dstok__line_page *l = dstok__pages_find_line(p, line);
    if (l == NULL) return UINT64_MAX;
    size_t k = 0;
    while (l->lines[k + 1] < line - 1) k++;
    uint64_t begins = l->begins[k];
    for (uint64_t skip = line - 2 - l->lines[k]; skip > 0; skip--) begins &= begins - 1;
    uint64_t byte = l->page.at + 64 * k + (uint64_t)__builtin_ctzll(begins), units[2] = {byte, byte};
    (void)p->simd->span_units(&l->page, units, 1);
    return units[0];
}

dstok_status dstok__places_to_bytes(const dstok__simd *simd, const void *text, size_t len,
                                    const dstok_place *places, size_t n, int unit, uint64_t *out) {
    dstok__pages p;
    dstok__pages_init(&p, simd, text, len, unit, 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t from = line_begin(&p, places[i].line), at = from + places[i].column - 1;
        if (from == UINT64_MAX || places[i].column == 0 || at < from) return DSTOK_E_RANGE;
        const dstok__line_page *l = dstok__pages_find_unit(&p, at);
        uint64_t bytes[2] = {at, at};
        if (l == NULL || simd->span_bytes(&l->page, bytes, 1) != 1) return DSTOK_E_RANGE;
        dstok_place there;
        far_place(&p, bytes[0], &there);
        if (there.line != places[i].line) return DSTOK_E_RANGE;
        out[i] = bytes[0];
    }
    return DSTOK_OK;
}

dstok_status dstok_places_to_bytes(const void *text, size_t len, const dstok_place *places, size_t n,
                                   int unit, uint64_t *bytes) {
    if (!is_unit(unit)) return DSTOK_E_INVAL;
    return dstok__places_to_bytes(dstok__simd_best(DSTOK__N_TIERS), text, len, places, n, unit, bytes);
}
