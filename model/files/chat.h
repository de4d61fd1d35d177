/* SPDX-License-Identifier: MIT */
/* The chat template that comes with a model. */
#ifndef DSX_FILES_CHAT_H
#define DSX_FILES_CHAT_H

#include "files/gguf.h"

/* Its text, malloc'ed; NULL: there is none, it cannot be read, or memory ends: a model runs without. */
char *dsx__chat_of_gguf(const dsx__gguf *g);
char *dsx__chat_of_folder(const char *folder);

#endif
