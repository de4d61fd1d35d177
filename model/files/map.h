/* SPDX-License-Identifier: MIT */
/* Files that are mapped, not read: weights are met where they lie. */
#ifndef DSX_FILES_MAP_H
#define DSX_FILES_MAP_H

#include "base.h"

/* The file must not shrink while it is mapped. */
typedef struct dsx__map {
    const uint8_t *data; /* NULL: an empty file */
    size_t n;
} dsx__map;

/* FOLDER/NAME, malloc'ed; NULL: out of memory. */
char *dsx__path(const char *folder, const char *name);
bool dsx__is_file(const char *path);

/* E_IO: it cannot be opened, or is no plain file. */
dstok_status dsx__map_open(const char *path, dsx__map *out, dstok_error *err);
void dsx__map_close(dsx__map *m); /* accepts a zeroed one */

#endif
