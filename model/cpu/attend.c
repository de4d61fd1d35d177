/* SPDX-License-Identifier: MIT */
/* Attention, page by page. All query heads of a key-value head and all tokens of the call are rows of one
 * product: row r is token r / group, head r % group. Many rows lie side by side as lanes of a vector, so
 * that the greatest score and the sums need no work across lanes; few rows go one by one with keys as
 * lanes. Both give the same bits. */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#define R(p)  ((float *)(void *)(p))
#define CR(p) ((const float *)(const void *)(p))

#define FEW       16u                 /* rows up to which they go one by one */
#define MOST_TURN (576u * DSX__LANES) /* numbers of queries that are turned to lanes at once */
#define TURNS     2u                  /* groups of lanes that use a page together */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static float *keys_of(const dsx__attention *a, uint64_t page, size_t head) {
    const dsx__kv_shape *s = a->shape;

    return R(a->pages[page]) + a->layer * dsx__kv_layer_reals(s) + head * s->key_dim * DSX__PAGE;
}

static float *values_of(const dsx__attention *a, uint64_t page, size_t head) {
    const dsx__kv_shape *s = a->shape;

    return R(a->pages[page]) + a->layer * dsx__kv_layer_reals(s) +
           (size_t)s->n_kv_heads * s->key_dim * DSX__PAGE + head * s->value_dim * DSX__PAGE;
}

typedef struct attend_job {
    const dsx__kernels *k;
    const dsx__attention *a;
    const float *q, *keys, *values; /* keys, values: to be written */
    size_t n, group, rows, step;    /* rows = n * group; step: rows of a task */
    float *out;
} attend_job;

/* ---- writing */

static void write_page(void *arg, size_t task) {
    const attend_job *j = arg;
    const dsx__kv_shape *s = j->a->shape;
    size_t h = task % s->n_kv_heads;
    uint64_t page = j->a->first / DSX__PAGE + task / s->n_kv_heads, from = page * DSX__PAGE;
    float *keys = keys_of(j->a, page, h), *values = values_of(j->a, page, h);

    for (size_t slot = from < j->a->first ? (size_t)(j->a->first - from) : 0; slot < DSX__PAGE; slot++) {
        size_t i = (size_t)(from + slot - j->a->first), at = i * s->n_kv_heads + h;

        if (i >= j->n) break;
        for (size_t d = 0; d < s->key_dim; d++) keys[d * DSX__PAGE + slot] = j->keys[at * s->key_dim + d];
        memcpy(values + slot * s->value_dim, j->values + at * s->value_dim, s->value_dim * sizeof(float));
    }
}

void dsx__cpu_kv_write(void *be, const dsx__attention *a, const dsx__real *k, const dsx__real *v, size_t n) {
    dsx__cpu *cpu = be;
    attend_job j = {.a = a, .keys = CR(k), .values = CR(v), .n = n};
    uint64_t first = a->first / DSX__PAGE, end = (a->first + n + DSX__PAGE - 1) / DSX__PAGE;

    if (n > 0) dsx__workers_run(cpu->workers, (size_t)(end - first) * a->shape->n_kv_heads, write_page, &j);
}

/* ---- rows */

static uint64_t position_of(const attend_job *j, size_t row) {
    return j->a->first + row / j->group;
}

static uint64_t first_seen(const attend_job *j, uint64_t position) {
    return j->a->window > 0 && position >= j->a->window ? position - j->a->window + 1 : 0;
}

static size_t head_of(const attend_job *j, size_t kv_head, size_t row) {
    return row / j->group * j->a->n_heads + kv_head * j->group + row % j->group;
}

/* At the start of a run over pages. Unused lanes see all keys. */
static void begin_lanes(const attend_job *j, size_t kv_head, size_t row, size_t n, dsx__lanes *l) {
    const dsx__attention *a = j->a;

    memset(l, 0, sizeof *l);
    l->scale = (float)(a->scale * 1.4426950408889634074);
    l->biased = a->alibi != 0;
    for (size_t i = 0; i < DSX__LANES; i++) {
        size_t head = kv_head * j->group + (row + i) % j->group;

        l->max[i] = -1e30f;
        l->end[i] = DSX__PAGE;
        if (l->biased)
            l->slope[i] =
                (float)(a->alibi * exp2(-8.0 * (double)(head + 1) / a->n_heads) * 1.4426950408889634074);
        if (i < n)
            memset(j->out + head_of(j, kv_head, row + i) * a->shape->value_dim, 0,
                   a->shape->value_dim * sizeof(float));
    }
}

static float clamp(uint64_t at, uint64_t from) {
    return at <= from ? 0 : at - from >= DSX__PAGE ? (float)DSX__PAGE : (float)(at - from);
}

/* What rows [row, row + n) see of the page that starts at `from`. */
static void set_lanes(const attend_job *j, size_t row, size_t n, uint64_t from, dsx__lanes *l) {
    l->masked = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t position = position_of(j, row + i);

        l->first[i] = clamp(first_seen(j, position), from);
        l->end[i] = clamp(position + 1, from);
        l->base[i] = -(float)((int64_t)position - (int64_t)from);
        l->masked |= l->first[i] > 0 || l->end[i] < (float)DSX__PAGE;
    }
}

/* Keys of a page, from its first on, that there are for the last of the rows. */
static size_t depth_of(const attend_job *j, size_t last_row, uint64_t from) {
    return (size_t)clamp(position_of(j, last_row) + 1, from);
}

static bool sees(const attend_job *j, size_t row, size_t n, uint64_t from) {
    return from <= position_of(j, row + n - 1) && from + DSX__PAGE > first_seen(j, position_of(j, row));
}

/* Sums of values so far lie in out, and are scaled when the greatest score has grown. */
static float *scaled_row(const attend_job *j, size_t kv_head, size_t row, float keep) {
    size_t n = j->a->shape->value_dim;
    float *out = j->out + head_of(j, kv_head, row) * n;

    if (keep != 1.0f)
        for (size_t d = 0; d < n; d++) out[d] *= keep;
    return out;
}

static void end_lanes(const attend_job *j, size_t kv_head, size_t row, size_t n, const dsx__lanes *l) {
    size_t width = j->a->shape->value_dim;

    for (size_t i = 0; i < n; i++) {
        float *out = j->out + head_of(j, kv_head, row + i) * width, by = 1.0f / l->sum[i];

        for (size_t d = 0; d < width; d++) out[d] = out[d] * by + 0.0f; /* -0 becomes 0, on every way here */
    }
}

/* ---- packed pages: unpacked as far as they are needed, once for all rows */

#define DIMS 128u /* of keys or values, at a time */

static bool is_packed(const dsx__attention *a, uint64_t page) {
    return page >= a->packed_from && page < a->packed_to;
}

static dsx__kv_part part_of(const dsx__attention *a, uint64_t page, size_t head, bool keys) {
    return dsx__kv_part_of(a->shape, a->packed_format, a->packed[page], a->layer, (uint32_t)head, keys);
}

/* Dimensions [from, from + n) of a page's keys as [n][64]: those of the page itself, or room filled from
 * its packed form. */
static const float *some_keys(const attend_job *j, uint64_t page, size_t head, size_t from, size_t n,
                              float *room) {
    if (!is_packed(j->a, page)) return keys_of(j->a, page, head) + from * DSX__PAGE;
    dsx__kv_part part = part_of(j->a, page, head, true);
    j->k->unpack_keys(&part, from, n, room);
    return room;
}

/* The same of values as [64][*stride]. */
static const float *some_values(const attend_job *j, uint64_t page, size_t head, size_t from, size_t n,
                                float *room, size_t *stride) {
    *stride = j->a->shape->value_dim;
    if (!is_packed(j->a, page)) return values_of(j->a, page, head) + from;
    dsx__kv_part part = part_of(j->a, page, head, false);
    *stride = (n + 15) / 16 * 16;
    j->k->unpack_values(&part, from, n, room, *stride);
    return room;
}

static void pack_head(void *arg, size_t head) {
    const attend_job *j = arg;
    const dsx__kv_shape *s = j->a->shape;
    const float *keys = keys_of(j->a, j->n, head), *values = values_of(j->a, j->n, head);
    dsx__kv_part key_part = part_of(j->a, j->n, head, true), value_part = part_of(j->a, j->n, head, false);

    for (uint32_t d = 0; d < s->key_dim; d++) dsx__kv_pack_mean(&key_part, d, keys + (size_t)d * DSX__PAGE);
    for (uint32_t t = 0; t < DSX__PAGE; t++) {
        float row[DSX__KV_MAX_DIM];

        for (size_t d = 0; d < s->key_dim; d++) row[d] = keys[d * DSX__PAGE + t];
        dsx__kv_pack_row(&key_part, t, row);
        dsx__kv_pack_row(&value_part, t, values + (size_t)t * s->value_dim);
    }
}

void dsx__cpu_kv_pack(void *be, const dsx__attention *a, uint64_t page) {
    dsx__cpu *cpu = be;
    attend_job j = {.a = a, .n = (size_t)page};

    dsx__workers_run(cpu->workers, a->shape->n_kv_heads, pack_head, &j);
}

/* ---- few rows */

static void page_rows(const attend_job *j, size_t kv_head, size_t row, size_t n, uint64_t page,
                      dsx__lanes *l) {
    const dsx__kv_shape *s = j->a->shape;
    _Alignas(64) float scores[FEW * DSX__PAGE], room[DIMS * DSX__PAGE];
    float *out[FEW];
    size_t stride;

    for (size_t d = 0; d < s->key_dim; d += DIMS) {
        size_t some = least(s->key_dim - d, DIMS);
        const float *keys = some_keys(j, page, kv_head, d, some, room);

        for (size_t i = 0; i < n; i++) {
            const float *q = j->q + head_of(j, kv_head, row + i) * s->key_dim + d;
            float *c = scores + i * DSX__PAGE;

            j->k->multiply(1, DSX__PAGE, some, q, 1, keys, DSX__PAGE, &c, d == 0);
        }
    }
    for (size_t i = 0; i < n; i++) {
        j->k->weigh_row(l, i, scores + i * DSX__PAGE);
        out[i] = scaled_row(j, kv_head, row + i, l->keep[i]);
    }
    for (size_t d = 0; d < s->value_dim; d += DIMS) {
        size_t some = least(s->value_dim - d, DIMS);
        const float *v = some_values(j, page, kv_head, d, some, room, &stride);

        for (size_t i = 0; i < n; i++) {
            float *c = out[i] + d;

            j->k->multiply(1, some, depth_of(j, row + i, page * DSX__PAGE), scores + i * DSX__PAGE, 1, v,
                           stride, &c, false);
        }
    }
}

static void fetch(const void *from, const void *end) {
    for (const char *p = from; p < (const char *)end; p += 64) __builtin_prefetch(p, 0, 2);
}

/* A page that comes next is asked for while this one is worked on. */
static void fetch_page(const dsx__attention *a, uint64_t page, size_t head) {
    const dsx__kv_shape *s = a->shape;

    if (is_packed(a, page)) {
        dsx__kv_part keys = part_of(a, page, head, true), values = part_of(a, page, head, false);

        fetch(keys.d, values.q + (size_t)s->value_dim * DSX__PAGE / (values.four ? 2 : 1));
        return;
    }
    fetch(keys_of(a, page, head), keys_of(a, page, head) + (size_t)s->key_dim * DSX__PAGE);
    fetch(values_of(a, page, head), values_of(a, page, head) + (size_t)s->value_dim * DSX__PAGE);
}

static void attend_few(const attend_job *j, size_t kv_head, size_t row, size_t n) {
    uint64_t end = position_of(j, row + n - 1) / DSX__PAGE + 1;
    dsx__lanes l;

    begin_lanes(j, kv_head, row, n, &l);
    for (uint64_t page = first_seen(j, position_of(j, row)) / DSX__PAGE; page < end; page++) {
        set_lanes(j, row, n, page * DSX__PAGE, &l);
        if (page + 1 < end) fetch_page(j->a, page + 1, kv_head);
        page_rows(j, kv_head, row, n, page, &l);
    }
    end_lanes(j, kv_head, row, n, &l);
}

/* ---- many rows */

static void turn_queries(const attend_job *j, size_t kv_head, size_t row, size_t n, float *turned) {
    size_t key_dim = j->a->shape->key_dim;

    for (size_t i = 0; i < DSX__LANES; i++) {
        const float *q = i < n ? j->q + head_of(j, kv_head, row + i) * key_dim : NULL;

        for (size_t d = 0; d < key_dim; d++) turned[d * DSX__LANES + i] = q != NULL ? q[d] : 0.0f;
    }
}

static void page_lanes(const attend_job *j, size_t kv_head, size_t row, size_t n, uint64_t page,
                       dsx__lanes *l, const float *turned) {
    const dsx__kv_shape *s = j->a->shape;
    _Alignas(64) float scores[DSX__PAGE * DSX__LANES], room[DIMS * DSX__PAGE], *c[DSX__PAGE];
    size_t stride;

    set_lanes(j, row, n, page * DSX__PAGE, l);
    for (size_t i = 0; i < DSX__PAGE; i++) c[i] = scores + i * DSX__LANES;
    for (size_t d = 0; d < s->key_dim; d += DIMS) {
        size_t some = least(s->key_dim - d, DIMS);

        j->k->multiply(DSX__PAGE, DSX__LANES, some, some_keys(j, page, kv_head, d, some, room), DSX__PAGE,
                       turned + d * DSX__LANES, DSX__LANES, c, d == 0);
    }
    j->k->weigh_lanes(l, scores);
    for (size_t i = 0; i < n; i++) c[i] = scaled_row(j, kv_head, row + i, l->keep[i]);
    for (size_t d = 0; d < s->value_dim; d += DIMS) {
        size_t some = least(s->value_dim - d, DIMS);
        const float *v = some_values(j, page, kv_head, d, some, room, &stride);

        for (size_t i = 0; i < n && d > 0; i++) c[i] += DIMS;
        j->k->multiply(n, some, depth_of(j, row + n - 1, page * DSX__PAGE), scores, DSX__LANES, v, stride, c,
                       false);
    }
}

/* Up to TURNS * DSX__LANES rows. */
static void attend_many(const attend_job *j, size_t kv_head, size_t row, size_t n) {
    _Alignas(64) float turned[MOST_TURN];
    size_t key_dim = j->a->shape->key_dim, of_turn = key_dim * DSX__LANES;
    uint64_t end = position_of(j, row + n - 1) / DSX__PAGE + 1;
    dsx__lanes l[TURNS];

    for (size_t i = 0; i * DSX__LANES < n; i++) {
        size_t at = i * DSX__LANES, some = least(n - at, DSX__LANES);

        begin_lanes(j, kv_head, row + at, some, &l[i]);
        turn_queries(j, kv_head, row + at, some, turned + i * of_turn);
    }
    for (uint64_t page = first_seen(j, position_of(j, row)) / DSX__PAGE; page < end; page++) {
        if (page + 1 < end) fetch_page(j->a, page + 1, kv_head);
        for (size_t i = 0; i * DSX__LANES < n; i++) {
            size_t at = i * DSX__LANES, some = least(n - at, DSX__LANES);

            if (sees(j, row + at, some, page * DSX__PAGE))
                page_lanes(j, kv_head, row + at, some, page, &l[i], turned + i * of_turn);
        }
    }
    for (size_t i = 0; i * DSX__LANES < n; i++)
        end_lanes(j, kv_head, row + i * DSX__LANES, least(n - i * DSX__LANES, DSX__LANES), &l[i]);
}

/* ---- */

static void attend_task(void *arg, size_t task) {
    const attend_job *j = arg;
    size_t per_head = (j->rows + j->step - 1) / j->step, kv_head = task / per_head;
    size_t row = (per_head - 1 - task % per_head) * j->step; /* the longest first */
    size_t n = least(j->rows - row, j->step);

    if (j->step <= FEW)
        attend_few(j, kv_head, row, n);
    else
        attend_many(j, kv_head, row, n);
}

/* Rows of a task: few rows are shared out to all threads. */
static size_t choose_step(const dsx__cpu *cpu, const attend_job *j) {
    size_t key_dim = j->a->shape->key_dim, kv_heads = j->a->shape->n_kv_heads,
           turns = MOST_TURN / (key_dim * DSX__LANES);

    if (j->rows > FEW && turns > 0) return (turns < TURNS ? turns : TURNS) * DSX__LANES;
    if (kv_heads >= dsx__workers_count(cpu->workers)) return least(j->rows, FEW); /* a page is read once */
    return 1;
}

void dsx__cpu_attend(void *be, const dsx__attention *a, const dsx__real *q, size_t n, dsx__real *out) {
    dsx__cpu *cpu = be;
    size_t group = a->n_heads / a->shape->n_kv_heads;
    attend_job j = {
        .k = cpu->k, .a = a, .q = CR(q), .n = n, .group = group, .rows = n * group, .out = R(out)};

    if (n == 0) return;
    j.step = choose_step(cpu, &j);
    dsx__workers_run(cpu->workers, (j.rows + j.step - 1) / j.step * a->shape->n_kv_heads, attend_task, &j);
}
