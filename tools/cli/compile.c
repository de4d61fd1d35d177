/* SPDX-License-Identifier: MIT */
/* dstok compile: any vocabulary as a .dstok file, which loads in milliseconds. */
#include "verbs.h"

#include <string.h>

/* The vocabulary: -v, or the first INPUT. Returns 0 or CLI_USAGE. */
static int find_names(const struct cli_config *c, const char **vocab, const char **output) {
    size_t i = 0;

    *vocab = c->n_vocabs ? c->vocabs[0] : NULL;
    *output = c->output;
    if (*vocab == NULL && i < c->n_inputs) *vocab = c->inputs[i++].name;
    if (*output == NULL && i < c->n_inputs) *output = c->inputs[i++].name;
    if (i < c->n_inputs) return cli_usage(c->verb, "%s: one vocabulary and one output", c->inputs[i].name);
    if (*output == NULL) return cli_usage(c->verb, "-o FILE is missing");
    if (*vocab != NULL && strcmp(*vocab, *output) == 0)
        return cli_usage(c->verb, "-o %s would overwrite the vocabulary", *output);
    return 0;
}

static int write_compiled(const dstok_tokenizer *tok, const char *output) {
    size_t n;
    const void *bytes = dstok_tokenizer_compiled(tok, &n);

    if (strcmp(output, "-") != 0) return cli_write_file(output, bytes, n);
    if (cli_out_is_terminal()) {
        cli_error("a .dstok file is binary: write it to a file (-o FILE) or a pipe");
        return CLI_USAGE;
    }
    return cli_out(bytes, n) || cli_out_flush() ? CLI_FAIL : 0;
}

int cli_compile(struct cli_config *c) {
    const char *vocab, *output;
    dstok_tokenizer *tok = NULL;
    dstok_info info = DSTOK_INFO_INIT;
    int rc = find_names(c, &vocab, &output);

    if (rc == 0) rc = cli_vocab_load(c, vocab, &tok);
    if (rc == 0) rc = write_compiled(tok, output);
    if (rc == 0) {
        (void)dstok_tokenizer_info(tok, &info);
        cli_note("%s: %llu tokens, %llu merges, from %s", strcmp(output, "-") ? output : "standard output",
                 (unsigned long long)info.n_tokens, (unsigned long long)info.n_merges, info.format);
    }
    dstok_tokenizer_free(tok);
    return rc;
}
