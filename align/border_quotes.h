/* SPDX-License-Identifier: MIT */
/* How deep a place stands in quotes and brackets of its line. */
#ifndef DSTOK_ALIGN_BORDER_QUOTES_H
#define DSTOK_ALIGN_BORDER_QUOTES_H

#include "border_chars.h"

typedef struct quote_depth {
    unsigned all;    /* quotes, brackets, titles that are open */
    unsigned quotes; /* double quotes among them */
    unsigned titles; /* 《 and 〈 among them */
} quote_depth;

/* From the begin of the line, or of what is reached of it, up to `at`. Apostrophes and single quotes do not
 * count. */
quote_depth dstok__quote_depth(const reach *r, size_t at);

#endif
