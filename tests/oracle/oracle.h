/* SPDX-License-Identifier: MIT */
/* The slow encoder that says what is right: written to be read, with its own reader of vocabulary files. */
#ifndef DSTOK_TESTS_ORACLE_H
#define DSTOK_TESTS_ORACLE_H

#include "../harness/t.h"

#include <dstok/tokenizer.h>

typedef struct oracle oracle;

/* Reads a tokenizer.json (it begins with '{') or a .tiktoken file. Rank files need the pattern text, and take their
 * special tokens from meta, a JSON text with "special_tokens" (NULL: none). NULL, with a word on stderr, when the file
 * is not BPE or uses a part the oracle does not have. */
oracle *oracle_load(const char *data, size_t n, const char *pattern, const char *meta);
void oracle_free(oracle *o);

typedef struct oracle_tokens {
    uint32_t *ids;
    dstok_span *spans; /* bytes of the text */
    uint8_t *flags;    /* DSTOK_FLAG_PARTIAL, ADDED, UNKNOWN */
    size_t n, cap;
} oracle_tokens;

/* Encodes valid UTF-8 with special = DSTOK_SPECIAL_PLAIN, _TEXT or _PARSE, in place of what out held (zeroed at first).
 * False, with a word on stderr, when the pattern met a limit. */
bool oracle_encode(oracle *o, const uint8_t *text, size_t n, int special, oracle_tokens *out);
void oracle_tokens_free(oracle_tokens *out);

/* Encodes the text with both and CHECKs that ids, spans and flags are equal, that the spans tile the text, and that the
 * report counts what they leave out. Of the first few differences the smallest text that still differs is printed.
 * Returns whether all was equal. */
bool oracle_compare(oracle *o, dstok_encoder *enc, const char *name, const uint8_t *text, size_t n,
                    int special);

#endif
