/* SPDX-License-Identifier: MIT */
/* The chat template that comes with a model. */
#ifndef DSX_FILES_CHAT_H
#define DSX_FILES_CHAT_H

#include "files/gguf.h"

/* *out is its text, malloc'ed, and stays NULL where there is none or it cannot be read: a model runs without.
 * E_NOMEM. */
dstok_status dsx__chat_of_gguf(const dsx__gguf *g, char **out);
dstok_status dsx__chat_of_folder(const char *folder, char **out, dstok_error *err);

#endif
