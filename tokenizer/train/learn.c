/* SPDX-License-Identifier: MIT */
/* The algorithm: merge the commonest pair until the vocabulary is full. Counts are exact at every step. */
#include "train.h"

/* A word as ids. Words of one byte hold no pair and are left out. */
typedef struct sequence {
    uint32_t begin, n; /* in symbols */
    int64_t count;
} sequence;

typedef struct learner {
    const dstok_alloc *al;
    dstok__learnt *v;
    const dstok__learn_options *options;
    sequence *words;
    size_t n_words, cap_words;
    uint32_t *symbols;
    size_t n_symbols;
    dstok__counted_pairs pairs;
    dstok__queue queue;
    uint32_t step;   /* merges done */
    uint32_t *risen; /* pairs whose count rose in this step */
    size_t n_risen, cap_risen;
} learner;

static void learner_free(learner *t) {
    dstok__free(t->al, t->words, t->cap_words * sizeof *t->words);
    dstok__free(t->al, t->symbols, t->n_symbols * sizeof *t->symbols);
    dstok__free(t->al, t->risen, t->cap_risen * sizeof *t->risen);
    dstok__counted_pairs_free(&t->pairs);
    dstok__queue_free(&t->queue);
}

/* Turns the words into ids, and gives their memory back. */
static dstok_status load_words(learner *t, dstok__words *words) {
    size_t n_words = 0, n_symbols = 0;
    for (size_t i = 0; i < words->n; i++) {
        if (words->items[i].n < 2) continue;
        n_words++;
        n_symbols += words->items[i].n;
    }
    t->words = dstok__alloc_array(t->al, n_words, sizeof *t->words);
    t->cap_words = n_words;
    t->symbols = dstok__alloc_array(t->al, n_symbols, sizeof *t->symbols);
    t->n_symbols = n_symbols;
    if (n_words > 0 && (t->words == NULL || t->symbols == NULL)) return DSTOK_E_NOMEM;
    uint32_t at = 0;
    for (size_t i = 0; i < words->n; i++) {
        const dstok__word *w = &words->items[i];
        if (w->n < 2) continue;
        t->words[t->n_words++] = (sequence){.begin = at, .n = w->n, .count = (int64_t)w->count};
        for (uint32_t k = 0; k < w->n; k++) t->symbols[at++] = t->v->byte_id[(unsigned char)w->bytes[k]];
    }
    dstok__words_free(words);
    return DSTOK_OK;
}

/* Pairs that would make too long a token are not counted at all, so that they are never chosen. */
static bool fits(const learner *t, uint32_t left, uint32_t right) {
    size_t n = (size_t)t->v->tokens[left].n + t->v->tokens[right].n;
    return n <= DSTOK__TRAIN_MAX_TOKEN &&
           (t->options->max_token_length == 0 || n < t->options->max_token_length);
}

static dstok_status lower(learner *t, uint32_t left, uint32_t right, int64_t count) {
    uint32_t index;
    if (!fits(t, left, right)) return DSTOK_OK;
    DSTOK_TRY(dstok__counted_pairs_get(&t->pairs, left, right, &index));
    t->pairs.items[index].count -= count;
    return DSTOK_OK;
}

static dstok_status raise(learner *t, uint32_t left, uint32_t right, int64_t count, uint32_t word) {
    uint32_t index;
    if (!fits(t, left, right)) return DSTOK_OK;
    DSTOK_TRY(dstok__counted_pairs_get(&t->pairs, left, right, &index));
    DSTOK_TRY(dstok__counted_pairs_post(&t->pairs, index, word));
    dstok__pair *pair = &t->pairs.items[index];
    pair->count += count;
    if (pair->step == t->step) return DSTOK_OK;
    pair->step = t->step;
    DSTOK_TRY(dstok__grow(t->al, (void **)&t->risen, &t->cap_risen, t->n_risen + 1, sizeof *t->risen,
                          DSTOK__TRAIN_MAX_PAIRS));
    t->risen[t->n_risen++] = index;
    return DSTOK_OK;
}

/* Every pair whose count rose gets a new entry: no entry in the queue is ever below its pair's count. */
static dstok_status queue_risen(learner *t) {
    for (size_t i = 0; i < t->n_risen; i++) {
        const dstok__pair *pair = &t->pairs.items[t->risen[i]];
        if (pair->count < 1 || (uint64_t)pair->count < t->options->min_frequency) continue;
        dstok__entry entry = {.count = pair->count, .key = pair->key, .pair = t->risen[i]};
        DSTOK_TRY(dstok__queue_push(&t->queue, entry));
    }
    t->n_risen = 0;
    return DSTOK_OK;
}

static dstok_status count_pairs(learner *t) {
    t->step = 1; /* a new pair has step 0 */
    for (size_t w = 0; w < t->n_words; w++) {
        const uint32_t *s = t->symbols + t->words[w].begin;
        for (uint32_t i = 0; i + 1 < t->words[w].n; i++) {
            DSTOK_TRY(raise(t, s[i], s[i + 1], t->words[w].count, (uint32_t)w));
        }
    }
    return queue_risen(t);
}

/* *best  [out] the pair to merge now, its true count; false when none meets min_frequency. An entry whose count is out
 * of date goes back with the count of today; since no entry is too low, the first true one is the best of all. */
static dstok_status choose(learner *t, dstok__entry *best, bool *found) {
    *found = false;
    while (dstok__queue_pop(&t->queue, best)) {
        int64_t count = t->pairs.items[best->pair].count;
        if (best->count == count) {
            *found = true;
            return DSTOK_OK;
        }
        best->count = count;
        if (count < 1 || (uint64_t)count < t->options->min_frequency) continue;
        DSTOK_TRY(dstok__queue_push(&t->queue, *best));
    }
    return DSTOK_OK;
}

/* Merges left to right, without overlap, in one word. The symbol before a match is the one already rewritten. */
static dstok_status rewrite(learner *t, uint32_t word, uint32_t left, uint32_t right, uint32_t id) {
    sequence *w = &t->words[word];
    uint32_t *s = t->symbols + w->begin, n = w->n, out = 0;
    for (uint32_t in = 0; in < n;) {
        if (s[in] != left || in + 1 == n || s[in + 1] != right) {
            s[out++] = s[in++];
            continue;
        }
        if (out > 0) {
            DSTOK_TRY(lower(t, s[out - 1], left, w->count));
            DSTOK_TRY(raise(t, s[out - 1], id, w->count, word));
        }
        if (in + 2 < n) {
            DSTOK_TRY(lower(t, right, s[in + 2], w->count));
            DSTOK_TRY(raise(t, id, s[in + 2], w->count, word));
        }
        s[out++] = id;
        in += 2;
    }
    w->n = out;
    return DSTOK_OK;
}

static dstok_status merge(learner *t, const dstok__entry *best) {
    uint32_t left = (uint32_t)(best->key >> 32), right = (uint32_t)best->key, id;
    DSTOK_TRY(dstok__learnt_merge_add(t->v, left, right, &id));
    t->v->last_count = (uint64_t)best->count;
    t->step++;
    uint32_t post = t->pairs.items[best->pair].posts;
    t->pairs.items[best->pair].posts = DSTOK__NO_POST;
    while (post != DSTOK__NO_POST) {
        uint32_t word = t->pairs.posts[post].word;
        post = dstok__counted_pairs_release(&t->pairs, post);
        DSTOK_TRY(rewrite(t, word, left, right, id));
    }
    t->pairs.items[best->pair].count =
        0; /* none is left; "aaa" has lowered it by less than its overlapping count */
    return queue_risen(t);
}

static dstok_status report(const learner *t, dstok_error *err) {
    const dstok__learn_options *o = t->options;
    uint64_t wanted = o->vocab_size - t->v->n_specials - 256;
    if (o->progress == NULL || o->progress(o->progress_ctx, t->v->n_merges, wanted) == 0) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_CANCELED, DSTOK_NO_OFFSET, 0, "training stopped after %zu merges",
                       t->v->n_merges);
}

static dstok_status learn(learner *t, dstok__words *words, dstok_error *err) {
    DSTOK_TRY(load_words(t, words));
    DSTOK_TRY(count_pairs(t));
    while (t->v->n_tokens < t->options->vocab_size) {
        dstok__entry best;
        bool found;
        if (t->v->n_merges % 1000 == 0) DSTOK_TRY(report(t, err));
        DSTOK_TRY(choose(t, &best, &found));
        if (!found) break;
        DSTOK_TRY(merge(t, &best));
    }
    return report(t, err);
}

dstok_status dstok__learn(dstok__learnt *v, dstok__words *words, const dstok__learn_options *options,
                          dstok_error *err) {
    learner t = {.al = v->al, .v = v, .options = options};
    dstok__counted_pairs_init(&t.pairs, t.al);
    dstok__queue_init(&t.queue, t.al);
    dstok_status status = learn(&t, words, err);
    learner_free(&t);
    if (status == DSTOK_E_NOMEM) return dstok__fail(err, status, DSTOK_NO_OFFSET, 0, "out of memory");
    if (status == DSTOK_E_LIMIT) {
        return dstok__fail(err, status, DSTOK_NO_OFFSET, 0,
                           "too many pairs or token bytes (docs/training.md, limits)");
    }
    return status;
}
