/* SPDX-License-Identifier: MIT */
/* The verbs, and what they share beyond cli.h: the vocabulary and the list of inputs. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "names.h"
#include "options.h"

#include <dstok/tokenizer.h>

/* Each runs one verb and returns the exit code. */
int cli_encode(struct cli_config *c);
int cli_decode(struct cli_config *c);
int cli_count(struct cli_config *c);
int cli_inspect(struct cli_config *c);
int cli_train(struct cli_config *c);
int cli_compile(struct cli_config *c);
int cli_bench(struct cli_config *c);
int cli_trace(struct cli_config *c);
int cli_chunk(struct cli_config *c);

/* ---- options.c */

/* Load the vocabulary that `name` (NULL: the embedded one) stands for. Returns 0, or an exit code after
 * a message. */
int cli_vocab_load(const struct cli_config *c, const char *name, dstok_tokenizer **out);

/* ---- special.c */

/* Fill the encode options of --special, --invalid, --add-special, --strict. The ids of a LIST stay in
 * *allowed, which the caller frees. Returns 0, or CLI_USAGE after a message. */
int cli_encode_options(const struct cli_config *c, const dstok_tokenizer *tok, dstok_encode_options *out,
                       uint32_t **allowed);

/* ---- files.c */

/* Inputs in order, folders replaced by their files. "-" is standard input. */
struct cli_files {
    struct cli_input *items;
    char **names; /* names[i] is owned, items[i].name points at it */
    size_t n;
};

/* Check and list the inputs; none means standard input. Returns 0, or CLI_USAGE / CLI_FAIL after a
 * message. */
int cli_files_list(const struct cli_config *c, struct cli_files *out);
void cli_files_free(struct cli_files *f);
/* Refuses an output that is one of the inputs: writing would destroy what is being read. Returns 0 or CLI_USAGE. */
int cli_files_protect(const struct cli_files *f, const char *option, const char *path);
/* Whether two paths lead to one regular file. */
int cli_same_file(const char *a, const char *b);
/* "standard input" for "-". */
const char *cli_input_name(const struct cli_input *in);

/* ---- help.c */

/* Help of a verb, or of the program when verb_bit is 0. */
void cli_help(struct cli_buf *out, unsigned verb_bit);

#endif
