/* SPDX-License-Identifier: MIT */
/* LASSO (Tibshirani 1996) by cyclic coordinate descent (Friedman, Hastie & Tibshirani 2010): with columns
 * of mean 0 and variance 1, w[k] <- soft(mean of x[k] times what the others leave of y, alpha), one after
 * the other until they stay; soft(r, a) = sign(r) max(|r| - a, 0). */
#include "explain/fit.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SWEEPS = 20000 };

typedef struct job {
    double *x;                /* [k][n]: columns, of mean 0 and variance 1, or all 0 */
    double *left;             /* [n]: what w leaves of y */
    double *mean, *deviation; /* [k] */
    size_t n, k;
} job;

static void standardise(job *j, const uint8_t *x) {
    for (size_t k = 0; k < j->k; k++) {
        double sum = 0, p;

        for (size_t i = 0; i < j->n; i++) sum += x[i * j->k + k];
        p = sum / (double)j->n;
        j->mean[k] = p;
        j->deviation[k] = sqrt(p * (1 - p)); /* of zeros and ones */
        for (size_t i = 0; i < j->n; i++)
            j->x[k * j->n + i] = j->deviation[k] > 0 ? (x[i * j->k + k] - p) / j->deviation[k] : 0;
    }
}

/* One sweep; how far a number moved at most. */
static double sweep(job *j, double alpha, double *w) {
    double most = 0;

    for (size_t k = 0; k < j->k; k++) {
        const double *x = j->x + k * j->n;
        double r = 0, before = w[k];

        if (j->deviation[k] <= 0) continue;
        for (size_t i = 0; i < j->n; i++) r += x[i] * j->left[i];
        r = r / (double)j->n + before;
        w[k] = copysign(fmax(fabs(r) - alpha, 0), r);
        for (size_t i = 0; i < j->n && w[k] != before; i++) j->left[i] -= x[i] * (w[k] - before);
        most = fmax(most, fabs(w[k] - before));
    }
    return most;
}

static void solve(job *j, const double *y, double alpha, double *w, double *constant) {
    double mean = 0, scale = 0;

    for (size_t i = 0; i < j->n; i++) mean += y[i] / (double)j->n;
    for (size_t i = 0; i < j->n; i++) {
        j->left[i] = y[i] - mean;
        scale = fmax(scale, fabs(j->left[i]));
    }
    for (int i = 0; i < MOST_SWEEPS && sweep(j, alpha, w) > 1e-12 * scale;) i++;
    *constant = mean;
    for (size_t k = 0; k < j->k; k++) {
        w[k] = j->deviation[k] > 0 ? w[k] / j->deviation[k] : 0;
        *constant -= w[k] * j->mean[k];
    }
}

bool dsx__lasso(const uint8_t *x, const double *y, size_t n, size_t k, double alpha, double *w,
                double *constant) {
    job j = {.n = n, .k = k};
    double *room = n > 0 && k < SIZE_MAX / sizeof *room / (n + 2) - n
                       ? malloc((k * n + n + 2 * k) * sizeof *room)
                       : NULL;

    if (room == NULL) return false;
    j.x = room;
    j.left = j.x + k * n;
    j.mean = j.left + n;
    j.deviation = j.mean + k;
    for (size_t i = 0; i < k; i++) w[i] = 0;
    standardise(&j, x);
    solve(&j, y, alpha, w, constant);
    free(room);
    return true;
}

/* ---- ranks */

typedef struct ranked {
    double value;
    size_t index;
} ranked;

static int compare(const void *a, const void *b) {
    const ranked *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

static void rank(const double *v, size_t n, ranked *order, double *ranks) {
    for (size_t i = 0; i < n; i++) order[i] = (ranked){v[i], i};
    qsort(order, n, sizeof *order, compare);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && order[end].value == order[i].value;) end++;
        for (size_t k = i; k < end; k++) ranks[order[k].index] = (double)(i + end - 1) / 2;
    }
}

bool dsx__spearman(const double *a, const double *b, size_t n, double *out) {
    double *ranks = malloc((2 * n + 1) * sizeof *ranks), mean = ((double)n - 1) / 2, ab = 0, aa = 0, bb = 0;
    ranked *order = malloc((n + 1) * sizeof *order);

    if (ranks != NULL && order != NULL) {
        rank(a, n, order, ranks);
        rank(b, n, order, ranks + n);
        for (size_t i = 0; i < n; i++) {
            ab += (ranks[i] - mean) * (ranks[n + i] - mean);
            aa += (ranks[i] - mean) * (ranks[i] - mean);
            bb += (ranks[n + i] - mean) * (ranks[n + i] - mean);
        }
        *out = aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
    }
    free(order);
    free(ranks);
    return ranks != NULL && order != NULL;
}
