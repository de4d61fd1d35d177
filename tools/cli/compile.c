/* SPDX-License-Identifier: MIT */
/* dstok compile: any vocabulary as a .dstok file, which loads in milliseconds. */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The vocabulary: -v, or the first INPUT. Returns 0 or CLI_USAGE. */
static int find_names(const struct cli_config *c, const char **vocab, const char **output) {
    size_t i = 0;

    *vocab = c->n_vocabs ? c->vocabs[0] : NULL;
    *output = c->output;
    if (*vocab == NULL && i < c->n_inputs) *vocab = c->inputs[i++].name;
    if (*output == NULL && i < c->n_inputs) *output = c->inputs[i++].name;
    if (i < c->n_inputs)
        return cli_usage(c->verb, "%s: compile takes one vocabulary and one output", c->inputs[i].name);
    if (*output == NULL) return cli_usage(c->verb, "-o FILE is missing");
    if (*vocab != NULL && cli_same_file(*vocab, *output))
        return cli_usage(c->verb, "%s is the vocabulary, which that would overwrite; name another file",
                         *output);
    return 0;
}

/* Whether writing this file destroys something else than a .dstok file. An empty file is nothing to lose. */
static int is_something_else(const char *path) {
    static const char magic[] = "\x89"
                                "dstok\r\n";
    char head[8];
    struct stat st;
    ssize_t n = -1;
    int fd =
        stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0) return 0; /* what cannot be read cannot be written either, and that is said then */
    while ((n = read(fd, head, sizeof head)) < 0 && errno == EINTR)
        ;
    (void)close(fd);
    return n != (ssize_t)sizeof head || memcmp(head, magic, sizeof head) != 0;
}

static int check_output(const struct cli_config *c, const char *output) {
    if (strcmp(output, "-") == 0) return 0;
    if (!c->force && is_something_else(output))
        return cli_usage(c->verb,
                         "%s is there and is no .dstok file; it is where the output would go: name another "
                         "file, or --force to replace it",
                         output);
    return cli_check_output(output);
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

    if (rc == 0) rc = check_output(c, output);
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
