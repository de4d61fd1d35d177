/* SPDX-License-Identifier: MIT */
/* Small fits: what a number of removals says of each sentence, and how well ranks agree. */
#ifndef DSX_EXPLAIN_FIT_H
#define DSX_EXPLAIN_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The least squares of y - constant - sum x[k] w[k] over n rows, divided by 2 n, and alpha times the sum of
 * |w[k]| of columns that were made to have mean 0 and variance 1; w is for x as it is. x [n][k] of 0 and 1.
 * A column that does not change gets 0.   False: out of memory. */
bool dsx__lasso(const uint8_t *x, const double *y, size_t n, size_t k, double alpha, double *w,
                double *constant);

/* Rank correlation (Spearman), equal numbers have their mean rank: NaN where one side does not change, or n
 * < 2. False: out of memory. */
bool dsx__spearman(const double *a, const double *b, size_t n, double *out);

#endif
