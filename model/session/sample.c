/* SPDX-License-Identifier: MIT */
/* Greedy and random choice. Random numbers: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
#include <dsx/sample.h>

#include <math.h>
#include <stdlib.h>

static double uniform(uint64_t *state) { /* [0, 1) */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static uint32_t greatest(const double *x, size_t n) {
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (x[i] > x[best] || (isnan(x[best]) && !isnan(x[i]))) best = i;
    return (uint32_t)best;
}

static int downwards(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* What a probability must have at least to be among the k likeliest, and among those that reach p together. */
static double least_wanted(const dsx_sampler *s, const double *p, size_t n, double total) {
    double *sorted = malloc(n * sizeof *sorted), sum = 0;
    size_t keep = s->top_k > 0 && s->top_k < n ? s->top_k : n;

    if (sorted == NULL) return 0;
    for (size_t i = 0; i < n; i++) sorted[i] = p[i];
    qsort(sorted, n, sizeof *sorted, downwards);
    if (s->top_p > 0 && s->top_p < 1)
        for (size_t i = 0; i < keep; i++)
            if ((sum += sorted[i]) >= s->top_p * total) keep = i + 1;
    sum = sorted[keep - 1];
    free(sorted);
    return sum;
}

uint32_t dsx_sample(dsx_sampler *s, double *x, size_t n) {
    uint32_t best = greatest(x, n);
    double max = x[best], total = 0, least = 0, at;

    if (!(s->temperature > 0) || isnan(max) || isinf(max)) return best;
    for (size_t i = 0; i < n; i++) total += x[i] = isnan(x[i]) ? 0 : exp((x[i] - max) / s->temperature);
    if (s->top_k > 0 || (s->top_p > 0 && s->top_p < 1)) least = least_wanted(s, x, n, total);
    total = 0;
    for (size_t i = 0; i < n; i++) total += x[i] = x[i] >= least ? x[i] : 0;
    at = uniform(&s->state) * total;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0 && (at -= x[i]) < 0) return (uint32_t)i;
    return best;
}
