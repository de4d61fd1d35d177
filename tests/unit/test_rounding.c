/* SPDX-License-Identifier: MIT */
/* Numbers rounded to few bits: every code, and what is nearest by search. */
#include "quant/rounding.h"

#include "quant/blocks.h"
#include "t.h"

#include <math.h>

static float value(t_rng *rng) { /* any size, both signs */
    double x = (double)(t_random(rng) % 2000001) / 1000000 - 1;

    return (float)ldexp(x, (int)(t_random(rng) % 60) - 30);
}

/* The code whose value is nearest to x; of two the even one. */
static int nearest_code(float x, const float *values, int n) {
    int best = 0;
    double best_distance = INFINITY;

    for (int i = 0; i < n; i++) {
        double distance = fabs((double)values[i] - (double)x);

        if (distance < best_distance || (distance == best_distance && i % 2 == 0)) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

static void fp8(void) {
    float values[127];
    t_rng rng = {1};

    for (int i = 0; i < 127; i++) values[i] = dsx__from_fp8((uint8_t)i);
    CHECK(values[126] == 448 && values[8] == 0x1p-6f && values[1] == 0x1p-9f);
    CHECK(isnan(dsx__from_fp8(0x7f)) && isnan(dsx__from_fp8(0xff)));
    for (int i = 0; i < 127; i++) {
        CHECK_EQ(dsx__to_fp8(values[i]), i);
        CHECK_EQ(dsx__to_fp8(-values[i]), i | 0x80);
        if (i > 0) CHECK_EQ(dsx__to_fp8((values[i] + values[i - 1]) / 2), i % 2 ? i - 1 : i);
    }
    for (int i = 0; i < 20000; i++) {
        float x = fabsf(value(&rng));
        CHECK_EQ(dsx__to_fp8(x), nearest_code(x, values, 127));
    }
    CHECK_EQ(dsx__to_fp8(INFINITY), 0x7e);
    CHECK_EQ(dsx__to_fp8(NAN), 0x7f);
}

static void half(void) {
    for (uint32_t i = 0; i < 0x7c00; i++) {
        float x = dsx__half((uint16_t)i), next = dsx__half((uint16_t)(i + 1));

        CHECK_EQ(dsx__to_half(x), i);
        CHECK_EQ(dsx__to_half(-x), i | 0x8000);
        if (i + 1 < 0x7c00) CHECK_EQ(dsx__to_half((x + next) / 2), i % 2 ? i + 1 : i);
    }
    CHECK_EQ(dsx__to_half(1e9f), 0x7bff);
    CHECK_EQ(dsx__to_half(-INFINITY), 0xfbff);
}

typedef void group_of(const float *x, uint32_t n, int8_t *q, float *d, float *m);

/* Each element is at most half a step away; 0 stays 0; codes are in range. */
static void check_group(group_of *f, const float *x, uint32_t n, int low, int high) {
    int8_t q[128];
    float d, m;

    f(x, n, q, &d, &m);
    for (uint32_t i = 0; i < n; i++) {
        double got = (double)d * q[i] + (double)m;

        CHECK(q[i] >= low && q[i] <= high);
        CHECK(fabs(got - (double)x[i]) <=
              0.51 * (double)d + (high > 100 ? 0.002 : 0.01) * fabs((double)x[i]));
        if (x[i] == 0) CHECK(got == 0);
    }
}

static void groups(void) {
    static const float shapes[][4] = {{0, 0, 0, 0},    {5, 6, 7, 8},          {-5, -6, -7, -8},
                                      {0, 0, 1000, 0}, {1e-7f, 0, -1e-7f, 0}, {-1, 0, 0, 3}};
    float x[128];
    t_rng rng = {2};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_group(dsx__group_w8, shapes[i], 4, -127, 127);
        check_group(dsx__group_w4, shapes[i], 4, 0, 15);
    }
    for (int k = 0; k < 2000; k++) {
        for (int i = 0; i < 128; i++) x[i] = (float)((double)(t_random(&rng) % 2001) / 1000 - (k % 3) * 0.7);
        check_group(dsx__group_w8, x, 32u << k % 3, -127, 127);
        check_group(dsx__group_w4, x, 32u << k % 3, 0, 15);
    }
}

/* A weight that is no number leaves none in its group: nothing hides that a file is damaged. */
static void no_numbers(void) {
    static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    group_of *const all[] = {dsx__group_w8, dsx__group_w4};

    for (size_t i = 0; i < 8; i++) {
        float x[5] = {1, -2, bad[i / 2], 0, 3}, d = 0, m = 0;
        int8_t q[5];

        all[i % 2](x, 5, q, &d, &m);
        for (size_t k = 0; k < 5; k++) CHECK(isnan(d * (float)q[k] + m));
    }
}

/* Smaller groups are never worse, over many weights with outliers. */
static void smaller_groups_are_better(void) {
    float x[4096];
    double before = 0;
    t_rng rng = {3};

    for (int i = 0; i < 4096; i++) {
        double sum = -6;

        for (int k = 0; k < 12; k++) sum += (double)(t_random(&rng) % 1000) / 1000;
        x[i] = (float)(t_random(&rng) % 500 == 0 ? 8 * sum : sum);
    }
    for (uint32_t group = 16; group <= 128; group *= 2) {
        double error = 0;

        for (uint32_t at = 0; at < 4096; at += group) {
            int8_t q[128];
            float d, m;

            dsx__group_w4(x + at, group, q, &d, &m);
            for (uint32_t i = 0; i < group; i++)
                error += pow((double)d * q[i] + (double)m - (double)x[at + i], 2);
        }
        CHECK(error > before);
        before = error;
    }
}

static void int8_rows(void) {
    float x[4] = {0, 0, 0, 0};
    int8_t q[4];

    CHECK(dsx__round_row(x, 4, DSX_ROWS_INT8, 0, q) == 0 && q[0] == 0);
    x[1] = -254;
    x[2] = 3;
    CHECK(dsx__round_row(x, 4, DSX_ROWS_INT8, 0, q) == 2);
    CHECK_EQ(q[1], -127);
    CHECK_EQ(q[2], 2); /* 1.5: ties to even */
}

static void hadamard(void) {
    float x[64], y[64];
    double before = 0, after = 0;
    t_rng rng = {4};

    for (int i = 0; i < 64; i++) y[i] = x[i] = value(&rng) > 0 ? 1.5f : (float)(i % 7);
    x[5] = y[5] = 100;
    dsx__hadamard(y, 64);
    for (int i = 0; i < 64; i++) {
        before += (double)x[i] * (double)x[i];
        after += (double)y[i] * (double)y[i];
    }
    CHECK(fabs(before - after) < 1e-3 * before);
    dsx__hadamard(y, 64);
    for (int i = 0; i < 64; i++) CHECK(fabs((double)x[i] - (double)y[i]) < 1e-4);
}

int main(void) {
    fp8();
    half();
    groups();
    no_numbers();
    smaller_groups_are_better();
    int8_rows();
    hadamard();
    return t_end();
}
