/* SPDX-License-Identifier: MIT */
/* Greedy and random choice. Random numbers: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
#include <dsx/sample.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

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

/* What is enough: so many tokens, or so much probability together. */
typedef struct enough {
    size_t most;
    double mass;
} enough;

static bool is_enough(enough e, size_t n, double sum) {
    return n >= e.most || sum >= e.mass;
}

static bool reaches(enough e, const double *p, size_t n, double least) {
    size_t count = 0;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (p[i] >= least) {
            count++;
            sum += p[i];
        }
    return is_enough(e, count, sum);
}

/* The greatest number such that the probabilities from it on are enough. Their bits have their order: each
 * step finds one bit more. */
static double least_wanted(enough e, const double *p, size_t n) {
    uint64_t low = 0, high = 0x3FF0000000000000u; /* 0 and 1 */
    double least = 0;

    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;

        memcpy(&least, &middle, sizeof least);
        if (reaches(e, p, n, least))
            low = middle;
        else
            high = middle - 1;
    }
    memcpy(&least, &low, sizeof least);
    return least;
}

/* Only the likeliest stay above 0; of equal ones the lower ids. */
static void cut(enough e, double *p, size_t n) {
    double least = least_wanted(e, p, n), sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (p[i] > least) {
            count++;
            sum += p[i];
        }
    for (size_t i = 0; i < n; i++) {
        if (p[i] > least) continue;
        if (p[i] < least || is_enough(e, count, sum)) {
            p[i] = 0;
        } else {
            count++;
            sum += p[i];
        }
    }
}

uint32_t dsx_sample(dsx_sampler *s, double *x, size_t n) {
    uint32_t best = greatest(x, n);
    bool has_p = s->top_p > 0 && s->top_p<1, has_k = s->top_k> 0 && s->top_k < n;
    double max = x[best], total = 0, at;

    if (!(s->temperature > 0) || isnan(max) || isinf(max)) return best;
    for (size_t i = 0; i < n; i++) {
        x[i] = exp((x[i] - max) / s->temperature);
        if (isnan(x[i])) x[i] = 0;
        total += x[i];
    }
    if (has_p || has_k) cut((enough){has_k ? s->top_k : n, has_p ? s->top_p * total : INFINITY}, x, n);
    total = 0;
    for (size_t i = 0; i < n; i++) total += x[i];
    at = uniform(&s->state) * total;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0 && (at -= x[i]) < 0) return (uint32_t)i;
    return best;
}
