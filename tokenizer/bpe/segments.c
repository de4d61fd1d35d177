/* SPDX-License-Identifier: MIT */
/* The segment table: which tokens hold bytes of which segment. */
#include <dstok/tokenizer.h>

/* The first token from i on that holds bytes at or behind `begin`. */
static size_t skip_before(const dstok_span *spans, size_t n, size_t i, uint64_t begin) {
    while (i < n && (spans[i].end <= begin || spans[i].end == spans[i].begin)) i++;
    return i;
}

void dstok_segment_table(const dstok_segment *segments, size_t n_segments, const dstok_span *spans, size_t n,
                         dstok_segment_row *rows) {
    uint64_t begin = 0;
    size_t first = 0;
    for (size_t k = 0; k < n_segments; k++) {
        uint64_t end = begin + segments[k].len;
        first = skip_before(spans, n, first, begin);
        size_t last = first;
        for (size_t i = first; i < n && spans[i].begin < end; i++) {
            if (spans[i].end > spans[i].begin) last = i + 1;
        }
        if (segments[k].len == 0) last = first;
        rows[k] = (dstok_segment_row){segments[k].source, segments[k].role, {begin, end}, {first, last}};
        if (last > first) first = last - 1; /* the last token may go on in the next segment */
        begin = end;
    }
}
