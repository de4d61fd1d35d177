/* SPDX-License-Identifier: MIT */
/* The pretokenizer: families, names, scanner examples, behaviours, kinds of steps, rewriting, limits, failures. */
#include "../../tokenizer/pretok/pretok.h"
#include "../../tokenizer/pretok/scan.h"
#include "../harness/heap.h"
#include "../harness/t.h"

#include <stdlib.h>

static dstok__pretok_scratch *scratch;

#define RX(behavior_, invert_, text_)                                                                        \
    (dstok__step) {                                                                                          \
        .kind = DSTOK__STEP_REGEX, .behavior = (behavior_), .invert = (invert_),                             \
        .dialect = DSTOK__DIALECT_ONIG, .pattern = (text_), .n = sizeof(text_) - 1                           \
    }
#define LIT(behavior_, invert_, text_)                                                                       \
    (dstok__step) {                                                                                          \
        .kind = DSTOK__STEP_LITERAL, .behavior = (behavior_), .invert = (invert_), .pattern = (text_),       \
        .n = sizeof(text_) - 1                                                                               \
    }
#define CLASS(kind_, behavior_)                                                                              \
    (dstok__step) {                                                                                          \
        .kind = (kind_), .behavior = (behavior_)                                                             \
    }

#define META(prepend_, text_)                                                                                \
    (dstok__step) {                                                                                          \
        .kind = DSTOK__STEP_META, .prepend = (prepend_), .pattern = (text_), .n = sizeof(text_) - 1          \
    }

#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define DEEPSEEK_3                                                                                           \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"        \
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"

/* Collects pieces, joined by '|'; with places, each with its place in the text of the run. */
typedef struct pieces {
    char joined[512];
    size_t n, count, stop_at;
    bool places;
} pieces;

static dstok_status collect(void *ctx, const dstok__pretoken *piece) {
    pieces *p = ctx;
    CHECK(piece->begin < piece->end);
    if (p->count++ > 0) p->joined[p->n++] = '|';
    if (p->count == p->stop_at) return DSTOK_E_CANCELED;
    memcpy(p->joined + p->n, piece->text + piece->begin, piece->end - piece->begin);
    p->n += piece->end - piece->begin;
    if (p->places) {
        dstok_span place = dstok__level_map(piece->level, piece->begin, piece->end);
        int n = snprintf(p->joined + p->n, 48, "(%llu,%llu)", (unsigned long long)place.begin,
                         (unsigned long long)place.end);
        if (n > 0) p->n += (size_t)n;
    }
    p->joined[p->n] = 0;
    return DSTOK_OK;
}

/* How a text is cut: first, without prefix, with places, without scanners. */
enum { FIRST = 1, NO_PREFIX = 2, PLACES = 4, SLOW = 8 };

/* The pieces of the text by these steps, or the name of a failure. Static storage. */
static const char *cut_with(const dstok__step *steps, size_t n, unsigned how, const char *text) {
    static pieces p;
    dstok__pretok *pretok;
    p = (pieces){.places = (how & PLACES) != 0};
    size_t len = strlen(text);
    dstok_status status =
        dstok__pretok_new(&dstok__default_alloc, steps, n, (how & SLOW) == 0, &pretok, NULL);
    if (status != DSTOK_OK) return dstok_status_name(status);
    status =
        dstok__pretok_run(pretok, dstok__pretok_needs_scratch(pretok) ? scratch : NULL, (const uint8_t *)text,
                          len, (how & FIRST) != 0, (how & NO_PREFIX) != 0, collect, &p, NULL);
    if (!p.places) CHECK(p.n + 1 <= dstok__pretok_bound(pretok, len) + (p.count > 0 ? p.count : 1));
    dstok__pretok_free(pretok);
    return status == DSTOK_OK ? p.joined : dstok_status_name(status);
}

static const char *cut(const dstok__step *steps, size_t n, const char *text) {
    return cut_with(steps, n, FIRST, text);
}

/* ---- kinds and classes ---- */

static void test_kinds(void) {
    unsigned wrong = 0;
    for (uint32_t cp = 0; cp <= DSTOK_UC_MAX; cp++) {
        unsigned kind = dstok__kind_of(cp);
        bool is_newline = cp == '\r' || cp == '\n', is_blank = dstok__uc_is_space(cp) && !is_newline;
        if (kind == 0 || (kind & (kind - 1)) != 0) wrong++;
        if (((kind & DSTOK__K_LETTER) != 0) != dstok__uc_in(cp, DSTOK_UC_L)) wrong++;
        if ((kind == DSTOK__K_LOWER) != dstok__uc_in(cp, DSTOK_UC_LL)) wrong++;
        if ((kind == DSTOK__K_UPPER) != dstok__uc_in(cp, DSTOK_UC_LU | DSTOK_UC_LT)) wrong++;
        if ((kind == DSTOK__K_MARK) != dstok__uc_in(cp, DSTOK_UC_M)) wrong++;
        if ((kind == DSTOK__K_NUMBER) != dstok__uc_in(cp, DSTOK_UC_N)) wrong++;
        if ((kind == DSTOK__K_PUNCT) != dstok__uc_in(cp, DSTOK_UC_P)) wrong++;
        if ((kind == DSTOK__K_SYMBOL) != dstok__uc_in(cp, DSTOK_UC_S)) wrong++;
        if ((kind == DSTOK__K_NEWLINE) != is_newline || (kind == DSTOK__K_BLANK) != is_blank) wrong++;
        if (cp < 0x80 && kind != dstok__ascii_kinds[cp]) wrong++;
    }
    CHECK_EQ(wrong, 0);
}

/* Counts measured with tokenizers 0.23.3 over all code points. */
static void test_step_classes(void) {
    unsigned digits = 0, punctuation = 0;
    for (uint32_t cp = 0; cp <= DSTOK_UC_MAX; cp++) {
        digits += dstok__is_digits_step(cp);
        punctuation += dstok__is_punctuation_step(cp);
    }
    CHECK_EQ(digits, 1911 + 13);
    CHECK_EQ(punctuation, 32 + 694);
    CHECK(dstok__is_punctuation_step('$') && dstok__is_punctuation_step(0x3002));
    CHECK(dstok__is_punctuation_step(0x166D) && dstok__is_punctuation_step(0x111C9));
    CHECK(!dstok__is_punctuation_step(0x2E43) && !dstok__is_punctuation_step(0xA76) &&
          !dstok__is_punctuation_step(0xD7));
    CHECK(dstok__is_digits_step(0x16FF6) && !dstok__is_digits_step(0x11DEA));
}

/* ---- families ---- */

static const char *family_name(const dstok__step *steps, size_t n) {
    const dstok__family *family = dstok__family_find(steps, n);
    return family == NULL ? "" : family->name;
}

static void test_names(void) {
    static const struct {
        const char *name, *family;
    } known[] = {
        {"gpt2", "gpt2"},
        {"r50k_base", "gpt2"},
        {"p50k_base", "gpt2"},
        {"cl100k_base", "cl100k_tiktoken"},
        {"llama3", "cl100k"},
        {"o200k_base", "o200k"},
        {"qwen2", "qwen2"},
        {"o200k_harmony", "o200k"},
        {"qwen3.6", "qwen35"},
        {"tekken", "tekken"},
        {"p50k_edit", "gpt2"},
        {"qwen2.5", "qwen2"},
        {"cl100k", "cl100k_tiktoken"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *text = dstok__pattern_by_name(known[i].name);
        CHECK(text != NULL);
        if (text == NULL) continue;
        dstok__step step = {.behavior = DSTOK__ISOLATED, .dialect = DSTOK__DIALECT_FANCY, .pattern = text};
        step.n = strlen(text);
        CHECK_STR(family_name(&step, 1), known[i].family);
    }
    size_t n = 0;
    for (; dstok__pattern_name_at(n) != NULL; n++)
        CHECK(dstok__pattern_by_name(dstok__pattern_name_at(n)) != NULL);
    CHECK(n >= sizeof known / sizeof *known);
    CHECK(dstok__pattern_by_name("cl100k_bas") == NULL && dstok__pattern_by_name("") == NULL);
}

static void test_family_conditions(void) {
    dstok__step gpt2 = RX(DSTOK__ISOLATED, false, GPT2), step = gpt2;
    CHECK_STR(family_name(&step, 1), "gpt2");
    step.invert = true;
    CHECK_STR(family_name(&step, 1), "gpt2");
    step.behavior = DSTOK__REMOVED;
    CHECK_STR(family_name(&step, 1), "gpt2");
    step.invert = false;
    CHECK_STR(family_name(&step, 1), "");
    step = gpt2;
    step.behavior = DSTOK__CONTIGUOUS;
    CHECK_STR(family_name(&step, 1), "");
    step = gpt2;
    step.n--;
    CHECK_STR(family_name(&step, 1), "");
    step = gpt2;
    step.kind = DSTOK__STEP_LITERAL;
    CHECK_STR(family_name(&step, 1), "");
    CHECK_STR(family_name(NULL, 0), "");

    const char *text = dstok__pattern_by_name("cl100k_base"); /* {1,3}+ means something else in Oniguruma */
    step = (dstok__step){.behavior = DSTOK__ISOLATED, .dialect = DSTOK__DIALECT_ONIG, .pattern = text};
    step.n = strlen(text);
    CHECK_STR(family_name(&step, 1), "");
    step.dialect = DSTOK__DIALECT_FANCY;
    CHECK_STR(family_name(&step, 1), "cl100k_tiktoken");
}

static void test_family_lists(void) {
    dstok__step gpt2 = RX(DSTOK__ISOLATED, false, GPT2);
    dstok__step smollm[] = {CLASS(DSTOK__STEP_DIGITS, DSTOK__ISOLATED), gpt2, gpt2};
    CHECK_STR(family_name(smollm, 2), "smollm");
    CHECK_STR(family_name(smollm, 3), "");
    smollm[0].behavior = DSTOK__CONTIGUOUS;
    CHECK_STR(family_name(smollm, 2), "");
    smollm[0] = RX(DSTOK__ISOLATED, false, "\\p{N}");
    CHECK_STR(family_name(smollm, 2), "smollm_split");
    smollm[0] = RX(DSTOK__ISOLATED, false, "\\p{N}+");
    CHECK_STR(family_name(smollm, 2), "");

    dstok__step deepseek[] = {RX(DSTOK__ISOLATED, false, "\\p{N}{1,3}"),
                              RX(DSTOK__ISOLATED, false, "[一-龥぀-ゟ゠-ヿ]+"),
                              RX(DSTOK__ISOLATED, false, DEEPSEEK_3)};
    CHECK_STR(family_name(deepseek, 3), "deepseek_v3");
    CHECK_STR(family_name(deepseek, 2), "");
    deepseek[2].behavior = DSTOK__REMOVED; /* here some text has no match: inverted Removed drops it */
    deepseek[2].invert = true;
    CHECK_STR(family_name(deepseek, 3), "");
}

/* Pieces as the reference cuts them. */
static void test_scanner_examples(void) {
    static const struct {
        dstok__scan_fn *scan;
        const char *text, *want;
    } examples[] = {
        {dstok__scan_gpt2, "I'm don't 'S it's", "I|'m| don|'t| '|S| it|'s"},
        {dstok__scan_gpt2, "a  b \n\n c  ", "a| | b| \n\n| c|  "},
        {dstok__scan_gpt2, " 12ab!?x", " 12|ab|!?|x"},
        {dstok__scan_gpt2, "'re'x", "'re|'|x"},
        {dstok__scan_gpt2, " 's", " '|s"},
        {dstok__scan_gpt2, "e\314\201t", "e|\314\201|t"},
        {dstok__scan_cl100k, "I'M don't '\305\277x 're'ree", "I|'M| don|'t| '|\305\277x| '|re|'re|e"},
        {dstok__scan_cl100k, "a'\305\277x", "a|'\305\277|x"},
        {dstok__scan_cl100k, "a  b \n\n c  ", "a| | b| \n\n| c|  "},
        {dstok__scan_cl100k, "  \n \n  x\n", "  \n \n| | x|\n"},
        {dstok__scan_cl100k, "12345 6", "123|45| |6"},
        {dstok__scan_cl100k, "!a .. \r\n\n\nb", "!a| ..| \r\n\n\n|b"},
        {dstok__scan_cl100k, "\ta\302\240b\314\201c", "\ta|\302\240b|\314\201c"},
        {dstok__scan_cl100k, "'d've", "'d|'ve"},
        {dstok__scan_cl100k, "x \n \n", "x| \n \n"},
        {dstok__scan_cl100k, "x \n  ", "x| \n|  "},
        {dstok__scan_cl100k_tiktoken, "x \n  ", "x| \n  "},
        {dstok__scan_cl100k_tiktoken, "x \n  y", "x| \n| | y"},
        {dstok__scan_qwen2, "12345 6", "1|2|3|4|5| |6"},
        {dstok__scan_qwen35, "e\314\201t\314\201 \314\201a !\314\201",
         "e\314\201t\314\201| \314\201a| !|\314\201"},
        {dstok__scan_qwen35, "123", "1|2|3"},
        {dstok__scan_o200k, "HelloWorld ABCdef ABC", "Hello|World| ABCdef| ABC"},
        {dstok__scan_o200k, "中AB中abA", "中AB中ab|A"},
        {dstok__scan_o200k, "中AB中ABA", "中AB中|ABA"},
        {dstok__scan_o200k, "I'Mx don'T's it's", "I'M|x| don'T|'s| it's"},
        {dstok__scan_o200k, "A\314\201B \314\201AB \314\201", "A\314\201|B| \314\201|AB| \314\201"},
        {dstok__scan_o200k, "1\314\201AB", "1|\314\201|AB"},
        {dstok__scan_o200k, "//\n/x a/b\n", "//\n/|x| a|/b|\n"},
        {dstok__scan_o200k, "!ABC.x", "!ABC|.x"},
        {dstok__scan_o200k, "ǅaǅ ªB", "ǅa|ǅ| ª|B"},
        {dstok__scan_tekken, "don't 123 //\n/", "don|'t| |1|2|3| //\n/"},
        {dstok__scan_tekken, "I'm", "I|'m"},
        {dstok__scan_deepseek_v3, "abc123456  7 中文カ・ラ!", "abc|123|456|  |7| |中文カ|・|ラ|!"},
        {dstok__scan_deepseek_v3, "!abcé !abc", "!abc|é| !|abc"},
        {dstok__scan_deepseek_v3, "  中 \n\n x", "  |中| \n\n| x"},
        {dstok__scan_deepseek_v3, "\001\002a\001\002!\001", "\001|\002a|\001\002|!|\001"},
        {dstok__scan_deepseek_v3, "a  1", "a|  |1"},
        {dstok__scan_deepseek_v3, "カ\343\201\200a", "カ|\343\201\200|a"},
        {dstok__scan_deepseek_v3, "$x $é \314\201", "$x| $|é| \314\201"},
        {dstok__scan_smollm, "a  12 b's1", "a|  |1|2| b|'s|1"},
        {dstok__scan_smollm, "x 1", "x| |1"},
        {dstok__scan_smollm, "1\360\221\267\2401 \360\221\267\240",
         "1|\360\221\267\240|1| |\360\221\267\240"},
        {dstok__scan_smollm, "²a", "²|a"},
        {dstok__scan_smollm_split, "a  12 b's1", "a|  |1|2| b|'s|1"},
        {dstok__scan_smollm_split, "1\360\221\267\240\360\221\267\2401",
         "1|\360\221\267\240\360\221\267\240|1"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        pieces p = {0};
        const char *text = examples[i].text;
        size_t len = strlen(text);
        for (size_t pos = 0, end; pos < len; pos = end) {
            end = examples[i].scan((const uint8_t *)text, len, pos);
            CHECK(end > pos && end <= len);
            dstok__pretoken piece = {(const uint8_t *)text, pos, end, NULL};
            if (end <= pos || end > len || collect(&p, &piece) != DSTOK_OK) return;
        }
        CHECK_STR(p.joined, examples[i].want);
    }
}

/* ---- the runner ---- */

/* The five behaviours, straight and inverted, on the matches of "b"; each as a regex and as a plain string. */
static void test_behaviors(void) {
    static const struct {
        dstok__behavior behavior;
        bool invert;
        const char *want;
    } rows[] = {
        {DSTOK__REMOVED, false, "aa|a|a"},
        {DSTOK__ISOLATED, false, "aa|b|b|a|b|b|a"},
        {DSTOK__MERGED_WITH_PREVIOUS, false, "aab|b|ab|b|a"},
        {DSTOK__MERGED_WITH_NEXT, false, "aa|b|ba|b|ba"},
        {DSTOK__CONTIGUOUS, false, "aa|bb|a|bb|a"},
        {DSTOK__REMOVED, true, "b|b|b|b"},
        {DSTOK__ISOLATED, true, "aa|b|b|a|b|b|a"},
        {DSTOK__MERGED_WITH_PREVIOUS, true, "aa|b|ba|b|ba"},
        {DSTOK__MERGED_WITH_NEXT, true, "aab|b|ab|b|a"},
        {DSTOK__CONTIGUOUS, true, "aa|bb|a|bb|a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dstok__step regex = RX(rows[i].behavior, rows[i].invert, "b");
        dstok__step literal = LIT(rows[i].behavior, rows[i].invert, "b");
        CHECK_STR(cut(&regex, 1, "aabbabba"), rows[i].want);
        CHECK_STR(cut(&literal, 1, "aabbabba"), rows[i].want);
    }
    dstok__step step = RX(DSTOK__MERGED_WITH_NEXT, false, "b");
    CHECK_STR(cut(&step, 1, "abb"), "a|b|b");
    CHECK_STR(cut(&step, 1, "b"), "b");
    step.behavior = DSTOK__REMOVED;
    CHECK_STR(cut(&step, 1, "b"), "");
}

/* Patterns that match the empty string: such matches cut, and count for what joins, but are no pieces. */
static void test_empty_matches(void) {
    dstok__step step = RX(DSTOK__ISOLATED, false, "b*");
    CHECK_STR(cut(&step, 1, "aabba"), "a|a|bb|a");
    step.behavior = DSTOK__CONTIGUOUS;
    CHECK_STR(cut(&step, 1, "abba"), "a|bb|a");
    step = RX(DSTOK__ISOLATED, false, "");
    CHECK_STR(cut(&step, 1, "aé1"), "a|é|1");
    step = LIT(DSTOK__ISOLATED, false, "");
    CHECK_STR(cut(&step, 1, "aé1"), "a|é|1");
    step = LIT(DSTOK__REMOVED, true, "");
    CHECK_STR(cut(&step, 1, "aé1"), "");
}

static void test_other_kinds(void) {
    dstok__step step = CLASS(DSTOK__STEP_DIGITS, DSTOK__ISOLATED);
    CHECK_STR(cut(&step, 1, "ab12²c3"), "ab|1|2|²|c|3");
    step.behavior = DSTOK__CONTIGUOUS;
    CHECK_STR(cut(&step, 1, "ab12²c3"), "ab|12²|c|3");
    step = CLASS(DSTOK__STEP_PUNCTUATION, DSTOK__ISOLATED);
    CHECK_STR(cut(&step, 1, "a$.b。×"), "a|$|.|b|。|×");
    step.behavior = DSTOK__CONTIGUOUS;
    CHECK_STR(cut(&step, 1, "a$.b。×"), "a|$.|b|。|×");
    step = LIT(DSTOK__ISOLATED, false, "aab");
    CHECK_STR(cut(&step, 1, "aaabaab"), "a|aab|aab");
    CHECK_STR(cut(&step, 1, "aa"), "aa");
    step = LIT(DSTOK__REMOVED, false, ".*");
    CHECK_STR(cut(&step, 1, "x.*y"), "x|y");
}

/* ---- the other kinds: pieces as tokenizers 0.23.3 gives them ---- */

static void test_new_kinds(void) {
    dstok__step step = CLASS(DSTOK__STEP_BLANK, DSTOK__REMOVED);
    CHECK_STR(cut(&step, 1, " a\u3000b\302\205c\u200Bd\n"), "a|b|c\u200Bd");
    step = CLASS(DSTOK__STEP_WORDS, DSTOK__REMOVED);
    step.invert = true;
    CHECK_STR(cut(&step, 1, " ab_1!? \u0301x\u200D \u00B2.\n"), "ab_1|!?|\u0301x\u200D|\u00B2.");
    CHECK_STR(cut(&step, 1, " \n"), "");
    step.behavior = DSTOK__ISOLATED;
    CHECK_STR(cut(&step, 1, " a.b"), " |a|.|b");
    step = (dstok__step){.kind = DSTOK__STEP_FIXED, .length = 2};
    CHECK_STR(cut(&step, 1, "aébc 日本x"), "aé|bc| 日|本x");
    step.length = 1;
    CHECK_STR(cut(&step, 1, "é日"), "é|日");
    step.length = UINT32_MAX;
    CHECK_STR(cut(&step, 1, "é日"), "é日");
    step.length = 0;
    CHECK_STR(cut(&step, 1, "a"), "DSTOK_E_UNSUPPORTED");
}

static void test_scripts(void) {
    dstok__step step = {.kind = DSTOK__STEP_SCRIPTS};
    CHECK_STR(cut(&step, 1, "abc  дом 1.日本ーカタひ x"), "abc  |дом |1.|日本ーカタひ |x");
    CHECK_STR(cut(&step, 1, "  abc  дом  "), "abc  |дом  "); /* what has no script is lost at the begin */
    CHECK_STR(cut(&step, 1, "  \u0560\uE000"), "");
    CHECK_STR(cut(&step, 1, "a\u0378b"), "a\u0378b");
    CHECK_STR(cut(&step, 1, "a\u0301b"), "a|\u0301|b");
}

/* ---- rewriting ---- */

static void test_prefix(void) {
    dstok__step steps[] = {{.kind = DSTOK__STEP_PREFIX}, RX(DSTOK__ISOLATED, false, GPT2)};
    CHECK_STR(cut(steps, 2, "it's"), " it|'s");
    CHECK_STR(cut(steps, 2, " it's"), " it|'s");
    CHECK_STR(cut(steps, 2, "\nx"), " |\n|x");
    CHECK_STR(cut(steps, 2, ""), "");
    CHECK_STR(cut_with(steps, 2, PLACES, "it's"), " it(0,2)|'s(2,4)");
    CHECK_STR(cut_with(steps, 2, NO_PREFIX, "it's"), "it|'s");
    CHECK_STR(cut_with(steps, 2, SLOW, "it's"), " it|'s");

    dstok__step behind[] = {LIT(DSTOK__ISOLATED, false, "x"), {.kind = DSTOK__STEP_PREFIX}};
    CHECK_STR(cut_with(behind, 2, PLACES, "axb"), " a(0,1)| x(1,2)| b(2,3)");
    CHECK_STR(cut_with(behind, 2, NO_PREFIX | PLACES, "axb"), "a(0,1)| x(1,2)| b(2,3)");
    CHECK_STR(cut_with(behind, 2, PLACES, "a x"), " a (0,2)| x(2,3)");
}

static void test_meta(void) {
    dstok__step steps[] = {META(DSTOK__PREPEND_ALWAYS, "▁"), LIT(DSTOK__MERGED_WITH_NEXT, false, "▁")};
    CHECK_STR(cut(steps, 2, "Hey friend!"), "▁Hey|▁friend!");
    CHECK_STR(cut(steps, 2, " a  b\t"), "▁a|▁|▁b\t");
    CHECK_STR(cut(steps, 2, "▁a"), "▁a");
    CHECK_STR(cut_with(steps, 2, PLACES, "é b"), "▁é(0,2)|▁b(2,4)");
    CHECK_STR(cut_with(steps, 2, NO_PREFIX, "a b"), "a|▁b");
    steps[0].prepend = DSTOK__PREPEND_NEVER;
    CHECK_STR(cut(steps, 2, "a b"), "a|▁b");
    steps[0].prepend = DSTOK__PREPEND_FIRST;
    CHECK_STR(cut_with(steps, 2, FIRST, "a b"), "▁a|▁b");
    CHECK_STR(cut_with(steps, 2, 0, "a b"), "a|▁b");
    CHECK_STR(cut_with(steps, 2, FIRST | NO_PREFIX, "a b"), "a|▁b");
    CHECK_STR(cut_with(steps, 1, FIRST | PLACES, "a b"), "▁a▁b(0,3)");

    /* a mark of one byte; only the first piece is first */
    dstok__step behind[] = {LIT(DSTOK__ISOLATED, false, "x"), META(DSTOK__PREPEND_FIRST, "_")};
    CHECK_STR(cut_with(behind, 2, FIRST | PLACES, "axb "), "_a(0,1)|x(1,2)|b_(2,4)");
    behind[1].prepend = DSTOK__PREPEND_ALWAYS;
    CHECK_STR(cut_with(behind, 2, PLACES, "axb "), "_a(0,1)|_x(1,2)|_b_(2,4)");
    CHECK_STR(cut_with(behind, 2, PLACES, "_x_"), "_(0,1)|_x(1,2)|_(2,3)");
}

/* What is cut off from a prefix is as much at the begin as the prefix. */
static void test_levels(void) {
    dstok__step steps[] = {META(DSTOK__PREPEND_ALWAYS, "▁"),
                           {.kind = DSTOK__STEP_FIXED, .length = 1},
                           META(DSTOK__PREPEND_FIRST, "_"),
                           {.kind = DSTOK__STEP_PREFIX}};
    CHECK_STR(cut_with(steps, 4, FIRST | PLACES, "a b"), " _▁(0,0)| _a(0,1)| ▁(1,2)| b(2,3)");
    CHECK_STR(cut_with(steps, 4, PLACES, "a b"), " ▁(0,0)| a(0,1)| ▁(1,2)| b(2,3)");
    CHECK_STR(cut_with(steps, 4, FIRST | NO_PREFIX | PLACES, "a b"), "a(0,1)| ▁(1,2)| b(2,3)");

    dstok__step many[DSTOK__MAX_STEPS];
    for (size_t i = 0; i < DSTOK__MAX_STEPS; i++)
        many[i] = i % 2 == 0 ? META(DSTOK__PREPEND_ALWAYS, "_") : META(DSTOK__PREPEND_ALWAYS, "-");
    CHECK_STR(cut_with(many, DSTOK__MAX_STEPS, PLACES, "x y"), "-_-_-_-_-_-_-_-_x_y(0,3)");
}

/* Falcon: Digits and Split see byte-level characters, so that they cut inside of the text's. */
static void test_byte_map(void) {
    dstok__step falcon[] = {CLASS(DSTOK__STEP_PUNCTUATION, DSTOK__CONTIGUOUS),
                            RX(DSTOK__ISOLATED, false, GPT2),
                            {.kind = DSTOK__STEP_BYTE_MAP},
                            CLASS(DSTOK__STEP_DIGITS, DSTOK__CONTIGUOUS),
                            RX(DSTOK__ISOLATED, false, "[0-9][0-9][0-9]")};
    CHECK_STR(cut(falcon, 5, "it's  12345"), "it|'|s| | |123|45");
    CHECK_STR(cut_with(falcon, 5, PLACES, "\303\263"), "\303(0,1)|\263(1,2)"); /* U+00F3: "Ã³" */
    CHECK_STR(cut_with(falcon, 5, PLACES, "a\302\2715"), "a(0,1)|\302(1,2)|\2715(2,4)");

    dstok__step steps[] = {{.kind = DSTOK__STEP_PREFIX},
                           {.kind = DSTOK__STEP_BYTE_MAP},
                           META(DSTOK__PREPEND_NEVER, "▁"),
                           {.kind = DSTOK__STEP_FIXED, .length = 1},
                           RX(DSTOK__ISOLATED, false, "\\s")};
    CHECK_STR(cut_with(steps, 5, PLACES, "é b"), " (0,0)|\303(0,1)|\251(1,2)| (2,3)|b(3,4)");
    dstok__step mapped[] = {{.kind = DSTOK__STEP_BYTE_MAP},
                            LIT(DSTOK__REMOVED, false, "Ġ"),
                            LIT(DSTOK__MERGED_WITH_PREVIOUS, false, "Ã")};
    CHECK_STR(cut(mapped, 3, "a b\303\251c"), "a|b\303|\251c");
}

static void test_refusals(void) {
    dstok__step steps[] = {{.kind = DSTOK__STEP_BYTE_MAP}, {.kind = DSTOK__STEP_BYTE_MAP}};
    CHECK_STR(cut(steps, 2, "a"), "DSTOK_E_UNSUPPORTED");
    steps[1] = (dstok__step){.kind = DSTOK__STEP_PREFIX};
    CHECK_STR(cut(steps, 2, "a"), "DSTOK_E_UNSUPPORTED");
    steps[1] = META(DSTOK__PREPEND_FIRST, "_");
    CHECK_STR(cut(steps, 2, "a"), "DSTOK_E_UNSUPPORTED");
    steps[1].prepend = DSTOK__PREPEND_NEVER;
    CHECK_STR(cut(steps, 2, "a"), "a");
    static const char *const marks[] = {"", "ab", "é1", "\xA9", "\xC3", "\xF0\x9F\x98"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        steps[0] = META(DSTOK__PREPEND_ALWAYS, "");
        steps[0].pattern = marks[i];
        steps[0].n = strlen(marks[i]);
        CHECK_STR(cut(steps, 1, "a"), "DSTOK_E_UNSUPPORTED");
    }
    steps[0] = META(DSTOK__PREPEND_ALWAYS, "\0");
    CHECK_STR(cut(steps, 1, "a"), "DSTOK_E_UNSUPPORTED");
}

static void test_bound(void) {
    dstok__step steps[] = {{.kind = DSTOK__STEP_PREFIX},
                           META(DSTOK__PREPEND_NEVER, "▁"),
                           LIT(DSTOK__ISOLATED, false, "x"),
                           META(DSTOK__PREPEND_ALWAYS, "_")};
    static const size_t want[] = {10, 11, 33, 33, 66};
    for (size_t n = 0; n <= 4; n++) {
        dstok__pretok *p = NULL;
        CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, steps, n, true, &p, NULL), DSTOK_OK);
        if (p == NULL) return;
        CHECK_EQ(dstok__pretok_bound(p, 10), want[n]);
        CHECK_EQ(dstok__pretok_bound(p, 0), 0);
        CHECK(dstok__pretok_bound(p, SIZE_MAX) == SIZE_MAX);
        CHECK_EQ(dstok__pretok_needs_scratch(p), n > 0);
        dstok__pretok_free(p);
    }
}

/* Each step sees only its own piece: look-ahead ends there, look-behind begins there. */
static void test_sequence(void) {
    dstok__step steps[] = {LIT(DSTOK__ISOLATED, false, "x"), RX(DSTOK__ISOLATED, false, "\\s+(?!\\S)"),
                           RX(DSTOK__REMOVED, false, "-")};
    CHECK_STR(cut(steps, 1, "a  x  b"), "a  |x|  b");
    CHECK_STR(cut(steps, 2, "a  x  b"), "a|  |x| | b");
    CHECK_STR(cut(steps, 3, "-a- x--b"), "a| |x|b");
    steps[1] = RX(DSTOK__ISOLATED, false, "(?<=x)b");
    CHECK_STR(cut(steps, 2, "xbb"), "x|bb");
    CHECK_STR(cut(steps, 0, "whole"), "whole");
    CHECK_STR(cut(steps, 0, ""), "");
    CHECK_STR(cut(steps, 2, ""), "");

    dstok__step falcon[] = {CLASS(DSTOK__STEP_PUNCTUATION, DSTOK__CONTIGUOUS),
                            RX(DSTOK__ISOLATED, false, GPT2), CLASS(DSTOK__STEP_DIGITS, DSTOK__CONTIGUOUS),
                            RX(DSTOK__ISOLATED, false, "[0-9][0-9][0-9]")};
    CHECK_STR(cut(falcon, 4, "it's  12345 \n..!"), "it|'|s| | |123|45| \n|..!");
    CHECK_STR(cut_with(falcon, 4, SLOW, "it's  12345 \n..!"), "it|'|s| | |123|45| \n|..!");
}

static dstok_status run_whole(const dstok__pretok *p, const char *text, pieces *got) {
    return dstok__pretok_run(p, NULL, (const uint8_t *)text, strlen(text), true, false, collect, got, NULL);
}

static void test_object(void) {
    dstok__step step = LIT(DSTOK__ISOLATED, false, "b");
    dstok__pretok *p = NULL;
    CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, &step, 1, true, &p, NULL), DSTOK_OK);
    pieces got = {0};
    CHECK_EQ(run_whole(p, "abc", &got), DSTOK_OK);
    CHECK_STR(got.joined, "a|b|c");
    got = (pieces){.stop_at = 2};
    CHECK_EQ(run_whole(p, "abc", &got), DSTOK_E_CANCELED);
    CHECK_EQ(got.count, 2);
    CHECK(dstok__pretok_family(p) == NULL);
    dstok__pretok_free(p);
    dstok__pretok_free(NULL);

    step = RX(DSTOK__ISOLATED, false, GPT2);
    CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, &step, 1, true, &p, NULL), DSTOK_OK);
    CHECK(!dstok__pretok_needs_scratch(p));
    CHECK(dstok__pretok_family(p) != NULL && strcmp(dstok__pretok_family(p)->name, "gpt2") == 0);
    got = (pieces){.stop_at = 2};
    CHECK_EQ(run_whole(p, " a b", &got), DSTOK_E_CANCELED);
    dstok__pretok_free(p);
    CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, &step, 1, false, &p, NULL), DSTOK_OK);
    CHECK(dstok__pretok_family(p) == NULL);
    dstok__pretok_free(p);
}

static void test_limits(void) {
    dstok__step steps[DSTOK__MAX_STEPS + 1];
    dstok__pretok *p = NULL;
    dstok_error err = {0};
    for (size_t i = 0; i <= DSTOK__MAX_STEPS; i++) steps[i] = LIT(DSTOK__ISOLATED, false, "b");
    CHECK_STR(cut(steps, DSTOK__MAX_STEPS, "abc"), "a|b|c");
    CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, steps, DSTOK__MAX_STEPS + 1, true, &p, &err),
             DSTOK_E_LIMIT);
    CHECK_EQ(err.status, DSTOK_E_LIMIT);
    char *big = malloc(4097);
    if (big == NULL) return;
    memset(big, 'a', 4097);
    steps[1].pattern = big;
    steps[1].n = 4097;
    CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, steps, 2, true, &p, &err), DSTOK_E_LIMIT);
    steps[1].n = 4096;
    CHECK_STR(cut(steps, 2, "aba"), "a|b|a");
    free(big);
    steps[1] = RX(DSTOK__ISOLATED, false, "(b");
    CHECK(dstok__pretok_new(&dstok__default_alloc, steps, 2, true, &p, &err) != DSTOK_OK);
    CHECK(p == NULL);
}

static void check_error_offset(const dstok__step *steps, size_t n, const char *text, uint64_t want) {
    dstok__pretok *p = NULL;
    dstok_error err = {0};
    pieces got = {0};
    CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, steps, n, true, &p, NULL), DSTOK_OK);
    if (p == NULL) return;
    CHECK(dstok__pretok_needs_scratch(p));
    CHECK_EQ(
        dstok__pretok_run(p, scratch, (const uint8_t *)text, strlen(text), true, false, collect, &got, &err),
        DSTOK_E_LIMIT);
    CHECK_EQ(err.offset, want);
    dstok__pretok_free(p);
}

/* A failure in a later piece is reported at its place in the whole text, through all levels. */
static void test_error_offset(void) {
    dstok__step steps[] = {LIT(DSTOK__ISOLATED, false, "|"),
                           META(DSTOK__PREPEND_ALWAYS, "▁"),
                           {.kind = DSTOK__STEP_BYTE_MAP},
                           RX(DSTOK__ISOLATED, false, "Ġ"),
                           RX(DSTOK__ISOLATED, false, "(?:a+)+(?:a+)+(?:a+)+(?:a+)+b")};
    static const char text[] =
        "ab|  éaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaacb";
    dstok__step plain[] = {steps[0], steps[4]};
    check_error_offset(plain, 2, text, 3);
    check_error_offset(steps, 5, text, 3); /* "▁▁éaaa" */
    steps[1] = (dstok__step){.kind = DSTOK__STEP_PREFIX};
    check_error_offset(steps, 5, text, 5); /* "Ġ", "Ġ", and the rest */
}

/* Fails every allocation in turn. */
static void test_no_memory(void) {
    dstok__step steps[] = {LIT(DSTOK__ISOLATED, false, "x"), RX(DSTOK__ISOLATED, false, "a+b"),
                           RX(DSTOK__ISOLATED, false, GPT2)};
    for (size_t k = 1; k < 10000; k++) {
        t_heap heap = {.fail_at = k};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok__pretok *p = NULL;
        dstok_status status = dstok__pretok_new(&al, steps, 3, true, &p, NULL);
        if (status == DSTOK_OK) {
            CHECK(k > 3);
            dstok__pretok_free(p);
            CHECK_EQ(heap.live, 0);
            return;
        }
        CHECK_EQ(status, DSTOK_E_NOMEM);
        CHECK_EQ(heap.live, 0);
    }
    CHECK(false);
}

/* The same for the memory of a run. */
static void test_no_memory_in_run(void) {
    dstok__step steps[] = {META(DSTOK__PREPEND_ALWAYS, "▁"),
                           {.kind = DSTOK__STEP_BYTE_MAP},
                           {.kind = DSTOK__STEP_FIXED, .length = 1}};
    dstok__pretok *p = NULL;
    CHECK_EQ(dstok__pretok_new(&dstok__default_alloc, steps, 3, true, &p, NULL), DSTOK_OK);
    for (size_t k = 1; p != NULL && k < 10000; k++) {
        t_heap heap = {.fail_at = k};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok__pretok_scratch *mine = NULL;
        pieces got = {0};
        dstok_status status = dstok__pretok_scratch_new(&al, &mine);
        if (status == DSTOK_OK) dstok__pretok_scratch_want_from(mine, true);
        if (status == DSTOK_OK)
            status = dstok__pretok_run(p, mine, (const uint8_t *)"a b", 3, true, false, collect, &got, NULL);
        dstok__pretok_scratch_free(mine);
        CHECK_EQ(heap.live, 0);
        if (status == DSTOK_OK) {
            CHECK(k > 5);
            dstok__pretok_free(p);
            return;
        }
        CHECK_EQ(status, DSTOK_E_NOMEM);
    }
    CHECK(false);
}

int main(void) {
    if (dstok__pretok_scratch_new(&dstok__default_alloc, &scratch) != DSTOK_OK) return 1;
    test_kinds();
    test_step_classes();
    test_names();
    test_family_conditions();
    test_family_lists();
    test_scanner_examples();
    test_behaviors();
    test_empty_matches();
    test_other_kinds();
    test_new_kinds();
    test_scripts();
    test_prefix();
    test_meta();
    test_levels();
    test_byte_map();
    test_refusals();
    test_bound();
    test_sequence();
    test_object();
    test_limits();
    test_error_offset();
    test_no_memory();
    test_no_memory_in_run();
    dstok__pretok_scratch_free(scratch);
    return t_end();
}
