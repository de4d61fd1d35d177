/* SPDX-License-Identifier: MIT */
/* Merging of short pieces, alone and many together, against the general merging and a plain rescan; and the
 * packed tables that loading makes against the list of merges they came from. */
#include "../../tokenizer/bpe/merge.h"
#include "../../tokenizer/bpe/model.h"
#include "../../tokenizer/bpe/tiny.h"
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "packed.h"

#include <stdlib.h>

/* ---- tables ---- */

typedef struct rule {
    uint32_t left, right, rank, product;
} rule;

/* What two symbols merge to by the list; of equal pairs the last one counts. */
static dstok__found look(const rule *rules, size_t n, uint32_t left, uint32_t right) {
    for (size_t i = n; i-- > 0;)
        if (rules[i].left == left && rules[i].right == right)
            return (dstok__found){rules[i].rank, rules[i].product};
    return (dstok__found){DSTOK__NO_RANK, 0};
}

static void put_plain(dstok__pairs *p, const rule *rules, size_t n) {
    dstok__pairs_init(p, &dstok__default_alloc);
    CHECK_EQ(dstok__pairs_reserve(p, n), DSTOK_OK);
    for (size_t i = 0; i < n; i++)
        dstok__pairs_put(p, rules[i].left, rules[i].right, rules[i].rank, rules[i].product);
}

/* ---- three ways ---- */

static size_t naive(const rule *rules, size_t n_rules, uint32_t *ids, size_t n) {
    for (;;) {
        dstok__found best = {DSTOK__NO_RANK, 0};
        size_t at = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            dstok__found p = look(rules, n_rules, ids[i], ids[i + 1]);
            if (p.rank >= best.rank) continue;
            best = p;
            at = i;
        }
        if (best.rank == DSTOK__NO_RANK) return n;
        ids[at] = best.product;
        memmove(&ids[at + 1], &ids[at + 2], (n - at - 2) * sizeof *ids);
        n--;
    }
}

static size_t by_merge_run(const dstok__pairs *pairs, uint32_t *ids, size_t n) {
    dstok__merge_scratch m;
    size_t left = 0;
    dstok__merge_init(&m, &dstok__default_alloc);
    CHECK_EQ(dstok__merge_reserve(&m, n), DSTOK_OK);
    for (uint32_t i = 0; i < n; i++) m.symbols[i] = (dstok__symbol){ids[i], i, i + 1};
    CHECK_EQ(dstok__merge_run(&m, &(dstok__merge_rules){.pairs = pairs}, n, &left), DSTOK_OK);
    for (size_t i = 0; i < left; i++) ids[i] = m.symbols[i].id;
    dstok__merge_free(&m);
    return left;
}

static void show(const char *what, const uint32_t *ids, size_t n) {
    fprintf(stderr, "%s:", what);
    for (size_t i = 0; i < n; i++) fprintf(stderr, " %u", ids[i]);
    fputc('\n', stderr);
}

static void check_same(const char *what, const uint32_t *text, size_t n, const uint32_t *got, size_t got_n,
                       const uint32_t *want, size_t want_n) {
    bool same = got_n == want_n && memcmp(got, want, want_n * sizeof *want) == 0;
    CHECK(same);
    if (same || t_failures > 5) return;
    show("symbols", text, n);
    show("want", want, want_n);
    show(what, got, got_n);
}

/* Pieces that are merged together, and what each must come to. */
typedef struct together {
    dstok__tiny pieces[DSTOK__TINY_MERGE];
    uint32_t texts[DSTOK__TINY_MERGE][DSTOK__TINY], wants[DSTOK__TINY_MERGE][DSTOK__TINY];
    size_t text_n[DSTOK__TINY_MERGE], want_n[DSTOK__TINY_MERGE], n;
} together;

/* A piece to be merged. Where the table is one of a vocabulary, which has ids of single bytes first, every
 * other piece is of bytes. */
static void begin(dstok__tiny *piece, const dstok__pairs *packed, const uint32_t *text, size_t n) {
    static bool by_bytes;
    uint8_t bytes[DSTOK__TINY] = {0};
    memcpy(piece->ids + 1, text, n * sizeof *text);
    by_bytes = !by_bytes && packed->of_bytes != NULL;
    for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)text[i];
    if (by_bytes) {
        dstok__tiny_begin_bytes(piece, dstok__simd_best((dstok__tier)(n % (DSTOK__N_TIERS + 1))), packed,
                                bytes, n);
    } else {
        dstok__tiny_begin(piece, n);
    }
}

static void merge_together(const dstok__pairs *packed, together *t) {
    static unsigned next; /* one tier after another */
    const dstok__simd *simd = dstok__simd_best((dstok__tier)(next++ % (DSTOK__N_TIERS + 1)));
    for (size_t i = 0; i < t->n; i++) begin(&t->pieces[i], packed, t->texts[i], t->text_n[i]);
    dstok__tiny_merge(simd, packed, t->pieces, t->n);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t *got = malloc(t->want_n[i] * sizeof *got); /* a sanitizer sees what is written behind it */
        size_t n = (size_t)__builtin_popcount(t->pieces[i].alive) - 2;
        CHECK_EQ(n, t->want_n[i]);
        if (n == t->want_n[i]) CHECK_EQ(dstok__tiny_ids(&t->pieces[i], got), n);
        if (n == t->want_n[i]) check_same("together", t->texts[i], t->text_n[i], got, n, t->wants[i], n);
        free(got);
    }
    t->n = 0;
}

static void add_to(together *t, const uint32_t *text, size_t n, const uint32_t *want, size_t want_n) {
    memcpy(t->texts[t->n], text, n * sizeof *text);
    memcpy(t->wants[t->n], want, want_n * sizeof *want);
    t->text_n[t->n] = n;
    t->want_n[t->n++] = want_n;
}

static void check_tiny(const dstok__pairs *packed, const uint32_t *text, size_t n, const uint32_t *want,
                       size_t want_n) {
    static together alone;
    add_to(&alone, text, n, want, want_n);
    merge_together(packed, &alone);
}

/* All ways on one text. plain and packed may be NULL. */
static void check_text(const rule *rules, size_t n_rules, const dstok__pairs *plain,
                       const dstok__pairs *packed, const uint32_t *text, size_t n, together *many) {
    uint32_t want[DSTOK__TINY], general[DSTOK__TINY];
    memcpy(want, text, n * sizeof *text);
    memcpy(general, text, n * sizeof *text);
    size_t want_n = naive(rules, n_rules, want, n);
    if (plain != NULL)
        check_same("merge_run", text, n, general, by_merge_run(plain, general, n), want, want_n);
    if (packed == NULL) return;
    memcpy(general, text, n * sizeof *text);
    check_same("merge_run, packed", text, n, general, by_merge_run(packed, general, n), want, want_n);
    check_tiny(packed, text, n, want, want_n);
    add_to(many, text, n, want, want_n);
    if (many->n == DSTOK__TINY_MERGE) merge_together(packed, many);
}

/* ---- random tables ---- */

#define MAX_RULES 300

typedef enum ranking {
    EACH_ITS_OWN,
    BY_PRODUCT, /* as rank files: pairs that give one product share its rank */
    TIES,       /* five ranks in all, products as they come: no file has it, tables may */
    N_RANKINGS
} ranking;

/* Symbols are a base and what is added to it, so that large ids and ranks are met, too. */
typedef struct shape {
    ranking how;
    uint32_t alphabet; /* symbols that texts are made of */
    uint32_t n_ids;
    uint32_t id_base, rank_base;
} shape;

static size_t random_rules(t_rng *rng, const shape *s, rule *rules) {
    size_t n = 1 + t_below(rng, t_below(rng, 2) == 0 ? 12 : MAX_RULES);
    uint32_t ranks[MAX_RULES];
    for (uint32_t i = 0; i < n; i++) ranks[i] = i;
    for (size_t i = n; i-- > 1;) { /* any order of ranks: a later rule may come first */
        size_t k = t_below(rng, (uint32_t)i + 1);
        uint32_t one = ranks[i];
        ranks[i] = ranks[k];
        ranks[k] = one;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t limit = s->alphabet + (uint32_t)i < s->n_ids ? s->alphabet + (uint32_t)i : s->n_ids;
        uint32_t left = t_below(rng, limit), right = t_below(rng, 4) == 0 ? left : t_below(rng, limit);
        uint32_t product = t_below(rng, 8) == 0 ? t_below(rng, s->n_ids) : limit % s->n_ids;
        uint32_t rank = s->how == TIES ? t_below(rng, 5) : s->how == BY_PRODUCT ? product : ranks[i];
        rules[i] = (rule){s->id_base + left, s->id_base + right, s->rank_base + rank, s->id_base + product};
    }
    return n;
}

static void check_table(t_rng *rng, const shape *s, bool packs) {
    static rule rules[MAX_RULES];
    static together many;
    dstok__pairs plain, packed;
    size_t n_rules = random_rules(rng, s, rules);
    put_plain(&plain, rules, n_rules);
    /* From lines that are nearly full to nearly empty ones. */
    size_t least = plain.count / DSTOK__PACKED_LINE + 1, lines = least + t_below(rng, (uint32_t)least + 2);
    if (packs) put_packed(&packed, &plain, lines, t_below(rng, 2) == 0 ? 0 : t_random(rng));
    for (size_t n = 1; n <= DSTOK__TINY; n++) {
        for (int round = 0; round < 4; round++) {
            uint32_t text[DSTOK__TINY], few = 1 + t_below(rng, s->alphabet);
            for (size_t i = 0; i < n; i++) text[i] = s->id_base + t_below(rng, few);
            check_text(rules, n_rules, &plain, packs ? &packed : NULL, text, n, &many);
        }
    }
    if (packs) merge_together(&packed, &many);
    if (packs) free_packed(&packed);
    dstok__pairs_free(&plain);
}

static void test_random(void) {
    t_rng rng = {20261201};
    for (int round = 0; round < 1200; round++) {
        shape s = {.how = (ranking)(round % N_RANKINGS), .alphabet = 1 + t_below(&rng, 6)};
        s.n_ids = s.alphabet + 1 + t_below(&rng, round % 5 == 0 ? 4 : 200);
        bool packs = s.how != TIES;
        if (round % 7 == 0) s.id_base = (packs ? DSTOK__PACKED_IDS : UINT32_MAX) - s.n_ids;
        if (round % 11 == 0) s.rank_base = (packs ? DSTOK__PACKED_RANKS : UINT32_MAX) - MAX_RULES - 1;
        check_table(&rng, &s, packs);
    }
}

/* Every text of up to ten symbols of an alphabet of two, and of up to seven of three, on few rules. */
static void test_every_text(void) {
    static const struct {
        uint32_t alphabet;
        size_t longest;
    } sizes[] = {{2, 10}, {3, 7}};
    static together many;
    t_rng rng = {7};
    for (int round = 0; round < 12; round++) {
        rule rules[MAX_RULES];
        dstok__pairs plain, packed;
        uint32_t alphabet = sizes[round % 2].alphabet;
        shape s = {EACH_ITS_OWN, alphabet, alphabet + 6, 0, 0};
        size_t n_rules = random_rules(&rng, &s, rules);
        put_plain(&plain, rules, n_rules);
        put_packed(&packed, &plain, plain.count / DSTOK__PACKED_LINE + 1, 0);
        for (size_t n = 1, all = alphabet; n <= sizes[round % 2].longest; n++, all *= alphabet) {
            for (size_t k = 0; k < all; k++) {
                uint32_t text[DSTOK__TINY];
                for (size_t i = 0, rest = k; i < n; i++, rest /= alphabet)
                    text[i] = (uint32_t)(rest % alphabet);
                check_text(rules, n_rules, &plain, &packed, text, n, &many);
            }
        }
        merge_together(&packed, &many);
        free_packed(&packed);
        dstok__pairs_free(&plain);
    }
}

/* ---- known answers ---- */

static void check_known(const rule *rules, size_t n_rules, size_t n, const uint32_t *want, size_t want_n) {
    uint32_t text[DSTOK__TINY] = {0};
    dstok__pairs plain, packed;
    put_plain(&plain, rules, n_rules);
    put_packed(&packed, &plain, 1 + n_rules / DSTOK__PACKED_LINE, 5);
    check_tiny(&packed, text, n, want, want_n);
    free_packed(&packed);
    dstok__pairs_free(&plain);
}

/* As Hugging Face and tiktoken: aa then aaa; equal ranks from the left. */
static void test_known(void) {
    static const rule rules[] = {{0, 0, 0, 2}, {2, 0, 1, 3}},
                      doubling[] = {{0, 0, 3, 1}, {1, 1, 2, 2}, {2, 2, 1, 4}};
    check_known(rules, 2, 1, (const uint32_t[]){0}, 1);
    check_known(rules, 2, 2, (const uint32_t[]){2}, 1);
    check_known(rules, 2, 3, (const uint32_t[]){3}, 1);
    check_known(rules, 2, 4, (const uint32_t[]){2, 2}, 2);
    check_known(rules, 2, 5, (const uint32_t[]){2, 3}, 2);
    check_known(rules, 2, 15, (const uint32_t[]){2, 2, 2, 2, 2, 2, 3}, 7);
    check_known(rules, 2, 16, (const uint32_t[]){2, 2, 2, 2, 2, 2, 2, 2}, 8);
    check_known(doubling, 3, 16, (const uint32_t[]){4, 4}, 2);
    check_known(doubling, 3, 15, (const uint32_t[]){4, 2, 1, 0}, 4);
}

/* ---- the packed tables of a loaded vocabulary ---- */

#define MADE_MERGES 700

static char made_texts[256 + MADE_MERGES][24];
static const char *made_merges[MADE_MERGES][2];

/* "aa", then random joins of what is there, without NUL bytes; some stand twice, and then the last one
 * counts. */
static size_t make_merges(t_rng *rng) {
    size_t n_texts = 0, n = 0;
    for (unsigned c = 'a'; c <= 'h'; c++) made_texts[n_texts++][0] = (char)c;
    while (n < MADE_MERGES) {
        const char *left = made_texts[n == 0 ? 0 : t_below(rng, (uint32_t)n_texts)],
                   *right = made_texts[n == 0 ? 0 : t_below(rng, (uint32_t)n_texts)];
        size_t left_n = strlen(left), right_n = strlen(right);
        if (left_n + right_n >= sizeof made_texts[0]) continue;
        made_merges[n][0] = left;
        made_merges[n++][1] = right;
        memcpy(made_texts[n_texts], left, left_n);
        memcpy(made_texts[n_texts++] + left_n, right, right_n + 1);
    }
    return n;
}

static uint32_t id_of(const dstok_tokenizer *tok, const char *text) {
    return dstok__tables_find(&tok->t, text, strlen(text));
}

/* The last rank and product that were met in the order of the list. */
typedef struct in_order {
    uint32_t rank, product;
    size_t n;
} in_order;

static void check_in_order(const dstok_tokenizer *tok, const rule *one, in_order *last) {
    dstok__found got = dstok__pairs_get(&tok->t.pairs, one->left, one->right);
    if (got.rank == DSTOK__NO_RANK) return;
    CHECK_EQ(got.product, one->product);
    CHECK(last->n == 0 || got.rank > last->rank);
    *last = (in_order){got.rank, got.product, last->n + 1};
}

/* What loading keeps are merges of the list, in its order, and one for each token that its own bytes come
 * to. */
static void check_loaded(const dstok_tokenizer *tok, const rule *rules) {
    in_order last = {0, 0, 0};
    size_t n_whole = 0, n_found = 0;
    for (size_t i = 0; i < MADE_MERGES; i++) {
        bool counts =
            look(rules, MADE_MERGES, rules[i].left, rules[i].right).rank == i; /* the last of its pair */
        if (counts) check_in_order(tok, &rules[i], &last);
    }
    for (uint32_t left = 0; left < tok->n_ids; left++)
        for (uint32_t right = 0; right < tok->n_ids; right++)
            n_found += dstok__pairs_get(&tok->t.pairs, left, right).rank != DSTOK__NO_RANK;
    for (uint32_t id = 0; id < tok->n_ids; id++)
        n_whole += tok->t.texts[id].n > 1 && (tok->flags[id] & DSTOK__TOKEN_WHOLE) != 0;
    CHECK_EQ(n_found, last.n);
    CHECK_EQ(n_found, n_whole);
    CHECK(n_whole > MADE_MERGES / 4);
}

static void test_loaded(void) {
    t_rng rng = {99};
    static together many;
    rule rules[MADE_MERGES];
    fixture f = {.merges = (const char *const(*)[2])(const void *)made_merges, .n_merges = make_merges(&rng)};
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    CHECK(tok->t.pairs.packed != NULL);
    for (uint32_t i = 0; i < MADE_MERGES; i++) {
        char product[64];
        snprintf(product, sizeof product, "%s%s", made_merges[i][0], made_merges[i][1]);
        rules[i] =
            (rule){id_of(tok, made_merges[i][0]), id_of(tok, made_merges[i][1]), i, id_of(tok, product)};
        CHECK(rules[i].product != DSTOK__NO_ID);
    }
    check_loaded(tok, rules);
    for (int round = 0; round < 20000; round++) {
        uint32_t text[DSTOK__TINY];
        size_t n = 1 + t_below(&rng, DSTOK__TINY);
        for (size_t i = 0; i < n; i++) text[i] = 'a' + t_below(&rng, round % 3 == 0 ? 2 : 8);
        check_text(rules, MADE_MERGES, NULL, &tok->t.pairs, text, n, &many);
    }
    merge_together(&tok->t.pairs, &many);
    dstok_tokenizer_free(tok);
}

int main(void) {
    test_random();
    test_every_text();
    test_known();
    test_loaded();
    return t_end();
}
