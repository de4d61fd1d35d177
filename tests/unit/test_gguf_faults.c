/* SPDX-License-Identifier: MIT */
/* The GGUF loader under faults: every allocation failed once, every length cut, thousands of damaged files,
 * and one made to take long. */
#include "gguf_file.h"

static dstok_status load_with(const char *data, size_t n, t_heap *heap, dstok_error *err) {
    dstok_alloc al = t_heap_alloc(heap);
    dstok__spec s;
    *err = (dstok_error){0};
    dstok__spec_init(&s, &al);
    dstok_status status = dstok__load_gguf(&s, data, n, err);
    dstok__spec_free(&s);
    CHECK_EQ(heap->live, 0);
    if (status != DSTOK_OK) {
        CHECK_EQ(err->status, status);
        CHECK(err->text[0] != '\0');
        CHECK(err->offset <= n || err->offset == DSTOK_NO_OFFSET);
    }
    return status;
}

static void fail_each(const file *f) {
    dstok_status status = DSTOK_E_NOMEM;
    size_t k = 1;
    for (; status != DSTOK_OK && k < 2000; k++) {
        t_heap heap = {.fail_at = k};
        dstok_error err;
        status = load_with(f->data, f->n, &heap, &err);
        if (status != DSTOK_OK) CHECK_EQ(status, DSTOK_E_NOMEM);
    }
    CHECK_EQ(status, DSTOK_OK);
    CHECK(k > 5);
}

/* Cut anywhere, the file is refused. */
static void cut_each(const file *f) {
    for (size_t n = 0; n < f->n; n++) {
        char *exact = malloc(n + (n == 0));
        if (exact == NULL) exit(1);
        if (n > 0) memcpy(exact, f->data, n);
        t_heap heap = {.fail_at = 0};
        dstok_error err;
        CHECK_EQ(load_with(exact, n, &heap, &err), n < 4 ? DSTOK_E_FORMAT : DSTOK_E_TRUNCATED);
        free(exact);
    }
}

static size_t damage_once(t_rng *rng, char *data, size_t n) {
    size_t at = t_below(rng, (uint32_t)n), len = 1 + t_below(rng, 16);
    if (len > n - at) len = n - at;
    switch (t_below(rng, 5)) {
    case 0:
        data[at] = (char)(data[at] ^ 1 << t_below(rng, 8));
        return n;
    case 1:
        data[at] = (char)t_random(rng);
        return n;
    case 2: /* drop a slice */
        memmove(data + at, data + at + len, n - at - len);
        return n - len > 0 ? n - len : n;
    case 3: /* a slice from elsewhere over this one */
        memmove(data + at, data + t_below(rng, (uint32_t)(n - len + 1)), len);
        return n;
    default: /* a number as large as can be */
        memset(data + at, 0xFF, len);
        return n;
    }
}

static void damage_many(const file *f, uint64_t seed, int times) {
    int loaded = 0;
    char *work = malloc(f->n);
    if (work == NULL) exit(1);
    for (int i = 0; i < times; i++) {
        t_rng rng = {seed + (uint64_t)i};
        size_t n = f->n;
        memcpy(work, f->data, n);
        for (uint32_t k = 1 + t_below(&rng, 3); k > 0; k--) n = damage_once(&rng, work, n);
        char *exact = malloc(n);
        if (exact == NULL) exit(1);
        memcpy(exact, work, n);
        t_heap heap = {.fail_at = 0};
        dstok_error err;
        dstok_status status = load_with(exact, n, &heap, &err);
        CHECK(status != DSTOK_E_NOMEM);
        loaded += status == DSTOK_OK;
        free(exact);
    }
    CHECK(loaded > times / 200); /* some damage is harmless, most is not */
    CHECK(loaded < times * 9 / 10);
    free(work);
}

/* Time must not grow with more than the size: a warning for each of many merges, many ids, many templates. */
static void test_many(void) {
    enum { N = 30000 };
    file f = start();
    dstok__spec s;
    dstok_error err = {0};
    add_bpe_head(&f, "gpt-2");
    add_array(&f, "tokenizer.ggml.tokens", STRING, N);
    for (int i = 0; i < N; i++) {
        char text[16];
        snprintf(text, sizeof text, i == 0 ? "a" : i == 1 ? "aa" : "<%d>", i);
        put_string(&f, text);
    }
    add_array(&f, "tokenizer.ggml.token_type", I32, N);
    for (int i = 0; i < N; i++) put_number(&f, i < 2 ? NORMAL : CONTROL, 4);
    add_array(&f, "tokenizer.ggml.merges", STRING, N);
    for (int i = 0; i < N; i++) put_string(&f, "a a");
    for (int i = 0; i < N; i++) {
        char key[48];
        snprintf(key, sizeof key, "tokenizer.ggml.x%d_token_id", i);
        add_id(&f, key, (uint32_t)i);
        snprintf(key, sizeof key, "tokenizer.chat_template.x%d", i);
        add_string(&f, key, "x");
    }
    finish(&f);
    dstok__spec_init(&s, &dstok__default_alloc);
    CHECK_EQ(dstok__load_gguf(&s, f.data, f.n, &err), DSTOK_OK);
    CHECK_EQ(s.n_merges, 1);
    CHECK_EQ(s.n_added, N - 2);
    CHECK_EQ(util_named(&s), N - 2);
    dstok__spec_free(&s);
    free(f.data);
}

int main(void) {
    file bpe = bpe_file("command-r"), spm = spm_file("llama");
    add_string(&bpe, "tokenizer.chat_template", "<y>");
    finish(&bpe);
    finish(&spm);
    fail_each(&bpe);
    fail_each(&spm);
    cut_each(&bpe);
    cut_each(&spm);
    damage_many(&bpe, 1000, 10000);
    damage_many(&spm, 20000, 10000);
    free(bpe.data);
    free(spm.data);
    test_many();
    return t_end();
}
