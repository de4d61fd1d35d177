/* SPDX-License-Identifier: MIT */
/* Blocks of random bytes against the readings of another program: tests/model/dequant.py makes the numbers. */
#include "dequant_golden.h"
#include "files/tensor.h"
#include "t.h"

enum { BLOCKS = sizeof golden->hashes / sizeof *golden->hashes, N_EXTREMES = 6, ELEMENTS = 32 };

/* Where a block's fp16 numbers are: up to two places, or all of it. */
static const struct place {
    dsx__format format;
    int first, second;
} places[] = {{DSX__F16, 0, 0},     {DSX__BF16, -1, -1}, {DSX__Q8_0, 0, -1}, {DSX__Q4_0, 0, -1},
              {DSX__Q4_1, 0, 2},    {DSX__Q5_0, 0, -1},  {DSX__Q5_1, 0, 2},  {DSX__Q2_K, 80, 82},
              {DSX__Q3_K, 108, -1}, {DSX__Q4_K, 0, 2},   {DSX__Q5_K, 0, 2},  {DSX__Q6_K, 208, -1}};

static void put_half(uint8_t *p, size_t block, size_t i) {
    static const uint32_t extremes[N_EXTREMES] = {0x0001, 0x7BFF, 0x8000, 0xFBFF, 0x03FF, 0x0400};
    uint32_t value = p[0] | (uint32_t)p[1] << 8;

    if ((value & 0x7C00) == 0x7C00) value &= 0xFBFF;
    if (block < N_EXTREMES) value = extremes[(block + i) % N_EXTREMES];
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static void make_block(const struct place *f, size_t size, size_t block, t_rng *rng, uint8_t *data) {
    for (size_t i = 0; i < size; i++) data[i] = t_random(rng) & 255;
    for (size_t i = 1; i < size && f->format == DSX__BF16; i += 2) data[i] &= 0xBF;
    for (size_t i = 0; i < size / 2 && f->format == DSX__F16; i++) put_half(data + 2 * i, block, i);
    if (f->format == DSX__F16) return;
    if (f->first >= 0) put_half(data + f->first, block, 0);
    if (f->second >= 0) put_half(data + f->second, block, 1);
}

/* FNV-1a of the bytes of floats, least significant first. */
static uint64_t hash_of(const float *x, size_t n) {
    uint64_t h = 0xCBF29CE484222325u;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &x[i], 4);
        for (int b = 0; b < 32; b += 8) h = (h ^ (bits >> b & 255)) * 0x100000001B3u;
    }
    return h;
}

int main(void) {
    CHECK_EQ(sizeof places / sizeof *places, sizeof golden / sizeof *golden);
    for (size_t f = 0; f < sizeof places / sizeof *places; f++) {
        const dsx__format_info *info = &dsx__formats[places[f].format];
        size_t n = info->block > 1 ? info->block : ELEMENTS;
        t_rng rng = {f};

        CHECK(strcmp(info->name, golden[f].name) == 0);
        for (size_t b = 0; b < BLOCKS; b++) {
            uint8_t data[256];
            float x[256];

            make_block(&places[f], n / info->block * info->bytes, b, &rng, data);
            dsx__to_float(places[f].format, data, n, x);
            CHECK(hash_of(x, n) == golden[f].hashes[b]);
            if (hash_of(x, n) != golden[f].hashes[b]) fprintf(stderr, "  %s, block %zu\n", info->name, b);
        }
    }
    return t_end();
}
