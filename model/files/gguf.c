/* SPDX-License-Identifier: MIT */
/* GGUF, versions 2 and 3: keys with values, then what tensors there are, then their data. Every length is
 * checked against the file before it is used. */
#include "files/gguf.h"

#include "files/chat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT     32u /* where general.alignment does not say */
#define MAX_ALIGNMENT (1u << 20)

static const uint8_t sizes[DSX__GGUF_N_TYPES] = {
    [DSX__GGUF_U8] = 1,  [DSX__GGUF_I8] = 1,  [DSX__GGUF_U16] = 2, [DSX__GGUF_I16] = 2,
    [DSX__GGUF_U32] = 4, [DSX__GGUF_I32] = 4, [DSX__GGUF_F32] = 4, [DSX__GGUF_BOOL] = 1,
    [DSX__GGUF_U64] = 8, [DSX__GGUF_I64] = 8, [DSX__GGUF_F64] = 8,
};

/* Formats of tensors by their numbers; those without a name here are known to no file of today. */
static const struct {
    const char *name;
    int format; /* -1: not supported */
} types[] = {
    {"F32", DSX__F32},   {"F16", DSX__F16},   {"Q4_0", DSX__Q4_0}, {"Q4_1", DSX__Q4_1}, {"Q4_2", -1},
    {"Q4_3", -1},        {"Q5_0", DSX__Q5_0}, {"Q5_1", DSX__Q5_1}, {"Q8_0", DSX__Q8_0}, {"Q8_1", -1},
    {"Q2_K", DSX__Q2_K}, {"Q3_K", DSX__Q3_K}, {"Q4_K", DSX__Q4_K}, {"Q5_K", DSX__Q5_K}, {"Q6_K", DSX__Q6_K},
    {"Q8_K", -1},        {"IQ2_XXS", -1},     {"IQ2_XS", -1},      {"IQ3_XXS", -1},     {"IQ1_S", -1},
    {"IQ4_NL", -1},      {"IQ3_S", -1},       {"IQ2_S", -1},       {"IQ4_XS", -1},      {"I8", -1},
    {"I16", -1},         {"I32", -1},         {"I64", -1},         {"F64", -1},         {"IQ1_M", -1},
    {"BF16", DSX__BF16},
};

uint64_t dsx__gguf_bits(const uint8_t *p, size_t size) {
    uint64_t v = 0;

    for (size_t i = size; i-- > 0;) v = v << 8 | p[i];
    return v;
}

/* ---- reading on */

static dstok_status ends_early(const dsx__gguf *g, const char *what) {
    return dsx__fail(g->err, DSTOK_E_TRUNCATED, g->n, "the file ends inside %s", what);
}

static dstok_status take(dsx__gguf *g, size_t size, const char *what, uint64_t *v) {
    if (g->n - g->at < size) return ends_early(g, what);
    *v = dsx__gguf_bits(g->data + g->at, size);
    g->at += size;
    return DSTOK_OK;
}

static dstok_status take_string(dsx__gguf *g, const char *what, const uint8_t **text, uint64_t *n) {
    DSX_TRY(take(g, 8, what, n));
    if (*n > g->n - g->at) return ends_early(g, what);
    *text = g->data + g->at;
    g->at += (size_t)*n;
    return DSTOK_OK;
}

static dstok_status take_type(dsx__gguf *g, const char *what, dsx__gguf_type *type) {
    uint64_t v = 0;

    DSX_TRY(take(g, 4, what, &v));
    if (v >= DSX__GGUF_N_TYPES)
        return dsx__fail(g->err, DSTOK_E_FORMAT, g->at - 4,
                         "%s has type %" PRIu64 ", which GGUF does not know", what, v);
    *type = (dsx__gguf_type)v;
    return DSTOK_OK;
}

/* ---- keys and values */

static dstok_status take_array(dsx__gguf *g, const char *what, dsx__gguf_pair *p) {
    const uint8_t *text = NULL;
    uint64_t n = 0;

    DSX_TRY(take_type(g, what, &p->elem));
    if (p->elem == DSX__GGUF_ARRAY)
        return dsx__fail(g->err, DSTOK_E_UNSUPPORTED, g->at - 4, "not supported: %s is an array of arrays",
                         what);
    DSX_TRY(take(g, 8, what, &p->n));
    size_t size = p->elem == DSX__GGUF_STRING ? 8 : sizes[p->elem];
    if (p->n > (g->n - g->at) / size) return ends_early(g, what);
    p->at = g->data + g->at;
    if (p->elem != DSX__GGUF_STRING) {
        g->at += (size_t)p->n * size;
        return DSTOK_OK;
    }
    for (uint64_t i = 0; i < p->n; i++) DSX_TRY(take_string(g, what, &text, &n));
    return DSTOK_OK;
}

static dstok_status take_pair(dsx__gguf *g, dsx__gguf_pair *p) {
    const uint8_t *key = NULL;
    uint64_t v = 0;
    dsx__quoted what;

    DSX_TRY(take_string(g, "a key", &key, &p->key_n));
    p->key = (const char *)key;
    dsx__quote(key, (size_t)p->key_n, what);
    DSX_TRY(take_type(g, what, &p->type));
    p->elem = p->type;
    p->n = 1;
    if (p->type == DSX__GGUF_STRING) return take_string(g, what, &p->at, &p->n);
    if (p->type == DSX__GGUF_ARRAY) return take_array(g, what, p);
    DSX_TRY(take(g, sizes[p->type], what, &v));
    p->at = g->data + g->at - sizes[p->type];
    return DSTOK_OK;
}

static int compare(const char *a, uint64_t a_n, const char *b, uint64_t b_n) {
    int order = memcmp(a, b, (size_t)(a_n < b_n ? a_n : b_n));

    return order != 0 ? order : a_n < b_n ? -1 : a_n > b_n;
}

static int by_key(const void *a, const void *b) {
    const dsx__gguf_pair *x = a, *y = b;

    return compare(x->key, x->key_n, y->key, y->key_n);
}

static dstok_status take_pairs(dsx__gguf *g, uint64_t n) {
    dsx__quoted q;

    if (n > (g->n - g->at) / 13) return ends_early(g, "the keys"); /* each has a length, a type and a value */
    g->pairs = calloc((size_t)n + 1, sizeof *g->pairs);
    if (g->pairs == NULL) return dsx__no_memory(g->err);
    for (; g->n_pairs < n; g->n_pairs++) DSX_TRY(take_pair(g, &g->pairs[g->n_pairs]));
    qsort(g->pairs, g->n_pairs, sizeof *g->pairs, by_key);
    for (size_t i = 1; i < g->n_pairs; i++)
        if (by_key(&g->pairs[i - 1], &g->pairs[i]) == 0)
            return dsx__fail(g->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "%s stands twice in the file",
                             dsx__quote(g->pairs[i].key, (size_t)g->pairs[i].key_n, q));
    return DSTOK_OK;
}

const dsx__gguf_pair *dsx__gguf_find(const dsx__gguf *g, const char *key) {
    dsx__gguf_pair want = {.key = key, .key_n = strlen(key)};

    return bsearch(&want, g->pairs, g->n_pairs, sizeof *g->pairs, by_key);
}

/* ---- tensors */

static dstok_status take_format(dsx__gguf *g, const char *name, dsx__tensor *t) {
    uint64_t v = 0;

    DSX_TRY(take(g, 4, "a tensor", &v));
    bool known = v < sizeof types / sizeof *types;
    if (!known || types[v].format < 0)
        return dsx__fail(g->err, DSTOK_E_UNSUPPORTED, g->at - 4,
                         "tensor \"%s\" has type %" PRIu64 " (%s), which is not supported", name, v,
                         known ? types[v].name : "unknown");
    t->format = (dsx__format)types[v].format;
    return DSTOK_OK;
}

/* Axes stand in the file with the fastest one first. */
static dstok_status take_shape(dsx__gguf *g, const char *name, dsx__tensor *t) {
    uint64_t n = 0;

    DSX_TRY(take(g, 4, "a tensor", &n));
    if (n > DSX__MAX_DIMS)
        return dsx__fail(g->err, DSTOK_E_FORMAT, g->at - 4,
                         "tensor \"%s\" has %" PRIu64 " axes; GGUF allows %d", name, n, DSX__MAX_DIMS);
    t->n_dims = (uint32_t)n;
    for (uint32_t d = t->n_dims; d-- > 0;) DSX_TRY(take(g, 8, "a tensor", &t->shape[d]));
    return DSTOK_OK;
}

/* Adds a tensor with its offset in place of its data: where that begins is not known yet. */
static dstok_status take_tensor(dsx__gguf *g, dsx__list *out, uint64_t *offset) {
    const uint8_t *name = NULL;
    uint64_t n = 0;
    dsx__quoted q;
    dsx__tensor t = {.name = q};

    DSX_TRY(take_string(g, "a tensor", &name, &n));
    dsx__quote(name, (size_t)n, q);
    if (n == 0 || memchr(name, 0, (size_t)n) != NULL)
        return dsx__fail(g->err, DSTOK_E_FORMAT, g->at, "a tensor has an empty name, or a zero byte in it");
    DSX_TRY(take_shape(g, q, &t));
    DSX_TRY(take_format(g, q, &t));
    DSX_TRY(take(g, 8, "a tensor", offset));
    DSX_TRY(dsx__tensor_size(&t, g->err));
    return dsx__list_add(out, &t, (const char *)name, (size_t)n, g->err);
}

static dstok_status place(const dsx__gguf *g, dsx__tensor *t, uint64_t offset, size_t begin,
                          uint32_t alignment) {
    dsx__quoted q;

    dsx__quote(t->name, strlen(t->name), q);
    if (offset % alignment != 0)
        return dsx__fail(g->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                         "tensor \"%s\" lies at %" PRIu64 ", no multiple of %" PRIu32, q, offset, alignment);
    if (begin > g->n || offset > g->n - begin || t->n_bytes > g->n - begin - offset)
        return dsx__fail(g->err, DSTOK_E_TRUNCATED, g->n, "the file ends inside tensor \"%s\"", q);
    t->data = g->data + begin + offset;
    return DSTOK_OK;
}

static dstok_status take_tensors(dsx__gguf *g, uint64_t n, dsx__list *out) {
    uint32_t alignment = dsx__gguf_whole(g, "general.alignment", ALIGNMENT);
    dstok_status status = g->status;
    size_t n_read = 0;

    if (status != DSTOK_OK) return status;
    if (alignment == 0 || alignment > MAX_ALIGNMENT || (alignment & (alignment - 1)) != 0)
        return dsx__fail(g->err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                         "general.alignment %" PRIu32 " is no power of two up to %u", alignment,
                         MAX_ALIGNMENT);
    if (n > (g->n - g->at) / 24)
        return ends_early(g, "the tensors"); /* each has two lengths, a type and an offset */
    uint64_t *offsets = malloc(((size_t)n + 1) * sizeof *offsets);
    if (offsets == NULL) return dsx__no_memory(g->err);
    while (n_read < n && (status = take_tensor(g, out, &offsets[n_read])) == DSTOK_OK) n_read++;
    size_t begin = (g->at + alignment - 1) / alignment * alignment;
    for (size_t i = 0; i < n && status == DSTOK_OK; i++)
        status = place(g, &out->items[i], offsets[i], begin, alignment);
    free(offsets);
    return status != DSTOK_OK ? status : dsx__list_places(out, 0, g->data, NULL, g->err);
}

/* ---- the file */

static dstok_status take_version(dsx__gguf *g) {
    uint64_t version = 0;

    DSX_TRY(take(g, 4, "the header", &version));
    if (version == 2 || version == 3) return DSTOK_OK;
    if ((version & 0xFFFF) == 0 && version != 0)
        return dsx__fail(g->err, DSTOK_E_UNSUPPORTED, 4, "not supported: a big-endian GGUF file");
    return dsx__fail(g->err, DSTOK_E_VERSION, 4, "GGUF version %" PRIu64 " is not known, only 2 and 3",
                     version);
}

static dstok_status read_all(dsx__gguf *g, dsx__list *out, dsx__config *config, float **factors) {
    uint64_t n_tensors = 0, n_pairs = 0;

    DSX_TRY(take_version(g));
    DSX_TRY(take(g, 8, "the header", &n_tensors));
    DSX_TRY(take(g, 8, "the header", &n_pairs));
    DSX_TRY(take_pairs(g, n_pairs));
    DSX_TRY(take_tensors(g, n_tensors, out));
    DSX_TRY(dsx__list_sort(out, g->err));
    dsx__archive tensors = {.tensors = out->items, .n_tensors = out->n};
    return dsx__gguf_config(g, &tensors, config, factors);
}

dstok_status dsx__gguf_read(const uint8_t *data, size_t n, dsx__list *out, dsx__config *config,
                            float **factors, char **chat, dstok_error *err) {
    dsx__gguf g = {.data = data, .n = n, .at = 4, .err = err};

    if (n < 4 || memcmp(data, "GGUF", 4) != 0)
        return dsx__fail(err, DSTOK_E_FORMAT, 0, "this is no GGUF file");
    dstok_status status = read_all(&g, out, config, factors);
    if (status == DSTOK_OK) status = dsx__chat_of_gguf(&g, chat);
    free(g.pairs);
    return status;
}
