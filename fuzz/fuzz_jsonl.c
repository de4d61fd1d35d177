/* SPDX-License-Identifier: MIT */
/* Fuzz target: the first byte picks keys and options; the bytes behind it are read as one line and as
 * many, by every tier, as the plain reader of the tests reads them. */
#include "../tests/oracle/jsonl_judge.h"

#include <dstok/tokenizer.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT ((size_t)1 << 16)

static const struct reading {
    const char *keys[3];
    size_t n_keys;
    const char *id_key;
} readings[] = {
    {{"text"}, 1, "id"},
    {{"a.b"}, 1, "a"},
    {{"text", "a.b.c", "a"}, 3, "text"},
    {{"a.", "\xC3\xA9"}, 2, "a.b"},
};

static void require(int condition) {
    if (!condition) abort();
}

static dstok_jsonl *open_reader(const struct reading *k, int replace, int simd) {
    dstok_jsonl_options o = DSTOK_JSONL_OPTIONS_INIT;
    dstok_jsonl *r = NULL;
    o.keys = k->keys;
    o.n_keys = k->n_keys;
    o.id_key = k->id_key;
    o.replace = replace;
    o.simd = simd;
    require(dstok_jsonl_new(&o, &r, NULL) == DSTOK_OK);
    return r;
}

static void check_line(dstok_jsonl *reader, const judged *want, const char *line, size_t n) {
    dstok_jsonl_record r = DSTOK_JSONL_RECORD_INIT;
    dstok_error err = {0};
    dstok_status status = dstok_jsonl_read(reader, line, n, &r, &err);
    require(judge_difference(want, status, &err, &r) == NULL);
}

/* Every line of a buffer, which is given in two parts: what is no whole line of the first one comes again. */
static void check_lines(dstok_jsonl *reader, const struct reading *k, int replace, const char *data,
                        size_t len, size_t cut) {
    size_t base = 0, at = 0, begin = 0;
    for (int last = 0; last < 2; last++) {
        size_t end = last ? len : cut;
        dstok_jsonl_record r = DSTOK_JSONL_RECORD_INIT;
        dstok_error err = {0};
        dstok_status status;
        at = 0;
        while ((status = dstok_jsonl_next(reader, data + base, end - base, last, &at, &r, &err)) !=
                   DSTOK_OK ||
               r.line != NULL) {
            judged want;
            size_t line = (size_t)(r.line - data);
            require(line >= begin && line + r.n_line <= base + at); /* lines come in order */
            require(memchr(r.line, '\n', r.n_line) == NULL);
            begin = line + r.n_line;
            err.offset -= status == DSTOK_OK ? 0 : line - base;
            (void)judge_line(&want, r.line, r.n_line, k->keys, k->n_keys, k->id_key, replace, 0);
            require(judge_difference(&want, status, &err, &r) == NULL);
            cli_buf_free(&want.text);
        }
        base += at;
    }
    require(base == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > MAX_TEXT) return 0;
    const struct reading *k = &readings[data[0] % 4];
    int replace = data[0] >> 2 & 1;
    const char *text = (const char *)data + 1;
    judged want;
    (void)judge_line(&want, text, size - 1, k->keys, k->n_keys, k->id_key, replace, 0);
    for (int simd = DSTOK_SIMD_BEST; simd <= DSTOK_SIMD_NEON; simd++) {
        if (dstok_simd_name(simd) == NULL) continue;
        dstok_jsonl *reader = open_reader(k, replace, simd);
        check_line(reader, &want, text, size - 1);
        check_lines(reader, k, replace, text, size - 1, (size_t)(data[0] >> 3) * (size - 1) / 32);
        dstok_jsonl_free(reader);
    }
    cli_buf_free(&want.text);
    return 0;
}
