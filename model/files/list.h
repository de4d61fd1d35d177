/* SPDX-License-Identifier: MIT */
/* What the readers of files share: a growing list of tensors. */
#ifndef DSX_FILES_LIST_H
#define DSX_FILES_LIST_H

#include "base.h"
#include "files/archive.h"

typedef struct dsx__list {
    dsx__tensor *items; /* names are owned */
    size_t n, cap;
} dsx__list;

/* Adds a copy with a name of n bytes, which hold no NUL. */
dstok_status dsx__list_add(dsx__list *l, const dsx__tensor *t, const char *name, size_t n, dstok_error *err);
void dsx__list_free(dsx__list *l);

/* By name; E_FORMAT where two are alike. */
dstok_status dsx__list_sort(dsx__list *l, dstok_error *err);

/* Tensors from the one with number `first` on lie behind begin, none over another. With end not NULL they
 * also leave no byte of [begin, end) out. */
dstok_status dsx__list_places(const dsx__list *l, size_t first, const uint8_t *begin, const uint8_t *end,
                              dstok_error *err);

/* Sets n_bytes from format and shape; E_FORMAT where they do not fit, or no file could hold it. */
dstok_status dsx__tensor_size(dsx__tensor *t, dstok_error *err);

/* "[2][3]" */
const char *dsx__shape_text(const dsx__tensor *t, dsx__quoted out);

/* ---- readers: data is a whole file, which outlives the list. The configuration is written by those whose
 * files have one; *factors and *chat (the chat template) of GGUF are malloc'ed, or stay NULL, also on
 * failure. */
dstok_status dsx__safetensors_read(const uint8_t *data, size_t n, dsx__list *out, dstok_error *err);
dstok_status dsx__gguf_read(const uint8_t *data, size_t n, dsx__list *out, dsx__config *config,
                            float **factors, char **chat, dstok_error *err);
dstok_status dsx__llama2c_read(const uint8_t *data, size_t n, dsx__list *out, dsx__config *config,
                               dstok_error *err);

/* An archive of a file in memory: config is the text of config.json, for DSX__SAFETENSORS. data must
 * outlive it. */
dstok_status dsx__archive_read(dsx__kind kind, const uint8_t *data, size_t n, const char *config,
                               size_t config_n, dsx__archive *out, dstok_error *err);

#endif
