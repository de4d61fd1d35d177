/* SPDX-License-Identifier: MIT */
/* Small vocabularies made in memory. */
#include "fixture.h"

#include "../../tokenizer/base/base.h"
#include "../../tokenizer/load/bytelevel.h"
#include "../../tokenizer/text/utf8.h"

#include <stdlib.h>

static void check(dstok_status status) {
    if (status == DSTOK_OK) return;
    fprintf(stderr, "fixture: %s\n", dstok_status_name(status));
    exit(1);
}

/* Bytes as a JSON string of the byte-level alphabet. */
static void put_key(dstok__buf *b, const char *bytes, size_t n) {
    check(dstok__buf_push(b, '"'));
    for (size_t i = 0; i < n; i++) {
        uint8_t utf8[4];
        uint32_t c = dstok__bytelevel_char((uint8_t)bytes[i]);
        if (c == '"' || c == '\\') check(dstok__buf_push(b, '\\'));
        check(dstok__buf_append(b, utf8, dstok__utf8_put(utf8, c)));
    }
    check(dstok__buf_push(b, '"'));
}

static void join(char *out, size_t cap, const char *const pair[2]) {
    snprintf(out, cap, "%s%s", pair[0], pair[1]);
}

static bool was_before(const fixture *f, size_t i) {
    char product[256], other[256];
    join(product, sizeof product, f->merges[i]);
    for (size_t k = 0; k < i; k++) {
        join(other, sizeof other, f->merges[k]);
        if (strcmp(product, other) == 0) return true;
    }
    return false;
}

static void put_vocab(dstok__buf *b, const fixture *f) {
    const char *comma = "";
    for (unsigned byte = 0; byte < 256; byte++) {
        char c = (char)byte;
        if (f->without != NULL && c != '\0' && strchr(f->without, c) != NULL) continue;
        check(dstok__buf_printf(b, "%s", comma));
        put_key(b, &c, 1);
        check(dstok__buf_printf(b, ":%u", byte));
        comma = ",";
    }
    for (size_t i = 0; i < f->n_merges; i++) {
        char product[256];
        if (was_before(f, i)) continue;
        join(product, sizeof product, f->merges[i]);
        check(dstok__buf_push(b, ','));
        put_key(b, product, strlen(product));
        check(dstok__buf_printf(b, ":%zu", 256 + i));
    }
}

static void put_merges(dstok__buf *b, const fixture *f) {
    for (size_t i = 0; i < f->n_merges; i++) {
        check(dstok__buf_printf(b, "%s[", i > 0 ? "," : ""));
        put_key(b, f->merges[i][0], strlen(f->merges[i][0]));
        check(dstok__buf_push(b, ','));
        put_key(b, f->merges[i][1], strlen(f->merges[i][1]));
        check(dstok__buf_push(b, ']'));
    }
}

static const char *flag(const char *flags, size_t n, char letter) {
    return memchr(flags, letter, n) != NULL ? "true" : "false";
}

static void put_added(dstok__buf *b, const char *lines) {
    const char *comma = "";
    for (const char *line = lines; line != NULL && *line != '\0'; comma = ",") {
        size_t n = strcspn(line, ":"), stop = strcspn(line, "\n");
        check(dstok__buf_printf(b, "%s{\"id\":0,\"content\":\"%.*s\",\"special\":%s,\"single_word\":%s,",
                                comma, (int)(stop - n - 1), line + n + 1, flag(line, n, 's'),
                                flag(line, n, 'w')));
        check(dstok__buf_printf(b, "\"lstrip\":%s,\"rstrip\":%s,\"normalized\":%s}", flag(line, n, 'l'),
                                flag(line, n, 'r'), flag(line, n, 'n')));
        line += stop + (line[stop] == '\n');
    }
}

static const char *or_null(const char *text) {
    return text != NULL ? text : "null";
}

char *fixture_json(const fixture *f, size_t *n) {
    static const char byte_level[] =
        "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":false,\"use_regex\":true}";
    dstok__buf b;
    dstok__buf_init(&b, &dstok__default_alloc, 1 << 24);
    check(dstok__buf_printf(&b,
                            "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":["));
    put_added(&b, f->added);
    check(dstok__buf_printf(&b, "],\"normalizer\":%s,\"pre_tokenizer\":%s,\"post_processor\":%s,",
                            or_null(f->normalizer), f->pre_tokenizer != NULL ? f->pre_tokenizer : byte_level,
                            or_null(f->post_processor)));
    check(dstok__buf_printf(&b, "\"decoder\":%s,\"model\":{\"type\":\"BPE\",%s\"vocab\":{", byte_level,
                            f->model != NULL ? f->model : ""));
    put_vocab(&b, f);
    check(dstok__buf_printf(&b, "},\"merges\":["));
    put_merges(&b, f);
    check(dstok__buf_printf(&b, "]}}"));
    *n = b.len;
    return (char *)b.data; /* from malloc */
}

dstok_tokenizer *fixture_load(const fixture *f, const dstok_alloc *al) {
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.status = DSTOK_OK};
    size_t n;
    char *json = fixture_json(f, &n);
    options.alloc = al;
    dstok_status status = dstok_tokenizer_load_memory(json, n, NULL, 0, &options, &tok, &err);
    CHECK_EQ(status, DSTOK_OK);
    if (status != DSTOK_OK)
        fprintf(stderr, "fixture: %s (offset %llu)\n", err.text, (unsigned long long)err.offset);
    free(json);
    if (tok == NULL) exit(1);
    return tok;
}

char *fixture_ranks(size_t *n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    dstok__buf b;
    dstok__buf_init(&b, &dstok__default_alloc, 1 << 16);
    for (unsigned byte = 0; byte < 256; byte++) {
        check(dstok__buf_printf(&b, "%c%c== %u\n", digits[byte >> 2], digits[(byte & 3) << 4], byte));
    }
    check(dstok__buf_printf(&b, "YWE= 256\nYWFhYQ== 257\naGU= 258\nbGw= 259\naGVsbG8= 260\n"));
    *n = b.len;
    return (char *)b.data;
}

dstok_tokenizer *fixture_load_ranks(const char *meta) {
    dstok_tokenizer *tok = NULL;
    size_t n;
    char *ranks = fixture_ranks(&n);
    check(dstok_tokenizer_load_memory(ranks, n, meta, strlen(meta), NULL, &tok, NULL));
    free(ranks);
    return tok;
}

dstok_encoder *fixture_encoder(const dstok_tokenizer *tok) {
    dstok_encoder *enc = NULL;
    CHECK_EQ(dstok_encoder_new(tok, &enc), DSTOK_OK);
    if (enc == NULL) exit(1);
    return enc;
}

static const char *const words_merges[][2] = {
    {"h", "e"},   {"l", "l"},       {"he", "ll"}, {"hell", "o"},    {" ", "hello"},   {"l", "o"},
    {"w", "o"},   {"wo", "r"},      {"l", "d"},   {"wor", "ld"},    {" ", "world"},   {" ", " "},
    {"  ", "  "}, {"a", "a"},       {"aa", "a"},  {"a", "b"},       {"aa", "aa"},     {"1", "2"},
    {"12", "3"},  {"\n", "\n"},     {"e", "l"},   {"\xE4", "\xBD"}, {"\xA0", "\xE5"}, {"\xE4\xBD", "\xA0"},
    {"'", "s"},   {"\xC3", "\xA9"}, {"o", " "},
};
const fixture fixture_words = {.merges = words_merges,
                               .n_merges = sizeof words_merges / sizeof *words_merges};

void fixture_check_ids(dstok_encoder *enc, const char *text, int special, const uint32_t *want, size_t n,
                       const char *where) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens got = {0};
    dstok_error err = {.status = DSTOK_OK};
    options.special = special;
    dstok_status status = dstok_encode_view(enc, text, strlen(text), &options, &got, &err);
    bool same = status == DSTOK_OK && got.n == n && (n == 0 || memcmp(got.ids, want, n * sizeof *want) == 0);
    CHECK(same);
    if (same) return;
    fprintf(stderr, "%s: \"%s\": %s %s:", where, text, dstok_status_name(status), err.text);
    for (size_t i = 0; status == DSTOK_OK && i < got.n; i++) fprintf(stderr, " %u", got.ids[i]);
    fputc('\n', stderr);
}
