/* SPDX-License-Identifier: MIT */
/* Merging of long pretokens part by part, in linear time. */
#ifndef DSTOK_BPE_PARTS_H
#define DSTOK_BPE_PARTS_H

#include "merge.h"

#define DSTOK__PART_ROOM 1024u /* symbols that are merged together at most */

/* As dstok__merge_run for rules that note nothing. *n_out = 0: it gave up and s->symbols is as before; that is where
 * tokens are hundreds of symbols long, or depend on text so far away. */
dstok_status dstok__merge_parts(dstok__merge_scratch *s, const dstok__merge_rules *rules, size_t n,
                                size_t *n_out);

#endif
