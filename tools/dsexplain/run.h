/* SPDX-License-Identifier: MIT */
/* The parts of `dsexplain run`. */
#ifndef DSEXPLAIN_RUN_H
#define DSEXPLAIN_RUN_H

#include "dsexplain.h"

/* What is asked of the model. */
struct ex_question {
    const char *name; /* for messages: "", or "items.jsonl:3: " */
    const dsx_source *sources;
    size_t n_sources;
    const char *question, *prefix, *foil, *template_text; /* NULL: none, or the default */
    const char *answer; /* the response behind the prefix; NULL: the model's own */
    size_t n_answer;
};

struct ex_run {
    struct ex_model m;
    struct ex_progress progress;
    const char *doing; /* for progress */
    double loaded, generated;
    char **sha256;       /* of the sources, or NULL */
    float *head_weights; /* of DSX_METHOD_AT2 */
    dsx_at2 *at2;        /* fit-at2: what learns from items, which are not explained then; else NULL */
};

/* A prompt and its response as asked for. Returns 0, or an exit code after a message; CLI_STOPPED when an interrupt
 * came. */
enum { CLI_STOPPED = 130 };
int ex_run_prompt(struct ex_run *r, const struct ex_question *q, dsx_prompt **out);
/* How the options want it explained. */
dsx_explain_options ex_run_options(struct ex_run *r, const struct ex_question *q);
/* Bytes [begin, end) of the response explained. */
int ex_run_explain(struct ex_run *r, const struct ex_question *q, dsx_prompt *p, size_t begin, size_t end,
                   const dsx_explanation **out);
/* A report, or a part of one, behind what is in `out`. */
int ex_run_report(const struct ex_run *r, const dsx_prompt *p, const dsx_explanation *const *x, size_t n,
                  dsx_report_options *o, struct cli_buf *out);
/* How the options want a report written. */
dsx_report_options ex_run_report_options(const struct ex_run *r);

/* Interrupts set a mark from now on, so that what is there can be written. */
void ex_catch_interrupts(void);
int ex_is_interrupted(void);

/* ---- items.c */
int ex_run_items(struct ex_run *r);

/* ---- fit.c */

/* The weights of --weights-at2, if it is given; to be freed. */
int ex_read_head_weights(struct ex_run *r);
/* Learns from an answer. */
int ex_fit_item(struct ex_run *r, const struct ex_question *q, dsx_prompt *p);

/* ---- estimate.c */

/* What a run will take, on standard output. */
int ex_run_estimate(struct ex_run *r, const struct ex_question *q, dsx_prompt *p);

#endif
