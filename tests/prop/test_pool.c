/* SPDX-License-Identifier: MIT */
/* Pools of 1 to 8 threads against an encoder that takes one document after the other: ids, spans, flags, reports,
 * counts, errors. With sizes made small, so that short texts are cut into many parts; then as they are. Run it
 * under TSan. Arguments: rounds, seed. */
#include "../../tokenizer/bpe/pool.h"
#include "../../tokenizer/pretok/pretok.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#include <stdlib.h>

#define MAX_THREADS 8u
#define MAX_DOCS    40u

/* ---- what is right ---- */

static const dstok_tokenizer *tok;
static dstok_encoder *enc; /* of tok, in no pool */
static t_rng rng;

static uint8_t *texts; /* of all documents */
static size_t n_texts, cap_texts;
static dstok_doc docs[MAX_DOCS];
static size_t n_docs;

static struct expected {
    dstok_status status; /* of the first document that fails, with it */
    size_t failed;
    dstok_error err;
    uint32_t *ids;
    dstok_span *spans;
    uint8_t *flags;
    uint64_t offsets[MAX_DOCS + 1];
    dstok_report reports[MAX_DOCS];
    size_t cap;
} want;

static void *enlarge(void *p, size_t n) {
    void *q = realloc(p, n);
    if (q == NULL) exit(1);
    return q;
}

static void expect_tokens(const dstok_tokens *t, size_t doc) {
    size_t at = want.offsets[doc], n = at + t->n;
    want.offsets[doc + 1] = n;
    want.reports[doc] = *dstok_encode_report(enc);
    if (n > want.cap) {
        want.cap = 2 * n;
        want.ids = enlarge(want.ids, want.cap * sizeof *want.ids);
        want.spans = enlarge(want.spans, want.cap * sizeof *want.spans);
        want.flags = enlarge(want.flags, want.cap);
    }
    if (t->n == 0) return;
    memcpy(want.ids + at, t->ids, t->n * sizeof *t->ids);
    if (t->spans != NULL) memcpy(want.spans + at, t->spans, t->n * sizeof *t->spans);
    if (t->flags != NULL) memcpy(want.flags + at, t->flags, t->n);
}

static void expect(const dstok_encode_options *options) {
    want.status = DSTOK_OK;
    want.failed = SIZE_MAX;
    want.offsets[0] = 0;
    for (size_t i = 0; i < n_docs && want.status == DSTOK_OK; i++) {
        dstok_tokens t = {0};
        want.status = dstok_encode_view(enc, docs[i].text, docs[i].len, options, &t, &want.err);
        if (want.status == DSTOK_OK) {
            expect_tokens(&t, i);
        } else {
            want.failed = i;
        }
    }
}

/* ---- a pool against it ---- */

static bool same(const void *got, const void *right, size_t n, size_t size) {
    return n == 0 || memcmp(got, right, n * size) == 0;
}

static bool is_right(const dstok_batch *b, bool ids_only) {
    uint64_t n = want.offsets[n_docs];
    if (b->n != n || b->n_docs != n_docs || !same(b->offsets, want.offsets, n_docs + 1, sizeof *b->offsets) ||
        !same(b->ids, want.ids, n, sizeof *b->ids) ||
        !same(b->reports, want.reports, n_docs, sizeof *b->reports))
        return false;
    if (ids_only) return b->spans == NULL && b->flags == NULL;
    return same(b->spans, want.spans, n, sizeof *b->spans) && same(b->flags, want.flags, n, 1);
}

static bool is_expected_error(dstok_status status, const dstok_pool *pool, const dstok_error *err) {
    char text[sizeof err->text + 40];
    snprintf(text, sizeof text, "document %zu: %s", want.failed, want.err.text);
    text[strlen(err->text)] = '\0'; /* a long one is cut */
    return status == want.status && err->status == status && err->offset == want.err.offset &&
           err->line == want.err.line && dstok_pool_failed(pool) == want.failed &&
           strcmp(err->text, text) == 0;
}

/* dstok_pool_report, of documents that were only counted, too. */
static bool has_report(const dstok_pool *pool, size_t doc) {
    const dstok_report *r = dstok_pool_report(pool, doc);
    return r != NULL && same(r, &want.reports[doc], 1, sizeof *r);
}

static bool counts_right(dstok_pool *pool, const dstok_encode_options *options) {
    uint64_t counts[MAX_DOCS + 1] = {0}, total = 4711;
    dstok_error err = {.status = DSTOK_OK};
    counts[n_docs] = 4711;
    dstok_status status = dstok_pool_count(pool, docs, n_docs, options, counts, &total, &err);
    if (want.status != DSTOK_OK)
        return total == 4711 && counts[0] == (n_docs == 0 ? 4711 : 0) && dstok_pool_report(pool, 0) == NULL &&
               is_expected_error(status, pool, &err);
    bool good = status == DSTOK_OK && total == want.offsets[n_docs] && counts[n_docs] == 4711;
    for (size_t i = 0; i < n_docs; i++)
        good = good && counts[i] == want.offsets[i + 1] - want.offsets[i] && has_report(pool, i);
    return good;
}

static bool encodes_right(dstok_pool *pool, const dstok_encode_options *options) {
    dstok_batch b = DSTOK_BATCH_INIT;
    dstok_error err = {.status = DSTOK_OK};
    b.n = 4711;
    dstok_status status = dstok_pool_encode(pool, docs, n_docs, options, &b, &err);
    if (want.status != DSTOK_OK) return b.n == 4711 && b.ids == NULL && is_expected_error(status, pool, &err);
    return status == DSTOK_OK && dstok_pool_failed(pool) == SIZE_MAX && err.status == DSTOK_OK &&
           is_right(&b, options->ids_only);
}

static dstok_pool *make_pool(size_t n_threads) {
    dstok_pool_options o = DSTOK_POOL_OPTIONS_INIT;
    dstok_pool *pool = NULL;
    o.n_threads = n_threads;
    CHECK_EQ(dstok_pool_new(tok, &o, &pool, NULL), DSTOK_OK);
    if (pool == NULL) exit(1);
    CHECK_EQ(dstok_pool_threads(pool), n_threads);
    return pool;
}

/* ---- documents ---- */

static void clear(void) {
    n_docs = n_texts = 0;
}

/* Places move while texts are added: documents get them in settle(). */
static uint8_t *add_text(size_t n) {
    if (n_texts + n >= cap_texts) texts = enlarge(texts, cap_texts = 2 * (n_texts + n) + 1);
    docs[n_docs++].len = n;
    n_texts += n;
    return texts + n_texts - n;
}

static void settle(void) {
    for (size_t i = 0, at = 0; i < n_docs; at += docs[i++].len)
        docs[i].text = docs[i].len == 0 ? NULL : texts + at;
}

static const char *const hard[] = {"<|im_start|>", "[END]", "<|im_sta", "  ", "hello world", " ",
                                   "\n\n",         "'s",    "12345"};

/* Random text, with tokens of the vocabulary strewn in. */
static void add_random(size_t max, bool is_valid) {
    static uint8_t text[1 << 16];
    size_t n = 0;
    max = max < 16 ? 16 : max;
    while (n + 16 <= max) {
        size_t left = max - n < 300 ? max - n : 300;
        n += is_valid ? gen_text(&rng, text + n, left) : gen_bytes(&rng, text + n, left);
        const char *more = hard[t_below(&rng, sizeof hard / sizeof *hard)];
        if (n + strlen(more) > max) break;
        memcpy(text + n, more, strlen(more));
        n += strlen(more);
    }
    memcpy(add_text(n), text, n);
}

/* One letter, so that there is no place to cut at; text around it. */
static void add_long_word(size_t n) {
    uint8_t *text = add_text(n);
    memset(text, 'l', n);
    memcpy(text, "hello ", 6);
    memcpy(text + n - 6, " world", 6);
}

static void make_docs(bool is_valid) {
    clear();
    for (uint32_t n = t_below(&rng, MAX_DOCS); n_docs < n;) {
        switch (t_below(&rng, 8)) {
        case 0:
            (void)add_text(0);
            break;
        case 1:
            add_random(3000, is_valid || t_below(&rng, 4) > 0);
            break;
        case 2:
            add_long_word(12 + t_below(&rng, 2000));
            break;
        default:
            add_random(t_below(&rng, 300), is_valid || t_below(&rng, 16) > 0);
        }
    }
    settle();
}

static void draw_options(dstok_encode_options *o) {
    *o = (dstok_encode_options)DSTOK_ENCODE_OPTIONS_INIT;
    o->special = (int)t_below(&rng, 5);
    o->invalid = (int)t_below(&rng, 3);
    o->ids_only = t_below(&rng, 2) == 0;
    o->add_special = t_below(&rng, 3) == 0;
    o->strict = t_below(&rng, 4) == 0;
    o->span_style = t_below(&rng, 6) == 0;
    o->max_tokens = t_below(&rng, 4) == 0 ? 1 + t_below(&rng, 400) : 0;
}

/* ---- tests ---- */

static size_t n_failing;

/* Many batches on pools of every size, which stay for all of them. */
static void test_batches(const char *name, int rounds) {
    dstok_pool *pools[MAX_THREADS + 1];
    for (size_t k = 1; k <= MAX_THREADS; k++) {
        pools[k] = make_pool(k);
        pools[k]->sizes = (dstok__pool_sizes){.least = 40, .most = 40 * (k % 3 + 1), .share = 100};
    }
    for (int i = 0; i < rounds; i++) {
        dstok_encode_options options;
        draw_options(&options);
        make_docs(options.invalid == DSTOK_INVALID_ERROR && t_below(&rng, 2) == 0);
        expect(&options);
        n_failing += want.status != DSTOK_OK;
        for (size_t k = 1; k <= MAX_THREADS; k++) {
            bool good = encodes_right(pools[k], &options), counted = counts_right(pools[k], &options);
            CHECK(good);
            CHECK(counted);
            if (!good || !counted) {
                fprintf(stderr, "%s: round %d, %zu threads\n", name, i, k);
                return;
            }
        }
    }
    for (size_t k = 1; k <= MAX_THREADS; k++) dstok_pool_free(pools[k]);
}

/* Documents of megabytes with the sizes that everybody has. */
static void test_large(const char *name) {
    static const size_t sizes[] = {300000, 0, 20000, 900000, 10, 262144};
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.special = DSTOK_SPECIAL_PARSE;
    options.invalid = DSTOK_INVALID_REPLACE;
    clear();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *text = add_text(sizes[i]);
        for (size_t n = 0; n < sizes[i];) {
            uint8_t some[400];
            size_t m = t_below(&rng, 20) > 0 ? gen_text(&rng, some, sizeof some)
                                             : gen_bytes(&rng, some, sizeof some);
            if (m > sizes[i] - n) m = sizes[i] - n;
            memcpy(text + n, some, m);
            n += m;
        }
    }
    settle();
    for (size_t first = 0; first < 4; first += 3) { /* all; one alone */
        size_t all = n_docs;
        dstok_doc kept = docs[0];
        if (first > 0) {
            docs[0] = docs[first];
            n_docs = 1;
        }
        options.ids_only = 0;
        expect(&options);
        for (size_t k = 1; k <= MAX_THREADS; k += k == 3 ? 5 : 1) {
            dstok_pool *pool = make_pool(k);
            for (options.ids_only = 0; options.ids_only < 2; options.ids_only++) {
                CHECK(encodes_right(pool, &options));
                CHECK(counts_right(pool, &options));
            }
            if (t_failures > 0) fprintf(stderr, "%s: %zu threads, from document %zu on\n", name, k, first);
            dstok_pool_free(pool);
        }
        docs[0] = kept;
        n_docs = all;
    }
}

/* Of many documents that fail it is the first that counts, each time. Their last byte is the bad one, so that threads
 * come to it at all times. */
static void test_first_error(void) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_pool *pool = make_pool(4);
    for (int i = 0; i < 60; i++) {
        pool->sizes.least = pool->sizes.most = 1000 + 1000 * t_below(&rng, 30);
        clear();
        while (n_docs < MAX_DOCS) {
            uint32_t n = 100 + t_below(&rng, 20000);
            uint8_t *text = add_text(n);
            for (uint32_t k = 0; k < n; k++) text[k] = (uint8_t) "hello, 1 world "[k % 15];
            if (n_docs > 3 && t_below(&rng, 3) == 0) text[n - 1] = 0xFF;
        }
        settle();
        expect(&options);
        CHECK(encodes_right(pool, &options));
        CHECK(counts_right(pool, &options));
    }
    docs[3].text = NULL;
    docs[3].len = 5;
    n_docs = 4;
    for (size_t i = 0; i < 3; i++) docs[i] = (dstok_doc){"hello", 5};
    dstok_error err = {0};
    uint64_t total;
    CHECK_EQ(dstok_pool_count(pool, docs, n_docs, NULL, NULL, &total, &err), DSTOK_E_INVAL);
    CHECK_EQ(dstok_pool_failed(pool), 3);
    CHECK_STR(err.text, "document 3: its text is NULL");
    n_docs = 3;
    CHECK_EQ(dstok_pool_count(pool, docs, n_docs, NULL, NULL, &total, &err), DSTOK_OK);
    CHECK_EQ(dstok_pool_failed(pool), SIZE_MAX);
    dstok_pool_free(pool);
}

/* A rank file with the pattern of that name and what else its meta file says. */
static dstok_tokenizer *load_ranks(const char *pattern, const char *more) {
    char meta[2000];
    size_t n = (size_t)snprintf(meta, sizeof meta, "{%s,\"pattern\":\"", more);
    for (const char *p = dstok__pattern_by_name(pattern); *p != '\0' && n + 4 < sizeof meta; p++) {
        if (*p == '\\' || *p == '"') meta[n++] = '\\';
        meta[n++] = *p;
    }
    memcpy(meta + n, "\"}", 3);
    return fixture_load_ranks(meta);
}

#define TEMPLATE                                                                                             \
    "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<|im_start|>\",\"type_id\":0}" \
    "},"                                                                                                     \
    "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<|im_start|>\":"         \
    "{\"id\":\"<|im_start|>\",\"ids\":[283],\"tokens\":[\"<|im_start|>\"]}}}"

static dstok_tokenizer *load(size_t i) {
    fixture f = fixture_words;
    switch (i) {
    case 0:
        return fixture_load(&f, NULL);
    case 1:
        f.added = "sl:<|im_start|>\nln:[END]\nn:  \n";
        f.normalizer = "{\"type\":\"NFC\"}";
        return fixture_load(&f, NULL);
    case 2:
        f.post_processor =
            "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true}";
        return fixture_load(&f, NULL);
    case 3:
        f.without = "z";
        f.pre_tokenizer = "{\"type\":\"Whitespace\"}"; /* no fast way */
        return fixture_load(&f, NULL);
    case 4:
        f.added = "sn:<|im_start|>\n";
        f.normalizer =
            "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKD\"},{\"type\":\"Lowercase\"}]}";
        f.post_processor = TEMPLATE;
        return fixture_load(&f, NULL);
    case 5:
        return load_ranks("cl100k_base", "\"special_tokens\":{\"<|im_start|>\":300}");
    case 6:
        return load_ranks("o200k_base", "\"special_tokens\":{\"<|im_start|>\":300,\"[END]\":301}");
    default:
        return load_ranks("qwen3.5", "\"special_tokens\":{\"<|im_start|>\":300},\"normalizer\":\"NFC\"");
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    rng.state = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261130;
    for (size_t i = 0; i < 8; i++) {
        char name[20];
        dstok_tokenizer *one = load(i);
        tok = one;
        enc = fixture_encoder(tok);
        snprintf(name, sizeof name, "vocabulary %zu", i);
        CHECK((enc->fast == NULL) == (i == 3));
        test_batches(name, rounds);
        if (i % 3 == 1) test_large(name);
        if (i == 0) test_first_error();
        dstok_encoder_free(enc);
        dstok_tokenizer_free(one);
    }
    CHECK(n_failing > 0);
    fprintf(stderr, "%zu batches failed as they should\n", n_failing);
    free(texts);
    free(want.ids);
    free(want.spans);
    free(want.flags);
    return t_end();
}
