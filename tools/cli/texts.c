/* SPDX-License-Identifier: MIT */
/* What encode and count share: one record through the encoder, and the notes about a run. */
#include "record.h"

#include <dstok/align.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Things worth a word at the end of a run: how often, and where first. */
struct note {
    uint64_t n;
    struct cli_buf first;
};

static struct {
    struct note unknown, dropped, invalid, special;
    int dropped_unknown; /* the first record with dropped bytes had characters without a token */
} notes;

/* All threads on one document, which errors need not number. */
static dstok_status call_pool(const char *text, size_t n, const dstok_encode_options *options, int only_count,
                              struct cli_record *rec, dstok_tokens *tokens, dstok_error *err) {
    static const char prefix[] = "document 0: ";
    dstok_doc doc = {text, n};
    dstok_batch batch = DSTOK_BATCH_INIT;
    dstok_status status = only_count ? dstok_pool_count(rec->pool, &doc, 1, options, NULL, &batch.n, err)
                                     : dstok_pool_encode(rec->pool, &doc, 1, options, &batch, err);

    if (status == DSTOK_OK && !only_count) {
        dstok_tokens got = {batch.ids, batch.spans, batch.flags, (size_t)batch.n};

        *tokens = got;
    }
    if (status == DSTOK_OK) rec->report = *dstok_pool_report(rec->pool, 0);
    if (status != DSTOK_OK && strncmp(err->text, prefix, sizeof prefix - 1) == 0)
        memmove(err->text, err->text + sizeof prefix - 1, strlen(err->text) - (sizeof prefix - 1) + 1);
    rec->n_tokens = batch.n;
    return status;
}

static dstok_status call(dstok_encoder *enc, const char *text, size_t n, const dstok_encode_options *options,
                         int only_count, struct cli_record *rec, dstok_tokens *tokens, dstok_error *err) {
    dstok_status status;
    size_t count = 0;

    if (rec->pool != NULL) return call_pool(text, n, options, only_count, rec, tokens, err);
    if (only_count) {
        status = dstok_count(enc, text, n, options, &count, err);
    } else {
        status = dstok_encode_view(enc, text, n, options, tokens, err);
        count = status == DSTOK_OK ? tokens->n : 0;
    }
    rec->n_tokens = count;
    rec->report = *dstok_encode_report(enc);
    return status;
}

/* The option that changes the outcome. */
static const char *option_for(const struct cli_run *run, dstok_status status) {
    switch (status) {
    case DSTOK_E_UTF8: /* under --on-error replace it is done, and inspect has no --invalid */
        return run->config->on_error == CLI_ERROR_REPLACE || run->config->verb_bit == CLI_INSPECT ? ""
               : run->config->verb_bit == CLI_TRAIN ? "; --invalid replace makes it U+FFFD"
                                                    : "; --invalid replace or raw encodes it";
    case DSTOK_E_SPECIAL:
        return " (--special)";
    case DSTOK_E_UNKNOWN:
        return " (--strict)";
    default:
        return "";
    }
}

void cli_record_failed(const struct cli_run *run, struct cli_record *rec, const dstok_error *err,
                       dstok_status status) {
    const char *text = err->text[0] ? err->text : dstok_status_name(status);
    size_t n = status == DSTOK_E_UTF8 ? strcspn(text, ";")
                                      : strlen(text); /* the library's advice names no options */

    cli_record_bad(rec, "%.*s%s", (int)n, text, option_for(run, status));
    rec->has_fault = rec->fault_in_text = err->offset != DSTOK_NO_OFFSET;
    rec->fault = err->offset;
}

/* The first byte that no token covers: exact spans tile the text but for those. */
static uint64_t first_gap(const dstok_tokens *t, size_t n) {
    uint64_t at = 0;
    size_t i;

    for (i = 0; i < t->n; i++) {
        if (t->spans[i].begin > at) return at;
        if (t->spans[i].end > at) at = t->spans[i].end;
    }
    return at < n ? at : DSTOK_NO_OFFSET;
}

int cli_encode_record(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec, int only_count,
                      dstok_tokens *tokens, const char **text, size_t *n) {
    dstok_encode_options options = *run->encode;
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dstok_status status;

    if (cli_record_text(run, rec, text, n)) return -1;
    if (*n == 0 && run->config->drop_empty) {
        rec->is_dropped = 1;
        return -1;
    }
    status = call(enc, *text, *n, &options, only_count, rec, tokens, &err);
    if (status == DSTOK_E_NOMEM) cli_no_memory();
    if (status != DSTOK_OK) cli_record_failed(run, rec, &err, status);
    if (status == DSTOK_E_UTF8 && run->config->on_error == CLI_ERROR_REPLACE) {
        options.invalid = DSTOK_INVALID_REPLACE;
        status = call(enc, *text, *n, &options, only_count, rec, tokens, &err);
        if (status == DSTOK_OK) {
            cli_buf_text(&rec->why, "; bad bytes became U+FFFD");
            rec->state = CLI_RECORD_MENDED;
        } else {
            cli_record_failed(run, rec, &err, status);
        }
    }
    rec->first_dropped = DSTOK_NO_OFFSET;
    if (status == DSTOK_OK && rec->report.n_dropped > 0 && !only_count && tokens->spans != NULL)
        rec->first_dropped = first_gap(tokens, *n);
    rec->n_bytes = *n;
    if (only_count) rec->n_chars = dstok_text_length(*text, *n, DSTOK_UNIT_CHAR);
    return status == DSTOK_OK ? 0 : -1;
}

static void add_note(struct note *note, const struct cli_run *run, const struct cli_record *rec, uint64_t n,
                     uint64_t offset) {
    if (n == 0) return;
    if (note->n == 0 && offset != DSTOK_NO_OFFSET) cli_record_place(run, rec, offset, &note->first);
    note->n += n;
}

/* Without spans: the first record with dropped bytes is encoded again, to tell the place. */
static uint64_t find_dropped(const struct cli_run *run, const struct cli_record *rec) {
    const char *text;
    size_t n;
    dstok_encode_options options = *run->encode;
    dstok_encoder *enc = NULL;
    dstok_tokens t;
    uint64_t place = DSTOK_NO_OFFSET;

    cli_record_text_again(rec, &text, &n);
    if (dstok_encoder_new(run->tok, &enc) != DSTOK_OK) cli_no_memory();
    options.ids_only = 0;
    if (dstok_encode_view(enc, text, n, &options, &t, NULL) == DSTOK_OK) place = first_gap(&t, n);
    dstok_encoder_free(enc);
    return place;
}

static void add_dropped(const struct cli_run *run, const struct cli_record *rec) {
    uint64_t place = rec->first_dropped;

    if (rec->report.n_dropped > 0 && notes.dropped.n == 0) {
        if (place == DSTOK_NO_OFFSET) place = find_dropped(run, rec);
        notes.dropped_unknown = rec->report.n_unknown > 0;
    }
    add_note(&notes.dropped, run, rec, rec->report.n_dropped, place);
}

void cli_notes_add(struct cli_run *run, const struct cli_record *rec) {
    const dstok_report *r = &rec->report;

    if (rec->state == CLI_RECORD_BAD) return;
    add_note(&notes.unknown, run, rec, r->n_unknown, r->first_unknown);
    add_dropped(run, rec);
    if (rec->state == CLI_RECORD_OK) add_note(&notes.invalid, run, rec, r->n_invalid, r->first_invalid);
    if (run->encode &&
        (run->encode->special == DSTOK_SPECIAL_SAFE || run->encode->special == DSTOK_SPECIAL_LIST))
        add_note(&notes.special, run, rec, r->n_special_text, r->first_special);
}

static void print_note(struct note *note, const char *what, const char *advice) {
    if (note->n > 0 && note->first.n > 0)
        cli_note("%s: %llu, first at %s%s", what, (unsigned long long)note->n, cli_buf_string(&note->first),
                 advice);
    else if (note->n > 0)
        cli_note("%s: %llu%s", what, (unsigned long long)note->n, advice);
    cli_buf_free(&note->first);
}

/* "1 of 3 records was skipped" */
static void tell_number(const struct cli_run *run, uint64_t n, const char *what) {
    if (n > 0)
        cli_note("%llu of %llu record%s %s %s", (unsigned long long)n, (unsigned long long)run->n_records,
                 run->n_records == 1 ? "" : "s", n == 1 ? "was" : "were", what);
}

void cli_notes_print(const struct cli_run *run) {
    (void)cli_out_flush(); /* notes come behind the output they are about; a failure shows at the end */
    print_note(&notes.unknown, "characters without a token", "; --strict makes them errors");
    print_note(&notes.dropped, "bytes that no token covers",
               notes.dropped_unknown
                   ? "; this vocabulary has no token for them"
                   : "; the vocabulary's normalizer or pattern leaves them out (dstok inspect)");
    print_note(&notes.invalid, "places that are not UTF-8",
               run->config->invalid == DSTOK_INVALID_RAW ? "; taken as they are" : "; became U+FFFD");
    print_note(&notes.special, "control tokens in the text, kept as text",
               "; --special parse takes them as tokens (for trusted text only)");
    tell_number(run, run->n_mended, "mended");
    if (run->config->on_error == CLI_ERROR_SKIP) tell_number(run, run->n_bad, "skipped");
    if (run->config->on_error == CLI_ERROR_REPLACE) tell_number(run, run->n_bad, "counted as empty");
}

int cli_reject_open(struct cli_run *run) {
    const char *path = run->config->reject;

    if (path != NULL && (run->reject = fopen(path, "w")) == NULL) {
        cli_error("cannot open %s: %s", path, strerror(errno));
        return CLI_USAGE;
    }
    return 0;
}

int cli_reject_close(struct cli_run *run) {
    if (run->reject == NULL || fclose(run->reject) == 0) return 0;
    cli_error("cannot write %s: %s", run->config->reject, strerror(errno));
    return CLI_FAIL;
}

static int run_open(struct cli_run *run) {
    int rc = cli_reject_open(run), closing;

    if (rc) return rc;
    rc = cli_run_records(run);
    closing = cli_reject_close(run);
    cli_notes_print(run);
    return rc ? rc : closing;
}

/* Writing a log over the vocabulary would destroy it. */
static int protect_vocab(const struct cli_config *c) {
    if (c->reject == NULL || c->n_vocabs == 0 || !cli_same_file(c->reject, c->vocabs[0])) return 0;
    cli_error("--reject %s is the vocabulary; it would be destroyed: name another file", c->reject);
    return CLI_USAGE;
}

static void note_template(const struct cli_config *c, const dstok_tokenizer *tok) {
    dstok_info info = DSTOK_INFO_INIT;

    (void)dstok_tokenizer_info(tok, &info);
    if (c->add_special && !info.has_template)
        cli_note("--add-special adds nothing: this vocabulary has no template of start and end tokens");
}

int cli_run_texts(struct cli_config *c, struct cli_run *run) {
    dstok_encode_options options;
    dstok_tokenizer *tok = NULL;
    uint32_t *allowed = NULL;
    int rc = cli_files_list(c, &run->files);

    if (rc) return rc;
    run->config = c;
    rc = cli_files_protect(&run->files, "--reject", c->reject);
    if (rc == 0) rc = protect_vocab(c);
    if (rc == 0) rc = cli_vocab_load(c, c->n_vocabs ? c->vocabs[0] : NULL, &tok);
    if (rc == 0) rc = cli_encode_options(c, tok, &options, &allowed);
    if (rc == 0) note_template(c, tok);
    if (rc == 0) {
        run->tok = tok;
        run->encode = &options;
        rc = run_open(run);
        if (run->end != NULL) run->end(run);
    }
    free(allowed);
    dstok_tokenizer_free(tok);
    return rc ? rc : run->n_bad > 0 ? CLI_SKIPPED : 0;
}
