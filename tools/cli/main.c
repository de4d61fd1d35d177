/* SPDX-License-Identifier: MIT */
/* The dstok program: its verbs. */
#include "verbs.h"

#include <string.h>

const char cli_program_name[] = "dstok";

static const struct cli_verb verbs[] = {
    {"encode", CLI_ENCODE},   {"decode", CLI_DECODE}, {"count", CLI_COUNT},
    {"inspect", CLI_INSPECT}, {"train", CLI_TRAIN},   {"compile", CLI_COMPILE},
    {"bench", CLI_BENCH},     {"trace", CLI_TRACE},   {"chunk", CLI_CHUNK},
};

static int (*const runs[])(struct cli_config *c) = {
    cli_encode, cli_decode, cli_count, cli_inspect, cli_train, cli_compile, cli_bench, cli_trace, cli_chunk,
};

static int run(const struct cli_verb *verb, int argc, char **argv);

static const struct cli_program program = {verbs, sizeof verbs / sizeof *verbs, run, cli_help};

static int run(const struct cli_verb *verb, int argc, char **argv) {
    struct cli_config config;
    int rc;

    memset(&config, 0, sizeof config);
    config.verb = verb->name;
    config.verb_bit = verb->bit;
    rc = cli_parse(&config, argc, argv);
    cli_set_quiet(config.is_quiet);
    if (rc == 0) rc = config.help ? cli_print_help(&program, verb->bit) : runs[verb - verbs](&config);
    cli_config_free(&config);
    return rc;
}

int main(int argc, char **argv) {
    return cli_start(&program, argc, argv);
}
