/* SPDX-License-Identifier: MIT */
/* Bytes of one input, decompressed on the way. */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "cli.h"

struct cli_source;

/* Open a file, or standard input for "-". Returns NULL with *why set. `plain`: do not decompress. */
struct cli_source *cli_source_open(const char *path, int plain, const char **why);
void cli_source_close(struct cli_source *s);

/* Up to cap > 0 bytes. Returns their number, 0 at the end, -1 on failure with *why set. */
long cli_source_read(struct cli_source *s, void *out, size_t cap, const char **why);

/* What a file is that begins so, if it is packed: "gzip data", ...; else NULL. */
const char *cli_packed_name(const unsigned char *head, size_t n);

/* Nonzero when a read would have to wait for whoever writes the input. */
int cli_source_would_wait(struct cli_source *s);

/* ---- whole.c */

/* All of a file ("-": standard input) into `out`, decompressed unless `plain`, at most `max` bytes. Returns 0, or
 * an exit code after a message. */
int cli_read_whole(const char *path, int plain, size_t max, struct cli_buf *out);

#endif
