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
    const dstok__batch *batch;
    miss list[DSTOK__BATCH];
    size_t n;
} misses;

/* The pieces that are not in their first slot. */
static void collect(misses *m, size_t from) {
    const dstok__batch *b = m->batch;
    const dstok__tables *t = &m->tok->t;
    for (size_t i = from; i < b->n; i++) {
        const dstok__cached *slot = b->slots[i];
        uint32_t len = b->places[i + 1] - b->places[i];
        if (dstok__key_is(slot, b->keys[i]) || len > DSTOK__TINY) continue;
        const uint8_t *text = m->f->window.text + b->places[i];
        uint64_t seed = t->head->seed, hash = len <= DSTOK__KEY_BYTES ? dstok__key_text_hash(b->keys[i], seed)
                                                                      : dstok__text_hash(text, len, seed);
        __builtin_prefetch(dstok__cache_nth(slot, 2));
        __builtin_prefetch(dstok__tables_slot(t, hash));
        m->list[m->n++] = (miss){.at = (uint32_t)i, .len = len, .text = text, .hash = hash};
    }
}

static bool is_known(misses *m, const miss *one) {
    size_t n;
    return dstok__cache_find(&m->f->cache, m->batch->slots[one->at], m->batch->keys[one->at], one->text,
                             one->len, &n) != NULL;
}

/* Takes those off the list that are elsewhere in the cache. */
static void leave_out_known(misses *m) {
    size_t left = 0;
    for (size_t i = 0; i < m->n; i++)
        if (!is_known(m, &m->list[i])) m->list[left++] = m->list[i];
    m->n = left;
}

/* The same piece may be twice in a batch. */
static void put(misses *m, const miss *one, const uint32_t *ids, size_t n) {
    if (!is_known(m, one))
        dstok__cache_put(&m->f->cache, m->batch->keys[one->at], one->text, one->len, ids, n);
}

/* The token that has the text of a piece. */
static uint32_t token_of(const misses *m, const miss *one) {
    const dstok__tables *t = &m->tok->t;
    if (one->len > DSTOK__KEY_BYTES) return dstok__tables_find(t, one->text, one->len);
    return dstok__tables_find_key(t, m->batch->keys[one->at], one->hash);
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
        uint32_t id = one->id < tok->n_ids ? token_of(m, one) : DSTOK__NO_ID;
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
        if (symbols == some[i].len) {
            dstok__tiny_begin_bytes(&tiny[i], &t->pairs, some[i].text, symbols);
        } else {
            dstok__tiny_begin(&tiny[i], symbols);
        }
    }
    dstok__tiny_merge(m->f->simd, &t->pairs, tiny, n);
    for (size_t i = 0; i < n; i++) put(m, &some[i], ids, dstok__tiny_ids(&tiny[i], ids));
}

void dstok__learn_missed(dstok__fast *f, const dstok_tokenizer *tok, const dstok__batch *batch, size_t from) {
    misses m;
    m.tok = tok;
    m.f = f;
    m.batch = batch;
    m.n = 0;
    collect(&m, from);
    leave_out_known(&m);
    find_whole(&m);
    for (size_t i = 0, some; i < m.n; i += some) {
        some = m.n - i < DSTOK__TINY_MERGE ? m.n - i : DSTOK__TINY_MERGE;
        merge_some(&m, m.list + i, some);
    }
}
