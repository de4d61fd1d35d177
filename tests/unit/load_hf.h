/* SPDX-License-Identifier: MIT */
/* What the tests of tokenizer.json share: loading a fixture with one part replaced, and refusals with their place. */
#ifndef DSTOK_TESTS_LOAD_HF_H
#define DSTOK_TESTS_LOAD_HF_H

#include "load_util.h"

typedef struct loaded {
    dstok__spec s;
    dstok_error err;
    dstok_status status;
} loaded;

static inline void load(loaded *l, const char *text, size_t n, const char *config) {
    l->err = (dstok_error){0};
    dstok__spec_init(&l->s, &dstok__default_alloc);
    l->status = dstok__load_hf(&l->s, text, n, config, config != NULL ? strlen(config) : 0, &l->err);
    if (l->status != DSTOK_OK) util_check_error(l->status, &l->err, n);
}

/* A fixture with one part replaced; config may be NULL. */
static inline void load_part(loaded *l, const char *fixture, const char *find, const char *replace,
                             const char *config) {
    size_t n;
    char *base = util_fixture(fixture, &n), *text = util_replace(base, find, replace);
    load(l, text, strlen(text), config);
    free(base);
    free(text);
}

/* A fixture with find replaced; the error must stand at the first byte of place in the new text. */
typedef struct refusal {
    const char *find, *replace;
    dstok_status status;
    const char *place, *says;
} refusal;

static inline void check_refusal(const char *base, const refusal *r) {
    char *text = util_replace(base, r->find, r->replace);
    size_t n = strlen(text);
    const char *place = strstr(text, r->place);
    if (r->place[0] == '\0') place = text + n;
    if (strcmp(r->place, "x") == 0) place = text + n - 1;
    loaded l;
    int before = t_failures;
    load(&l, text, n, NULL);
    CHECK_EQ(l.status, r->status);
    CHECK(strstr(l.err.text, r->says) != NULL);
    CHECK(place != NULL);
    if (place != NULL) CHECK_EQ(l.err.offset, place - text);
    uint32_t line = 1;
    for (size_t i = 0; i < l.err.offset && i < n; i++) line += text[i] == '\n';
    CHECK_EQ(l.err.line, line);
    if (t_failures > before) fprintf(stderr, "  \"%s\" -> \"%s\": %s\n", r->find, r->replace, l.err.text);
    dstok__spec_free(&l.s);
    dstok__spec_init(&l.s, &dstok__default_alloc);
    CHECK_EQ(dstok__load_hf(&l.s, text, n, NULL, 0, NULL), r->status); /* without a report */
    dstok__spec_free(&l.s);
    free(text);
}

#endif
