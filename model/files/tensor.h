/* SPDX-License-Identifier: MIT */
/* Tensors as they stand in files: a name, a format, a shape and bytes that lie in a mapped file. */
#ifndef DSX_FILES_TENSOR_H
#define DSX_FILES_TENSOR_H

#include <dstok/base.h>

#include <stdbool.h>

/* How elements are stored. Block formats hold rows cut into blocks of dsx__format_info.block elements. */
typedef enum dsx__format {
    DSX__F32,
    DSX__F16,
    DSX__BF16,
    DSX__F8_E4M3, /* a scale for each 128 x 128 of a matrix is in another tensor: dsx__part of arch/names.h */
    DSX__Q8_0,    /* 32 elements: fp16 scale d; 32 x int8 q; d*q */
    DSX__Q4_0,    /* 32: d; 16 bytes, low nibbles are elements 0-15; d*(q-8) */
    DSX__Q4_1,    /* 32: d, fp16 minimum m; 16 bytes; d*q+m */
    DSX__Q5_0,    /* 32: d; 4 bytes of fifth bits; 16 bytes; d*(q-16) */
    DSX__Q5_1,    /* 32: d, m; 4 bytes; 16 bytes; d*q+m */
    DSX__Q2_K,    /* 256 each from here on: quant/blocks.c has the layouts */
    DSX__Q3_K,
    DSX__Q4_K,
    DSX__Q5_K,
    DSX__Q6_K,
    DSX__N_FORMATS
} dsx__format;

typedef struct dsx__format_info {
    const char *name; /* "F32", "Q4_1", ... */
    uint32_t block;   /* elements of a block */
    uint32_t bytes;   /* of a block */
} dsx__format_info;
extern const dsx__format_info dsx__formats[DSX__N_FORMATS];

#define DSX__MAX_DIMS 4

/* shape[0] is the slowest axis: a matrix that maps k inputs to m outputs is [m][k], its rows lie in one
 * piece. */
typedef struct dsx__tensor {
    const char *name; /* NUL-terminated, lives as long as the archive */
    dsx__format format;
    uint32_t n_dims;
    uint64_t shape[DSX__MAX_DIMS]; /* 1 behind n_dims */
    const uint8_t *data;           /* not aligned; within the mapped file */
    uint64_t n_bytes;
} dsx__tensor;

/* Bytes of n elements in a row; 0 when n is no multiple of the block. */
uint64_t dsx__row_bytes(dsx__format format, uint64_t n);

/* Elements [0, n) of a row to float; n is a multiple of the block. quant/blocks.c. */
void dsx__to_float(dsx__format format, const uint8_t *row, uint64_t n, float *out);

#endif
