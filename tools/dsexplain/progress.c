/* SPDX-License-Identifier: MIT */
/* Progress on standard error. */
#include "dsexplain.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void ex_progress_start(struct ex_progress *p, const struct ex_config *c) {
    p->config = c;
    p->begin = p->last = now();
}

/* auto is plain where somebody watches and the output goes elsewhere, else nothing. */
static int kind_of(const struct ex_config *c) {
    if (c->progress == EX_PROGRESS_AUTO)
        return !c->is_quiet && isatty(STDERR_FILENO) && !cli_out_is_terminal() ? EX_PROGRESS_PLAIN
                                                                               : EX_PROGRESS_OFF;
    return c->progress;
}

void ex_progress_tell(struct ex_progress *p, const char *what, uint64_t n, int final) {
    int kind = kind_of(p->config);
    double t = now(), seconds = t - p->begin, rate = seconds > 0 ? (double)n / seconds : 0;

    if (kind == EX_PROGRESS_OFF || (!final && t - p->last < 1)) return;
    p->last = t;
    if (kind == EX_PROGRESS_JSON)
        (void)fprintf(stderr, "{\"what\":\"%s\",\"tokens\":%llu,\"seconds\":%.3f}\n", what,
                      (unsigned long long)n, seconds);
    else
        (void)fprintf(stderr, "%s: %llu tokens %s, %.1f s, %.1f tokens/s\n", cli_program_name,
                      (unsigned long long)n, what, seconds, rate);
}

void ex_progress_text(const struct ex_progress *p, const struct ex_text *text) {
    int kind = kind_of(p->config);
    double encoded, waited;

    if (kind == EX_PROGRESS_OFF) return;
    ex_text_times(text, &encoded, &waited);
    if (kind == EX_PROGRESS_JSON)
        (void)fprintf(stderr, "{\"what\":\"encoded\",\"seconds\":%.4f,\"waited\":%.4f}\n", encoded, waited);
    else
        (void)fprintf(stderr, "%s: encoding took %.4f s beside the model, which waited %.4f s for tokens\n",
                      cli_program_name, encoded, waited);
}

void ex_progress_runs(struct ex_progress *p, uint64_t n, uint64_t of) {
    int kind = kind_of(p->config);
    double t = now();

    if (kind == EX_PROGRESS_OFF || of == 0 || (n < of && t - p->last < 1)) return;
    p->last = t;
    if (kind == EX_PROGRESS_JSON)
        (void)fprintf(stderr, "{\"what\":\"measured\",\"runs\":%llu,\"of\":%llu,\"seconds\":%.3f}\n",
                      (unsigned long long)n, (unsigned long long)of, t - p->begin);
    else
        (void)fprintf(stderr, "%s: %llu of %llu readings, %.1f s\n", cli_program_name, (unsigned long long)n,
                      (unsigned long long)of, t - p->begin);
}

void ex_progress_share(struct ex_progress *p, const char *what, uint64_t done, uint64_t all) {
    int kind = kind_of(p->config);
    double t = now(), seconds = t - p->begin,
           left = done > 0 ? seconds * (double)(all - done) / (double)done : 0;

    if (kind == EX_PROGRESS_OFF || done > all || (done < all && t - p->last < 1)) return;
    p->last = t;
    if (kind == EX_PROGRESS_JSON)
        (void)fprintf(stderr, "{\"what\":\"%s\",\"steps\":%llu,\"of\":%llu,\"seconds\":%.3f,\"left\":%.3f}\n",
                      what, (unsigned long long)done, (unsigned long long)all, seconds, left);
    else
        (void)fprintf(stderr, "%s: %s: %.0f %%, %.1f s, %.1f s left\n", cli_program_name, what,
                      100 * (double)done / (double)all, seconds, left);
}
