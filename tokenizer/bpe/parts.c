/* SPDX-License-Identifier: MIT */
/* Merging of long pretokens part by part. What two texts merge to, each by itself, is what they merge to together,
 * exactly when the last token of the one and the first of the other, by themselves, merge to these two tokens again:
 * the first merge over the seam would have happened between symbols of these two tokens, and before it nothing in
 * them knows of the rest. So the tokens of a text that goes on are found by taking the last few back, merging them
 * with what follows, and a look at the seam. */
#include "parts.h"

#include "lanes.h"

#include <string.h>

#define STEP  48u /* symbols that are new in a window */
#define BACK  2u  /* tokens that are taken back at first */
#define GROUP 8u  /* ranks that are compared at once */

#define FEW_LANES 4u  /* windows that were good for something: no more than these are too few */
#define MAX_WAIT  64u /* steps before many windows are tried again */

/* A symbol, where it ends in the window, and what it and the next one merge to. */
typedef struct item {
    uint32_t id, end, product;
} item;

/* The pair that was looked up last: in runs of one symbol it is the same again. */
typedef struct memo {
    uint32_t left, right, rank, product;
} memo;
#define NO_PAIR ((memo){UINT32_MAX, UINT32_MAX, DSTOK__NO_RANK, 0})

/* Symbols that are merged together, and the rank of each with the next one. */
typedef struct window {
    const dstok__merge_rules *rules;
    size_t n;
    memo before, behind; /* pairs of a product with its neighbours */
    item *items;         /* DSTOK__PART_ROOM of each */
    uint32_t *ranks;
} window;

static uint32_t look_up(const dstok__merge_rules *r, uint32_t left, uint32_t right, memo *m,
                        uint32_t *product) {
    if (m->left != left || m->right != right) {
        dstok__found p = dstok__pairs_get(r->pairs, left, right);
        bool refused = r->refused != 0 && p.rank != DSTOK__NO_RANK && (r->flags[p.product] & r->refused);
        *m = (memo){left, right, refused ? DSTOK__NO_RANK : p.rank, p.product};
    }
    *product = m->product;
    return m->rank;
}

static void load(window *w, const dstok__symbol *s, size_t n) {
    memo m = NO_PAIR;
    w->n = n;
    for (size_t i = 0; i < n; i++) {
        w->items[i].id = s[i].id;
        w->items[i].end = (uint32_t)i + 1;
    }
    for (size_t i = 0; i + 1 < n; i++)
        w->ranks[i] = look_up(w->rules, s[i].id, s[i + 1].id, &m, &w->items[i].product);
    w->ranks[n - 1] = DSTOK__NO_RANK;
}

static uint32_t lowest(const window *w) {
    uint32_t rank = DSTOK__NO_RANK;
    for (size_t i = 0; i < w->n; i++) rank = w->ranks[i] < rank ? w->ranks[i] : rank;
    return rank;
}

/* The first pair of this rank from i on, or n. */
static size_t find_rank(const window *w, size_t i, uint32_t rank) {
    if (i < w->n && w->ranks[i] == rank) return i;
    for (; i + GROUP <= w->n; i += GROUP) {
        uint32_t found = 0;
        for (size_t k = 0; k < GROUP; k++) found |= w->ranks[i + k] == rank;
        if (found) break;
    }
    while (i < w->n && w->ranks[i] != rank) i++;
    return i;
}

/* Puts the product of symbols i and i + 1 to `to`, which is at most i and follows what was merged before. Returns
 * the lower rank of its two new pairs. */
static uint32_t join(window *w, size_t i, size_t to) {
    uint32_t id = w->items[i].product, left = DSTOK__NO_RANK, right = DSTOK__NO_RANK;
    w->items[to].id = id;
    w->items[to].end = w->items[i + 1].end;
    if (to > 0)
        w->ranks[to - 1] = left =
            look_up(w->rules, w->items[to - 1].id, id, &w->before, &w->items[to - 1].product);
    if (i + 2 < w->n) right = look_up(w->rules, id, w->items[i + 2].id, &w->behind, &w->items[to].product);
    w->ranks[to] = right;
    return left < right ? left : right;
}

/* All merges of one rank, from left to right, up to one that makes a pair which comes first. */
static void merge_rank(window *w, uint32_t rank) {
    size_t i = find_rank(w, 0, rank), to = i;
    while (i < w->n) {
        bool goes_on = join(w, i, to++) > rank;
        i += 2;
        size_t next = goes_on ? find_rank(w, i, rank) : w->n;
        if (next - i > GROUP) {
            memmove(&w->items[to], &w->items[i], (next - i) * sizeof *w->items);
            memmove(&w->ranks[to], &w->ranks[i], (next - i) * sizeof *w->ranks);
            to += next - i;
            i = next;
        }
        for (; i < next; i++, to++) {
            w->items[to] = w->items[i];
            w->ranks[to] = w->ranks[i];
        }
    }
    w->n = to;
}

static void merge(window *w) {
    for (uint32_t rank; (rank = lowest(w)) != DSTOK__NO_RANK;) merge_rank(w, rank);
}

/* ---- tokens ---- */

static void put_tokens(const window *w, size_t from, uint64_t *out) {
    for (size_t i = 0; i < w->n; i++)
        out[i] = dstok__lane_token(w->items[i].id, from + (i > 0 ? w->items[i - 1].end : 0));
}

/* Do symbols [begin, end) merge to two tokens, the second of which begins at middle? */
static bool is_seam(window *w, const dstok__symbol *s, size_t begin, size_t middle, size_t end) {
    load(w, s + begin, end - begin);
    merge(w);
    return w->n == 2 && begin + w->items[0].end == middle;
}

/* Where a window that begins at `from` ends; symbols below `at` have been in one. Long tokens want long windows. */
static size_t end_of_window(size_t from, size_t at, size_t n, size_t longest) {
    size_t step = longest > STEP / 6 ? 6 * longest : STEP;
    if (at - from + step > DSTOK__PART_ROOM) step = DSTOK__PART_ROOM - (at - from);
    return n - at < step + step / 2 && n - from <= DSTOK__PART_ROOM ? n : at + step < n ? at + step : n;
}

/* out[0, *n_out) are the tokens of s[0, *at); takes one window more. false: given up. */
static bool step(window *w, const dstok__symbol *s, size_t n, uint64_t *out, size_t *n_out, size_t *at) {
    size_t more = BACK, k = *n_out > more ? *n_out - more : 0,
           last = *n_out > 0 ? *at - dstok__token_begin(out[*n_out - 1]) : 0;
    for (size_t from, to = 0;;) {
        from = *n_out > 0 ? dstok__token_begin(out[k]) : 0;
        if (*at - from + STEP > DSTOK__PART_ROOM) return false;
        if (to == 0) to = end_of_window(from, *at, n, last);
        if (to - from > DSTOK__PART_ROOM) return false;
        load(w, s + from, to - from);
        merge(w);
        put_tokens(w, from, out + k);
        *n_out = k + w->n;
        size_t end = w->n > 1 ? from + w->items[0].end : to;
        if (k > 0 && end - dstok__token_begin(out[k - 1]) > DSTOK__PART_ROOM) return false;
        if (k == 0 || is_seam(w, s, dstok__token_begin(out[k - 1]), from, end)) {
            *at = to;
            return true;
        }
        more *= 2;
        k = k > more ? k - more : 0;
    }
}

/* The tokens of s[0, n); 0: given up. Many short windows together first; where the text is not for them (it has long
 * tokens) they are tried again behind twice as many steps each time. */
static size_t find_tokens(window *w, const dstok__symbol *s, size_t n, uint64_t *out) {
    size_t n_out = 0, at = 0, wait = dstok__lanes_follow(w->rules) ? 0 : SIZE_MAX, next_wait = 1;
    while (at < n) {
        if (wait == 0) {
            size_t n_good = dstok__merge_lanes(w->rules, s, n, out, &n_out, &at);
            next_wait = n_good > FEW_LANES ? 1 : next_wait < MAX_WAIT ? 2 * next_wait : MAX_WAIT;
            if (n_good == DSTOK__LANES || at == n) continue;
            wait = next_wait;
        }
        if (!step(w, s, n, out, &n_out, &at)) return 0;
        if (wait != SIZE_MAX) wait--;
    }
    return n_out;
}

dstok_status dstok__merge_parts(dstok__merge_scratch *s, const dstok__merge_rules *rules, size_t n,
                                size_t *n_out) {
    DSTOK_TRY(dstok__grow(s->al, (void **)&s->window, &s->cap_window, 4 * DSTOK__PART_ROOM, sizeof *s->window,
                          4 * DSTOK__PART_ROOM));
    DSTOK_TRY(
        dstok__grow(s->al, (void **)&s->heap, &s->cap_heap, n, sizeof *s->heap, 2 * DSTOK__MAX_SYMBOLS));
    window w = {.rules = rules,
                .before = NO_PAIR,
                .behind = NO_PAIR,
                .items = (item *)(void *)s->window,
                .ranks = s->window + 3 * DSTOK__PART_ROOM};
    dstok__symbol *symbols = s->symbols;
    *n_out = find_tokens(&w, symbols, n, s->heap);
    for (size_t i = 0; i < *n_out; i++) {
        size_t begin = dstok__token_begin(s->heap[i]),
               end = i + 1 < *n_out ? dstok__token_begin(s->heap[i + 1]) : n;
        symbols[i] =
            (dstok__symbol){(uint32_t)(s->heap[i] >> 32), symbols[begin].begin, symbols[end - 1].end};
    }
    return DSTOK_OK;
}
