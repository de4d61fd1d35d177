/* SPDX-License-Identifier: MIT */
/* Verbs and options of a program, each described by a table: what dstok and dsexplain share of a command
 * line. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "cli.h"

/* What an option does with its value. */
enum { CLI_OPTION_FLAG, CLI_OPTION_TEXT, CLI_OPTION_NUMBER, CLI_OPTION_CHOICE, CLI_OPTION_CALL };

struct cli_option {
    const char *name;
    char letter;
    unsigned verbs; /* bits of the verbs that have it */
    int kind;
    size_t field;      /* offset in the program's configuration; not for CALL */
    const char *value; /* what help shows: "N", "PATH"; for CHOICE the words, in the order of their numbers */
    const char *help;
    const char *(*call)(void *config, const char *value); /* NULL or what is wrong */
};

struct cli_table {
    const struct cli_option *options;
    size_t n;
    const char *const
        *later; /* names of the contract that are not built yet: a clear word instead of "unknown" */
    size_t n_later;
    unsigned later_verbs; /* these verbs are yet to get them, also where others have them */
    void (*input)(void *config, const char *name); /* an argument that is no option */
    void (*more_help)(const struct cli_option *option, struct cli_buf *text); /* NULL: help says all */
};

/* One call of a verb: set but for what was given. */
struct cli_args {
    const struct cli_table *table;
    void *config; /* that the options' fields are in */
    const char *verb;
    unsigned verb_bit;
    const char **given; /* names of the options, in their order */
    size_t n_given;
};

/* Read the arguments behind the verb into the configuration. Returns 0, or CLI_USAGE after a message. */
int cli_args_read(struct cli_args *a, int argc, char **argv);
void cli_args_free(struct cli_args *a);

/* Whether an option was given, by its name without the dashes. */
int cli_args_has(const struct cli_args *a, const char *name);

/* The options of a verb as help text. */
void cli_args_help(const struct cli_table *table, unsigned verb_bit, struct cli_buf *out);

/* Letters to change, add or leave out to make b of a[0, n); 99 when that is not worth a thought. */
size_t cli_distance(const char *a, size_t n, const char *b);

/* A number of tokens; K and M stand for 1,024 and 1,048,576 of them. Returns 0, or what is wrong. */
const char *cli_token_count(const char *value, size_t n, uint64_t *out);

/* The escapes \n \t \r \0 \\ \xHH of an option's value: a NUL cannot be given otherwise. Returns 0, or what
 * is wrong. */
const char *cli_unescape(struct cli_buf *out, const char *value);

/* ---- start.c: the program around its verbs. */

struct cli_verb {
    const char *name;
    unsigned bit;
};

struct cli_program {
    const struct cli_verb *verbs;
    size_t n_verbs;
    int (*run)(const struct cli_verb *verb, int argc, char **argv); /* argv: behind the verb */
    void (*help)(struct cli_buf *out, unsigned verb_bit);           /* 0: of the program */
};

/* Name of the program in messages; each program defines it. */
extern const char cli_program_name[];

/* Finds the verb and runs it: the whole of main. */
int cli_start(const struct cli_program *program, int argc, char **argv);
/* Help of one verb, without its options. cli_put_help appends that of verb_bit; options appends those. */
struct cli_help_text {
    unsigned bit;
    const char *text, *examples;
};
void cli_put_help(struct cli_buf *out, const struct cli_help_text *verbs, size_t n, unsigned verb_bit,
                  void (*options)(struct cli_buf *out, unsigned verb_bit));

/* Help on standard output. Returns 0, or CLI_FAIL after a message. */
int cli_print_help(const struct cli_program *program, unsigned verb_bit);

#endif
