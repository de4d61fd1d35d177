/* SPDX-License-Identifier: MIT */
/* Loaders under faults: every allocation failed once, and thousands of damaged files. No crash, no leak, a report. */
#include "load_util.h"

#include <dstok/tokenizer.h>

typedef enum kind { HF, TIKTOKEN } kind;

/* One vocabulary in memory, with the file beside it. */
typedef struct files {
    kind kind;
    char *data, *side;
    size_t n, side_n;
    const char *pattern;
} files;

static dstok_status load(const files *f, dstok__spec *s, const dstok_alloc *al, dstok_error *err) {
    dstok__spec_init(s, al);
    *err = (dstok_error){0};
    if (f->kind == HF) return dstok__load_hf(s, f->data, f->n, f->side, f->side_n, err);
    return dstok__load_tiktoken(s, f->data, f->n, f->pattern, f->side, f->side_n, err);
}

/* ---- allocations ---- */

static void fail_each(const files *f) {
    dstok_status status = DSTOK_E_NOMEM;
    size_t k = 1;
    for (; status != DSTOK_OK && k < 2000; k++) {
        t_heap heap = {.fail_at = k};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok__spec s;
        dstok_error err;
        status = load(f, &s, &al, &err);
        if (status != DSTOK_OK) {
            CHECK_EQ(status, DSTOK_E_NOMEM);
            CHECK_EQ(err.status, DSTOK_E_NOMEM);
            CHECK(strstr(err.text, "out of memory") != NULL);
        }
        dstok__spec_free(&s);
        CHECK_EQ(heap.live, 0);
    }
    CHECK_EQ(status, DSTOK_OK);
    CHECK(k > 10);
}

/* ---- damage ---- */

static size_t damage_once(t_rng *rng, char *text, size_t n, size_t cap) {
    if (n == 0) return 0;
    size_t at = t_below(rng, (uint32_t)n), len = 1 + t_below(rng, 40);
    if (len > n - at) len = n - at;
    switch (t_below(rng, 6)) {
    case 0:
        text[at] = (char)(text[at] ^ 1 << t_below(rng, 8));
        return n;
    case 1:
        text[at] = (char)t_random(rng);
        return n;
    case 2:
        return t_below(rng, 4) == 0 ? at : n; /* cut off */
    case 3:                                   /* drop a slice */
        memmove(text + at, text + at + len, n - at - len);
        return n - len;
    case 4: /* double a slice */
        if (n + len > cap) return n;
        memmove(text + at + len, text + at, n - at);
        return n + len;
    default: /* a slice from elsewhere over this one */
        memmove(text + at, text + t_below(rng, (uint32_t)(n - len + 1)), len);
        return n;
    }
}

/* In memory that ends with the text, so that a sanitizer sees every read too far. */
static char *damaged(t_rng *rng, const char *text, size_t *n) {
    size_t cap = *n + 512, len = *n;
    char *work = malloc(cap);
    if (work == NULL) exit(1);
    memcpy(work, text, len);
    for (uint32_t k = 1 + t_below(rng, 3); k > 0; k--) len = damage_once(rng, work, len, cap);
    char *exact = malloc(len + (len == 0));
    if (exact == NULL) exit(1);
    memcpy(exact, work, len);
    free(work);
    *n = len;
    return exact;
}

/* Returns whether it loaded all the same. */
static bool try_damaged(const files *f, uint64_t seed, bool side) {
    t_rng rng = {seed};
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok__spec s;
    dstok_error err;
    files bad = *f;
    if (side) {
        bad.side = damaged(&rng, f->side, &bad.side_n);
    } else {
        bad.data = damaged(&rng, f->data, &bad.n);
    }
    int before = t_failures;
    dstok_status status = load(&bad, &s, &al, &err);
    if (status != DSTOK_OK) util_check_error(status, &err, bad.n > bad.side_n ? bad.n : bad.side_n);
    CHECK(status != DSTOK_E_NOMEM);
    dstok__spec_free(&s);
    CHECK_EQ(heap.live, 0);
    if (t_failures > before) fprintf(stderr, "  seed %llu\n", (unsigned long long)seed);
    free(side ? bad.side : bad.data);
    return status == DSTOK_OK;
}

static void damage_many(const files *f, uint64_t seed, int n, bool side) {
    int loaded = 0;
    for (int i = 0; i < n; i++) loaded += try_damaged(f, seed + (uint64_t)i, side);
    CHECK(loaded > n / 200); /* some damage is harmless, most is not */
    CHECK(loaded < n * 9 / 10);
}

/* ---- other values ---- */

/* The end of the value at text[at], of a valid JSON text. */
static size_t value_end(const char *text, size_t n, size_t at) {
    size_t depth = 0;
    bool in_string = false;
    for (; at < n; at++) {
        char c = text[at];
        if (in_string) {
            if (c == '\\') at++;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']' || c == ',') {
            if (depth == 0) return at;
            if (c != ',') depth--;
        }
    }
    return n;
}

/* Where the k-th value begins that stands behind a colon, or in a list; 0: there are not so many. */
static size_t value_at(const char *text, size_t n, size_t k) {
    bool in_string = false;
    for (size_t i = 0; i < n; i++) {
        if (in_string && text[i] == '\\') i++;
        if (text[i] == '"') in_string = !in_string;
        if (in_string || (text[i] != ':' && text[i] != '[')) continue;
        size_t at = i + 1;
        while (at < n && strchr(" \n", text[at]) != NULL) at++;
        if (text[at] != ']' && k-- == 0) return at;
    }
    return 0;
}

/* One value of the file replaced by another one. */
static char *with_value(t_rng *rng, const char *text, size_t *n, size_t n_values) {
    static const char *const others[] = {
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1",
        "300",
        "4294967296",
        "1e3",
        "\"\"",
        "\"a\"",
        "\"\\u2581\"",
        "\"\\u0000\"",
        "\"never\"",
        "\"Removed\"",
        "\"ByteLevel\"",
        "\"Sequence\"",
        "\"Metaspace\"",
        "\"Replace\"",
        "\"NFKD\"",
        "\"AAAA\"",
        "[]",
        "{}",
        "[\"a\",1]",
        "{\"Regex\":\"(a|\\\\s)+\"}",
        "{\"String\":\"aa\"}",
        "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true}",
        "{\"type\":\"Lowercase\"}",
        "{\"type\":\"Fuse\"}"};
    const char *other = others[t_below(rng, sizeof others / sizeof *others)];
    size_t at = value_at(text, *n, t_below(rng, (uint32_t)n_values)), end = value_end(text, *n, at);
    char *out = malloc(*n + strlen(other));
    if (out == NULL) exit(1);
    memcpy(out, text, at);
    memcpy(out + at, other, strlen(other));
    memcpy(out + at + strlen(other), text + end, *n - end);
    *n = *n - (end - at) + strlen(other);
    return out;
}

/* What loaded must be fit for use, or be refused in words. */
static void use(const files *f) {
    static const char text[] = " hello  w\tabc_1x[X\xE2\x96\x81Y] \xE4\xB8\x96\n";
    dstok_tokenizer *tok = NULL;
    dstok_encoder *enc = NULL;
    dstok_tokens got = {0};
    dstok_error err = {0};
    char out[1024];
    size_t n_out;
    dstok_status status = dstok_tokenizer_load_memory(f->data, f->n, NULL, 0, NULL, &tok, &err);
    CHECK(status == DSTOK_OK || err.text[0] != '\0');
    if (status != DSTOK_OK) return;
    CHECK_EQ(dstok_encoder_new(tok, &enc), DSTOK_OK);
    status = dstok_encode_view(enc, text, sizeof text - 1, NULL, &got, &err);
    CHECK(status == DSTOK_OK || err.text[0] != '\0');
    if (status == DSTOK_OK) {
        status =
            dstok_decode(tok, got.ids, got.n, DSTOK_DECODE_REPLACE, 0, out, sizeof out, &n_out, NULL, &err);
        CHECK(status == DSTOK_OK || status == DSTOK_E_SPACE);
    }
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

static bool try_value(const files *f, uint64_t seed, size_t n_values) {
    t_rng rng = {seed};
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok__spec s;
    dstok_error err;
    files bad = *f;
    int before = t_failures;
    bad.data = with_value(&rng, f->data, &bad.n, n_values);
    dstok_status status = load(&bad, &s, &al, &err);
    if (status != DSTOK_OK) {
        util_check_error(status, &err, bad.n);
        CHECK(err.offset != DSTOK_NO_OFFSET && err.line > 0); /* one file, one place */
    }
    dstok__spec_free(&s);
    CHECK_EQ(heap.live, 0);
    if (status == DSTOK_OK) use(&bad);
    if (t_failures > before) fprintf(stderr, "  value seed %llu\n", (unsigned long long)seed);
    free(bad.data);
    return status == DSTOK_OK;
}

static void change_values(const files *f, uint64_t seed, int n) {
    int loaded = 0;
    size_t n_values = 0;
    while (value_at(f->data, f->n, n_values) > 0) n_values++;
    for (int i = 0; i < n; i++) loaded += try_value(f, seed + (uint64_t)i, n_values);
    CHECK(loaded > n / 50);
    CHECK(loaded < n * 9 / 10);
}

static void test_fixture(const char *name, uint64_t seed) {
    files f = {.kind = HF};
    f.data = util_fixture(name, &f.n);
    fail_each(&f);
    damage_many(&f, seed, 4000, false);
    change_values(&f, seed + 5000, 3000);
    free(f.data);
}

int main(void) {
    files hf = {.kind = HF}, ranks = {.kind = TIKTOKEN};
    hf.data = util_fixture("mini.json", &hf.n);
    hf.side = util_fixture("mini_config.json", &hf.side_n);
    ranks.data = util_fixture("mini.tiktoken", &ranks.n);
    ranks.side = util_fixture("mini.tiktoken.meta.json", &ranks.side_n);
    fail_each(&hf);
    fail_each(&ranks);
    damage_many(&hf, 1000, 2500, false);
    damage_many(&hf, 10000, 1000, true);
    damage_many(&ranks, 20000, 2500, false);
    damage_many(&ranks, 30000, 1000, true);
    test_fixture("chars.json", 40000);
    test_fixture("words.json", 50000);
    change_values(&hf, 60000, 1000);
    free(hf.data);
    free(hf.side);
    free(ranks.data);
    free(ranks.side);
    return t_end();
}
