/* SPDX-License-Identifier: MIT */
/* The embedded default vocabulary: the bytes of default.tokenizer.json, put into C by bin2c.py at build time. */
#ifndef DSTOK_DATA_DEFAULT_VOCAB_H
#define DSTOK_DATA_DEFAULT_VOCAB_H

#include <stddef.h>

extern const unsigned char dstok__default_vocab[]; /* a NUL follows the last byte */
extern const size_t dstok__default_vocab_size;     /* without that NUL; 0 when built without a vocabulary */

#endif
