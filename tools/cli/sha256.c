/* SPDX-License-Identifier: MIT */
/* SHA-256 as FIPS 180-4 words it, without tricks. */
#include "sha256.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The same of the square roots of the first 8 primes. */
static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotate(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static uint32_t big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The message schedule W of one block. */
static void schedule(const uint8_t *block, uint32_t w[64]) {
    unsigned t;

    for (t = 0; t < 16; t++) w[t] = big_endian(block + 4 * t);
    for (; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3, s1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;

        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
}

/* v holds the working variables a to h. */
static void one_round(uint32_t v[8], uint32_t word) {
    uint32_t a = v[0], e = v[4];
    uint32_t choose = (e & v[5]) ^ (~e & v[6]), majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
    uint32_t t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose + word;
    uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;

    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + t2;
}

static void compress(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64], v[8];
    unsigned t;

    schedule(block, w);
    memcpy(v, state, sizeof v);
    for (t = 0; t < 64; t++) one_round(v, k[t] + w[t]);
    for (t = 0; t < 8; t++) state[t] += v[t];
}

void cli_sha256_start(struct cli_sha256 *s) {
    memcpy(s->state, initial, sizeof s->state);
    s->n = 0;
}

void cli_sha256_add(struct cli_sha256 *s, const void *data, size_t n) {
    const uint8_t *p = data;

    while (n > 0) {
        size_t at = (size_t)(s->n % 64), room = 64 - at, part = n < room ? n : room;

        memcpy(s->block + at, p, part);
        if (part == room) compress(s->state, s->block);
        s->n += part;
        p += part;
        n -= part;
    }
}

void cli_sha256_end(struct cli_sha256 *s, uint8_t digest[32]) {
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = s->n * 8;
    uint8_t length[8];
    unsigned i;

    for (i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    cli_sha256_add(s, padding, (size_t)(s->n % 64 < 56 ? 56 - s->n % 64 : 120 - s->n % 64));
    cli_sha256_add(s, length, sizeof length);
    for (i = 0; i < 32; i++) digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}
