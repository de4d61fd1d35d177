/* SPDX-License-Identifier: MIT */
/* Spans of tokens from their lengths. */
#include "spans.h"

#include "../text/utf8.h"

/* Lengths are asked for so many ids ahead: those of all tokens are too many for the caches. */
#define AHEAD 64u

void dstok__spans_from_ids(const dstok_tokenizer *tok, const uint8_t *source, const uint32_t *ids, size_t n,
                           uint64_t at, uint64_t end, dstok_span *spans, uint8_t *flags) {
    const dstok__ref *texts = tok->t.texts;
    bool is_cut = at < end && dstok__is_continuation(source[at]);
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(&texts[ids[n - i > AHEAD ? i + AHEAD : i]]);
        uint64_t next = at + texts[ids[i]].n;
        if (next > end) next = end; /* only a forged file's texts do not fit */
        bool is_cut_next = next < end && dstok__is_continuation(source[next]);
        spans[i] = (dstok_span){at, next};
        flags[i] = (is_cut | is_cut_next) * DSTOK_FLAG_PARTIAL; /* no branch: nobody can foresee it */
        at = next;
        is_cut = is_cut_next;
    }
}
