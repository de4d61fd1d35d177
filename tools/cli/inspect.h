/* SPDX-License-Identifier: MIT */
/* The parts of `dstok inspect` that run texts through vocabularies. */
#ifndef CLI_INSPECT_H
#define CLI_INSPECT_H

#include "verbs.h"

/* The tokens of --align or --align-file below the characters, and how many they are. Returns 0 or an exit
 * code after a message. */
int cli_show_alignment(const struct cli_config *c, const dstok_tokenizer *tok, struct cli_buf *out);

/* Bytes per token of every input under every vocabulary. Returns the exit code. */
int cli_show_fertility(struct cli_config *c);

#endif
