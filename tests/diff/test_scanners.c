/* SPDX-License-Identifier: MIT */
/* Each family's scanner against the same steps run by PCRE2: random hard text, every code point in context, long runs,
 * real text. An argument is the seed; a second one the number of strings a family. */
#include "../../tokenizer/pretok/pretok.h"
#include "../harness/t.h"

#include <stdlib.h>

#define N_STRINGS 12000
#define MAX_PARTS 24
#define MAX_TEXT  ((size_t)1 << 22)

/* ---- the families, with their texts written out once more ---- */

#define GPT2     "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define R50K_OLD "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define R50K     "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s"
#define CL100K                                                                                               \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"  \
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CL100K_SHORT                                                                                         \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"         \
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CL100K_OLD                                                                                           \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"       \
    "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"
#define CL100K_TIKTOKEN                                                                                      \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+"    \
    "|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s"
#define QWEN2                                                                                                \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"       \
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN35                                                                                               \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"                              \
    "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define BAILING                                                                                              \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"            \
    "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"
#define SEED_CODER                                                                                           \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+"       \
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define MINICPM5                                                                                             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"      \
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define O200K                                                                                                \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"              \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"                                                                          \
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"                                                                          \
    "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define TEKKEN                                                                                               \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"              \
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"             \
    "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define DEEPSEEK_3                                                                                           \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"        \
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
#define DEEPSEEK_2 "[一-龥぀-ゟ゠-ヿ]+"

static const struct subject {
    const char *family;
    dstok__dialect dialect;
    bool digits_first;    /* a Digits step stands before the texts */
    const char *texts[3]; /* regex steps, Isolated; up to the first NULL */
} subjects[] = {
    {"gpt2", DSTOK__DIALECT_ONIG, false, {GPT2}},
    {"gpt2", DSTOK__DIALECT_FANCY, false, {GPT2}},
    {"gpt2", DSTOK__DIALECT_ONIG, false, {R50K}},
    {"gpt2", DSTOK__DIALECT_FANCY, false, {R50K}},
    {"gpt2", DSTOK__DIALECT_FANCY, false, {R50K_OLD}},
    {"cl100k", DSTOK__DIALECT_ONIG, false, {CL100K}},
    {"cl100k", DSTOK__DIALECT_FANCY, false, {CL100K}},
    {"cl100k", DSTOK__DIALECT_ONIG, false, {CL100K_SHORT}},
    {"cl100k", DSTOK__DIALECT_ONIG, false, {CL100K_OLD}},
    {"cl100k", DSTOK__DIALECT_FANCY, false, {CL100K_OLD}},
    {"cl100k_tiktoken", DSTOK__DIALECT_FANCY, false, {CL100K_TIKTOKEN}},
    {"qwen2", DSTOK__DIALECT_ONIG, false, {QWEN2}},
    {"qwen2", DSTOK__DIALECT_FANCY, false, {QWEN2}},
    {"qwen2", DSTOK__DIALECT_ONIG, false, {BAILING}},
    {"qwen2", DSTOK__DIALECT_FANCY, false, {BAILING}},
    {"seed_coder", DSTOK__DIALECT_ONIG, false, {SEED_CODER}},
    {"seed_coder", DSTOK__DIALECT_FANCY, false, {SEED_CODER}},
    {"minicpm5", DSTOK__DIALECT_ONIG, false, {"\\p{N}{1,3}", MINICPM5}},
    {"minicpm5", DSTOK__DIALECT_FANCY, false, {"\\p{N}{1,3}", MINICPM5}},
    {"qwen35", DSTOK__DIALECT_ONIG, false, {QWEN35}},
    {"qwen35", DSTOK__DIALECT_FANCY, false, {QWEN35}},
    {"o200k", DSTOK__DIALECT_ONIG, false, {O200K}},
    {"o200k", DSTOK__DIALECT_FANCY, false, {O200K}},
    {"tekken", DSTOK__DIALECT_ONIG, false, {TEKKEN}},
    {"tekken", DSTOK__DIALECT_FANCY, false, {TEKKEN}},
    {"deepseek_v3", DSTOK__DIALECT_ONIG, false, {"\\p{N}{1,3}", DEEPSEEK_2, DEEPSEEK_3}},
    {"deepseek_v3", DSTOK__DIALECT_FANCY, false, {"\\p{N}{1,3}", DEEPSEEK_2, DEEPSEEK_3}},
    {"smollm", DSTOK__DIALECT_ONIG, true, {GPT2}},
    {"smollm_split", DSTOK__DIALECT_ONIG, false, {"\\p{N}", GPT2}},
};

/* ---- both sides of a comparison ---- */

typedef struct two_ways {
    const char *family;
    dstok__pretok *fast, *slow;
    dstok__pretok_scratch *scratch;
    uint64_t n_texts, n_bytes, n_pieces;
} two_ways;

static size_t add_step(dstok__step *steps, size_t n, const struct subject *subject, const char *text) {
    steps[n] = (dstok__step){.kind = text == NULL ? DSTOK__STEP_DIGITS : DSTOK__STEP_REGEX,
                             .behavior = DSTOK__ISOLATED,
                             .dialect = subject->dialect,
                             .pattern = text,
                             .n = text == NULL ? 0 : strlen(text)};
    return n + 1;
}

static bool open_pair(two_ways *pair, const struct subject *subject) {
    dstok__step steps[4];
    size_t n = 0;
    dstok_error err = {0};
    if (subject->digits_first) n = add_step(steps, n, subject, NULL);
    for (size_t i = 0; i < 3 && subject->texts[i] != NULL; i++)
        n = add_step(steps, n, subject, subject->texts[i]);
    pair->family = subject->family;
    if (dstok__pretok_new(&dstok__default_alloc, steps, n, true, &pair->fast, &err) != DSTOK_OK ||
        dstok__pretok_new(&dstok__default_alloc, steps, n, false, &pair->slow, &err) != DSTOK_OK) {
        fprintf(stderr, "%s: %s\n", subject->family, err.text);
        return false;
    }
    const dstok__family *family = dstok__pretok_family(pair->fast);
    CHECK_STR(family == NULL ? NULL : family->name, subject->family);
    CHECK(dstok__pretok_family(pair->slow) == NULL);
    return family != NULL;
}

static void close_pair(two_ways *pair) {
    dstok__pretok_free(pair->fast);
    dstok__pretok_free(pair->slow);
    pair->fast = pair->slow = NULL;
}

/* The ends of the pieces of one text. */
typedef struct ends {
    size_t n, at[MAX_TEXT];
    size_t expected_begin;
    bool is_tiling;
} ends;
static ends fast_ends, slow_ends;

static dstok_status collect(void *ctx, const dstok__pretoken *p) {
    ends *e = ctx;
    if (p->begin != e->expected_begin || p->end <= p->begin || p->level != NULL || e->n == MAX_TEXT) {
        e->is_tiling = false;
        return DSTOK_E_STATE;
    }
    e->expected_begin = p->end;
    e->at[e->n++] = p->end;
    return DSTOK_OK;
}

static dstok_status run(const two_ways *pair, const dstok__pretok *pretok, const uint8_t *text, size_t len,
                        ends *e) {
    e->n = 0;
    e->expected_begin = 0;
    e->is_tiling = true;
    dstok_status status = dstok__pretok_run(pretok, pair->scratch, text, len, true, false, collect, e, NULL);
    if (e->expected_begin != len) e->is_tiling = false;
    return status;
}

static void show(const char *family, const uint8_t *text, size_t len) {
    size_t i = 0;
    while (i < fast_ends.n && i < slow_ends.n && fast_ends.at[i] == slow_ends.at[i]) i++;
    size_t from = i == 0 ? 0 : slow_ends.at[i - 1];
    fprintf(stderr,
            "%s: piece %zu from byte %zu of %zu: scanner ends it at %zu, PCRE2 at %zu; text there:", family,
            i, from, len, i < fast_ends.n ? fast_ends.at[i] : 0, i < slow_ends.n ? slow_ends.at[i] : 0);
    for (size_t k = from > 8 ? from - 8 : 0; k < len && k < from + 40; k++) fprintf(stderr, " %02x", text[k]);
    fprintf(stderr, "\n");
}

/* Copies the text to a block of exactly its size, so that a checker sees any read beyond it. */
static bool compare(two_ways *pair, const char *text, size_t len) {
    uint8_t *copy = malloc(len == 0 ? 1 : len);
    if (copy == NULL) exit(1);
    memcpy(copy, text, len);
    dstok_status fast = run(pair, pair->fast, copy, len, &fast_ends);
    dstok_status slow = run(pair, pair->slow, copy, len, &slow_ends);
    bool is_same = fast == DSTOK_OK && slow == DSTOK_OK && fast_ends.n == slow_ends.n &&
                   fast_ends.is_tiling && slow_ends.is_tiling &&
                   memcmp(fast_ends.at, slow_ends.at, fast_ends.n * sizeof(size_t)) == 0;
    if (!is_same) show(pair->family, copy, len);
    CHECK_EQ(fast, DSTOK_OK);
    CHECK_EQ(slow, DSTOK_OK);
    CHECK(is_same);
    free(copy);
    pair->n_texts++;
    pair->n_bytes += len;
    pair->n_pieces += fast_ends.n;
    return is_same;
}

/* ---- random text from pools of hard parts ---- */

#define POOL(...)                                                                                            \
    { (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *) }
static const struct pool {
    const char *const *parts;
    size_t n;
} pools[] = {
    POOL(" ", " ", " ", " ", " ", "\t", "\n", "\n", "\r", "\r\n", "\v", "\f", "\302\205", "\u00A0", "\u1680",
         "\u2003", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"),
    POOL("a", "b", "e", "l", "r", "s", "t", "v", "A", "B", "E", "L", "R", "S", "T", "V", "K", "'s", "'S",
         "'t", "'re", "'Re", "'rE", "'ve", "'VE", "'m", "'ll", "'lL", "'d", "'D", "'", "''", "'l", "'r",
         "'\u017F", "\u017F", "\u212A"),
    POOL("\u00E9", "\u00C9", "\u00DF", "\u1E9E", "\u01C5", "\u01C8", "\u1F88", "\u02B0", "\u02C7", "\u00AA",
         "\u4E2D", "\u6587", "\u306E", "\u3005", "\u3006", "\u30FC", "\uAC00", "\u05D0", "\u092C", "\u0E44",
         "\u041A", "\u0438", "\u03A9", "\U0001D400", "\U0001D41A", "\U00010400", "\U00010428", "\u24B6"),
    POOL("0", "1", "2", "3", "9", "\u0663", "\u096A", "\u00B2", "\u00BD", "\u2167", "\u3280", "\U0001D7D7",
         "\u3007", "\u3021"),
    POOL("\u0301", "\u0300", "\u093E", "\u0E31", "\u20DD", "\uFE0F", "\u05B0", "\u064B", "\U0001E8D0",
         "\u3099", "\u309A", "\u0903"),
    POOL("!", "\"", "#", "$", "%", "&", "(", ")", "*", "+", ",", "-", ".", "/", "/", ":", "<", "=", ">", "?",
         "@", "[", "\\", "]", "^", "_", "`", "{", "|", "}", "~", "\u3002", "\uFF0C", "\u300C", "\u30FB",
         "\u30A0", "\u2026", "\u201C", "\u2019", "\u2014", "\u20AC", "\u00A9", "\u00D7", "\u309B",
         "\U0001D11E"),
    POOL("\U0001F600", "\U0001F44D\U0001F3FD", "\U0001F468\u200D\U0001F469", "\U0001F1E8\U0001F1F3",
         "\u2764"),
    POOL("\x01", "\x1B", "\x1C", "\x1F", "\x7F", "\302\237", "\u00AD", "\u200B", "\u200C", "\u200D", "\u2060",
         "\uFEFF", "\u180E", "\uE000", "\uFFFD", "\uFFFF", "\U000F0000", "\U0010FFFF"),
    POOL("\u0378", "\u0560", "\u3040", "\u3097", "\u3098", "\u30FF", "\u3100", "\u4DFF", "\u4E00", "\u9FA5",
         "\u9FA6", "\u9FFF", "\uA7C0", "\u1C89", "\u1C8A", "\uA7CB", "\U0001E4D0", "\U0001E4F0", "\U00011F50",
         "\U00010D40", "\U00016D40", "\U000105C0", "\U00011BF0", "\U00011DE0", "\U00016FF4", "\U0001CCF0",
         "\U0001FAE9", "\U0002EBF0", "\u0897", "\U000323AF", "\U000323B0"),
};
#define N_POOLS ((uint32_t)(sizeof pools / sizeof *pools))

static size_t put_code_point(char *out, uint32_t cp) {
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; --i > 0; cp >>= 6) out[i] = (char)(0x80 | (cp & 0x3F));
    out[0] = (char)(leads[n] | cp);
    return n;
}

static size_t put_random_code_point(t_rng *rng, char *out) {
    for (;;) {
        uint32_t cp = t_below(rng, t_below(rng, 4) == 0 ? 0x110000 : 0x20000);
        if (cp < 0xD800 || cp > 0xDFFF) return put_code_point(out, cp);
    }
}

/* A pool of those that this string draws from: few kinds meet often in one string, or all of them. */
static uint32_t choose_pool(t_rng *rng, uint32_t mode, uint32_t favourite) {
    switch (mode) {
    case 0:
        return t_below(rng, 2); /* whitespace and contractions */
    case 1:
        return 1 + t_below(rng, 2); /* letters in all cases */
    case 2:
        return t_below(rng, 2) * favourite; /* whitespace and one other */
    default:
        return t_below(rng, N_POOLS);
    }
}

/* out holds MAX_PARTS * 5 * 12 bytes. */
static size_t random_text(t_rng *rng, char *out) {
    size_t len = 0;
    uint32_t n = t_below(rng, MAX_PARTS) + 1, mode = t_below(rng, 6), favourite = t_below(rng, N_POOLS);
    for (uint32_t i = 0; i < n; i++) {
        const struct pool *pool = &pools[choose_pool(rng, mode, favourite)];
        const char *part = pool->parts[t_below(rng, (uint32_t)pool->n)];
        uint32_t luck = t_below(rng, 25), repeats = luck < 4 ? 2 + t_below(rng, 4) : 1;
        if (luck == 24) {
            len += put_random_code_point(rng, out + len);
            continue;
        }
        for (; repeats > 0; repeats--, len += strlen(part)) memcpy(out + len, part, strlen(part));
    }
    return len;
}

static void test_random(two_ways *pair, uint64_t seed, uint32_t n) {
    t_rng rng = {seed};
    char text[MAX_PARTS * 5 * 12];
    for (uint32_t i = 0; i < n; i++)
        if (!compare(pair, text, random_text(&rng, text)) && t_failures > 20) return;
}

/* ---- systematic text ---- */

/* Every code point of planes 0 to 3 and 14 between others of all kinds. */
static void test_every_code_point(two_ways *pair, char *text) {
    static const char *const before[] = {" ", "A", "'", "1", "!", "\u4E2D", " \n ", "\u0301", "a\x01"};
    static const char *const after[] = {"a", "B", "\n", " ", "1", "\u4E2D", "\u0301", "'s", "!"};
    size_t len = 0, k = 0;
    for (uint32_t cp = 0; cp < 0xF0000; cp++) {
        if (cp == 0xD800) cp = 0xE000;
        if (cp == 0x33500) cp = 0xE0000;
        for (size_t i = 0; i < 3; i++, k++) {
            const char *b = before[k % 9], *a = after[k / 9 % 9];
            memcpy(text + len, b, strlen(b));
            len += strlen(b);
            len += put_code_point(text + len, cp);
            memcpy(text + len, a, strlen(a));
            len += strlen(a);
        }
        if (len > 100000) {
            if (!compare(pair, text, len) && t_failures > 20) return;
            len = 0;
        }
    }
    (void)compare(pair, text, len);
}

/* Long runs, by the scanner alone: a scanner that goes over a run again for each of its pieces takes minutes here. */
static void test_long_runs(two_ways *pair, char *text) {
    static const char *const units[] = {
        " ",    "\n",    " \n",  "A",      "aA",  "\u4E2DA",      "1",  "!",  "'",     "'s", " '", "\u0301A",
        "\x01", "\x01 ", "!\n/", "\u3000", "  a", "\u30AB\u30FB", " 1", "A'", "\u3040"};
    static const char *const tails[] = {"", "x", "1", "\n"};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
            size_t len = 0, n = strlen(units[u]);
            for (; len + n < ((size_t)1 << 18); len += n) memcpy(text + len, units[u], n);
            memcpy(text + len, tails[t], strlen(tails[t]));
            len += strlen(tails[t]);
            CHECK_EQ(run(pair, pair->fast, (const uint8_t *)text, len, &fast_ends), DSTOK_OK);
            CHECK(fast_ends.is_tiling);
        }
}

static void test_shared_text(two_ways *pair, const char *text, size_t len) {
    size_t step = (size_t)1 << 16;
    for (size_t begin = 0; begin < len;) {
        size_t end = begin + step < len ? begin + step : len;
        while (end < len && ((uint8_t)text[end] & 0xC0) == 0x80) end++;
        if (!compare(pair, text + begin, end - begin) && t_failures > 20) return;
        begin = end;
    }
}

/* The first quarter million bytes of each text, up to a whole code point. */
static size_t load_shared(char *texts[3], size_t lens[3]) {
    static const char *const names[] = {"text/en.txt.xz", "text/zh.txt.xz", "text/code.txt.xz"};
    size_t found = 0;
    for (size_t i = 0; i < 3; i++) {
        const char *path = t_shared(names[i]);
        texts[i] = path == NULL ? NULL : t_read(path, &lens[i]);
        if (texts[i] == NULL) continue;
        found++;
        if (lens[i] > 250000) lens[i] = 250000;
        while (lens[i] > 0 && ((uint8_t)texts[i][lens[i]] & 0xC0) == 0x80) lens[i]--;
    }
    return found;
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261130;
    uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : N_STRINGS;
    char *texts[3], *room = malloc(MAX_TEXT);
    size_t lens[3];
    dstok__pretok_scratch *scratch = NULL;
    if (room == NULL || dstok__pretok_scratch_new(&dstok__default_alloc, &scratch) != DSTOK_OK) return 1;
    if (load_shared(texts, lens) < 3) printf("note: no shared text here, that part is left out\n");
    printf("seed %llu\n", (unsigned long long)seed);

    const char *last = "";
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        two_ways pair = {.scratch = scratch};
        CHECK(open_pair(&pair, &subjects[i]));
        if (pair.fast != NULL && pair.slow != NULL) {
            test_random(&pair, seed + i, n);
            if (strcmp(last, pair.family) != 0) { /* once for each scanner */
                test_every_code_point(&pair, room);
                test_long_runs(&pair, room);
                for (size_t t = 0; t < 3; t++)
                    if (texts[t] != NULL) test_shared_text(&pair, texts[t], lens[t]);
            }
            last = pair.family;
            printf("%-16s %-6s %8llu texts %10llu bytes %9llu pieces\n", pair.family,
                   subjects[i].dialect == DSTOK__DIALECT_ONIG ? "onig" : "fancy",
                   (unsigned long long)pair.n_texts, (unsigned long long)pair.n_bytes,
                   (unsigned long long)pair.n_pieces);
        }
        close_pair(&pair);
    }
    dstok__pretok_scratch_free(scratch);
    for (size_t t = 0; t < 3; t++) free(texts[t]);
    free(room);
    return t_end();
}
