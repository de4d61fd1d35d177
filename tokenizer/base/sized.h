/* SPDX-License-Identifier: MIT */
/* Structures of callers that begin with size_t struct_size: what an older caller does not know stays as it is. */
#ifndef DSTOK_BASE_SIZED_H
#define DSTOK_BASE_SIZED_H

#include "base.h"

/* Bytes up to the end of a field: the size of a structure whose last field it was. */
#define DSTOK__SIZE_TO(type, field) (offsetof(type, field) + sizeof(((type *)NULL)->field))

/* Whether the structure at p, NULL or not, can be used: its size is at least that of its first version. `name` is that
 * of its type without the "dstok_", `macro` what fills it. */
dstok_status dstok__sized_check(const void *p, size_t first, const char *name, const char *macro,
                                dstok_error *err);

/* Copies a checked structure over the n bytes of defaults at out, as far as the caller knows them. */
void dstok__sized_read(void *out, size_t n, const void *given);

/* Copies a result of n bytes to a checked structure, as far as the caller knows it; its struct_size stays. */
void dstok__sized_write(void *given, const void *result, size_t n);

#endif
