/* SPDX-License-Identifier: MIT */
/* dstok inspect --fertility: bytes per token of files. */
#include "inspect.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

/* Tokens and bytes of every input (rows) under every vocabulary (columns). */
struct fertility {
    struct cli_config *config;
    uint64_t *tokens, *bytes;
    size_t n_files, column;
};

static void work(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec) {
    const char *text;
    size_t n;

    (void)cli_encode_record(run, enc, rec, 1, NULL, &text, &n);
}

static int commit(struct cli_run *run, struct cli_record *rec) {
    struct fertility *f = run->context;
    int rc = cli_record_report(run, rec);

    if (rc == 0) {
        f->tokens[f->column * f->n_files + rec->input] += rec->n_tokens;
        f->bytes[rec->input] = rec->n_bytes;
    }
    return rc;
}

/* Count all inputs under one vocabulary. */
static int count_column(struct fertility *f, struct cli_run *run, const char *name) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokenizer *tok = NULL;
    int rc = cli_vocab_load(f->config, name, &tok);

    if (rc == 0) {
        run->tok = tok;
        run->encode = &options;
        rc = cli_run_records(run);
    }
    dstok_tokenizer_free(tok);
    return rc;
}

static const char *vocab_name(const struct cli_config *c, size_t i) {
    return c->n_vocabs ? c->vocabs[i] : "default";
}

/* Bytes per token, or what says that there are no tokens. */
static void put_ratio(struct cli_buf *out, const struct fertility *f, size_t file, size_t column,
                      const char *none) {
    uint64_t tokens = f->tokens[column * f->n_files + file];

    if (tokens > 0)
        cli_buf_printf(out, f->config->json ? "%.4f" : "%7.3f", (double)f->bytes[file] / (double)tokens);
    else
        cli_buf_text(out, none);
}

static void print_json(const struct fertility *f, const struct cli_run *run, size_t n_vocabs,
                       struct cli_buf *out) {
    size_t i, k;

    for (i = 0; i < f->n_files; i++)
        for (k = 0; k < n_vocabs; k++) {
            cli_buf_text(out, "{\"file\":");
            cli_json_text(out, run->files.items[i].name);
            cli_buf_text(out, ",\"vocabulary\":");
            cli_json_text(out, vocab_name(f->config, k));
            cli_buf_printf(
                out, ",\"bytes\":%llu,\"tokens\":%llu,\"bytes_per_token\":", (unsigned long long)f->bytes[i],
                (unsigned long long)f->tokens[k * f->n_files + i]);
            put_ratio(out, f, i, k, "null");
            cli_buf_text(out, "}\n");
        }
}

/* Bytes per token in columns numbered like the list of vocabularies above them. */
static void print_table(const struct fertility *f, const struct cli_run *run, size_t n_vocabs,
                        struct cli_buf *out) {
    size_t i, k;

    for (k = 0; k < n_vocabs; k++) {
        cli_buf_printf(out, "[%zu] ", k + 1);
        cli_buf_name(out, vocab_name(f->config, k));
        cli_buf_char(out, '\n');
    }
    cli_buf_text(out, "bytes per token\n");
    for (k = 0; k < n_vocabs; k++) cli_buf_printf(out, "   [%zu] ", k + 1);
    cli_buf_text(out, " file\n");
    for (i = 0; i < f->n_files; i++) {
        for (k = 0; k < n_vocabs; k++) {
            put_ratio(out, f, i, k, "      -");
            cli_buf_char(out, ' ');
        }
        cli_buf_char(out, ' ');
        cli_buf_name(out, run->files.items[i].name);
        cli_buf_char(out, '\n');
    }
}

int cli_show_fertility(struct cli_config *c) {
    size_t n_vocabs = c->n_vocabs ? c->n_vocabs : 1;
    struct cli_buf out = {0};
    struct fertility f;
    struct cli_run run;
    int rc;

    memset(&f, 0, sizeof f);
    memset(&run, 0, sizeof run);
    rc = cli_files_list(c, &run.files);
    if (rc) return rc;
    f.config = c;
    f.n_files = run.files.n;
    f.tokens = calloc(f.n_files * n_vocabs + 1, sizeof *f.tokens);
    f.bytes = calloc(f.n_files + 1, sizeof *f.bytes);
    if (f.tokens == NULL || f.bytes == NULL) cli_no_memory();
    run.config = c;
    run.work = work;
    run.commit = commit;
    run.context = &f;
    for (f.column = 0; f.column < n_vocabs && rc == 0; f.column++)
        rc = count_column(&f, &run, c->n_vocabs ? c->vocabs[f.column] : NULL);
    if (rc == 0) {
        (c->json ? print_json : print_table)(&f, &run, n_vocabs, &out);
        rc = cli_out_buf(&out);
    }
    cli_buf_free(&out);
    free(f.tokens);
    free(f.bytes);
    cli_files_free(&run.files);
    return rc;
}
