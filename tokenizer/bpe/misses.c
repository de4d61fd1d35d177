/* SPDX-License-Identifier: MIT */
/* Learning of unknown pieces: whole tokens are found by their text, the others merged together. Every step
 * is done for all before the next one, so that what one waits for from memory comes while the others go on. */
#include "misses.h"

/* A piece on its way. */
typedef struct miss {
    uint32_t at; /* in the batch */
    uint32_t len;
    const uint8_t *text;
    uint64_t hash;
    uint32_t id; /* the token that may be all of it */
} miss;

typedef struct misses {
    const dstok_tokenizer *tok;
    dstok__fast *f;
    miss list[DSTOK__BATCH];
    size_t n;
} misses;

/* The pieces that are not in front. */
static void collect(misses *m, const uint32_t *places, size_t from, size_t n) {
    const dstok__fast *f = m->f;
    for (size_t i = from; i < n; i++) {
        const dstok__cached *slot = f->slots[i];
        uint32_t len = places[i + 1] - places[i];
        if (dstok__key_is(slot, f->keys[i]) || len > DSTOK__TINY) continue;
        __builtin_prefetch(dstok__cache_beside(&f->cache, slot));
        m->list[m->n++] = (miss){.at = (uint32_t)i, .len = len, .text = f->window.text + places[i]};
    }
}

static bool is_known(misses *m, const miss *one) {
    dstok__cache *c = &m->f->cache;
    size_t n;
    if (one->len > DSTOK__KEY_BYTES) return dstok__cache_find_long(c, one->text, one->len, &n) != NULL;
    return dstok__cache_find(c, m->f->slots[one->at], m->f->keys[one->at], &n) != NULL;
}

/* Takes those off the list that are elsewhere in the cache. */
static void leave_out_known(misses *m) {
    const dstok__tables *t = &m->tok->t;
    size_t left = 0;
    for (size_t i = 0; i < m->n; i++) {
        miss *one = &m->list[i];
        if (is_known(m, one)) continue;
        one->hash = dstok__text_hash(one->text, one->len, t->head->seed);
        __builtin_prefetch(dstok__tables_slot(t, one->hash));
        m->list[left++] = *one;
    }
    m->n = left;
}

static void put(misses *m, const miss *one, const uint32_t *ids, size_t n) {
    if (one->len > DSTOK__KEY_BYTES)
        dstok__cache_put_long(&m->f->cache, one->text, one->len, ids, n);
    else if (!dstok__key_is(m->f->slots[one->at], m->f->keys[one->at])) /* the same piece twice in a batch */
        dstok__cache_put(&m->f->cache, m->f->keys[one->at], ids, n);
}

/* Puts whole tokens; the other pieces stay on the list. */
static void find_whole(misses *m) {
    const dstok_tokenizer *tok = m->tok;
    bool whole_first = (tok->options & DSTOK__T_WHOLE_FIRST) != 0;
    size_t left = 0;
    for (size_t i = 0; i < m->n; i++) {
        m->list[i].id = dstok__tables_guess(&tok->t, m->list[i].hash);
        if (m->list[i].id < tok->n_ids) __builtin_prefetch(&tok->t.texts[m->list[i].id]);
    }
    for (size_t i = 0; i < m->n; i++)
        if (m->list[i].id < tok->n_ids) __builtin_prefetch(tok->t.strings + tok->t.texts[m->list[i].id].at);
    for (size_t i = 0; i < m->n; i++) {
        miss *one = &m->list[i];
        uint32_t id = one->id < tok->n_ids ? dstok__tables_find(&tok->t, one->text, one->len) : DSTOK__NO_ID;
        bool is_token = id < tok->n_ids, merges = is_token && (tok->flags[id] & DSTOK__TOKEN_WHOLE) != 0;
        if (merges) put(m, one, &id, 1);
        if (!merges && !(is_token && whole_first)) m->list[left++] = *one;
    }
    m->n = left;
}

static void merge_some(misses *m, const miss *some, size_t n) {
    const dstok__tables *t = &m->tok->t;
    dstok__tiny tiny[DSTOK__TINY_MERGE];
    uint32_t ids[DSTOK__TINY];
    for (size_t i = 0; i < n; i++) {
        size_t symbols =
            dstok__atoms_of(&t->atoms, t->head->byte_ids, some[i].text, some[i].len, tiny[i].ids + 1);
        dstok__tiny_begin(&tiny[i], symbols);
    }
    dstok__tiny_merge(m->f->simd, &t->pairs, tiny, n);
    for (size_t i = 0; i < n; i++) put(m, &some[i], ids, dstok__tiny_ids(&tiny[i], ids));
}

void dstok__learn_missed(dstok__fast *f, const dstok_tokenizer *tok, const uint32_t *places, size_t from,
                         size_t n) {
    misses m;
    m.tok = tok;
    m.f = f;
    m.n = 0;
    collect(&m, places, from, n);
    leave_out_known(&m);
    find_whole(&m);
    for (size_t i = 0, some; i < m.n; i += some) {
        some = m.n - i < DSTOK__TINY_MERGE ? m.n - i : DSTOK__TINY_MERGE;
        merge_some(&m, m.list + i, some);
    }
}
