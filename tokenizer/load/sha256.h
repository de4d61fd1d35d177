/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4), to know a vocabulary file again. */
#ifndef DSTOK_LOAD_SHA256_H
#define DSTOK_LOAD_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* hex gets 64 lower-case digits and a NUL. */
void dstok__sha256_hex(const void *data, size_t n, char hex[65]);

#endif
