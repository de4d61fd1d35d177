/* SPDX-License-Identifier: MIT */
/* Fuzz target: the first byte picks a family, whose scanner must cut the text behind it as PCRE2 does, or a list of
 * steps, whose pretokens must come in order. */
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
static dstok__pretok_scratch *scratch;

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

static dstok_status collect(void *ctx, const dstok__pretoken *p) {
    ends *e = ctx;
    require(p->begin == e->begin && p->end > p->begin && p->level == NULL);
    e->begin = p->end;
    e->at[e->n++] = p->end;
    return DSTOK_OK;
}

/* ---- lists of steps of all kinds, which no scanner stands for ---- */

/* Steps of a few bytes: kind, behaviour, and what the kind needs. */
static size_t make_steps(const uint8_t *data, size_t n, dstok__step *steps) {
    static const char *const literals[] = {" ", "\u2581", "a", "\u00C3", "", "1", "\n", "\u0120"};
    static const char *const marks[] = {"\u2581", "_", "\U0001F600", " ", "a"};
    static const char *const regexes[] = {GPT2, "\\s+", "b*", ".", "[0-9][0-9][0-9]", "\\w+", "\\s+$"};
    for (size_t i = 0; i < n; i++) {
        unsigned kind = data[2 * i] % (DSTOK__STEP_BYTE_MAP + 1), more = data[2 * i + 1];
        steps[i] = (dstok__step){.kind = (dstok__step_kind)kind,
                                 .behavior = (dstok__behavior)(more % 5),
                                 .invert = (more & 0x80) != 0,
                                 .prepend = (dstok__prepend)(more % 3),
                                 .length = 1 + more % 7};
        if (kind == DSTOK__STEP_REGEX) steps[i].pattern = regexes[more / 5 % 7];
        if (kind == DSTOK__STEP_LITERAL) steps[i].pattern = literals[more / 5 % 8];
        if (kind == DSTOK__STEP_META) steps[i].pattern = marks[more / 3 % 5];
        if (steps[i].pattern != NULL) steps[i].n = strlen(steps[i].pattern);
    }
    return n;
}

typedef struct places {
    size_t len, bytes;
    uint64_t begin;
} places;

/* Pretokens come in order, inside of the text. */
static dstok_status follow(void *ctx, const dstok__pretoken *p) {
    places *s = ctx;
    dstok_span place = dstok__level_map(p->level, p->begin, p->end);
    require(p->begin < p->end && place.begin <= place.end && place.end <= s->len);
    require(place.begin >= s->begin);
    s->begin = place.begin;
    s->bytes += p->end - p->begin;
    return DSTOK_OK;
}

static void run_steps(const dstok__step *steps, size_t n, unsigned flags, const uint8_t *text, size_t len) {
    dstok__pretok *p = NULL;
    places s = {.len = len};
    dstok_status status = dstok__pretok_new(&dstok__default_alloc, steps, n, (flags & 1) != 0, &p, NULL);
    require(status == DSTOK_OK || status == DSTOK_E_UNSUPPORTED);
    if (status != DSTOK_OK) return;
    require(dstok__pretok_run(p, scratch, text, len, (flags & 2) != 0, (flags & 4) != 0, follow, &s, NULL) ==
            DSTOK_OK);
    require(s.bytes <= dstok__pretok_bound(p, len));
    dstok__pretok_free(p);
}

static void compare_scanner(size_t s, const uint8_t *text, size_t len) {
    static ends a, b;
    a.n = a.begin = b.n = b.begin = 0;
    require(dstok__pretok_run(fast[s], NULL, text, len, true, false, collect, &a, NULL) == DSTOK_OK);
    require(dstok__pretok_run(slow[s], scratch, text, len, true, false, collect, &b, NULL) == DSTOK_OK);
    require(a.begin == len && a.n == b.n && memcmp(a.at, b.at, a.n * sizeof *a.at) == 0);
}

/* The first byte: 0x80 and up is a list of steps, its flags and its length; else a family. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t valid[4 * MAX_TEXT];
    dstok__step steps[8];
    if (size < 2 || size > MAX_TEXT) return 0;
    if (scratch == NULL) {
        require(dstok__pretok_scratch_new(&dstok__default_alloc, &scratch) == DSTOK_OK);
        dstok__pretok_scratch_want_from(scratch, true);
        for (size_t s = 0; s < N_SUBJECTS; s++) open_subject(s);
    }
    size_t n = data[0] >= 0x80 ? 1 + (data[0] >> 3) % 8 : 0;
    if (size < 1 + 2 * n) return 0;
    size_t len = make_valid(data + 1 + 2 * n, size - 1 - 2 * n, valid);
    uint8_t *text = malloc(len > 0 ? len : 1); /* of the exact size: a read beyond it is seen */
    require(text != NULL);
    memcpy(text, valid, len);
    if (n > 0)
        run_steps(steps, make_steps(data + 1, n, steps), data[0], text, len);
    else
        compare_scanner(data[0] % N_SUBJECTS, text, len);
    free(text);
    return 0;
}
