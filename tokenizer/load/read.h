/* SPDX-License-Identifier: MIT */
/* Typed reading of JSON members for the loaders: every refusal names the member and its place. */
#ifndef DSTOK_LOAD_READ_H
#define DSTOK_LOAD_READ_H

#include "json.h"
#include "spec.h"

/* What a loader reads from and reports to. */
typedef struct dstok__reader {
    dstok__spec *s; /* takes the warnings */
    const dstok__json *doc;
    dstok__buf *scratch; /* for strings with escapes */
    dstok_error *err;
} dstok__reader;

/* A member that a loader knows; at = offset of its value, 0 = the file does not have it, or null stands there. */
typedef struct dstok__field {
    const char *name;
    size_t at;
} dstok__field;

/* Finds the n fields among the members of the object at `at`; other members are passed over. Of a member that stands
 * twice the last one counts, with a warning. what names the object in errors. */
dstok_status dstok__read_fields(const dstok__reader *r, size_t at, const char *what, dstok__field *fields,
                                size_t n);

/* Each reads the value of a member called what. A missing one (at 0) is E_FORMAT, placed at `owner`, the object. */
dstok_status dstok__read_string(const dstok__reader *r, size_t owner, size_t at, const char *what,
                                const char **text, size_t *n);
dstok_status dstok__read_bool(const dstok__reader *r, size_t owner, size_t at, const char *what, bool *value);
dstok_status dstok__read_id(const dstok__reader *r, size_t owner, size_t at, const char *what, uint32_t *id);
dstok_status dstok__read_array(const dstok__reader *r, size_t owner, size_t at, const char *what,
                               dstok__json_iter *items);

/* Is the text exactly word? */
bool dstok__text_is(const char *text, size_t n, const char *word);

/* A quoted text for a message; a buffer for each use in one message. */
typedef char dstok__quoted[64];
#define DSTOK__QUOTE(text, n, buffer) dstok__quote(text, n, buffer, sizeof(buffer))

#endif
