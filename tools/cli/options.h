/* SPDX-License-Identifier: MIT */
/* The configuration of a run, filled from the command line. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "args.h"

enum {
    CLI_ENCODE = 1,
    CLI_DECODE = 2,
    CLI_COUNT = 4,
    CLI_INSPECT = 8,
    CLI_TRAIN = 16,
    CLI_COMPILE = 32,
    CLI_BENCH = 64,
    CLI_CHUNK = 128,
    CLI_TRACE = 256,
    CLI_TEXTS = CLI_ENCODE | CLI_COUNT | CLI_CHUNK, /* verbs that turn texts into ids */
    CLI_EVERY = 31 | CLI_CHUNK,                     /* verbs that read records or vocabularies */
    CLI_ALL = 511
};

enum { CLI_TEXT, CLI_LINES, CLI_JSONL }; /* --input-format */
enum { CLI_IDS, CLI_IDS_JSONL };         /* --input-format of decode */
enum { CLI_ERROR_FAIL, CLI_ERROR_SKIP, CLI_ERROR_REPLACE };
enum { CLI_OFFSETS_NONE = 3, CLI_OFFSETS_HF = 4 }; /* the others are DSTOK_UNIT_* */
enum { CLI_CLOCK_AUTO, CLI_CLOCK_CPU, CLI_CLOCK_WALL };
enum { CLI_TIER_BEST, CLI_TIER_EVERY, CLI_TIER_NAMED }; /* --tier; behind them those with a name */
enum { CLI_PROGRESS_AUTO, CLI_PROGRESS_PLAIN, CLI_PROGRESS_JSON, CLI_PROGRESS_OFF };

/* An input as named on the command line. The weight is weight / weight_unit (train). */
struct cli_input {
    const char *name;
    uint64_t weight, weight_unit;
    int is_words;
};

struct cli_config {
    const char *verb;
    unsigned verb_bit;
    /* every verb */
    const char **vocabs;
    size_t n_vocabs;
    const char *pattern;
    uint64_t threads;
    int is_quiet, progress, no_scanner, recursive, no_decompress, json, help;
    /* texts */
    int input_format;
    const char *json_keys;
    struct cli_buf separator; /* --doc-separator, --separator: escapes resolved */
    uint64_t max_record;
    const char *special;
    int add_special, invalid, on_error, drop_empty, strict;
    uint64_t max_errors;
    int has_max_errors;
    const char *reject;
    /* encode */
    int offsets; /* -1: not given */
    int pieces;
    int simd; /* DSTOK_SIMD_*; count, too */
    /* decode */
    int id_format, mode, skip_special;
    /* chunk; 0: not given */
    uint64_t max_tokens, min_tokens, overlap, overlap_sentences;
    int border, border_tokens, chunk_mode, balance, no_text, show_ids;
    /* inspect */
    const char *align, *align_file, *token;
    int fertility;
    /* train */
    uint64_t vocab_size, min_frequency, max_token_length;
    const char *output; /* compile, too */
    int order, force;   /* force: compile */
    uint64_t weight, weight_unit;
    /* bench */
    int tier, clock, no_stages;
    uint64_t budget; /* ms */

    /* trace */
    const char *scores, *rows, *threshold, *segments;
    struct cli_buf before, between, after; /* escapes resolved */
    int level, format, by, pad, join;
    uint64_t top;

    struct cli_input *inputs;
    size_t n_inputs;
    struct cli_args args;
    int weight_waits; /* --weight was given and no input behind it yet */
};

/* jsonl.c: are the keys of --json-keys good? Returns 0, or CLI_USAGE after a message. */
int cli_jsonl_check(const struct cli_config *c);

/* Read the arguments behind the verb. Returns 0, or CLI_USAGE after a message. */
int cli_parse(struct cli_config *c, int argc, char **argv);
void cli_config_free(struct cli_config *c);

/* Whether an option was given, by its name without the dashes. */
int cli_is_given(const struct cli_config *c, const char *name);

/* ---- check.c: what no single option can tell. Returns 0, or CLI_USAGE after a message. */
int cli_check_options(const struct cli_config *c);

/* The option table of a verb as help text. */
void cli_options_help(struct cli_buf *out, unsigned verb_bit);

#endif
