/* SPDX-License-Identifier: MIT */
/* The table of families: which exact pattern texts each scanner replaces, and the names that users give patterns. */
#include "pretok.h"
#include "scan.h"

#include <string.h>

/* ---- pattern texts. A text is known only as it stands here, byte for byte ---- */

/* tokenizer.json: ByteLevel(use_regex). */
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/* tiktoken before 0.8. */
#define R50K_OLD "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/* tiktoken. The $ is behind a possessive \s++, so nothing but the end of the text can satisfy it in any dialect. */
#define R50K "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s"

#define SUFFIXES       "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define TAIL_OF_CL100K "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CL100K         SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}" TAIL_OF_CL100K
#define CL100K_SHORT   "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}" TAIL_OF_CL100K
/* tiktoken before 0.8. */
#define CL100K_OLD                                                                                           \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"       \
    "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"
/* tiktoken. In Oniguruma {1,3}+ repeats instead of being possessive, so there this text means something else. */
#define CL100K_TIKTOKEN                                                                                      \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+"    \
    "|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s"

#define QWEN2 SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" TAIL_OF_CL100K
#define QWEN35                                                                                               \
    SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*"            \
             "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* Qwen 2's in the spelling of BailingMoE, Seed-Coder's, and MiniCPM 5's behind \p{N}{1,3}. */
#define BAILING                                                                                              \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"            \
    "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"
#define SEED_CODER                                                                                           \
    SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+"                          \
             "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define MINICPM5_1 "\\p{N}{1,3}"
#define MINICPM5_2 SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}+" TAIL_OF_CL100K

#define UPPERS        "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWERS        "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define TAIL_OF_O200K "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define O200K                                                                                                \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPERS "*" LOWERS "+" SUFFIXES "?|[^\\r\\n\\p{L}\\p{N}]?" UPPERS "+" LOWERS     \
    "*" SUFFIXES "?|\\p{N}{1,3}" TAIL_OF_O200K
#define TEKKEN                                                                                               \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPERS "*" LOWERS "+|[^\\r\\n\\p{L}\\p{N}]?" UPPERS "+" LOWERS                  \
    "*|\\p{N}" TAIL_OF_O200K

/* The third text holds real line ends. */
#define DEEPSEEK_1 "\\p{N}{1,3}"
#define DEEPSEEK_2 "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"
#define DEEPSEEK_3                                                                                           \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"        \
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"

/* No scanner stands for the texts from here on. Kimi K2: o200k with Han apart. */
#define NO_HAN      "&&[^\\p{Han}]]"
#define KIMI_UPPERS "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}" NO_HAN
#define KIMI_LOWERS "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}" NO_HAN
#define KIMI                                                                                                 \
    "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?" KIMI_UPPERS "*" KIMI_LOWERS "+" SUFFIXES                            \
    "?|[^\\r\\n\\p{L}\\p{N}]?" KIMI_UPPERS "+" KIMI_LOWERS "*" SUFFIXES                                      \
    "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

#define BLOOM " ?[^(\\s|[.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C])]+"

/* DeepSeek LLM and Coder: each expression inside the pieces of the one before, as llama.cpp knows them. The first holds
 * real line ends. Letters with case are listed one by one. */

/* ---- families ---- */

static const dstok__family gpt2 = {"gpt2", dstok__scan_gpt2, dstok__block_gpt2};
static const dstok__family cl100k = {"cl100k", dstok__scan_cl100k, dstok__block_cl100k};
static const dstok__family cl100k_tiktoken = {"cl100k_tiktoken", dstok__scan_cl100k_tiktoken,
                                              dstok__block_cl100k_tiktoken};
static const dstok__family qwen2 = {"qwen2", dstok__scan_qwen2, dstok__block_qwen2};
static const dstok__family qwen35 = {"qwen35", dstok__scan_qwen35, dstok__block_qwen35};
static const dstok__family seed_coder = {"seed_coder", dstok__scan_seed_coder, dstok__block_seed_coder};
static const dstok__family minicpm5 = {"minicpm5", dstok__scan_minicpm5, dstok__block_minicpm5};
static const dstok__family o200k = {"o200k", dstok__scan_o200k, dstok__block_o200k};
static const dstok__family tekken = {"tekken", dstok__scan_tekken, dstok__block_tekken};
static const dstok__family deepseek_v3 = {"deepseek_v3", dstok__scan_deepseek_v3, dstok__block_deepseek_v3};
static const dstok__family smollm = {"smollm", dstok__scan_smollm, dstok__block_smollm};
static const dstok__family smollm_split = {"smollm_split", dstok__scan_smollm_split,
                                           dstok__block_smollm_split};

/* Families of one pattern. Each of these patterns matches at every place of every text, so no gaps exist. */
static const struct known_pattern {
    const char *text;
    const dstok__family *family;
    bool fancy_only; /* else the text means the same in both dialects */
} known_patterns[] = {
    {GPT2, &gpt2, false},
    {R50K, &gpt2, false},
    {R50K_OLD, &gpt2, false},
    {CL100K, &cl100k, false},
    {CL100K_SHORT, &cl100k, false},
    {CL100K_OLD, &cl100k, false},
    {QWEN2, &qwen2, false},
    {BAILING, &qwen2, false},
    {QWEN35, &qwen35, false},
    {SEED_CODER, &seed_coder, false},
    {O200K, &o200k, false},
    {TEKKEN, &tekken, false},
    {CL100K_TIKTOKEN, &cl100k_tiktoken, true},
};

static bool has_text(const dstok__step *step, const char *text) {
    size_t n = strlen(text);
    return step->kind == DSTOK__STEP_REGEX && step->n == n && memcmp(step->pattern, text, n) == 0;
}

/* Isolated keeps matches and gaps, inverted or not; Removed and inverted keeps the matches. */
static bool keeps_matches(const dstok__step *step) {
    return step->behavior == DSTOK__ISOLATED || (step->behavior == DSTOK__REMOVED && step->invert);
}

static const dstok__family *family_of_pattern(const dstok__step *step) {
    if (!keeps_matches(step)) return NULL;
    for (size_t i = 0; i < sizeof known_patterns / sizeof *known_patterns; i++) {
        const struct known_pattern *known = &known_patterns[i];
        if (has_text(step, known->text) && (step->dialect == DSTOK__DIALECT_FANCY || !known->fancy_only))
            return known->family;
    }
    return NULL;
}

/* Numbers apart, then words. Single numbers and GPT-2: StarCoder, SmolLM, Refact, Command-R. */
static const dstok__family *find_two(const dstok__step *steps) {
    if (steps[0].behavior != DSTOK__ISOLATED) return NULL;
    if (has_text(&steps[0], MINICPM5_1))
        return has_text(&steps[1], MINICPM5_2) && keeps_matches(&steps[1]) ? &minicpm5 : NULL;
    if (family_of_pattern(&steps[1]) != &gpt2) return NULL;
    if (steps[0].kind == DSTOK__STEP_DIGITS) return &smollm;
    return has_text(&steps[0], "\\p{N}") ? &smollm_split : NULL;
}

static const dstok__family *find_deepseek_v3(const dstok__step *steps) {
    static const char *const texts[] = {DEEPSEEK_1, DEEPSEEK_2, DEEPSEEK_3};
    for (size_t i = 0; i < 3; i++)
        if (!has_text(&steps[i], texts[i]) || steps[i].behavior != DSTOK__ISOLATED) return NULL;
    return &deepseek_v3;
}

const dstok__family *dstok__family_find(const dstok__step *steps, size_t n) {
    switch (n) {
    case 1:
        return family_of_pattern(&steps[0]);
    case 2:
        return find_two(steps);
    case 3:
        return find_deepseek_v3(steps);
    default:
        return NULL;
    }
}

/* ---- names, for texts of the tiktoken dialect ---- */

static const struct named_pattern {
    const char *name, *text;
} named_patterns[] = {
    {"gpt2", GPT2},
    {"r50k_base", R50K},
    {"p50k_base", R50K},
    {"p50k_edit", R50K},
    {"cl100k_base", CL100K_TIKTOKEN},
    {"o200k_base", O200K},
    {"o200k_harmony", O200K},
    {"llama3", CL100K},
    {"qwen2", QWEN2},
    {"qwen2.5", QWEN2},
    {"qwen3", QWEN2},
    {"qwen3.5", QWEN35},
    {"qwen3.6", QWEN35},
    {"tekken", TEKKEN},
    {"kimi-k2", KIMI},
    {"kimi", KIMI},
    {"bloom", BLOOM},
    {"r50k", R50K},
    {"p50k", R50K},
    {"cl100k", CL100K_TIKTOKEN},
    {"o200k", O200K},
};

const char *dstok__pattern_name_at(size_t i) {
    return i < sizeof named_patterns / sizeof *named_patterns ? named_patterns[i].name : NULL;
}

const char *dstok__pattern_by_name(const char *name) {
    for (size_t i = 0; i < sizeof named_patterns / sizeof *named_patterns; i++)
        if (strcmp(named_patterns[i].name, name) == 0) return named_patterns[i].text;
    return NULL;
}
