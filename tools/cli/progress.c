/* SPDX-License-Identifier: MIT */
/* Progress on standard error. */
#include "record.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* auto is plain where somebody watches and the output goes elsewhere, else nothing. */
static int kind_of(const struct cli_config *c) {
    if (c->progress == CLI_PROGRESS_AUTO)
        return !c->is_quiet && isatty(STDERR_FILENO) && !cli_out_is_terminal() ? CLI_PROGRESS_PLAIN
                                                                               : CLI_PROGRESS_OFF;
    return c->progress;
}

static void print(const struct cli_run *run, int kind, double seconds) {
    unsigned long long bytes = run->n_bytes, records = run->n_records, tokens = run->n_tokens;

    if (kind == CLI_PROGRESS_JSON)
        (void)fprintf(stderr, "{\"records\":%llu,\"bytes\":%llu,\"tokens\":%llu,\"seconds\":%.3f}\n", records,
                      bytes, tokens, seconds);
    else
        (void)fprintf(stderr, "dstok: %llu records, %.1f MB, %llu tokens, %.1f s, %.1f MB/s\n", records,
                      (double)bytes / 1e6, tokens, seconds,
                      seconds > 0 ? (double)bytes / 1e6 / seconds : 0.0);
}

void cli_progress(const struct cli_run *run, int final) {
    static double begin, last; /* one run a program */
    static uint64_t told;      /* records of the last line */
    int kind = kind_of(run->config);
    double t;

    if (kind == CLI_PROGRESS_OFF) return;
    t = now();
    if (begin <= 0) begin = last = t;
    if (final && told > 0 && told == run->n_records) return; /* the line stands there already */
    if (final ? run->config->progress != CLI_PROGRESS_AUTO || t - begin >= 1 : t - last >= 1) {
        print(run, kind, t - begin);
        last = t;
        told = run->n_records;
    }
}
