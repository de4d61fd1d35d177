/* SPDX-License-Identifier: MIT */
/* The dstok program: finds the verb and runs it. */
#include "verbs.h"

#include <dstok/version.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned bit;
    int (*run)(struct cli_config *c);
} verbs[] = {
    {"encode", CLI_ENCODE, cli_encode}, {"decode", CLI_DECODE, cli_decode},
    {"count", CLI_COUNT, cli_count},    {"inspect", CLI_INSPECT, cli_inspect},
    {"train", CLI_TRAIN, cli_train},    {"compile", CLI_COMPILE, cli_compile},
    {"bench", CLI_BENCH, cli_bench},    {"trace", CLI_TRACE, cli_trace},
    {"chunk", CLI_CHUNK, cli_chunk},
};

#define N_VERBS (sizeof verbs / sizeof *verbs)

/* A name that is no verb gives N_VERBS. */
static size_t find_verb(const char *name) {
    size_t i = 0;

    while (i < N_VERBS && strcmp(verbs[i].name, name) != 0) i++;
    return i;
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
    int n = snprintf(text, sizeof text, "dstok %d.%d.%d\n", DSTOK_VERSION_MAJOR, DSTOK_VERSION_MINOR,
                     DSTOK_VERSION_PATCH);

    return cli_out(text, (size_t)n);
}

static int print_help(unsigned bit) {
    struct cli_buf text = {0};
    int rc;

    cli_help(&text, bit);
    rc = cli_out_buf(&text);
    cli_buf_free(&text);
    return rc;
}

/* Called without arguments. */
static int show_usage(void) {
    struct cli_buf text = {0};

    cli_help(&text, 0);
    (void)fputs(cli_buf_string(&text), stderr);
    cli_buf_free(&text);
    return CLI_USAGE;
}

/* One slip for every three letters is taken for a slip, four at most: no verb is longer than seven letters. */
static int unknown_verb(const char *name) {
    struct cli_buf list = {0};
    const char *best = NULL;
    size_t least = strlen(name) < 12 ? strlen(name) / 3 + 1 : 5, i, k;
    int rc;

    for (i = 0; i < N_VERBS; i++) {
        cli_buf_printf(&list, "%s%s", i > 0 ? ", " : "", verbs[i].name);
        k = cli_distance(name, strlen(name), verbs[i].name);
        if (k >= least) continue;
        least = k;
        best = verbs[i].name;
    }
    rc = best ? cli_usage("", "unknown verb \"%.40s\"; did you mean %s?", name, best)
              : cli_usage("", "unknown verb \"%.40s\"; the verbs of this version are %s", name,
                          cli_buf_string(&list));
    cli_buf_free(&list);
    return rc;
}

/* dstok help [VERB] */
static int help_for(int argc, char **argv) {
    size_t i = argc > 2 ? find_verb(argv[2]) : 0;

    if (argc > 3) return cli_usage("", "%s takes one verb", argv[1]);
    if (argc == 3 && i == N_VERBS) return unknown_verb(argv[2]);
    return print_help(argc > 2 ? verbs[i].bit : 0);
}

static int run_verb(size_t i, int argc, char **argv) {
    struct cli_config config;
    int rc;

    memset(&config, 0, sizeof config);
    config.verb = verbs[i].name;
    config.verb_bit = verbs[i].bit;
    rc = cli_parse(&config, argc, argv);
    cli_set_quiet(config.is_quiet);
    if (rc == 0) rc = config.help ? print_help(config.verb_bit) : verbs[i].run(&config);
    cli_config_free(&config);
    return rc;
}

static int run(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    size_t i;

    if (argc < 2) return show_usage();
    if (strcmp(name, "--version") == 0)
        return argc > 2 ? cli_usage("", "--version stands alone: \"%.40s\" is too much", argv[2])
                        : print_version();
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help_for(argc, argv);
    i = find_verb(name);
    return i < N_VERBS ? run_verb(i, argc - 2, argv + 2) : unknown_verb(name);
}

int main(int argc, char **argv) {
    int rc, closing;

    hold_standard_streams();
    catch_signals();
    rc = run(argc, argv);
    closing = cli_out_close();
    return rc != CLI_OK && rc != CLI_SKIPPED ? rc : closing ? closing : rc;
}
