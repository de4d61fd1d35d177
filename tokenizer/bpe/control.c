/* SPDX-License-Identifier: MIT */
/* Which added tokens are control tokens by the look of their text, whatever the file says
 * (docs/special-tokens.md). */
#include "build.h"

#include <string.h>

/* Control tokens that files mark special=false, or whose text has no telling shape. */
static const char *const names[] = {
    "<s>",
    "</s>",
    "<unk>",
    "<pad>",
    "<mask>",
    "<bos>",
    "<eos>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<tools>",
    "</tools>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<fim_prefix>",
    "<fim_middle>",
    "<fim_suffix>",
    "<fim_pad>",
    "<file_sep>",
    "<repo_name>",
    "<file_separator>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_CALLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "<<SYS>>",
    "<</SYS>>",
    "[gMASK]",
    "[MASK]",
    "[sMASK]",
    "<sop>",
    "<eop>",
    "<EOT>",
    "<dsml:",
    "</dsml:",
    "<PRE>",
    "<SUF>",
    "<MID>",
    "<tts_pad>",
    "<tts_text_bos>",
    "<tts_text_eod>",
    "<tts_text_bos_single>",
};

/* A bar of either width beside a bracket, or a full-width bar anywhere, is how chat formats write control
 * tokens. */
static const char *const shapes[] = {"<|", "|>", "\xEF\xBD\x9C"};

static bool contains(const char *text, size_t n, const char *part) {
    size_t m = strlen(part);
    for (size_t i = 0; i + m <= n; i++) {
        if (memcmp(text + i, part, m) == 0) return true;
    }
    return false;
}

bool dstok__is_control_text(const char *text, size_t n) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (contains(text, n, shapes[i])) return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == n && memcmp(names[i], text, n) == 0) return true;
    }
    return false;
}
