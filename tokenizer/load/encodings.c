/* SPDX-License-Identifier: MIT */
/* Known rank files and their special tokens: OpenAI's as tiktoken 0.14.0 has them, Qwen's as their own files do. */
#include "encodings.h"

#include <string.h>

static const dstok__named_id r50k[] = {{"<|endoftext|>", 50256}};

static const dstok__named_id p50k_edit[] = {{"<|endoftext|>", 50256},
                                            {"<|fim_prefix|>", 50281},
                                            {"<|fim_middle|>", 50282},
                                            {"<|fim_suffix|>", 50283}};

static const dstok__named_id cl100k[] = {{"<|endoftext|>", 100257},
                                         {"<|fim_prefix|>", 100258},
                                         {"<|fim_middle|>", 100259},
                                         {"<|fim_suffix|>", 100260},
                                         {"<|endofprompt|>", 100276}};

static const dstok__named_id o200k[] = {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}};

/* 200018 is <|endofprompt|> and also falls into the reserved range: as the first it is what the id decodes to. */
static const dstok__named_id harmony[] = {{"<|startoftext|>", 199998},
                                          {"<|endoftext|>", 199999},
                                          {"<|reserved_200000|>", 200000},
                                          {"<|reserved_200001|>", 200001},
                                          {"<|return|>", 200002},
                                          {"<|constrain|>", 200003},
                                          {"<|reserved_200004|>", 200004},
                                          {"<|channel|>", 200005},
                                          {"<|start|>", 200006},
                                          {"<|end|>", 200007},
                                          {"<|message|>", 200008},
                                          {"<|reserved_200009|>", 200009},
                                          {"<|reserved_200010|>", 200010},
                                          {"<|reserved_200011|>", 200011},
                                          {"<|call|>", 200012},
                                          {"<|endofprompt|>", 200018}};

/* Qwen 3's; Qwen 2 and 2.5 have the first 22. */
enum { N_QWEN2 = 22 };
static const dstok__named_id qwen3[] = {
    {"<|endoftext|>", 151643},
    {"<|im_start|>", 151644},
    {"<|im_end|>", 151645},
    {"<|object_ref_start|>", 151646},
    {"<|object_ref_end|>", 151647},
    {"<|box_start|>", 151648},
    {"<|box_end|>", 151649},
    {"<|quad_start|>", 151650},
    {"<|quad_end|>", 151651},
    {"<|vision_start|>", 151652},
    {"<|vision_end|>", 151653},
    {"<|vision_pad|>", 151654},
    {"<|image_pad|>", 151655},
    {"<|video_pad|>", 151656},
    {"<tool_call>", 151657},
    {"</tool_call>", 151658},
    {"<|fim_prefix|>", 151659},
    {"<|fim_middle|>", 151660},
    {"<|fim_suffix|>", 151661},
    {"<|fim_pad|>", 151662},
    {"<|repo_name|>", 151663},
    {"<|file_sep|>", 151664},
    {"<tool_response>", 151665},
    {"</tool_response>", 151666},
    {"<think>", 151667},
    {"</think>", 151668},
};

static const dstok__named_id qwen36[] = {
    {"<|endoftext|>", 248044},
    {"<|im_start|>", 248045},
    {"<|im_end|>", 248046},
    {"<|object_ref_start|>", 248047},
    {"<|object_ref_end|>", 248048},
    {"<|box_start|>", 248049},
    {"<|box_end|>", 248050},
    {"<|quad_start|>", 248051},
    {"<|quad_end|>", 248052},
    {"<|vision_start|>", 248053},
    {"<|vision_end|>", 248054},
    {"<|vision_pad|>", 248055},
    {"<|image_pad|>", 248056},
    {"<|video_pad|>", 248057},
    {"<tool_call>", 248058},
    {"</tool_call>", 248059},
    {"<|fim_prefix|>", 248060},
    {"<|fim_middle|>", 248061},
    {"<|fim_suffix|>", 248062},
    {"<|fim_pad|>", 248063},
    {"<|repo_name|>", 248064},
    {"<|file_sep|>", 248065},
    {"<tool_response>", 248066},
    {"</tool_response>", 248067},
    {"<think>", 248068},
    {"</think>", 248069},
    {"<|audio_start|>", 248070},
    {"<|audio_end|>", 248071},
    {"<tts_pad>", 248072},
    {"<tts_text_bos>", 248073},
    {"<tts_text_eod>", 248074},
    {"<tts_text_bos_single>", 248075},
    {"<|audio_pad|>", 248076},
};

#define LIST(specials) specials, sizeof specials / sizeof *specials
static const dstok__encoding encodings[] = {
    {"r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", 50256, LIST(r50k), 0,
     0},
    {"p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069", 50280, LIST(r50k), 0,
     0},
    {"cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", 100256, LIST(cl100k),
     0, 0},
    {"o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", 199998, LIST(o200k), 0,
     0},
    {"qwen3.6", "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd", 248044, LIST(qwen36), 0,
     0},
    {"tekken", "64a081edb3cbb8639a4eea9a7135ab9a0467c50676c672b217ba655f4d50e127", 130072, NULL, 0, 0, 0},
    {"gpt2", NULL, 50256, LIST(r50k), 0, 0},
    {"r50k", NULL, 50256, LIST(r50k), 0, 0},
    {"p50k", NULL, 50280, LIST(r50k), 0, 0},
    {"p50k_edit", NULL, 50280, LIST(p50k_edit), 0, 0},
    {"cl100k", NULL, 100256, LIST(cl100k), 0, 0},
    {"o200k", NULL, 199998, LIST(o200k), 0, 0},
    {"o200k_harmony", NULL, 199998, LIST(harmony), 200013, 201088},
    {"qwen2", NULL, 151643, qwen3, N_QWEN2, 0, 0},
    {"qwen2.5", NULL, 151643, qwen3, N_QWEN2, 0, 0},
    {"qwen3", NULL, 151643, LIST(qwen3), 0, 0},
    {"qwen3.5", NULL, 248044, LIST(qwen36), 0, 0},
};

const dstok__encoding *dstok__encoding_by_name(const char *name) {
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strcmp(encodings[i].name, name) == 0) return &encodings[i];
    }
    return NULL;
}

const dstok__encoding *dstok__encoding_by_sha256(const char *sha256) {
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (encodings[i].sha256 != NULL && strcmp(encodings[i].sha256, sha256) == 0) return &encodings[i];
    }
    return NULL;
}
