/* SPDX-License-Identifier: MIT */
/* What dsexplain scan shares: formats by name, and how far a model whose maps are rounded is from itself. */
#ifndef DSEXPLAIN_SCAN_H
#define DSEXPLAIN_SCAN_H

#include "dsexplain.h"

/* ---- formats.c: WEIGHTS[gGROUP][aROWS], as in w4, w4g32, w8a8, fp8g128, w4a4h. */

/* Returns 0, or what is wrong. */
const char *scan_format(const char *name, dsx_format *out);
int scan_is_fixed(const dsx_format *f);

/* ---- measure.c */

struct scan_result {
    double kl, kl_most; /* of the next token's distribution, from the model's own: mean and greatest */
    double nll;         /* mean of -log p of the text's tokens */
    uint64_t bytes;     /* of the weights in memory */
};

struct scan_text {
    struct ex_config config; /* of m */
    struct ex_model m;       /* as it is */
    struct cli_buf ids;      /* uint32_t */
    size_t n, window;        /* tokens; of a session */
    float *logprobs;         /* [n][n_vocab], of the model as it is */
    struct scan_result own;
    uint64_t n_done, n_runs; /* measurements: so far, in all */
    struct ex_progress progress;
};

/* Reads the text of -f with the model as it is. Returns 0, or an exit code after a message; scan_text_free in
 * any case. */
int scan_text_read(const struct ex_config *c, struct scan_text *out);
/* The same text with the maps as the policy says. Returns 0, or an exit code after a message. */
int scan_measure(struct scan_text *t, const dsx_policy *policy, struct scan_result *out);
/* Fixed limits from the text of --calibrate, or the one of -f. */
int scan_calibrate(const struct scan_text *t, dsx_policy *policy);
void scan_text_free(struct scan_text *t);

#endif
