/* SPDX-License-Identifier: MIT */
/* Reading a whole vocabulary file with a limit. */
#ifndef DSTOK_FILE_H
#define DSTOK_FILE_H

#include "base/base.h"

/* Appends the file's bytes to out. E_IO names the path and the system's reason; E_LIMIT above out->max. */
dstok_status dstok__read_file(const char *path, dstok__buf *out, dstok_error *err);

bool dstok__is_folder(const char *path);
bool dstok__exists(const char *path);

#endif
