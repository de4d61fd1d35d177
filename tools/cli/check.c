/* SPDX-License-Identifier: MIT */
/* Options that do not fit together, or that nothing would listen to: each is used or refused, never passed over. */
#include "options.h"

#include <dstok/tokenizer.h>

#include <string.h>

static int has_jsonl(const struct cli_config *c) {
    return c->input_format == CLI_JSONL;
}

static int has_whole_texts(const struct cli_config *c) {
    return c->input_format == CLI_TEXT;
}

static int goes_on(const struct cli_config *c) {
    return c->on_error != CLI_ERROR_FAIL;
}

static int has_json(const struct cli_config *c) {
    return c->json;
}

static int has_no_json(const struct cli_config *c) {
    return !c->json;
}

static int has_align(const struct cli_config *c) {
    return c->align != NULL || c->align_file != NULL;
}

static int has_align_file(const struct cli_config *c) {
    return c->align_file != NULL;
}

static int has_fertility(const struct cli_config *c) {
    return c->fertility;
}

static int reads_files(const struct cli_config *c) {
    return c->fertility || c->align_file != NULL;
}

static int has_no_other_view(const struct cli_config *c) {
    return (c->align != NULL) + (c->align_file != NULL) + (c->token != NULL) + c->fertility < 2;
}

/* No input stands for standard input, which is a text. */
static int has_texts(const struct cli_config *c) {
    size_t i = 0;

    while (i < c->n_inputs && c->inputs[i].is_words) i++;
    return i < c->n_inputs || c->n_inputs == 0;
}

static int has_inputs(const struct cli_config *c) {
    return c->segments == NULL;
}

/* An option that only has an effect together with others. */
static const struct rule {
    const char *option;
    unsigned verbs;
    int (*holds)(const struct cli_config *c);
    const char *else_say; /* behind the option's name */
} rules[] = {
    {"json-keys", CLI_TEXTS | CLI_TRAIN, has_jsonl, "is for --input-format jsonl"},
    {"doc-separator", CLI_TEXTS | CLI_TRAIN, has_whole_texts, "is for --input-format text"},
    {"max-errors", CLI_TEXTS, goes_on, "needs --on-error skip or --on-error replace"},
    {"reject", CLI_TEXTS, goes_on, "needs --on-error skip or --on-error replace"},
    {"max-errors", CLI_TRAIN, goes_on, "needs --on-error skip"},
    {"reject", CLI_TRAIN, goes_on, "needs --on-error skip"},
    {"input-format", CLI_TRAIN, has_texts, "is for texts; all inputs are word lists"},
    {"doc-separator", CLI_TRAIN, has_texts, "is for texts; all inputs are word lists"},
    {"json-keys", CLI_TRAIN, has_texts, "is for texts; all inputs are word lists"},
    {"invalid", CLI_TRAIN, has_texts, "is for texts; all inputs are word lists"},
    {"recursive", CLI_TRAIN, has_texts, "is for texts; all inputs are word lists"},
    {"offsets", CLI_ENCODE, has_json, "needs --json"},
    {"separator", CLI_DECODE, has_no_json, "does not go with --json"},
    {"align", CLI_INSPECT, has_no_other_view, "does not go with --align-file, --token or --fertility"},
    {"align-file", CLI_INSPECT, has_no_other_view, "does not go with --align, --token or --fertility"},
    {"token", CLI_INSPECT, has_no_other_view, "does not go with --align or --fertility"},
    {"special", CLI_INSPECT, has_align, "is for --align and --align-file"},
    {"add-special", CLI_INSPECT, has_align, "is for --align and --align-file"},
    {"invalid", CLI_INSPECT, has_align_file, "is for --align-file"},
    {"recursive", CLI_INSPECT, has_fertility, "is for --fertility"},
    {"no-decompress", CLI_INSPECT, reads_files, "is for --fertility and --align-file"},
    {"before", CLI_TRACE, has_inputs, "does not go with --segments"},
    {"between", CLI_TRACE, has_inputs, "does not go with --segments"},
    {"after", CLI_TRACE, has_inputs, "does not go with --segments"},
    {"recursive", CLI_TRACE, has_inputs, "does not go with --segments"},
};

static int check_rules(const struct cli_config *c) {
    size_t i;

    for (i = 0; i < sizeof rules / sizeof *rules; i++)
        if ((rules[i].verbs & c->verb_bit) && cli_is_given(c, rules[i].option) && !rules[i].holds(c))
            return cli_usage(c->verb, "--%s %s", rules[i].option, rules[i].else_say);
    return 0;
}

int cli_check_options(const struct cli_config *c) {
    if (c->max_record > INT32_MAX)
        return cli_usage(c->verb, "--max-record: a record has at most %ld bytes", (long)INT32_MAX);
    if (c->budget > 3600000) return cli_usage(c->verb, "--budget: at most 3600000 (an hour)");
    if (dstok_simd_name(c->simd) == NULL)
        return cli_usage(c->verb, "--simd: this machine, or this build, lacks these instructions");
    if (c->threads > 256) return cli_usage(c->verb, "--threads: at most 256");
    if (c->reject != NULL && strcmp(c->reject, "-") == 0)
        return cli_usage(c->verb, "--reject -: name a file; /dev/stderr shows the log");
    if (c->weight_waits)
        return cli_usage(c->verb, "no input follows the last --weight; a weight is for the inputs after it%s",
                         c->n_inputs == 0 ? " (- is standard input)" : "");
    return check_rules(c) ? CLI_USAGE : cli_jsonl_check(c);
}
