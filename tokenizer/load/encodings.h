/* SPDX-License-Identifier: MIT */
/* Rank files that are known by name or by hash: which special tokens belong to them. */
#ifndef DSTOK_LOAD_ENCODINGS_H
#define DSTOK_LOAD_ENCODINGS_H

#include <stddef.h>
#include <stdint.h>

typedef struct dstok__named_id {
    const char *text;
    uint32_t id;
} dstok__named_id;

/* One known rank file. Its pattern is dstok__pattern_by_name(name). */
typedef struct dstok__encoding {
    const char *name;
    const char *sha256; /* of the file, in hex; NULL where another entry has it */
    uint32_t n_ranks;
    const dstok__named_id *specials;
    size_t n_specials;
    uint32_t reserved, reserved_end; /* besides: "<|reserved_N|>" for each id N from reserved up to the end */
} dstok__encoding;

const dstok__encoding *dstok__encoding_by_name(const char *name);     /* NULL: not known */
const dstok__encoding *dstok__encoding_by_sha256(const char *sha256); /* NULL: not known */

#endif
