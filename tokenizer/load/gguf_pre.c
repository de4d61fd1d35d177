/* SPDX-License-Identifier: MIT */
/* What the pretokenizer names of GGUF files stand for: the steps of the tokenizer that a name was made for,
 * as its own tokenizer.json (or tiktoken encoding) has them, not as llama.cpp rewrites them. */
#include "gguf.h"

#include <string.h>

/* ---- patterns that have no name of their own ---- */

#define DEEPSEEK_V3_WORDS                                                                                    \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"        \
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"

/* Letters of the scripts that have capitals. */
#define DEEPSEEK_LLM_WORDS                                                                                   \
    "\\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF"        \
    "\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5"        \
    "\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA"            \
    "\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45"            \
    "\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE"              \
    "\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC"            \
    "\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139"         \
    "\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3"        \
    "\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06"            \
    "\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A\U00010400-\U0001044F\U000104B0-\U000104D3"                      \
    "\U000104D8-\U000104FB\U00010C80-\U00010CB2\U00010CC0-\U00010CF2\U000118A0-\U000118DF"                   \
    "\U0001E900-\U0001E943]+"

/* DeepSeek V3's, but line ends stand apart, one by one. */
#define SPARK2_5_WORDS                                                                                       \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"        \
    "| ?[\\p{P}\\p{S}]+|[\r\n]|\\s+(?!\\S)|\\s+"

#define BAILING                                                                                              \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|"           \
    "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"

#define SUFFIXES "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define MINICPM5                                                                                             \
    SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"                         \
             "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SEED_CODER                                                                                           \
    SUFFIXES "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+"                          \
             "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* ---- steps ---- */

/* pattern: a name of dstok__pattern_by_name, or a text. */
#define NAMED(name)                                                                                          \
    { .kind = DSTOK__STEP_REGEX, .behavior = DSTOK__ISOLATED, .pattern = (name) }
#define TEXT(regex)                                                                                          \
    { .kind = DSTOK__STEP_REGEX, .behavior = DSTOK__ISOLATED, .pattern = (regex) }
#define EVERY_NUMBER                                                                                         \
    { .kind = DSTOK__STEP_DIGITS, .behavior = DSTOK__ISOLATED }
#define MAX_CHAIN 6

typedef struct chain {
    dstok__step steps[MAX_CHAIN];
    size_t n;
} chain;

static const chain gpt2 = {{NAMED("gpt2")}, 1};
static const chain cl100k = {{NAMED("llama3")}, 1};
static const chain qwen2 = {{NAMED("qwen2")}, 1};
static const chain qwen35 = {{NAMED("qwen3.5")}, 1};
static const chain o200k = {{NAMED("o200k")}, 1};
static const chain tekken = {{NAMED("tekken")}, 1};
static const chain digits_gpt2 = {{EVERY_NUMBER, NAMED("gpt2")}, 2};
static const chain deepseek_v3 = {
    {TEXT("\\p{N}{1,3}"), TEXT("[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"), TEXT(DEEPSEEK_V3_WORDS)}, 3};
static const chain deepseek_coder = {{TEXT("[\r\n]"), TEXT("\\s?\\p{L}+"), TEXT("\\s?\\p{P}+"),
                                      TEXT("[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+"), EVERY_NUMBER},
                                     5};
static const chain deepseek_llm = {{TEXT("[\r\n]"), TEXT(DEEPSEEK_LLM_WORDS),
                                    TEXT("\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+"),
                                    TEXT("\\s+$"), TEXT("[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+"),
                                    EVERY_NUMBER},
                                   6};
static const chain falcon = {{{.kind = DSTOK__STEP_PUNCTUATION, .behavior = DSTOK__CONTIGUOUS},
                              NAMED("gpt2"),
                              {.kind = DSTOK__STEP_BYTE_MAP},
                              {.kind = DSTOK__STEP_DIGITS, .behavior = DSTOK__CONTIGUOUS},
                              TEXT("[0-9][0-9][0-9]")},
                             5};
static const chain spark2_5 = {{TEXT("\\p{N}{1,3}"), TEXT("[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"),
                                TEXT(SPARK2_5_WORDS), EVERY_NUMBER},
                               4};
static const chain bailing = {{TEXT(BAILING)}, 1};
static const chain seed_coder = {{TEXT(SEED_CODER)}, 1};
static const chain minicpm5 = {{TEXT("\\p{N}{1,3}"), TEXT(MINICPM5)}, 2};
/* Lines first: line ends go with the line behind them. */
static const chain laguna = {
    {{.kind = DSTOK__STEP_REGEX, .behavior = DSTOK__MERGED_WITH_NEXT, .pattern = "(?:\\r?\\n)+(?!\\r?\\n)"},
     NAMED("qwen2")},
    2};
/* Digits by threes from the right. */
static const chain tiny_aya = {{TEXT("\\d{1,3}(?=(?:\\d{3})*\\b)"), NAMED("o200k")}, 2};
static const chain bloom = {{NAMED("bloom")}, 1};
static const chain kimi_k2 = {{{.kind = DSTOK__STEP_REGEX,
                                .behavior = DSTOK__ISOLATED,
                                .dialect = DSTOK__DIALECT_FANCY,
                                .pattern = "kimi-k2"}},
                              1};

/* ---- names ---- */

enum {
    NFC = 1, /* the normalizer, which llama.cpp leaves out */
    NFKC = 2,
    WHOLE = 4, /* ignore_merges */
    BOS = 8    /* add_bos_token where the file does not say */
};

/* Only names whose original is known, pattern, normalizer and options; the others: docs/formats.md. */
static const struct named_chain {
    const char *name;
    const chain *chain;
    unsigned flags;
} known[] = {
    {"gpt-2", &gpt2, 0},
    {"phi-2", &gpt2, 0},
    {"mpt", &gpt2, NFC},
    {"olmo", &gpt2, NFC},
    {"modern-bert", &gpt2, NFC},
    {"llama-bpe", &cl100k, WHOLE | BOS},
    {"llama3", &cl100k, WHOLE | BOS},
    {"llama-v3", &cl100k, WHOLE | BOS},
    {"smaug-bpe", &cl100k, WHOLE},
    {"dbrx", &cl100k, 0},
    {"chatglm-bpe", &cl100k, WHOLE},
    {"glm4", &cl100k, WHOLE},
    {"glm5", &cl100k, WHOLE},
    {"qwen2", &qwen2, NFC},
    {"deepseek-r1-qwen", &qwen2, NFC},
    {"stablelm2", &qwen2, NFC | WHOLE},
    {"qwen35", &qwen35, NFC},
    {"gpt-4o", &o200k, WHOLE},
    {"llama4", &o200k, WHOLE},
    {"minimax-m2", &o200k, NFC},
    {"tekken", &tekken, WHOLE | BOS},
    {"smollm", &digits_gpt2, 0},
    {"starcoder", &digits_gpt2, 0},
    {"refact", &digits_gpt2, 0},
    {"mellum2", &digits_gpt2, 0},
    {"command-r", &digits_gpt2, NFC},
    {"exaone", &digits_gpt2, NFKC},
    {"falcon", &falcon, 0},
    {"deepseek-v3", &deepseek_v3, 0},
    {"joyai-llm", &deepseek_v3, 0},
    {"hunyuan-dense", &deepseek_v3, 0},
    {"deepseek-coder", &deepseek_coder, 0},
    {"deepseek-llm", &deepseek_llm, 0},
    {"spark2_5", &spark2_5, 0},
    {"bailingmoe", &bailing, NFC},
    {"bailingmoe2", &bailing, NFC},
    {"llada-moe", &bailing, NFC},
    {"seed-coder", &seed_coder, NFC},
    {"minicpm5", &minicpm5, 0},
    {"laguna", &laguna, 0},
    {"tiny_aya", &tiny_aya, 0},
    {"bloom", &bloom, 0},
    {"kimi-k2", &kimi_k2, WHOLE},
};

static dstok_status add_steps(dstok__gguf *g, const chain *c) {
    dstok__spec *s = g->s;
    for (size_t i = 0; i < c->n; i++) {
        dstok__step step = c->steps[i];
        if (step.kind == DSTOK__STEP_REGEX) {
            const char *text = dstok__pattern_by_name(step.pattern);
            if (text == NULL) text = step.pattern;
            step.n = strlen(text);
            DSTOK_TRY(dstok__spec_copy(s, text, step.n, &step.pattern, g->err));
        }
        s->steps[s->n_steps++] = step;
    }
    return DSTOK_OK;
}

static dstok_status warn_of_name(dstok__gguf *g, const struct named_chain *k) {
    static const char says[] = "GGUF: the pretokenizer is taken by its name, ";
    if (!(k->flags & (NFC | NFKC))) return dstok__spec_warn(g->s, g->err, "%s\"%s\"", says, k->name);
    return dstok__spec_warn(g->s, g->err,
                            "%s\"%s\", with %s as in that model's tokenizer.json, which llama.cpp leaves out",
                            says, k->name, k->flags & NFC ? "NFC" : "NFKC");
}

static dstok_status use(dstok__gguf *g, const struct named_chain *k) {
    dstok__spec *s = g->s;
    DSTOK_TRY(add_steps(g, k->chain));
    if (k->flags & NFC) s->norms[s->n_norms++] = (dstok__norm){.kind = DSTOK__NORM_NFC};
    if (k->flags & NFKC) s->norms[s->n_norms++] = (dstok__norm){.kind = DSTOK__NORM_NFKC};
    s->ignore_merges = (k->flags & WHOLE) != 0;
    g->default_bos = (k->flags & BOS) != 0;
    DSTOK_TRY(warn_of_name(g, k));
    if (k->chain != &kimi_k2) return DSTOK_OK;
    return dstok__spec_warn(
        s, g->err,
        "GGUF: that model's own code cuts texts of more than 400,000 characters, and runs of more "
        "than 25,000 with or without blanks, before it encodes them; this is not done here");
}

dstok_status dstok__gguf_pretokenizer(dstok__gguf *g) {
    const char *name = "";
    size_t n = 0;
    dstok__quoted q;
    if (!dstok__gguf_has(g, DSTOK__GGUF_PRE))
        return dstok__fail(
            g->err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0,
            "not supported: a file that does not name its pretokenizer (it has no %s; give the model's "
            "tokenizer.json, or convert the model anew)",
            dstok__gguf_name(DSTOK__GGUF_PRE));
    DSTOK_TRY(dstok__gguf_string(g, DSTOK__GGUF_PRE, &name, &n));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (dstok__text_is(name, n, known[i].name)) return use(g, &known[i]);
    }
    return dstok__fail(g->err, DSTOK_E_UNSUPPORTED, g->values[DSTOK__GGUF_PRE].at, 0,
                       "not supported: the GGUF pretokenizer \"%s\" (give the model's tokenizer.json)",
                       DSTOK__QUOTE(name, n, q));
}
