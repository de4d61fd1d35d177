/* SPDX-License-Identifier: MIT */
/* What the tests of normalisers share: the edit list against the one that is wanted, places in readable form. */
#ifndef DSTOK_TESTS_NORM_UTIL_H
#define DSTOK_TESTS_NORM_UTIL_H

#include "../../tokenizer/text/normalize.h"
#include "../harness/t.h"

static inline bool same_edit(const dstok__edit *a, const dstok__edit *b) {
    return a->out == b->out && a->src == b->src && a->out_n == b->out_n && a->src_n == b->src_n;
}

/* index: the number of the case, for the message. */
static inline void check_edits(const dstok__normalized *norm, const dstok__edit *want, size_t n,
                               size_t index) {
    bool same = norm->n_edits == n;
    for (size_t k = 0; same && k < n; k++) same = same_edit(&norm->edits[k], &want[k]);
    CHECK(same);
    if (same) return;
    fprintf(stderr, "edits of case %zu:", index);
    for (size_t k = 0; k < norm->n_edits; k++)
        fprintf(stderr, " {%zu, %zu, %u, %u}", norm->edits[k].out, norm->edits[k].src, norm->edits[k].out_n,
                norm->edits[k].src_n);
    fputc('\n', stderr);
}

static inline bool is_head(char byte) {
    return ((unsigned char)byte & 0xC0) != 0x80;
}

/* Writes for each character of the result the index of the character of src whose place it has; "-": none. */
static inline void write_places(const dstok__normalized *norm, const char *src, char *out, size_t cap) {
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < norm->len; i++) {
        if (!is_head((char)norm->text[i])) continue;
        int index = -1;
        for (size_t k = 0; norm->from[i] != DSTOK__NOWHERE && k <= norm->from[i]; k++)
            index += is_head(src[k]);
        const char *gap = n == 0 ? "" : " ";
        n += (size_t)(index < 0 ? snprintf(out + n, cap - n, "%s-", gap)
                                : snprintf(out + n, cap - n, "%s%d", gap, index));
    }
}

#endif
