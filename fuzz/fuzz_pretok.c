/* SPDX-License-Identifier: MIT */
/* Fuzz target: the first byte picks a family, the rest is text; its scanner must cut as PCRE2 does. */
#include "../tokenizer/pretok/pretok.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT 4096u

#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define DEEPSEEK_3                                                                                           \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"        \
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"

/* Names of dstok__pattern_by_name, or texts. */
static const struct subject {
    bool digits_first;
    const char *texts[3];
} subjects[] = {
    {false, {"gpt2"}},
    {false, {"r50k_base"}},
    {false, {"cl100k_base"}},
    {false, {"llama3"}},
    {false, {"qwen3"}},
    {false, {"qwen3.6"}},
    {false, {"o200k_base"}},
    {false, {"tekken"}},
    {true, {GPT2}},
    {false, {"\\p{N}", GPT2}},
    {false, {"\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", DEEPSEEK_3}},
};
#define N_SUBJECTS (sizeof subjects / sizeof *subjects)

static dstok__pretok *fast[N_SUBJECTS], *slow[N_SUBJECTS];
static dstok__regex_scratch *scratch;

static void require(bool condition) {
    if (!condition) abort();
}

static void open_subject(size_t s) {
    dstok__step steps[4] = {{.kind = DSTOK__STEP_DIGITS, .behavior = DSTOK__ISOLATED}};
    size_t n = subjects[s].digits_first ? 1 : 0;
    for (size_t i = 0; i < 3 && subjects[s].texts[i] != NULL; i++, n++) {
        const char *text = dstok__pattern_by_name(subjects[s].texts[i]);
        if (text == NULL) text = subjects[s].texts[i];
        steps[n] =
            (dstok__step){.behavior = DSTOK__ISOLATED, .dialect = DSTOK__DIALECT_FANCY, .pattern = text};
        steps[n].n = strlen(text);
    }
    require(dstok__pretok_new(&dstok__default_alloc, steps, n, true, &fast[s], NULL) == DSTOK_OK);
    require(dstok__pretok_new(&dstok__default_alloc, steps, n, false, &slow[s], NULL) == DSTOK_OK);
    require(dstok__pretok_family(fast[s]) != NULL && dstok__pretok_family(slow[s]) == NULL);
}

/* The length of the well-formed UTF-8 sequence at s, n > 0 bytes long; 0 when there is none. */
static size_t sequence(const uint8_t *s, size_t n) {
    if (s[0] < 0x80) return 1;
    size_t need = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
                  : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
                  : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                                 : 0;
    if (need == 0 || need > n) return 0;
    for (size_t i = 1; i < need; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return need;
}

/* Makes valid UTF-8: a byte that is no part of it stands for a hard code point. out holds 4 * n bytes. */
static size_t make_valid(const uint8_t *s, size_t n, uint8_t *out) {
    static const char *const hard[] = {"\u0301", "\u4E2D", "\u30FB",  "\u01C5",     "\u00E9",     "\u00C9",
                                       "\u02B0", "\u00B2", "\u00A0",  "\u3000",     "\u2028",     "\u017F",
                                       "\u200D", "\u3040", "\u0378",  "\U00011DE0", "\U0001F600", "\uAC00",
                                       "\u2014", "\u00D7", "\302\205"};
    size_t len = 0;
    for (size_t i = 0; i < n;) {
        size_t k = sequence(s + i, n - i);
        const void *from = k > 0 ? (const void *)(s + i) : hard[s[i] % (sizeof hard / sizeof *hard)];
        size_t count = k > 0 ? k : strlen(from);
        memcpy(out + len, from, count);
        len += count;
        i += k > 0 ? k : 1;
    }
    return len;
}

typedef struct ends {
    size_t n, begin, at[4 * MAX_TEXT];
} ends;

static dstok_status collect(void *ctx, size_t begin, size_t end) {
    ends *e = ctx;
    require(begin == e->begin && end > begin);
    e->begin = end;
    e->at[e->n++] = end;
    return DSTOK_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t valid[4 * MAX_TEXT];
    static ends a, b;
    if (size < 2 || size > MAX_TEXT) return 0;
    if (scratch == NULL) {
        require(dstok__regex_scratch_new(&dstok__default_alloc, &scratch) == DSTOK_OK);
        for (size_t s = 0; s < N_SUBJECTS; s++) open_subject(s);
    }
    size_t s = data[0] % N_SUBJECTS, len = make_valid(data + 1, size - 1, valid);
    uint8_t *text = malloc(len); /* of the exact size: a read beyond it is seen */
    require(text != NULL);
    memcpy(text, valid, len);
    a.n = a.begin = b.n = b.begin = 0;
    require(dstok__pretok_run(fast[s], NULL, text, len, collect, &a, NULL) == DSTOK_OK);
    require(dstok__pretok_run(slow[s], scratch, text, len, collect, &b, NULL) == DSTOK_OK);
    require(a.begin == len && a.n == b.n && memcmp(a.at, b.at, a.n * sizeof *a.at) == 0);
    free(text);
    return 0;
}
