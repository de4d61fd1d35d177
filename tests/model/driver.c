/* SPDX-License-Identifier: MIT */
/* What a model says of a file of ids, on the public interface of libdsx alone: for tests/model.
 *
 *     driver MODEL IDS [float64] [chunk=N] [threads=N] [simd=N] [mla=N] [part=N] [top=K] [disturb] [again]
 *
 * Prints a log-probability for each id ("nan" for the first), then K lines "top ID LOGPROB" of the next token.
 *  part     ids of one call
 *  disturb  between calls forks are made, led astray and dropped, and the session itself goes astray and back
 *  again    then a session reads the same but for the first id, and one more is fed all ids but the last: it may
 *           take over pages of the first session, not of the second. "again LOGPROB" of the last id, and K lines */
#include <dsx/dsx.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    dsx_model_options model;
    dsx_session_options session;
    size_t part, top;
    int disturb, again;
    uint32_t *ids;
    size_t n;
    uint32_t n_vocab;
} job;

static dstok_error err;

static void check(dstok_status status, const char *what) {
    if (status == DSTOK_OK) return;
    fprintf(stderr, "driver: %s: %s: %s\n", what, dstok_status_name(status), err.text);
    exit(1);
}

static void *need(size_t n) {
    void *p = malloc(n > 0 ? n : 1);

    if (p == NULL) exit(1);
    return p;
}

static void read_ids(const char *path, job *j) {
    FILE *f = fopen(path, "r");
    size_t cap = 0;
    unsigned id;

    if (f == NULL) {
        perror(path);
        exit(1);
    }
    while (fscanf(f, "%u", &id) == 1) {
        if (j->n == cap) j->ids = realloc(j->ids, (cap = 2 * cap + 64) * sizeof *j->ids);
        if (j->ids == NULL) exit(1);
        j->ids[j->n++] = id;
    }
    fclose(f);
}

/* Other tokens behind the text so far, in a fork and in the session itself. */
static void disturb(const job *j, dsx_session *s) {
    uint32_t other[70];
    uint64_t length = dsx_session_length(s);
    dsx_session *fork, *forks_fork;

    for (size_t i = 0; i < 70; i++) other[i] = (uint32_t)(i * 7 + length) % j->n_vocab;
    check(dsx_session_fork(s, &fork, &err), "fork");
    check(dsx_session_feed(fork, other, 70, &err), "feed");
    check(dsx_session_fork(fork, &forks_fork, &err), "fork");
    check(dsx_session_feed(forks_fork, other, 3, &err), "feed");
    dsx_session_free(fork);
    check(dsx_session_feed(s, other + 3, 67, &err), "feed");
    dsx_session_free(forks_fork);
    if (length == 0) {
        check(dsx_session_truncate(s, 0, &err), "truncate");
        return;
    }
    check(dsx_session_truncate(s, length - 1, &err), "truncate");
    check(dsx_session_feed(s, j->ids + length - 1, 1, &err), "feed");
}

static int by_logit(const void *a, const void *b) {
    const double *const *x = a, *const *y = b;

    return **x < **y ? 1 : **x > **y ? -1 : *x < *y ? -1 : 1;
}

static void print_top(const job *j, dsx_session *s) {
    double *logits = need(j->n_vocab * sizeof *logits), **order = need(j->n_vocab * sizeof *order), sum = 0;

    check(dsx_session_logits(s, logits, j->n_vocab, &err), "logits");
    for (uint32_t i = 0; i < j->n_vocab; i++) order[i] = logits + i;
    qsort(order, j->n_vocab, sizeof *order, by_logit);
    for (uint32_t i = 0; i < j->n_vocab; i++) sum += exp(logits[i] - *order[0]);
    for (size_t k = 0; k < j->top && k < j->n_vocab; k++) {
        uint32_t id = (uint32_t)(order[k] - logits);
        double next, value = *order[k] - *order[0] - log(sum);

        check(dsx_session_next(s, &id, 1, &next, &err), "next");
        if (!(fabs(next - value) < 1e-5)) {
            fprintf(stderr, "driver: logits and next disagree: %.17g and %.17g\n", value, next);
            exit(1);
        }
        printf("top %u %.17g\n", (unsigned)id, next);
    }
    free(order);
    free(logits);
}

static void run(const job *j, dsx_model *model) {
    double *logprobs = need(j->n * sizeof *logprobs);
    dsx_session *s;

    check(dsx_session_new(model, &j->session, &s, &err), "session");
    for (size_t i = 0; i < j->n; i += j->part) {
        size_t n = j->n - i < j->part ? j->n - i : j->part;

        if (j->disturb) disturb(j, s);
        check(dsx_session_score(s, j->ids + i, n, logprobs + i, &err), "score");
    }
    for (size_t i = 0; i < j->n; i++) printf("%.17g\n", logprobs[i]);
    print_top(j, s);
    dsx_session_free(s);
    free(logprobs);
}

/* A text with another first id, whose pages must not be taken for those of the text. */
static void read_other(const job *j, dsx_model *model) {
    double *logprobs = need(j->n * sizeof *logprobs);
    dsx_session *s;

    check(dsx_session_new(model, &j->session, &s, &err), "session");
    j->ids[0] ^= 1;
    check(dsx_session_score(s, j->ids, j->n, logprobs, &err), "score");
    j->ids[0] ^= 1;
    dsx_session_free(s);
    free(logprobs);
}

static void run_again(const job *j, dsx_model *model) {
    dsx_session *s;
    double last;

    check(dsx_session_new(model, &j->session, &s, &err), "session");
    check(dsx_session_feed(s, j->ids, j->n - 1, &err), "feed");
    check(dsx_session_score(s, j->ids + j->n - 1, 1, &last, &err), "score");
    printf("again %.17g\n", last);
    print_top(j, s);
    dsx_session_free(s);
}

static int option(job *j, const char *text) {
    const char *equals = strchr(text, '=');
    size_t n = equals != NULL ? strtoul(equals + 1, NULL, 10) : 0;

    if (strcmp(text, "float64") == 0)
        j->model.backend = dsx_backend_float64();
    else if (strcmp(text, "disturb") == 0)
        j->disturb = 1;
    else if (strcmp(text, "again") == 0)
        j->again = 1;
    else if (strncmp(text, "chunk=", 6) == 0)
        j->session.chunk = n;
    else if (strncmp(text, "threads=", 8) == 0)
        j->model.n_threads = n;
    else if (strncmp(text, "simd=", 5) == 0)
        j->model.simd = (int)n;
    else if (strncmp(text, "mla=", 4) == 0)
        j->model.mla = (int)n;
    else if (strncmp(text, "part=", 5) == 0)
        j->part = n;
    else if (strncmp(text, "top=", 4) == 0)
        j->top = n;
    else
        return 0;
    return 1;
}

int main(int argc, char **argv) {
    job j = {.model = DSX_MODEL_OPTIONS_INIT, .session = DSX_SESSION_OPTIONS_INIT, .part = SIZE_MAX};
    dsx_model_info info = DSX_MODEL_INFO_INIT;
    dsx_model *model;

    for (int i = 3; i < argc; i++)
        if (!option(&j, argv[i])) argc = 0;
    if (argc < 3 || j.part == 0) {
        fprintf(stderr, "usage: driver MODEL IDS [OPTION...]\n");
        return 2;
    }
    read_ids(argv[2], &j);
    check(dsx_model_open(argv[1], &j.model, &model, &err), argv[1]);
    check(dsx_model_describe(model, &info), "describe");
    j.n_vocab = info.n_vocab;
    j.session.max_tokens = j.n + 80;
    run(&j, model);
    if (j.again) {
        read_other(&j, model);
        run_again(&j, model);
    }
    dsx_model_free(model);
    free(j.ids);
    return 0;
}
