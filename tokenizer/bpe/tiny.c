/* SPDX-License-Identifier: MIT */
/* Merging of short pieces, in rounds: one merge in each piece, then the new neighbours of all are looked up. */
#include "tiny.h"

#define NOBODY  DSTOK__PACKED_IDS /* no pair has this id */
#define NO_RANK DSTOK__NO_PLACED

#define MOST (DSTOK__TINY_MERGE * DSTOK__TINY)

/* Pairs of a round, which are looked up together: the line where the search for each begins, and where its
 * rank goes. */
typedef struct questions {
    const dstok__simd *simd;
    const dstok__pairs *pairs;
    uint64_t keys[MOST + 1], answers[MOST];
    const uint64_t *lines[MOST + 1];
    int32_t *ranks[MOST + 1];
    uint32_t places[MOST + 1];
    size_t n;
} questions;

/* is_pair: else there is one symbol only, and no question. */
static inline void ask(questions *q, dstok__tiny *t, unsigned left, unsigned right, bool is_pair) {
    const dstok__pairs *p = q->pairs;
    uint64_t key = (uint64_t)t->ids[left] << 20 | t->ids[right];
    const uint64_t *line = p->packed + (is_pair ? dstok__packed_home(key, p->seed, p->cap) : 0);
    __builtin_prefetch(line);
    q->keys[q->n] = key;
    q->lines[q->n] = line;
    q->ranks[q->n] = &t->ranks[left];
    q->places[q->n] = left;
    q->n += is_pair;
}

static inline void answer_all(questions *q) {
    q->simd->find_words(q->lines, q->keys, q->n, q->answers);
    for (size_t i = 0; i < q->n; i++) {
        uint64_t found = q->answers[i];
        uint32_t rank = (uint32_t)found & (DSTOK__PACKED_RANKS - 1);
        rank = found == DSTOK__PACKED_FREE ? DSTOK__NO_RANK : rank;
        bool is_elsewhere = (found == DSTOK__PACKED_FREE) & dstok__packed_goes_on(q->lines[i]);
        if (__builtin_expect(is_elsewhere, 0))
            rank = dstok__packed_rank_at(q->pairs, q->lines[i], q->keys[i]);
        *q->ranks[i] = dstok__placed(rank) | (int32_t)q->places[i];
    }
    q->n = 0;
}

/* Merges the pair of a rank. */
static inline void merge_one(questions *q, dstok__tiny *t, int32_t best) {
    unsigned at = (unsigned)best & 31;
    uint32_t behind = t->alive >> (at + 1) << (at + 1), before = t->alive & ((1u << at) - 1);
    t->ids[at] = dstok__product_of(q->pairs, (uint32_t)best >> 5);
    unsigned dead = (unsigned)__builtin_ctz(behind);
    t->alive ^= 1u << dead;
    t->ranks[at] = t->ranks[dead] = NO_RANK;
    unsigned next = (unsigned)__builtin_ctz(behind & (behind - 1)),
             last = 31 - (unsigned)__builtin_clz(before);
    ask(q, t, at, next, next < t->end);
    ask(q, t, last, at, last > 0);
}

static void begin(dstok__tiny *t, size_t n) {
    t->end = (uint32_t)n + 1;
    t->alive = (uint32_t)(((uint64_t)4 << n) - 1);
    t->ids[0] = t->ids[n + 1] = NOBODY;
}

void dstok__tiny_begin(dstok__tiny *t, size_t n) {
    begin(t, n);
    for (size_t i = 0; i < DSTOK__TINY + 2; i++) t->ranks[i] = NO_RANK;
    t->has_ranks = false;
    t->early = 0;
}

/* Some pairs of bytes merge as they are, whatever happens around them before their turn: their neighbours
 * merge later, and what these may become, too. Then they may merge at once: what they make merges later
 * still. */
void dstok__tiny_begin_bytes(dstok__tiny *t, const dstok__simd *simd, const dstok__pairs *pairs,
                             const uint8_t *text, size_t n) {
    begin(t, n);
    t->early = simd->byte_ranks(pairs->of_bytes, text, n, t->ranks);
    t->has_ranks = true;
}

/* Asks for what a piece begins with. */
static void ask_first(questions *q, dstok__tiny *t) {
    for (unsigned k = 1; k + 1 < t->end; k++) ask(q, t, k, k + 1, true);
}

/* Merges the pairs that merge early, and asks for their new neighbours. No two of them touch. */
static void merge_early(questions *q, dstok__tiny *t) {
    for (uint32_t rest = t->early; rest != 0; rest &= rest - 1) {
        unsigned at = (unsigned)__builtin_ctz(rest);
        t->ids[at] = dstok__product_of(q->pairs, (uint32_t)t->ranks[at] >> 5);
        t->ranks[at] = t->ranks[at + 1] = NO_RANK;
    }
    t->alive &= ~(t->early << 1);
    for (uint32_t rest = t->early; rest != 0; rest &= rest - 1) {
        unsigned at = (unsigned)__builtin_ctz(rest);
        ask(q, t, at, at + 2, at + 2 < t->end);
        ask(q, t, at - 1, at, at > 1 && t->alive >> (at - 1) & 1); /* else the one before asks */
    }
}

void dstok__tiny_merge(const dstok__simd *simd, const dstok__pairs *pairs, dstok__tiny *pieces, size_t n) {
    questions q;
    q.simd = simd;
    q.pairs = pairs;
    dstok__tiny
        *left[DSTOK__TINY_MERGE]; /* pieces that may have merges left, their ranks, the least of them */
    const int32_t *rows[DSTOK__TINY_MERGE];
    int32_t best[DSTOK__TINY_MERGE];
    q.n = 0;
    for (size_t i = 0; i < n; i++) {
        left[i] = &pieces[i];
        rows[i] = pieces[i].ranks;
        if (pieces[i].has_ranks) {
            merge_early(&q, &pieces[i]);
        } else {
            ask_first(&q, &pieces[i]);
        }
    }
    while (n > 0) {
        answer_all(&q);
        simd->least(rows, n, best);
        size_t still = 0;
        for (size_t i = 0; i < n; i++) {
            if (best[i] >= NO_RANK) continue;
            merge_one(&q, left[i], best[i]);
            rows[still] = rows[i];
            left[still++] = left[i];
        }
        n = still;
    }
}

size_t dstok__tiny_ids(const dstok__tiny *t, uint32_t *ids) {
    size_t n = 0;
    for (uint32_t rest = t->alive & ((1u << t->end) - 2); rest != 0; rest &= rest - 1)
        ids[n++] = t->ids[__builtin_ctz(rest)];
    return n;
}
