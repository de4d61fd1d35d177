/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4), to name a sequence of ids. */
#ifndef CLI_SHA256_H
#define CLI_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct cli_sha256 {
    uint32_t state[8];
    uint64_t n; /* bytes so far */
    uint8_t block[64];
};

void cli_sha256_start(struct cli_sha256 *s);
void cli_sha256_add(struct cli_sha256 *s, const void *data, size_t n);
/* The digest; s must be started anew afterwards. */
void cli_sha256_end(struct cli_sha256 *s, uint8_t digest[32]);

#endif
