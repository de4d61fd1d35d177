/* SPDX-License-Identifier: MIT */
/* Reading of single JSON values where they lie. */
#ifndef CLI_JSON_IN_H
#define CLI_JSON_IN_H

#include "cli.h"

/* Values are checked, searched and copied out, never turned into a tree of objects: integers of any
 * size, NUL characters and lone surrogates are met in real data, must not stop a run, and an id must
 * come out as it went in. */

#define CLI_JSON_MAX_DEPTH 1000

/* A value as it stands in the text, without blanks around it. p == NULL: none. */
struct cli_json {
    const char *p;
    size_t n;
};

/* Check that the text is one JSON value with nothing but blanks around it; *value is that value.
 * Returns NULL, or what is wrong, with *where the offset of it. */
const char *cli_json_check(const char *text, size_t n, struct cli_json *value, size_t *where);

/* The value of a key of a checked object; a dot in `key` also leads into inner objects ("a.b"). A key
 * that is written with the dot wins over an inner object, the last of equal keys wins. p == NULL when
 * there is none. */
struct cli_json cli_json_find(struct cli_json object, const char *key, size_t key_length);

/* Append the bytes of a checked string. A lone surrogate escape becomes U+FFFD when `replace`, else it
 * ends the copy. Returns 0, or -1 with *where the offset of the escape in the string. */
int cli_json_copy_string(struct cli_json string, int replace, struct cli_buf *out, size_t *where);

/* Step through a checked array: *at starts at 0; returns the next value, p == NULL past the last. */
struct cli_json cli_json_next(struct cli_json array, size_t *at);

/* "an object", "a number", ... for messages. */
const char *cli_json_kind(struct cli_json value);

#endif
