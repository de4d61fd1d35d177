/* SPDX-License-Identifier: MIT */
/* Vocabularies and models by path or name: names stand for what is in the user's data folder. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli.h"

#include <dstok/tokenizer.h>

/* ${XDG_DATA_HOME:-~/.local/share}/dstok/KIND; empty when neither variable is set. */
void cli_data_home(const char *kind, struct cli_buf *out);

/* Names in a folder, sorted, that end in `ending` and do not start with a dot. Returns their number. */
size_t cli_list_folder(const char *path, const char *ending, char ***names);
void cli_free_names(char **names, size_t n);

int cli_is_folder(const char *path);
int cli_is_inside(const char *folder, const char *name);

/* ---- vocab.c */

/* Load the vocabulary that `name` (NULL: the embedded one) stands for: a path, or a name. pattern: of
 * --pattern, or NULL. Returns 0, or an exit code after a message. */
int cli_vocab_open(const char *name, const char *pattern, int no_scanner, dstok_tokenizer **out);

#endif
