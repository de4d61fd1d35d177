/* SPDX-License-Identifier: MIT */
/* The kernels, written once over vectors of 16 floats. A file that includes this has defined for its instruction set:
 *
 *   NAME, TARGET            "avx2", the function attribute
 *   TILE_ROWS, TILE_VECTORS most rows and vectors of columns that are multiplied with sums in registers
 *   V, I                    16 floats, 16 uint32
 *   v_load, v_store, v_load_n, v_store_n (n <= 16 of them; the rest is read as 0), v_set
 *   v_add, v_sub, v_mul, v_div, v_max (a > b ? a : b), v_fma (a * b + c, rounded once)
 *   v_less(a, b, x, y)      a < b ? x : y, lane by lane
 *   v_half, v_bfloat        16 fp16 or bfloat16 numbers at p
 *   v_shift_in(x, by)       bits of float x + (bits of float by << 23)
 *   i_load, i_nibble(x, at) bits [at, at + 4) as float; i_byte(x, at): int8 at bits [at, at + 8)
 *   i_zero, i_set, i_sub, i_float (of int32)
 *   i_low, i_high           the lower, the upper four bits of each byte
 *   i_dot4(sum, w, x)       sum + the four products of bytes in each lane; w in [0, 15], x in [-127, 127]
 *   i_dot8(sum, w, x)       the same for w in [-128, 127], but too great by DOT_BIAS * (the sum of x)
 *   DOT_TARGET, DOT_ROWS    of functions with i_dot4 and i_dot8; most rows that have their sums in registers
 *   i_fp8(x, at)            E4M3 at bits [at, at + 8): its exponent and mantissa, shifted into those of a float, are
 *                           the number divided by 2^120
 *   i_widen(p)              16 bytes at p, each as an uint32
 *
 * Nothing else may touch floats, so that every instruction set gives the same bits. */
#define INLINE static inline __attribute__((always_inline)) TARGET

/* Lanes i and i + 8, then i and i + 4, 2, 1. */
INLINE float v_total(V v) {
    float a[16];

    v_store(a, v);
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++) a[i] = a[i] + a[i + half];
    return a[0];
}

INLINE float v_greatest(V v) {
    float a[16];

    v_store(a, v);
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++) a[i] = a[i] > a[i + half] ? a[i] : a[i + half];
    return a[0];
}

/* 2^x to 2 units in the last place, x <= 126; 0 below -125. x = n + f with |f| <= 1/2; the polynomial is
 * 2^f with relative error 1.6e-8. */
INLINE V v_exp2(V x) {
    const V magic = v_set(12582912.0f); /* 1.5 * 2^23: the sum's lowest bits are n */
    V shifted = v_add(x, magic), f = v_sub(x, v_sub(shifted, magic)), p = v_set(0x1.4258d8p-13f);

    p = v_fma(p, f, v_set(0x1.5f44dcp-10f));
    p = v_fma(p, f, v_set(0x1.3b2cc4p-7f));
    p = v_fma(p, f, v_set(0x1.c6aed6p-5f));
    p = v_fma(p, f, v_set(0x1.ebfbdcp-3f));
    p = v_fma(p, f, v_set(0x1.62e430p-1f));
    p = v_fma(p, f, v_set(1.0f));
    return v_less(x, v_set(-125.0f), v_set(0.0f), v_shift_in(p, shifted));
}

/* ---- products */

INLINE V load_some(const float *p, size_t n) {
    return n >= 16 ? v_load(p) : v_load_n(p, n);
}

INLINE void store_some(float *p, V v, size_t n) {
    if (n >= 16)
        v_store(p, v);
    else
        v_store_n(p, v, n);
}

/* n columns, at most 16 * vectors; all of them when whole. rows and vectors are constants where this is
 * called. */
INLINE void tile(const size_t rows, const size_t vectors, const bool whole, size_t n, size_t depth,
                 const float *x, size_t step, const float *w, size_t stride, float *const *c, size_t at,
                 bool start) {
    size_t of[4] = {whole ? 16 : n < 16 ? n : 16, whole ? 16 : n < 16 ? 0 : n - 16, 16, 16};
    V sum[12][4];

#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = start ? v_set(0.0f) : load_some(c[r] + at + 16 * v, of[v]);
    for (size_t k = 0; k < depth; k++) {
        V b[4];

#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++) b[v] = load_some(w + 16 * v, of[v]);
#pragma GCC unroll 12
        for (size_t r = 0; r < rows; r++) {
            V a = v_set(x[r]);

#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++) sum[r][v] = v_fma(a, b[v], sum[r][v]);
        }
        x += step;
        w += stride;
    }
#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++) store_some(c[r] + at + 16 * v, sum[r][v], of[v]);
}

#define TILE(n_rows)                                                                                         \
    do {                                                                                                     \
        if (whole)                                                                                           \
            tile(n_rows, TILE_VECTORS, true, n, depth, x, step, w, stride, c, at, start);                    \
        else                                                                                                 \
            tile(n_rows, TILE_VECTORS, false, n, depth, x, step, w, stride, c, at, start);                   \
        x += n_rows;                                                                                         \
        c += n_rows;                                                                                         \
        rows -= n_rows;                                                                                      \
    } while (0)

static TARGET void multiply_columns(size_t rows, size_t n, size_t depth, const float *x, size_t step,
                                    const float *w, size_t stride, float *const *c, size_t at, bool start) {
    bool whole = n == 16 * TILE_VECTORS;

#if TILE_ROWS >= 12
    while (rows >= 12) TILE(12);
#endif
#if TILE_ROWS >= 8
    while (rows >= 8) TILE(8);
#endif
#if TILE_ROWS >= 6
    while (rows >= 6) TILE(6);
#endif
#if TILE_ROWS >= 4
    while (rows >= 4) TILE(4);
    while (rows >= 2) TILE(2);
#endif
    while (rows >= 1) TILE(1);
}

static TARGET void multiply(size_t rows, size_t n, size_t depth, const float *x, size_t step, const float *w,
                            size_t stride, float *const *c, bool start) {
    size_t at = 0;

    /* Steps of a sum wait for one another: with one row, four vectors of sums fill the time. */
    for (; rows == 1 && n - at >= 64; at += 64)
        tile(1, 4, true, 64, depth, x, step, w + at, stride, c, at, start);
    for (; at < n; at += 16 * TILE_VECTORS) {
        size_t some = n - at < 16 * TILE_VECTORS ? n - at : 16 * TILE_VECTORS;

        multiply_columns(rows, some, depth, x, step, w + at, stride, c, at, start);
    }
}

/* ---- weights */

/* Scales of 16 of the 32 outputs. */
INLINE void load_scales(dsx__scales kind, const uint8_t *p, size_t v, V *d, V *m) {
    bool half = kind == DSX__SCALE_HALF || kind == DSX__SCALE_HALF_8 || kind == DSX__SCALE_HALF_MIN;
    const uint16_t *h = (const uint16_t *)(const void *)p + 16 * v;
    const float *f = (const float *)(const void *)p + 16 * v;

    *d = half ? v_half(h) : v_load(f);
    if (kind == DSX__SCALE_HALF_MIN)
        *m = v_half(h + DSX__PANEL);
    else if (kind == DSX__SCALE_FLOAT_MIN)
        *m = v_load(f + DSX__PANEL);
    else
        *m = kind == DSX__SCALE_HALF_8 ? v_mul(*d, v_set(-8.0f)) : v_set(0.0f);
}

/* Column k of 16 of 16 outputs. p: the outputs' first column; form and k are constants where this is called. */
INLINE V weight(const dsx__form form, const uint32_t *p, const size_t k, V d, V m) {
    I x = i_load(p + k / (form == DSX__PACK_4 ? 8 : 4) * DSX__PANEL);
    int at = (int)(k % 4 * 8);

    if (form == DSX__PACK_4) return v_fma(d, i_nibble(x, at + (int)(k / 4 % 2 * 4)), m);
    return v_fma(d, form == DSX__PACK_8 ? i_byte(x, at) : i_fp8(x, at), m);
}

INLINE void unpack_groups(const dsx__form form, const dsx__matrix *m, size_t panel, size_t from, size_t n,
                          float *w) {
    const uint32_t *q = (const uint32_t *)(const void *)(m->packed + panel * m->panel_bytes);
    const uint8_t *scales = m->all_scales + panel * m->n_groups * m->scale_bytes;

    for (size_t k = from; k < from + n; k += 16)
        for (size_t v = 0; v < 2; v++) {
            const uint32_t *p = q + k / (form == DSX__PACK_4 ? 8 : 4) * DSX__PANEL + 16 * v;
            float *to = w + (k - from) * DSX__PANEL + 16 * v;
            V d, min;

            load_scales(m->scales, scales + k / m->group * m->scale_bytes, v, &d, &min);
#pragma GCC unroll 16
            for (size_t i = 0; i < 16; i++) v_store(to + i * DSX__PANEL, weight(form, p, i, d, min));
        }
}

static TARGET void unpack(const dsx__matrix *m, size_t panel, size_t from, size_t n, float *w) {
    const uint16_t *h = (const uint16_t *)(const void *)(m->packed + panel * m->panel_bytes);

    switch (m->form) {
    case DSX__PACK_F32:
        memcpy(w, m->packed + panel * m->panel_bytes + from * DSX__PANEL * 4, n * DSX__PANEL * 4);
        break;
    case DSX__PACK_F16:
        for (size_t i = 0; i < n * DSX__PANEL; i += 16) v_store(w + i, v_half(h + from * DSX__PANEL + i));
        break;
    case DSX__PACK_BF16:
        for (size_t i = 0; i < n * DSX__PANEL; i += 16) v_store(w + i, v_bfloat(h + from * DSX__PANEL + i));
        break;
    case DSX__PACK_4:
        unpack_groups(DSX__PACK_4, m, panel, from, n, w);
        break;
    case DSX__PACK_8:
        unpack_groups(DSX__PACK_8, m, panel, from, n, w);
        break;
    case DSX__PACK_FP8:
        unpack_groups(DSX__PACK_FP8, m, panel, from, n, w);
        break;
    }
}

/* ---- rows of int8 with integers */

/* Weights come from far: they are asked for AHEAD bytes before their turn, also across the ends of panels. */
#define AHEAD 4096u
INLINE void fetch(const void *p, size_t n) {
    for (size_t i = 0; i < n; i += 64) __builtin_prefetch((const char *)p + AHEAD + i, 0, 3);
}

#define DOT_INLINE static inline __attribute__((always_inline)) DOT_TARGET

/* The sums of one group's integers, its columns [k, end), become one step of the chain of each output. */
DOT_INLINE void dot_group(const size_t rows, const size_t vectors, const bool four, const dsx__matrix *m,
                          size_t panel, size_t lane, size_t g, const dsx__int_rows *x, size_t row,
                          float *out) {
    size_t k = g * m->group, end = k + m->group, all = (m->columns + 31) / 32 * 32, step = four ? 8 : 4;
    const uint8_t *scales = m->all_scales + (panel * m->n_groups + g) * m->scale_bytes;
    const uint32_t *p = (const uint32_t *)(const void *)(m->packed + panel * m->panel_bytes) +
                        k / step * DSX__PANEL + lane,
                   *q = x->q + k / 4 * x->n + row;
    bool has_min = four || m->scales == DSX__SCALE_HALF_MIN || m->scales == DSX__SCALE_FLOAT_MIN;
    I sum[12][2];

#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++) sum[r][v] = i_zero();
    const size_t n = x->n;
    for (size_t left = ((end < all ? end : all) - k) / step; left > 0; left--) {
        I w[2], high[2];

        if (rows == 1) fetch(p, DSX__PANEL * 4);
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++) {
            w[v] = i_load(p + 16 * v);
            high[v] = four ? i_high(w[v]) : w[v];
            w[v] = four ? i_low(w[v]) : w[v];
        }
#pragma GCC unroll 12
        for (size_t r = 0; r < rows; r++) {
            I of_x = i_set(q[r]), next = four ? i_set(q[n + r]) : of_x;

#pragma GCC unroll 2
            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = four ? i_dot4(i_dot4(sum[r][v], w[v], of_x), high[v], next)
                                 : i_dot8(sum[r][v], w[v], of_x);
        }
        p += DSX__PANEL;
        q += step / 4 * n;
    }
    V d[2], min[2];
#pragma GCC unroll 2
    for (size_t v = 0; v < vectors; v++) load_scales(m->scales, scales, lane / 16 + v, &d[v], &min[v]);
#pragma GCC unroll 12
    for (size_t r = 0; r < rows; r++) {
        int32_t of_x = x->sums[g * x->n + row + r];
        float *to = out + (row + r) * DSX__PANEL + lane;

#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++) {
            V s = i_float(four ? sum[r][v] : i_sub(sum[r][v], i_set((uint32_t)(DOT_BIAS * of_x))));

            s = v_fma(d[v], s, g == 0 ? v_set(0.0f) : v_load(to + 16 * v));
            if (has_min) s = v_fma(min[v], v_set((float)of_x), s);
            v_store(to + 16 * v, g + 1 < m->n_groups ? s : v_mul(s, v_set(x->scales[row + r])));
        }
    }
}

#define DOT(n_rows)                                                                                          \
    for (; row + n_rows <= x->n; row += n_rows)                                                              \
        for (size_t lane = 0; lane < DSX__PANEL; lane += 16 * TILE_VECTORS)                                  \
            for (size_t g = 0; g < m->n_groups; g++)                                                         \
    dot_group(n_rows, TILE_VECTORS, four, m, panel, lane, g, x, row, out)

DOT_INLINE void dot_rows(const bool four, const dsx__matrix *m, size_t panel, const dsx__int_rows *x,
                         float *out) {
    size_t row = 0;

#if DOT_ROWS >= 12
    DOT(12);
#endif
#if DOT_ROWS >= 4
    DOT(4);
#endif
    DOT(1);
}

static DOT_TARGET void dot(const dsx__matrix *m, size_t panel, const dsx__int_rows *x, float *out) {
    if (m->form == DSX__PACK_4)
        dot_rows(true, m, panel, x, out);
    else
        dot_rows(false, m, panel, x, out);
}

/* ---- one row */

INLINE void row_plain(const dsx__matrix *m, size_t panel, const float *x, V *sum) {
    const uint8_t *p = m->packed + panel * m->panel_bytes;
    size_t size = m->form == DSX__PACK_F32 ? 4 : 2;

    for (size_t k = 0; k < m->columns; k++) {
        V a = v_set(x[k]);

        fetch(p + k * DSX__PANEL * size, DSX__PANEL * size);
        for (size_t v = 0; v < 2; v++) {
            size_t i = k * DSX__PANEL + 16 * v;
            V w = m->form == DSX__PACK_F32   ? v_load((const float *)(const void *)p + i)
                  : m->form == DSX__PACK_F16 ? v_half((const uint16_t *)(const void *)p + i)
                                             : v_bfloat((const uint16_t *)(const void *)p + i);
            sum[v] = v_fma(a, w, sum[v]);
        }
    }
}

/* The first n of 16 columns: behind the last of a row there is no x, and no weight that would be 0. */
INLINE void add_columns(const dsx__form form, const uint32_t *q, const float *x, size_t n, const V *d,
                        const V *min, V *sum) {
#pragma GCC unroll 16
    for (size_t i = 0; i < n; i++) {
        V a = v_set(x[i]);

#pragma GCC unroll 2
        for (size_t v = 0; v < 2; v++) sum[v] = v_fma(a, weight(form, q + 16 * v, i, d[v], min[v]), sum[v]);
    }
}

INLINE void row_groups(const dsx__form form, const dsx__matrix *m, size_t panel, const float *x, V *sum) {
    const uint32_t *q = (const uint32_t *)(const void *)(m->packed + panel * m->panel_bytes);
    const uint8_t *scales = m->all_scales + panel * m->n_groups * m->scale_bytes;
    size_t step = (form == DSX__PACK_4 ? 2 : 4) * DSX__PANEL; /* words of 16 columns */

    size_t left = 0; /* columns that the scales are for */
    V d[2] = {v_set(0.0f), v_set(0.0f)}, min[2] = {d[0], d[0]};

    for (size_t k = 0; k < m->columns; k += 16, q += step, left -= 16) {
        fetch(q, 4 * step);
        if (left == 0) {
            fetch(scales, m->scale_bytes);
            load_scales(m->scales, scales, 0, &d[0], &min[0]);
            load_scales(m->scales, scales, 1, &d[1], &min[1]);
            scales += m->scale_bytes;
            left = m->group;
        }
        if (m->columns - k >= 16)
            add_columns(form, q, x + k, 16, d, min, sum);
        else
            add_columns(form, q, x + k, m->columns - k, d, min, sum);
    }
}

static TARGET void row(const dsx__matrix *m, size_t panel, const float *x, float *out) {
    V sum[2] = {v_set(0.0f), v_set(0.0f)};

    if (m->form == DSX__PACK_4)
        row_groups(DSX__PACK_4, m, panel, x, sum);
    else if (m->form == DSX__PACK_8)
        row_groups(DSX__PACK_8, m, panel, x, sum);
    else if (m->form == DSX__PACK_FP8)
        row_groups(DSX__PACK_FP8, m, panel, x, sum);
    else
        row_plain(m, panel, x, sum);
    v_store(out, sum[0]);
    v_store(out + 16, sum[1]);
}

/* ---- element by element */

static TARGET float sum_squares(const float *x, size_t n) {
    V sum = v_set(0.0f);

    for (size_t i = 0; i < n; i += 16) {
        V a = load_some(x + i, n - i);

        sum = v_fma(a, a, sum);
    }
    return v_total(sum);
}

static TARGET void scale(const float *x, size_t n, float by, const float *w, float *out) {
    for (size_t i = 0; i < n; i += 16)
        store_some(out + i, v_mul(v_mul(load_some(x + i, n - i), v_set(by)), load_some(w + i, n - i)), n - i);
}

static TARGET void silu(float *gate, const float *up, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        V g = load_some(gate + i, n - i), x = v_mul(g, v_set(-0x1.715476p+0f));

        x = v_less(v_set(126.0f), x, v_set(126.0f), x);
        g = v_mul(v_div(g, v_add(v_set(1.0f), v_exp2(x))), load_some(up + i, n - i));
        store_some(gate + i, g, n - i);
    }
}

/* ---- softmax, page by page */

/* A score after scale, bias and mask. j: number of the key in the page. */
INLINE V finish_score(const dsx__lanes *l, V s, V j, V first, V end, V slope, V base) {
    V none = v_set(-INFINITY);

    s = v_mul(s, v_set(l->scale));
    if (l->biased) s = v_fma(slope, v_add(base, j), s);
    if (l->masked) s = v_less(j, first, none, v_less(j, end, s, none));
    return s;
}

/* The sum over 64 keys: of keys i, i + 16, i + 32, i + 48 in this order, then as in v_total. */
INLINE void weigh_vector(dsx__lanes *l, size_t at, float *s) {
    V first = v_load(l->first + at), end = v_load(l->end + at), slope = v_load(l->slope + at),
      base = v_load(l->base + at), old = v_load(l->max + at), max = old, sum[16];

    s += at;
    for (size_t j = 0; j < DSX__PAGE; j++) {
        V y = finish_score(l, v_load(s + j * DSX__LANES), v_set((float)j), first, end, slope, base);

        v_store(s + j * DSX__LANES, y);
        max = v_max(max, y);
    }
    for (size_t j = 0; j < DSX__PAGE; j++) {
        V p = v_exp2(v_sub(v_load(s + j * DSX__LANES), max));

        v_store(s + j * DSX__LANES, p);
        sum[j % 16] = j < 16 ? p : v_add(sum[j % 16], p);
    }
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++) sum[i] = v_add(sum[i], sum[i + half]);
    V keep = v_exp2(v_sub(old, max));
    v_store(l->keep + at, keep);
    v_store(l->max + at, max);
    v_store(l->sum + at, v_fma(v_load(l->sum + at), keep, sum[0]));
}

static TARGET void weigh_lanes(dsx__lanes *l, float *s) {
    weigh_vector(l, 0, s);
    weigh_vector(l, 16, s);
}

static TARGET void weigh_row(dsx__lanes *l, size_t lane, float *s) {
    static const float count[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    V first = v_set(l->first[lane]), end = v_set(l->end[lane]), slope = v_set(l->slope[lane]),
      base = v_set(l->base[lane]), old = v_set(l->max[lane]), max = old, sum = v_set(0.0f), y[4];
    float one[16];

    for (size_t i = 0; i < 4; i++) {
        y[i] = finish_score(l, v_load(s + 16 * i), v_add(v_load(count), v_set((float)(16 * i))), first, end,
                            slope, base);
        max = v_max(max, y[i]);
    }
    max = v_set(v_greatest(max));
    for (size_t i = 0; i < 4; i++) {
        V p = v_exp2(v_sub(y[i], max));

        v_store(s + 16 * i, p);
        sum = i == 0 ? p : v_add(sum, p);
    }
    V keep = v_exp2(v_sub(old, max));
    v_store(one, keep);
    l->keep[lane] = one[0];
    v_store(one, v_fma(v_set(l->sum[lane]), keep, v_set(v_total(sum))));
    l->sum[lane] = one[0];
    v_store(one, max);
    l->max[lane] = one[0];
}

static TARGET void add_exp(const float *x, size_t n, double *max, double *sum) {
    float a[32];

    for (size_t i = 0; i < 32; i++) a[i] = i < n ? x[i] : -INFINITY;
    float greatest = v_greatest(v_max(v_load(a), v_load(a + 16)));
    if (!((double)greatest <= *max)) {
        *sum *= exp(*max - (double)greatest);
        *max = (double)greatest;
    }
    V m = v_set((float)*max), log2e = v_set(0x1.715476p+0f);
    V lo = v_exp2(v_mul(v_sub(v_load(a), m), log2e)), hi = v_exp2(v_mul(v_sub(v_load(a + 16), m), log2e));
    *sum += (double)v_total(v_add(lo, hi));
}

/* ---- packed keys and values */

/* Numbers of 16 bytes, or of the n <= 16 at p that there are. */
INLINE V kv_numbers(const dsx__kv_part *p, size_t t, const uint8_t *q, size_t n, V d, V m) {
    uint8_t some[16] = {0};

    if (n < 16) q = memcpy(some, q, n);
    if (!p->four) return v_fma(d, i_byte(i_widen(q), 0), m);
    return v_fma(d, t < DSX__PAGE / 2 ? i_nibble(i_widen(q), 0) : i_nibble(i_widen(q), 4), m);
}

static TARGET void unpack_keys(const dsx__kv_part *p, size_t from, size_t n, float *to) {
    size_t rows = p->four ? DSX__PAGE / 2 : DSX__PAGE;
    float mean[16];

    for (size_t i = 0; i < n; i++) {
        if (i % 16 == 0) v_store(mean, v_half(p->mean + from + i)); /* behind the last lie numbers */
        for (size_t t = 0; t < DSX__PAGE; t += 16) {
            V m = v_add(p->four ? v_half(p->m + t) : v_set(0.0f), v_set(mean[i % 16]));

            v_store(to + i * DSX__PAGE + t,
                    kv_numbers(p, t, p->q + (from + i) * rows + t % rows, 16, v_half(p->d + t), m));
        }
    }
}

static TARGET void unpack_values(const dsx__kv_part *p, size_t from, size_t n, float *to, size_t stride) {
    size_t rows = p->four ? DSX__PAGE / 2 : DSX__PAGE;
    float d[DSX__PAGE], m[DSX__PAGE] = {0};

    for (size_t t = 0; t < DSX__PAGE; t += 16) {
        v_store(d + t, v_half(p->d + t));
        if (p->four) v_store(m + t, v_half(p->m + t));
    }
    for (size_t t = 0; t < DSX__PAGE; t++)
        for (size_t i = 0; i < n; i += 16) {
            const uint8_t *q = p->q + t % rows * p->dim + from + i;

            store_some(to + t * stride + i, kv_numbers(p, t, q, n - i, v_set(d[t]), v_set(m[t])), n - i);
        }
}

#define GLUE(a, b)    a##b
#define TABLE(suffix) GLUE(dsx__kernels_, suffix)
const dsx__kernels TABLE(SUFFIX) = {
    .name = NAME,
    .multiply = multiply,
    .unpack = unpack,
    .row = row,
    .dot = dot,
    .sum_squares = sum_squares,
    .scale = scale,
    .silu = silu,
    .weigh_lanes = weigh_lanes,
    .weigh_row = weigh_row,
    .add_exp = add_exp,
    .unpack_keys = unpack_keys,
    .unpack_values = unpack_values,
};
