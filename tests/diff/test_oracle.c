/* SPDX-License-Identifier: MIT */
/* dstok_encode against the slow encoder of tests/oracle: every vocabulary of ../shared that is BPE in a
 * tokenizer.json or a rank file, many made-up ones; random and real text. */
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"
#include "../oracle/oracle.h"
#include "../oracle/vary.h"

#include <stdlib.h>
#include <time.h>

#define SEED     20250101u
#define MAX_TEXT 400
#define ROUNDS   1500 /* each: three kinds of text, one policy */

#define VOCABULARIES 600 /* made-up ones */
#define TEXTS_EACH   90

/* ---- patterns of rank files, as tiktoken and mistral-common write them ---- */

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
#define UPPER        "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER        "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define FIRST        "[^\\r\\n\\p{L}\\p{N}]?"
#define TAIL         "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const char r50k[] =
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s";
static const char cl100k[] = "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+|"
                             " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s";
static const char o200k[] =
    FIRST UPPER "*" LOWER "+" CONTRACTIONS "|" FIRST UPPER "+" LOWER "*" CONTRACTIONS "|\\p{N}{1,3}" TAIL;
static const char tekken[] = FIRST UPPER "*" LOWER "+|" FIRST UPPER "+" LOWER "*|\\p{N}" TAIL;
/* o200k with Chinese characters apart: no family has it, so it runs through PCRE2 in both, with class
 * intersection. */
#define NOT_HAN    "&&[^\\p{Han}]]"
#define KIMI_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}" NOT_HAN
#define KIMI_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}" NOT_HAN
static const char kimi[] =
    "[\\p{Han}]+|" FIRST KIMI_UPPER "*" KIMI_LOWER "+" CONTRACTIONS "|" FIRST KIMI_UPPER "+" KIMI_LOWER
    "*" CONTRACTIONS "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
static const char qwen3_6[] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
                              " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static const char openai_specials[] = "{\"special_tokens\":{\"<|endoftext|>\":50256}}";
static const char cl100k_specials[] =
    "{\"special_tokens\":{\"<|endoftext|>\":100257,\"<|fim_prefix|>\":100258,\"<|fim_middle|>\":100259,"
    "\"<|fim_suffix|>\":100260,\"<|endofprompt|>\":100276}}";
static const char o200k_specials[] =
    "{\"special_tokens\":{\"<|endoftext|>\":199999,\"<|endofprompt|>\":200018}}";

/* A vocabulary; rank files have a pattern for the oracle and one for dstok (NULL: dstok must know the file). */
static const struct source {
    const char *file;
    const char *pattern, *meta;
    const char *dstok_pattern;
} sources[] = {
    {"chatglm3.tokenizer.json", NULL, NULL, NULL},
    {"claude_nfkc.tokenizer.json", NULL, NULL, NULL},
    {"clip.tokenizer.json", NULL, NULL, NULL},
    {"deepseek_v3.tokenizer.json", NULL, NULL, NULL},
    {"deepseek_v4.tokenizer.json", NULL, NULL, NULL},
    {"falcon.tokenizer.json", NULL, NULL, NULL},
    {"gemma3.tokenizer.json", NULL, NULL, NULL},
    {"gpt35turbo.tokenizer.json", NULL, NULL, NULL},
    {"gptoss.tokenizer.json", NULL, NULL, NULL},
    {"llama3_1.tokenizer.json", NULL, NULL, NULL},
    {"mistral_v0_1_spm.tokenizer.json", NULL, NULL, NULL},
    {"phi-2.tokenizer.json", NULL, NULL, NULL},
    {"phi-3-mini.tokenizer.json", NULL, NULL, NULL},
    {"qwen2_5.tokenizer.json", NULL, NULL, NULL},
    {"qwen3.tokenizer.json", NULL, NULL, NULL},
    {"smollm2.tokenizer.json", NULL, NULL, NULL},
    {"whisper_large_v3.tokenizer.json", NULL, NULL, NULL},
    {"r50k_base.tiktoken", r50k, openai_specials, NULL},
    {"p50k_base.tiktoken", r50k, openai_specials, NULL},
    {"cl100k_base.tiktoken", cl100k, cl100k_specials, NULL},
    {"o200k_base.tiktoken", o200k, o200k_specials, NULL},
    {"o200k_base.tiktoken", kimi, NULL, kimi},
    {"tekken_v3_ranks.tiktoken", tekken, NULL, "tekken"},
    {"qwen3_6.tiktoken", qwen3_6, "qwen3_6.tiktoken.meta.json", NULL},
};

typedef struct text {
    char *data;
    size_t n;
} text;
static text real[3];

static char *read_shared(const char *folder, const char *file, size_t *n) {
    char name[256];
    snprintf(name, sizeof name, "%s/%s.xz", folder, file);
    const char *path = t_shared(name);
    return path != NULL ? t_read(path, n) : NULL;
}

/* ---- texts ---- */

static size_t make_text(t_rng *rng, const dstok_tokenizer *tok, unsigned kind, uint8_t *out) {
    const text *r = &real[t_below(rng, 3)];
    if (kind == 2 && r->data != NULL) return gen_mutant(rng, (const uint8_t *)r->data, r->n, out, MAX_TEXT);
    return kind == 1 ? gen_tokens(rng, tok, out, MAX_TEXT) : gen_text(rng, out, MAX_TEXT);
}

/* An exact-size copy, so that a sanitizer sees reads past the end. */
static void compare_one(oracle *o, dstok_encoder *enc, const char *name, const uint8_t *s, size_t n,
                        int special) {
    uint8_t *exact = malloc(n > 0 ? n : 1);
    if (exact == NULL) exit(1);
    memcpy(exact, s, n);
    oracle_compare(o, enc, name, exact, n, special);
    free(exact);
}

static void compare_texts(oracle *o, const dstok_tokenizer *tok, const char *name, unsigned rounds) {
    static const int policies[] = {DSTOK_SPECIAL_PLAIN, DSTOK_SPECIAL_PARSE, DSTOK_SPECIAL_TEXT};
    t_rng rng = {SEED};
    uint8_t buf[MAX_TEXT];
    dstok_encoder *enc = fixture_encoder(tok);
    compare_one(o, enc, name, buf, 0, DSTOK_SPECIAL_PARSE);
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            size_t n = make_text(&rng, tok, kind, buf);
            compare_one(o, enc, name, buf, n, policies[i % 3]);
        }
    }
    dstok_encoder_free(enc);
}

/* ---- vocabularies ---- */

static void compare_files(const char *name, const char *data, size_t n, const char *pattern, const char *meta,
                          const char *dstok_pattern, const char *side, size_t side_n) {
    clock_t start = clock();
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.status = DSTOK_OK};
    options.pattern = dstok_pattern;
    dstok_status status = dstok_tokenizer_load_memory(data, n, side, side_n, &options, &tok, &err);
    CHECK_EQ(status, DSTOK_OK);
    if (status != DSTOK_OK) fprintf(stderr, "%s: %s\n", name, err.text);
    oracle *o = oracle_load(data, n, pattern, meta);
    CHECK(o != NULL);
    int before = t_failures;
    if (tok != NULL && o != NULL) compare_texts(o, tok, name, ROUNDS);
    fprintf(stderr, "%-34s %d texts, %d differ, %.1f s\n", name, ROUNDS * 3 + 1, t_failures - before,
            (double)(clock() - start) / CLOCKS_PER_SEC);
    oracle_free(o);
    dstok_tokenizer_free(tok);
}

static int compare_shared(void) {
    int found = 0;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const struct source *s = &sources[i];
        size_t n, side_n = 0;
        char *data = read_shared("vocab", s->file, &n), *side = NULL, name[64];
        if (data == NULL) {
            fprintf(stderr, "%-34s SKIPPED: not in ../shared/vocab\n", s->file);
            continue;
        }
        bool has_side = s->meta != NULL && s->meta[0] != '{';
        if (has_side) side = read_shared("vocab", s->meta, &side_n);
        snprintf(name, sizeof name, "%s%s", s->file, s->dstok_pattern == kimi ? " (kimi)" : "");
        compare_files(name, data, n, s->pattern, has_side ? side : s->meta, s->dstok_pattern, side, side_n);
        free(data);
        free(side);
        found++;
    }
    return found;
}

/* What the embedded vocabulary is made from; that the two are equal is unit.compiled's to say. */
static void compare_default(void) {
    size_t n;
    char *data = t_read(DSTOK_SOURCE_DIR "/data/vocab/default.tokenizer.json", &n);
    CHECK(data != NULL);
    if (data != NULL) compare_files("default", data, n, NULL, NULL, NULL, NULL, 0);
    free(data);
}

/* Vocabularies that no model has: ties, missing bytes, an unknown token, flags of all kinds, normalisers. */
#define SPLIT(regex, behavior)                                                                               \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" regex "\"},\"behavior\":\"" behavior                     \
    "\",\"invert\":false}"
#define BYTES(prefix)                                                                                        \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":" prefix ",\"trim_offsets\":false,\"use_regex\":false}"
#define SEQUENCE(a, b) "{\"type\":\"Sequence\",\"pretokenizers\":[" a "," b "]}"
static void compare_fixtures(void) {
    static const char flags[] = "s:<|a|>\n"
                                "sn:<|a|><|b|>\n"
                                "lr:<think>\n"
                                "wn:hello\n"
                                "swl:ll\n"
                                "rn:\xC3\x89t\n";
    fixture list[] = {fixture_words, fixture_words, fixture_words,
                      fixture_words, fixture_words, fixture_words};
    list[1].added = list[2].added = list[3].added = flags;
    list[2].normalizer = "{\"type\":\"NFC\"}";
    list[2].without = "xyz<";
    list[3].normalizer =
        "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":\"Lowercase\"}]}";
    list[3].model = "\"unk_token\":\"!\",\"fuse_unk\":true,";
    list[3].without = "xyz,";
    list[4].pre_tokenizer = SEQUENCE(SPLIT("l+", "Removed"), BYTES("false"));
    list[4].model = "\"ignore_merges\":true,";
    list[5].pre_tokenizer = BYTES("true");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char name[32];
        size_t n;
        char *json = fixture_json(&list[i], &n);
        snprintf(name, sizeof name, "fixture %zu", i);
        compare_files(name, json, n, NULL, NULL, NULL, NULL, 0);
        free(json);
    }
}

/* Text of what made-up vocabularies hold, and of what they do not. */
static size_t make_small(t_rng *rng, uint8_t *out) {
    static const char *const words[] = {"a",
                                        "b",
                                        "l",
                                        "o",
                                        "lo",
                                        "ab",
                                        " ",
                                        " ",
                                        "  ",
                                        "x",
                                        "1",
                                        "e",
                                        "<",
                                        "\xC3\xA9",
                                        "e\xCC\x81",
                                        "\xE4\xBD\xA0",
                                        "\xE2\x96\x81",
                                        "\xF0\x9F\x98\x80",
                                        "!",
                                        "'",
                                        "<s>",
                                        "[END]",
                                        "<|a|>",
                                        "<|a|><|b|>",
                                        "\xC3\x89",
                                        "\xD0\xB6",
                                        "\n",
                                        "X",
                                        "a b"};
    size_t n = 0;
    for (uint32_t i = t_below(rng, 16); i > 0; i--) {
        const char *word = words[t_below(rng, sizeof words / sizeof *words)];
        memcpy(out + n, word, strlen(word));
        n += strlen(word);
    }
    return n;
}

/* Many small vocabularies of the SentencePiece kind, few texts each. */
static void compare_made_up(void) {
    static const int policies[] = {DSTOK_SPECIAL_PLAIN, DSTOK_SPECIAL_PARSE, DSTOK_SPECIAL_TEXT};
    t_rng rng = {SEED};
    int before = t_failures;
    clock_t start = clock();
    for (int round = 0; round < VOCABULARIES; round++) {
        size_t n;
        char *json = vary_json(&rng, &n), name[32];
        dstok_tokenizer *tok = NULL;
        dstok_error err = {.status = DSTOK_OK};
        snprintf(name, sizeof name, "made up %d", round);
        dstok_status status = dstok_tokenizer_load_memory(json, n, NULL, 0, NULL, &tok, &err);
        /* an added token that the normalizer makes empty is refused: the reference would split at every character */
        CHECK(status == DSTOK_OK ||
              (status == DSTOK_E_UNSUPPORTED && strstr(err.text, "leaves nothing") != NULL));
        oracle *o = oracle_load(json, n, NULL, NULL);
        CHECK(o != NULL);
        if (tok == NULL) fprintf(stderr, "%s: %s\n", name, err.text);
        dstok_encoder *enc = tok != NULL ? fixture_encoder(tok) : NULL;
        int failed = t_failures;
        for (int i = 0; enc != NULL && o != NULL && i < TEXTS_EACH; i++) {
            uint8_t buf[256];
            size_t len = i % 8 == 0 ? gen_text(&rng, buf, sizeof buf) : make_small(&rng, buf);
            compare_one(o, enc, name, buf, len, policies[i % 3]);
        }
        if (t_failures > failed && failed == before) fprintf(stderr, "%s\n", json); /* the first one */
        dstok_encoder_free(enc);
        oracle_free(o);
        dstok_tokenizer_free(tok);
        free(json);
    }
    fprintf(stderr, "%-34s %d texts, %d differ, %.1f s\n", "made-up vocabularies", VOCABULARIES * TEXTS_EACH,
            t_failures - before, (double)(clock() - start) / CLOCKS_PER_SEC);
}

int main(void) {
    static const char *const names[] = {"en.txt", "zh.txt", "code.txt"};
    fprintf(stderr, "seed %u\n", SEED);
    for (int i = 0; i < 3; i++) real[i].data = read_shared("text", names[i], &real[i].n);
    compare_fixtures();
    compare_made_up();
    compare_default();
    int found = compare_shared();
    for (int i = 0; i < 3; i++) free(real[i].data);
    if (t_end() != 0) return 1;
    return found > 0 ? 0 : t_skip("no vocabulary in ../shared/vocab; fixtures and the default passed");
}
