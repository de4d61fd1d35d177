/* SPDX-License-Identifier: MIT */
/* Structures that begin with their own size, read and written as far as both sides know them. */
#include "sized.h"

#include <string.h>

static size_t size_of(const void *p) {
    size_t n;
    memcpy(&n, p, sizeof n);
    return n;
}

dstok_status dstok__sized_check(const void *p, size_t first, const char *name, const char *macro,
                                dstok_error *err) {
    if (p == NULL) return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0, "the dstok_%s is NULL", name);
    if (size_of(p) >= first) return DSTOK_OK;
    return dstok__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET, 0,
                       "dstok_%s.struct_size is %zu, less than any version of it has: begin with %s", name,
                       size_of(p), macro);
}

void dstok__sized_read(void *out, size_t n, const void *given) {
    memcpy(out, given, size_of(given) < n ? size_of(given) : n);
}

void dstok__sized_write(void *given, const void *result, size_t n) {
    size_t known = size_of(given) < n ? size_of(given) : n;
    memcpy((char *)given + sizeof known, (const char *)result + sizeof known, known - sizeof known);
}
