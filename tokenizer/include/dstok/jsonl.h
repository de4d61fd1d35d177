/* SPDX-License-Identifier: MIT */
/* Texts out of JSON lines, in place: one object a line, its text under a key, without building a tree.
 *
 *     const char lines[] = "{\"id\":7,\"text\":\"na\\u00efve\"}\n{\"id\":8,\"text\":\"\"}\n";
 *     size_t at = 0;
 *     dstok_jsonl *reader;
 *     dstok_jsonl_record record = DSTOK_JSONL_RECORD_INIT;
 *     dstok_error err;
 *     int status = dstok_jsonl_new(NULL, &reader, &err);
 *     while (status == DSTOK_OK) {
 *         status = dstok_jsonl_next(reader, lines, sizeof lines - 1, 1, &at, &record, &err);
 *         if (status != DSTOK_OK || record.line == NULL) break;
 *         printf("%.*s: %.*s\n", (int)record.n_id, record.id, (int)record.n_text, record.text);
 *     }
 *
 * docs/examples/jsonl.c is a program around it. */
#ifndef DSTOK_JSONL_H
#define DSTOK_JSONL_H

#include <dstok/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A reader of lines: which keys it looks for, and scratch. One thread at a time; any number of readers.
 *
 *  What is read: one JSON object a line (RFC 8259), at most 1000 levels deep. Only a line feed ends a line; a
 *  carriage return before it is a blank. All of the line is checked, also what is not asked for, but for
 *  UTF-8: the bytes of strings are passed on as they are. Of equal keys the last counts. A dot in a key that
 *  is looked for leads into inner objects, "a.b" to {"a":{"b":"..."}}; a key that is written with the dot
 *  wins over that. Numbers may have any size and NUL characters may stand in texts: values that are not asked for
 *  are stepped over, not converted. */
typedef struct dstok_jsonl dstok_jsonl;

#define DSTOK_JSONL_MAX_KEYS ((size_t)64)   /**< keys of a reader */
#define DSTOK_JSONL_MAX_KEY  ((size_t)4096) /**< bytes of one of them */

/** What to read. Zero is the default of every field.
 *  alloc    memory source, copied; NULL: malloc
 *  keys     keys whose strings are the text, joined in this order with nothing between; shape (n_keys,),
 *      NUL-terminated, not empty, copied; NULL with n_keys = 0: "text"
 *  id_key   key of a value that is handed on as it is written; NULL: "id"
 *  replace  non-zero: half of a surrogate pair in the text (\ud83d alone) becomes U+FFFD instead of E_FORMAT
 *  simd     DSTOK_SIMD_* of <dstok/tokenizer.h>; the same results for all
 *  as_written  non-zero, with one key: the text is its value as it is written, whatever it is, such as an array
 *      of ids or a string with its quotes and escapes; of a line that is no object it is all of the line */
typedef struct dstok_jsonl_options {
    size_t struct_size;
    const dstok_alloc *alloc;
    const char *const *keys;
    size_t n_keys;
    const char *id_key;
    int replace;
    int simd;
    int as_written;
} dstok_jsonl_options;
#define DSTOK_JSONL_OPTIONS_INIT                                                                             \
    { sizeof(dstok_jsonl_options), NULL, NULL, 0, NULL, 0, 0, 0 }

/** Make a reader.
 *  options  [in]  NULL = defaults
 *  out      [out] untouched on failure
 *  Returns: DSTOK_OK; E_INVAL (NULL, struct_size, an empty key, unknown simd, as_written with several keys);
 *      E_LIMIT (too many keys, one too long); E_UNSUPPORTED (this machine or this build lacks those
 *      instructions); E_NOMEM.
 *  Owns: out, to be given to dstok_jsonl_free.   Threads: safe.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_jsonl_new(const dstok_jsonl_options *options, dstok_jsonl **out,
                                                       dstok_error *err);

/** Free a reader and the texts in it; NULL allowed.   Since: 0.1 */
DSTOK_API void dstok_jsonl_free(dstok_jsonl *reader);

/** One record. Bytes, not NUL-terminated; they are views of the caller's data, or, where escapes had to be
 *  replaced or strings joined, of the reader: valid until its next call.
 *  line, n_line  the line, without its line feed; NULL from dstok_jsonl_next: there is none any more
 *  number        its number, from 1 on, for dstok_jsonl_next; else 0
 *  text, n_text  the text, not NULL; UTF-8 if the line is
 *  id, n_id      the value of id_key as it is written, always UTF-8; NULL: there is none */
typedef struct dstok_jsonl_record {
    size_t struct_size;
    const char *line;
    size_t n_line;
    uint64_t number;
    const char *text;
    size_t n_text;
    const char *id;
    size_t n_id;
} dstok_jsonl_record;
#define DSTOK_JSONL_RECORD_INIT                                                                              \
    { sizeof(dstok_jsonl_record), NULL, 0, 0, NULL, 0, NULL, 0 }

/** Read one line.
 *  line  [in]  shape (len,), with or without what ends it; not changed
 *  out   [in,out] made with DSTOK_JSONL_RECORD_INIT; fields up to its struct_size are filled, on success only
 *  Returns: DSTOK_OK; E_FORMAT (no JSON, no object, a key is missing or has no string, half of a surrogate
 *      pair; err->offset is the byte of the line where that shows, err->text says what); E_LIMIT (depth, or
 *      len above DSTOK_MAX_INPUT); E_UTF8 (id); E_NOMEM; E_INVAL (NULL, struct_size).
 *  Owns: the caller the line, the reader what it made.   Threads: one at a time for each reader.
 *  Cost: O(len), some GB a second; what leads into inner objects is read once more for each dot.
 *      Memory: of the longest text with escapes, kept.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_jsonl_read(dstok_jsonl *reader, const void *line, size_t len,
                                                        dstok_jsonl_record *out, dstok_error *err);

/** Read the next line of a buffer of lines. Lines of nothing but blanks are passed over, and a byte order
 *  mark at the begin of the first line.
 *  data     [in]  shape (len,); must stay as it is while records of it are in use
 *  is_last  [in]  zero: more data will follow, so that what stands behind the last line feed is no line yet:
 *      bring it again at the begin of the next buffer
 *  at       [in,out] where to go on, 0 for a new buffer; moved behind the line, on failure, too
 *  out      [in,out] as in dstok_jsonl_read; out->line is NULL when no line is left. When a line is at fault,
 *      line and number are set, and nothing else
 *  Returns: as dstok_jsonl_read; err->offset is a byte of data, err->line the number of the line. A line at
 *      fault is passed over by the next call. E_RANGE when at is above len.
 *  Owns, Threads, Cost: as dstok_jsonl_read. What is no whole line yet is searched again by the next call.
 *  Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_jsonl_next(dstok_jsonl *reader, const void *data, size_t len,
                                                        int is_last, size_t *at, dstok_jsonl_record *out,
                                                        dstok_error *err);

/** Begin another file with dstok_jsonl_next: lines count from 1 again.   Since: 0.1 */
DSTOK_API void dstok_jsonl_begin(dstok_jsonl *reader);

#ifdef __cplusplus
}
#endif
#endif
