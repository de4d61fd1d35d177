/* SPDX-License-Identifier: MIT */
/* Kernels of few bits, each instruction set against plain sums of int64, and all 256 codes of FP8. */
#include "cpu/cpu.h"

#include "quant/rounding.h"
#include "t.h"

#include <dsx/model.h>

#include <math.h>
#include <stdlib.h>

enum { PANELS = 2, MOST_COLUMNS = 544 };

static t_rng rng = {11};
static dsx__cpu *machines[3];

/* A matrix of integers: kind 0 by chance, 1 and 2 all at an end of their range. */
static int number(bool four, int kind) {
    if (kind == 0) return four ? (int)t_below(&rng, 16) : (int)t_below(&rng, 256) - 128;
    return kind == 1 ? (four ? 15 : 127) : (four ? 0 : -128);
}

typedef struct a_case {
    dsx__matrix m;
    dsx__int_rows x;
    int8_t w[PANELS * DSX__PANEL][MOST_COLUMNS], q[DSX__ROWS][MOST_COLUMNS];
    float d[PANELS][MOST_COLUMNS / 16][2][DSX__PANEL], scales[DSX__ROWS];
    uint32_t packed[PANELS * DSX__PANEL * MOST_COLUMNS / 4], words[DSX__ROWS * MOST_COLUMNS / 4];
    int32_t sums[MOST_COLUMNS / 16 * DSX__ROWS];
} a_case;

static void fill_matrix(a_case *c, bool four, bool min, size_t columns, uint32_t group, int kind) {
    size_t padded = (columns + 31) / 32 * 32, step = four ? 8 : 4;

    memset(c, 0, sizeof *c);
    c->m = (dsx__matrix){.rows = PANELS * DSX__PANEL,
                         .columns = columns,
                         .form = four ? DSX__PACK_4 : DSX__PACK_8,
                         .scales = min ? DSX__SCALE_FLOAT_MIN : DSX__SCALE_FLOAT,
                         .group = group,
                         .scale_bytes = sizeof(float) * DSX__PANEL * (1 + min),
                         .n_panels = PANELS,
                         .n_groups = (columns + group - 1) / group,
                         .panel_bytes = padded * DSX__PANEL / (four ? 2 : 1),
                         .packed = (uint8_t *)c->packed,
                         .all_scales = (uint8_t *)c->d};
    for (size_t r = 0; r < c->m.rows; r++)
        for (size_t k = 0; k < columns; k++) {
            size_t shift = four ? k % 4 * 8 + k / 4 % 2 * 4 : k % 4 * 8;
            uint32_t *word =
                c->packed + r / DSX__PANEL * c->m.panel_bytes / 4 + k / step * DSX__PANEL + r % DSX__PANEL;

            c->w[r][k] = (int8_t)number(four, kind);
            *word |= ((uint32_t)c->w[r][k] & (four ? 15 : 255)) << shift;
        }
    for (size_t i = 0; i < sizeof c->d / sizeof(float); i++)
        ((float *)c->d)[i] = (float)((double)t_below(&rng, 2000) / 1000 - 1);
}

static void fill_rows(a_case *c, size_t n, int kind) {
    size_t columns = (size_t)c->m.columns, padded = (columns + 31) / 32 * 32;

    for (size_t r = 0; r < n; r++) {
        c->scales[r] = (float)(1 + t_below(&rng, 1000)) / 1024;
        for (size_t k = 0; k < columns; k++)
            c->q[r][k] = (int8_t)(kind == 0 ? (int)t_below(&rng, 255) - 127 : kind == 1 ? 127 : -127);
        for (size_t k = 0; k < padded; k++)
            ((uint8_t *)c->words)[(k / 4 * n + r) * 4 + k % 4] = (uint8_t)c->q[r][k];
        for (size_t g = 0; g < c->m.n_groups; g++) {
            int32_t sum = 0;

            for (size_t k = g * c->m.group; k < (g + 1) * c->m.group && k < columns; k++) sum += c->q[r][k];
            c->sums[g * n + r] = sum;
        }
    }
    c->x = (dsx__int_rows){n, c->words, c->sums, c->scales};
}

/* The definition, with integers that cannot overflow. */
static float plain(const a_case *c, size_t panel, size_t r, size_t lane, bool min) {
    const float *scales = (const float *)(const void *)c->m.all_scales;
    float y = 0;

    for (size_t g = 0; g < c->m.n_groups; g++) {
        const float *d = scales + (panel * c->m.n_groups + g) * c->m.scale_bytes / sizeof *d;
        int64_t sum = 0, of_x = 0;

        for (size_t k = g * c->m.group; k < (g + 1) * c->m.group && k < c->m.columns; k++) {
            sum += (int64_t)c->w[panel * DSX__PANEL + lane][k] * c->q[r][k];
            of_x += c->q[r][k];
        }
        CHECK(llabs(sum) < 1 << 24);
        y = fmaf(d[lane], (float)sum, y);
        if (min) y = fmaf(d[DSX__PANEL + lane], (float)of_x, y);
    }
    return y * c->scales[r];
}

static void check_dot(a_case *c, bool min) {
    float want[DSX__ROWS * DSX__PANEL], got[DSX__ROWS * DSX__PANEL];

    for (size_t panel = 0; panel < PANELS; panel++) {
        for (size_t i = 0; i < c->x.n * DSX__PANEL; i++)
            want[i] = plain(c, panel, i / DSX__PANEL, i % DSX__PANEL, min);
        for (size_t k = 0; k < 3; k++) {
            machines[k]->dot(&c->m, panel, &c->x, got);
            CHECK_MEM(got, want, c->x.n * DSX__PANEL * sizeof *got);
        }
    }
}

static void integers(void) {
    static const size_t columns[] = {1, 16, 77, 128, 300, 544};
    a_case *c = malloc(sizeof *c);

    for (size_t i = 0; c != NULL && i < 6; i++)
        for (uint32_t group = 16; group <= 128; group *= 2)
            for (int kind = 0; kind < 9; kind++)
                for (int form = 0; form < 3; form++) { /* W4 always has a minimum */
                    fill_matrix(c, form == 2, form > 0, columns[i], group, kind % 3);
                    fill_rows(c, 1 + (i * 5 + group / 16 + (size_t)kind) % DSX__ROWS, kind / 3);
                    check_dot(c, form > 0);
                }
    free(c);
}

/* Codes as weights of one row, 32 columns at a time. */
static void codes_of_fp8(void) {
    uint32_t packed[8 * DSX__PANEL];
    float scales[DSX__PANEL], w[32 * DSX__PANEL], row[DSX__PANEL], x[32];
    dsx__matrix m = {.rows = 32,
                     .columns = 32,
                     .form = DSX__PACK_FP8,
                     .scales = DSX__SCALE_FLOAT,
                     .group = 32,
                     .scale_bytes = sizeof scales,
                     .n_panels = 1,
                     .n_groups = 1,
                     .panel_bytes = sizeof packed,
                     .packed = (uint8_t *)packed,
                     .all_scales = (uint8_t *)scales};

    for (size_t i = 0; i < DSX__PANEL; i++) scales[i] = 0.75f;
    for (uint32_t first = 0; first < 256; first += 32)
        for (size_t k = 0; k < 3; k++) {
            for (size_t i = 0; i < 8 * DSX__PANEL; i++)
                packed[i] = (first + (uint32_t)(i / DSX__PANEL) * 4) * 0x01010101u + 0x03020100u;
            machines[k]->k->unpack(&m, 0, 0, 32, w);
            for (uint32_t i = 0; i < 32; i++) {
                uint8_t code = (uint8_t)(first + i);
                float want =
                    (code & 0x7f) == 0x7f ? copysignf(480, code & 0x80 ? -1.0f : 1.0f) : dsx__from_fp8(code);

                for (size_t lane = 0; lane < DSX__PANEL; lane++)
                    CHECK(w[i * DSX__PANEL + lane] == want * 0.75f);
                for (size_t c = 0; c < 32; c++) x[c] = c == i ? 1.0f : 0.0f;
                machines[k]->k->row(&m, 0, x, row);
                CHECK(row[5] == want * 0.75f);
            }
        }
}

/* x[i] is within half a step of what it became, in all sizes of numbers; a limit cuts. */
static void rows(void) {
    static const int kinds[] = {DSX_ROWS_INT8, DSX_ROWS_INT4, DSX_ROWS_INT8_FIXED, DSX_ROWS_INT4_FIXED};
    float x[100], values[100];
    int8_t q[100];

    for (int e = -149; e < 128; e += 3)
        for (size_t k = 0; k < 4; k++) {
            float limit = k < 2 ? 0 : ldexpf(0.5f, e), scale;
            int most = k % 2 ? 7 : 127;

            for (int i = 0; i < 100; i++) x[i] = ldexpf((float)((double)t_below(&rng, 2001) / 1000 - 1), e);
            memcpy(values, x, sizeof x);
            scale = dsx__round_row(x, 100, kinds[k], limit, q);
            dsx__round_values(values, 100, kinds[k], limit, q);
            for (int i = 0; i < 100; i++) {
                double cut = k < 2 ? (double)x[i] : fmax(-(double)limit, fmin((double)limit, (double)x[i]));

                CHECK(q[i] >= -most && q[i] <= most && values[i] == scale * (float)q[i]);
                if (e > -120) CHECK(fabs((double)values[i] - cut) <= 0.5001 * (double)scale);
            }
        }
    for (int bad = 0; bad < 3; bad++) {
        x[50] = bad == 0 ? NAN : bad == 1 ? INFINITY : -INFINITY;
        CHECK(isnan(dsx__round_row(x, 100, DSX_ROWS_INT8, 0, q)));
        CHECK(isnan(dsx__round_row(x, 100, DSX_ROWS_INT4_FIXED, 2, q)));
    }
}

/* Squares have the scale of their greatest number, rows theirs; the last square may be narrow and low. */
static void squares(void) {
    enum { ROWS = 130, COLUMNS = 150 };
    static float w[ROWS * COLUMNS], out[ROWS * COLUMNS];
    dsx__part part = {.format = DSX__F32, .rows = ROWS, .columns = COLUMNS, .data = (const uint8_t *)w};
    dsx_format square = {DSX_WEIGHTS_FP8, 128, 0, 0}, row = {DSX_WEIGHTS_FP8, 0, 0, 0};

    for (size_t i = 0; i < ROWS * COLUMNS; i++) w[i] = 0.1f;
    w[3 * COLUMNS + 140] = 44800;
    for (int by_row = 0; by_row < 2; by_row++) {
        dsx__weights_read(&part, by_row ? &row : &square, 0, 128, out);
        dsx__weights_read(&part, by_row ? &row : &square, 128, 2, out + 128 * COLUMNS);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t k = 0; k < COLUMNS; k++) {
                bool coarse = by_row ? i == 3 : i < 128 && k >= 128;

                if (w[i * COLUMNS + k] < 1)
                    CHECK(fabs((double)out[i * COLUMNS + k] - (coarse ? 0.1953125 : 0.1)) < 1e-6);
                else
                    CHECK(out[i * COLUMNS + k] == 44800);
            }
    }
}

int main(void) {
    const dsx__backend_ops *ops = &dsx__backend_cpu;

    for (int k = 0; k < 3; k++) {
        dsx__backend_options options = {.n_threads = 1, .simd = DSX_SIMD_SCALAR + k};
        void *be = NULL;

        CHECK_EQ(ops->open(&options, &be, NULL), DSTOK_OK);
        machines[k] = be;
    }
    integers();
    codes_of_fp8();
    rows();
    squares();
    for (int k = 0; k < 3; k++) ops->close(machines[k]);
    return t_end();
}
