/* SPDX-License-Identifier: MIT */
/* Loaders under faults: every allocation failed once, and thousands of damaged files. No crash, no leak, a report. */
#include "load_util.h"

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
    free(hf.data);
    free(hf.side);
    free(ranks.data);
    free(ranks.side);
    return t_end();
}
