/* SPDX-License-Identifier: MIT */
/* The key-value part of a GGUF file: every length is checked against the file before it is used. */
#include "gguf.h"

#include <inttypes.h>
#include <string.h>

#define MAX_KEY_BYTES 65535u

static const char *const key_names[DSTOK__GGUF_N_KEYS] = {
    [DSTOK__GGUF_ARCHITECTURE] = "general.architecture",
    [DSTOK__GGUF_MODEL] = "tokenizer.ggml.model",
    [DSTOK__GGUF_PRE] = "tokenizer.ggml.pre",
    [DSTOK__GGUF_TOKENS] = "tokenizer.ggml.tokens",
    [DSTOK__GGUF_SCORES] = "tokenizer.ggml.scores",
    [DSTOK__GGUF_TYPES] = "tokenizer.ggml.token_type",
    [DSTOK__GGUF_MERGES] = "tokenizer.ggml.merges",
    [DSTOK__GGUF_CHARSMAP] = "tokenizer.ggml.precompiled_charsmap",
    [DSTOK__GGUF_BOS] = "tokenizer.ggml.bos_token_id",
    [DSTOK__GGUF_EOS] = "tokenizer.ggml.eos_token_id",
    [DSTOK__GGUF_UNK] = "tokenizer.ggml.unknown_token_id",
    [DSTOK__GGUF_ADD_BOS] = "tokenizer.ggml.add_bos_token",
    [DSTOK__GGUF_ADD_EOS] = "tokenizer.ggml.add_eos_token",
    [DSTOK__GGUF_ADD_PREFIX] = "tokenizer.ggml.add_space_prefix",
    [DSTOK__GGUF_REMOVE_BLANKS] = "tokenizer.ggml.remove_extra_whitespaces",
};

static const unsigned char sizes[DSTOK__GGUF_N_TYPES] = {
    [DSTOK__GGUF_U8] = 1,  [DSTOK__GGUF_I8] = 1,  [DSTOK__GGUF_U16] = 2, [DSTOK__GGUF_I16] = 2,
    [DSTOK__GGUF_U32] = 4, [DSTOK__GGUF_I32] = 4, [DSTOK__GGUF_F32] = 4, [DSTOK__GGUF_BOOL] = 1,
    [DSTOK__GGUF_U64] = 8, [DSTOK__GGUF_I64] = 8, [DSTOK__GGUF_F64] = 8,
};

const char *dstok__gguf_name(dstok__gguf_key key) {
    return key_names[key];
}

bool dstok__gguf_has(const dstok__gguf *g, dstok__gguf_key key) {
    return g->values[key].type != DSTOK__GGUF_ABSENT;
}

/* ---- numbers, little-endian in any place ---- */

static uint64_t number_at(const uint8_t *p, size_t size) {
    uint64_t v = 0;
    for (size_t i = size; i-- > 0;) v = v << 8 | p[i];
    return v;
}

static dstok_status ends_early(const dstok__gguf *g, const char *what) {
    return dstok__fail(g->err, DSTOK_E_TRUNCATED, g->n, 0, "the file ends inside %s", what);
}

/* A number that stands at *at, which moves behind it. */
static dstok_status take(const dstok__gguf *g, size_t *at, size_t size, const char *what, uint64_t *v) {
    if (g->n - *at < size) return ends_early(g, what);
    *v = number_at(g->data + *at, size);
    *at += size;
    return DSTOK_OK;
}

/* ---- checking ---- */

/* A length, and so many bytes. */
static dstok_status take_string(const dstok__gguf *g, size_t *at, const char *what, size_t *begin,
                                size_t *n) {
    uint64_t length = 0;
    DSTOK_TRY(take(g, at, 8, what, &length));
    if (length > g->n - *at) return ends_early(g, what);
    *begin = *at;
    *n = (size_t)length;
    *at += *n;
    return DSTOK_OK;
}

static dstok_status take_type(const dstok__gguf *g, size_t *at, const char *what, dstok__gguf_type *type) {
    uint64_t v = 0;
    DSTOK_TRY(take(g, at, 4, what, &v));
    if (v >= DSTOK__GGUF_N_TYPES)
        return dstok__fail(g->err, DSTOK_E_FORMAT, *at - 4, 0,
                           "%s has type %" PRIu64 ", which GGUF does not know", what, v);
    *type = (dstok__gguf_type)v;
    return DSTOK_OK;
}

static dstok_status take_array(const dstok__gguf *g, size_t *at, const char *what, dstok__gguf_value *v) {
    uint64_t count = 0;
    size_t begin = 0, n = 0;
    DSTOK_TRY(take_type(g, at, what, &v->elem));
    if (v->elem == DSTOK__GGUF_ARRAY)
        return dstok__fail(g->err, DSTOK_E_UNSUPPORTED, *at - 4, 0, "not supported: %s is an array of arrays",
                           what);
    DSTOK_TRY(take(g, at, 8, what, &count));
    size_t size = v->elem == DSTOK__GGUF_STRING ? 8 : sizes[v->elem];
    if (count > (g->n - *at) / size) return ends_early(g, what);
    v->at = *at;
    v->n = (size_t)count;
    if (v->elem != DSTOK__GGUF_STRING) {
        *at += v->n * size;
        return DSTOK_OK;
    }
    for (size_t i = 0; i < v->n; i++) DSTOK_TRY(take_string(g, at, what, &begin, &n));
    return DSTOK_OK;
}

static dstok_status take_value(const dstok__gguf *g, size_t *at, const char *what, dstok__gguf_value *v) {
    uint64_t number = 0;
    DSTOK_TRY(take_type(g, at, what, &v->type));
    if (v->type == DSTOK__GGUF_STRING) return take_string(g, at, what, &v->at, &v->n);
    if (v->type == DSTOK__GGUF_ARRAY) return take_array(g, at, what, v);
    v->at = *at;
    v->n = 1;
    DSTOK_TRY(take(g, at, sizes[v->type], what, &number));
    if (v->type == DSTOK__GGUF_BOOL && number > 1)
        return dstok__fail(g->err, DSTOK_E_FORMAT, v->at, 0,
                           "%s must be false or true (0 or 1), not %" PRIu64, what, number);
    return DSTOK_OK;
}

static dstok_status note(dstok__gguf *g, const char *key, size_t n, const dstok__gguf_value *v) {
    for (size_t i = 0; i < DSTOK__GGUF_N_KEYS; i++) {
        if (!dstok__text_is(key, n, key_names[i])) continue;
        if (g->values[i].type != DSTOK__GGUF_ABSENT)
            return dstok__fail(g->err, DSTOK_E_DUPLICATE, v->at, 0, "%s stands twice in the file",
                               key_names[i]);
        g->values[i] = *v;
        return DSTOK_OK;
    }
    return DSTOK_OK;
}

static dstok_status take_pair(dstok__gguf *g, size_t *at) {
    dstok__gguf_value v = {.elem = DSTOK__GGUF_ABSENT};
    size_t begin = 0, n = 0;
    dstok__quoted what;
    DSTOK_TRY(take_string(g, at, "a key", &begin, &n));
    const char *key = (const char *)g->data + begin;
    if (n > MAX_KEY_BYTES)
        return dstok__fail(g->err, DSTOK_E_FORMAT, begin - 8, 0, "a key has %zu bytes; GGUF allows %u", n,
                           MAX_KEY_BYTES);
    DSTOK_TRY(take_value(g, at, DSTOK__QUOTE(key, n, what), &v));
    return note(g, key, n, &v);
}

enum { MAGIC = 4, HEADER = 24 }; /* magic, version, number of tensors, number of keys */

static dstok_status check_version(const dstok__gguf *g, uint32_t version) {
    if (version == 2 || version == 3) return DSTOK_OK;
    if ((version & 0xFFFF) == 0 && version != 0)
        return dstok__fail(g->err, DSTOK_E_UNSUPPORTED, MAGIC, 0, "not supported: a big-endian GGUF file");
    return dstok__fail(g->err, DSTOK_E_VERSION, MAGIC, 0, "GGUF version %u is not known, only 2 and 3",
                       version);
}

dstok_status dstok__gguf_open(dstok__gguf *g) {
    size_t at = MAGIC;
    uint64_t version = 0, n_tensors = 0;
    for (size_t i = 0; i < DSTOK__GGUF_N_KEYS; i++) g->values[i].type = DSTOK__GGUF_ABSENT;
    if (g->n < MAGIC || memcmp(g->data, "GGUF", MAGIC) != 0)
        return dstok__fail(g->err, DSTOK_E_FORMAT, 0, 0, "this is no GGUF file");
    DSTOK_TRY(take(g, &at, 4, "the header", &version));
    DSTOK_TRY(check_version(g, (uint32_t)version));
    DSTOK_TRY(take(g, &at, 8, "the header", &n_tensors));
    DSTOK_TRY(take(g, &at, 8, "the header", &g->n_pairs));
    for (uint64_t i = 0; i < g->n_pairs; i++) DSTOK_TRY(take_pair(g, &at));
    return DSTOK_OK;
}

/* ---- reading what was checked ---- */

dstok__gguf_iter dstok__gguf_iterate(const dstok__gguf *g) {
    return (dstok__gguf_iter){.g = g, .left = g->n_pairs, .at = HEADER};
}

bool dstok__gguf_next(dstok__gguf_iter *it) {
    size_t begin = 0;
    if (it->left == 0 || take_string(it->g, &it->at, "a key", &begin, &it->key_n) != DSTOK_OK) return false;
    it->left--;
    it->key = (const char *)it->g->data + begin;
    return take_value(it->g, &it->at, "a value", &it->value) == DSTOK_OK;
}

dstok__gguf_strings dstok__gguf_strings_of(const dstok__gguf *g, dstok__gguf_key key) {
    return (dstok__gguf_strings){.g = g, .left = g->values[key].n, .at = g->values[key].at};
}

bool dstok__gguf_next_string(dstok__gguf_strings *it) {
    size_t begin = 0;
    if (it->left == 0 || take_string(it->g, &it->at, "a string", &begin, &it->n) != DSTOK_OK) return false;
    it->left--;
    it->text = (const char *)it->g->data + begin;
    return true;
}

static dstok_status wrong_type(const dstok__gguf *g, dstok__gguf_key key, const char *want) {
    if (!dstok__gguf_has(g, key))
        return dstok__fail(g->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, 0, "the file has no %s", key_names[key]);
    return dstok__fail(g->err, DSTOK_E_FORMAT, g->values[key].at, 0, "%s must be %s", key_names[key], want);
}

dstok_status dstok__gguf_string(const dstok__gguf *g, dstok__gguf_key key, const char **text, size_t *n) {
    const dstok__gguf_value *v = &g->values[key];
    if (v->type != DSTOK__GGUF_STRING) return wrong_type(g, key, "a string");
    *text = (const char *)g->data + v->at;
    *n = v->n;
    return DSTOK_OK;
}

dstok_status dstok__gguf_bool(const dstok__gguf *g, dstok__gguf_key key, bool *value) {
    if (!dstok__gguf_has(g, key)) return DSTOK_OK;
    if (g->values[key].type != DSTOK__GGUF_BOOL) return wrong_type(g, key, "a bool");
    *value = g->data[g->values[key].at] == 1;
    return DSTOK_OK;
}

dstok_status dstok__gguf_check_array(const dstok__gguf *g, dstok__gguf_key key, dstok__gguf_type elem,
                                     dstok__gguf_type or_elem, size_t at_least) {
    const dstok__gguf_value *v = &g->values[key];
    if (v->type != DSTOK__GGUF_ARRAY || (v->elem != elem && v->elem != or_elem))
        return wrong_type(g, key, elem == DSTOK__GGUF_STRING ? "an array of strings" : "an array of numbers");
    if (v->n >= at_least) return DSTOK_OK;
    return dstok__fail(g->err, DSTOK_E_FORMAT, v->at, 0, "%s has %zu entries for %zu tokens", key_names[key],
                       v->n, at_least);
}

bool dstok__gguf_integer(const dstok__gguf *g, const dstok__gguf_value *v, uint32_t *id) {
    if (v->type >= DSTOK__GGUF_N_TYPES || sizes[v->type] == 0 || v->type == DSTOK__GGUF_BOOL ||
        v->type == DSTOK__GGUF_F32 || v->type == DSTOK__GGUF_F64)
        return false;
    size_t size = sizes[v->type];
    uint64_t number = number_at(g->data + v->at, size);
    bool is_signed = v->type == DSTOK__GGUF_I8 || v->type == DSTOK__GGUF_I16 || v->type == DSTOK__GGUF_I32 ||
                     v->type == DSTOK__GGUF_I64;
    if (number > UINT32_MAX || (is_signed && number >> (8 * size - 1) != 0)) return false;
    *id = (uint32_t)number;
    return true;
}

uint32_t dstok__gguf_word(const dstok__gguf *g, dstok__gguf_key key, size_t i) {
    return (uint32_t)number_at(g->data + g->values[key].at + 4 * i, 4);
}
