/* SPDX-License-Identifier: MIT */
/* safetensors: eight bytes with the length of a JSON header, the header, the tensors without a hole between
 * them. */
#include "files/json.h"
#include "files/list.h"

#include <inttypes.h>
#include <string.h>

#define MAX_HEADER 100000000u /* the format's own limit */

/* Where tensors lie. */
typedef struct body {
    const uint8_t *data;
    uint64_t n;
} body;

static const dsx__format formats[] = {DSX__F32, DSX__F16, DSX__BF16,
                                      DSX__F8_E4M3}; /* called the same there */

static dstok_status bad(const char *name, const char *what, dstok_error *err) {
    dsx__quoted q;

    return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET, "tensor \"%s\": %s",
                     dsx__quote(name, strlen(name), q), what);
}

static dstok_status take_dtype(const char *name, const json_t *entry, dsx__tensor *t, dstok_error *err) {
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    dsx__quoted q, d;

    if (dtype == NULL) return bad(name, "dtype must be a string", err);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        t->format = formats[i];
        if (strcmp(dtype, dsx__formats[t->format].name) == 0) return DSTOK_OK;
    }
    return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET,
                     "tensor \"%s\" has dtype %s; only F32, F16, BF16 and F8_E4M3 are supported",
                     dsx__quote(name, strlen(name), q), dsx__quote(dtype, strlen(dtype), d));
}

/* A number of the array at key; false where it is none, or negative. */
static bool take_number(const json_t *array, size_t i, uint64_t *out) {
    const json_t *v = json_array_get(array, i);

    if (!json_is_integer(v) || json_integer_value(v) < 0) return false;
    *out = (uint64_t)json_integer_value(v);
    return true;
}

static dstok_status take_shape(const char *name, const json_t *entry, dsx__tensor *t, dstok_error *err) {
    const json_t *shape = json_object_get(entry, "shape");
    size_t n = json_array_size(shape);
    dsx__quoted q;

    if (!json_is_array(shape)) return bad(name, "shape must be an array", err);
    if (n > DSX__MAX_DIMS)
        return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET,
                         "tensor \"%s\" has %zu axes; at most %d are supported",
                         dsx__quote(name, strlen(name), q), n, DSX__MAX_DIMS);
    t->n_dims = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        if (!take_number(shape, i, &t->shape[i])) return bad(name, "shape must hold whole numbers", err);
    return DSTOK_OK;
}

static dstok_status take_place(const char *name, const json_t *entry, body b, dsx__tensor *t,
                               dstok_error *err) {
    const json_t *offsets = json_object_get(entry, "data_offsets");
    uint64_t begin, end;
    dsx__quoted q;

    if (json_array_size(offsets) != 2 || !take_number(offsets, 0, &begin) || !take_number(offsets, 1, &end) ||
        begin > end)
        return bad(name, "data_offsets must hold a begin and an end", err);
    if (end > b.n)
        return dsx__fail(err, DSTOK_E_TRUNCATED, DSTOK_NO_OFFSET,
                         "tensor \"%s\" ends at byte %" PRIu64 " of %" PRIu64 " that there are",
                         dsx__quote(name, strlen(name), q), end, b.n);
    if (end - begin != t->n_bytes)
        return dsx__fail(err, DSTOK_E_FORMAT, DSTOK_NO_OFFSET,
                         "tensor \"%s\" has %" PRIu64 " bytes; its shape and dtype need %" PRIu64,
                         dsx__quote(name, strlen(name), q), end - begin, t->n_bytes);
    t->data = b.data + begin;
    return DSTOK_OK;
}

static dstok_status take_tensor(const char *name, const json_t *entry, body b, dsx__list *out,
                                dstok_error *err) {
    dsx__tensor t = {.name = name};

    if (!json_is_object(entry)) return bad(name, "this must be an object", err);
    DSX_TRY(take_dtype(name, entry, &t, err));
    DSX_TRY(take_shape(name, entry, &t, err));
    DSX_TRY(dsx__tensor_size(&t, err));
    DSX_TRY(take_place(name, entry, b, &t, err));
    return dsx__list_add(out, &t, name, strlen(name), err);
}

static dstok_status take_all(json_t *header, body b, dsx__list *out, dstok_error *err) {
    const char *name;
    json_t *entry;
    size_t first = out->n;

    if (!json_is_object(header)) return dsx__fail(err, DSTOK_E_FORMAT, 8, "the header must be an object");
    json_object_foreach(header, name, entry) {
        if (strcmp(name, "__metadata__") != 0) DSX_TRY(take_tensor(name, entry, b, out, err));
    }
    return dsx__list_places(out, first, b.data, b.data + b.n, err);
}

dstok_status dsx__safetensors_read(const uint8_t *data, size_t n, dsx__list *out, dstok_error *err) {
    uint64_t length = 0;
    json_t *header = NULL;

    if (n < 8)
        return dsx__fail(err, DSTOK_E_TRUNCATED, n, "the file has %zu bytes: no safetensors header", n);
    for (unsigned i = 8; i-- > 0;) length = length << 8 | data[i];
    if (length > MAX_HEADER)
        return dsx__fail(err, DSTOK_E_FORMAT, 0, "a header of %" PRIu64 " bytes; safetensors allows %u",
                         length, MAX_HEADER);
    if (length > n - 8) return dsx__fail(err, DSTOK_E_TRUNCATED, n, "the file ends inside the header");
    DSX_TRY(dsx__json_read(data + 8, (size_t)length, 8, &header, err));
    body b = {.data = data + 8 + length, .n = n - 8 - length};
    dstok_status status = take_all(header, b, out, err);
    json_decref(header);
    return status;
}
