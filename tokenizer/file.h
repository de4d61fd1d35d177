/* SPDX-License-Identifier: MIT */
/* Reading a whole vocabulary file with a limit. */
#ifndef DSTOK_FILE_H
#define DSTOK_FILE_H

#include "base/base.h"

/* Appends the file's bytes to out. E_IO names the path and the system's reason; E_LIMIT above out->max. */
dstok_status dstok__read_file(const char *path, dstok__buf *out, dstok_error *err);

/* Maps a file, to be read only (whole: all of it will be read at once); *data is at least 8-byte aligned.
 * E_IO, also where the file cannot be mapped
 * (a pipe). */
dstok_status dstok__map_file(const char *path, bool whole, uint8_t **data, size_t *n, dstok_error *err);
void dstok__unmap_file(uint8_t *data, size_t n);

/* The first bytes of a regular file, for telling its format; returns how many there are, 0 when it cannot be read. */
size_t dstok__peek_file(const char *path, uint8_t *head, size_t n);

bool dstok__is_folder(const char *path);
bool dstok__exists(const char *path);

#endif
