/* SPDX-License-Identifier: MIT */
/* What a program with verbs does around them: finding the verb, help, signals, closing standard output. */
#include "args.h"

#include <dstok/version.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* NULL: a name that is no verb. */
static const struct cli_verb *find_verb(const struct cli_program *p, const char *name) {
    size_t i = 0;

    while (i < p->n_verbs && strcmp(p->verbs[i].name, name) != 0) i++;
    return i < p->n_verbs ? &p->verbs[i] : NULL;
}

static void on_signal(int number) {
    cli_forget_temporary();
    _exit(128 + number);
}

/* Interrupts end the program at once, also in the middle of a long text: nothing needs more than its
 * temporary file removed. What the parent had ignored (nohup) stays ignored. */
static void catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, old;
    size_t i;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigemptyset(&action.sa_mask);
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
}

/* A closed standard stream must not be handed to the next file that is opened. */
static void hold_standard_streams(void) {
    int fd;

    for (fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1)
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY); /* so that using it fails */
}

static int print_version(void) {
    char text[64];
    int n = snprintf(text, sizeof text, "%.32s %d.%d.%d\n", cli_program_name, DSTOK_VERSION_MAJOR,
                     DSTOK_VERSION_MINOR, DSTOK_VERSION_PATCH);

    return cli_out(text, (size_t)n);
}

void cli_put_help(struct cli_buf *out, const struct cli_help_text *verbs, size_t n, unsigned verb_bit,
                  void (*options)(struct cli_buf *out, unsigned verb_bit)) {
    size_t i;

    for (i = 0; i < n; i++)
        if (verbs[i].bit == verb_bit) {
            cli_buf_text(out, verbs[i].text);
            cli_buf_text(out, "\noptions:\n");
            options(out, verb_bit);
            cli_buf_text(out, "\nexamples:\n");
            cli_buf_text(out, verbs[i].examples);
        }
}

int cli_print_help(const struct cli_program *p, unsigned verb_bit) {
    struct cli_buf text = {0};
    int rc;

    p->help(&text, verb_bit);
    rc = cli_out_buf(&text);
    cli_buf_free(&text);
    return rc;
}

/* Called without arguments. */
static int show_usage(const struct cli_program *p) {
    struct cli_buf text = {0};

    p->help(&text, 0);
    (void)fputs(cli_buf_string(&text), stderr);
    cli_buf_free(&text);
    return CLI_USAGE;
}

/* One slip for every three letters is taken for a slip, four at most: no verb is longer than eight letters. */
static int unknown_verb(const struct cli_program *p, const char *name) {
    struct cli_buf list = {0};
    const char *best = NULL;
    size_t least = strlen(name) < 12 ? strlen(name) / 3 + 1 : 5, i, k;
    int rc;

    for (i = 0; i < p->n_verbs; i++) {
        cli_buf_printf(&list, "%s%s", i > 0 ? ", " : "", p->verbs[i].name);
        k = cli_distance(name, strlen(name), p->verbs[i].name);
        if (k >= least) continue;
        least = k;
        best = p->verbs[i].name;
    }
    rc = best ? cli_usage("", "unknown verb \"%.40s\"; did you mean %s?", name, best)
              : cli_usage("", "unknown verb \"%.40s\"; the verbs of this version are %s", name,
                          cli_buf_string(&list));
    cli_buf_free(&list);
    return rc;
}

/* PROGRAM help [VERB] */
static int help_for(const struct cli_program *p, int argc, char **argv) {
    const struct cli_verb *verb = argc > 2 ? find_verb(p, argv[2]) : NULL;

    if (argc > 3) return cli_usage("", "%s takes one verb", argv[1]);
    if (argc == 3 && verb == NULL) return unknown_verb(p, argv[2]);
    return cli_print_help(p, verb != NULL ? verb->bit : 0);
}

static int run(const struct cli_program *p, int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    const struct cli_verb *verb;

    if (argc < 2) return show_usage(p);
    if (strcmp(name, "--version") == 0)
        return argc > 2 ? cli_usage("", "--version stands alone: \"%.40s\" is too much", argv[2])
                        : print_version();
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help_for(p, argc, argv);
    verb = find_verb(p, name);
    return verb != NULL ? p->run(verb, argc - 2, argv + 2) : unknown_verb(p, name);
}

int cli_start(const struct cli_program *p, int argc, char **argv) {
    int rc, closing;

    hold_standard_streams();
    catch_signals();
    rc = run(p, argc, argv);
    closing = cli_out_close();
    return rc != CLI_OK && rc != CLI_SKIPPED ? rc : closing ? closing : rc;
}
