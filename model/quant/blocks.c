/* SPDX-License-Identifier: MIT */
/* The number formats of files: sizes, and the way from stored bytes to float. Layouts of the blocks, in order of their
 * bytes (fp16 and all other numbers little-endian, bit 0 the lowest):
 *
 *   Q8_0 d; 32 x int8                         Q4_0 d; 16 bytes          Q4_1 d, m; 16 bytes
 *   Q5_0 d; 4 bytes of fifth bits; 16 bytes   Q5_1 d, m; 4; 16
 *     byte i of the 16: element i in the low four bits, i + 16 in the high ones; fifth bit of element i is bit i
 *   Q2_K 16 bytes: of each group of 16, scale (low 4 bits) and minimum; 64 bytes; d; dmin
 *   Q3_K 32 bytes of third bits; 64 bytes; 12 bytes with 16 scales of 6 bits; d
 *     byte i % 32 of each 32 of the 64: elements i, i + 32, i + 64, i + 96 of each half, two bits each
 *   Q4_K d; dmin; 12 bytes with 8 scales and 8 minimums of 6 bits; 128 bytes
 *   Q5_K d; dmin; 12; 32 bytes of fifth bits; 128 bytes
 *     byte i of each 32 of the 128: elements i and i + 32 of 64; bit g of fifth-bit byte i: of group g
 *   Q6_K 128 bytes of the low four bits; 64 bytes of the high two; 16 x int8 scales; d */
#include "quant/blocks.h"

#include "quant/rounding.h"

#include <string.h>

const dsx__format_info dsx__formats[DSX__N_FORMATS] = {
    [DSX__F32] = {"F32", 1, 4},       [DSX__F16] = {"F16", 1, 2},         [DSX__BF16] = {"BF16", 1, 2},
    [DSX__Q8_0] = {"Q8_0", 32, 34},   [DSX__Q4_0] = {"Q4_0", 32, 18},     [DSX__Q4_1] = {"Q4_1", 32, 20},
    [DSX__Q5_0] = {"Q5_0", 32, 22},   [DSX__Q5_1] = {"Q5_1", 32, 24},     [DSX__Q2_K] = {"Q2_K", 256, 84},
    [DSX__Q3_K] = {"Q3_K", 256, 110}, [DSX__Q4_K] = {"Q4_K", 256, 144},   [DSX__Q5_K] = {"Q5_K", 256, 176},
    [DSX__Q6_K] = {"Q6_K", 256, 210}, [DSX__F8_E4M3] = {"F8_E4M3", 1, 1},
};

const dsx__block_info dsx__blocks[DSX__N_FORMATS] = {
    [DSX__Q8_0] = {32, false, -128, 127, true}, [DSX__Q4_0] = {32, false, -8, 7, true},
    [DSX__Q4_1] = {32, true, 0, 15, true},      [DSX__Q5_0] = {32, false, -16, 15, true},
    [DSX__Q5_1] = {32, true, 0, 31, true},      [DSX__Q2_K] = {16, true, 0, 3, false},
    [DSX__Q3_K] = {16, false, -4, 3, false},    [DSX__Q4_K] = {32, true, 0, 15, false},
    [DSX__Q5_K] = {32, true, 0, 31, false},     [DSX__Q6_K] = {16, false, -32, 31, false},
};

uint64_t dsx__row_bytes(dsx__format format, uint64_t n) {
    const dsx__format_info *f = &dsx__formats[format];

    return n % f->block != 0 || n / f->block > UINT64_MAX / f->bytes ? 0 : n / f->block * f->bytes;
}

static uint32_t u16(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static float from_bits(uint32_t bits) {
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Subnormal numbers are made by a subtraction that is exact. */
float dsx__half(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fffu;

    if (rest >= 0x7c00) return from_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest >= 0x400) return from_bits(sign | ((rest << 13) + (112u << 23)));
    float small = from_bits((113u << 23) | rest << 13) - from_bits(113u << 23);
    return sign != 0 ? -small : small;
}

static float half_at(const uint8_t *p) {
    return dsx__half((uint16_t)u16(p));
}

/* Elements i and i + n of n bytes: low and high four bits. */
static void split_nibbles(const uint8_t *p, uint32_t n, int8_t *q) {
    for (uint32_t i = 0; i < n; i++) {
        q[i] = (int8_t)(p[i] & 15);
        q[i + n] = (int8_t)(p[i] >> 4);
    }
}

static void split_32(dsx__format format, const uint8_t *p, dsx__block *b) {
    bool fifth = format == DSX__Q5_0 || format == DSX__Q5_1;
    int8_t low = (int8_t)dsx__blocks[format].lowest;

    b->d[0] = half_at(p);
    p += 2;
    if (dsx__blocks[format].has_min) {
        b->m[0] = half_at(p);
        p += 2;
    }
    if (format == DSX__Q8_0) {
        memcpy(b->q, p, 32);
        return;
    }
    split_nibbles(fifth ? p + 4 : p, 16, b->q);
    for (uint32_t i = 0; i < 32; i++) {
        if (fifth) b->q[i] = (int8_t)(b->q[i] | (p[i / 8] >> i % 8 & 1) << 4);
        b->q[i] = (int8_t)(b->q[i] + low);
    }
}

/* Two bits each of 256 elements in 64 bytes. */
static void split_pairs(const uint8_t *p, int8_t *q) {
    for (uint32_t i = 0; i < 256; i++) q[i] = (int8_t)(p[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3);
}

static void split_q2(const uint8_t *p, dsx__block *b) {
    float d = half_at(p + 80), min = half_at(p + 82);

    split_pairs(p + 16, b->q);
    for (uint32_t g = 0; g < 16; g++) {
        b->d[g] = d * (float)(p[g] & 15);
        b->m[g] = -(min * (float)(p[g] >> 4));
    }
}

static void split_q3(const uint8_t *p, dsx__block *b) {
    const uint8_t *scales = p + 96;
    float d = half_at(p + 108);

    split_pairs(p + 32, b->q);
    for (uint32_t i = 0; i < 256; i++)
        if ((p[i % 32] >> i / 32 & 1) == 0) b->q[i] = (int8_t)(b->q[i] - 4);
    for (uint32_t g = 0; g < 16; g++) {
        int low = g < 8 ? scales[g] & 15 : scales[g - 8] >> 4;
        int high = scales[8 + g % 4] >> g / 4 * 2 & 3;

        b->d[g] = d * (float)((low | high << 4) - 32);
    }
}

/* Scale and minimum of group g, 6 bits each, of Q4_K and Q5_K. */
static void scale_min(const uint8_t *p, uint32_t g, float *scale, float *min) {
    if (g < 4) {
        *scale = (float)(p[g] & 63);
        *min = (float)(p[g + 4] & 63);
    } else {
        *scale = (float)((p[g + 4] & 15) | p[g - 4] >> 6 << 4);
        *min = (float)(p[g + 4] >> 4 | p[g] >> 6 << 4);
    }
}

static void split_q45(const uint8_t *p, bool fifth, dsx__block *b) {
    float d = half_at(p), dmin = half_at(p + 2);

    for (uint32_t g = 0; g < 8; g += 2) split_nibbles(p + (fifth ? 48 : 16) + g * 16, 32, b->q + g * 32);
    for (uint32_t g = 0; g < 8; g++) {
        float scale, min;

        scale_min(p + 4, g, &scale, &min);
        b->d[g] = d * scale;
        b->m[g] = -(dmin * min);
        for (uint32_t i = 0; fifth && i < 32; i++)
            b->q[g * 32 + i] = (int8_t)(b->q[g * 32 + i] | (p[16 + i] >> g & 1) << 4);
    }
}

static void split_q6(const uint8_t *p, dsx__block *b) {
    const uint8_t *high = p + 128;
    float d = half_at(p + 208);

    for (uint32_t half = 0; half < 2; half++) split_nibbles(p + half * 64, 64, b->q + half * 128);
    for (uint32_t i = 0; i < 256; i++) {
        int two = high[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;

        b->q[i] = (int8_t)((b->q[i] | two << 4) - 32);
    }
    for (uint32_t g = 0; g < 16; g++) b->d[g] = d * (float)(int8_t)p[192 + g];
}

void dsx__block_split(dsx__format format, const uint8_t *data, dsx__block *out) {
    switch (format) {
    case DSX__Q2_K:
        split_q2(data, out);
        break;
    case DSX__Q3_K:
        split_q3(data, out);
        break;
    case DSX__Q4_K:
        split_q45(data, false, out);
        break;
    case DSX__Q5_K:
        split_q45(data, true, out);
        break;
    case DSX__Q6_K:
        split_q6(data, out);
        break;
    default:
        split_32(format, data, out);
        break;
    }
}

static void plain_to_float(dsx__format format, const uint8_t *row, uint64_t n, float *out) {
    if (format == DSX__F32) {
        for (uint64_t i = 0; i < n; i++) out[i] = from_bits(u16(row + 4 * i) | u16(row + 4 * i + 2) << 16);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        out[i] = format == DSX__F8_E4M3 ? dsx__from_fp8(row[i])
                 : format == DSX__F16   ? half_at(row + 2 * i)
                                        : from_bits(u16(row + 2 * i) << 16);
}

void dsx__to_float(dsx__format format, const uint8_t *row, uint64_t n, float *out) {
    const dsx__format_info *f = &dsx__formats[format];
    const dsx__block_info *info = &dsx__blocks[format];

    if (info->group == 0) {
        plain_to_float(format, row, n, out);
        return;
    }
    for (uint64_t at = 0; at < n; at += f->block, row += f->bytes) {
        dsx__block b;

        dsx__block_split(format, row, &b);
        for (uint32_t i = 0; i < f->block; i++) {
            uint32_t g = i / info->group;
            float w = b.d[g] * (float)b.q[i];

            out[at + i] = info->has_min ? w + b.m[g] : w;
        }
    }
}
