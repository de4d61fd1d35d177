/* SPDX-License-Identifier: MIT */
/* Seeded random text for tests: mixes of Unicode classes, mutants of real text, joined tokens, bytes. */
#ifndef DSTOK_TESTS_GEN_H
#define DSTOK_TESTS_GEN_H

#include "../harness/t.h"

#include <dstok/tokenizer.h>

/* Each writes at most max bytes (max >= 16) to out and returns how many; all but gen_bytes give valid UTF-8. */

/* Runs of a few classes: letters, digits and marks of several scripts, blanks, line ends, symbols, contractions,
 * special-token look-alikes, code points without a meaning. */
size_t gen_text(t_rng *rng, uint8_t *out, size_t max);

/* A piece of real text with some characters changed, doubled or left out. */
size_t gen_mutant(t_rng *rng, const uint8_t *real, size_t n, uint8_t *out, size_t max);

/* Random tokens of a vocabulary, joined; bytes that do not make a character are left out. */
size_t gen_tokens(t_rng *rng, const dstok_tokenizer *tok, uint8_t *out, size_t max);

/* Bytes: random ones, halves of characters, and text between them. */
size_t gen_bytes(t_rng *rng, uint8_t *out, size_t max);

/* Prints bytes as a C string literal to stderr. */
void gen_print(const uint8_t *s, size_t n);

#endif
