/* SPDX-License-Identifier: MIT */
/* Texts of JSON. */
#ifndef DSX_FILES_JSON_H
#define DSX_FILES_JSON_H

#include <dstok/base.h>

#include <jansson.h>

/* An object or array, for json_decref; no key may stand twice. E_FORMAT tells what is wrong and where,
 * offsets being counted from `at` on; E_NOMEM. */
dstok_status dsx__json_read(const void *text, size_t n, uint64_t at, json_t **out, dstok_error *err);

#endif
