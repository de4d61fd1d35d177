/* SPDX-License-Identifier: MIT */
/* Units, lines and borders of any bytes: tiers agree, ways back lead back, borders are the same from both
 * sides. The first byte chooses the unit, the second the piece length of the stream and the step of the
 * spans. */
#include "../align/breaks.h"
#include "../align/counter.h"
#include "../align/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_(int good, int line) {
    if (good) return;
    fprintf(stderr, "fuzz_align.c:%d does not hold\n", line);
    abort();
}
#define require(good) require_((good), __LINE__)

/* Spans that grow and shrink along the text; each even one goes back. */
static size_t make_spans(size_t n, size_t step, dstok_span *spans) {
    size_t count = 0;
    for (size_t at = 0; at <= n && count < 512; at += step, count++) {
        size_t begin = count % 8 == 7 ? at / 2 : at, end = begin + count % 11;
        spans[count] = (dstok_span){begin, end < n ? end : n};
    }
    return count;
}

static void check_units(const dstok__simd *simd, const uint8_t *text, size_t n, size_t step, int unit) {
    static dstok_span spans[512], plain[512], back[512];
    static dstok_place places[512], plain_places[512];
    static uint64_t bytes[512], back_bytes[512];
    const dstok__simd *scalar = dstok__simd_tier(DSTOK__TIER_SCALAR);
    size_t count = make_spans(n, step, spans);
    for (size_t i = 0; i < count; i++) bytes[i] = spans[i].begin;
    memcpy(plain, spans, sizeof plain);
    require(dstok__spans_convert(simd, text, n, spans, count, unit) == DSTOK_OK);
    require(dstok__spans_convert(scalar, text, n, plain, count, unit) == DSTOK_OK);
    require(memcmp(spans, plain, count * sizeof *spans) == 0);
    memcpy(back, spans, sizeof back);
    require(dstok__spans_to_bytes(simd, text, n, back, count, unit) == DSTOK_OK);
    for (size_t i = 0; i < count; i++)
        require(back[i].begin == dstok__char_of(text, n, bytes[i]) || unit == DSTOK_UNIT_BYTE);
    require(dstok__spans_convert(simd, text, n, back, count, unit) == DSTOK_OK);
    require(memcmp(spans, back, count * sizeof *spans) == 0);
    require(dstok__places_of(simd, text, n, bytes, count, unit, places) == DSTOK_OK);
    require(dstok__places_of(scalar, text, n, bytes, count, unit, plain_places) == DSTOK_OK);
    require(memcmp(places, plain_places, count * sizeof *places) == 0);
    require(dstok__places_to_bytes(simd, text, n, places, count, unit, back_bytes) == DSTOK_OK);
    for (size_t i = 0; i < count; i++)
        require(back_bytes[i] == (unit == DSTOK_UNIT_BYTE ? bytes[i] : dstok__char_of(text, n, bytes[i])));
}

static void check_stream(const dstok__simd *simd, const uint8_t *text, size_t n, size_t step) {
    dstok__counter c = {0};
    for (size_t at = 0; at < n; at += step)
        dstok__counter_feed(&c, simd, text + at, n - at < step ? n - at : step);
    dstok__at end;
    dstok_place place;
    uint64_t byte = n;
    dstok__counter_at(&c, -1, &end);
    require(end.chars == dstok__text_length(simd, text, n, DSTOK_UNIT_CHAR));
    require(end.utf16 == dstok__text_length(simd, text, n, DSTOK_UNIT_UTF16));
    require(dstok__places_of(simd, text, n, &byte, 1, DSTOK_UNIT_UTF16, &place) == DSTOK_OK);
    require(end.line == place.line && end.column_utf16 == place.column);
}

static void check_borders(const uint8_t *text, size_t n, int kind) {
    uint64_t next, border;
    for (uint64_t at = 0; at < n; at = next) {
        require(dstok_break_next(text, n, at, kind, &next) == DSTOK_OK && next > at && next <= n);
        require(dstok_break_last(text, n, 0, next, kind, &border) == DSTOK_OK && border == next);
        require(dstok_break_last(text, n, 0, next - 1, kind, &border) == DSTOK_OK && border == at);
        require(dstok_break_last(text, n, at, at + (next - at) / 2, kind, &border) == DSTOK_OK &&
                border == at);
        require(dstok__char_of(text, n, (size_t)next) == next);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size > MAX_TEXT) return 0;
    size_t n = size - 2, step = data[1] % 97u + 1;
    uint8_t *text = malloc(n > 0 ? n : 1); /* exact: a byte too many is seen */
    if (text == NULL) return 0;
    memcpy(text, data + 2, n);
    for (int tier = 0; tier < DSTOK__N_TIERS; tier++) {
        const dstok__simd *simd = dstok__simd_tier((dstok__tier)tier);
        if (simd == NULL) continue;
        check_units(simd, text, n, step, data[0] % 3);
        check_stream(simd, text, n, step);
    }
    for (int kind = DSTOK_BREAK_GRAPHEME; kind <= DSTOK_BREAK_PARAGRAPH; kind++) check_borders(text, n, kind);
    free(text);
    return 0;
}
