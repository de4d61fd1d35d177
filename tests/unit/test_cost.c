/* SPDX-License-Identifier: MIT */
/* Planners against brute force and closed forms. */
#include <dsx/cost.h>

#include "t.h"

#include <math.h>

/* The definition, told the other way round: i is best unless some k is nowhere worse and somewhere better. */
static int is_best(const double *v, size_t n, size_t m, size_t i) {
    for (size_t k = 0; k < n; k++) {
        size_t not_worse = 0, better = 0;

        for (size_t j = 0; j < m; j++) {
            not_worse += v[k * m + j] <= v[i * m + j];
            better += v[k * m + j] < v[i * m + j];
        }
        if (not_worse == m && better > 0) return 0;
    }
    return 1;
}

static void pareto(void) {
    double v[40 * 3];
    int best[40];
    t_rng rng = {1};

    for (int round = 0; round < 3000; round++) {
        size_t n = t_below(&rng, 40), m = 1 + t_below(&rng, 3);
        uint32_t range = 1 + t_below(&rng, 12); /* many ties */

        for (size_t i = 0; i < n * m; i++) v[i] = t_below(&rng, range);
        dsx_pareto(v, n, m, best);
        for (size_t i = 0; i < n; i++) CHECK_EQ(best[i], is_best(v, n, m, i));
    }
    v[0] = NAN;
    v[1] = 5;
    dsx_pareto(v, 2, 1, best);
    CHECK(!best[0] && best[1]);
    /* three points, none beaten: 4 x 16K, 8 x 8K, 2 x 32K by memory, latency, throughput */
    double three[] = {1, 3, 2, 2, 2, 1, 3, 1, 3};
    dsx_pareto(three, 3, 3, best);
    CHECK(best[0] && best[1] && best[2]);
}

static const dsx_cost_model model = {.weights = 14e9,
                                     .active_weights = 14e9,
                                     .token_operations = 14e9,
                                     .pair_operations = 4.0 * 32 * 32 * 128,
                                     .kv = 131072,
                                     .n_layers = 32,
                                     .width = 4096,
                                     .number_bytes = 2};

static void roofline(void) {
    const dsx_machine *m = dsx_machine_find("h200");
    dsx_point one, many, longer;

    CHECK(m != NULL && dsx_machine_find("nothing") == NULL && dsx_machine_at(1000) == NULL);
    if (m == NULL) return;
    dsx_cost_point(&model, m, 1, 0, &one);
    CHECK(fabs(one.step - 14e9 / m->bandwidth) < 1e-12); /* one token: all weights through memory */
    CHECK(one.memory == 14e9 && one.fits);
    dsx_cost_point(&model, m, 64, 0, &many);
    CHECK(many.step == one.step && many.tokens_per_second == 64 * one.tokens_per_second);
    dsx_cost_point(&model, m, 1, 131072, &longer);
    CHECK(fabs(longer.memory - 14e9 - 131072.0 * 131072) < 1);
    CHECK(fabs(longer.prefill -
               (131072.0 * 14e9 + 131072.0 * 131073 / 2 * model.pair_operations) / m->operations) < 1e-6);
    dsx_cost_point(&model, m, 64, 131072, &many);
    CHECK(!many.fits);
}

static void several_devices(void) {
    const dsx_machine *m = dsx_machine_find("h100");
    dsx_parallel one, four;

    if (m == NULL) return;
    dsx_cost_parallel(&model, m, 1000, 1, &one);
    CHECK(one.tensor_bytes == 0 && one.tensor_seconds == 0 && one.sequence_bytes == 0);
    dsx_cost_parallel(&model, m, 1000, 4, &four);
    CHECK(four.tensor_bytes == 2.0 * 32 * 2 * 3 / 4 * 1000 * 4096 * 2);
    CHECK(four.sequence_bytes == 3.0 / 4 * 1000 * 131072);
    CHECK(four.tensor_memory == 3.5e9 && four.sequence_memory == 14e9);
    CHECK(fabs(four.tensor_seconds - (64 * 6 * m->link_delay + four.tensor_bytes / m->link)) < 1e-9);
}

static void offload(void) {
    int on_host[32];
    double resident, stall;
    int n = 0;

    CHECK_EQ(dsx_offload(32, 100, 1, 500, 5000, 50, on_host, &resident, &stall), DSTOK_OK); /* all fit */
    CHECK(resident == 3700 && stall == 0 && on_host[0] == 0);
    /* a copy takes 2 passes of a layer: with every fourth layer on the host all copies hide */
    CHECK_EQ(dsx_offload(32, 100, 1, 500, 3100, 50, on_host, &resident, &stall), DSTOK_OK);
    for (int i = 0; i < 32; i++) n += on_host[i];
    CHECK_EQ(n, 8);
    CHECK(resident == 3100 && stall == 0);
    /* with every layer there the copies are all that counts: 32 x 2 - 32 seconds of waiting */
    CHECK_EQ(dsx_offload(32, 100, 1, 500, 700, 50, on_host, &resident, &stall), DSTOK_OK);
    CHECK(resident == 700 && fabs(stall - 32) < 1e-9);
    CHECK_EQ(dsx_offload(32, 100, 1, 500, 600, 50, on_host, &resident, &stall), DSTOK_E_LIMIT);
}

int main(void) {
    pareto();
    roofline();
    several_devices();
    offload();
    return t_end();
}
