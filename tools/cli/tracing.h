/* SPDX-License-Identifier: MIT */
/* The parts of `dstok trace`: what it works on, and how that is printed. */
#ifndef CLI_TRACING_H
#define CLI_TRACING_H

#include "scores.h"
#include "verbs.h"

#include <dstok/trace.h>

enum { CLI_ANSI, CLI_TRACE_JSON, CLI_GREP, CLI_FORMAT_AUTO }; /* --format */
enum { CLI_BY_SUM, CLI_BY_MEAN, CLI_BY_MAX };                 /* --by */
enum { CLI_JOIN_AUTO, CLI_JOIN_ON, CLI_JOIN_OFF };            /* --join */

/* A segment of the prompt: where it comes from. */
struct cli_part {
    char *name;      /* file, or file:line; NULL for a template */
    size_t begin;    /* byte of the prompt */
    uint64_t source; /* number among those that are no template */
    double sum;      /* of the scores */
};

struct cli_tracing {
    const struct cli_config *config;
    struct cli_buf prompt;
    dstok_segment *segments;
    struct cli_part *parts;
    size_t n_parts;
    dstok_tokens tokens;
    size_t n_scores;
    dstok_trace_row *rows; /* those to show */
    size_t n_rows;
    dstok_trace_sums sums;
    double padding, sources, template; /* sums */
};

/* What --by says of a row. */
double cli_trace_value(const struct cli_config *c, const dstok_trace_row *row);

/* ---- trace_out.c */
void cli_trace_print(const struct cli_tracing *t, struct cli_buf *out);
/* The sums in one line, for people. */
void cli_trace_note(const struct cli_tracing *t);

#endif
