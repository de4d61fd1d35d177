/* SPDX-License-Identifier: MIT */
/* What is seen of rows, and limits chosen from it. */
#include "quant/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FADE  0.99
#define TRIES 128

bool dsx__seen_new(dsx__seen *s) {
    *s = (dsx__seen){.bins = calloc(DSX__BINS, sizeof *s->bins)};
    return s->bins != NULL;
}

void dsx__seen_free(dsx__seen *s) {
    free(s->bins);
    s->bins = NULL;
}

/* Bits of the bin 1: those of 2^-20. */
#define FIRST ((127u - 20u) << 9)

/* The upper 9 bits of the mantissa count, and the exponent. */
static uint32_t bin_of(float a) {
    uint32_t bits;

    memcpy(&bits, &a, sizeof bits);
    bits >>= 14;
    return bits < FIRST ? 0 : bits - FIRST + 1 < DSX__BINS ? bits - FIRST + 1 : DSX__BINS - 1;
}

/* The least number of a bin, and so the first that is greater than those of the bin before. */
static float edge_of(uint32_t bin) {
    uint32_t bits = (bin - 1 + FIRST) << 14;
    float a;

    if (bin == 0) return 0;
    memcpy(&a, &bits, sizeof a);
    return a;
}

void dsx__see_row(dsx__seen *s, const double *row, size_t n) {
    double low = INFINITY, high = -INFINITY, fade = s->n_rows > 0 ? FADE : 0;

    for (size_t i = 0; i < n; i++) {
        float a = fabsf((float)row[i]);
        uint32_t *bin;

        if (!isfinite(a)) continue;
        low = fmin(low, row[i]);
        high = fmax(high, row[i]);
        s->most = fmaxf(s->most, a);
        bin = &s->bins[bin_of(a)];
        if (*bin < UINT32_MAX) ++*bin;
        s->n++;
    }
    if (high < low) return;
    s->low = fade * s->low + (1 - fade) * low;
    s->high = fade * s->high + (1 - fade) * high;
    s->n_rows++;
}

float dsx__limit_ema(const dsx__seen *s) {
    return (float)fmax(fabs(s->low), fabs(s->high));
}

float dsx__limit_percentile(const dsx__seen *s, double percent) {
    double wanted = percent / 100 * (double)s->n, sum = 0;

    for (uint32_t b = 0; b + 1 < DSX__BINS && percent < 100; b++)
        if ((sum += s->bins[b]) >= wanted) return fminf(edge_of(b + 1), s->most);
    return s->most;
}

static double square_error(const dsx__seen *s, double limit, int steps) {
    double sum = 0, step = limit / steps;

    for (uint32_t b = 1; b < DSX__BINS; b++) {
        double x, q;

        if (s->bins[b] == 0) continue;
        x = ((double)edge_of(b) + (double)edge_of(b + 1)) / 2;
        q = fmin(nearbyint(x / step), steps) * step;
        sum += s->bins[b] * (x - q) * (x - q);
    }
    return sum;
}

float dsx__limit_mse(const dsx__seen *s, int steps) {
    double least = INFINITY;
    int best = TRIES;

    for (int k = 1; k <= TRIES && s->most > 0; k++) {
        double error = square_error(s, (double)s->most * k / TRIES, steps);

        if (error < least) {
            least = error;
            best = k;
        }
    }
    return s->most * (float)best / TRIES;
}
