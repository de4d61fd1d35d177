/* SPDX-License-Identifier: MIT */
/* Merging of short pieces, in rounds: one merge in each piece, then the new neighbours of all are looked up. */
#include "tiny.h"

#define NOBODY  DSTOK__PACKED_IDS /* no pair has this id */
#define NO_RANK INT32_MAX

#define MOST (DSTOK__TINY_MERGE * DSTOK__TINY)

/* Pairs of a round, which are looked up together: the line where the search for each begins, and where its
 * rank goes. */
typedef struct questions {
    const dstok__simd *simd;
    const dstok__pairs *pairs;
    uint64_t keys[MOST], answers[MOST];
    const uint64_t *lines[MOST];
    int32_t *ranks[MOST];
    uint32_t places[MOST];
    size_t n;
} questions;

static inline void ask(questions *q, dstok__tiny *t, unsigned left, unsigned right) {
    const dstok__pairs *p = q->pairs;
    uint64_t key = (uint64_t)t->ids[left] << 20 | t->ids[right];
    bool is_pair = t->ids[left] != NOBODY && t->ids[right] != NOBODY; /* else: no line of its own */
    const uint64_t *line = p->packed + (is_pair ? dstok__packed_home(key, p->seed, p->cap) : 0);
    __builtin_prefetch(line);
    q->keys[q->n] = key;
    q->lines[q->n] = line;
    q->ranks[q->n] = &t->ranks[left];
    q->places[q->n++] = left;
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
        *q->ranks[i] = rank == DSTOK__NO_RANK ? NO_RANK : (int32_t)(rank << 5 | q->places[i]);
    }
    q->n = 0;
}

#define NARROW 16u /* symbols of most pieces at most */

static inline int32_t least_of(const int32_t *ranks, size_t n) {
    int32_t least = NO_RANK;
    for (size_t i = 0; i < n; i++) least = ranks[i] < least ? ranks[i] : least;
    return least;
}

static inline int32_t least(const dstok__tiny *t) {
    return t->end <= NARROW + 1 ? least_of(t->ranks + 1, NARROW) : least_of(t->ranks, DSTOK__TINY + 2);
}

/* Merges the pair of a rank. */
static inline void merge_one(questions *q, dstok__tiny *t, int32_t best) {
    unsigned at = (unsigned)best & 31;
    uint32_t behind = t->alive >> (at + 1) << (at + 1), before = t->alive & ((1u << at) - 1);
    t->ids[at] = dstok__product_of(q->pairs, (uint32_t)best >> 5);
    unsigned dead = (unsigned)__builtin_ctz(behind);
    t->alive ^= 1u << dead;
    t->ranks[dead] = NO_RANK;
    ask(q, t, at, (unsigned)__builtin_ctz(behind & (behind - 1)));
    ask(q, t, 31 - (unsigned)__builtin_clz(before), at);
}

void dstok__tiny_begin(dstok__tiny *t, size_t n) {
    t->end = (uint32_t)n + 1;
    t->alive = (uint32_t)(((uint64_t)4 << n) - 1);
    t->ids[0] = t->ids[n + 1] = NOBODY;
    for (size_t i = 0; i < DSTOK__TINY + 2; i++) t->ranks[i] = NO_RANK;
}

void dstok__tiny_merge(const dstok__simd *simd, const dstok__pairs *pairs, dstok__tiny *pieces, size_t n) {
    questions q;
    q.simd = simd;
    q.pairs = pairs;
    dstok__tiny *left[DSTOK__TINY_MERGE]; /* pieces that may have merges left */
    q.n = 0;
    for (size_t i = 0; i < n; i++) {
        left[i] = &pieces[i];
        for (unsigned k = 1; k + 1 < pieces[i].end; k++) ask(&q, &pieces[i], k, k + 1);
    }
    while (n > 0) {
        answer_all(&q);
        size_t still = 0;
        for (size_t i = 0; i < n; i++) {
            dstok__tiny *t = left[i];
            int32_t best = least(t);
            if (best == NO_RANK) continue;
            left[still++] = t;
            merge_one(&q, t, best);
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
