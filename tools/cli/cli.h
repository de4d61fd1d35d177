/* SPDX-License-Identifier: MIT */
/* What every file of the command lines shares: exit codes, byte buffers, messages and standard output. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* Exit codes; docs/cli.md. An interrupt ends with 128 + its signal, a reader that went away with SIGPIPE. */
enum { CLI_OK = 0, CLI_FAIL = 1, CLI_USAGE = 2, CLI_SKIPPED = 3 };

/* ---- buf.c: growable bytes. Running out of memory ends the program with exit code 1. */

struct cli_buf {
    char *p;
    size_t n, cap;
};

/* Memory of n > 0 bytes, or p grown to n bytes; never NULL. */
void *cli_alloc(size_t n);
void *cli_realloc(void *p, size_t n);
char *cli_copy_text(const char *text);

/* Make room for `more` bytes behind the n that are there. */
void cli_buf_reserve(struct cli_buf *b, size_t more);
void cli_buf_add(struct cli_buf *b, const void *data, size_t n);
void cli_buf_text(struct cli_buf *b, const char *text);
void cli_buf_char(struct cli_buf *b, char c);
/* A file name in a line of columns: \t, \n, \r and \\ for what would break it. */
void cli_buf_name(struct cli_buf *b, const char *name);
void cli_buf_uint(struct cli_buf *b, uint64_t value);
void cli_buf_printf(struct cli_buf *b, const char *format, ...) CLI_PRINTF(2, 3);
/* The bytes as a C string: a NUL is kept behind them, not counted. */
const char *cli_buf_string(struct cli_buf *b);
/* Empty it; give the memory back when it holds more than `keep` bytes. */
void cli_buf_clear(struct cli_buf *b, size_t keep);
void cli_buf_free(struct cli_buf *b);

/* A whole number that fills the n bytes at p. Returns 0, or what is wrong: "is not a whole number", "is
 * too large". */
const char *cli_number(const char *p, size_t n, uint64_t *value);

/* ---- message.c: everything that goes to standard error. */

/* After this, notes are silent (errors never are). */
void cli_set_quiet(int quiet);
/* "PROGRAM: ..." and a newline. Control characters in file names are shown as '?'. */
void cli_error(const char *format, ...) CLI_PRINTF(1, 2);
/* "PROGRAM: note: ...", unless quiet. */
void cli_note(const char *format, ...) CLI_PRINTF(1, 2);
/* An error in how the program was called. Returns CLI_USAGE. */
int cli_usage(const char *verb, const char *format, ...) CLI_PRINTF(2, 3);
/* Ends the program. */
void cli_no_memory(void);

/* ---- output.c: standard output, and files that appear whole or not at all. */

/* Collect bytes for standard output. Returns 0, or CLI_FAIL after a message. A closed pipe ends the
 * program as it ends other filters: by SIGPIPE. */
int cli_out(const void *data, size_t n);
int cli_out_buf(const struct cli_buf *b);
/* Hand over what is collected, so that a peer on the other end of a pipe sees it. */
int cli_out_flush(void);
/* Flush and close; a full disk may show only here. */
int cli_out_close(void);
int cli_out_is_terminal(void);
/* Nonzero when standard output is a terminal and NO_COLOR is not set. */
int cli_out_has_colour(void);
/* Columns of the terminal; COLUMNS wins, 80 when nothing is known. */
size_t cli_out_columns(void);

/* Whether `path` can be written, before there is anything to write: its folder takes new files, and a file that is
 * there may be written. Returns 0, or CLI_USAGE after a message. */
int cli_check_output(const char *path);
/* Write a file under a temporary name beside `path`, make it durable, and rename it. A file that is replaced hands on
 * its permissions; a link stays, and the file it leads to is written. What is not a regular file (a device, a pipe) is
 * written directly. Returns 0, or CLI_FAIL after a message; then nothing is left behind. */
int cli_write_file(const char *path, const void *data, size_t n);
/* Remove the temporary file, if there is one. Called by the signal handler: async-signal-safe. */
void cli_forget_temporary(void);

/* ---- json_out.c: pieces of JSON. */

/* A JSON string with its quotes. Ill-formed UTF-8 becomes U+FFFD, one for each maximal subpart. Returns
 * the number of such subparts. */
size_t cli_json_string(struct cli_buf *b, const void *bytes, size_t n);
void cli_json_text(struct cli_buf *b, const char *text);
/* Lower-case hex digits in quotes. */
void cli_json_hex(struct cli_buf *b, const void *bytes, size_t n);

/* Length of the character at p, or of the maximal ill-formed subpart there with *ok = 0. n > 0. */
size_t cli_utf8_next(const unsigned char *p, size_t n, int *ok, uint32_t *code);

#endif
