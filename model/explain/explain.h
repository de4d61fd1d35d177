/* SPDX-License-Identifier: MIT */
/* An explanation in the making. */
#ifndef DSX_EXPLAIN_EXPLAIN_H
#define DSX_EXPLAIN_EXPLAIN_H

#include "explain/prompt.h"

/* What a method fills; the arrays are the explanation's own, and `out` what the caller sees of them. */
typedef struct dsx__explaining {
    dsx_explanation out; /* first: a pointer to it is one to all */
    double *scores, *routing, *logprobs;
    char *foil_text;
    dstok_span *units;
    double *worth;
    uint32_t *redundant;
    dsx_warning *warnings;
    size_t cap_warnings;
    const dsx_explain_options *options;
    int64_t foil;       /* what could have stood instead of the token that is explained; -1: none */
    uint64_t done, all; /* steps, for the sink */
} dsx__explaining;

/* x->begin, end, from and to, as the options say. */
dstok_status dsx__find_tokens(const dsx_prompt *p, const dsx_explain_options *o, dsx_explanation *x,
                              dstok_error *err);

/* A step is done: E_CANCELED when the sink asks to stop. */
dstok_status dsx__explain_step(dsx__explaining *e);

/* code and text are literals. False: out of memory. */
bool dsx__explain_warn(dsx__explaining *e, const char *code, const char *text);

/* ablate.c: DSX_METHOD_ABLATE and DSX_METHOD_LOO: scores of tokens, units, worth. */
dstok_status dsx__ablate(dsx_prompt *p, dsx__explaining *e, dstok_error *err);
/* The same for DSX_METHOD_REFINE, which has scores of rows. */
dstok_status dsx__refine(dsx_prompt *p, dsx__explaining *e, dstok_error *err);
/* trust.c: e->out.trust, units, worth, redundant and warnings. */
dstok_status dsx__trust(dsx_prompt *p, dsx__explaining *e, dstok_error *err);

#endif
