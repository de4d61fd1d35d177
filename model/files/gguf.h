/* SPDX-License-Identifier: MIT */
/* The inside of the GGUF reader: keys and values of a file. */
#ifndef DSX_FILES_GGUF_H
#define DSX_FILES_GGUF_H

#include "files/list.h"

typedef enum dsx__gguf_type {
    DSX__GGUF_U8,
    DSX__GGUF_I8,
    DSX__GGUF_U16,
    DSX__GGUF_I16,
    DSX__GGUF_U32,
    DSX__GGUF_I32,
    DSX__GGUF_F32,
    DSX__GGUF_BOOL,
    DSX__GGUF_STRING,
    DSX__GGUF_ARRAY,
    DSX__GGUF_U64,
    DSX__GGUF_I64,
    DSX__GGUF_F64,
    DSX__GGUF_N_TYPES
} dsx__gguf_type;

/* A key with its value: both lie in the file. */
typedef struct dsx__gguf_pair {
    const char *key;
    uint64_t key_n;
    dsx__gguf_type type, elem; /* elem: of an array */
    const uint8_t *at;         /* of a string: its text; of an array: the first element */
    uint64_t n;                /* bytes of a string, elements of an array */
} dsx__gguf_pair;

typedef struct dsx__gguf {
    const uint8_t *data;
    size_t n, at; /* at: what is read next */
    dsx__gguf_pair *pairs;
    size_t n_pairs; /* sorted by key, no two alike */
    dstok_error *err;
    dstok_status status; /* of the first value that was not as it must be (gguf_config.c) */
} dsx__gguf;

uint64_t dsx__gguf_bits(const uint8_t *p, size_t size); /* little-endian, in any place */

/* NULL: there is no such key. */
const dsx__gguf_pair *dsx__gguf_find(const dsx__gguf *g, const char *key);

/* ---- values, of any type that holds them; `missing` where there is no such key. What is of another type
 * or does not fit is noted in g->status; the first such report stays. */
uint32_t dsx__gguf_whole(dsx__gguf *g, const char *key, uint32_t missing);
double dsx__gguf_number(dsx__gguf *g, const char *key, double missing);
bool dsx__gguf_flag(dsx__gguf *g, const char *key, bool missing);
/* Whether the value is this string; the key is there and is one. */
bool dsx__gguf_is(const dsx__gguf_pair *p, const char *text);

/* gguf_config.c: the configuration in keys; tensors are sorted by name. *factors as in dsx__gguf_read. */
dstok_status dsx__gguf_config(dsx__gguf *g, const dsx__archive *tensors, dsx__config *out, float **factors);

#endif
