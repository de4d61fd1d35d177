/* SPDX-License-Identifier: MIT */
/* The documented limits (docs/formats.md): one more than each is E_LIMIT with a text of its own. */
#include "../harness/t.h"
#include "../oracle/fixture.h"

#include <stdlib.h>

static char data[64]; /* stands for huge inputs that must be refused before they are looked at */

static void expect_load(const void *bytes, size_t n, const char *what) {
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.text = ""};
    CHECK_EQ(dstok_tokenizer_load_memory(bytes, n, NULL, 0, NULL, &tok, &err), DSTOK_E_LIMIT);
    if (strstr(err.text, what) == NULL) {
        fprintf(stderr, "\"%s\" does not hold \"%s\"\n", err.text, what);
        CHECK(false);
    }
    dstok_tokenizer_free(tok);
}

static void test_file(void) {
    expect_load(data, ((size_t)1 << 30) + 1, "the file is larger than 1073741824 bytes");
}

static void test_input(void) {
    dstok_tokenizer *tok = fixture_load(&fixture_words, NULL);
    dstok_encoder *enc = fixture_encoder(tok);
    dstok_tokens t;
    size_t n;
    dstok_error err = {.text = ""};
    CHECK_EQ(dstok_encode_view(enc, data, DSTOK_MAX_INPUT + 1, NULL, &t, &err), DSTOK_E_LIMIT);
    CHECK(strstr(err.text, "one call takes at most 2147483647") != NULL);
    CHECK_EQ(dstok_count(enc, data, DSTOK_MAX_INPUT + 1, NULL, &n, &err), DSTOK_E_LIMIT);
    CHECK_EQ(dstok_encode_view(enc, "he", 2, NULL, &t, &err), DSTOK_OK);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

static void test_depth(void) {
    char json[256] = "{\"version\":";
    size_t n = strlen(json);
    for (int i = 0; i < 64; i++) json[n++] = '[';
    for (int i = 0; i < 64; i++) json[n++] = ']';
    json[n++] = '}';
    expect_load(json, n, "64");
}

/* A vocabulary with one key, or one added token, of n bytes. */
static char *with_long_text(size_t n, bool is_added, size_t *size) {
    char *json = malloc(n + 1024), *long_text = malloc(n + 1);
    if (json == NULL || long_text == NULL) exit(1);
    memset(long_text, 'a', n);
    long_text[n] = '\0';
    *size = (size_t)snprintf(
        json, n + 1024,
        "{\"added_tokens\":[{\"id\":1,\"content\":\"%s\",\"single_word\":false,\"lstrip\":false,"
        "\"rstrip\":false,\"normalized\":false,\"special\":false}],\"pre_tokenizer\":"
        "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true},"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{\"%s\":0},\"merges\":[]}}",
        is_added ? long_text : "b", is_added ? "b" : long_text);
    free(long_text);
    return json;
}

static void test_texts(void) {
    for (int is_added = 0; is_added < 2; is_added++) {
        size_t limit = is_added ? 1024 : 65536, n;
        char *json = with_long_text(limit + 1, is_added, &n);
        expect_load(json, n, is_added ? "the limit is 1024" : "the limit is 65536");
        free(json);
        json = with_long_text(limit, is_added, &n);
        dstok_tokenizer *tok = NULL;
        CHECK_EQ(dstok_tokenizer_load_memory(json, n, NULL, 0, NULL, &tok, NULL), DSTOK_OK);
        dstok_tokenizer_free(tok);
        free(json);
    }
}

/* 700,000 merges load: more than any known vocabulary has. */
static void test_many_merges(void) {
    enum { N = 836 }; /* N single characters and all their pairs but those of the last */
    size_t cap = (size_t)64 << 20, n = 0;
    char *json = malloc(cap);
    if (json == NULL) exit(1);
    n += (size_t)snprintf(json + n, cap - n, "{\"model\":{\"type\":\"BPE\",\"vocab\":{");
    for (int i = 0; i < N; i++)
        n += (size_t)snprintf(json + n, cap - n, "%s\"\\u%04x\":%d", i > 0 ? "," : "", 0x4E00 + i, i);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            n += (size_t)snprintf(json + n, cap - n, ",\"\\u%04x\\u%04x\":%d", 0x4E00 + i, 0x4E00 + k,
                                  N + i * N + k);
    n += (size_t)snprintf(json + n, cap - n, "},\"merges\":[");
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            n += (size_t)snprintf(json + n, cap - n, "%s[\"\\u%04x\",\"\\u%04x\"]", i + k > 0 ? "," : "",
                                  0x4E00 + i, 0x4E00 + k);
    n += (size_t)snprintf(json + n, cap - n, "]}}");
    dstok_tokenizer *tok = NULL;
    dstok_info info = DSTOK_INFO_INIT;
    dstok_error err = {.text = ""};
    CHECK_EQ(dstok_tokenizer_load_memory(json, n, NULL, 0, NULL, &tok, &err), DSTOK_OK);
    free(json);
    if (tok == NULL) return;
    dstok_tokenizer_info(tok, &info);
    CHECK_EQ(info.n_merges, N * N);
    dstok_tokenizer_free(tok);
}

int main(void) {
    test_file();
    test_input();
    test_depth();
    test_texts();
    test_many_merges();
    return t_end();
}
