/* SPDX-License-Identifier: MIT */
/* A checkpoint on disk: mapped files, the tensors in them, and the configuration that came with them. */
#ifndef DSX_FILES_ARCHIVE_H
#define DSX_FILES_ARCHIVE_H

#include "arch/config.h"
#include "files/tensor.h"

/* What kind of checkpoint it is: names of tensors and the order of rotary rows follow from it. */
typedef enum dsx__kind {
    DSX__SAFETENSORS, /* a folder with config.json, or a .safetensors file beside one; Hugging Face names */
    DSX__GGUF,        /* names of llama.cpp */
    DSX__LLAMA2C      /* .bin of llama2.c; its tensors get Hugging Face names */
} dsx__kind;

typedef struct dsx__archive {
    dsx__kind kind;
    dsx__config config;
    dsx__tensor *tensors; /* sorted by name (strcmp), no two alike */
    size_t n_tensors;
    uint64_t file_bytes; /* of all files */
    char *tokenizer;     /* path of the tokenizer: of the GGUF file itself, of the folder; NULL: none */
    char *chat;          /* template, as it stands in the checkpoint; NULL: none */
    void *files;         /* the mapped files: archive.c */
} dsx__archive;

/* Opens a checkpoint: headers and configuration are checked whole, tensor data is not touched.
 * E_IO, E_FORMAT, E_TRUNCATED, E_UNSUPPORTED: err->text names the file and what is wrong, err->offset where. */
dstok_status dsx__archive_open(const char *path, dsx__archive *out, dstok_error *err);
void dsx__archive_close(dsx__archive *a); /* accepts a zeroed one */

/* NULL when there is none of that name. */
const dsx__tensor *dsx__archive_find(const dsx__archive *a, const char *name);

#endif
