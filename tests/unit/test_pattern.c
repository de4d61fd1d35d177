/* SPDX-License-Identifier: MIT */
/* Patterns of both dialects: what they match, as measured on the owning engines, exact sets, refusals. */
#include "../../data/unicode/unicode.h"
#include "../../tokenizer/pretok/regex.h"
#include "../harness/heap.h"
#include "../harness/t.h"

#include <stdlib.h>

enum { ONIG = DSTOK__DIALECT_ONIG, FANCY = DSTOK__DIALECT_FANCY, BOTH };

static dstok__regex_scratch *scratch;

/* The non-empty matches in text, joined by '|'; "error: ..." when there is one. Static storage. */
static const char *matches(int dialect, const char *pattern, size_t n, const char *text, size_t len) {
    static char joined[8192];
    dstok_error err = {0};
    dstok__regex *re = NULL;
    size_t out = 0, pos = 0, begin, end;
    joined[0] = '\0';
    if (dstok__regex_new(&dstok__default_alloc, pattern, n, (dstok__dialect)dialect, &re, &err) != DSTOK_OK) {
        snprintf(joined, sizeof joined, "error: %s", err.text);
        return joined;
    }
    while (pos <= len) {
        dstok_status s = dstok__regex_find(re, scratch, (const uint8_t *)text, len, pos, &begin, &end, &err);
        if (s != DSTOK_OK || begin == SIZE_MAX) break;
        if (end > begin) {
            if (out > 0) joined[out++] = '|';
            memcpy(joined + out, text + begin, end - begin);
            out += end - begin;
            joined[out] = '\0';
        }
        pos = end > begin ? end : end + 1;
        while (pos < len && ((unsigned char)text[pos] & 0xC0) == 0x80) pos++;
    }
    dstok__regex_free(re);
    return joined;
}

static void expect(int dialect, const char *pattern, const char *text, const char *want) {
    const char *got = matches(dialect, pattern, strlen(pattern), text, strlen(text));
    if (strcmp(got, want) != 0) fprintf(stderr, "%s, %s:\n", dialect == ONIG ? "onig" : "fancy", pattern);
    CHECK_STR(got, want);
}

/* ---- patterns of real vocabularies; measured with tokenizers 0.23.3 and tiktoken 0.14.0 ---- */

static const struct {
    const char *name, *pattern, *onig, *fancy; /* fancy = NULL: the same */
} real_patterns[] = {
    {"deepseek_v3 1",
     "\\p{N}{1,3}",
     "123|456|\331\243\302\275\360\220\265\201|\343\200\207",
     NULL},
    {"deepseek_v3 2",
     "[一-龥\343\201\200-ゟ\343\202\240-ヿ]+",
     "中文|カナ|日本",
     NULL},
    {"deepseek_v3 3",
     "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}"
     "\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
     "Hello| World|'s| I|'LL| don|'|ſ| we|'Ve| | \360\236\223\220\360\236\227\220x| \n\n| | 中文"
     "|\343\200\207々カナ한| ǅe\314\201क\340\245\215ष\340\244\277|\302\240\343\200\200| x|=+!?$\r"
     "\n|\t日本|-a|\360\223\221\240| <||endoftext||>|abc|  ",
     NULL},
    {"cl100k, llama3",
     "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{"
     "N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     "Hello| World|'s| I|'LL| don|'ſ| we|'Ve| |123|456|\331\243\302\275\360\220\265\201| \360"
     "\236\223\220\360\236\227\220x| \n\n| | 中文|\343\200\207|々カナ한| ǅe|\314\201क|\340\245\215ष|"
     "\340\244\277|\302\240\343\200\200| x|=+!?$\r\n|\t日本|-a\360\223\221\240| <||endoftext||>|"
     "abc|  ",
     NULL},
    {"o200k",
     "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
     "+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}"
     "]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}"
     "\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     "Hello| World's| I'LL| don'ſ| we'Ve| |123|456|\331\243\302\275\360\220\265\201| \360\236"
     "\223\220\360\236\227\220x| \n\n| | 中文|\343\200\207|々カナ한| ǅe\314\201क\340\245\215ष\340"
     "\244\277|\302\240\343\200\200| x|=+!?$\r\n|\t日本|-a\360\223\221\240| <||endoftext||>|abc|"
     "  ",
     NULL},
    {"qwen",
     "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+["
     "\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     "Hello| World|'s| I|'LL| don|'ſ| we|'Ve| |1|2|3|4|5|6|\331\243|\302\275|\360\220\265\201|"
     " \360\236\223\220\360\236\227\220x| \n\n| | 中文|\343\200\207|々カナ한| ǅe|\314\201क|\340\245"
     "\215ष|\340\244\277|\302\240\343\200\200| x|=+!?$\r\n|\t日本|-a\360\223\221\240| <||endofte"
     "xt||>|abc|  ",
     NULL},
    {"clip",
     "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\"
     "p{L}\\p{N}]+",
     "Hello|World|'s|I|'|LL|don|'|ſ|we|'|Ve|1|2|3|4|5|6|\331\243|\302\275|\360\220\265\201|"
     "\360\236\223\220\360\236\227\220x|中文|\343\200\207|々カナ한|ǅe|\314\201|क|\340\245\215|ष|\340"
     "\244\277|x|=+!?$|日本|-|a\360\223\221\240|<|endoftext|>|abc",
     NULL},
    {"falcon",
     "[0-9][0-9][0-9]",
     "123|456",
     NULL},
    {"clip normaliser",
     "\\s+",
     " | | | | | | \n\n  | |\302\240\343\200\200 |\r\n\t| |  ",
     NULL},
    {"gpt2",
     "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     "Hello| World|'s| I|'|LL| don|'|ſ| we|'|Ve| 123456\331\243\302\275\360\220\265\201| \360"
     "\236\223\220\360\236\227\220x| \n\n | 中文|\343\200\207|々カナ한| ǅe|\314\201|क|\340\245\215|ष"
     "|\340\244\277|\302\240\343\200\200| x|=+!?$|\r\n|\t|日本|-|a\360\223\221\240| <||endoftext"
     "||>|abc|  ",
     NULL},
    {"cl100k of tiktoken 0.8",
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]+"
     "+[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
     "Hello| World|'s| I|'LL| don|'ſ| we|'Ve| |123456\331\243\302\275\360\220\265\201| \360"
     "\236\223\220\360\236\227\220x| \n\n| | 中文|\343\200\207|々カナ한| ǅe|\314\201क|\340\245\215ष|"
     "\340\244\277|\302\240\343\200\200| x|=+!?$\r\n|\t日本|-a\360\223\221\240| <||endoftext||>|"
     "abc|  ",
     "Hello| World|'s| I|'LL| don|'ſ| we|'Ve| |123|456|\331\243\302\275\360\220\265\201| \360"
     "\236\223\220\360\236\227\220x| \n\n| | 中文|\343\200\207|々カナ한| ǅe|\314\201क|\340\245\215ष|"
     "\340\244\277|\302\240\343\200\200| x|=+!?$\r\n|\t日本|-a\360\223\221\240| <||endoftext||>|"
     "abc|  "},
    {"qwen3.6",
     "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}"
     "\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     "Hello| World|'s| I|'LL| don|'ſ| we|'Ve| |1|2|3|4|5|6|\331\243|\302\275|\360\220\265\201|"
     " \360\236\223\220\360\236\227\220x| \n\n| | 中文|\343\200\207|々カナ한| ǅe\314\201क\340\245"
     "\215ष\340\244\277|\302\240\343\200\200| x|=+!?$\r\n|\t日本|-a\360\223\221\240| <||endoftex"
     "t||>|abc|  ",
     NULL},
    {"kimi",
     "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p"
     "{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N"
     "}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p"
     "{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\"
     "r\\n]+|\\s+(?!\\S)|\\s+",
     "Hello| World's| I'LL| don'ſ| we'Ve| |123|456|\331\243\302\275\360\220\265\201| \360\236"
     "\223\220\360\236\227\220x| \n\n| | |中文\343\200\207々|カナ한| ǅe\314\201क\340\245\215ष\340"
     "\244\277|\302\240\343\200\200| x|=+!?$\r\n|\t|日本|-a\360\223\221\240| <||endoftext||>|abc"
     "|  ",
     NULL},
    {"bailing",
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\"
     "n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
     "Hello| World|'s| I|'LL| don|'ſ| we|'Ve| |1|2|3|4|5|6|\331\243|\302\275|\360\220\265\201|"
     " \360\236\223\220\360\236\227\220x| \n\n| | 中文|\343\200\207|々カナ한| ǅe|\314\201क|\340\245"
     "\215ष|\340\244\277|\302\240\343\200\200| x|=+!?$\r\n|\t日本|-a\360\223\221\240| <||endofte"
     "xt||>|abc|  ",
     NULL},
};

static const char real_text[] =
    "Hello World's I'LL don'ſ we'Ve 123456\331\243\302\275\360\220\265\201 \360\236\223\220"
    "\360\236\227\220x \n\n  中文\343\200\207々カナ한 ǅe\314\201क\340\245\215ष\340\244\277\302\240"
    "\343\200\200 x=+!?$\r\n\t日本-a\360\223\221\240 <|endoftext|>abc  ";

static void test_real(void) {
    for (size_t i = 0; i < sizeof real_patterns / sizeof real_patterns[0]; i++) {
        const char *fancy = real_patterns[i].fancy != NULL ? real_patterns[i].fancy : real_patterns[i].onig;
        expect(ONIG, real_patterns[i].pattern, real_text, real_patterns[i].onig);
        expect(FANCY, real_patterns[i].pattern, real_text, fancy);
    }
}

/* ---- one construct each; measured in the same way ---- */

static const struct {
    int dialect;
    const char *pattern, *text, *want;
} constructs[] = {
    /* regex_probes.txt */
    {BOTH, "(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'ſ", "'ſ"},
    {BOTH, "(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'S 'RE 'Ll", "'S|'RE|'Ll"},
    {BOTH, "\\s++$", "a \n", " \n"},
    {BOTH, "\\s+$", "a \n", " \n"},
    {ONIG, "a$", "a\n", "a"},
    {FANCY, "a$", "a\n", ""},
    {ONIG, "a$", "a\nb", "a"},
    {FANCY, "a$", "a\nb", ""},
    {ONIG, "^b", "a\nb", "b"},
    {FANCY, "^b", "a\nb", ""},
    {BOTH, "[\\p{L}&&[^\\p{Han}]]+", "ab中c", "ab|c"},
    {BOTH, "\\p{Han}", "\343\200\207々〆ヶ\343\213\277", "\343\200\207|々"},
    {BOTH, "[^a]", "\364\217\277\277", "\364\217\277\277"},
    {BOTH, "(?i:k)", "\342\204\252", "\342\204\252"},
    {FANCY, "(?i:ss)", "ß", ""},
    {BOTH, "(?i:[s])", "ſ", "ſ"},
    /* C016, C079 */
    {BOTH, "[\\p{L}&&[^aeiou]]+", "hello&x&&y", "h|ll|x|y"},
    {BOTH, "\\p{N}+", "\340\253\252", "\340\253\252"},
    /* anchors */
    {ONIG, "^\\w+", "ab\ncd\n", "ab|cd"},
    {FANCY, "^\\w+", "ab\ncd\n", "ab"},
    {ONIG, "\\w+$", "ab\ncd\n", "ab|cd"},
    {FANCY, "\\w+$", "ab\ncd\n", ""},
    {BOTH, "\\n^", "a\n", ""},
    {BOTH, ".+", "a\rb\342\200\250c\302\205d\ne", "a\rb\342\200\250c\302\205d|e"},
    {BOTH, "a$|^b", "a\rb a\342\200\250b", ""},
    {BOTH, "a\\Z", "a\n", "a"},
    {ONIG, "a\\Z", "a\n\n", ""},
    {FANCY, "a\\Z", "a\n\n", "a"},
    {BOTH, "\\Ab|b\\z", "b\nb", "b|b"},
    {BOTH, "a\\z", "a\n", ""},
    {ONIG, "\\b\\w", "ab \302\275x \342\200\215y", "a|\302\275|y"},
    {FANCY, "\\b\\w", "ab \302\275x \342\200\215y", "a|x|\342\200\215"},
    {BOTH, "\\B.", "ab c", "b"},
    {BOTH, "\\d{1,3}(?=(?:\\d{3})*\\b)", "1234567 12345x", "1|234|567"},
    /* classes: \w of Oniguruma differs inside and outside of brackets */
    {ONIG, "\\w+", "a\302\275\302\262_\342\200\214b", "a\302\275\302\262_|b"},
    {FANCY, "\\w+", "a\302\275\302\262_\342\200\214b", "a|_\342\200\214b"},
    {ONIG, "[\\w]+", "a\302\275\302\262_\342\200\214b", "a|_|b"},
    {FANCY, "[\\w]+", "a\302\275\302\262_\342\200\214b", "a|_\342\200\214b"},
    {ONIG, "\\W", "\302\275 \342\200\215", " |\342\200\215"},
    {FANCY, "\\W", "\302\275 \342\200\215", "\302\275| "},
    {ONIG, "[^\\w]", "\302\275 \342\200\215", "\302\275| |\342\200\215"},
    {FANCY, "[^\\w]", "\302\275 \342\200\215", "\302\275| "},
    {BOTH, "\\h+", "0aFg", "0aF"},
    {BOTH, "\\H", "fg", "g"},
    {BOTH, "\\s", "\034\302\205\302\240\341\240\216\342\200\213\343\200\200",
     "\302\205|\302\240|\343\200\200"},
    {BOTH, "\\d+", "19\331\243\302\275\360\220\265\201", "19\331\243|\360\220\265\201"},
    {BOTH, "[[a-c][x-z]]+", "abxyd", "abxy"},
    {BOTH, "[^[a-c]x]+", "abxyd", "yd"},
    {BOTH, "[a-f&&c-z&&[^d]]+", "abcdefg", "c|ef"},
    {BOTH, "[a&&b]|c", "abc", "c"},
    {BOTH, "[&&a]|c", "a&c", "c"},
    {BOTH, "[a&&&b]|c", "a&bc", "c"},
    {BOTH, "[]a]+", "a]b", "a]"},
    {BOTH, "[^]a]+", "a]b", "b"},
    {ONIG, "[]-a]+", "]^a-", "]^a"},
    {FANCY, "[]-a]+", "]^a-", "]|a-"},
    {BOTH, "[-a]+", "a-b", "a-"},
    {BOTH, "[a-]+", "a-b", "a-"},
    {BOTH, "[a-c-e]+", "abc-de", "abc-|e"},
    {ONIG, "[--/]+", "-./a", "-./"},
    {FANCY, "[--/]+", "-./a", "-|/"},
    {BOTH, "[\\b]", "\010 b", "\010"},
    {BOTH, "[+\\-*/.]+", "1+-*/.2", "+-*/."},
    {BOTH, "[\\]\\[]+", "[]a", "[]"},
    {ONIG, "[[:alpha:]]+", "aé\315\205ǅ1", "aé\315\205ǅ"},
    {FANCY, "[[:alpha:]]+", "aé\315\205ǅ1", "a"},
    {ONIG, "[[:^alpha:]]+", "aé1 ", "1 "},
    {FANCY, "[[:^alpha:]]+", "aé1 ", "é1 "},
    {ONIG, "[[:punct:]]+", "!$+\342\202\254a", "!$+\342\202\254"},
    {FANCY, "[[:punct:]]+", "!$+\342\202\254a", "!$+"},
    {ONIG, "[[:space:]]+", "\013\302\205 a", "\013\302\205 "},
    {FANCY, "[[:space:]]+", "\013\302\205 a", "\013| "},
    {ONIG, "[[:word:]]+", "a\302\275_é", "a|_é"},
    {FANCY, "[[:word:]]+", "a\302\275_é", "a|_"},
    {ONIG, "[[:digit:]]+", "1\331\243", "1\331\243"},
    {FANCY, "[[:digit:]]+", "1\331\243", "1"},
    {BOTH, "[[:xdigit:]]+", "fFg9", "fF|9"},
    {ONIG, "[[:graph:]]+", "a \343\200\200b\363\240\200\201", "a|b\363\240\200\201"},
    {ONIG, "[[:print:]]+", "a \343\200\200\tb", "a \343\200\200|b"},
    {ONIG, "[[:blank:]]+", "a \t\343\200\200\n", " \t\343\200\200"},
    {ONIG, "[[:cntrl:]]+", "\001\302\205a", "\001\302\205"},
    {FANCY, "[[:cntrl:]]+", "\001\302\205a", "\001"},
    {BOTH, "[[:a]]", ":a]", ":|a"},
    {FANCY, "[a-m--d-f]+", "abcdefg", "abc|g"},
    {FANCY, "[a-m~~g-z]+", "fghmnz", "f|nz"},
    {FANCY, "[\\w--\\d--_]+", "a1_b", "a|b"},
    /* properties */
    {BOTH, "\\p{Lu}", "Aaǅ1", "A"},
    {BOTH, "\\P{Lu}", "Aaǅ1", "a|ǅ|1"},
    {BOTH, "\\p{^Lu}", "Aaǅ1", "a|ǅ|1"},
    {BOTH, "\\P{^Lu}", "Aaǅ1", "A"},
    {BOTH, "[\\p{^L}]", "Aaǅ1", "1"},
    {BOTH, "\\p{LC}", "Aaǅ1", "A|a|ǅ"},
    {BOTH, "\\p{Uppercase_Letter}", "Aaǅ1", "A"},
    {BOTH, "\\p{lowercase letter}", "Aaǅ1", "a"},
    {BOTH, "\\p{Any}", "a\n", "a|\n"},
    {BOTH, "\\p{ASCII}+", "aé", "a"},
    {BOTH, "\\p{Assigned}", "a\315\270", "a"},
    {BOTH, "\\p{White_Space}", "a\302\205", "\302\205"},
    {BOTH, "\\p{Latin}+", "aж\352\237\213", "a|\352\237\213"},
    {BOTH, "\\p{Cyrillic}+", "aж\341\262\211", "ж\341\262\211"},
    {BOTH, "\\p{Alphabetic}+", "a\342\223\220\315\205\315\243_", "a\342\223\220\315\205\315\243"},
    {FANCY, "\\pL\\PL", "a1", "a1"},
    {FANCY, "\\p{gc=Lu}|\\p{sc=Han}|\\p{Script=Greek}", "Aaα中", "A|α|中"},
    {ONIG, "\\p{Alnum}+|\\p{Space}", "a1 _", "a1| "},
    /* case */
    {BOTH, "(?i)hello", "HeLLo", "HeLLo"},
    {BOTH, "(?i:a(?-i:b))c", "ABc Abc abc", "Abc|abc"},
    {BOTH, "(?i)[^k]+", "xkK\342\204\252y", "x|y"},
    {BOTH, "(?i:σ)+", "σςΣ", "σςΣ"},
    {ONIG, "(?i)\\p{Lu}+", "aB", "B"},
    {FANCY, "(?i)\\p{Lu}+", "aB", "aB"},
    {BOTH, "(?i)[\\p{Lu}]+", "aB1", "aB"},
    {ONIG, "(?i)\\P{Lu}+", "aB1", "a|1"},
    {FANCY, "(?i)\\P{Lu}+", "aB1", "1"},
    {ONIG, "(?i)[[^s]x]+", "sSſxX", "sSſxX"},
    {FANCY, "(?i)[[^s]x]+", "sSſxX", "xX"},
    {BOTH, "(?i:[k&&\\p{Ll}])+", "kK\342\204\252", "kK\342\204\252"},
    {BOTH, "(?i:[[:upper:]])+", "aB", "aB"},
    {ONIG, "a(?i)b|c", "aB C aC", "aB|aC"},
    {FANCY, "a(?i)b|c", "aB C aC", "aB|C|C"},
    {ONIG, "((?i)a)b", "AB Ab", "Ab"},
    {FANCY, "((?i)a)b", "AB Ab", "AB|Ab"},
    {ONIG, "(?:a(?i)b|c)d", "aBd aCd cd cD", "aBd|aCd"},
    {FANCY, "(?:a(?i)b|c)d", "aBd aCd cd cD", "aBd|Cd|cd"},
    {BOTH, "(?i:ꙋ)+", "ꙋᲈꙊ", "ꙋᲈꙊ"},
    /* repeats */
    {BOTH, "a++b|a*+|x?+", "aaab aa", "aaab|aa"},
    {ONIG, "(?:ab){1,2}+a?", "ababab", "ababab"},
    {FANCY, "(?:ab){1,2}+a?", "ababab", "ababa"},
    {ONIG, "(?:ab){2}+b?", "abababab", "abababab"},
    {FANCY, "(?:ab){2}+b?", "abababab", "abab|abab"},
    {BOTH, "a{2}?", "aaa", "aa"},
    {ONIG, "a{2}?b", "b ab aab", "b|b|aab"},
    {FANCY, "a{2}?b", "b ab aab", "aab"},
    {BOTH, "a{1,2}?b?", "aab", "a|ab"},
    {BOTH, "a{,2}b", "aaab", "aab"},
    {ONIG, "a{,}", "a{,}", "a{,}"},
    {BOTH, "a{b|a}|b{", "a{b a} b{", "a{b|a}|b{"},
    {BOTH, "a{ 1}", "a{ 1}", "a{ 1}"},
    {BOTH, "a+?b|a??c", "aab ac", "aab|ac"},
    {ONIG, "(?:a{1,2}){2}", "aaaaa", "aaaa"},
    {ONIG, "a{1,2}{2}b", "aaaab", "aaaab"},
    {BOTH, "(?>a+)b|(?>a|ab)c", "aab abc", "aab|ab"},
    /* what JIT compilers of PCRE2 get wrong */
    {BOTH, "(?:a|)b*a", "a ba aba", "a|ba|aba"},
    {BOTH, "(?>a*|)a", "aaa", ""},
    {BOTH, "(?>.+|a?)k", "ak]k", ""},
    {ONIG, "(?:.++|a?){1}+k", "ck]", "k"},
    {FANCY, "(?:.++|a?){1}+k", "ck]", ""},
    {BOTH, "(?:(?:CHAN|LINE))[ab]{0,2}", "LINE CHANb", "LINE|CHANb"},
    {BOTH, "(?:[a-z]{0,3}c;)+", "ccccc;c;cc;ccc;cccccc;", "cccc;c;cc;ccc;|cccc;"},
    {BOTH, "(?:(?:x|)y*|z)x", "x yx zx", "x|yx|zx"},
    {BOTH, "[a&&b]{2}|ab", "aab", "ab"},
    /* groups and look-around */
    {BOTH, "(?<n>a)(b)(?:c)", "abc", "abc"},
    {ONIG, "(?'n'a)b", "ab", "ab"},
    {FANCY, "(?P<n>a)b", "ab", "ab"},
    {BOTH, "(?<=a)b|(?<!a)c", "ab ac bc", "b|c"},
    {BOTH, "(?<=ab|c)d", "abd cd d", "d|d"},
    {BOTH, "(?=ab)a|(?!b)\\w", "ab b c", "a|c"},
    {ONIG, "a||b", "ab", "a"},
    {BOTH, "(?:|a)b", "ab b", "ab|b"},
    {BOTH, "\\s+(?!\\S)|\\s+", "a   b  ", "  | |  "},
    /* characters */
    {BOTH, "\\x41\\x{4e2d}\\u4e2d", "A中中", "A中中"},
    {FANCY, "\\u{1F600}\\U0001F600\\xe9", "\360\237\230\200\360\237\230\200é",
     "\360\237\230\200\360\237\230\200é"},
    {BOTH, "\\e\\a\\f\\v\\t\\r\\n", "\033\007\014\013\t\r\n", "\033\007\014\013\t\r\n"},
    {BOTH, "\\.\\*\\/\\-\\_\\ \\#", ".*/-_ #", ".*/-_ #"},
    {BOTH, "\\é", "é", "é"},
    {BOTH, ".", "a\n", "a"},
    {ONIG, "(?m:.)", "a\n", "a|\n"},
    {FANCY, "(?s:.)", "a\n", "a|\n"},
    {ONIG, "\\<|\\>", "<>", "<|>"},
    {BOTH, "]|}", "]}", "]|}"},
};

static void test_constructs(void) {
    for (size_t i = 0; i < sizeof constructs / sizeof constructs[0]; i++) {
        int d = constructs[i].dialect;
        if (d != FANCY) expect(ONIG, constructs[i].pattern, constructs[i].text, constructs[i].want);
        if (d != ONIG) expect(FANCY, constructs[i].pattern, constructs[i].text, constructs[i].want);
    }
}

static void test_nul(void) {
    static const char text[] = "a\0b\n\0008";
    CHECK_MEM(matches(ONIG, "a\0b", 3, text, 3), "a\0b", 4);
    CHECK_MEM(matches(FANCY, "[^\0]+", 5, text, 3), "a|b", 4);
    CHECK_MEM(matches(ONIG, "\\0|\\012", 7, text, sizeof text - 1), "\0|\n|\0", 6);
    CHECK_MEM(matches(ONIG, "[\\0]8", 5, text, sizeof text - 1), "\0008", 3);
}

/* Oniguruma also folds one character to several; that is left out, on purpose. */
static void test_no_multi_folds(void) {
    expect(ONIG, "(?i:ss)", "\303\237", "");
    expect(ONIG, "(?i:\303\237)", "ss \303\237", "\303\237");
}

/* ---- exact sets, over all code points ---- */

static uint8_t *all_text; /* every code point but the surrogates */
static size_t all_len;

static size_t put_utf8(uint8_t *p, uint32_t cp) {
    size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; cp >>= 6) p[i] = (uint8_t)(0x80 | (cp & 0x3F));
    p[0] = (uint8_t)(lead[n] | cp);
    return n;
}

static uint32_t get_utf8(const uint8_t *p, size_t *n) {
    *n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint32_t cp = *n == 1 ? p[0] : p[0] & (0x7Fu >> *n);
    for (size_t i = 1; i < *n; i++) cp = cp << 6 | (p[i] & 0x3Fu);
    return cp;
}

static void make_all_text(void) {
    all_text = malloc(0x110000 * 4);
    for (uint32_t cp = 0; all_text != NULL && cp <= DSTOK_UC_MAX; cp++) {
        if (cp < 0xD800 || cp > 0xDFFF) all_len += put_utf8(all_text + all_len, cp);
    }
    CHECK_EQ(all_len, 0x80 + 0x780 * 2 + 0xF000 * 3 + 0x100000 * 4);
}

typedef bool predicate(uint32_t cp);

/* The matches of pattern, a repeated class, cover exactly the code points of the predicate. */
static void check_set(int dialect, const char *pattern, predicate *in) {
    dstok_error err = {0};
    dstok__regex *re = NULL;
    dstok__dialect d = (dstok__dialect)dialect;
    CHECK_EQ(dstok__regex_new(&dstok__default_alloc, pattern, strlen(pattern), d, &re, &err), DSTOK_OK);
    size_t wrong = 0, width, covered = 0;
    uint32_t first = 0;
    for (size_t pos = 0, begin, end; re != NULL && pos < all_len; pos = covered = end) {
        if (dstok__regex_find(re, scratch, all_text, all_len, pos, &begin, &end, &err) != DSTOK_OK) break;
        if (begin == SIZE_MAX) begin = end = all_len;
        for (size_t i = pos; i < end; i += width) {
            uint32_t cp = get_utf8(all_text + i, &width);
            if (in(cp) == (i >= begin)) continue;
            if (wrong++ == 0) first = cp;
        }
    }
    if (wrong > 0) fprintf(stderr, "%s: %zu wrong, first U+%04X\n", pattern, wrong, (unsigned)first);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(covered, all_len);
    dstok__regex_free(re);
}

static bool is_l(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_L); }
static bool is_not_l(uint32_t cp) { return !is_l(cp); }
static bool is_m(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_M); }
static bool is_n(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_N); }
static bool is_p(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_P); }
static bool is_s(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_S); }
static bool is_c(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_C); }
static bool is_lu(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_LU); }
static bool is_lo(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_LO); }
static bool is_nd(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_ND); }
static bool is_not_nd(uint32_t cp) { return !is_nd(cp); }
static bool is_cn(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_BIT(DSTOK_GC_CN)); }
static bool is_han(uint32_t cp) { return (dstok__uc_record(cp) & DSTOK_UC_HAN) != 0; }
static bool is_not_han(uint32_t cp) { return !is_han(cp); }
static bool is_not_space(uint32_t cp) { return !dstok__uc_is_space(cp); }
static bool is_not_word(uint32_t cp) { return !dstok__uc_is_word(cp); }
static bool is_punct(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_P | DSTOK_UC_S); }
static bool is_l_or_n(uint32_t cp) { return dstok__uc_in(cp, DSTOK_UC_L | DSTOK_UC_N); }
static bool is_other(uint32_t cp) { return !dstok__uc_is_space(cp) && !is_l_or_n(cp); }
static bool is_lead(uint32_t cp) { return cp != '\r' && cp != '\n' && !is_l_or_n(cp); }
static bool is_az(uint32_t cp) { return dstok__uc_fold(cp) >= 'a' && dstok__uc_fold(cp) <= 'z'; }
static bool is_not_az(uint32_t cp) { return !is_az(cp); }
static bool is_consonant(uint32_t cp) { return is_l(cp) && (cp >= 0x80 || strchr("aeiou", (int)cp) == NULL); }
static bool is_kimi(uint32_t cp) {
    return dstok__uc_in(cp, (DSTOK_UC_L & ~DSTOK_UC_LL) | DSTOK_UC_M) && !is_han(cp);
}
static bool is_class_word(uint32_t cp) { return dstok__uc_is_word(cp) && cp != 0x200C && cp != 0x200D; }
static bool is_onig_word(uint32_t cp) {
    return is_class_word(cp) || cp == 0xB2 || cp == 0xB3 || cp == 0xB9 || (cp >= 0xBC && cp <= 0xBE);
}

static void test_sets(void) {
    static const struct {
        const char *pattern;
        predicate *in;
    } both[] = {{"\\p{L}+", is_l},
                {"\\P{L}+", is_not_l},
                {"[^\\P{L}]+", is_l},
                {"\\p{M}+", is_m},
                {"\\p{N}+", is_n},
                {"\\p{P}+", is_p},
                {"\\p{S}+", is_s},
                {"\\p{C}+", is_c},
                {"\\p{Lu}+", is_lu},
                {"\\p{Lo}+", is_lo},
                {"\\p{Cn}+", is_cn},
                {"\\d+", is_nd},
                {"\\D+", is_not_nd},
                {"\\s+", dstok__uc_is_space},
                {"\\S+", is_not_space},
                {"\\p{Han}+", is_han},
                {"[^\\p{Han}]+", is_not_han},
                {"[^\\s\\p{L}\\p{N}]+", is_other},
                {"[^\\r\\n\\p{L}\\p{N}]+", is_lead},
                {"[\\p{L}&&[^aeiou]]+", is_consonant},
                {"[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+", is_kimi},
                {"(?i:[a-z])+", is_az},
                {"(?i:[^a-z])+", is_not_az}};
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        check_set(ONIG, both[i].pattern, both[i].in);
        check_set(FANCY, both[i].pattern, both[i].in);
    }
    check_set(FANCY, "\\w+", dstok__uc_is_word);
    check_set(FANCY, "[^\\w]+", is_not_word);
    check_set(ONIG, "\\w+", is_onig_word);
    check_set(ONIG, "[\\w]+", is_class_word);
    check_set(ONIG, "[[:punct:]]+", is_punct);
}

/* ---- refusals ---- */

static const struct {
    int dialect;
    const char *pattern;
    dstok_status status;
    uint64_t offset;
    const char *names; /* stands in the message */
} refusals[] = {
    {BOTH, "a(b", DSTOK_E_FORMAT, 1, "( without a )"},
    {BOTH, "a)b", DSTOK_E_FORMAT, 1, ") without a ("},
    {BOTH, "ab[c", DSTOK_E_FORMAT, 2, "no ]"},
    {BOTH, "[]", DSTOK_E_FORMAT, 0, "no ]"},
    {BOTH, "[a[b]", DSTOK_E_FORMAT, 0, "no ]"},
    {BOTH, "a\\", DSTOK_E_FORMAT, 1, "backslash"},
    {BOTH, "[z-a]", DSTOK_E_FORMAT, 1, "empty"},
    {BOTH, "[\\d-a]", DSTOK_E_FORMAT, 1, "begins with a class"},
    {BOTH, "[+-\\d]", DSTOK_E_FORMAT, 1, "ends with a class"},
    {ONIG, "[[:alpha:]-z]", DSTOK_E_FORMAT, 1, "begins with a class"},
    {BOTH, "[!-[a]]", DSTOK_E_UNSUPPORTED, 1, "ends with ["},
    {BOTH, "a|*b", DSTOK_E_FORMAT, 2, "nothing to repeat"},
    {BOTH, "(?:+a)", DSTOK_E_FORMAT, 3, "nothing to repeat"},
    {ONIG, "{2}", DSTOK_E_FORMAT, 0, "nothing to repeat"},
    {FANCY, "{2}", DSTOK_E_UNSUPPORTED, 0, "escape the {"},
    {BOTH, "a**", DSTOK_E_UNSUPPORTED, 2, "repeat of a repeat"},
    {FANCY, "a{2}{3}", DSTOK_E_UNSUPPORTED, 4, "repeat of a repeat"},
    {ONIG, "a{2}{2}{2}{2}{2}{2}", DSTOK_E_UNSUPPORTED, 13, "four repeats"},
    {BOTH, "^*", DSTOK_E_UNSUPPORTED, 1, "anchor"},
    {BOTH, "\\b+", DSTOK_E_UNSUPPORTED, 2, "anchor"},
    {BOTH, "(?=a)?", DSTOK_E_UNSUPPORTED, 5, "look-around"},
    {ONIG, "a{3,1}", DSTOK_E_UNSUPPORTED, 1, "greater"},
    {FANCY, "a{3,1}", DSTOK_E_FORMAT, 1, "greater"},
    {BOTH, "a{1001}", DSTOK_E_LIMIT, 1, "1000 times"},
    {BOTH, "a{5,99999999999999999999}", DSTOK_E_LIMIT, 1, "1000 times"},
    {BOTH, "(a)\\1", DSTOK_E_UNSUPPORTED, 3, "backreference"},
    {BOTH, "(?<n>a)\\k<n>", DSTOK_E_UNSUPPORTED, 7, "backreference"},
    {FANCY, "(?P=n)", DSTOK_E_UNSUPPORTED, 0, "backreference"},
    {FANCY, "\\0", DSTOK_E_UNSUPPORTED, 0, "backreference"},
    {BOTH, "\\g<1>", DSTOK_E_UNSUPPORTED, 0, "subexpression call"},
    {BOTH, "(?x) a", DSTOK_E_UNSUPPORTED, 0, "free spacing"},
    {BOTH, "(?R)", DSTOK_E_UNSUPPORTED, 0, "recursion"},
    {BOTH, "(?~a)", DSTOK_E_UNSUPPORTED, 0, "absent"},
    {BOTH, "(?(1)a)", DSTOK_E_UNSUPPORTED, 0, "conditional"},
    {BOTH, "(?{a})", DSTOK_E_UNSUPPORTED, 0, "callout"},
    {BOTH, "a(*SKIP)", DSTOK_E_UNSUPPORTED, 1, "verb"},
    {BOTH, "(?#a)", DSTOK_E_UNSUPPORTED, 0, "comment"},
    {BOTH, "(?)", DSTOK_E_FORMAT, 0, "(?)"},
    {BOTH, "a(?i", DSTOK_E_FORMAT, 1, "without a )"},
    {ONIG, "(?s:.)", DSTOK_E_UNSUPPORTED, 0, "(?s"},
    {FANCY, "(?m)^a", DSTOK_E_UNSUPPORTED, 0, "(?m"},
    {ONIG, "(?P<n>a)", DSTOK_E_UNSUPPORTED, 0, "(?P"},
    {BOTH, "(?<n", DSTOK_E_FORMAT, 0, "group name"},
    {BOTH, "a\\G", DSTOK_E_UNSUPPORTED, 1, "\\G"},
    {BOTH, "a\\K", DSTOK_E_UNSUPPORTED, 1, "\\K"},
    {BOTH, "a\\R", DSTOK_E_UNSUPPORTED, 1, "\\R"},
    {BOTH, "a\\X", DSTOK_E_UNSUPPORTED, 1, "\\X"},
    {BOTH, "\\N", DSTOK_E_UNSUPPORTED, 0, "\\N"},
    {BOTH, "\\q", DSTOK_E_UNSUPPORTED, 0, "\\q"},
    {FANCY, "\\<a", DSTOK_E_UNSUPPORTED, 0, "\\<"},
    {FANCY, "\\b{start}", DSTOK_E_UNSUPPORTED, 0, "\\b{"},
    {BOTH, "\\ca", DSTOK_E_UNSUPPORTED, 0, "control"},
    {ONIG, "\\xE4\\xBD", DSTOK_E_UNSUPPORTED, 0, "raw byte"},
    {ONIG, "\\377", DSTOK_E_UNSUPPORTED, 0, "backreference"},
    {BOTH, "\\xzz", DSTOK_E_FORMAT, 0, "hexadecimal"},
    {BOTH, "\\x{110000}", DSTOK_E_FORMAT, 0, "U+110000"},
    {BOTH, "\\uD800", DSTOK_E_FORMAT, 0, "U+D800"},
    {BOTH, "\\x{12", DSTOK_E_FORMAT, 0, "hexadecimal"},
    {BOTH, "a\\p{Klingon}", DSTOK_E_UNSUPPORTED, 1, "\"Klingon\""},
    {BOTH, "\\p{L", DSTOK_E_FORMAT, 0, "no }"},
    {ONIG, "\\pL", DSTOK_E_UNSUPPORTED, 0, "without {}"},
    {BOTH, "\\p{L&}", DSTOK_E_UNSUPPORTED, 0, "L&"},
    {BOTH, "[[:foo:]]", DSTOK_E_UNSUPPORTED, 1, "[:foo:]"},
    {ONIG, "\\p{sc=Han}", DSTOK_E_UNSUPPORTED, 0, "sc=Han"},
    {BOTH, "(?<=a+)b", DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, "look-behind"},
    {BOTH, "ab\xC3(", DSTOK_E_UTF8, 2, "UTF-8"},
    {BOTH, "\xED\xA0\x80", DSTOK_E_UTF8, 0, "UTF-8"},
};

static void check_refusal(size_t i, int dialect) {
    dstok_error err = {0};
    dstok__regex *re = NULL;
    const char *p = refusals[i].pattern;
    dstok__dialect d = (dstok__dialect)dialect;
    dstok_status s = dstok__regex_new(&dstok__default_alloc, p, strlen(p), d, &re, &err);
    bool named = strstr(err.text, refusals[i].names) != NULL;
    if (s != refusals[i].status || err.offset != refusals[i].offset || !named) {
        fprintf(stderr, "%s: %s at %lld: %s\n", p, dstok_status_name(s), (long long)err.offset, err.text);
    }
    CHECK_EQ(s, refusals[i].status);
    CHECK_EQ(err.status, s);
    CHECK_EQ(err.offset, refusals[i].offset);
    CHECK(named);
    CHECK(re == NULL);
}

static void test_refusals(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (refusals[i].dialect != FANCY) check_refusal(i, ONIG);
        if (refusals[i].dialect != ONIG) check_refusal(i, FANCY);
    }
}

/* ---- limits ---- */

/* Rewrites a pattern of head, unit times n, tail. */
static dstok_status repeated(const char *head, const char *unit, size_t n, const char *tail,
                             dstok_error *err) {
    static char pattern[300000];
    size_t len = strlen(head), u = strlen(unit);
    dstok__buf out;
    memcpy(pattern, head, len);
    for (size_t i = 0; i < n; i++, len += u) memcpy(pattern + len, unit, u);
    memcpy(pattern + len, tail, strlen(tail));
    len += strlen(tail);
    dstok__buf_init(&out, &dstok__default_alloc, 1 << 20);
    dstok_status s = dstok__pattern_rewrite(pattern, len, DSTOK__DIALECT_ONIG, &out, err);
    dstok__buf_free(&out);
    return s;
}

static void test_limits(void) {
    static char close[101];
    dstok_error err = {0};
    memset(close, ')', 100);
    CHECK_EQ(repeated("", "a", 65536, "", &err), DSTOK_OK);
    CHECK_EQ(repeated("", "a", 65536, "b", &err), DSTOK_E_LIMIT);
    CHECK(strstr(err.text, "65536 bytes") != NULL);
    CHECK_EQ(repeated("", "(", 100, close, &err), DSTOK_OK);
    CHECK_EQ(repeated("", "(", 101, close, &err), DSTOK_E_LIMIT);
    CHECK_EQ(err.offset, 100);
    CHECK(strstr(err.text, "groups in a pattern are nested") != NULL);
    CHECK_EQ(repeated("a", "(?i)b", 101, "", &err), DSTOK_E_LIMIT); /* each opens a group to the end */
    CHECK_EQ(repeated("", "[", 60000, "a", &err), DSTOK_E_LIMIT);
    CHECK(strstr(err.text, "classes in a pattern are nested") != NULL);
    CHECK_EQ(repeated("", "()", 5000, "", &err), DSTOK_OK);
    CHECK_EQ(repeated("", "()", 5001, "", &err), DSTOK_E_LIMIT);
    CHECK(strstr(err.text, "5000 groups") != NULL);
    CHECK_EQ(repeated("", "\\w", 30000, "", &err), DSTOK_E_LIMIT);
    CHECK(strstr(err.text, "spelled out") != NULL);
}

/* ---- the contract ---- */

static void test_contract(void) {
    dstok__buf out;
    dstok_error err = {.offset = 77};
    dstok__buf_init(&out, &dstok__default_alloc, 1 << 20);
    CHECK_EQ(dstok__buf_append(&out, "x", 1), DSTOK_OK);
    CHECK_EQ(dstok__pattern_rewrite("a.", 2, DSTOK__DIALECT_ONIG, &out, &err), DSTOK_OK);
    CHECK_EQ(out.len, 3);
    CHECK_MEM(out.data, "xa.", 4); /* a NUL follows */
    CHECK_EQ(err.offset, 77);      /* untouched */
    CHECK_EQ(dstok__pattern_rewrite("bc(", 3, DSTOK__DIALECT_ONIG, &out, NULL), DSTOK_E_FORMAT);
    CHECK_EQ(out.len, 3);
    CHECK_EQ(dstok__pattern_rewrite("", 0, DSTOK__DIALECT_FANCY, &out, &err), DSTOK_OK);
    CHECK_EQ(out.len, 3);
    dstok__buf_free(&out);
}

/* Every allocation fails once: E_NOMEM each time, nothing leaks, and in the end it works. */
static void test_memory(void) {
    static const char pattern[] = "(?i:[\\p{Lu}&&[^k]]+)|\\b\\p{Greek}{2}+|[[:alpha:]]";
    dstok_status s = DSTOK_E_NOMEM;
    size_t k = 1;
    for (; s != DSTOK_OK && k < 2000; k++) {
        t_heap heap = {.fail_at = k};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok__regex *re = NULL;
        dstok_error err = {0};
        s = dstok__regex_new(&al, pattern, strlen(pattern), DSTOK__DIALECT_ONIG, &re, &err);
        CHECK(s == DSTOK_OK || (s == DSTOK_E_NOMEM && err.status == DSTOK_E_NOMEM));
        CHECK((s == DSTOK_OK) == (re != NULL));
        dstok__regex_free(re);
        CHECK_EQ(heap.live, 0);
        CHECK_EQ(heap.live_bytes, 0);
    }
    CHECK_EQ(s, DSTOK_OK);
    CHECK(k > 20);
}

int main(void) {
    CHECK_EQ(dstok__regex_scratch_new(&dstok__default_alloc, &scratch), DSTOK_OK);
    make_all_text();
    test_real();
    test_constructs();
    test_nul();
    test_no_multi_folds();
    test_sets();
    test_refusals();
    test_limits();
    test_contract();
    test_memory();
    free(all_text);
    dstok__regex_scratch_free(scratch);
    return t_end();
}
