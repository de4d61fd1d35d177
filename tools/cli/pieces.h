/* SPDX-License-Identifier: MIT */
/* Tokens made visible on a terminal. */
#ifndef CLI_PIECES_H
#define CLI_PIECES_H

#include "cli.h"

#include <dstok/tokenizer.h>

/* Append bytes so that they can be read anywhere: blanks, line ends and tabs as signs (not the blank
 * when `plain_blank`), control and invisible characters by number, parts of characters as hex. Returns
 * the columns used. */
size_t cli_piece(struct cli_buf *out, const void *bytes, size_t n, int plain_blank);

/* The tokens of a text one behind the other with their borders shown, lines broken where the text
 * breaks them. */
void cli_pieces_flow(struct cli_buf *out, const dstok_tokenizer *tok, const dstok_tokens *tokens, int colour);

#endif
