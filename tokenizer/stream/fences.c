/* SPDX-License-Identifier: MIT */
/* Fenced blocks of Markdown: from a line of three or more ` or ~ to the next one of the same sign, as long
 * at least. */
#include "chunker.h"

#include <string.h>

_Static_assert(DSTOK__FENCE_LINE < DSTOK__BORDER_AHEAD,
               "a fence is known where a place before its end is looked at");

/* The fence of a line: its sign and how many; 0 when it is none. *is_bare: nothing follows. */
static unsigned fence_of(const uint8_t *line, size_t n, uint8_t *sign, bool *is_bare) {
    size_t i = 0, from;
    if (n > DSTOK__FENCE_LINE) return 0;
    while (i < n && i < 3 && line[i] == ' ') i++;
    if (i == n || (line[i] != '`' && line[i] != '~')) return 0;
    *sign = line[i];
    for (from = i; i < n && line[i] == *sign; i++) {
    }
    size_t width = i - from;
    if (width < 3) return 0;
    if (*sign == '`' && memchr(line + i, '`', n - i) != NULL) return 0; /* code within a line */
    while (i < n && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r')) i++;
    *is_bare = i == n;
    return width < UINT32_MAX ? (unsigned)width : UINT32_MAX;
}

static dstok_status open_block(const dstok_alloc *al, dstok__fence_scan *scan, uint64_t begin) {
    size_t end = scan->head + scan->n;
    if (end == scan->cap && scan->head > 0) { /* first the room of those that are behind */
        memmove(scan->spans, scan->spans + scan->head, scan->n * sizeof *scan->spans);
        scan->head = 0;
        end = scan->n;
    }
    DSTOK_TRY(
        dstok__grow(al, (void **)&scan->spans, &scan->cap, end + 1, sizeof *scan->spans, SIZE_MAX / 16));
    scan->spans[end] = (dstok_span){begin, UINT64_MAX};
    scan->n++;
    return DSTOK_OK;
}

/* A line at bytes [begin, end) of the document, its break included. */
static dstok_status take_line(const dstok_alloc *al, dstok__fence_scan *scan, const uint8_t *line, size_t n,
                              uint64_t begin, uint64_t end) {
    uint8_t sign = 0;
    bool is_bare = false;
    unsigned width = fence_of(line, n, &sign, &is_bare);
    if (width == 0) return DSTOK_OK;
    if (scan->width == 0) {
        DSTOK_TRY(open_block(al, scan, begin));
        scan->width = width;
        scan->sign = sign;
    } else if (sign == scan->sign && width >= scan->width && is_bare) {
        scan->spans[scan->head + scan->n - 1].end = end;
        scan->width = 0;
    }
    return DSTOK_OK;
}

dstok_status dstok__fence_feed(const dstok_alloc *al, dstok__fence_scan *scan, const uint8_t *text,
                               size_t len, uint64_t base, bool is_end) {
    while (scan->at < base + len) {
        size_t at = (size_t)(scan->at - base);
        const uint8_t *newline = memchr(text + at, '\n', len - at);
        if (newline == NULL && !is_end) {
            if (len - at <= DSTOK__FENCE_LINE)
                break; /* the text before it may be dropped, that of the line not */
            scan->is_inside = true;
            scan->at = base + len;
            break;
        }
        size_t end = newline != NULL ? (size_t)(newline - text) : len;
        uint64_t next = base + end + (newline != NULL);
        if (!scan->is_inside) DSTOK_TRY(take_line(al, scan, text + at, end - at, scan->at, next));
        scan->is_inside = false;
        scan->at = next;
    }
    return DSTOK_OK;
}
