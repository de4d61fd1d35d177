/* SPDX-License-Identifier: MIT */
/* Merging against a plain rescan: lengths on both sides of the switch between its ways, parts by themselves, ties,
 * refused and noted products. */
#include "../../tokenizer/bpe/lanes.h"
#include "../../tokenizer/bpe/parts.h"
#include "../harness/heap.h"
#include "../harness/t.h"
#include "packed.h"

#include <stdlib.h>

typedef dstok__symbol symbol;

#define REFUSED 4u
#define NOTED   8u
#define IDS     200

/* ---- the naive version ---- */

/* What symbols i and i + 1 merge to; a split is noted where the flags ask for it. */
static dstok__found look(const dstok__merge_rules *r, const symbol *s, size_t n, size_t i, bool note) {
    dstok__found none = {DSTOK__NO_RANK, 0};
    if (i + 1 >= n) return none;
    dstok__found p = dstok__pairs_get(r->pairs, s[i].id, s[i + 1].id);
    if (p.rank == DSTOK__NO_RANK) return none;
    if (note && (r->flags[p.product] & r->noted)) {
        r->splits[p.product] = (dstok__split){s[i].id, s[i + 1].id};
    }
    return r->flags[p.product] & r->refused ? none : p;
}

/* As SentencePiece, a split is noted when two symbols become neighbours: first to the left, then to the right. */
static void naive(const dstok__merge_rules *r, symbol *s, size_t *n) {
    for (size_t i = 0; i < *n; i++) look(r, s, *n, i, true);
    for (;;) {
        dstok__found best = {DSTOK__NO_RANK, 0};
        size_t at = 0;
        for (size_t i = 0; i + 1 < *n; i++) {
            dstok__found p = look(r, s, *n, i, false);
            if (p.rank >= best.rank) continue;
            best = p;
            at = i;
        }
        if (best.rank == DSTOK__NO_RANK) return;
        s[at].id = best.product;
        s[at].end = s[at + 1].end;
        memmove(&s[at + 1], &s[at + 2], (*n - at - 2) * sizeof *s);
        --*n;
        if (at > 0) look(r, s, *n, at - 1, true);
        look(r, s, *n, at, true);
    }
}

/* ---- random tables ---- */

#define ALPHABET 4

/* Products in any order of ids; with_ties lets pairs share ranks, which merge lists never do but tables may. */
static void random_pairs(t_rng *rng, dstok__pairs *pairs, size_t n, bool with_ties) {
    CHECK_EQ(dstok__pairs_reserve(pairs, n), DSTOK_OK);
    for (size_t i = 0; i < n; i++) {
        uint32_t limit = ALPHABET + (uint32_t)i < IDS ? ALPHABET + (uint32_t)i : IDS;
        uint32_t rank = with_ties ? t_below(rng, 5) : (uint32_t)i;
        dstok__pairs_put(pairs, t_below(rng, limit), t_below(rng, limit), rank, t_below(rng, IDS));
    }
}

/* All splits as they are when nothing was noted. */
static void clear(dstok__split *splits) {
    for (size_t i = 0; i < IDS; i++) splits[i] = (dstok__split){UINT32_MAX, UINT32_MAX};
}

static size_t n_parts, n_given_up;

/* Part by part, where nothing is noted: the same, or given up and nothing changed. */
static void check_parts(dstok__merge_scratch *m, const dstok__merge_rules *rules, const symbol *start,
                        size_t n, const symbol *want, size_t want_n) {
    size_t got_n = 99;
    if (rules->noted != 0 || n < 2) return;
    memcpy(m->symbols, start, n * sizeof *start);
    CHECK_EQ(dstok__merge_parts(m, rules, n, &got_n), DSTOK_OK);
    bool gave_up = got_n == 0;
    if (gave_up) {
        want = start;
        want_n = n;
    } else {
        CHECK_EQ(got_n, want_n);
    }
    CHECK((gave_up || got_n == want_n) && memcmp(m->symbols, want, want_n * sizeof *want) == 0);
    n_given_up += gave_up;
    n_parts += !gave_up;
}

static size_t n_lanes;

/* The tokens of s[0, at), from windows that are merged together, as often as these find anything. */
static size_t lanes_only(const dstok__merge_rules *rules, const symbol *s, size_t n, uint64_t *out,
                         size_t *at) {
    size_t n_out = 0, good = 1;
    for (*at = 0; *at < n && good > 0; n_lanes += good)
        good = dstok__merge_lanes(rules, s, n, out, &n_out, at);
    return n_out;
}

/* By a packed table, on one tier after another. */
static void check_lanes(dstok__merge_scratch *m, const dstok__merge_rules *plain, const dstok__pairs *packed,
                        const symbol *start, size_t n) {
    static unsigned next;
    const dstok__simd *simd = dstok__simd_best((dstok__tier)(next++ % (DSTOK__N_TIERS + 1)));
    dstok__merge_rules rules = {.pairs = packed, .flags = plain->flags, .simd = simd};
    symbol *want = malloc((n + 1) * sizeof *want);
    uint64_t *got = malloc((n + 1) * sizeof *got);
    size_t at, want_n;
    CHECK(dstok__lanes_follow(&rules));
    size_t got_n = lanes_only(&rules, start, n, got, &at);
    memcpy(want, start, n * sizeof *want);
    want_n = at;
    naive(plain, want, &want_n);
    CHECK_EQ(got_n, want_n);
    bool same = got_n == want_n;
    for (size_t i = 0; same && i < want_n; i++) same = got[i] == dstok__lane_token(want[i].id, want[i].begin);
    CHECK(same);
    memcpy(want, start, n * sizeof *want);
    want_n = n;
    naive(plain, want, &want_n);
    check_parts(m, &rules, start, n, want, want_n);
    free(want);
    free(got);
}

/* Texts of random symbols, and of runs of them. */
static void check_packed(t_rng *rng, dstok__merge_scratch *m, const dstok__merge_rules *rules,
                         uint32_t longest) {
    size_t least = rules->pairs->count / DSTOK__PACKED_LINE + 1;
    dstok__pairs packed;
    put_packed(&packed, rules->pairs, least + t_below(rng, (uint32_t)least + 2), t_random(rng));
    for (int round = 0; round < 12; round++) {
        uint32_t n = 1 + t_below(rng, longest), alphabet = 1 + t_below(rng, ALPHABET), last = 0;
        uint32_t runs = 1 + t_below(rng, 20); /* one in so many symbols is another than the one before */
        symbol *start = malloc(n * sizeof *start);
        for (uint32_t i = 0; i < n; i++) {
            if (round % 3 != 0 || t_below(rng, runs) == 0) last = t_below(rng, alphabet);
            start[i] = (symbol){last, i, i + 1};
        }
        CHECK_EQ(dstok__merge_reserve(m, n), DSTOK_OK);
        check_lanes(m, rules, &packed, start, n);
        free(start);
    }
    free_packed(&packed);
}

static void check_symbols(dstok__merge_scratch *m, dstok__merge_rules *rules, const symbol *start, size_t n) {
    dstok__split want_splits[IDS], splits[IDS];
    symbol *want = malloc((n + 1) * sizeof *want);
    size_t got_n = 99, want_n = n;
    CHECK_EQ(dstok__merge_reserve(m, n + 1), DSTOK_OK);
    memcpy(want, start, n * sizeof *want);
    memcpy(m->symbols, start, n * sizeof *start);
    clear(want_splits);
    clear(splits);
    rules->splits = want_splits;
    naive(rules, want, &want_n);
    rules->splits = splits;
    CHECK_EQ(dstok__merge_run(m, rules, n, &got_n), DSTOK_OK);
    CHECK_EQ(got_n, want_n);
    bool same = got_n == want_n && memcmp(m->symbols, want, got_n * sizeof *want) == 0;
    CHECK(same);
    bool same_splits = rules->noted == 0 || memcmp(splits, want_splits, sizeof splits) == 0;
    CHECK(same_splits);
    if (!same || !same_splits) fprintf(stderr, "n = %zu\n", n);
    check_parts(m, rules, start, n, want, want_n);
    free(want);
}

static void check_one(t_rng *rng, dstok__merge_scratch *m, dstok__merge_rules *rules, size_t n) {
    symbol *start = malloc((n + 1) * sizeof *start);
    unsigned alphabet = 1 + t_below(rng, ALPHABET);
    for (uint32_t i = 0; i < n; i++) start[i] = (symbol){t_below(rng, alphabet), i, i + 1};
    check_symbols(m, rules, start, n);
    free(start);
}

static void test_random(void) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    t_rng rng = {17};
    uint8_t flags[IDS];
    dstok__merge_scratch m;
    dstok__merge_init(&m, &al);
    for (int round = 0; round < 400; round++) {
        dstok__pairs pairs;
        dstok__pairs_init(&pairs, &al);
        random_pairs(&rng, &pairs, 1 + t_below(&rng, 150), round % 4 == 0);
        for (size_t i = 0; i < IDS; i++) {
            flags[i] = (uint8_t)((t_below(&rng, 6) == 0 ? REFUSED : 3) | (t_below(&rng, 3) == 0 ? NOTED : 0));
        }
        dstok__merge_rules rules = {.pairs = &pairs,
                                    .flags = flags,
                                    .refused = round % 2 == 0 ? 0 : REFUSED,
                                    .noted = round % 3 == 0 ? NOTED : 0};
        for (size_t n = 0; n < 140; n += n < 4 || (n > 40 && n < 70) ? 1 : 1 + t_below(&rng, 12)) {
            check_one(&rng, &m, &rules, n);
        }
        if (round % 4 != 0 && rules.refused == 0 && rules.noted == 0) check_packed(&rng, &m, &rules, 600);
        if (round % 4 != 3) check_one(&rng, &m, &rules, 140 + t_below(&rng, round % 16 == 0 ? 4000 : 500));
        dstok__pairs_free(&pairs);
    }
    CHECK(n_parts > 1000);
    CHECK(n_lanes > 5000);
    dstok__merge_free(&m);
    CHECK_EQ(heap.live, 0);
}

/* ---- made cases ---- */

static void put(dstok__pairs *p, uint32_t left, uint32_t right, uint32_t rank, uint32_t product) {
    CHECK_EQ(dstok__pairs_reserve(p, p->count + 1), DSTOK_OK);
    dstok__pairs_put(p, left, right, rank, product);
}

/* n times id 0; the ids and the ends of what is left. */
static void check_run(const dstok__pairs *p, size_t n, const uint32_t *want, size_t n_want) {
    dstok__merge_scratch m;
    size_t got;
    dstok__merge_init(&m, &dstok__default_alloc);
    CHECK_EQ(dstok__merge_reserve(&m, n), DSTOK_OK);
    for (uint32_t i = 0; i < n; i++) m.symbols[i] = (symbol){0, i, i + 1};
    dstok__merge_rules rules = {.pairs = p};
    if (n > 4 * DSTOK__PART_ROOM) { /* one token of more symbols than are looked at together */
        CHECK_EQ(dstok__merge_parts(&m, &rules, n, &got), DSTOK_OK);
        CHECK_EQ(got, 0);
    }
    CHECK_EQ(dstok__merge_run(&m, &rules, n, &got), DSTOK_OK);
    CHECK_EQ(got, n_want);
    for (size_t i = 0; i < got && i < n_want; i++) CHECK_EQ(m.symbols[i].id, want[i]);
    dstok__merge_free(&m);
}

/* As Hugging Face and tiktoken: aa then aaa; pairs are taken from the left without overlap. */
static void test_known(void) {
    dstok__pairs p;
    dstok__pairs_init(&p, &dstok__default_alloc);
    put(&p, 0, 0, 0, 2);
    put(&p, 2, 0, 1, 3);
    check_run(&p, 3, (const uint32_t[]){3}, 1);
    check_run(&p, 4, (const uint32_t[]){2, 2}, 2);
    check_run(&p, 5, (const uint32_t[]){2, 3}, 2);
    check_run(&p, 7, (const uint32_t[]){2, 2, 3}, 3);
    CHECK(!dstok__pairs_put(&p, 0, 0, 7, 9)); /* the same pair again: the last one counts */
    CHECK_EQ(dstok__pairs_get(&p, 0, 0).product, 9);
    CHECK_EQ(dstok__pairs_get(&p, 0, 1).rank, DSTOK__NO_RANK);
    dstok__pairs_free(&p);
}

/* 2^k equal symbols halve again and again: the deepest chain of merges there is. */
static void test_doubling(void) {
    dstok__pairs p;
    const uint32_t last = 17;
    dstok__pairs_init(&p, &dstok__default_alloc);
    for (uint32_t i = 0; i < last; i++) put(&p, i, i, i, i + 1);
    check_run(&p, (size_t)1 << last, &last, 1);
    const uint32_t tail[] = {16, 0};
    check_run(&p, ((size_t)1 << 16) + 1, tail, 2);
    dstok__pairs_free(&p);
}

/* Symbols in rising order, of which the last pair merges first: what the first ones become depends on where the
 * row ends, however far away that is. */
static void test_rows(void) {
    enum { ROW = 95, MOST = 1500 };
    static symbol start[MOST];
    t_rng rng = {5};
    dstok__pairs p;
    dstok__merge_scratch m;
    size_t given_up = n_given_up;
    dstok__merge_init(&m, &dstok__default_alloc);
    dstok__pairs_init(&p, &dstok__default_alloc);
    for (uint32_t i = 0; i + 1 < ROW; i++) put(&p, i, i + 1, ROW - i, ROW + i);
    put(&p, ROW, ROW + 2, 200, 2 * ROW);
    for (int round = 0; round < 200; round++) {
        uint8_t flags[IDS] = {0};
        dstok__merge_rules rules = {.pairs = &p, .flags = flags};
        uint32_t n = 1 + t_below(&rng, MOST), id = 0, longest = 1 + t_below(&rng, ROW);
        for (uint32_t i = 0; i < n; i++) {
            start[i] = (symbol){id, i, i + 1};
            id = id + 1 == longest || t_below(&rng, 60) == 0 ? t_below(&rng, longest) : id + 1;
        }
        check_symbols(&m, &rules, start, n);
    }
    CHECK_EQ(n_given_up, given_up);
    dstok__pairs_free(&p);
    dstok__merge_free(&m);
}

int main(void) {
    test_random();
    test_rows();
    test_known();
    test_doubling();
    return t_end();
}
