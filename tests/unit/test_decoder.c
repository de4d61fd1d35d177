/* SPDX-License-Identifier: MIT */
/* Lists of decoder steps: the plan, what is refused and how it is named, tokens by themselves. */
#include "../harness/t.h"

#include "../../tokenizer/bpe/decoder.h"

#include <stdlib.h>

#define META "\xE2\x96\x81" /* U+2581 */

static dstok__dec bytes_step = {.kind = DSTOK__DEC_BYTE_LEVEL};
static dstok__dec fallback = {.kind = DSTOK__DEC_BYTE_FALLBACK};
static dstok__dec fuse = {.kind = DSTOK__DEC_FUSE};

static dstok__dec replace(const char *pattern, const char *content) {
    return (dstok__dec){.kind = DSTOK__DEC_REPLACE,
                        .pattern = pattern,
                        .pattern_n = strlen(pattern),
                        .content = content,
                        .content_n = strlen(content)};
}

static dstok__dec strip(const char *content, uint32_t start, uint32_t stop) {
    return (dstok__dec){.kind = DSTOK__DEC_STRIP,
                        .content = content,
                        .content_n = strlen(content),
                        .start = start,
                        .stop = stop};
}

static dstok__dec metaspace(const char *pattern, bool flag) {
    return (dstok__dec){
        .kind = DSTOK__DEC_METASPACE, .pattern = pattern, .pattern_n = strlen(pattern), .flag = flag};
}

static dstok__dec bpe(const char *suffix) {
    return (dstok__dec){.kind = DSTOK__DEC_BPE, .pattern = suffix, .pattern_n = strlen(suffix)};
}

/* ---- plans ---- */

static void check_plan(const dstok__dec *decs, size_t n, dstok__dec_plan want) {
    dstok__dec_plan plan;
    dstok_error err = {.status = DSTOK_OK};
    memset(&plan, 0xAA, sizeof plan);
    CHECK_EQ(dstok__dec_plan_make(decs, n, &plan, &err), DSTOK_OK);
    CHECK_MEM(&plan, &want, sizeof plan);
}

static void test_plans(void) {
    dstok__dec gemma[] = {replace(META, " "), fallback, fuse};
    dstok__dec llama[] = {replace(META, " "), fallback, fuse, strip(" ", 1, 2)};
    dstok__dec chatglm[] = {fallback, metaspace(META, true)};
    dstok__dec never[] = {fallback, metaspace(META, false)};
    dstok__dec late[] = {fallback, fuse, replace(META, " "), strip("x", 1, 0)};
    dstok__dec words[] = {bpe("</w>")};
    dstok__dec own[] = {strip("\xC3\xA9", 1, 0), replace("ab", "c"), fuse, replace("\xC3\xA9", "long"),
                        strip("\xC3\xA9", 3, 0)};
    dstok__dec mapped[] = {bytes_step, fuse, replace("a", "\xC3\xA9"), strip(" ", 0, 1)};
    check_plan(NULL, 0, (dstok__dec_plan){.strip_char = ' '});
    check_plan(gemma, 3, (dstok__dec_plan){.strip_char = ' '});
    check_plan(llama, 4, (dstok__dec_plan){.strip_char = ' ', .strip_start = 1, .strip_stop = 2});
    check_plan(chatglm, 2, (dstok__dec_plan){.strip_char = ' ', .first_drops = 0x2581, .run_char = 0x2581});
    check_plan(chatglm + 1, 1, (dstok__dec_plan){.strip_char = ' ', .first_drops = 0x2581});
    check_plan(never, 2, (dstok__dec_plan){.strip_char = ' ', .run_char = 0x2581});
    check_plan(never + 1, 1, (dstok__dec_plan){.strip_char = ' '});
    check_plan(late, 4, (dstok__dec_plan){.strip_char = 'x', .strip_start = 1, .run_char = 0x2581});
    check_plan(words, 1, (dstok__dec_plan){.strip_char = ' ', .last_suffix_n = 4});
    check_plan(own, 5, (dstok__dec_plan){.strip_char = 0xE9, .strip_start = 3});
    check_plan(mapped, 4, (dstok__dec_plan){.strip_char = ' ', .strip_stop = 1});
}

/* ---- refusals ---- */

static void check_refused(const dstok__dec *decs, size_t n, const char *words) {
    dstok__dec_plan plan;
    dstok_error err = {.status = DSTOK_OK};
    CHECK_EQ(dstok__dec_plan_make(decs, n, &plan, &err), DSTOK_E_UNSUPPORTED);
    CHECK_EQ(err.status, DSTOK_E_UNSUPPORTED);
    CHECK(strstr(err.text, words) != NULL);
    if (strstr(err.text, words) == NULL) fprintf(stderr, "\"%s\" has no \"%s\"\n", err.text, words);
}

static void test_refused(void) {
    const struct {
        dstok__dec decs[3];
        size_t n;
        const char *words;
    } lists[] = {
        {{{.kind = DSTOK__DEC_CTC}}, 1, "\"CTC\""},
        {{{.kind = DSTOK__DEC_WORDPIECE}}, 1, "\"WordPiece\""},
        {{fuse, bytes_step}, 2, "\"ByteLevel\" behind Fuse"},
        {{bytes_step, bytes_step}, 2, "\"ByteLevel\" behind"},
        {{fallback, bytes_step}, 2, "\"ByteLevel\" together with ByteFallback"},
        {{bytes_step, fallback}, 2, "\"ByteFallback\" behind Fuse"},
        {{fallback, fallback}, 2, "\"ByteFallback\" twice"},
        {{bpe("</w>"), fallback}, 2, "\"ByteFallback\" together with BPEDecoder"},
        {{fallback, bpe("</w>")}, 2, "\"BPEDecoder\" together with ByteFallback"},
        {{fuse, bpe("</w>")}, 2, "\"BPEDecoder\" behind Fuse"},
        {{fuse, metaspace(META, true)}, 2, "\"Metaspace\" behind Fuse"},
        {{metaspace(META, true), bpe("</w>")}, 2, "\"BPEDecoder\" together"},
        {{replace("a", "b"), metaspace(META, true)}, 2, "\"Metaspace\" together"},
        {{metaspace(META, true), replace("a", "b")}, 2, "\"Replace\" together"},
        {{bpe("</w>"), strip(" ", 1, 0)}, 2, "\"Strip\" together"},
        {{replace("", "b")}, 1, "\"Replace\" of an empty text"},
        {{fuse, replace("ab", "b")}, 2, "\"Replace\" of more than one character behind Fuse"},
        {{bytes_step, replace("\xC3\xA9", "b")}, 2, "\"Replace\" behind ByteLevel"},
        {{fallback, replace("ab", " ")}, 2, "\"Replace\" behind ByteFallback"},
        {{fallback, replace("a", "b")}, 2, "\"Replace\" behind ByteFallback"},
        {{fallback, replace("\xEF\xBF\xBD", " ")}, 2, "\"Replace\" of that character"},
        {{fallback, replace("a", " "), metaspace("b", false)}, 3, "\"Metaspace\" as one more"},
        {{fuse, strip(" ", 1, 0), strip(" ", 1, 0)}, 3, "\"Strip\" twice"},
        {{fuse, strip(" ", 1, 0), replace("a", "b")}, 3, "\"Replace\" behind Strip"},
        {{fallback, strip(" ", 1, 0), fuse}, 3, "\"Strip\" between"},
        {{fallback, fuse, strip("\xC3\xA9", 1, 0)}, 3, "\"Strip\" of a character"},
        {{bytes_step, strip("\xC3\xA9", 1, 0)}, 2, "\"Strip\" of a character"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        check_refused(lists[i].decs, lists[i].n, lists[i].words);
}

/* ---- tokens ---- */

static void check_token(const dstok__dec *decs, size_t n, const char *key, const char *want, bool want_byte) {
    dstok__buf out;
    bool is_byte = !want_byte;
    dstok__buf_init(&out, &dstok__default_alloc, 1000);
    CHECK_EQ(dstok__buf_append(&out, "[", 1), DSTOK_OK); /* what is there stays */
    CHECK_EQ(dstok__dec_token(decs, n, key, strlen(key), &out, &is_byte), DSTOK_OK);
    CHECK_EQ(out.len, 1 + strlen(want));
    CHECK(out.len == 1 + strlen(want) && memcmp(out.data, "[", 1) == 0 &&
          memcmp(out.data + 1, want, out.len - 1) == 0);
    CHECK_EQ(is_byte, want_byte);
    dstok__buf_free(&out);
}

static void test_tokens(void) {
    dstok__dec llama[] = {replace(META, " "), fallback, fuse, strip(" ", 1, 0)};
    dstok__dec each[] = {strip("x", 2, 1), replace("aa", "b")};
    dstok__dec words[] = {bpe("</w>")};
    check_token(NULL, 0, "<0x41>", "<0x41>", false);
    check_token(llama, 4, META META "a" META, "  a ", false); /* the whole is stripped, not the token */
    check_token(llama, 4, "<0x41>", "A", true);
    check_token(llama, 4, "<0xe4>", "\xE4", true);
    check_token(llama, 4, "<0x+F>", "\x0F", true);
    check_token(llama, 4, "<0x4+>", "<0x4+>", false);
    check_token(llama, 4, "<0xG1>", "<0xG1>", false);
    check_token(llama, 4, "<0x4>", "<0x4>", false);
    check_token(llama, 4, "<0x20>", " ", true);
    check_token(each, 2, "xxxaaaxx", "xbax", false);
    check_token(each, 2, "xxx", "", false);
    check_token(words, 1, "a</w>b</w>", "a b ", false);
    check_token(&bytes_step, 1,
                "\xC4\xA0"
                "a\xC3\xA9",
                " a\xE9", false);
    check_token(&bytes_step, 1,
                "\xC4\xA0"
                "a b",
                "\xC4\xA0"
                "a b",
                false); /* a blank has another character */
}

static void test_little_room(void) {
    dstok__dec grows[] = {replace("a", "0123456789")};
    dstok__buf out;
    bool is_byte;
    dstok__buf_init(&out, &dstok__default_alloc, 25);
    CHECK_EQ(dstok__dec_token(grows, 1, "aa", 2, &out, &is_byte), DSTOK_OK);
    out.len = 0;
    CHECK_EQ(dstok__dec_token(grows, 1, "aaa", 3, &out, &is_byte), DSTOK_E_LIMIT);
    dstok__buf_free(&out);
}

int main(void) {
    test_plans();
    test_refused();
    test_tokens();
    test_little_room();
    return t_end();
}
