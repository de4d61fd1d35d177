/* SPDX-License-Identifier: MIT */
/* Learning of unknown pieces: whole tokens are found by their text, the others merged together. Every step
 * is done for all before the next one, so that what one waits for from memory comes while the others go on. */
#include "misses.h"

#define MOST (2 * DSTOK__BATCH) /* pieces that are learned together at most */

/* A piece on its way. */
typedef struct miss {
    uint32_t at; /* in the window */
    uint32_t len;
    const uint8_t *text;
    uint64_t hash;
    uint32_t id; /* the token that may be all of it */
} miss;

typedef struct misses {
    const dstok_tokenizer *tok;
    dstok__fast *f;
    miss list[MOST];
    size_t n;
} misses;

static uint64_t hash_of(const misses *m, size_t at, const uint8_t *text, size_t len) {
    uint64_t seed = m->tok->t.head->seed;
    return len <= DSTOK__KEY_BYTES ? dstok__key_text_hash(m->f->keys[at], seed)
                                   : dstok__text_hash(text, len, seed);
}

/* Notes piece i; what its text is asked for among the tokens, and beside its slot, is on the way from
 * memory then. */
static void note(misses *m, size_t i) {
    const dstok__fast *f = m->f;
    uint32_t len = f->places[i + 1] - f->places[i];
    if (len > DSTOK__TINY) return;
    const uint8_t *text = f->window.text + f->places[i];
    uint64_t hash = hash_of(m, i, text, len);
    __builtin_prefetch(dstok__cache_nth(f->slots[i], 2));
    __builtin_prefetch(dstok__tables_slot(&m->tok->t, hash));
    m->list[m->n++] = (miss){.at = (uint32_t)i, .len = len, .text = text, .hash = hash};
}

static bool is_known(misses *m, const miss *one) {
    size_t n;
    return dstok__cache_find(&m->f->cache, m->f->slots[one->at], m->f->keys[one->at], one->text, one->len,
                             &n) != NULL;
}

/* Takes those off the list that are elsewhere in the cache. */
static void leave_out_known(misses *m) {
    size_t left = 0;
    for (size_t i = 0; i < m->n; i++)
        if (!is_known(m, &m->list[i])) m->list[left++] = m->list[i];
    m->n = left;
}

/* The same piece may be twice on the list. */
static void put(misses *m, const miss *one, const uint32_t *ids, size_t n) {
    if (!is_known(m, one)) dstok__cache_put(&m->f->cache, m->f->keys[one->at], one->text, one->len, ids, n);
}

/* The token that has the text of a piece. */
static uint32_t token_of(const misses *m, const miss *one) {
    const dstok__tables *t = &m->tok->t;
    if (one->len > DSTOK__KEY_BYTES) return dstok__tables_find(t, one->text, one->len);
    return dstok__tables_find_key(t, m->f->keys[one->at], one->hash);
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
            dstok__tiny_begin_bytes(&tiny[i], m->f->simd, &t->pairs, some[i].text, symbols);
        } else {
            dstok__tiny_begin(&tiny[i], symbols);
        }
    }
    dstok__tiny_merge(m->f->simd, &t->pairs, tiny, n);
    for (size_t i = 0; i < n; i++) put(m, &some[i], ids, dstok__tiny_ids(&tiny[i], ids));
}

/* Learns what is on the list, which is empty then. */
static void learn(misses *m) {
    leave_out_known(m);
    find_whole(m);
    for (size_t i = 0, some; i < m->n; i += some) {
        some = m->n - i < DSTOK__TINY_MERGE ? m->n - i : DSTOK__TINY_MERGE;
        merge_some(m, m->list + i, some);
    }
    m->n = 0;
}

void dstok__learn_missed(dstok__fast *f, const dstok_tokenizer *tok, size_t from, size_t end) {
    misses m;
    m.tok = tok;
    m.f = f;
    m.n = 0;
    for (size_t some; from < end; from += some) {
        uint32_t absent[DSTOK__BATCH];
        some = end - from < DSTOK__BATCH ? end - from : DSTOK__BATCH;
        size_t n = f->simd->absent(f->keys + from, f->slots + from, some, absent);
        for (size_t i = 0; i < n; i++) note(&m, from + absent[i]);
        if (m.n > MOST - DSTOK__BATCH) learn(&m);
    }
    learn(&m);
}
