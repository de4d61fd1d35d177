/* SPDX-License-Identifier: MIT */
/* The trainer: against a naive trainer, against merges of Hugging Face tokenizers 0.23.3, and at its edges. */
#include "../harness/heap.h"
#include "../harness/t.h"
#include "../../tokenizer/train/train.h"
#include <dstok/tokenizer.h>
#include <dstok/trainer.h>

#include <stdlib.h>

/* ---- the algorithm alone, on counted words ---- */

typedef struct counted {
    const char *word;
    uint64_t count;
} counted;

/* Byte order, so that ids below 256 are bytes. The caller frees *v. */
static dstok_status learn_counted(dstok__learnt *v, const counted *list, size_t n, dstok__learn_options o) {
    const dstok__specials none = {0};
    dstok__words words;
    dstok__words_init(&words, &dstok__default_alloc);
    dstok__learnt_init(v, &dstok__default_alloc);
    dstok_status status = dstok__learnt_start(v, &none, DSTOK_TRAIN_ORDER_BYTE);
    for (size_t i = 0; i < n && status == DSTOK_OK; i++)
        status = dstok__words_add(&words, list[i].word, strlen(list[i].word), list[i].count);
    if (status == DSTOK_OK) status = dstok__learn(v, &words, &o, NULL);
    dstok__words_free(&words);
    return status;
}

static void check_merges(const dstok__learnt *v, const uint32_t (*want)[2], size_t n) {
    CHECK_EQ(v->n_merges, n);
    for (size_t i = 0; i < n && i < v->n_merges; i++) {
        CHECK_EQ(v->merges[i].left, want[i][0]);
        CHECK_EQ(v->merges[i].right, want[i][1]);
    }
}

static void test_ties(void) {
    const counted list[] = {{"cd", 5}, {"ac", 5}, {"ab", 5}, {"zz", 6}, {"yb", 4}};
    const uint32_t want[][2] = {{'z', 'z'}, {'a', 'b'}, {'a', 'c'}, {'c', 'd'}, {'y', 'b'}};
    dstok__learnt v;
    CHECK_EQ(learn_counted(&v, list, 5, (dstok__learn_options){.vocab_size = 300, .min_frequency = 1}),
             DSTOK_OK);
    check_merges(&v, want, 5);
    CHECK_EQ(v.last_count, 4);
    dstok__learnt_free(&v);
}

/* "aaaa" counts aa three times; after the merge two are left side by side. */
static void test_overlaps(void) {
    const counted four[] = {{"aaaa", 1}};
    const uint32_t want_four[][2] = {{'a', 'a'}, {256, 256}};
    const counted five[] = {{"aaaaa", 2}};
    const uint32_t want_five[][2] = {
        {'a', 'a'}, {256, 'a'}, {256, 257}}; /* aa aa a: ties (256,97) before (256,256) */
    const counted known[] = {{"aaabdaaabac", 1}};
    const uint32_t want_known[][2] = {{'a', 'a'}, {'a', 'b'}, {256, 257}};
    dstok__learnt v;
    CHECK_EQ(learn_counted(&v, four, 1, (dstok__learn_options){.vocab_size = 300, .min_frequency = 1}),
             DSTOK_OK);
    check_merges(&v, want_four, 2);
    dstok__learnt_free(&v);
    CHECK_EQ(learn_counted(&v, five, 1, (dstok__learn_options){.vocab_size = 300, .min_frequency = 1}),
             DSTOK_OK);
    check_merges(&v, want_five, 3);
    dstok__learnt_free(&v);
    CHECK_EQ(learn_counted(&v, known, 1, (dstok__learn_options){.vocab_size = 259, .min_frequency = 1}),
             DSTOK_OK);
    check_merges(&v, want_known, 3); /* aaabdaaabac is now 258 d 258 a c */
    dstok__learnt_free(&v);
}

/* Counts above 2^32: in 32 bits "aa" would have been 3000000000 - 2^32 < 0 or small. */
static void test_large_counts(void) {
    const counted list[] = {
        {"aa", 3000000000u}, {"bc", 5}, {"de", (uint64_t)1 << 33}, {"xyz", (uint64_t)1 << 60}};
    const uint32_t want[][2] = {{'x', 'y'}, {256, 'z'}, {'d', 'e'}, {'a', 'a'}, {'b', 'c'}};
    const counted too_many[] = {{"ab", (uint64_t)1 << 61}, {"abc", (uint64_t)1 << 61}};
    dstok__learnt v;
    CHECK_EQ(learn_counted(&v, list, 4, (dstok__learn_options){.vocab_size = 300, .min_frequency = 2}),
             DSTOK_OK);
    check_merges(&v, want, 5);
    dstok__learnt_free(&v);
    CHECK_EQ(learn_counted(&v, too_many, 2, (dstok__learn_options){.vocab_size = 300, .min_frequency = 2}),
             DSTOK_E_LIMIT);
    dstok__learnt_free(&v);
}

static void test_min_frequency(void) {
    const counted list[] = {{"ab", 3}, {"cd", 2}};
    const uint32_t want[][2] = {{'a', 'b'}};
    dstok__learnt v;
    CHECK_EQ(learn_counted(&v, list, 2, (dstok__learn_options){.vocab_size = 300, .min_frequency = 3}),
             DSTOK_OK);
    check_merges(&v, want, 1);
    dstok__learnt_free(&v);
    CHECK_EQ(learn_counted(&v, list, 2, (dstok__learn_options){.vocab_size = 300, .min_frequency = 4}),
             DSTOK_OK);
    check_merges(&v, NULL, 0);
    dstok__learnt_free(&v);
}

static void test_max_token_length(void) {
    const counted list[] = {{"abcd", 9}};
    const uint32_t want[][2] = {{'a', 'b'},
                                {'c', 'd'}}; /* both have two bytes; three are not less than three */
    dstok__learnt v;
    dstok__learn_options o = {.vocab_size = 300, .min_frequency = 1, .max_token_length = 3};
    CHECK_EQ(learn_counted(&v, list, 1, o), DSTOK_OK);
    check_merges(&v, want, 2);
    dstok__learnt_free(&v);
    o.max_token_length = 2;
    CHECK_EQ(learn_counted(&v, list, 1, o), DSTOK_OK);
    check_merges(&v, NULL, 0);
    dstok__learnt_free(&v);
}

/* ---- against a naive trainer that counts everything anew before each merge ---- */

enum { NAIVE_IDS = 330, NAIVE_WORDS = 12, NAIVE_LENGTH = 24 };

typedef struct naive {
    uint32_t words[NAIVE_WORDS][NAIVE_LENGTH];
    size_t len[NAIVE_WORDS];
    uint64_t count[NAIVE_WORDS];
    char token[NAIVE_IDS][NAIVE_LENGTH + 1];
    uint32_t n_ids;
    uint32_t merges[NAIVE_IDS][2];
    uint64_t merge_count[NAIVE_IDS];
    size_t n_merges;
} naive;

static uint64_t naive_pair_count(const naive *t, uint32_t left, uint32_t right) {
    uint64_t count = 0;
    for (size_t w = 0; w < NAIVE_WORDS; w++) {
        for (size_t i = 0; i + 1 < t->len[w]; i++)
            if (t->words[w][i] == left && t->words[w][i + 1] == right) count += t->count[w];
    }
    return count;
}

/* The best pair that stands somewhere in the words; its count, or 0. */
static uint64_t naive_best(const naive *t, size_t max_length, uint32_t *left, uint32_t *right) {
    uint64_t best = 0;
    for (size_t w = 0; w < NAIVE_WORDS; w++) {
        for (size_t i = 0; i + 1 < t->len[w]; i++) {
            uint32_t a = t->words[w][i], b = t->words[w][i + 1];
            if (max_length > 0 && strlen(t->token[a]) + strlen(t->token[b]) >= max_length) continue;
            uint64_t count = naive_pair_count(t, a, b);
            if (count < best || (count == best && (a > *left || (a == *left && b >= *right)))) continue;
            best = count;
            *left = a;
            *right = b;
        }
    }
    return best;
}

static uint32_t naive_join(naive *t, uint32_t left, uint32_t right) {
    strcat(strcpy(t->token[t->n_ids], t->token[left]), t->token[right]);
    return t->n_ids++;
}

static void naive_rewrite(naive *t, size_t w, uint32_t left, uint32_t right, uint32_t id) {
    size_t out = 0;
    for (size_t i = 0; i < t->len[w]; i++) {
        bool match = i + 1 < t->len[w] && t->words[w][i] == left && t->words[w][i + 1] == right;
        t->words[w][out++] = match ? id : t->words[w][i];
        i += match;
    }
    t->len[w] = out;
}

static void naive_train(naive *t, const counted *list, const dstok__learn_options *o) {
    *t = (naive){.n_ids = 256};
    for (unsigned b = 0; b < 256; b++) t->token[b][0] = (char)b;
    for (size_t w = 0; w < NAIVE_WORDS; w++) {
        t->len[w] = strlen(list[w].word);
        t->count[w] = list[w].count;
        for (size_t i = 0; i < t->len[w]; i++) t->words[w][i] = (unsigned char)list[w].word[i];
    }
    while (t->n_ids < o->vocab_size) {
        uint32_t left = 0, right = 0;
        uint64_t count = naive_best(t, o->max_token_length, &left, &right);
        if (count < o->min_frequency || count == 0) break;
        uint32_t id = naive_join(t, left, right);
        t->merges[t->n_merges][0] = left;
        t->merges[t->n_merges][1] = right;
        t->merge_count[t->n_merges++] = count;
        for (size_t w = 0; w < NAIVE_WORDS; w++) naive_rewrite(t, w, left, right, id);
    }
}

/* Words over few letters, so that ties and overlaps are common. Counts of merges never rise. */
static void compare_with_naive(t_rng *rng) {
    char text[NAIVE_WORDS][NAIVE_LENGTH];
    counted list[NAIVE_WORDS];
    uint32_t letters = 1 + t_below(rng, 3);
    for (size_t w = 0; w < NAIVE_WORDS; w++) {
        size_t n = t_below(rng, NAIVE_LENGTH);
        for (size_t i = 0; i < n; i++) text[w][i] = (char)('a' + t_below(rng, letters));
        text[w][n] = '\0';
        if (n == 0) strcpy(text[w], "c"); /* an empty word is never counted */
        list[w] = (counted){text[w], 1 + t_below(rng, 4)};
    }
    dstok__learn_options o = {.vocab_size = 256 + t_below(rng, NAIVE_IDS - 256),
                              .min_frequency = 1 + t_below(rng, 3),
                              .max_token_length = t_below(rng, 2) ? 0 : 2 + t_below(rng, 8)};
    static naive t;
    naive_train(&t, list, &o);
    dstok__learnt v;
    CHECK_EQ(learn_counted(&v, list, NAIVE_WORDS, o), DSTOK_OK);
    check_merges(&v, (const uint32_t(*)[2])t.merges, t.n_merges);
    CHECK_EQ(v.n_tokens, t.n_ids);
    for (size_t i = 0; i < t.n_merges; i++) {
        CHECK(t.merge_count[i] >= o.min_frequency);
        if (i > 0) CHECK(t.merge_count[i] <= t.merge_count[i - 1]);
    }
    dstok__learnt_free(&v);
}

static void test_naive(void) {
    t_rng rng = {1};
    for (int i = 0; i < 600; i++) compare_with_naive(&rng);
}

/* Joined bytes that are a token already keep its id. Merging words never leads there, see docs/training.md. */
static void test_known_token(void) {
    const dstok__specials none = {0};
    dstok__learnt v;
    uint32_t ab, bc, abc, again;
    dstok__learnt_init(&v, &dstok__default_alloc);
    CHECK_EQ(dstok__learnt_start(&v, &none, DSTOK_TRAIN_ORDER_BYTE), DSTOK_OK);
    CHECK_EQ(dstok__learnt_merge_add(&v, 'a', 'b', &ab), DSTOK_OK);
    CHECK_EQ(dstok__learnt_merge_add(&v, 'b', 'c', &bc), DSTOK_OK);
    CHECK_EQ(dstok__learnt_merge_add(&v, ab, 'c', &abc), DSTOK_OK);
    CHECK_EQ(dstok__learnt_merge_add(&v, 'a', bc, &again), DSTOK_OK);
    CHECK_EQ(again, abc);
    CHECK_EQ(v.n_tokens, 259);
    CHECK_EQ(v.n_merges, 4);
    dstok__learnt_free(&v);
}

/* ---- the public calls ---- */

/* The text of a tokenizer.json, to be freed; NULL after a failure. */
static char *json_of(const dstok_trainer *t) {
    size_t n = 0, again = 0;
    CHECK_EQ(dstok_trainer_json(t, NULL, 0, &n, NULL), DSTOK_E_SPACE);
    char *json = malloc(n + 1);
    if (json == NULL) return NULL;
    json[n] = '#';
    CHECK_EQ(dstok_trainer_json(t, json, n, &again, NULL), DSTOK_OK);
    CHECK_EQ(again, n);
    CHECK_EQ(json[n], '#');
    json[n] = '\0';
    return json;
}

static dstok_train_result result_of(const dstok_trainer *t) {
    dstok_train_result r = DSTOK_TRAIN_RESULT_INIT;
    dstok_trainer_result(t, &r);
    return r;
}

static dstok_trainer *new_trainer(uint32_t vocab_size, const char *const *specials, size_t n_specials) {
    dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
    dstok_trainer *t = NULL;
    dstok_error err = {0};
    o.vocab_size = vocab_size;
    o.specials = specials;
    o.n_specials = n_specials;
    CHECK_EQ(dstok_trainer_new(&o, &t, &err), DSTOK_OK);
    if (t == NULL) fprintf(stderr, "%s\n", err.text);
    return t;
}

static void feed(dstok_trainer *t, const char *text, uint64_t weight) {
    CHECK_EQ(dstok_trainer_feed(t, text, strlen(text), weight, NULL), DSTOK_OK);
}

/* Merges of Hugging Face tokenizers 0.23.3 (BpeTrainer, the o200k pattern, 256 bytes, min_frequency 2). */
static const char golden_text[] = "The theme of the thesis: there, then, the other theory.\n"
                                  "“我爱自然语言处理”，他说：自然语言很有意思，自然而然。\n"
                                  "for (int i = 0; i < n; i++) { sum += i * i; } // 1234 12345 the sum\n"
                                  "aaaa aaaaaa aaaaaaaaa banana bananas Ünïcödé naïve café cafés\n";
static const char golden_merges[] =
    "\"merges\":[\n"
    "[\"a\",\"a\"],\n[\"h\",\"e\"],\n[\"t\",\"he\"],\n[\"Ġ\",\"the\"],\n[\"aa\",\"aa\"],\n[\"n\",\"a\"],\n"
    "[\"Ġ\",\"i\"],\n[\"ç\",\"Ħ\"],\n[\"çĦ\",\"¶\"],\n[\"ª\",\"çĦ¶\"],\n[\"Ã\",\"©\"],\n[\"è\",\"¯\"],\n"
    "[\"è\",\"ĩ\"],\n[\"ï\",\"¼\"],\n[\"èĩ\",\"ªçĦ¶\"],\n[\"1\",\"2\"],\n[\"a\",\"f\"],\n[\"a\",\"na\"],\n"
    "[\"b\",\"ana\"],\n[\"c\",\"af\"],\n[\"o\",\"r\"],\n[\"s\",\"u\"],\n[\"¨\",\"Ģ\"],\n[\"Ã\",\"¯\"],\n"
    "[\"â\",\"Ģ\"],\n[\"è\",\"¨Ģ\"],\n[\"Ġ\",\"o\"],\n[\"Ġ\",\"aaaa\"],\n[\"Ġ\",\"bana\"],\n[\"Ġ\",\"caf\"],"
    "\n"
    "[\"Ġ\",\"su\"],\n[\"Ń\",\"è¨Ģ\"],\n[\"è¯\",\"Ńè¨Ģ\"],\n[\"ï¼\",\"Į\"],\n[\"èĩªçĦ¶\",\"è¯Ńè¨Ģ\"],\n"
    "[\"12\",\"3\"],\n[\"Ġbana\",\"na\"],\n[\"Ġcaf\",\"Ã©\"],\n[\"Ġsu\",\"m\"],\n[\"èĩªçĦ¶è¯Ńè¨Ģ\",\"å\"]]}}"
    "\n";

static void test_golden(void) {
    dstok_trainer *t = new_trainer(1000, NULL, 0);
    feed(t, golden_text, 1);
    CHECK_EQ(dstok_trainer_run(t, NULL), DSTOK_OK);
    char *json = json_of(t);
    CHECK(json != NULL && strstr(json, golden_merges) != NULL);
    CHECK(json != NULL && strstr(json, "\"vocab\":{\n\"!\":0,\n\"\\\"\":1,\n\"#\":2,") != NULL);
    dstok_train_result r = result_of(t);
    CHECK_EQ(r.n_ids, 296);
    CHECK_EQ(r.n_merges, 40);
    CHECK_EQ(r.last_count, 2);
    CHECK_EQ(r.full, 0);
    free(json);
    dstok_trainer_free(t);
}

/* Ids are dealt to the bytes in one order or the other, and ties follow them: the blank is a late byte in one. */
static void test_orders(void) {
    for (int order = 0; order < 2; order++) {
        dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
        dstok_trainer *t = NULL;
        o.vocab_size = 257;
        o.order = order;
        CHECK_EQ(dstok_trainer_new(&o, &t, NULL), DSTOK_OK);
        CHECK_EQ(dstok_trainer_feed_word(t, " x", 2, 7, NULL), DSTOK_OK);
        CHECK_EQ(dstok_trainer_feed_word(t, "by", 2, 7, NULL), DSTOK_OK);
        CHECK_EQ(dstok_trainer_run(t, NULL), DSTOK_OK);
        char *json = json_of(t);
        const char *first =
            order == DSTOK_TRAIN_ORDER_HF ? "\"vocab\":{\n\"!\":0,\n" : "\"vocab\":{\n\"Ā\":0,\n";
        const char *merge = order == DSTOK_TRAIN_ORDER_HF ? "[\"b\",\"y\"]" : "[\"Ġ\",\"x\"]";
        CHECK(json != NULL && strstr(json, first) != NULL);
        CHECK(json != NULL && strstr(json, merge) != NULL);
        CHECK_EQ(result_of(t).full, 1);
        free(json);
        dstok_trainer_free(t);
    }
}

/* The result depends on counts only: documents in any order, weights or repetitions. */
static void test_feeding_order(void) {
    const char *const specials[] = {"<|end|>"};
    const char *const docs[] = {"to be or not to be", "that is the question, the question\n", golden_text};
    dstok_trainer *a = new_trainer(400, specials, 1), *b = new_trainer(400, specials, 1);
    for (int i = 0; i < 3; i++) feed(a, docs[i], (uint64_t)i + 1);
    for (int i = 2; i >= 0; i--) {
        for (int k = 0; k <= i; k++) feed(b, docs[i], 1);
    }
    CHECK_EQ(dstok_trainer_feed_word(a, "zebra", 5, 3, NULL), DSTOK_OK);
    for (int k = 0; k < 3; k++) CHECK_EQ(dstok_trainer_feed_word(b, "zebra", 5, 1, NULL), DSTOK_OK);
    CHECK_EQ(result_of(a).n_pretokens, result_of(b).n_pretokens);
    CHECK_EQ(dstok_trainer_run(a, NULL), DSTOK_OK);
    CHECK_EQ(dstok_trainer_run(b, NULL), DSTOK_OK);
    char *json_a = json_of(a), *json_b = json_of(b);
    CHECK(json_a != NULL && json_b != NULL);
    if (json_a != NULL && json_b != NULL) CHECK_STR(json_a, json_b);
    free(json_a);
    free(json_b);
    dstok_trainer_free(a);
    dstok_trainer_free(b);
}

/* vocab_size counts everything: 1000 ids with one special token are 256 bytes and 743 merges, without a hole. */
static void test_vocab_size(void) {
    const char *const specials[] = {"<|endoftext|>"};
    dstok_trainer *t = new_trainer(1000, specials, 1);
    t_rng rng = {7};
    for (int i = 0; i < 4000; i++) {
        char word[10] = " ";
        uint32_t n = 2 + t_below(&rng, 7);
        for (uint32_t k = 1; k < n; k++) word[k] = (char)('a' + t_below(&rng, 20) % (1 + t_below(&rng, 20)));
        CHECK_EQ(dstok_trainer_feed_word(t, word, n, 2, NULL), DSTOK_OK);
    }
    CHECK_EQ(dstok_trainer_run(t, NULL), DSTOK_OK);
    dstok_train_result r = result_of(t);
    CHECK_EQ(r.n_ids, 1000);
    CHECK_EQ(r.n_merges, 743);
    CHECK_EQ(r.full, 1);
    char *json = json_of(t), *at = json;
    for (int id = 0; id < 1000 && at != NULL; id++) {
        char ending[16];
        snprintf(ending, sizeof ending, "\":%d%s", id, id == 999 ? "}" : ",");
        at = strstr(at, ending);
        CHECK(at != NULL);
    }
    free(json);
    dstok_trainer_free(t);
}

/* Special tokens are cut out first, the longest one that matches; nothing is learnt from them or across them. */
static void test_specials(void) {
    const char *const specials[] = {"<|e|>", "<|e|>x", "a b"};
    dstok_trainer *t = new_trainer(400, specials, 3);
    for (int i = 0; i < 1000; i++) feed(t, "cat<|e|>dog<|e|>xyz a b!", 1);
    CHECK_EQ(dstok_trainer_feed_word(t, "cat<|e|>dog", 11, 50, NULL), DSTOK_OK);
    CHECK_EQ(result_of(t).n_words, 5); /* cat, dog, yz, " ", "!" */
    CHECK_EQ(result_of(t).n_pretokens, 5100);
    CHECK_EQ(dstok_trainer_run(t, NULL), DSTOK_OK);
    char *json = json_of(t);
    CHECK(json != NULL);
    if (json != NULL) {
        CHECK(strstr(json, "{\"id\":1,\"content\":\"<|e|>x\",\"single_word\":false") != NULL);
        CHECK(strstr(json, "\"vocab\":{\n\"<|e|>\":0,\n\"<|e|>x\":1,\n\"a b\":2,\n\"!\":3,") != NULL);
        CHECK(strstr(json, "[\"c\",\"at\"]") != NULL && strstr(json, "[\"y\",\"z\"]") != NULL);
        CHECK(strstr(strstr(json, "\"!\":3"), "|e") == NULL); /* not in any token */
        CHECK(strstr(json, "td") == NULL && strstr(json, "gx") == NULL && strstr(json, "xy") == NULL);
    }
    free(json);
    dstok_trainer_free(t);
}

static dstok_status try_special(const char *text) {
    dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
    const char *const specials[] = {"<|pad|>", text};
    dstok_trainer *t = NULL;
    o.vocab_size = 300;
    o.specials = specials;
    o.n_specials = 2;
    dstok_status status = dstok_trainer_new(&o, &t, NULL);
    CHECK((t != NULL) == (status == DSTOK_OK));
    dstok_trainer_free(t);
    return status;
}

/* Texts that a tokenizer.json could not tell from a token are refused, like empty and double ones. */
static void test_special_texts(void) {
    static char long_text[DSTOK__TRAIN_MAX_SPECIAL + 2];
    memset(long_text, 'x', sizeof long_text - 1);
    CHECK_EQ(try_special(long_text), DSTOK_E_LIMIT);
    long_text[DSTOK__TRAIN_MAX_SPECIAL] = '\0';
    CHECK_EQ(try_special(long_text), DSTOK_OK);
    CHECK_EQ(try_special("<|pad|> "), DSTOK_OK);
    CHECK_EQ(try_special("ab"), DSTOK_OK);
    CHECK_EQ(try_special("\n"), DSTOK_OK);
    CHECK_EQ(try_special("中文"), DSTOK_OK);
    CHECK_EQ(try_special(""), DSTOK_E_INVAL);
    CHECK_EQ(try_special("<|pad|>"), DSTOK_E_INVAL);
    CHECK_EQ(try_special("\xFF\xFE"), DSTOK_E_INVAL);
    CHECK_EQ(try_special("a"), DSTOK_E_INVAL);
    CHECK_EQ(try_special("Ġ"), DSTOK_E_INVAL);  /* the blank */
    CHECK_EQ(try_special("Ã©"), DSTOK_E_INVAL); /* the bytes of é */
    CHECK_EQ(try_special("Ń"), DSTOK_E_INVAL);  /* byte AD, the last one */
    CHECK_EQ(try_special("ń"), DSTOK_OK);       /* the code point behind it */
}

static dstok_status try_options(uint32_t vocab_size, int order, const char *pattern) {
    dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
    const char *const specials[] = {"<|pad|>"};
    dstok_trainer *t = NULL;
    o.vocab_size = vocab_size;
    o.order = order;
    o.pattern = pattern;
    o.specials = specials;
    o.n_specials = 1;
    dstok_status status = dstok_trainer_new(&o, &t, NULL);
    dstok_trainer_free(t);
    return status;
}

static void test_options(void) {
    CHECK_EQ(try_options(257, DSTOK_TRAIN_ORDER_HF, NULL), DSTOK_OK);
    CHECK_EQ(try_options(256, DSTOK_TRAIN_ORDER_HF, NULL), DSTOK_E_INVAL);
    CHECK_EQ(try_options(0, DSTOK_TRAIN_ORDER_HF, NULL), DSTOK_E_INVAL);
    CHECK_EQ(try_options(DSTOK__TRAIN_MAX_IDS, DSTOK_TRAIN_ORDER_HF, NULL), DSTOK_OK);
    CHECK_EQ(try_options(DSTOK__TRAIN_MAX_IDS + 1, DSTOK_TRAIN_ORDER_HF, NULL), DSTOK_E_INVAL);
    CHECK_EQ(try_options(300, 2, NULL), DSTOK_E_INVAL);
    CHECK_EQ(try_options(300, DSTOK_TRAIN_ORDER_BYTE, "o200k_bse"), DSTOK_E_INVAL);
    CHECK_EQ(try_options(300, DSTOK_TRAIN_ORDER_BYTE, ""), DSTOK_E_INVAL);
    CHECK_EQ(try_options(300, DSTOK_TRAIN_ORDER_BYTE, "[a-z"), DSTOK_E_FORMAT);
    for (size_t i = 0; dstok_pattern_name(i) != NULL; i++)
        CHECK_EQ(try_options(300, DSTOK_TRAIN_ORDER_HF, dstok_pattern_name(i)), DSTOK_OK);
}

static void test_empty(void) {
    dstok_trainer *t = new_trainer(1000, NULL, 0);
    feed(t, "", 1);
    CHECK_EQ(dstok_trainer_feed(t, NULL, 0, 1, NULL), DSTOK_OK);
    CHECK_EQ(dstok_trainer_feed_word(t, NULL, 0, 9, NULL), DSTOK_OK);
    CHECK_EQ(dstok_trainer_feed_word(t, "ab", 2, 0, NULL), DSTOK_OK);
    CHECK_EQ(dstok_trainer_run(t, NULL), DSTOK_OK);
    dstok_train_result r = result_of(t);
    CHECK_EQ(r.n_words, 0);
    CHECK_EQ(r.n_ids, 256);
    CHECK_EQ(r.n_merges, 0);
    CHECK_EQ(r.full, 0);
    char *json = json_of(t);
    CHECK(json != NULL && strstr(json, "\"merges\":[]}}") != NULL &&
          strstr(json, "\"added_tokens\":[],") != NULL);
    free(json);
    dstok_trainer_free(t);
}

static void test_states(void) {
    dstok_error err = {0};
    size_t n;
    dstok_trainer *t = new_trainer(300, NULL, 0);
    CHECK_EQ(dstok_trainer_json(t, NULL, 0, &n, &err), DSTOK_E_STATE);
    CHECK_EQ(dstok_trainer_feed(t, "ab", 2, 0, &err), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_feed(t, "good \xE4\xB8 bad", 11, 1, &err), DSTOK_E_UTF8);
    CHECK_EQ(err.offset, 5);
    CHECK_EQ(result_of(t).n_pretokens, 0); /* nothing was counted, the trainer is usable */
    feed(t, "good", 1);
    CHECK_EQ(dstok_trainer_run(t, &err), DSTOK_OK);
    CHECK_EQ(dstok_trainer_run(t, &err), DSTOK_E_STATE);
    CHECK_EQ(dstok_trainer_feed(t, "ab", 2, 1, &err), DSTOK_E_STATE);
    CHECK_EQ(dstok_trainer_feed_word(t, "ab", 2, 1, &err), DSTOK_E_STATE);
    CHECK_EQ(result_of(t).n_pretokens, 1);
    dstok_train_result r;
    memset(&r, 0x55, sizeof r);
    r.struct_size = offsetof(dstok_train_result, n_merges); /* less than any version has */
    CHECK_EQ(dstok_trainer_result(t, &r), DSTOK_E_INVAL);
    CHECK_EQ(r.n_ids, 0x5555555555555555);
    dstok_trainer_free(t);
    dstok_trainer_free(NULL);
}

/* Counts beyond 64 bits, also where count x bytes would wrap around to something small. */
static void test_count_limits(void) {
    const uint64_t counts[] = {(uint64_t)1 << 62, ((uint64_t)1 << 63) + 1, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        dstok_error err = {0};
        dstok_trainer *t = new_trainer(300, NULL, 0);
        CHECK_EQ(dstok_trainer_feed_word(t, "ab", 2, counts[i], &err), DSTOK_E_LIMIT);
        CHECK_EQ(dstok_trainer_run(t, &err), DSTOK_E_STATE);
        dstok_trainer_free(t);
    }
}

/* A buffer that is too small: the needed size is told, and nothing is written beyond it. */
static void test_json_space(void) {
    static char out[16384];
    dstok_trainer *t = new_trainer(300, NULL, 0);
    feed(t, golden_text, 1);
    CHECK_EQ(dstok_trainer_run(t, NULL), DSTOK_OK);
    size_t n = 0, again = 0;
    CHECK_EQ(dstok_trainer_json(t, NULL, 0, &n, NULL), DSTOK_E_SPACE);
    CHECK(n < sizeof out);
    for (size_t cap = 0; cap < n; cap += cap < 300 ? 1 : 97) {
        memset(out, '#', sizeof out);
        CHECK_EQ(dstok_trainer_json(t, out, cap, &again, NULL), DSTOK_E_SPACE);
        CHECK_EQ(again, n);
        CHECK_EQ(out[cap], '#');
    }
    dstok_trainer_free(t);
}

typedef struct watch {
    uint64_t calls, last_done, wanted, stop_at;
} watch;

static int watch_progress(void *ctx, uint64_t done, uint64_t wanted) {
    watch *w = ctx;
    CHECK(w->calls == 0 || done >= w->last_done);
    w->calls++;
    w->last_done = done;
    w->wanted = wanted;
    return w->calls == w->stop_at;
}

static void test_progress(void) {
    for (uint64_t stop_at = 0; stop_at <= 3; stop_at++) {
        watch w = {.stop_at = stop_at};
        dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
        dstok_trainer *t = NULL;
        t_rng rng = {3};
        o.vocab_size = 256 + 2500;
        o.min_frequency = 1;
        o.progress = watch_progress;
        o.progress_ctx = &w;
        CHECK_EQ(dstok_trainer_new(&o, &t, NULL), DSTOK_OK);
        for (int i = 0; i < 3000; i++) {
            char word[4] = {(char)t_below(&rng, 256), (char)t_below(&rng, 256), (char)t_below(&rng, 256), 0};
            CHECK_EQ(dstok_trainer_feed_word(t, word, 3, 1, NULL), DSTOK_OK);
        }
        CHECK_EQ(dstok_trainer_run(t, NULL), stop_at == 0 ? DSTOK_OK : DSTOK_E_CANCELED);
        CHECK_EQ(w.calls, stop_at == 0 ? 4 : stop_at); /* 0, 1000, 2000 and the end */
        CHECK_EQ(w.last_done, stop_at == 0 ? 2500 : (stop_at - 1) * 1000);
        CHECK_EQ(w.wanted, 2500);
        dstok_trainer_free(t);
    }
}

/* The file loads without a warning, takes the scanner it should, and encodes what it was trained on. */
static void check_reload(const dstok_trainer *t, const char *scanner, const char *text) {
    dstok_tokenizer *tok = NULL;
    dstok_encoder *enc = NULL;
    dstok_error err = {0};
    char *json = json_of(t);
    CHECK_EQ(dstok_tokenizer_load_memory(json, strlen(json), NULL, 0, NULL, &tok, &err), DSTOK_OK);
    free(json);
    if (tok == NULL) {
        fprintf(stderr, "%s\n", err.text);
        return;
    }
    dstok_info info = DSTOK_INFO_INIT;
    dstok_tokenizer_info(tok, &info);
    CHECK_EQ(info.n_ids, result_of(t).n_ids);
    CHECK_EQ(info.n_merges, result_of(t).n_merges);
    CHECK(dstok_tokenizer_warning(tok, 0) == NULL);
    CHECK_STR(info.scanner, scanner);
    CHECK_EQ(dstok_encoder_new(tok, &enc), DSTOK_OK);
    uint32_t ids[128];
    char back[128];
    size_t n = 0, n_back = 0;
    CHECK_EQ(dstok_encode(enc, text, strlen(text), NULL, ids, NULL, NULL, 128, &n, &err), DSTOK_OK);
    CHECK(n < 40);
    CHECK_EQ(dstok_decode(tok, ids, n, DSTOK_DECODE_LOSSLESS, 0, back, 128, &n_back, NULL, &err), DSTOK_OK);
    CHECK_EQ(n_back, strlen(text));
    CHECK_MEM(back, text, strlen(text));
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

/* One of the patterns keeps blanks inside words, which merges written as "a b" could not tell apart. */
static void test_reload(void) {
    const char *const patterns[] = {NULL, "[a-z ]+|[^a-z ]", "cl100k_base"};
    const char *const scanners[] = {"o200k", "pcre2", "cl100k"};
    const char *const specials[] = {"<|end|>"};
    static const char text[] = "the cat and the dog and the cat <|end|> 中文 the end";
    for (size_t i = 0; i < 3; i++) {
        dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
        dstok_trainer *t = NULL;
        o.vocab_size = 290;
        o.pattern = patterns[i];
        o.specials = specials;
        o.n_specials = 1;
        CHECK_EQ(dstok_trainer_new(&o, &t, NULL), DSTOK_OK);
        if (t == NULL) continue;
        feed(t, text, 3);
        CHECK_EQ(dstok_trainer_run(t, NULL), DSTOK_OK);
        check_reload(t, scanners[i], text);
        dstok_trainer_free(t);
    }
}

/* ---- memory ---- */

static dstok_status whole_run(const dstok_alloc *al) {
    const char *const specials[] = {"<|end|>", "<|pad|>"};
    dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
    dstok_trainer *t = NULL;
    o.alloc = al;
    o.vocab_size = 320;
    o.specials = specials;
    o.n_specials = 2;
    dstok_status status = dstok_trainer_new(&o, &t, NULL);
    if (status == DSTOK_OK) status = dstok_trainer_feed(t, golden_text, strlen(golden_text), 1, NULL);
    if (status == DSTOK_OK) status = dstok_trainer_feed_word(t, "banana<|end|>", 13, 4, NULL);
    if (status == DSTOK_OK) status = dstok_trainer_run(t, NULL);
    dstok_trainer_free(t);
    return status;
}

static void test_allocation_failures(void) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    CHECK_EQ(whole_run(&al), DSTOK_OK);
    CHECK_EQ(heap.live, 0);
    size_t calls = heap.calls;
    CHECK(calls > 20);
    for (size_t k = 1; k <= calls; k++) {
        heap = (t_heap){.fail_at = k};
        CHECK_EQ(whole_run(&al), DSTOK_E_NOMEM);
        CHECK_EQ(heap.live, 0);
    }
}

int main(void) {
    test_ties();
    test_overlaps();
    test_large_counts();
    test_min_frequency();
    test_max_token_length();
    test_naive();
    test_known_token();
    test_golden();
    test_orders();
    test_feeding_order();
    test_vocab_size();
    test_specials();
    test_special_texts();
    test_options();
    test_empty();
    test_states();
    test_count_limits();
    test_json_space();
    test_progress();
    test_reload();
    test_allocation_failures();
    return t_end();
}
