/* SPDX-License-Identifier: MIT */
/* JSON lines: one pass over the tokens of a line checks all of it and finds a few values. */
#ifndef DSTOK_STREAM_JSONL_H
#define DSTOK_STREAM_JSONL_H

#include "../base/base.h"
#include "../../simd/simd.h"

#define DSTOK__JSONL_MAX_DEPTH 1000u

/* Part of a line; end == 0: none. */
typedef struct dstok__part {
    size_t begin, end;
} dstok__part;

/* A value that is looked for in an object. */
typedef struct dstok__jsonl_want {
    const uint8_t *key;
    size_t n;
    dstok__part whole; /* value of the last member with this key */
    dstok__part inner; /* the last object under a key that `key` begins with, a dot behind it; none where the
                          same key comes again with something else */
    size_t inner_n;    /* bytes of that key and the dot */
    size_t covers;     /* of the member that is being read: bytes of `key` that its own covers; 0: none */
} dstok__jsonl_want;

/* One pass. */
typedef struct dstok__jsonl_scan {
    const dstok__simd *simd;
    dstok__jsonl_want *wants;
    size_t n_wants;
    uint8_t *name;   /* for keys with escapes */
    size_t name_cap; /* longer ones are none of those looked for */
    const char *why; /* what is wrong, static; NULL: nothing */
    size_t where;    /* the byte where that shows */
} dstok__jsonl_scan;

/* Checks that text[0, len) is one JSON value with nothing but blanks around it; fills why and where, and,
 * when it is an object, whole and inner of each want (key and n are set). Returns whether it is. */
bool dstok__jsonl_scan_line(dstok__jsonl_scan *s, const uint8_t *text, size_t len);

/* What scan_line says of more than DSTOK__JSONL_MAX_DEPTH levels. */
extern const char dstok__jsonl_too_deep[];

/* Copies the inside of a checked string, text[0, len), to out (room: len + 64 bytes) with escapes
 * replaced. Half of a surrogate pair becomes U+FFFD when `replace`, else it ends the copy. Returns how
 * much of text is done, *n gets the length of the copy. */
size_t dstok__jsonl_unescape(const dstok__simd *simd, const uint8_t *text, size_t len, bool replace,
                             uint8_t *out, size_t *n);

#endif
