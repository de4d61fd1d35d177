/* SPDX-License-Identifier: MIT */
/* What only speed needs, for vocabularies of bytes: which tokens their own bytes merge to, and the tables
 * that follow from it. */
#include "build.h"

#include <string.h>

static dstok_status symbols_of(dstok__build *b, dstok__merge_scratch *m, const uint8_t *text, size_t n,
                               bool *known) {
    DSTOK_TRY(dstok__merge_reserve(m, n));
    *known = true;
    for (size_t i = 0; i < n && *known; i++) {
        *known = b->head.byte_ids[text[i]] != DSTOK__NO_ID;
        m->symbols[i] = (dstok__symbol){b->head.byte_ids[text[i]], (uint32_t)i, (uint32_t)i + 1};
    }
    return DSTOK_OK;
}

/* What merging each token by itself needs: by id, a flag that is always set, the pairs that were met, and
 * those that made whole tokens. */
typedef struct wholes {
    dstok__merge_scratch merge;
    uint8_t *ones;
    dstok__split *met, *lasts;
} wholes;

static dstok_status merge_each(dstok__build *b, wholes *w) {
    const dstok__buf *plain = &b->sections[DSTOK__S_PAIRS];
    dstok__pairs pairs = {.seed = b->head.seed,
                          .slots = (dstok__pair *)(void *)plain->data,
                          .cap = plain->len / sizeof *pairs.slots};
    dstok__merge_rules rules = {.pairs = &pairs, .flags = w->ones, .noted = 1, .splits = w->met};
    const dstok__ref *texts = (const dstok__ref *)(const void *)b->sections[DSTOK__S_TEXTS].data;
    for (uint32_t id = 0; id < b->head.n_ids; id++) {
        const uint8_t *text = b->sections[DSTOK__S_STRINGS].data + texts[id].at;
        size_t left = 0;
        bool known;
        if (texts[id].n == 0) continue;
        DSTOK_TRY(symbols_of(b, &w->merge, text, texts[id].n, &known));
        if (known) DSTOK_TRY(dstok__merge_run(&w->merge, &rules, texts[id].n, &left));
        if (left != 1 || w->merge.symbols[0].id != id) continue;
        dstok__build_flags(b)[id] |= DSTOK__TOKEN_WHOLE;
        if (texts[id].n > 1) w->lasts[id] = w->met[id];
    }
    return DSTOK_OK;
}

/* Flags whole tokens and packs the pairs. */
static dstok_status build_wholes(dstok__build *b) {
    size_t n = b->head.n_ids;
    wholes w = {.ones = dstok__alloc_array(b->al, n, 1),
                .met = dstok__alloc_array(b->al, n, sizeof *w.met),
                .lasts = dstok__alloc_array(b->al, n, sizeof *w.lasts)};
    dstok__merge_init(&w.merge, b->al);
    dstok_status status = DSTOK_E_NOMEM;
    if (w.ones != NULL && w.met != NULL && w.lasts != NULL) {
        memset(w.ones, 1, n);
        for (size_t i = 0; i < n; i++) w.lasts[i] = (dstok__split){DSTOK__NO_ID, DSTOK__NO_ID};
        status = merge_each(b, &w);
    }
    if (status == DSTOK_OK) status = dstok__build_packed(b, w.lasts);
    dstok__merge_free(&w.merge);
    dstok__free(b->al, w.ones, n);
    dstok__free(b->al, w.met, n * sizeof *w.met);
    dstok__free(b->al, w.lasts, n * sizeof *w.lasts);
    return status;
}

dstok_status dstok__build_fast(dstok__build *b) {
    if (!(b->head.options & DSTOK__T_PLAIN_ATOMS) || b->head.n_ids == 0) return DSTOK_OK;
    DSTOK_TRY(build_wholes(b));
    DSTOK_TRY(dstok__build_joins(b));
    return dstok__build_cuts(b);
}
