/* SPDX-License-Identifier: MIT */
/* What the loader fuzz targets share: input split in two files, an allocator that fails by input, checks of a spec and
 * of the tokenizer made of it. */
#ifndef DSTOK_LOAD_FUZZ_H
#define DSTOK_LOAD_FUZZ_H

#include "../tokenizer/bpe/model.h"
#include "use_fuzz.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition) {
    if (!condition) abort();
}

/* ---- memory: counts what is live, fails once ---- */

static size_t fuzz_live, fuzz_calls, fuzz_fail_at;

static void *fuzz_alloc(void *ctx, size_t n) {
    (void)ctx;
    require(n > 0);
    if (++fuzz_calls == fuzz_fail_at) return NULL;
    fuzz_live++;
    return malloc(n);
}

static void *fuzz_realloc(void *ctx, void *p, size_t old, size_t n) {
    (void)ctx;
    (void)old;
    if (++fuzz_calls == fuzz_fail_at) return NULL;
    fuzz_live += p == NULL;
    return realloc(p, n);
}

static void fuzz_free(void *ctx, void *p, size_t n) {
    (void)ctx;
    (void)n;
    fuzz_live--;
    free(p);
}

static const dstok_alloc fuzz_allocator = {fuzz_alloc, fuzz_realloc, fuzz_free, NULL};

/* ---- input: one byte that makes an allocation fail, two bytes of length, the side file, the main file ---- */

typedef struct fuzz_input {
    char *side, *data; /* side is NULL when its length is 0 */
    size_t side_n, n;
} fuzz_input;

/* A copy that ends with its memory. */
static char *fuzz_copy(const uint8_t *data, size_t n) {
    char *copy = malloc(n + (n == 0));
    require(copy != NULL);
    if (n > 0) memcpy(copy, data, n);
    return copy;
}

static bool fuzz_split(const uint8_t *data, size_t size, fuzz_input *in) {
    if (size < 3) return false;
    fuzz_fail_at = data[0]; /* 0: none */
    fuzz_calls = fuzz_live = 0;
    in->side_n = (size_t)data[1] | (size_t)data[2] << 8;
    data += 3;
    size -= 3;
    if (in->side_n > size) in->side_n = size;
    in->side = in->side_n > 0 ? fuzz_copy(data, in->side_n) : NULL;
    in->n = size - in->side_n;
    in->data = fuzz_copy(data + in->side_n, in->n);
    return true;
}

/* ---- what must hold after loading ---- */

static bool has_id(const dstok__spec *s, uint32_t id) {
    for (size_t i = 0; i < s->n_tokens; i++) {
        if (s->tokens[i].id == id) return true;
    }
    return false;
}

static void check_loaded(const dstok__spec *s) {
    for (size_t i = 0; i < s->n_tokens; i++)
        require(s->tokens[i].id < DSTOK__MAX_IDS && s->tokens[i].text != NULL && s->tokens[i].bytes != NULL &&
                s->tokens[i].n <= DSTOK__MAX_TOKEN_BYTES && s->tokens[i].bytes_n <= DSTOK__MAX_TOKEN_BYTES);
    for (size_t i = 0; i < s->n_merges && i < 8; i++)
        require(has_id(s, s->merges[i].left) && has_id(s, s->merges[i].right) &&
                has_id(s, s->merges[i].product));
    for (size_t i = 0; i < s->n_added; i++)
        require(s->added[i].n > 0 && s->added[i].n <= DSTOK__MAX_ADDED_BYTES &&
                s->added[i].id < DSTOK__MAX_IDS && s->added[i].bytes_n <= DSTOK__MAX_TOKEN_BYTES);
    for (unsigned b = 0; b < 256; b++)
        require(s->fallback_ids[b] == DSTOK__NO_ID || has_id(s, s->fallback_ids[b]));
    require(s->n_decs <= DSTOK__MAX_DECS);
    require(s->prefix_n == 0 || strlen(s->prefix) <= s->prefix_n);
    require(s->suffix_n == 0 || strlen(s->suffix) <= s->suffix_n);
    require(s->n_steps <= DSTOK__MAX_STEPS && s->n_norms <= DSTOK__MAX_NORMS);
    require(s->n_warnings <= DSTOK__MAX_WARNINGS);
    for (size_t i = 0; i < s->n_warnings; i++) require(strlen(s->warnings[i]) > 0);
    bool has_text = s->n_template == 0;
    for (size_t i = 0; i < s->n_template; i++) has_text |= s->template_items[i].is_text;
    require(has_text);
}

/* What a loader accepts has a place in the tables, and these open as a file of their own; only a pattern that is not
 * supported is found later. */
static void check_tokenizer(const dstok__spec *s) {
    dstok_tokenizer tok = {.al = fuzz_allocator};
    dstok__tables t;
    uint8_t *block = NULL;
    size_t n = 0;
    dstok_error err = {0};
    dstok_status status = dstok__tables_build(s, &tok.al, &block, &n, &err);
    if (status == DSTOK_OK) {
        require(dstok__tables_open(&t, block, n, true, &err) == DSTOK_OK);
        status = dstok__model_open(&tok, block, n, DSTOK__BLOCK_HEAP, true, 0, &err);
        if (status == DSTOK_OK) fuzz_use(&tok);
    }
    require(status == DSTOK_OK || status == DSTOK_E_NOMEM || err.text[0] != '\0');
    dstok__model_free(&tok);
}

/* Checks the outcome, frees everything, and that this is everything. */
static void fuzz_finish(fuzz_input *in, dstok__spec *s, dstok_status status, const dstok_error *err) {
    if (status == DSTOK_OK) {
        check_loaded(s);
        check_tokenizer(s);
    } else {
        size_t longest = in->n > in->side_n ? in->n : in->side_n;
        require(err->status == status && err->text[0] != '\0');
        require(err->offset <= longest || err->offset == DSTOK_NO_OFFSET);
        require(status != DSTOK_E_NOMEM || fuzz_fail_at > 0);
    }
    dstok__spec_free(s);
    require(fuzz_live == 0);
    free(in->side);
    free(in->data);
}

/* ---- a target ---- */

typedef dstok_status fuzz_load(dstok__spec *s, const fuzz_input *in, dstok_error *err);

static void fuzz_run(const uint8_t *data, size_t size, fuzz_load *load) {
    fuzz_input in;
    dstok__spec s;
    dstok_error err = {0};
    if (!fuzz_split(data, size, &in)) return;
    dstok__spec_init(&s, &fuzz_allocator);
    dstok_status status = load(&s, &in, &err);
    fuzz_finish(&in, &s, status, &err);
}

#endif
