/* SPDX-License-Identifier: MIT */
/* A JSON text (RFC 8259) checked once as a whole, then read in place: no tree, no recursion, no allocation. */
#ifndef DSTOK_LOAD_JSON_H
#define DSTOK_LOAD_JSON_H

#include "../base/base.h"

/* A checked text. data must stay as it is while values of it are read. */
typedef struct dstok__json {
    const char *data;
    size_t n;
    const char *name; /* stands before every error text: "" or, say, "tokenizer_config.json: " */
    size_t root;      /* offset of the one value */
    bool has_bom;     /* a byte order mark stood before it and was passed over */
} dstok__json;

/* Checks all of data[0, n) against RFC 8259: syntax, UTF-8 (E_UTF8), escapes, no half surrogate pairs, nothing behind
 * the value, at most DSTOK__MAX_JSON_DEPTH levels (E_LIMIT). E_FORMAT or, where the text just ends, E_TRUNCATED.
 * The calls below may be used only on a text that passed. name: static. */
dstok_status dstok__json_open(dstok__json *doc, const char *data, size_t n, const char *name,
                              dstok_error *err);

/* Fills *err with the line of the offset at and doc's name before the text; returns status. */
dstok_status dstok__json_fail(const dstok__json *doc, dstok_status status, size_t at, dstok_error *err,
                              const char *format, ...) __attribute__((format(printf, 5, 6)));

typedef enum dstok__json_kind {
    DSTOK__JSON_NULL,
    DSTOK__JSON_FALSE,
    DSTOK__JSON_TRUE,
    DSTOK__JSON_NUMBER,
    DSTOK__JSON_STRING,
    DSTOK__JSON_ARRAY,
    DSTOK__JSON_OBJECT
} dstok__json_kind;

/* A value is named by the offset of its first byte. */
dstok__json_kind dstok__json_kind_at(const dstok__json *doc, size_t at);

/* The value as a whole number: only digits, not above max. False when it is anything else. */
bool dstok__json_uint(const dstok__json *doc, size_t at, uint32_t max, uint32_t *value);

/* Is the number at `at` zero (0, 0.0, -0e5, ...)? */
bool dstok__json_is_zero(const dstok__json *doc, size_t at);

/* The text of the string at `at`: a view of doc, or of scratch (overwritten) when it has escapes. E_NOMEM, E_LIMIT. */
dstok_status dstok__json_string(const dstok__json *doc, size_t at, dstok__buf *scratch, const char **text,
                                size_t *n);

/* The items of an array or the members of an object, in file order. */
typedef struct dstok__json_iter {
    const dstok__json *doc;
    bool is_object;
    size_t key;   /* objects: offset of the member's name, a string */
    size_t value; /* offset of the item or value; 0 before the first */
    size_t at;    /* the container */
} dstok__json_iter;

void dstok__json_iter_init(dstok__json_iter *it, const dstok__json *doc, size_t at);
bool dstok__json_next(dstok__json_iter *it); /* false behind the last; then the iterator is spent */

#endif
