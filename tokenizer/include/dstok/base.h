/* SPDX-License-Identifier: MIT */
/* Status codes, error detail, allocator and spans: the types every dstok header uses. */
#ifndef DSTOK_BASE_H
#define DSTOK_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DSTOK_API       __attribute__((visibility("default")))
#define DSTOK_NODISCARD __attribute__((warn_unused_result))
#else
#define DSTOK_API
#define DSTOK_NODISCARD
#endif

/** Result of a call that can fail. Numbers are pinned: never renumbered, only added. */
typedef int dstok_status;

#define DSTOK_OK 0
/* 1-9: the caller */
#define DSTOK_E_INVAL 1 /**< an argument is out of its documented domain */
#define DSTOK_E_STATE 2 /**< the call does not fit the object's state */
#define DSTOK_E_RANGE 3 /**< an index or range lies outside the object */
#define DSTOK_E_SPACE 4 /**< the caller's buffer is too small; the needed size is reported */
/* 10-19: resources */
#define DSTOK_E_NOMEM    10 /**< the allocator returned NULL */
#define DSTOK_E_IO       11 /**< open, read or write failed */
#define DSTOK_E_LIMIT    12 /**< a documented limit was met (input size, JSON depth, regex work, ...) */
#define DSTOK_E_CANCELED 13 /**< the caller's callback asked to stop */
/* 20-29: input */
#define DSTOK_E_UTF8        20 /**< invalid UTF-8 where it is not accepted */
#define DSTOK_E_FORMAT      21 /**< a file is malformed */
#define DSTOK_E_VERSION     22 /**< a file's format version is not known */
#define DSTOK_E_CHECKSUM    23 /**< stored and computed checksums differ */
#define DSTOK_E_TRUNCATED   24 /**< a file ends too early */
#define DSTOK_E_UNSUPPORTED 25 /**< well-formed, but names a feature dstok does not have */
#define DSTOK_E_SPECIAL     26 /**< a special token stands in text that must not hold one */
#define DSTOK_E_UNKNOWN     27 /**< a character has no token, in strict mode */
/* 30-39: vocabulary */
#define DSTOK_E_BAD_ID    30 /**< an id has no token */
#define DSTOK_E_DUPLICATE 31 /**< two entries claim one id or one text */

/** Static English name of a status, e.g. "DSTOK_E_NOMEM"; "DSTOK_E_?" for an unknown number.
 *  Owns: nothing; the string is static.   Threads: safe.   Since: 0.1 */
DSTOK_API const char *dstok_status_name(dstok_status status);

/** The version of the library that runs, e.g. "0.1.0"; <dstok/version.h> has that of the headers.
 *  Owns: nothing; the string is static.   Threads: safe.   Since: 0.1 */
DSTOK_API const char *dstok_version(void);

/** Detail of a failure. Every call that takes one accepts NULL; on success it is left untouched.
 *  offset  byte offset into the input or file the call was given; UINT64_MAX when no place applies
 *  line    1-based line of that offset when the input is a text file, else 0
 *  text    what is wrong and what to do, NUL-terminated UTF-8, no trailing newline */
typedef struct dstok_error {
    dstok_status status;
    uint32_t line;
    uint64_t offset;
    char text[304];
} dstok_error;

#define DSTOK_NO_OFFSET UINT64_MAX

/** Memory source. Copied into the object it is given to; NULL means malloc/realloc/free.
 *  alloc(ctx, n)            n > 0; returns NULL on failure
 *  realloc(ctx, p, old, n)  p may be NULL with old == 0; on failure p stays valid
 *  free(ctx, p, n)          n is the size asked for; p is never NULL
 *  All three must be safe to call from every thread that uses the object. */
typedef struct dstok_alloc {
    void *(*alloc)(void *ctx, size_t n);
    void *(*realloc)(void *ctx, void *p, size_t old, size_t n);
    void (*free)(void *ctx, void *p, size_t n);
    void *ctx;
} dstok_alloc;

/** Half-open byte range [begin, end) of the caller's text. */
typedef struct dstok_span {
    uint64_t begin;
    uint64_t end;
} dstok_span;

#ifdef __cplusplus
}
#endif
#endif
