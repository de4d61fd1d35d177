/* SPDX-License-Identifier: MIT */
/* Rows of a map's input: rounded where its format says so, rearranged for the kernels, and multiplied with
 * a panel of weights, which are unpacked stretch by stretch and meet all rows while they lie in the nearest
 * cache. */
#include "cpu/cpu.h"
#include "quant/rounding.h"

#include <string.h>

#define BLOCK_BYTES (512u << 10) /* of rows that stay in the second cache */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static bool is_rounded(const dsx__matrix *m) {
    return m->format.rows != DSX_ROWS_FLOAT;
}

static bool is_integer(const dsx__matrix *m) {
    return is_rounded(m) && (m->form == DSX__PACK_4 || m->form == DSX__PACK_8);
}

static size_t padded(const dsx__matrix *m) {
    return ((size_t)m->columns + 31) / 32 * 32;
}

/* So many that they stay in the second cache. */
static size_t rows_at_once(const dsx__matrix *m, size_t n) {
    size_t bytes = is_integer(m) ? padded(m) : (size_t)m->columns * sizeof(float);
    size_t rows = BLOCK_BYTES / (bytes + 1) / DSX__ROWS * DSX__ROWS;

    rows = rows < 4 * DSX__ROWS ? 4 * DSX__ROWS : least(rows, DSX__MOST_ROWS);
    return least(n, rows);
}

/* Room of integers: q of rows as they come, q of blocks, sums, scales. Of floats: blocks, then (rounded)
 * values of rows and their q. */
static size_t room_of(const dsx__matrix *m, size_t n) {
    if (is_integer(m)) return n * (2 * padded(m) + m->n_groups * sizeof(int32_t) + sizeof(float));
    if (is_rounded(m)) return n * (size_t)m->columns * (2 * sizeof(float) + 1);
    return n > 1 ? n * (size_t)m->columns * sizeof(float) : 0;
}

dsx__scratch *dsx__rows_room(dsx__cpu *cpu, const dsx__matrix *m, size_t extra, size_t *n) {
    dsx__scratch *s;

    *n = rows_at_once(m, *n);
    if (*n == 0 || extra + room_of(m, *n) == 0) return NULL;
    s = dsx__scratch_take(cpu, *n * extra + room_of(m, *n));
    if (s == NULL) *n = room_of(m, 1) == 0;
    return s;
}

typedef struct pack_job {
    const dsx__matrix *m;
    const float *x;
    size_t n;
    float *packed, *values;
    int8_t *q;
    uint32_t *words;
    int32_t *sums;
    float *scales;
} pack_job;

/* Values after rounding, then as floats. */
static void pack_floats(void *arg, size_t block) {
    const pack_job *j = arg;
    size_t columns = (size_t)j->m->columns, first = block * DSX__ROWS, rows = least(j->n - first, DSX__ROWS);
    const float *x = j->x + first * columns;
    float *to = j->packed + first * columns;

    if (j->values != NULL) {
        float *values = j->values + first * columns;

        memcpy(values, x, rows * columns * sizeof *x);
        for (size_t r = 0; r < rows; r++)
            dsx__round_values(values + r * columns, columns, j->m->format.rows, j->m->format.limit,
                              j->q + (first + r) * columns);
        x = values;
    }
    for (size_t k = 0; k < columns; k++)
        for (size_t r = 0; r < rows; r++) *to++ = x[r * columns + k];
}

static void pack_integers(void *arg, size_t block) {
    const pack_job *j = arg;
    const dsx__matrix *m = j->m;
    size_t columns = (size_t)m->columns, all = padded(m), first = block * DSX__ROWS,
           rows = least(j->n - first, DSX__ROWS);
    uint32_t *to = j->words + first * all / 4;
    int8_t *q = j->q + first * all;

    for (size_t r = 0; r < rows; r++) {
        j->scales[first + r] = dsx__round_row(j->x + (first + r) * columns, columns, m->format.rows,
                                              m->format.limit, q + r * all);
        memset(q + r * all + columns, 0, all - columns);
    }
    for (size_t k = 0; k < all; k += 4)
        for (size_t r = 0; r < rows; r++) memcpy(to++, q + r * all + k, 4);
    for (size_t g = 0; g < m->n_groups; g++)
        for (size_t r = 0; r < rows; r++) {
            int32_t sum = 0;

            for (size_t k = g * m->group; k < least((g + 1) * m->group, columns); k++) sum += q[r * all + k];
            j->sums[first * m->n_groups + g * rows + r] = sum;
        }
}

void dsx__rows_pack(dsx__cpu *cpu, const dsx__matrix *m, const float *x, size_t n, void *room,
                    dsx__rows *out) {
    size_t columns = (size_t)m->columns, blocks = (n + DSX__ROWS - 1) / DSX__ROWS;
    pack_job j = {.m = m, .x = x, .n = n, .packed = room};

    *out = (dsx__rows){.m = m, .n = n, .x = x};
    if (is_integer(m)) {
        j.words = room;
        j.sums = (int32_t *)(void *)(j.words + n * padded(m) / 4);
        j.scales = (float *)(void *)(j.sums + n * m->n_groups);
        j.q = (int8_t *)(j.scales + n);
        dsx__workers_run(cpu->workers, blocks, pack_integers, &j);
        *out = (dsx__rows){m, n, NULL, {0, j.words, j.sums, j.scales}};
    } else if (is_rounded(m) || n > 1) {
        j.values = is_rounded(m) ? j.packed + n * columns : NULL;
        j.q = is_rounded(m) ? (int8_t *)(j.values + n * columns) : NULL;
        dsx__workers_run(cpu->workers, blocks, pack_floats, &j);
        out->x = j.packed;
    }
}

/* ---- products */

/* Columns of a stretch: about as many in each. */
static size_t stretch_of(size_t columns) {
    size_t n = (columns + DSX__STRETCH - 1) / DSX__STRETCH;

    return n == 0 ? DSX__STRETCH : ((columns + n - 1) / n + 31) / 32 * 32;
}

static void multiply_floats(const dsx__cpu *cpu, const dsx__rows *x, size_t panel, float *sums) {
    _Alignas(64) float unpacked[DSX__STRETCH * DSX__PANEL];
    const dsx__matrix *m = x->m;
    size_t columns = (size_t)m->columns, most = stretch_of(columns);

    for (size_t k = 0; k < columns; k += most) {
        size_t depth = least(columns - k, most);
        const float *w = (const float *)(const void *)(m->packed + panel * m->panel_bytes) + k * DSX__PANEL;

        if (m->form != DSX__PACK_F32) {
            cpu->k->unpack(m, panel, k, depth, unpacked);
            w = unpacked;
        }
        for (size_t i = 0; i < x->n; i += DSX__ROWS) {
            size_t rows = least(x->n - i, DSX__ROWS);
            float *c[DSX__ROWS];

            for (size_t r = 0; r < rows; r++) c[r] = sums + (i + r) * DSX__PANEL;
            cpu->k->multiply(rows, DSX__PANEL, depth, x->x + i * columns + k * rows, rows, w, DSX__PANEL, c,
                             k == 0);
        }
    }
}

void dsx__rows_multiply(const dsx__cpu *cpu, const dsx__rows *x, size_t panel, float *sums) {
    dsx__int_rows block = x->first;

    if (x->x != NULL && x->n == 1) {
        cpu->k->row(x->m, panel, x->x, sums);
    } else if (x->x != NULL) {
        multiply_floats(cpu, x, panel, sums);
    } else {
        for (size_t i = 0; i < x->n; i += DSX__ROWS) {
            block.n = least(x->n - i, DSX__ROWS);
            cpu->dot(x->m, panel, &block, sums + i * DSX__PANEL);
            block.q += block.n * padded(x->m) / 4;
            block.sums += block.n * x->m->n_groups;
            block.scales += block.n;
        }
    }
}
