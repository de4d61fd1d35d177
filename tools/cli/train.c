/* SPDX-License-Identifier: MIT */
/* dstok train: a vocabulary from texts and word lists. */
#include "record.h"

#include <dstok/trainer.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct training {
    struct cli_config *config;
    dstok_trainer *trainer;
    const char **specials;
    char *special_text; /* the list, cut at its commas */
    size_t n_specials;
    uint64_t n_bad, n_records; /* of the groups that were fed */
    time_t last_told;
};

static void split_specials(struct training *t, const char *list) {
    char *p = t->special_text = cli_copy_text(list);

    for (;;) {
        size_t n = strcspn(p, ",");
        int is_last = p[n] == '\0';

        p[n] = '\0';
        t->specials = cli_realloc(t->specials, (t->n_specials + 1) * sizeof *t->specials);
        t->specials[t->n_specials++] = p;
        if (is_last) return;
        p += n + 1;
    }
}

/* Merges so far, once a second. */
static int tell_progress(void *context, uint64_t done, uint64_t wanted) {
    struct training *t = context;
    const struct cli_config *c = t->config;
    int watched = c->progress != CLI_PROGRESS_AUTO || (isatty(STDERR_FILENO) && !c->is_quiet);
    time_t now = time(NULL);

    if (c->progress == CLI_PROGRESS_OFF || !watched || (now == t->last_told && done < wanted)) return 0;
    t->last_told = now;
    (void)fprintf(stderr,
                  c->progress == CLI_PROGRESS_JSON ? "{\"merges\":%llu,\"wanted\":%llu}\n"
                                                   : "dstok: %llu of %llu merges\n",
                  (unsigned long long)done, (unsigned long long)wanted);
    return 0;
}

static int failed(const char *what, const dstok_error *err, dstok_status status) {
    cli_error("%s%s%s", what, what[0] ? ": " : "", err->text[0] ? err->text : dstok_status_name(status));
    return status == DSTOK_E_INVAL || status == DSTOK_E_FORMAT || status == DSTOK_E_UNSUPPORTED ? CLI_USAGE
                                                                                                : CLI_FAIL;
}

static int bad_pattern(const char *pattern, const dstok_error *err) {
    cli_error("--pattern %.60s: %s", pattern ? pattern : "", err->text);
    return CLI_USAGE;
}

static int start(struct training *t) {
    dstok_train_options options = DSTOK_TRAIN_OPTIONS_INIT;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    const struct cli_config *c = t->config;
    dstok_status status;

    if (c->special) split_specials(t, c->special);
    options.vocab_size = (uint32_t)c->vocab_size;
    options.min_frequency = c->min_frequency;
    options.pattern = c->pattern;
    options.specials = t->specials;
    options.n_specials = t->n_specials;
    options.max_token_length = (size_t)c->max_token_length;
    options.order = c->order;
    options.progress = tell_progress;
    options.progress_ctx = t;
    status = dstok_trainer_new(&options, &t->trainer, &err);
    if (status == DSTOK_OK) return 0;
    if (strncmp(err.text, "special", 7) != 0 && strstr(err.text, "the pattern") != NULL)
        return bad_pattern(c->pattern, &err);
    return failed("", &err, status);
}

/* round(count x weight), halves away from zero. Returns -1 when the product does not fit. */
static int scale(uint64_t count, const struct cli_input *in, uint64_t *out) {
    uint64_t whole = count / in->weight_unit, rest = count % in->weight_unit;

    /* rest < 10^9 and weight < 10^9, so their product fits */
    if (whole > UINT64_MAX / in->weight - 2) return -1;
    *out = whole * in->weight + (2 * rest * in->weight + in->weight_unit) / (2 * in->weight_unit);
    return 0;
}

/* A line `pretoken TAB count`; the last tab counts, so that a pretoken may hold one. */
static void feed_line(struct training *t, struct cli_record *rec, const struct cli_input *in) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    const char *p = rec->raw.p, *why;
    size_t n = rec->raw.n, tab;
    uint64_t count = 0;
    dstok_status status;

    if (n > 0 && p[n - 1] == '\r') n--;
    for (tab = n; tab > 0 && p[tab - 1] != '\t'; tab--)
        ;
    if (tab < 2) {
        cli_record_bad(rec, "a line `pretoken TAB count` is wanted");
        return;
    }
    why = cli_number(p + tab, n - tab, &count);
    if (why == NULL && scale(count, in, &count)) why = "is too large";
    if (why != NULL) cli_record_bad(rec, "a line `pretoken TAB count` is wanted: the count %s", why);
    if (why != NULL || count == 0) return;
    status = dstok_trainer_feed_word(t->trainer, p, tab - 1, count, &err);
    if (status != DSTOK_OK) cli_record_bad(rec, "%s", err.text[0] ? err.text : dstok_status_name(status));
}

/* --invalid replace: the text with U+FFFD for each maximal ill-formed part, counted in the record's report. */
static void replace_invalid(struct cli_record *rec, const char *text, size_t n, struct cli_buf *out) {
    dstok_report *r = &rec->report;
    size_t i, k;
    uint32_t code;
    int ok;

    for (i = 0; i < n; i += k) {
        k = cli_utf8_next((const unsigned char *)text + i, n - i, &ok, &code);
        if (ok)
            cli_buf_add(out, text + i, k);
        else
            cli_buf_text(out, "\uFFFD");
        if (!ok && r->n_invalid++ == 0) r->first_invalid = i;
    }
}

static void feed_text(const struct cli_run *run, struct training *t, struct cli_record *rec,
                      const struct cli_input *in) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    struct cli_buf mended = {0};
    const char *text;
    dstok_status status;
    size_t n;

    if (cli_record_text(run, rec, &text, &n) || n == 0) return;
    status = dstok_trainer_feed(t->trainer, text, n, in->weight, &err);
    if (status == DSTOK_E_UTF8 && t->config->invalid == DSTOK_INVALID_REPLACE) {
        replace_invalid(rec, text, n, &mended);
        status = dstok_trainer_feed(t->trainer, mended.p, mended.n, in->weight, &err);
        cli_buf_free(&mended);
    }
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status != DSTOK_OK) cli_record_failed(run, rec, &err, status);
}

/* Everything happens in order, in commit. */
static void work(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec) {
    (void)run;
    (void)enc;
    (void)rec;
}

static int commit(struct cli_run *run, struct cli_record *rec) {
    struct training *t = run->context;
    const struct cli_input *in = &run->files.items[rec->input];

    if (run->by_lines)
        feed_line(t, rec, in);
    else
        feed_text(run, t, rec, in);
    if (rec->state == CLI_RECORD_OK) cli_notes_add(run, rec);
    return cli_record_report(run, rec);
}

/* Word lists are always lines; texts are what --input-format says. So inputs run in two groups, whose
 * order does not matter: only counts are kept. */
static int feed_group(struct training *t, const struct cli_files *all, int words, FILE *reject) {
    struct cli_run run;
    size_t i;
    int rc;

    memset(&run, 0, sizeof run);
    run.config = t->config;
    run.by_lines = words;
    run.work = work;
    run.commit = commit;
    run.context = t;
    run.reject = reject;
    run.n_bad = t->n_bad;
    run.n_records = t->n_records;
    run.files.items = cli_alloc((all->n + 1) * sizeof *run.files.items);
    for (i = 0; i < all->n; i++)
        if (all->items[i].is_words == words) run.files.items[run.files.n++] = all->items[i];
    rc = run.files.n > 0 ? cli_run_records(&run) : 0;
    free(run.files.items);
    t->n_bad = run.n_bad;
    t->n_records = run.n_records;
    return rc;
}

/* All inputs. The notes and the log of bad records are those of both groups. */
static int feed_all(struct training *t, const struct cli_files *files) {
    struct cli_run both;
    int rc, closing;

    memset(&both, 0, sizeof both);
    both.config = t->config;
    rc = cli_reject_open(&both);
    if (rc) return rc;
    rc = feed_group(t, files, 0, both.reject);
    if (rc == 0) rc = feed_group(t, files, 1, both.reject);
    closing = cli_reject_close(&both);
    both.n_bad = t->n_bad;
    both.n_records = t->n_records;
    cli_notes_print(&both);
    return rc ? rc : closing;
}

static void tell_result(const struct training *t) {
    dstok_train_result r = DSTOK_TRAIN_RESULT_INIT;
    struct cli_buf last = {0};

    (void)dstok_trainer_result(t->trainer, &r);
    if (r.n_merges > 0) cli_buf_printf(&last, ", the last of count %llu", (unsigned long long)r.last_count);
    cli_note("%llu pretokens (%llu distinct), %llu ids, %llu merges%s; %s", (unsigned long long)r.n_pretokens,
             (unsigned long long)r.n_words, (unsigned long long)r.n_ids, (unsigned long long)r.n_merges,
             cli_buf_string(&last), r.full ? "full" : "not full: no pair is left that is frequent enough");
    cli_buf_free(&last);
}

static int write_result(struct training *t) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    struct cli_buf json = {0};
    size_t n = 0;
    dstok_status status = dstok_trainer_json(t->trainer, NULL, 0, &n, &err);
    int rc;

    if (status == DSTOK_E_SPACE) {
        cli_buf_reserve(&json, n);
        status = dstok_trainer_json(t->trainer, json.p, json.cap, &json.n, &err);
    }
    if (status != DSTOK_OK)
        rc = failed(t->config->output, &err, status);
    else if (strcmp(t->config->output, "-") == 0)
        rc = cli_out_buf(&json) || cli_out_flush() ? CLI_FAIL : 0;
    else
        rc = cli_write_file(t->config->output, json.p, json.n);
    cli_buf_free(&json);
    return rc;
}

/* A vocabulary of nothing would look like a success. */
static int check_counts(const struct training *t) {
    dstok_train_result r = DSTOK_TRAIN_RESULT_INIT;

    (void)dstok_trainer_result(t->trainer, &r);
    if (r.n_pretokens > 0) return 0;
    cli_error("the inputs hold no text to learn from (%llu records, %llu of them bad); nothing is written",
              (unsigned long long)t->n_records, (unsigned long long)t->n_bad);
    return CLI_FAIL;
}

static int learn(struct training *t, const struct cli_files *files) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    int rc = feed_all(t, files);
    dstok_status status;

    if (rc == 0) rc = check_counts(t);
    if (rc) return rc;
    status = dstok_trainer_run(t->trainer, &err);
    if (status != DSTOK_OK) return failed("", &err, status);
    rc = write_result(t);
    if (rc == 0) tell_result(t);
    return rc == 0 && t->n_bad > 0 ? CLI_SKIPPED : rc;
}

static int check(const struct cli_config *c) {
    size_t i;

    if (c->vocab_size == 0) return cli_usage(c->verb, "--vocab-size N is missing");
    if (c->vocab_size > UINT32_MAX) return cli_usage(c->verb, "--vocab-size: at most 4294967295");
    if (c->output == NULL) return cli_usage(c->verb, "-o FILE is missing");
    for (i = 0; i < c->n_inputs; i++)
        if (!c->inputs[i].is_words && c->inputs[i].weight_unit != 1)
            return cli_usage(c->verb, "%s: weights of texts are whole numbers; fractions are for --words",
                             c->inputs[i].name);
    return 0;
}

int cli_train(struct cli_config *c) {
    struct training t;
    struct cli_files files;
    int rc = check(c);

    if (rc == 0) rc = cli_files_list(c, &files);
    if (rc) return rc;
    memset(&t, 0, sizeof t);
    t.config = c;
    c->threads = 1; /* the trainer has one owner, and reading alone is not worth helpers */
    rc = cli_files_protect(&files, "-o", c->output);
    if (rc == 0) rc = cli_files_protect(&files, "--reject", c->reject);
    if (rc == 0 && strcmp(c->output, "-") != 0) rc = cli_check_output(c->output); /* before hours of work */
    if (rc == 0) rc = start(&t);
    if (rc == 0) rc = learn(&t, &files);
    dstok_trainer_free(t.trainer);
    free(t.specials);
    free(t.special_text);
    cli_files_free(&files);
    return rc;
}
