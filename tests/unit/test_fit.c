/* SPDX-License-Identifier: MIT */
/* Sparse linear fits against closed forms and the conditions that make a minimum, and rank correlations. */
#include "explain/fit.h"
#include "t.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 64, WIDE = 12 };

static bool near(double a, double b, double by) {
    return fabs(a - b) <= by;
}

static void random_masks(t_rng *rng, uint8_t *x, size_t n, size_t k) {
    for (size_t i = 0; i < n * k; i++) x[i] = (uint8_t)t_below(rng, 2);
}

static double gauss(t_rng *rng) {
    double sum = -6;

    for (int i = 0; i < 12; i++) sum += (double)t_below(rng, 1000000) / 1e6;
    return sum;
}

/* All 2^k masks: columns are independent, so each weight is its own: soft(covariance / deviation, alpha) by
 * it. */
static void all_masks(void) {
    enum { K = 5, N = 1 << K };
    uint8_t x[N * K];
    double y[N], w[K], constant, alpha = 0.1;
    t_rng rng = {3};

    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < K; k++) x[i * K + k] = i >> k & 1;
        y[i] = 2 * x[i * K] - 0.1 * x[i * K + 1] + 0.5 * x[i * K + 2] * x[i * K + 3] + 0.2 * gauss(&rng);
    }
    CHECK(dsx__lasso(x, y, N, K, alpha, w, &constant));
    for (size_t k = 0; k < K; k++) {
        double with = 0, without = 0, difference, want;

        for (size_t i = 0; i < N; i++) *(x[i * K + k] ? &with : &without) += y[i] / (N / 2);
        difference = with - without; /* deviation of a column is 1/2 */
        want = copysign(fmax(fabs(difference) / 2 - alpha, 0), difference) * 2;
        CHECK(near(w[k], want, 1e-12));
    }
    CHECK(w[1] == 0 && w[0] > 1.5);
}

/* At the minimum the rest has no more than alpha to do with any column, and just that with those that count. */
static void is_minimum(size_t n, size_t k, double alpha, uint64_t seed) {
    uint8_t x[MOST * WIDE];
    double y[MOST], w[WIDE], left[MOST], constant, sum = 0;
    t_rng rng = {seed};

    random_masks(&rng, x, n, k);
    for (size_t i = 0; i < n; i++) y[i] = 3 * x[i * k] - 2 * x[i * k + k - 1] + gauss(&rng);
    CHECK(dsx__lasso(x, y, n, k, alpha, w, &constant));
    for (size_t i = 0; i < n; i++) {
        left[i] = y[i] - constant;
        for (size_t c = 0; c < k; c++) left[i] -= w[c] * x[i * k + c];
        sum += left[i];
    }
    CHECK(near(sum, 0, 1e-9));
    for (size_t c = 0; c < k; c++) {
        double mean = 0, deviation = 0, has = 0;

        for (size_t i = 0; i < n; i++) mean += (double)x[i * k + c] / (double)n;
        for (size_t i = 0; i < n; i++) deviation += (x[i * k + c] - mean) * (x[i * k + c] - mean) / (double)n;
        if (deviation == 0) {
            CHECK(w[c] == 0);
            continue;
        }
        for (size_t i = 0; i < n; i++) has += (x[i * k + c] - mean) / sqrt(deviation) * left[i] / (double)n;
        CHECK(w[c] == 0 ? fabs(has) <= alpha + 1e-9 : near(has, copysign(alpha, w[c]), 1e-9));
    }
}

/* What is a sum of sentences is found as one, from as many removals as it has sentences; and its ranks are
 * right. */
static void sums_are_found(void) {
    uint8_t x[MOST * WIDE];
    double y[MOST], w[WIDE], want[WIDE], kept[MOST] = {0}, constant, lds;
    t_rng rng = {17};

    random_masks(&rng, x, MOST, WIDE);
    for (size_t k = 0; k < WIDE; k++) want[k] = gauss(&rng);
    for (size_t i = 0; i < MOST; i++) {
        y[i] = -4;
        for (size_t k = 0; k < WIDE; k++) y[i] += want[k] * x[i * WIDE + k];
    }
    CHECK(dsx__lasso(x, y, MOST, WIDE, 1e-5, w, &constant));
    CHECK(near(constant, -4, 1e-3));
    for (size_t k = 0; k < WIDE; k++) CHECK(near(w[k], want[k], 1e-3));
    CHECK(dsx__lasso(x, y, 32, WIDE, 1e-5, w, &constant));
    for (size_t k = 0; k < WIDE; k++) CHECK(near(w[k], want[k], 1e-3));
    for (size_t i = 0; i < MOST; i++)
        for (size_t k = 0; k < WIDE; k++) kept[i] += w[k] * x[i * WIDE + k];
    CHECK(dsx__spearman(kept, y, MOST, &lds) && near(lds, 1, 1e-12));
}

static void edges(void) {
    static const uint8_t same[] = {1, 0, 1, 1, 1, 0};
    static const double y[] = {1, 3, 2};
    double w[2] = {9, 9}, constant;

    CHECK(dsx__lasso(same, y, 3, 2, 0.01, w, &constant)); /* the first column does not change */
    CHECK(w[0] == 0 && w[1] != 0);
    CHECK(dsx__lasso(same, y, 3, 0, 0.01, w, &constant) && near(constant, 2, 1e-15));
    CHECK(dsx__lasso(same, y, 1, 2, 0.01, w, &constant) && w[0] == 0 && w[1] == 0 && constant == 1);
    CHECK(dsx__lasso(same, y, 3, 2, 100, w, &constant) && w[1] == 0 && near(constant, 2, 1e-15));
}

static void ranks(void) {
    static const double a[] = {1, 2, 2, 3}, b[] = {10, 20, 30, 40}, down[] = {4, 3, 2, 1},
                        same[] = {7, 7, 7, 7};
    double out;

    CHECK(dsx__spearman(a, b, 4, &out) && near(out, 4.5 / sqrt(4.5 * 5), 1e-12)); /* ranks 0, 1.5, 1.5, 3 */
    CHECK(dsx__spearman(b, down, 4, &out) && near(out, -1, 1e-12));
    CHECK(dsx__spearman(a, a, 4, &out) && near(out, 1, 1e-12));
    CHECK(dsx__spearman(same, b, 4, &out) && isnan(out));
    CHECK(dsx__spearman(b, same, 4, &out) && isnan(out));
    CHECK(dsx__spearman(a, b, 1, &out) && isnan(out));
    CHECK(dsx__spearman(a, b, 0, &out) && isnan(out));
}

int main(void) {
    all_masks();
    for (uint64_t seed = 0; seed < 20; seed++) {
        is_minimum(32, 8, 0.01, seed);
        is_minimum(20, WIDE, 0.2, seed);
        is_minimum(6, WIDE, 0.05, seed); /* fewer removals than sentences */
    }
    sums_are_found();
    edges();
    ranks();
    return t_end();
}
