/* SPDX-License-Identifier: MIT */
/* dstok bench: how fast a vocabulary works on a text. Each measurement has a process of its own, so that the first
 * pass is the first. */
#include "bench.h"
#include "source.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the order of --tier, behind best and every; DSTOK_SIMD_* counts from 1 on in the same order. */
static const char *const names[] = {"scalar", "avx2", "avx512", "neon"};

/* The instruction sets that can be measured on this machine, worst first. */
static size_t list_tiers(const char *tiers[]) {
    size_t n = 0;

    for (int simd = DSTOK_SIMD_SCALAR; simd <= DSTOK_SIMD_NEON; simd++)
        if (dstok_simd_name(simd) != NULL) tiers[n++] = dstok_simd_name(simd);
    return n;
}

/* Of a name that list_tiers gave. */
static int simd_of(const char *tier) {
    int simd = DSTOK_SIMD_SCALAR;

    while (strcmp(names[simd - 1], tier) != 0) simd++;
    return simd;
}

static int no_such_tier(const struct cli_config *c, const char *wanted, const char *const *tiers, size_t n) {
    struct cli_buf list = {0};
    size_t i;
    int rc;

    for (i = 0; i < n; i++) cli_buf_printf(&list, "%s%s", i > 0 ? ", " : "", tiers[i]);
    rc = cli_usage(c->verb, "--tier %s: cannot be chosen here; there is: %s", wanted, cli_buf_string(&list));
    cli_buf_free(&list);
    return rc;
}

/* Those that --tier asks for. Returns 0 or CLI_USAGE. */
static int choose_tiers(const struct cli_config *c, const char **tiers, size_t *n) {
    size_t i;

    *n = list_tiers(tiers);
    if (c->tier == CLI_TIER_EVERY) return 0;
    for (i = 0; c->tier != CLI_TIER_BEST && i < *n; i++)
        if (strcmp(tiers[i], names[c->tier - CLI_TIER_NAMED]) == 0) break;
    if (i == *n) return no_such_tier(c, names[c->tier - CLI_TIER_NAMED], tiers, *n);
    tiers[0] = tiers[c->tier == CLI_TIER_BEST ? *n - 1 : i];
    *n = 1;
    return 0;
}

static int cannot_read(const struct cli_input *in, const char *why) {
    cli_error("cannot read %s: %s", cli_input_name(in), why);
    return CLI_FAIL;
}

static int read_text(const struct cli_config *c, const struct cli_input *in, struct cli_buf *text) {
    const char *why = "";
    struct cli_source *s = cli_source_open(in->name, c->no_decompress, &why);
    long n = -1;

    text->n = 0;
    while (s != NULL) {
        cli_buf_reserve(text, (size_t)1 << 16);
        n = cli_source_read(s, text->p + text->n, text->cap - text->n, &why);
        if (n <= 0) break;
        text->n += (size_t)n;
    }
    cli_source_close(s);
    if (n < 0) return cannot_read(in, why);
    return text->n > 0 ? 0 : cannot_read(in, "it is empty: there is nothing to measure");
}

static int measure(struct bench *b) {
    struct cli_buf out = {0};
    int rc = bench_run(b);

    if (rc == 0) {
        if (b->config->json)
            bench_put_json(&out, b);
        else
            bench_put_table(&out, b);
        rc = cli_out_buf(&out);
    }
    cli_buf_free(&out);
    return rc;
}

/* The exit code of a process that measured. */
static int wait_for(pid_t child) {
    int status, sig;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return CLI_FAIL;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    sig = WTERMSIG(status);
    if (sig == SIGPIPE) { /* who reads our output went away: end as it did */
        (void)signal(SIGPIPE, SIG_DFL);
        (void)raise(SIGPIPE);
    }
    cli_error("a measurement was ended by signal %d%s", sig, sig == SIGKILL ? " (out of memory?)" : "");
    return CLI_FAIL;
}

/* Measure in a new process. In that one *is_child is set, and the result is its exit code. */
static int measure_apart(struct bench *b, int *is_child) {
    pid_t child;

    if (cli_out_flush()) return CLI_FAIL;
    child = fork();
    if (child < 0) {
        cli_error("cannot start a process: %s", strerror(errno));
        return CLI_FAIL;
    }
    if (child > 0) return wait_for(child);
    *is_child = 1;
    return measure(b);
}

static int by_cpu(const struct cli_config *c) {
    return c->clock == CLI_CLOCK_CPU || (c->clock == CLI_CLOCK_AUTO && bench_threads(c) == 1);
}

int cli_bench(struct cli_config *c) {
    const char *tiers[sizeof names / sizeof *names];
    struct cli_files files = {0};
    struct cli_buf text = {0};
    size_t n_tiers, i, k;
    int is_child = 0, rc = choose_tiers(c, tiers, &n_tiers);

    if (rc == 0) rc = cli_files_list(c, &files);
    for (i = 0; i < files.n && rc == 0 && !is_child; i++) {
        rc = read_text(c, &files.items[i], &text);
        for (k = 0; k < n_tiers && rc == 0 && !is_child; k++) {
            struct bench b;

            memset(&b, 0, sizeof b);
            b.config = c;
            b.file = &files.items[i];
            b.tier = tiers[k];
            b.simd = simd_of(tiers[k]);
            b.text = text.p;
            b.n_text = text.n;
            b.n_threads = bench_threads(c);
            b.by_cpu = by_cpu(c);
            b.parent = getpid();
            rc = measure_apart(&b, &is_child);
        }
    }
    cli_buf_free(&text);
    cli_files_free(&files);
    return rc;
}
