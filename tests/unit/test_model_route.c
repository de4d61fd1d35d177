/* SPDX-License-Identifier: MIT */
/* Routing to experts, also of what is no number: no expert twice, and those that sorting would choose. */
#include "arch/route.h"
#include "t.h"

#include <math.h>

enum { EXPERTS = 12 };

static double number(t_rng *rng, uint32_t odd) {
    static const double odds[] = {NAN, INFINITY, -INFINITY, 1e308};

    return t_below(rng, 8) < odd ? odds[t_below(rng, 4)] : (double)t_below(rng, 9) - 4;
}

/* Whether expert a comes before b: by score, then by number. */
static bool before(const double *score, uint32_t a, uint32_t b) {
    return score[a] > score[b] || (score[a] == score[b] && a < b);
}

static void check(t_rng *rng, uint32_t odd) {
    static const uint32_t groups[] = {1, 2, 3, 4, 6};
    dsx__moe m = {.n_experts = EXPERTS, .scale = 1, .n_groups = groups[t_below(rng, 5)]};
    uint32_t size = EXPERTS / m.n_groups, experts[EXPERTS];
    double logits[EXPERTS], bias[EXPERTS], scratch[2 * EXPERTS], weights[EXPERTS], score[EXPERTS];
    bool has_bias = t_below(rng, 2) == 1, taken[EXPERTS] = {false};

    m.n_groups_used = 1 + t_below(rng, m.n_groups);
    m.n_used = 1 + t_below(rng, m.n_groups_used * size);
    m.gate = t_below(rng, 2) ? DSX__GATE_SIGMOID : DSX__GATE_SOFTMAX;
    m.group_top2 = t_below(rng, 2);
    m.normalise = t_below(rng, 2);
    for (uint32_t i = 0; i < EXPERTS; i++) {
        logits[i] = number(rng, odd);
        bias[i] = number(rng, odd);
        score[i] = logits[i] + (has_bias ? bias[i] : 0);
    }
    dsx__route(&m, logits, has_bias ? bias : NULL, scratch, experts, weights);
    for (uint32_t k = 0; k < m.n_used; k++) {
        CHECK(experts[k] < EXPERTS && !taken[experts[k]]);
        taken[experts[k]] = true;
    }
    for (uint32_t k = 0; k < m.n_used && odd == 0; k++) CHECK(weights[k] > 0);
    for (uint32_t i = 0; i < EXPERTS && odd == 0 && m.n_groups == 1 && !has_bias; i++)
        if (!taken[i]) CHECK(before(score, experts[m.n_used - 1], i));
}

int main(void) {
    t_rng rng = {11};

    for (int i = 0; i < 20000; i++) check(&rng, (uint32_t)i % 9);
    return t_end();
}
