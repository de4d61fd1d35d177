/* SPDX-License-Identifier: MIT */
/* A prompt from inside. */
#ifndef DSX_EXPLAIN_PROMPT_H
#define DSX_EXPLAIN_PROMPT_H

#include <dsx/chat.h>
#include <dsx/explain.h>

#include <stdbool.h>

struct dsx_prompt {
    const dsx_model *model;
    const dstok_tokenizer *tok;
    dstok_encoder *enc;
    int64_t bos; /* stands before the text; -1: none, or the encoder adds it */
    bool is_chat;
    dsx_source *sources; /* [n_sources]: copies, as they were given */
    struct
        dsx__skip { /* what a source has before the bytes that are in the text: blanks, and where they end */
        size_t bytes;
        uint64_t line, column;
    } * skips; /* [n_sources] */
    size_t n_sources;
    char *text;
    size_t len, cap;
    dstok_segment *segments; /* the last one is the response */
    size_t n_segments, cap_segments;
    size_t response, answer; /* bytes */
    uint32_t *ids;
    dstok_span *spans;
    size_t n, cap_ids, sources_begin, sources_end;
};

#endif
