/* SPDX-License-Identifier: MIT */
/* Two reports side by side. */
#ifndef DSEXPLAIN_DIFF_H
#define DSEXPLAIN_DIFF_H

#include "dsexplain.h"

#include <jansson.h>

/* Text of a report: bytes that are no UTF-8 stand there as base64. */
struct ex_text_of {
    const char *p;
    size_t n;
    int is_base64;
};

struct ex_source_of {
    struct ex_text_of path;
    const char *sha256;
    uint64_t bytes;
};

struct ex_span {
    uint64_t source, begin, end, line, column, rank;
    double score;
    struct ex_text_of text;
};

enum { EX_SUMS = 6 };
extern const char *const ex_sum_keys[EX_SUMS], *const ex_sum_names[EX_SUMS];

/* What is explained; numbers that the report does not know are NaN. Spans are in the order of the text. */
struct ex_target {
    struct ex_text_of text;
    const char *method, *quantity;
    double value, logprob, sums[EX_SUMS];
    struct ex_span *spans;
    size_t n;
};

/* A report, as read: texts live in json. */
struct ex_report {
    const char *path;
    json_t *json;
    const char *level; /* of the spans; NULL: there is none */
    struct ex_text_of output;
    struct ex_source_of *sources;
    struct ex_target *targets;
    size_t n_sources, n_targets;
};

/* Reads a report of --format json. Returns 0, or an exit code after a message; ex_report_free in any case. */
int ex_report_read(const char *path, struct ex_report *out);
void ex_report_free(struct ex_report *r);

#endif
