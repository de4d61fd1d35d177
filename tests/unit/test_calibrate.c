/* SPDX-License-Identifier: MIT */
/* Limits of rows: closed forms, known arrays, and the least error by trying all. */
#include "quant/calibrate.h"

#include "t.h"

#include <math.h>

static double near(double a, double b) {
    return fabs(a - b) / fmax(fabs(b), 1e-30);
}

/* m after rows v_1 ... v_n: 0.99^(n - 1) v_1 + 0.01 * the sum of 0.99^(n - t) v_t, t = 2 ... n. */
static void ema(void) {
    dsx__seen s;
    t_rng rng = {1};
    double low = 0, high = 0;
    enum { N = 60 };

    CHECK(dsx__seen_new(&s));
    for (int t = 1; t <= N; t++) {
        double weight = pow(0.99, N - t) * (t > 1 ? 0.01 : 1), row[3];

        row[0] = 0.25;
        row[1] = -1 - (double)t_below(&rng, 1000) / 100;
        row[2] = 1 + (double)t_below(&rng, 1000) / 150;
        dsx__see_row(&s, row, 3);
        low += weight * row[1];
        high += weight * row[2];
    }
    CHECK(near(s.low, low) < 1e-12 && near(s.high, high) < 1e-12 && s.n_rows == N);
    CHECK(near((double)dsx__limit_ema(&s), fmax(-low, high)) < 1e-6);
    dsx__seen_free(&s);
}

static void percentile(void) {
    static const struct {
        double percent, limit;
    } known[] = {{1, 10}, {50, 500}, {90, 900}, {99, 990}, {99.9, 999}, {99.91, 1000}, {100, 1000}};
    dsx__seen s;

    CHECK(dsx__seen_new(&s));
    for (int i = 1; i <= 1000; i++) { /* 0.37 times 1 ... 1000, in another order and with both signs */
        double x = (i % 2 ? 0.37 : -0.37) * (double)(i * 387 % 1001);

        dsx__see_row(&s, &x, 1);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double limit = (double)dsx__limit_percentile(&s, known[i].percent) / 0.37 + 1e-6;

        CHECK(limit >= known[i].limit && limit <= known[i].limit * (1 + 1.0 / 512));
    }
    CHECK(dsx__limit_percentile(&s, 100) == 370);
    dsx__seen_free(&s);
}

/* Most numbers are below 1, some are outliers. */
static void make(double *x, size_t n, int kind) {
    t_rng rng = {(uint64_t)kind + 7};

    for (size_t i = 0; i < n; i++) {
        double sum = -6;

        for (int k = 0; k < 12; k++) sum += (double)t_below(&rng, 1000) / 1000;
        x[i] = sum / 3 * (kind > 0 && t_below(&rng, 200) == 0 ? pow(4, kind) : 1);
    }
}

static double error_of(const double *x, size_t n, double limit, int steps) {
    double sum = 0, step = limit / steps;

    for (size_t i = 0; i < n; i++) {
        double q = fmax(-steps, fmin(nearbyint(x[i] / step), steps)) * step;

        sum += (q - x[i]) * (q - x[i]);
    }
    return sum;
}

static void least_error(void) {
    enum { N = 20000 };
    static double x[N];
    double clipped = 0;

    for (int kind = 0; kind < 4; kind++) {
        dsx__seen s;
        double most = 0;

        make(x, N, kind);
        CHECK(dsx__seen_new(&s));
        for (size_t i = 0; i < N; i += 100) dsx__see_row(&s, x + i, 100);
        for (size_t i = 0; i < N; i++) most = fmax(most, fabs(x[i]));
        for (int steps = 7; steps <= 127; steps += 120) {
            double limit = (double)dsx__limit_mse(&s, steps), least = INFINITY;

            for (int k = 1; k <= 128; k++) least = fmin(least, error_of(x, N, most * k / 128, steps));
            CHECK(error_of(x, N, limit, steps) <= 1.002 * least);
            CHECK(limit <= most * (1 + 1e-6));
            if (steps == 7 && kind == 0) clipped = limit / most;
        }
        dsx__seen_free(&s);
    }
    CHECK(clipped < 0.9); /* with 15 steps even numbers without outliers are better clipped */
}

/* Nothing seen, zeros, what is not finite, and what lies beyond the bins. */
static void strange(void) {
    dsx__seen s;
    double row[4] = {0, NAN, INFINITY, -INFINITY}, huge[2] = {3e7, -1e9}, tiny = 1e-9;

    CHECK(dsx__seen_new(&s));
    for (int i = 0; i < 2; i++) {
        CHECK(dsx__limit_ema(&s) == 0 && dsx__limit_percentile(&s, 50) == 0 && dsx__limit_mse(&s, 7) == 0);
        dsx__see_row(&s, row, 4);
    }
    dsx__see_row(&s, row + 1, 3);
    CHECK(s.n == 2 && s.n_rows == 2);
    dsx__see_row(&s, huge, 2);
    dsx__see_row(&s, &tiny, 1);
    CHECK(s.most == 1e9f && s.n == 5 && dsx__limit_percentile(&s, 99) == 1e9f);
    CHECK(dsx__limit_mse(&s, 7) > 0 && dsx__limit_mse(&s, 7) <= 1e9f);
    dsx__seen_free(&s);
}

int main(void) {
    ema();
    percentile();
    least_error();
    strange();
    return t_end();
}
