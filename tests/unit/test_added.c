/* SPDX-License-Identifier: MIT */
/* Matching of added tokens: leftmost-longest, verdicts, single words, blanks around; against a naive matcher. */
#include "../../tokenizer/text/added.h"
#include "../../data/unicode/unicode.h"
#include "../../tokenizer/text/utf8.h"
#include "../harness/heap.h"
#include "../harness/t.h"

#include <stdlib.h>

typedef dstok__added_entry entry;

static entry make(const char *text, uint32_t id) {
    return (entry){.text = (const uint8_t *)text, .n = (uint32_t)strlen(text), .id = id};
}

static dstok__verdict accept_all(void *ctx, const entry *e, size_t begin, size_t end) {
    (void)ctx;
    (void)e;
    CHECK(begin < end);
    return DSTOK__ACCEPT;
}

/* "id[begin,end) ..." of all matches in a text. */
static const char *matches(const dstok__added_set *set, const char *text, dstok__policy_fn *policy,
                           void *ctx) {
    static char out[1000];
    size_t n = 0, pos = 0;
    dstok__added_match m;
    bool refused;
    out[0] = '\0';
    while (dstok__added_find(set, (const uint8_t *)text, strlen(text), pos, policy, ctx, &m, &refused)) {
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%u[%zu,%zu)%s", n > 0 ? " " : "", m.entry->id,
                              m.begin, m.end, refused ? "!" : "");
        if (refused) break;
        pos = m.end;
    }
    return out;
}

static void build(dstok__added_set *set, const dstok_alloc *al, const entry *list, size_t n) {
    dstok__added_init(set, al);
    for (size_t i = 0; i < n; i++) CHECK_EQ(dstok__added_put(set, &list[i]), DSTOK_OK);
    CHECK_EQ(dstok__added_build(set), DSTOK_OK);
}

static void test_longest(void) {
    const entry list[] = {make("ab", 1),   make("bc", 2), make("<a>", 3),
                          make("<a>b", 4), make("x", 5),  make("<a>", 6)};
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok__added_set set;
    build(&set, &al, list, 6);
    CHECK_STR(matches(&set, "abc", accept_all, NULL), "1[0,2)");
    CHECK_STR(matches(&set, "aabcc", accept_all, NULL), "1[1,3)");
    CHECK_STR(matches(&set, "<a>b<a>c", accept_all, NULL),
              "4[0,4) 6[4,7)"); /* of equal texts the last one stays */
    CHECK_STR(matches(&set, "<<a>", accept_all, NULL), "6[1,4)");
    CHECK_STR(matches(&set, "x<", accept_all, NULL), "5[0,1)");
    CHECK_STR(matches(&set, "xx", accept_all, NULL), "5[0,1) 5[1,2)");
    CHECK_STR(matches(&set, "", accept_all, NULL), "");
    CHECK_STR(matches(&set, "a", accept_all, NULL), "");
    dstok__added_free(&set);
    CHECK_EQ(heap.live, 0);
    dstok__added_init(&set, &al);
    CHECK_STR(matches(&set, "abc", accept_all, NULL), "");
    dstok__added_free(&set);
}

/* The verdict for each id, indexed by id. */
static dstok__verdict by_table(void *ctx, const entry *e, size_t begin, size_t end) {
    const dstok__verdict *verdicts = ctx;
    CHECK_EQ(end - begin, e->n);
    return verdicts[e->id];
}

static void test_verdicts(void) {
    const entry list[] = {make("<a>", 0), make("<a><b>", 1), make("<b>", 2), make("b", 3)};
    const char text[] = "<a><b>";
    dstok__added_set set;
    dstok__verdict v[4] = {DSTOK__ACCEPT, DSTOK__ACCEPT, DSTOK__ACCEPT, DSTOK__ACCEPT};
    build(&set, &dstok__default_alloc, list, 4);
    CHECK_STR(matches(&set, text, by_table, v), "1[0,6)");
    v[1] = DSTOK__IGNORE; /* as if it were not there */
    CHECK_STR(matches(&set, text, by_table, v), "0[0,3) 2[3,6)");
    v[0] = v[2] = DSTOK__IGNORE; /* tokens inside of it may match */
    CHECK_STR(matches(&set, text, by_table, v), "3[4,5)");
    v[1] = DSTOK__CONSUME; /* all of it is text */
    CHECK_STR(matches(&set, text, by_table, v), "");
    v[1] = DSTOK__IGNORE;
    v[2] = DSTOK__REFUSE;
    CHECK_STR(matches(&set, text, by_table, v), "2[3,6)!");
    dstok__added_free(&set);
}

static void test_flags(void) {
    entry list[] = {make("ab", 0), make("<s>", 1), make("<m>", 2), make("\xC3\xA9", 3)};
    dstok__added_set set;
    list[0].flags = DSTOK__ADDED_SINGLE_WORD;
    list[1].flags = DSTOK__ADDED_LSTRIP | DSTOK__ADDED_RSTRIP;
    list[2].flags = DSTOK__ADDED_RSTRIP;
    list[3].flags = DSTOK__ADDED_SINGLE_WORD;
    build(&set, &dstok__default_alloc, list, 4);
    CHECK_STR(matches(&set, "ab", accept_all, NULL), "0[0,2)");
    CHECK_STR(matches(&set, "cab", accept_all, NULL), "");
    CHECK_STR(matches(&set, "abc ab-ab_ab", accept_all, NULL), "0[4,6)");
    CHECK_STR(matches(&set,
                      "\xC3\xA9"
                      "ab",
                      accept_all, NULL),
              "");
    CHECK_STR(matches(&set, "a\xC3\xA9 \xC3\xA9!", accept_all, NULL), "3[4,6)");
    CHECK_STR(matches(&set, "x  <s> \n<s> y", accept_all, NULL),
              "1[1,8) 1[8,12)"); /* not into the one before */
    CHECK_STR(matches(&set, "x <m>\xC2\xA0\xC2\x85z", accept_all, NULL), "2[2,9)");
    CHECK_STR(matches(&set, "x <m>", accept_all, NULL), "2[2,5)");
    CHECK_STR(matches(&set, "  <s>", accept_all, NULL), "1[0,5)");
    dstok__added_free(&set);
}

/* More tokens that are prefixes of one another than are kept at a place: the longest still wins, and when the policy
 * ignores long ones, shorter ones are tried down to the limit. */
static dstok__verdict at_most(void *ctx, const entry *e, size_t begin, size_t end) {
    (void)begin;
    (void)end;
    return e->n <= *(size_t *)ctx ? DSTOK__ACCEPT : DSTOK__IGNORE;
}

static void test_many_prefixes(void) {
    enum { N = DSTOK_ADDED_PREFIXES + 20 };
    char text[N + 1];
    entry list[N];
    dstok__added_set set;
    memset(text, 'a', N);
    text[N] = '\0';
    for (uint32_t i = 0; i < N; i++)
        list[i] = (entry){.text = (const uint8_t *)text, .n = i + 1, .id = i + 1};
    build(&set, &dstok__default_alloc, list, N);
    for (size_t limit = N; limit > N - DSTOK_ADDED_PREFIXES; limit--) {
        dstok__added_match m;
        bool refused;
        CHECK(dstok__added_find(&set, (const uint8_t *)text, N, 0, at_most, &limit, &m, &refused));
        CHECK_EQ(m.end - m.begin, limit);
    }
    dstok__added_free(&set);
}

/* ---- random sets and texts against a naive matcher ---- */

#define ALPHABET 8
static const char *const alphabet[ALPHABET] = {"a", "b", "<", " ", "\xC2\xA0", "\xC3\xA9", ">", "_"};

static size_t random_text(t_rng *rng, char *out, unsigned max) {
    out[0] = '\0';
    for (unsigned k = 1 + t_below(rng, max); k > 0; k--) strcat(out, alphabet[t_below(rng, ALPHABET)]);
    return strlen(out);
}

static bool is_word_beside(const uint8_t *text, size_t len, size_t begin, size_t end) {
    size_t width;
    return (begin > 0 && dstok__uc_is_word(dstok__utf8_before(text + begin, &width))) ||
           (end < len && dstok__uc_is_word(dstok__utf8_get(text + end, &width)));
}

static bool naive_find(const entry *list, size_t n, const uint8_t *text, size_t len, size_t pos,
                       const dstok__verdict *verdicts, uint32_t *id, size_t *begin, size_t *end) {
    for (size_t at = pos; at < len;) {
        const entry *best = NULL;
        for (size_t i = 0; i < n; i++) {
            const entry *e = &list[i];
            if (e->n > len - at || memcmp(e->text, text + at, e->n) != 0) continue;
            bool is_last = true; /* of equal texts */
            for (size_t k = i + 1; k < n; k++) {
                is_last = is_last && !(list[k].n == e->n && memcmp(list[k].text, e->text, e->n) == 0);
            }
            if (is_last && verdicts[e->id] != DSTOK__IGNORE && (best == NULL || e->n > best->n)) best = e;
        }
        if (best == NULL) {
            at++;
            continue;
        }
        size_t width, stop = at + best->n;
        if (verdicts[best->id] == DSTOK__CONSUME ||
            ((best->flags & DSTOK__ADDED_SINGLE_WORD) && is_word_beside(text, len, at, stop))) {
            at = stop;
            continue;
        }
        *id = best->id;
        *begin = at;
        *end = stop;
        while ((best->flags & DSTOK__ADDED_LSTRIP) && *begin > pos &&
               dstok__uc_is_space(dstok__utf8_before(text + *begin, &width))) {
            *begin -= width;
        }
        while ((best->flags & DSTOK__ADDED_RSTRIP) && *end < len &&
               dstok__uc_is_space(dstok__utf8_get(text + *end, &width)))
            *end += width;
        return true;
    }
    return false;
}

static void check_random(t_rng *rng) {
    static char texts[8][64];
    entry list[8];
    dstok__verdict verdicts[8];
    dstok__added_set set;
    size_t n = 1 + t_below(rng, 8), pos = 0;
    for (size_t i = 0; i < n; i++) {
        random_text(rng, texts[i], 3);
        list[i] = make(texts[i], (uint32_t)i);
        if (t_below(rng, 4) == 0) list[i].flags |= DSTOK__ADDED_SINGLE_WORD;
        if (t_below(rng, 3) == 0) list[i].flags |= DSTOK__ADDED_LSTRIP;
        if (t_below(rng, 3) == 0) list[i].flags |= DSTOK__ADDED_RSTRIP;
        unsigned v = t_below(rng, 6);
        verdicts[i] = v == 0 ? DSTOK__IGNORE : v == 1 ? DSTOK__CONSUME : DSTOK__ACCEPT;
    }
    char raw[128];
    size_t len = random_text(rng, raw, 24);
    uint8_t *text = malloc(len); /* of exactly this size */
    memcpy(text, raw, len);
    build(&set, &dstok__default_alloc, list, n);
    for (;;) {
        dstok__added_match m = {0};
        bool refused;
        uint32_t id = 0;
        size_t begin = 0, end = 0;
        bool want = naive_find(list, n, text, len, pos, verdicts, &id, &begin, &end);
        bool got = dstok__added_find(&set, text, len, pos, by_table, verdicts, &m, &refused);
        CHECK_EQ(got, want);
        if (!got || !want) break;
        CHECK_EQ(m.entry->id, id);
        CHECK_EQ(m.begin, begin);
        CHECK_EQ(m.end, end);
        pos = m.end;
    }
    dstok__added_free(&set);
    free(text);
}

int main(void) {
    t_rng rng = {11};
    test_longest();
    test_verdicts();
    test_flags();
    test_many_prefixes();
    for (int i = 0; i < 20000; i++) check_random(&rng);
    return t_end();
}
