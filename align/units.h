/* SPDX-License-Identifier: MIT */
/* The functions of align.h on one tier. */
#ifndef DSTOK_ALIGN_UNITS_H
#define DSTOK_ALIGN_UNITS_H

#include <dstok/align.h>

#include "../simd/simd.h"

dstok_status dstok__spans_convert(const dstok__simd *simd, const void *text, size_t len, dstok_span *spans,
                                  size_t n, int unit);
dstok_status dstok__spans_to_bytes(const dstok__simd *simd, const void *text, size_t len, dstok_span *spans,
                                   size_t n, int unit);
size_t dstok__text_length(const dstok__simd *simd, const uint8_t *text, size_t len, int unit);
dstok_status dstok__places_of(const dstok__simd *simd, const void *text, size_t len, const uint64_t *bytes,
                              size_t n, int unit, dstok_place *out);
dstok_status dstok__places_to_bytes(const dstok__simd *simd, const void *text, size_t len,
                                    const dstok_place *places, size_t n, int unit, uint64_t *out);

#endif
