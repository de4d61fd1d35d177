/* SPDX-License-Identifier: MIT */
/* The tables of a tokenizer: one block of bytes without pointers. Loaders build it, encoders run on it, and
 * written to
 * a file it is a .dstok file (docs/formats.md). All numbers are little-endian, all places are checked when it
 * is opened. */
#ifndef DSTOK_BPE_TABLES_H
#define DSTOK_BPE_TABLES_H

#include <dstok/tokenizer.h>

#include "../load/spec.h"
#include "../../simd/slots.h"
#include "../text/added.h"
#include "atoms.h"
#include "pairs.h"

#define DSTOK__TABLES_VERSION 6u
#define DSTOK__TABLES_ORDER   0x01020304u /* reads differently on a big-endian machine */

/* Bytes of the section of strings. */
typedef struct dstok__ref {
    uint32_t at, n;
} dstok__ref;

/* A slot of the table from texts to ids: open addressing, linear probing, at most two thirds full. */
typedef struct dstok__slot {
    uint32_t tag; /* more bits of the hash */
    uint32_t id;  /* DSTOK__NO_ID: free */
} dstok__slot;

typedef struct dstok__added_row {
    dstok__ref text;
    uint32_t id, flags; /* DSTOK__ADDED_* (added.h) */
} dstok__added_row;

/* A normaliser operation or a pretokenizer step. */
typedef struct dstok__op_row {
    uint32_t kind, flags; /* steps: behavior | invert << 8 | dialect << 16 */
    dstok__ref pattern, content;
    uint32_t prepend, length;
} dstok__op_row;

typedef enum dstok__section {
    DSTOK__S_STRINGS, /* uint8_t */
    DSTOK__S_TOKENS,  /* dstok__ref by id: what it decodes to */
    DSTOK__S_TEXTS,   /* dstok__ref by id, and of the bare characters behind them: what the model matches */
    DSTOK__S_FLAGS,   /* uint8_t by id: DSTOK_TOKEN_*, DSTOK__TOKEN_* */
    DSTOK__S_SLOTS,   /* dstok__slot */
    DSTOK__S_PAIRS,   /* dstok__pair */
    DSTOK__S_ADDED,   /* dstok__added_row in file order */
    DSTOK__S_RAW,     /* dstok__added_row by text: matched before normalisation */
    DSTOK__S_NORMALIZED, /* dstok__added_row by text: matched after it */
    DSTOK__S_TEMPLATE,   /* uint32_t: an id, or DSTOK__NO_ID where the text stands */
    DSTOK__S_NORMS,      /* dstok__op_row */
    DSTOK__S_STEPS,      /* dstok__op_row */
    DSTOK__S_WARNINGS,   /* dstok__ref; these strings and the next have a NUL behind them */
    DSTOK__S_WORDS,      /* dstok__ref: the format, the normaliser, each step, in words */
    DSTOK__S_PACKED,     /* uint64_t: the pairs packed (pairs.h); then DSTOK__S_PAIRS is empty */
    DSTOK__S_PRODUCTS,   /* uint32_t by rank */
    DSTOK__S_CUT_PAIRS,  /* uint64_t: see simd/cuts.h; empty where nothing is cut */
    DSTOK__S_CUT_PARTS,  /* uint64_t: see there */
    DSTOK__S_ATOM_PAGES, /* uint16_t: see atoms.h; empty where there are none */
    DSTOK__S_ATOMS,      /* uint32_t */
    DSTOK__S_TORN_PAIRS, /* uint64_t: as DSTOK__S_CUT_PAIRS */
    DSTOK__S_JOINS,      /* uint64_t: see simd/cuts.h; where there are cuts */
    DSTOK__S_BYTE_PAIRS, /* int32_t: see pairs.h; where pairs are packed */
    DSTOK__N_SECTIONS
} dstok__section;

typedef struct dstok__place {
    uint64_t at; /* bytes from the begin of the block, a multiple of 8 */
    uint64_t n;  /* elements */
} dstok__place;

typedef struct dstok__head {
    uint8_t magic[8];
    uint32_t order, version;
    uint64_t size;     /* of the block */
    uint64_t checksum; /* XXH3-64 of all that follows this field */
    uint64_t seed;     /* of both hash tables */
    uint32_t n_ids, n_tokens, n_merges;
    uint32_t n_bare; /* texts behind those of the ids: characters that only take part in merges */
    uint32_t model;  /* dstok__model_kind */
    uint32_t unk_id;
    uint32_t options; /* DSTOK__T_* */
    dstok__ref prefix, suffix;
    dstok__dec_plan plan;
    uint32_t byte_ids[256]; /* byte atoms: the token of a single byte, or DSTOK__NO_ID */
    uint32_t fallback_ids[256];
    dstok__place sections[DSTOK__N_SECTIONS];
} dstok__head;

#define DSTOK__T_WHOLE_FIRST    1u /* a pretoken that is one token is not merged (ignore_merges, rank files) */
#define DSTOK__T_CHAR_ATOMS     2u /* merging starts from characters */
#define DSTOK__T_FALLBACK       4u /* byte_fallback, before merging */
#define DSTOK__T_LATE_FALLBACK  8u /* ... after it */
#define DSTOK__T_FUSE_UNK       16u
#define DSTOK__T_CONTROL_MERGES 32u  /* text can give a control token, merged or not: SAFE must look */
#define DSTOK__T_TRIM           64u  /* hf spans leave out blanks at the ends */
#define DSTOK__T_TRIM_PREFIX    128u /* ... but for one at the begin */
#define DSTOK__T_UNUSED         256u /* some tokens have DSTOK__TOKEN_UNUSED */
#define DSTOK__T_PLAIN_ATOMS    512u /* byte atoms without affixes and fallback: byte_ids says all */

#define DSTOK__MAGIC                                                                                         \
    "\x89"                                                                                                   \
    "dstok\r\n"
#define DSTOK__MAX_AFFIX    64u /* bytes of a prefix or suffix of subwords */
#define DSTOK__CHECKED_FROM (offsetof(dstok__head, checksum) + sizeof(uint64_t))

/* Bytes of one element, by section. */
#define DSTOK__SECTION_SIZES                                                                                 \
    {                                                                                                        \
        1, sizeof(dstok__ref), sizeof(dstok__ref), 1, sizeof(dstok__slot), sizeof(dstok__pair),              \
            sizeof(dstok__added_row), sizeof(dstok__added_row), sizeof(dstok__added_row), sizeof(uint32_t),  \
            sizeof(dstok__op_row), sizeof(dstok__op_row), sizeof(dstok__ref), sizeof(dstok__ref),            \
            sizeof(uint64_t), sizeof(uint32_t), sizeof(uint64_t), sizeof(uint64_t), sizeof(uint16_t),        \
            sizeof(uint32_t), sizeof(uint64_t), sizeof(uint64_t), sizeof(int32_t)                            \
    }

/* Flags by id that are not public. */
#define DSTOK__TOKEN_WHOLE  0x20u /* its own bytes merge to it (where merging starts from bytes) */
#define DSTOK__TOKEN_UNUSED 0x40u /* merges may pass through it, but it is taken apart again */
#define DSTOK__TOKEN_BYTE   0x80u /* "<0xE4>": one byte of a character */
#define DSTOK__PUBLIC_FLAGS 0x0Fu

/* A checked block. */
typedef struct dstok__tables {
    const uint8_t *block;
    const dstok__head *head;
    const uint8_t *strings, *flags;
    const dstok__ref *tokens, *texts, *warnings, *words;
    const dstok__slot *slots;
    dstok__pairs pairs;
    dstok__cuts cuts;
    const uint64_t *joins; /* NULL: there are none */
    dstok__atoms atoms;
    const dstok__added_row *added, *raw, *normalized;
    const uint32_t *template;
    const dstok__op_row *norms, *steps;
} dstok__tables;

static inline size_t dstok__tables_n(const dstok__tables *t, dstok__section s) {
    return (size_t)t->head->sections[s].n;
}

static inline const char *dstok__tables_string(const dstok__tables *t, dstok__ref ref) {
    return (const char *)t->strings + ref.at;
}

/* Builds the block of a filled spec: *block of *n bytes, from al. E_LIMIT, E_NOMEM, E_DUPLICATE (err
 * filled). */
dstok_status dstok__tables_build(const dstok__spec *s, const dstok_alloc *al, uint8_t **block, size_t *n,
                                 dstok_error *err);

/* Checks block[0, n), 8-byte aligned, and fills t with views of it. is_file: it comes from outside, so that
 * its checksum
 * is looked at, too; whatever the bytes are, an opened block is safe to use. E_FORMAT, E_VERSION, E_TRUNCATED,
 * E_CHECKSUM, E_UNSUPPORTED (byte order). */
dstok_status dstok__tables_open(dstok__tables *t, const uint8_t *block, size_t n, bool is_file,
                                dstok_error *err);

bool dstok__is_tables(const void *data, size_t n); /* by its first bytes */

/* 64 well-mixed bits of two times 64: the halves of a product of 128. */
static inline uint64_t dstok__fold(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    a = (a ^ a >> 32) * 0x9E3779B97F4A7C15u;
    b = (b ^ b >> 32) * 0xD6E8FEB86659FD93u;
    return (a ^ a >> 29) + (b ^ b >> 32);
#endif
}

/* The hash of a text, and where the search for it begins. That of a text of up to DSTOK__KEY_BYTES bytes is
 * made of its key alone. */
uint64_t dstok__text_hash(const void *text, size_t n, uint64_t seed);

static inline uint64_t dstok__key_text_hash(dstok__key key, uint64_t seed) {
    return dstok__fold(key.low ^ seed, key.high ^ (seed << 32 | seed >> 32) ^ 0xA0761D6478BD642Fu);
}

static inline size_t dstok__slot_home(uint64_t hash, size_t cap) {
    return (size_t)((hash >> 32) * cap >> 32);
}

/* Where that search begins, and what it will most likely find, for those who must not wait. */
static inline const dstok__slot *dstok__tables_slot(const dstok__tables *t, uint64_t hash) {
    return t->slots + dstok__slot_home(hash, dstok__tables_n(t, DSTOK__S_SLOTS));
}
uint32_t dstok__tables_guess(const dstok__tables *t, uint64_t hash);

/* The id of a whole text, or DSTOK__NO_ID; ids from n_ids on are bare characters. Where the key of the text is
 * known, and hash, that of the text, it takes less. */
uint32_t dstok__tables_find(const dstok__tables *t, const void *text, size_t n);
uint32_t dstok__tables_find_key(const dstok__tables *t, dstok__key key, uint64_t hash);

#endif
