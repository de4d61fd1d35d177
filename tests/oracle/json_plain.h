/* SPDX-License-Identifier: MIT */
/* JSON read byte by byte: the definition of what a line of JSON may be, and of why and at which byte the rest
 * is refused. */
#ifndef DSTOK_TESTS_JSON_PLAIN_H
#define DSTOK_TESTS_JSON_PLAIN_H

#include "../../tools/cli/cli.h"

/* Values are checked, searched and copied out, never turned into a tree of objects: integers of any
 * size, NUL characters and lone surrogates are met in real data, must not stop a run, and an id must
 * come out as it went in. */

#define PLAIN_MAX_DEPTH 1000

/* A value as it stands in the text, without blanks around it. p == NULL: none. */
struct plain_json {
    const char *p;
    size_t n;
};

/* Check that the text is one JSON value with nothing but blanks around it; *value is that value.
 * Returns NULL, or what is wrong, with *where the offset of it. */
const char *plain_json_check(const char *text, size_t n, struct plain_json *value, size_t *where);

/* The value of a key of a checked object; a dot in `key` also leads into inner objects ("a.b"). A key
 * that is written with the dot wins over an inner object, the last of equal keys wins. p == NULL when
 * there is none. */
struct plain_json plain_json_find(struct plain_json object, const char *key, size_t key_length);

/* Append the bytes of a checked string. A lone surrogate escape becomes U+FFFD when `replace`, else it
 * ends the copy. Returns 0, or -1 with *where the offset of the escape in the string. */
int plain_json_copy_string(struct plain_json string, int replace, struct cli_buf *out, size_t *where);

#endif
