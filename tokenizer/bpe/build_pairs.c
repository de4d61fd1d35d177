/* SPDX-License-Identifier: MIT */
/* The hash tables of a tokenizer: which pairs merge, by the rule of each model, and which text has which id. */
#include "build.h"

#include "../text/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

/* The id of a part of a token; a character that is no token itself gets a number of its own, because it may
 * still take part in merges (SentencePiece joins texts, not tokens). */
static dstok_status part_id(dstok__build *b, const char *text, size_t n, bool may_be_bare, uint32_t *id) {
    *id = dstok__map_get(&b->by_text, text, n);
    if (*id != DSTOK__NO_ID || !may_be_bare) return DSTOK_OK;
    size_t width;
    (void)dstok__utf8_get((const uint8_t *)text, &width);
    if (width != n) return DSTOK_OK;
    dstok__ref ref;
    *id = b->head.n_ids + b->head.n_bare++;
    DSTOK_TRY(dstok__build_string(b, text, n, false, &ref));
    DSTOK_TRY(dstok__build_row(b, DSTOK__S_TEXTS, &ref, sizeof ref));
    return dstok__map_put(&b->by_text, text, n, *id, NULL);
}

/* ---- pairs ---- */

static dstok_status note_pair(dstok__build *b, dstok__buf *list, uint32_t left, uint32_t right, uint32_t rank,
                              uint32_t product) {
    dstok__pair pair = {(uint64_t)left << 32 | right, rank, product};
    if (dstok__build_flags(b)[product] & DSTOK_TOKEN_CONTROL) b->head.options |= DSTOK__T_CONTROL_MERGES;
    return dstok__buf_append(list, &pair, sizeof pair);
}

/* Every split of a token into two parts that can stand side by side. */
static dstok_status note_splits(dstok__build *b, dstok__buf *list, const dstok__token *t, uint32_t rank) {
    bool bare = b->s->model == DSTOK__MODEL_SCORES;
    for (uint32_t cut = 1; cut < t->n; cut++) {
        uint32_t left, right;
        if (b->s->char_atoms && dstok__is_continuation((uint8_t)t->text[cut])) continue;
        DSTOK_TRY(part_id(b, t->text, cut, bare, &left));
        if (left == DSTOK__NO_ID) continue;
        DSTOK_TRY(part_id(b, t->text + cut, t->n - cut, bare, &right));
        if (right != DSTOK__NO_ID) DSTOK_TRY(note_pair(b, list, left, right, rank, t->id));
    }
    return DSTOK_OK;
}

/* Looking at every split of a token takes time with the square of its length; real files need about 2^25. */
#define MAX_SPLIT_WORK ((uint64_t)1 << 32)

static dstok_status check_work(dstok__build *b) {
    uint64_t work = 0;
    for (size_t i = 0; i < b->s->n_tokens; i++) work += (uint64_t)b->s->tokens[i].n * b->s->tokens[i].n;
    if (work <= MAX_SPLIT_WORK) return DSTOK_OK;
    return dstok__fail(b->err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                       "the tokens of this file are too long: the squares of their lengths add up to more "
                       "than %" PRIu64,
                       MAX_SPLIT_WORK);
}

static dstok_status pairs_from_ranks(dstok__build *b, dstok__buf *list) {
    DSTOK_TRY(check_work(b));
    for (size_t i = 0; i < b->s->n_tokens; i++) {
        const dstok__token *t = &b->s->tokens[i];
        DSTOK_TRY(note_splits(b, list, t, t->id));
    }
    return DSTOK_OK;
}

/* SentencePiece compares the bits: -0 is below +0. */
static bool is_higher(float a, float b) {
    return a > b || (a == b && !signbit(a) && signbit(b));
}

static int by_score(const void *pa, const void *pb) {
    float a = *(const float *)pa, b = *(const float *)pb;
    return is_higher(a, b) ? -1 : is_higher(b, a);
}

/* How many different scores are higher: equal scores have one rank, so that position decides between them. */
static uint32_t rank_of(const float *scores, size_t n, float score) {
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (is_higher(scores[mid], score)) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return (uint32_t)lo;
}

static dstok_status pairs_from_scores(dstok__build *b, dstok__buf *list) {
    size_t n = b->s->n_tokens;
    DSTOK_TRY(check_work(b));
    float *scores = dstok__alloc_array(b->al, n, sizeof *scores);
    if (scores == NULL && n > 0) return DSTOK_E_NOMEM;
    for (size_t i = 0; i < n; i++) scores[i] = b->s->tokens[i].score;
    if (n > 0) qsort(scores, n, sizeof *scores, by_score);
    dstok_status status = DSTOK_OK;
    for (size_t i = 0; i < n && status == DSTOK_OK; i++) {
        const dstok__token *t = &b->s->tokens[i];
        if (!t->literal) status = note_splits(b, list, t, rank_of(scores, n, t->score));
    }
    dstok__free(b->al, scores, n * sizeof *scores);
    return status;
}

static dstok_status pairs_from_merges(dstok__build *b, dstok__buf *list) {
    for (size_t i = 0; i < b->s->n_merges; i++) {
        const dstok__merge *m = &b->s->merges[i];
        DSTOK_TRY(note_pair(b, list, m->left, m->right, (uint32_t)i, m->product));
    }
    return DSTOK_OK;
}

/* Puts the listed pairs into a table that is just large enough; of equal pairs the last one counts. */
static dstok_status fill_table(dstok__build *b, const dstok__buf *list) {
    const dstok__pair *pairs = (const dstok__pair *)(const void *)list->data;
    size_t n = list->len / sizeof *pairs;
    dstok__buf *out = &b->sections[DSTOK__S_PAIRS];
    dstok__pairs table = {.cap = dstok__pairs_room(n), .seed = b->head.seed};
    if (table.cap > UINT32_MAX) return dstok__spec_no_room(DSTOK_E_LIMIT, "pairs", UINT32_MAX, b->err);
    DSTOK_TRY(dstok__buf_reserve(out, table.cap * sizeof *table.slots));
    out->len = table.cap * sizeof *table.slots;
    table.slots = (dstok__pair *)(void *)out->data;
    dstok__pairs_clear(&table);
    for (size_t i = 0; i < n; i++)
        dstok__pairs_put(&table, (uint32_t)(pairs[i].key >> 32), (uint32_t)pairs[i].key, pairs[i].rank,
                         pairs[i].product);
    b->head.n_merges = (uint32_t)table.count;
    return DSTOK_OK;
}

dstok_status dstok__build_pairs(dstok__build *b) {
    dstok__buf list;
    dstok__buf_init(&list, b->al, SIZE_MAX);
    dstok_status status = b->s->model == DSTOK__MODEL_RANKS    ? pairs_from_ranks(b, &list)
                          : b->s->model == DSTOK__MODEL_SCORES ? pairs_from_scores(b, &list)
                                                               : pairs_from_merges(b, &list);
    if (status == DSTOK_OK) status = fill_table(b, &list);
    dstok__buf_free(&list);
    return status;
}

/* ---- slots ---- */

static void put_slot(dstok__slot *slots, size_t cap, uint64_t hash, uint32_t id) {
    size_t i = dstok__slot_home(hash, cap);
    while (slots[i].id != DSTOK__NO_ID) i = i + 1 == cap ? 0 : i + 1;
    slots[i] = (dstok__slot){(uint32_t)hash, id};
}

/* A text that two tokens have belongs to the one that the map names. */
static bool owns_text(const dstok__build *b, const char *text, size_t n, uint32_t id) {
    return dstok__map_get(&b->by_text, text, n) == id;
}

dstok_status dstok__build_slots(dstok__build *b) {
    size_t n = b->by_text.count, cap = dstok__pairs_room(n);
    dstok__buf *out = &b->sections[DSTOK__S_SLOTS];
    DSTOK_TRY(dstok__buf_reserve(out, cap * sizeof(dstok__slot)));
    out->len = cap * sizeof(dstok__slot);
    dstok__slot *slots = (dstok__slot *)(void *)out->data;
    for (size_t i = 0; i < cap; i++) slots[i] = (dstok__slot){0, DSTOK__NO_ID};
    for (size_t i = 0; i < b->s->n_tokens; i++) {
        const dstok__token *t = &b->s->tokens[i];
        if (!t->literal && t->n > 0 && owns_text(b, t->text, t->n, t->id))
            put_slot(slots, cap, dstok__text_hash(t->text, t->n, b->head.seed), t->id);
    }
    const dstok__ref *texts = (const dstok__ref *)(const void *)b->sections[DSTOK__S_TEXTS].data;
    const uint8_t *strings = b->sections[DSTOK__S_STRINGS].data;
    for (uint32_t i = 0; i < b->head.n_bare; i++) {
        dstok__ref ref = texts[b->head.n_ids + i];
        put_slot(slots, cap, dstok__text_hash(strings + ref.at, ref.n, b->head.seed), b->head.n_ids + i);
    }
    return DSTOK_OK;
}
