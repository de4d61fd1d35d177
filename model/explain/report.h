/* SPDX-License-Identifier: MIT */
/* A report in the making, and what its writers share. */
#ifndef DSX_EXPLAIN_REPORT_H
#define DSX_EXPLAIN_REPORT_H

#include "explain/prompt.h"

#include <dsx/report.h>

typedef struct dsx__report {
    const dsx_prompt *prompt;
    const dsx_explanation *const *targets; /* [n_targets] */
    size_t n_targets;
    const dsx_report_options *o;
    dsx_prompt_view view;
    dsx_model_info model;
    dsx_report_sink *sink;
    void *context;
    bool has_failed; /* the sink asked to stop: nothing more is written */
    size_t n_bytes;  /* written or on their way */
    char buffer[4096];
    size_t n_buffer;
} dsx__report;

/* ---- bytes on their way out */

void dsx__put(dsx__report *r, const void *bytes, size_t n);
void dsx__put_text(dsx__report *r, const char *text);
/* At most 512 bytes. */
void dsx__put_format(dsx__report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dsx__put_base64(dsx__report *r, const void *bytes, size_t n);

/* Length of the character at p, or of what cannot begin one with *ok false. n > 0. */
size_t dsx__character(const unsigned char *p, size_t n, bool *ok, uint32_t *code);
/* Neither seen nor harmless: control, direction and format characters. */
bool dsx__is_hidden(uint32_t c);

/* ---- rows */

/* Rows of a level, in the order of the sources; to be freed. */
dstok_status dsx__report_rows(const dsx__report *r, const dsx_explanation *x, int level, dsx_row **rows,
                              size_t *n, dstok_error *err);
/* Those that the options ask for, at the front: in the order of their ranks where best_first. top: where the options
 * do not say, 0: all. Returns how many. */
size_t dsx__report_choose(const dsx__report *r, dsx_row *rows, size_t n, size_t top, bool best_first);
/* The text of a row, without white space around it. */
const char *dsx__report_text(const dsx__report *r, const dsx_row *row, size_t *n);

const char *dsx__method_name(int method);
const char *dsx__removal_name(int removal);
const char *dsx__level_name(int level);
/* What the value of an explanation is: "token_log_odds" (their sum), "answer_log_odds" (of the whole answer),
 * "logprob", "logit_difference", "attention". */
const char *dsx__quantity(const dsx_explanation *x);
/* The same for people. */
const char *dsx__quantity_words(const dsx_explanation *x);

/* ---- writers */

dstok_status dsx__write_json(dsx__report *r, dstok_error *err);
dstok_status dsx__write_jsonl(dsx__report *r, dstok_error *err);
dstok_status dsx__write_ansi(dsx__report *r, dstok_error *err);
dstok_status dsx__write_html(dsx__report *r, dstok_error *err);
dstok_status dsx__write_grep(dsx__report *r, dstok_error *err);
dstok_status dsx__write_markdown(dsx__report *r, dstok_error *err);
dstok_status dsx__write_csv(dsx__report *r, dstok_error *err);

#endif
