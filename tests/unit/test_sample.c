/* SPDX-License-Identifier: MIT */
/* Choosing a token from logits: the likeliest, and drawn ones. */
#include "t.h"

#include <dsx/sample.h>

#include <math.h>

static void sampling(void) {
    double x[5] = {1, 3, 3, NAN, -1}, y[5];
    dsx_sampler greedy = {0}, warm = {.temperature = 1, .state = 42}, again = {.temperature = 1, .state = 42},
                two = {.temperature = 1, .top_k = 2, .state = 1},
                nucleus = {.temperature = 1, .top_p = 0.5, .state = 1};
    int seen[5] = {0};

    memcpy(y, x, sizeof x);
    CHECK_EQ(dsx_sample(&greedy, y, 5), 1);
    for (int i = 0; i < 2000; i++) {
        double z[5];
        uint32_t id;

        memcpy(y, x, sizeof x);
        memcpy(z, x, sizeof x);
        id = dsx_sample(&warm, y, 5);
        CHECK_EQ(dsx_sample(&again, z, 5), id);
        seen[id]++;
        memcpy(y, x, sizeof x);
        id = dsx_sample(&two, y, 5);
        CHECK(id == 1 || id == 2);
        memcpy(y, x, sizeof x);
        id = dsx_sample(&nucleus, y, 5);
        CHECK(id == 1 || id == 2);
    }
    CHECK(seen[3] == 0 && seen[0] > 60 && seen[0] < 250 && seen[4] > 0 && seen[1] > 700);
}

/* The tokens that may be drawn are those that sorting would keep: the likeliest, of equal ones the lower
 * ids. */
static void likeliest(void) {
    enum { MANY = 40 };
    t_rng rng = {5};

    for (int i = 0; i < 3000; i++) {
        uint32_t k = t_below(&rng, MANY + 3), kinds = 1 + t_below(&rng, 12);
        double p = (double)t_below(&rng, 5) / 4, x[MANY], y[MANY], total = 0, sum = 0;
        dsx_sampler s = {1, k, p, (uint64_t)i};
        bool kept[MANY] = {false};
        uint32_t n = 0, id;

        for (int j = 0; j < MANY; j++)
            x[j] = t_below(&rng, 9) == 0 ? -INFINITY : (double)t_below(&rng, kinds);
        memcpy(y, x, sizeof x);
        id = dsx_sample(&s, y, MANY);
        for (int j = 0; j < MANY; j++) total += exp(x[j] - (kinds - 1));
        for (bool goes_on = true; goes_on && n < MANY; n++) {
            int best = -1;

            for (int j = 0; j < MANY; j++)
                if (!kept[j] && (best < 0 || x[j] > x[best])) best = j;
            kept[best] = true;
            sum += exp(x[best] - (kinds - 1));
            goes_on = n + 1 != k && !(p > 0 && p < 1 && sum >= p * total);
        }
        CHECK(kept[id] && x[id] > -INFINITY);
        for (int j = 0; j < MANY; j++) CHECK((y[j] > 0) == (kept[j] && x[j] > -INFINITY));
    }
}

int main(void) {
    sampling();
    likeliest();
    return t_end();
}
