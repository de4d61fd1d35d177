/* SPDX-License-Identifier: MIT */
/* What the loader tests share: fixtures, texts with one part replaced, loading with everything checked on failure. */
#ifndef DSTOK_TESTS_LOAD_UTIL_H
#define DSTOK_TESTS_LOAD_UTIL_H

#include "heap.h"
#include "t.h"

#include "tokenizer/load/spec.h"

#include <stdlib.h>

/* A file of tests/fixtures/load, in malloc'ed memory with a NUL behind it. */
static inline char *util_fixture(const char *name, size_t *n) {
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/fixtures/load/%s", DSTOK_SOURCE_DIR, name);
    char *text = t_read(path, n);
    if (text == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    return text;
}

/* text with its first `find` replaced, in malloc'ed memory; the program ends when text does not have it. */
static inline char *util_replace(const char *text, const char *find, const char *replace) {
    const char *p = strstr(text, find);
    if (p == NULL) {
        fprintf(stderr, "the fixture does not hold %s\n", find);
        exit(1);
    }
    size_t head = (size_t)(p - text), find_n = strlen(find), replace_n = strlen(replace);
    char *out = malloc(strlen(text) - find_n + replace_n + 1);
    if (out == NULL) exit(1);
    memcpy(out, text, head);
    memcpy(out + head, replace, replace_n);
    strcpy(out + head + replace_n, p + find_n);
    return out;
}

/* A failed load must say so fully: the status in the report, some text, an offset inside the file or none. */
static inline void util_check_error(dstok_status status, const dstok_error *err, size_t n) {
    CHECK_EQ(err->status, status);
    CHECK(err->text[0] != '\0');
    CHECK(err->offset <= n || err->offset == DSTOK_NO_OFFSET);
    CHECK(err->offset == DSTOK_NO_OFFSET || err->line > 0 || status == DSTOK_E_LIMIT);
}

/* How many added tokens the chat template was found to use. */
static inline size_t util_named(const dstok__spec *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_added; i++) n += s->added[i].is_named;
    return n;
}

/* The first warning that holds part, or NULL. */
static inline const char *util_warning(const dstok__spec *s, const char *part) {
    for (size_t i = 0; i < s->n_warnings; i++) {
        if (strstr(s->warnings[i], part) != NULL) return s->warnings[i];
    }
    return NULL;
}

/* The added token of this text, or NULL. */
static inline const dstok__added *util_added(const dstok__spec *s, const char *text) {
    for (size_t i = 0; i < s->n_added; i++) {
        if (s->added[i].n == strlen(text) && memcmp(s->added[i].content, text, s->added[i].n) == 0)
            return &s->added[i];
    }
    return NULL;
}

#endif
