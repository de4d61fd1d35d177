/* SPDX-License-Identifier: MIT */
/* The dsexplain program: its verbs. */
#include "dsexplain.h"

#include <string.h>

const char cli_program_name[] = "dsexplain";

static const struct cli_verb verbs[] = {
    {"info", EX_INFO},   {"generate", EX_GENERATE}, {"ppl", EX_PPL},           {"logprobs", EX_LOGPROBS},
    {"plan", EX_PLAN},   {"convert", EX_CONVERT},   {"scan", EX_SCAN},         {"run", EX_RUN},
    {"fit-at2", EX_FIT}, {"diff", EX_DIFF},         {"selftest", EX_SELFTEST},
};

static int (*const runs[])(const struct ex_config *c) = {ex_info, ex_generate, ex_ppl,     ex_logprobs,
                                                         ex_plan, ex_convert,  ex_scan,    ex_run,
                                                         ex_fit,  ex_diff,     ex_selftest};

static int run(const struct cli_verb *verb, int argc, char **argv);

static const struct cli_program program = {verbs, sizeof verbs / sizeof *verbs, run, ex_help};

static int run(const struct cli_verb *verb, int argc, char **argv) {
    struct ex_config config;
    int rc;

    memset(&config, 0, sizeof config);
    config.verb = verb->name;
    config.verb_bit = verb->bit;
    rc = ex_parse(&config, argc, argv);
    cli_set_quiet(config.is_quiet);
    if (rc == 0) rc = config.help ? cli_print_help(&program, verb->bit) : runs[verb - verbs](&config);
    ex_config_free(&config);
    return rc;
}

int main(int argc, char **argv) {
    return cli_start(&program, argc, argv);
}
