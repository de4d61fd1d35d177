/* SPDX-License-Identifier: MIT */
/* dstok count: tokens, bytes and characters of each input. */
#include "record.h"

#include <dstok/align.h>

#include <string.h>

struct sums {
    uint64_t tokens, bytes, chars, records;
};

struct counting {
    struct sums here, total;
    size_t next; /* first input whose line is not printed */
};

static void work(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec) {
    const char *text;
    size_t n;

    (void)cli_encode_record(run, enc, rec, 1, NULL, &text, &n);
}

static int print_sums(const struct cli_run *run, const struct sums *s, const char *name) {
    struct cli_buf line = {0};
    unsigned long long tokens = s->tokens, bytes = s->bytes, chars = s->chars, records = s->records;
    int rc;

    if (run->config->json) {
        cli_buf_printf(&line, "{\"tokens\":%llu,\"bytes\":%llu,\"chars\":%llu,\"records\":%llu,", tokens,
                       bytes, chars, records);
        cli_buf_text(&line, name ? "\"file\":" : "\"total\":true");
        if (name) cli_json_text(&line, name);
        cli_buf_text(&line, "}\n");
    } else {
        cli_buf_printf(&line, "%llu\t%llu\t%llu\t", tokens, bytes, chars);
        cli_buf_name(&line, name ? name : "total");
        cli_buf_char(&line, '\n');
    }
    rc = cli_out_buf(&line);
    cli_buf_free(&line);
    return rc;
}

/* Print the lines of all inputs before `end`: they are complete. */
static int print_until(const struct cli_run *run, size_t end) {
    struct counting *k = run->context;
    int rc = 0;

    for (; k->next < end && rc == 0; k->next++) {
        rc = print_sums(run, &k->here, run->files.items[k->next].name);
        memset(&k->here, 0, sizeof k->here);
    }
    return rc;
}

static void add(struct sums *s, const struct cli_record *rec) {
    s->tokens += rec->n_tokens;
    s->bytes += rec->n_bytes;
    s->chars += rec->n_chars;
    s->records++;
}

static int commit(struct cli_run *run, struct cli_record *rec) {
    struct counting *k = run->context;
    int rc = print_until(run, rec->input);

    if (rc == 0) rc = cli_record_report(run, rec);
    if (rec->state == CLI_RECORD_BAD || rec->is_dropped) return rc;
    add(&k->here, rec);
    add(&k->total, rec);
    cli_notes_add(run, rec);
    return rc;
}

int cli_count(struct cli_config *c) {
    struct counting k;
    struct cli_run run;
    int rc;

    memset(&k, 0, sizeof k);
    memset(&run, 0, sizeof run);
    run.work = work;
    run.commit = commit;
    run.context = &k;
    rc = cli_run_texts(c, &run);
    if (rc == 0 || rc == CLI_SKIPPED) {
        int printing = print_until(&run, run.files.n);

        if (printing == 0 && run.files.n > 1) printing = print_sums(&run, &k.total, NULL);
        rc = printing ? printing : rc;
    }
    cli_files_free(&run.files);
    return rc;
}
