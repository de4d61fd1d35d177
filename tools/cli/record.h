/* SPDX-License-Identifier: MIT */
/* Records: how inputs are cut into them, and how they are worked on by several threads in order. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "verbs.h"

#include <dstok/batch.h>
#include <dstok/jsonl.h>

#include <stdio.h>

/* What happened to a record. */
enum { CLI_RECORD_OK, CLI_RECORD_BAD, CLI_RECORD_MENDED };

struct cli_reader;

struct cli_record {
    /* set by the reader */
    size_t input;       /* index in the list of inputs */
    struct cli_buf raw; /* its bytes in the input, without the separator */
    uint64_t line;      /* 1-based line of its first byte */
    uint64_t offset;    /* byte of the (decompressed) input where it starts */
    int is_too_long;
    struct cli_reader *rest; /* raw is the begin of it, cli_reader_more reads on; NULL: raw is all */
    /* set by the worker; cleared before */
    int is_large;     /* the only one at work until it is committed: its text and tokens stay until then */
    dstok_pool *pool; /* encodes the text of a large record by all threads; NULL: the thread's encoder does */
    struct cli_jsonl *jsonl; /* of the thread that worked on it; NULL: the record is no line of JSON */
    struct cli_buf text;     /* decode: the ids */
    struct cli_buf id;       /* jsonl: the id as it stands in the input, empty when there is none */
    struct cli_buf out;      /* what goes to standard output */
    struct cli_buf why;      /* message for a bad or mended record, without the place */
    int state;               /* CLI_RECORD_* */
    int is_dropped;          /* an empty record under --empty drop */
    uint64_t fault;          /* byte of the input, or of the text when fault_in_text, where it went wrong */
    int has_fault, fault_in_text;
    uint64_t column; /* decode: 1-based column of a bad id; 0 = none */
    uint64_t n_tokens, n_bytes, n_chars, n_unknown_ids;
    dstok_report report;
    uint64_t first_dropped; /* byte of the text that no token covers; DSTOK_NO_OFFSET: none, or not known */
};

/* Everything a run over records needs. */
struct cli_run {
    const struct cli_config *config;
    const dstok_tokenizer *tok;
    const dstok_encode_options *encode; /* NULL: no encoders are made */
    struct cli_files files;
    int by_lines;    /* decode: records are lines whatever the input format says */
    int takes_parts; /* commit reads the rest of long records, which work gets a part of */
    /* Called by several threads at once, each with an encoder of its own. */
    void (*work)(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec);
    /* Called in the order of the records. Returns 0, or the exit code to stop with. */
    int (*commit)(struct cli_run *run, struct cli_record *rec);
    /* Called once after the last record, or NULL: what the verb made of tok goes before tok does. */
    void (*end)(struct cli_run *run);
    /* totals, for notes and progress */
    uint64_t n_records, n_bad, n_mended, n_tokens, n_bytes;
    struct cli_crew *crew; /* the threads */
    FILE *reject;          /* --reject, or NULL */
    void *context;         /* the verb's own */
};

/* ---- pipeline.c */

/* Read all inputs and pass their records through work and commit. Returns 0 or an exit code after a
 * message. */
int cli_run_records(struct cli_run *run);

/* ---- lists.c */

/* Adds items [from, to) of a list, as text. Called by several threads at once. */
typedef void cli_put(const void *context, size_t from, size_t to, struct cli_buf *out);

/* Items [0, n) to standard output; memory does not grow with n. For commit. Returns 0, or CLI_FAIL after a
 * message. */
int cli_out_list(const struct cli_run *run, size_t n, cli_put *put, const void *context);

/* ---- reader.c */

enum { CLI_READ_RECORD, CLI_READ_WAIT, CLI_READ_END, CLI_READ_FAILED };

struct cli_reader *cli_reader_new(const struct cli_run *run);
void cli_reader_free(struct cli_reader *r);
/* The next record into rec, whose buffers are reused. CLI_READ_WAIT when the input is not there yet and
 * !may_wait. */
int cli_reader_next(struct cli_reader *r, int may_wait, struct cli_record *rec);
/* More of a record with a rest, behind what is in raw. CLI_READ_END: there is no more. */
int cli_reader_more(struct cli_reader *r, struct cli_record *rec);
/* Its bytes before this one of the input are not needed any more: raw, offset and line may go on behind
 * them. */
void cli_reader_forget(const struct cli_reader *r, struct cli_record *rec, uint64_t before);

/* ---- jsonl.c */

/* What reads lines of JSON as the run wants them, for one thread. NULL, with err->status DSTOK_OK, where there
 * are none; else NULL with what is wrong with the keys. */
struct cli_jsonl *cli_jsonl_new(const struct cli_config *c, dstok_error *err);
void cli_jsonl_free(struct cli_jsonl *j);
/* The text of a line, and its id to rec->id. Returns 0, or -1 with rec marked bad. Valid until the thread's
 * next line. */
int cli_jsonl_text(const struct cli_run *run, struct cli_record *rec, const char **text, size_t *n);
void cli_jsonl_text_again(const struct cli_record *rec, const char **text, size_t *n);
/* decode: the same for the value that has the ids, as it is written. */
int cli_jsonl_value(struct cli_record *rec, const char **value, size_t *n);

/* ---- record.c */

/* "FILE:LINE: byte N" of a byte of the record's text (or "... byte N of the text" for jsonl). */
void cli_record_place(const struct cli_run *run, const struct cli_record *rec, uint64_t offset,
                      struct cli_buf *out);
/* Text of a record in *text, *n: reads the JSON if it is some. Valid until the thread's next record.
 * Returns 0, or -1 with rec marked bad. */
int cli_record_text(const struct cli_run *run, struct cli_record *rec, const char **text, size_t *n);
/* The text of a record that cli_record_text gave once, again, when no thread works. */
void cli_record_text_again(const struct cli_record *rec, const char **text, size_t *n);
/* Mark a record bad. */
void cli_record_bad(struct cli_record *rec, const char *format, ...) CLI_PRINTF(2, 3);
/* Deal with a bad or mended record as --on-error, --max-errors and --reject say. Returns 0 or the exit
 * code. */
int cli_record_report(struct cli_run *run, const struct cli_record *rec);

/* ---- texts.c: shared by encode and count */

/* Encode the text of a record under --on-error replace and --empty. Returns 0 when *tokens is filled
 * (count: n_tokens set), -1 when the record is bad or dropped. */
int cli_encode_record(const struct cli_run *run, dstok_encoder *enc, struct cli_record *rec, int only_count,
                      dstok_tokens *tokens, const char **text, size_t *n);
/* Mark a record bad for what the library said. */
void cli_record_failed(const struct cli_run *run, struct cli_record *rec, const dstok_error *err,
                       dstok_status status);
/* --reject: made at the start, so that a wrong name shows before the work. Return 0, or an exit code after a
 * message. */
int cli_reject_open(struct cli_run *run);
int cli_reject_close(struct cli_run *run);
/* Add a record's report to the notes of the run. */
void cli_notes_add(struct cli_run *run, const struct cli_record *rec);
/* Print the notes; once, at the end. */
void cli_notes_print(const struct cli_run *run);
/* Open what verbs over texts need, run, close. */
int cli_run_texts(struct cli_config *c, struct cli_run *run);

/* ---- progress.c */

/* Tell how far the run is, now and then. `final`: the last call. */
void cli_progress(const struct cli_run *run, int final);

#endif
