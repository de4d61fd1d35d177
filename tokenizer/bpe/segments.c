/* SPDX-License-Identifier: MIT */
/* The segment table: which tokens hold bytes of which segment. */
#include <dstok/tokenizer.h>

#include <stdbool.h>

/* Several tokens may share one range that crosses a border (the bytes of a character that a normaliser made
 * of two), so both ends of the tokens' range go forward on their own: begins and ends of spans never
 * decrease. */
void dstok_segment_table(const dstok_segment *segments, size_t n_segments, const dstok_span *spans, size_t n,
                         dstok_segment_row *rows) {
    uint64_t begin = 0;
    size_t first = 0, last = 0, next = 0; /* next: the first token that was not seen to begin before `end` */
    for (size_t k = 0; k < n_segments; k++) {
        uint64_t end = begin + segments[k].len;
        while (first < n && (spans[first].end <= begin || spans[first].end == spans[first].begin)) first++;
        for (; next < n && spans[next].begin < end; next++) {
            if (spans[next].end > spans[next].begin) last = next + 1;
        }
        bool is_empty = segments[k].len == 0 || last < first;
        rows[k] = (dstok_segment_row){
            segments[k].source, segments[k].role, {begin, end}, {first, is_empty ? first : last}};
        begin = end;
    }
}
