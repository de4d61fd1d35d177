/* SPDX-License-Identifier: MIT */
/* A growable byte buffer that refuses to pass its maximum. */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dstok__buf_init(dstok__buf *b, const dstok_alloc *al, size_t max) {
    *b = (dstok__buf){.al = al, .max = max};
}

void dstok__buf_free(dstok__buf *b) {
    dstok__free(b->al, b->data, b->cap);
    b->data = NULL;
    b->len = b->cap = 0;
}

dstok_status dstok__buf_reserve(dstok__buf *b, size_t extra) {
    if (extra > b->max || b->len > b->max - extra) return DSTOK_E_LIMIT;
    return dstok__grow(b->al, (void **)&b->data, &b->cap, b->len + extra, 1, b->max);
}

dstok_status dstok__buf_append(dstok__buf *b, const void *bytes, size_t n) {
    if (n == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__buf_reserve(b, n));
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
    return DSTOK_OK;
}

dstok_status dstok__buf_push(dstok__buf *b, uint8_t byte) {
    if (b->len == b->cap) DSTOK_TRY(dstok__buf_reserve(b, 1));
    b->data[b->len++] = byte;
    return DSTOK_OK;
}

dstok_status dstok__buf_printf(dstok__buf *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) return DSTOK_E_INVAL;
    DSTOK_TRY(dstok__buf_reserve(b, (size_t)n + 1));
    va_start(args, format);
    vsnprintf((char *)b->data + b->len, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (size_t)n;
    return DSTOK_OK;
}
