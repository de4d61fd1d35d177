/* SPDX-License-Identifier: MIT */
/* Which two bytes the tokens hold side by side: bytes that are no UTF-8 are cut between all others. */
#include "build.h"

dstok_status dstok__build_joins(dstok__build *b) {
    DSTOK_TRY(dstok__build_zeroed(b, DSTOK__S_JOINS, DSTOK__JOINS, sizeof(uint64_t)));
    uint64_t *joins = (uint64_t *)(void *)b->sections[DSTOK__S_JOINS].data;
    const dstok__ref *texts = (const dstok__ref *)(const void *)b->sections[DSTOK__S_TEXTS].data;
    for (uint32_t id = 0; id < b->head.n_ids; id++) {
        const uint8_t *text = b->sections[DSTOK__S_STRINGS].data + texts[id].at;
        for (uint32_t i = 1; i < texts[id].n; i++) {
            unsigned bit = (unsigned)text[i - 1] << 8 | text[i];
            joins[bit / 64] |= (uint64_t)1 << (bit % 64);
        }
    }
    return DSTOK_OK;
}
