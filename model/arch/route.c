/* SPDX-License-Identifier: MIT */
/* Routing of Qwen3-MoE, DeepSeek-V2 and V3 (arXiv 2405.04434, 2412.19437): scores, groups, the best, their
 * weights. */
#include "arch/route.h"

#include <math.h>

static void softmax(double *x, uint32_t n) {
    double max = -INFINITY, sum = 0;

    for (uint32_t i = 0; i < n; i++)
        if (x[i] > max) max = x[i];
    for (uint32_t i = 0; i < n; i++) sum += x[i] = exp(x[i] - max);
    for (uint32_t i = 0; i < n; i++) x[i] /= sum;
}

static void sigmoid(double *x, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) x[i] = 1 / (1 + exp(-x[i]));
}

/* What is no number is as bad as can be, but can be chosen: NaN stands for those that were. */
static double score(double x) {
    return isnan(x) ? -INFINITY : x;
}

/* Index of the greatest that was not taken; of equal ones the first. There is one. */
static uint32_t take_best(double *x, uint32_t n) {
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++)
        if (x[i] > x[best] || (isnan(x[best]) && !isnan(x[i]))) best = i;
    x[best] = NAN;
    return best;
}

/* A group is as good as its best expert, or its two best together. */
static double group_score(const double *x, uint32_t n, bool top2) {
    double first = -INFINITY, second = -INFINITY;

    for (uint32_t i = 0; i < n; i++) {
        if (x[i] > first) {
            second = first;
            first = x[i];
        } else if (x[i] > second) {
            second = x[i];
        }
    }
    return top2 ? first + second : first;
}

/* Experts outside the best groups cannot be chosen. */
static void keep_groups(const dsx__moe *m, double *choice, double *groups) {
    uint32_t size = m->n_experts / m->n_groups;

    for (uint32_t g = 0; g < m->n_groups; g++)
        groups[g] = score(group_score(choice + g * size, size, m->group_top2));
    for (uint32_t k = 0; k < m->n_groups_used; k++) take_best(groups, m->n_groups);
    for (uint32_t g = 0; g < m->n_groups; g++)
        if (!isnan(groups[g]))
            for (uint32_t i = 0; i < size; i++) choice[g * size + i] = -INFINITY;
}

void dsx__route(const dsx__moe *m, double *logits, const double *bias, double *scratch, uint32_t *experts,
                double *weights) {
    double *choice = scratch, sum = 0;

    if (m->gate == DSX__GATE_SOFTMAX)
        softmax(logits, m->n_experts);
    else
        sigmoid(logits, m->n_experts);
    for (uint32_t i = 0; i < m->n_experts; i++) choice[i] = score(logits[i] + (bias != NULL ? bias[i] : 0));
    if (m->n_groups > 1) keep_groups(m, choice, scratch + m->n_experts);
    for (uint32_t k = 0; k < m->n_used; k++) {
        experts[k] = take_best(choice, m->n_experts);
        weights[k] = logits[experts[k]];
        sum += weights[k];
    }
    for (uint32_t k = 0; k < m->n_used; k++)
        weights[k] = (m->normalise ? weights[k] / (sum + 1e-20) : weights[k]) * m->scale;
}
