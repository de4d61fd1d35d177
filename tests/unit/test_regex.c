/* SPDX-License-Identifier: MIT */
/* Matching: positions, long runs, work and memory limits, failing allocations. */
#include "../../tokenizer/pretok/regex.h"
#include "../harness/heap.h"
#include "../harness/t.h"

#include <stdlib.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define LONG 1000000u

#define CL100K                                                                                               \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"  \
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static dstok__regex_scratch *scratch;

static dstok__regex *compile(const char *pattern) {
    dstok__regex *re = NULL;
    dstok_error err = {0};
    dstok_status s =
        dstok__regex_new(&dstok__default_alloc, pattern, strlen(pattern), DSTOK__DIALECT_ONIG, &re, &err);
    if (s != DSTOK_OK) fprintf(stderr, "%s: %s\n", pattern, err.text);
    CHECK_EQ(s, DSTOK_OK);
    return re;
}

/* The first match of re at or after pos is [begin, end). */
static void expect(const dstok__regex *re, const char *text, size_t len, size_t pos, size_t begin,
                   size_t end) {
    size_t b = 7, e = 7;
    dstok_error err = {.offset = 77};
    CHECK_EQ(dstok__regex_find(re, scratch, (const uint8_t *)text, len, pos, &b, &e, &err), DSTOK_OK);
    CHECK_EQ(b, begin);
    if (begin != SIZE_MAX) CHECK_EQ(e, end);
    CHECK_EQ(err.offset, 77); /* untouched */
}

static void test_positions(void) {
    dstok__regex *re = compile("(?<=a)b|c$|\\bd|^e");
    expect(re, "ab", 2, 0, 1, 2);
    expect(re, "ab", 2, 1, 1, 2); /* look-behind sees what is before pos */
    expect(re, "xbc", 3, 0, 2, 3);
    expect(re, "xbc", 2, 0, SIZE_MAX, 0); /* nothing beyond len is read */
    expect(re, "cx", 1, 0, 0, 1);
    expect(re, "xd d", 4, 1, 3, 4);
    expect(re, "xe\ne", 4, 1, 3, 4);
    expect(re, "ab", 2, 2, SIZE_MAX, 0);
    dstok__regex_free(re);
    re = compile("x*");
    expect(re, "", 0, 0, 0, 0);
    expect(re, NULL, 0, 0, 0, 0);
    expect(re, "axx", 3, 0, 0, 0);
    expect(re, "axx", 3, 1, 1, 3);
    expect(re, "axx", 3, 3, 3, 3);
    size_t b, e;
    dstok_error err = {0};
    CHECK_EQ(dstok__regex_find(re, scratch, (const uint8_t *)"a", 1, 2, &b, &e, &err), DSTOK_E_RANGE);
    CHECK_EQ(err.offset, 2);
    dstok__regex_free(re);
    dstok__regex_free(NULL);
    dstok__regex_scratch_free(NULL);
}

static void test_jit(void) {
    uint32_t jit = 0;
    bool here = pcre2_config(PCRE2_CONFIG_JIT, &jit) >= 0 && jit == 1;
    static const struct {
        const char *pattern;
        bool jit;
    } cases[] = {{CL100K, true},
                 {"(?:ab|c)", true},
                 {"x(?:ab|c)|d", true},
                 {"(?:ab|c)+", true},
                 {"\\d{1,3}(?=(?:\\d{3})*\\b)", true},
                 {"(?:a{2}b)+", true},
                 {"(?:ab|c)d", false}, /* the constructs that some JIT compiler gets wrong */
                 {"(?:ab|c)+d", false},
                 {"(?:a(?:b|c))d|e", false},
                 {"(?>a)", false},
                 {"(?:a)++", false},
                 {"(?:a{1,2}b)*", false},
                 {"(?:(?:a{1,2}b)c)*", false},
                 {"a{1,2}+", false},
                 {"[a&&b]", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dstok__regex *re = compile(cases[i].pattern);
        CHECK_EQ(dstok__regex_is_jit(re), here && cases[i].jit);
        dstok__regex_free(re);
    }
}

/* ---- long runs ---- */

static char *fill(const char *unit, size_t times, const char *tail, size_t *len) {
    size_t u = strlen(unit), t = strlen(tail);
    char *text = malloc(u * times + t + 1);
    if (text == NULL) exit(1);
    for (size_t i = 0; i < times; i++) memcpy(text + i * u, unit, u);
    memcpy(text + u * times, tail, t + 1);
    *len = u * times + t;
    return text;
}

/* The pattern matches the whole of unit * LONG + tail at once, or (matched = false) nothing in it. */
static void check_run(const char *pattern, const char *unit, const char *tail, bool matched) {
    size_t len;
    char *text = fill(unit, LONG, tail, &len);
    dstok__regex *re = compile(pattern);
    expect(re, text, len, 0, matched ? 0 : SIZE_MAX, len);
    expect(re, text, len, len, SIZE_MAX, 0);
    dstok__regex_free(re);
    free(text);
}

static void test_runs(void) {
    static const char *const letters[] = {"a", "\xE7\x9A\x84", "\xD0\xB6", "\xF0\x90\xB5\x8A"};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        check_run("\\p{L}+", letters[i], "", true);
        check_run(CL100K, letters[i], "", true);
        check_run("\\w+", letters[i], "", true);
    }
    check_run("[^\\s\\p{L}\\p{N}]+[\\r\\n]*", "=", "\n\n", true);
    check_run(CL100K, "=", "\r\n", true);
    check_run(CL100K, " ", "", true);
    check_run(CL100K, "\n", "", true);
    check_run("\\s+(?!\\S)|\\s+", " ", "", true);
    check_run("\\s*[\\r\\n]+", " ", "\n", true);
    check_run("\\s+$", "\xE3\x80\x80", "", true);
    check_run("(?:\\p{L}|\\p{M})+", "a", "", true);
}

/* The JIT does not start again inside a run that failed; the interpreter does, and takes quadratic time. */
static void test_failing_run(void) {
    dstok__regex *re = compile("a");
    if (dstok__regex_is_jit(re)) check_run("\\s*[\\r\\n]+", " ", "", false);
    dstok__regex_free(re);
}

/* Many calls on one long text: each begins where the last ended. */
static void test_many(void) {
    size_t len, begin = 0, end = 0, n = 0;
    char *text = fill("ab 12 ", 100000, "", &len);
    dstok__regex *re = compile(CL100K);
    dstok_error err = {0};
    while (end < len) {
        dstok_status s = dstok__regex_find(re, scratch, (uint8_t *)text, len, end, &begin, &end, &err);
        if (s != DSTOK_OK || begin == SIZE_MAX) break;
        n++;
    }
    CHECK_EQ(end, len);
    CHECK_EQ(n, 300001); /* "ab", " ", "12", " ab", " ", "12", ... and " " at the end */
    dstok__regex_free(re);
    free(text);
}

/* ---- limits ---- */

static void expect_limit(const char *pattern, const char *text, size_t len, size_t pos, const char *which) {
    dstok__regex *re = compile(pattern);
    dstok_error err = {0};
    size_t begin = 7, end = 7;
    CHECK_EQ(dstok__regex_find(re, scratch, (const uint8_t *)text, len, pos, &begin, &end, &err),
             DSTOK_E_LIMIT);
    CHECK_EQ(err.status, DSTOK_E_LIMIT);
    CHECK_EQ(err.offset, pos);
    CHECK(strstr(err.text, which) != NULL);
    CHECK_EQ(dstok__regex_find(re, scratch, (const uint8_t *)text, len, pos, &begin, &end, NULL),
             DSTOK_E_LIMIT);
    expect(re, "aab", 3, 0, 0, 3); /* the scratch is fit for use */
    dstok__regex_free(re);
}

static void test_limits(void) {
    static const char text[] = "xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaacb";
    expect_limit("(?:a+)+b", text, sizeof text - 1, 0, "work limit");
    expect_limit("(?:a+)+b", text, sizeof text - 1, 1, "work limit");
    size_t len;
    char *deep = fill("a", 4000000, "", &len); /* beyond the JIT stack, then beyond the interpreter's heap */
    expect_limit("(?:a|b)+", deep, len, 0, "memory limit");
    free(deep);
}

/* Patterns near PCRE2's own limit are compiled or refused with words, never worse. */
static void test_large(void) {
    static char pattern[40000];
    size_t len = 0;
    for (unsigned i = 0; i < 100; i++) {
        len += (size_t)snprintf(pattern + len, sizeof pattern - len, "[\\p{L}&&[^\\x{%X}]]x", 0x4E00 + 2 * i);
    }
    dstok__regex *re = NULL;
    dstok_error err = {0};
    dstok_status s = dstok__regex_new(&dstok__default_alloc, pattern, len, DSTOK__DIALECT_ONIG, &re, &err);
    CHECK(s == DSTOK_OK || (s == DSTOK_E_LIMIT && strstr(err.text, "too large for PCRE2") != NULL));
    dstok__regex_free(re);
}

/* ---- memory ---- */

static void test_scratch_memory(void) {
    dstok_status s = DSTOK_E_NOMEM;
    for (size_t k = 1; s != DSTOK_OK && k < 100; k++) {
        t_heap heap = {.fail_at = k};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok__regex_scratch *mine = NULL;
        s = dstok__regex_scratch_new(&al, &mine);
        CHECK(s == DSTOK_OK || (s == DSTOK_E_NOMEM && mine == NULL));
        dstok__regex_scratch_free(mine);
        CHECK_EQ(heap.live, 0);
    }
    CHECK_EQ(s, DSTOK_OK);
}

/* Objects keep a copy of the allocator, and what they own goes back to it. */
static void test_ownership(void) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok__regex *re = NULL;
    dstok__regex_scratch *mine = NULL;
    CHECK_EQ(dstok__regex_new(&al, "(?:a|b)*\\p{L}", 13, DSTOK__DIALECT_FANCY, &re, NULL), DSTOK_OK);
    CHECK_EQ(dstok__regex_scratch_new(&al, &mine), DSTOK_OK);
    memset(&al, 0, sizeof al);
    size_t begin, end;
    CHECK_EQ(dstok__regex_find(re, mine, (const uint8_t *)"abc", 3, 0, &begin, &end, NULL), DSTOK_OK);
    CHECK_EQ(end, 3);
    CHECK(heap.live > 0);
    dstok__regex_free(re);
    dstok__regex_scratch_free(mine);
    CHECK_EQ(heap.live, 0);
}

int main(void) {
    CHECK_EQ(dstok__regex_scratch_new(&dstok__default_alloc, &scratch), DSTOK_OK);
    test_positions();
    test_jit();
    test_runs();
    test_failing_run();
    test_many();
    test_limits();
    test_large();
    test_scratch_memory();
    test_ownership();
    dstok__regex_scratch_free(scratch);
    return t_end();
}
