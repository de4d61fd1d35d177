/* SPDX-License-Identifier: MIT */
/* The bottom of libdsx: reports of what went wrong. */
#ifndef DSX_BASE_H
#define DSX_BASE_H

#include <dstok/base.h>

#include <stdbool.h>

/* Passes a failure upwards. */
#define DSX_TRY(call)                                                                                        \
    do {                                                                                                     \
        dstok_status try_status_ = (call);                                                                   \
        if (try_status_ != DSTOK_OK) return try_status_;                                                     \
    } while (0)

/* Fills *err (NULL allowed) and returns status, so that a failure is one statement. A text that is too long
 * is cut at a character border. offset may be DSTOK_NO_OFFSET. */
dstok_status dsx__fail(dstok_error *err, dstok_status status, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with E_NOMEM. */
dstok_status dsx__no_memory(dstok_error *err);

/* Puts "NAME: " before the text of a report that was made: NAME is the last part of path. Returns status. */
dstok_status dsx__fail_in(dstok_error *err, dstok_status status, const char *path);

/* Copies n bytes of options that begin with their own size, which must be n; NULL leaves *out as it is.
 * E_INVAL. */
dstok_status dsx__take_options(void *out, const void *options, size_t n, const char *name, dstok_error *err);

/* The head of a text of a file, for messages: what is not printable ASCII becomes '?'. */
typedef char dsx__quoted[72];
const char *dsx__quote(const void *text, size_t n, dsx__quoted out);

#endif
