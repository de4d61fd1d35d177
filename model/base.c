/* SPDX-License-Identifier: MIT */
/* Reports of what went wrong. */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that filled its buffer may end inside a character: that is dropped. */
static void mend_end(char *text, size_t cap) {
    size_t n = strlen(text), start = n;

    if (n + 1 < cap) return;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xC0) text[start - 1] = '\0';
}

dstok_status dsx__fail(dstok_error *err, dstok_status status, uint64_t offset, const char *format, ...) {
    va_list args;

    if (err == NULL) return status;
    *err = (dstok_error){.status = status, .offset = offset};
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    mend_end(err->text, sizeof err->text);
    return status;
}

dstok_status dsx__no_memory(dstok_error *err) {
    return dsx__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, "out of memory");
}

dstok_status dsx__fail_in(dstok_error *err, dstok_status status, const char *path) {
    char text[sizeof err->text];
    const char *slash = strrchr(path, '/'), *name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
    size_t n = strlen(name) < 100 ? strlen(name) : 100;

    if (status == DSTOK_OK || err == NULL) return status;
    while (n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80) n--;
    memcpy(text, err->text, sizeof text);
    n = (size_t)snprintf(err->text, sizeof err->text, "%.*s: ", (int)n, name);
    size_t length = strlen(text), room = sizeof err->text - 1 - n;
    if (length > room) length = room;
    memcpy(err->text + n, text, length);
    err->text[n + length] = '\0';
    mend_end(err->text, sizeof err->text);
    return status;
}

dstok_status dsx__take_options(void *out, const void *options, size_t n, const char *name, dstok_error *err) {
    size_t size = n;

    if (options != NULL) memcpy(&size, options, sizeof size);
    if (size != n)
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "%s.struct_size is %zu, of this version %zu: begin with its _INIT", name, size, n);
    if (options != NULL) memcpy(out, options, n);
    return DSTOK_OK;
}

const char *dsx__quote(const void *text, size_t n, dsx__quoted out) {
    const unsigned char *from = text;
    size_t room = sizeof(dsx__quoted) - 1, used = n < room ? n : room;

    for (size_t i = 0; i < used; i++) out[i] = (char)(from[i] >= 0x20 && from[i] < 0x7F ? from[i] : '?');
    out[used] = '\0';
    if (n > room) memcpy(out + room - 3, "...", 3);
    return out;
}
