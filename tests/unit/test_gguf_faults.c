/* SPDX-License-Identifier: MIT */
/* The GGUF loader under faults: every allocation failed once, every length cut, thousands of damaged files,
 * and one made to take long. */
#include "gguf_file.h"
#include "load_damage.h"

/* Cut anywhere, the file is refused for its length. */
static void cut_each(const file *f) {
    for (size_t n = 0; n < f->n; n++)
        CHECK_EQ(damage_try(dstok__load_gguf, f->data, n, 0), n < 4 ? DSTOK_E_FORMAT : DSTOK_E_TRUNCATED);
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
    damage_allocations(dstok__load_gguf, bpe.data, bpe.n);
    damage_allocations(dstok__load_gguf, spm.data, spm.n);
    cut_each(&bpe);
    cut_each(&spm);
    damage_many(dstok__load_gguf, bpe.data, bpe.n, 1000, 10000);
    damage_many(dstok__load_gguf, spm.data, spm.n, 20000, 10000);
    free(bpe.data);
    free(spm.data);
    test_many();
    return t_end();
}
