/* SPDX-License-Identifier: MIT */
/* Weights as kernels want them: panels of 32 outputs side by side. Formats of files keep their size, or
 * nearly: the integers of all block formats fit four or eight bits, with scales as fp16 or float. */
#include "cpu/cpu.h"

#include "base.h"
#include "quant/blocks.h"
#include "quant/rounding.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static size_t bits_of(dsx__form form) {
    static const size_t bits[] = {[DSX__PACK_F32] = 32, [DSX__PACK_F16] = 16, [DSX__PACK_BF16] = 16,
                                  [DSX__PACK_4] = 4,    [DSX__PACK_8] = 8,    [DSX__PACK_FP8] = 8};

    return bits[form];
}

static size_t scale_bytes_of(dsx__scales scales) {
    static const size_t bytes[] = {
        [DSX__SCALE_NONE] = 0,     [DSX__SCALE_HALF] = 2,  [DSX__SCALE_HALF_8] = 2,
        [DSX__SCALE_HALF_MIN] = 4, [DSX__SCALE_FLOAT] = 4, [DSX__SCALE_FLOAT_MIN] = 8,
    };

    return bytes[scales] * DSX__PANEL;
}

static void choose_plain(dsx__matrix *m, bool as_float) {
    dsx__format format = m->part.format;

    m->form = format == DSX__F16 && !as_float    ? DSX__PACK_F16
              : format == DSX__BF16 && !as_float ? DSX__PACK_BF16
                                                 : DSX__PACK_F32;
    m->scales = DSX__SCALE_NONE;
    m->group = 16;
    if (format == DSX__F8_E4M3 && !as_float) {
        m->form = DSX__PACK_FP8;
        m->scales = DSX__SCALE_FLOAT;
        m->group = DSX__FP8_BLOCK;
    }
}

/* Integers of up to 16 values from 0 on; of Q4_0 and Q3_K, whose lowest is negative, the minimum makes up
 * for it. */
static void choose_blocks(dsx__matrix *m) {
    const dsx__block_info *info = &dsx__blocks[m->part.format];
    bool four = info->highest - info->lowest < 16, min = info->has_min || (four && info->lowest < 0);

    m->form = four ? DSX__PACK_4 : DSX__PACK_8;
    m->group = info->group;
    if (!info->half_scales)
        m->scales = min ? DSX__SCALE_FLOAT_MIN : DSX__SCALE_FLOAT;
    else
        m->scales = info->has_min ? DSX__SCALE_HALF_MIN : four ? DSX__SCALE_HALF_8 : DSX__SCALE_HALF;
}

/* Rounded here, in groups of the format's size. */
static void choose_rounded(dsx__matrix *m) {
    static const dsx__form forms[] = {
        [DSX_WEIGHTS_W8] = DSX__PACK_8, [DSX_WEIGHTS_W4] = DSX__PACK_4, [DSX_WEIGHTS_FP8] = DSX__PACK_FP8};
    static const dsx__scales scales[] = {[DSX_WEIGHTS_W8] = DSX__SCALE_HALF,
                                         [DSX_WEIGHTS_W4] = DSX__SCALE_FLOAT_MIN,
                                         [DSX_WEIGHTS_FP8] = DSX__SCALE_FLOAT};

    m->form = forms[m->format.weights];
    m->scales = scales[m->format.weights];
    m->group = m->format.group > 0 ? m->format.group : (uint32_t)((m->columns + 15) / 16 * 16);
}

static void put_number(const dsx__matrix *m, uint8_t *panel, uint64_t column, size_t lane, int q) {
    uint32_t *words = (uint32_t *)(void *)panel, u = (uint32_t)q;

    if (m->form == DSX__PACK_4)
        words[column / 8 * DSX__PANEL + lane] |= (u & 15) << (column % 4 * 8 + column / 4 % 2 * 4);
    else
        words[column / 4 * DSX__PANEL + lane] |= (u & 255) << column % 4 * 8;
}

/* Scales of group g, counted from `data`'s block on. */
static void put_scales(const dsx__matrix *m, uint8_t *to, size_t lane, const uint8_t *data,
                       const dsx__block *b, size_t g) {
    const dsx__block_info *info = &dsx__blocks[m->part.format];

    if (info->half_scales) {
        memcpy(to + 2 * lane, data, 2);
        if (info->has_min) memcpy(to + 2 * (DSX__PANEL + lane), data + 2, 2);
        return;
    }
    float min = info->has_min ? b->m[g] : b->d[g] * (float)info->lowest;
    memcpy(to + 4 * lane, &b->d[g], 4);
    if (m->scales == DSX__SCALE_FLOAT_MIN) memcpy(to + 4 * (DSX__PANEL + lane), &min, 4);
}

static void pack_blocks(const dsx__matrix *m, size_t panel, size_t lane, const uint8_t *data) {
    const dsx__format_info *f = &dsx__formats[m->part.format];
    int low = m->form == DSX__PACK_4 ? dsx__blocks[m->part.format].lowest : 0;
    uint8_t *scales = m->all_scales + panel * m->n_groups * m->scale_bytes;

    for (uint64_t at = 0; at < m->columns; at += f->block, data += f->bytes) {
        dsx__block b;

        dsx__block_split(m->part.format, data, &b);
        for (uint32_t i = 0; i < f->block; i++)
            put_number(m, m->packed + panel * m->panel_bytes, at + i, lane, b.q[i] - low);
        for (uint32_t g = 0; g < f->block / m->group; g++, scales += m->scale_bytes)
            put_scales(m, scales, lane, data, &b, g);
    }
}

static void pack_plain(const dsx__matrix *m, size_t panel, size_t lane, const uint8_t *data) {
    const dsx__format_info *f = &dsx__formats[m->part.format];
    uint8_t *to = m->packed + panel * m->panel_bytes;
    size_t size = bits_of(m->form) / 8;

    for (uint64_t at = 0; at < m->columns; at += f->block, data += f->bytes) {
        float w[DSX__MAX_BLOCK];

        if (m->form == DSX__PACK_F32) dsx__part_read(&m->part, panel * DSX__PANEL + lane, at, f->block, w);
        for (uint32_t i = 0; i < f->block; i++) {
            const void *from = m->form == DSX__PACK_F32 ? (const void *)&w[i] : data;

            memcpy(to + ((at + i) * DSX__PANEL + lane) * size, from, size);
        }
    }
}

static void pack_fp8(const dsx__matrix *m, size_t panel, size_t lane, const uint8_t *data) {
    uint8_t *scales = m->all_scales + panel * m->n_groups * m->scale_bytes + 4 * lane;
    const uint8_t *from = m->part.scales + (panel * DSX__PANEL + lane) / DSX__FP8_BLOCK * m->n_groups * 4;

    for (uint64_t at = 0; at < m->columns; at++)
        put_number(m, m->packed + panel * m->panel_bytes, at, lane, data[at]);
    for (size_t g = 0; g < m->n_groups; g++) memcpy(scales + g * m->scale_bytes, from + 4 * g, 4);
}

/* Four panels: as many rows as share scales at most. */
typedef struct rounding {
    const dsx__matrix *m;
    uint64_t first; /* row */
    float *w;
} rounding;

static void put_group(void *context, uint64_t row, uint64_t at, const dsx__group *g) {
    const rounding *r = context;
    const dsx__matrix *m = r->m;
    size_t panel = (size_t)((r->first + row) / DSX__PANEL), lane = (size_t)((r->first + row) % DSX__PANEL);
    uint8_t *scales = m->all_scales + (panel * m->n_groups + (size_t)(at / m->group)) * m->scale_bytes;
    uint16_t half = dsx__to_half(g->d); /* exact where it is used */

    for (uint32_t i = 0; i < g->n; i++)
        put_number(m, m->packed + panel * m->panel_bytes, at + i, lane, g->q[i]);
    if (m->scales == DSX__SCALE_HALF)
        memcpy(scales + 2 * lane, &half, 2);
    else
        memcpy(scales + 4 * lane, &g->d, 4);
    if (m->scales == DSX__SCALE_FLOAT_MIN) memcpy(scales + 4 * (DSX__PANEL + lane), &g->m, 4);
}

static void put_floats(const rounding *r, uint64_t n) {
    const dsx__matrix *m = r->m;

    for (uint64_t i = 0; i < n; i++) {
        float *panel = (float *)(void *)(m->packed + (r->first + i) / DSX__PANEL * m->panel_bytes);

        for (uint64_t k = 0; k < m->columns; k++)
            panel[k * DSX__PANEL + (r->first + i) % DSX__PANEL] = r->w[i * m->columns + k];
    }
}

typedef struct pack_job {
    const dsx__matrix *m;
    atomic_bool failed;
} pack_job;

static void pack_rounded(void *arg, size_t square) {
    pack_job *j = arg;
    const dsx__matrix *m = j->m;
    rounding r = {m, square * DSX__SQUARE, NULL};
    uint64_t n = m->rows - r.first < DSX__SQUARE ? m->rows - r.first : DSX__SQUARE;

    r.w = malloc((size_t)(n * m->columns) * sizeof *r.w);
    if (r.w == NULL) {
        atomic_store(&j->failed, true);
        return;
    }
    if (m->form == DSX__PACK_F32) {
        dsx__weights_read(&m->part, &m->format, r.first, n, r.w);
        put_floats(&r, n);
    } else {
        dsx__rows_read(&m->part, r.first, n, r.w);
        dsx__round_weights(&m->format, r.w, n, m->columns, put_group, &r);
    }
    free(r.w);
}

static void pack_panel(void *arg, size_t panel) {
    const dsx__matrix *m = ((pack_job *)arg)->m;
    uint64_t row_bytes = dsx__row_bytes(m->part.format, m->columns);

    for (size_t lane = 0; lane < DSX__PANEL && panel * DSX__PANEL + lane < m->rows; lane++) {
        const uint8_t *data = m->part.data + (panel * DSX__PANEL + lane) * row_bytes;

        if (m->form == DSX__PACK_FP8)
            pack_fp8(m, panel, lane, data);
        else if (m->scales == DSX__SCALE_NONE)
            pack_plain(m, panel, lane, data);
        else
            pack_blocks(m, panel, lane, data);
    }
}

/* Form and sizes, without memory. What is no map is not packed. */
static void lay_out(dsx__matrix *m, const dsx__part *part, const dsx_format *format) {
    m->part = *part;
    m->rows = part->rows;
    m->columns = part->columns;
    if (format == NULL) {
        m->vector_bytes = part->rows == 1 ? (size_t)part->columns * sizeof(float) : 0;
        return;
    }
    m->format = *format;
    m->is_rounded = format->weights >= DSX_WEIGHTS_W8 || format->rows == DSX_ROWS_INT4_HADAMARD;
    if (format->rows == DSX_ROWS_INT4_HADAMARD || format->weights == DSX_WEIGHTS_F32)
        choose_plain(m, true);
    else if (m->is_rounded)
        choose_rounded(m);
    else if (dsx__blocks[part->format].group == 0)
        choose_plain(m, false);
    else
        choose_blocks(m);
    m->n_panels = (size_t)((m->rows + DSX__PANEL - 1) / DSX__PANEL);
    m->panel_bytes = (size_t)((m->columns + 31) / 32 * 32) * DSX__PANEL * bits_of(m->form) / 8;
    m->scale_bytes = scale_bytes_of(m->scales);
    m->n_groups = (size_t)((m->columns + m->group - 1) / m->group);
}

static bool take_memory(dsx__cpu *cpu, dsx__matrix *m) {
    m->packed = dsx__weights_take(cpu, m->n_panels * m->panel_bytes);
    m->all_scales = dsx__weights_take(cpu, m->n_panels * m->n_groups * m->scale_bytes);
    m->vector = dsx__weights_take(cpu, m->vector_bytes);
    return m->packed != NULL && m->all_scales != NULL && m->vector != NULL;
}

dstok_status dsx__cpu_load(void *be, const dsx__part *part, const dsx_format *format, dsx__matrix **out,
                           dstok_error *err) {
    dsx__cpu *cpu = be;
    dsx__matrix *m = calloc(1, sizeof *m);
    pack_job job = {m, false};

    if (m == NULL) return dsx__no_memory(err);
    lay_out(m, part, format);
    if (take_memory(cpu, m)) {
        if (m->vector_bytes > 0) dsx__part_read(part, 0, 0, m->columns, m->vector);
        if (m->is_rounded)
            dsx__workers_run(cpu->workers, (size_t)((m->rows + DSX__SQUARE - 1) / DSX__SQUARE), pack_rounded,
                             &job);
        else
            dsx__workers_run(cpu->workers, m->n_panels, pack_panel, &job);
    } else {
        job.failed = true;
    }
    if (job.failed) {
        dsx__cpu_unload(be, m);
        return dsx__no_memory(err);
    }
    *out = m;
    return DSTOK_OK;
}

void dsx__cpu_unload(void *be, dsx__matrix *m) {
    if (m == NULL) return;
    dsx__weights_give(be, m->packed);
    dsx__weights_give(be, m->all_scales);
    dsx__weights_give(be, m->vector);
    free(m);
}

uint64_t dsx__cpu_bytes(const dsx__matrix *m) {
    return sizeof *m + m->n_panels * (m->panel_bytes + m->n_groups * m->scale_bytes) + m->vector_bytes;
}

uint64_t dsx__cpu_plan(const dsx__part *part, const dsx_format *format) {
    dsx__matrix m = {0};

    lay_out(&m, part, format);
    return dsx__cpu_bytes(&m);
}
