/* SPDX-License-Identifier: MIT */
/* Use of PCRE2 with our allocator. */
#ifndef DSTOK_PRETOK_NATIVE_H
#define DSTOK_PRETOK_NATIVE_H

#include "../base/base.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A general context that allocates through al, which must outlive it and everything made with it; NULL
 * without memory. */
pcre2_general_context *dstok__pcre2_context(const dstok_alloc *al);

#endif
