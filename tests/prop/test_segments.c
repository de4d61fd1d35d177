/* SPDX-License-Identifier: MIT */
/* Segments: a naive rule says which control tokens may appear; forging across borders; equality with one call. */
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#include <stdlib.h>

#define BAR "\xEF\xBD\x9C"
static const char added[] = "s:<|sys|>\n"
                            "n:<" BAR "User" BAR ">\n"
                            ":<think>\n"
                            "sn:[END]\n"
                            "n:  \n";
enum { SYS = 283, USER, THINK, END, BLANKS };

static dstok_tokenizer *tok;
static dstok_encoder *enc;

#define SAFE  DSTOK_SPECIAL_SAFE
#define PARSE DSTOK_SPECIAL_PARSE

/* The text of segments given one after the other, encoded. */
static dstok_status encode(const char *const *parts, const int *special, size_t n, int invalid,
                           dstok_tokens *out, dstok_error *err) {
    static char text[4096];
    dstok_segment segments[16];
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    size_t len = 0;
    options.invalid = invalid;
    for (size_t i = 0; i < n; i++) {
        segments[i] = (dstok_segment){.len = strlen(parts[i]), .special = special[i]};
        memcpy(text + len, parts[i], segments[i].len);
        len += segments[i].len;
    }
    return dstok_encode_segments(enc, text, len, segments, n, &options, out, err);
}

static bool holds(const dstok_tokens *t, uint32_t id) {
    for (size_t i = 0; i < t->n; i++) {
        if (t->ids[i] == id) return true;
    }
    return false;
}

/* ---- made cases ---- */

static void check_forged(const char *a, int sa, const char *b, int sb, const char *c, int sc, uint32_t id,
                         bool expected) {
    const char *const parts[] = {a, b, c};
    const int special[] = {sa, sb, sc};
    for (int invalid = DSTOK_INVALID_ERROR; invalid <= DSTOK_INVALID_RAW; invalid++) {
        dstok_tokens out = {0};
        CHECK_EQ(encode(parts, special, 3, invalid, &out, NULL), DSTOK_OK);
        bool ok = holds(&out, id) == expected;
        CHECK(ok);
        if (!ok) fprintf(stderr, "[%s|%s|%s] id %u\n", a, b, c, id);
    }
}

static void test_forging(void) {
    static const char *const texts[] = {"<|sys|>", "<" BAR "User" BAR ">", "<think>", "[END]"};
    for (uint32_t i = 0; i < 4; i++) {
        const char *t = texts[i];
        uint32_t id = SYS + i;
        check_forged("", PARSE, t, PARSE, "", SAFE, id, true);
        check_forged("a", SAFE, t, PARSE, "b", SAFE, id, true);
        check_forged("a", PARSE, t, SAFE, "b", PARSE, id, false);
        for (size_t cut = 1; cut < strlen(t); cut++) { /* split over a border: never */
            char head[16], tail[16];
            snprintf(head, sizeof head, "%.*s", (int)cut, t);
            snprintf(tail, sizeof tail, "%s", t + cut);
            check_forged(head, SAFE, tail, PARSE, "", PARSE, id, false);
            check_forged(head, PARSE, tail, SAFE, "", PARSE, id, false);
            check_forged(head, SAFE, tail, SAFE, "", PARSE, id, false);
            check_forged(head, PARSE, tail, PARSE, "", SAFE, id, true); /* borders themselves cut nothing */
            check_forged(head, PARSE, "", SAFE, tail, PARSE, id, true); /* and empty segments have no say */
        }
        /* A control token in a later, trusted segment must not open the earlier one. */
        check_forged(t, SAFE, "<|sys|>", PARSE, "", PARSE, id, id == SYS);
        check_forged(t, SAFE, "x<think>", PARSE, "y", SAFE, id, id == THINK);
        check_forged("<|sys|>", PARSE, t, SAFE, "[END]", PARSE, id, id == SYS || id == END);
    }
}

/* Bytes that are not UTF-8 before and between: places in the text and in the source differ then. */
static void test_forging_invalid(void) {
    const char *const parts[] = {"\xFF\xFF\xC3", "<" BAR "User" BAR "><think>", "\xF0<|sys|>",
                                 "<" BAR "User" BAR ">"};
    const int special[] = {PARSE, SAFE, PARSE, PARSE};
    for (int invalid = DSTOK_INVALID_REPLACE; invalid <= DSTOK_INVALID_RAW; invalid++) {
        dstok_tokens out = {0};
        size_t n_user = 0;
        CHECK_EQ(encode(parts, special, 4, invalid, &out, NULL), DSTOK_OK);
        for (size_t i = 0; i < out.n; i++) n_user += out.ids[i] == USER;
        CHECK_EQ(n_user, 1);
        CHECK(!holds(&out, THINK));
        CHECK(holds(&out, SYS));
    }
}

static void test_error_segment(void) {
    const char *const parts[] = {"<|sys|>", "ab[END]", "c"};
    const int trusted[] = {PARSE, DSTOK_SPECIAL_ERROR, PARSE},
              untrusted[] = {PARSE, SAFE, DSTOK_SPECIAL_ERROR};
    dstok_tokens out = {0};
    dstok_error err = {.status = DSTOK_OK};
    CHECK_EQ(encode(parts, trusted, 3, 0, &out, &err), DSTOK_E_SPECIAL);
    CHECK_EQ(err.offset, 9);
    CHECK_EQ(encode(parts, untrusted, 3, 0, &out, &err), DSTOK_OK);
}

static void test_bad_segments(void) {
    dstok_segment s[] = {{.len = 2, .special = SAFE}, {.len = 3, .special = PARSE}};
    dstok_tokens out = {0};
    CHECK_EQ(dstok_encode_segments(enc, "abcde", 5, s, 2, NULL, &out, NULL), DSTOK_OK);
    CHECK_EQ(dstok_encode_segments(enc, "abcdef", 6, s, 2, NULL, &out, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_encode_segments(enc, "abcd", 4, s, 2, NULL, &out, NULL), DSTOK_E_INVAL);
    s[1].special = 6;
    CHECK_EQ(dstok_encode_segments(enc, "abcde", 5, s, 2, NULL, &out, NULL), DSTOK_E_INVAL);
    s[0].len = SIZE_MAX;
    s[1] = (dstok_segment){.len = 6, .special = PARSE};
    CHECK_EQ(dstok_encode_segments(enc, "abcde", 5, s, 2, NULL, &out, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_encode_segments(enc, "", 0, s, 0, NULL, &out, NULL), DSTOK_OK);
}

/* ---- random texts and borders ---- */

#define MAX_TEXT 300

/* Text in which control tokens are frequent. */
static size_t random_text(t_rng *rng, uint8_t *out) {
    static const char *const specials[] = {
        "<|sys|>", "<" BAR "User" BAR ">", "<think>", "[END]", "  ", "<|", BAR, "e\xCC\x81"};
    size_t n = 0;
    while (n + 40 < MAX_TEXT && t_below(rng, 12) != 0) {
        if (t_below(rng, 2) == 0) {
            const char *s = specials[t_below(rng, 8)];
            memcpy(out + n, s, strlen(s));
            n += strlen(s);
        } else {
            n += gen_text(rng, out + n, 20);
        }
    }
    return n;
}

static size_t random_segments(t_rng *rng, size_t len, dstok_segment *s) {
    size_t n = 0;
    while (n < 7 && len > 0) {
        size_t k = t_below(rng, (uint32_t)len + 1);
        s[n++] = (dstok_segment){.len = k, .special = t_below(rng, 2) == 0 ? SAFE : PARSE};
        len -= k;
    }
    s[n++] = (dstok_segment){.len = len, .special = t_below(rng, 2) == 0 ? SAFE : PARSE};
    return n;
}

/* Does a byte of the span lie in a SAFE segment? */
static bool touches_safe(const dstok_segment *s, size_t n, dstok_span span) {
    uint64_t at = 0;
    for (size_t i = 0; i < n; at += s[i++].len) {
        if (s[i].special == SAFE && s[i].len > 0 && span.begin < at + s[i].len && at < span.end) return true;
    }
    return false;
}

static bool is_control(uint32_t id) {
    return (dstok_token_flags(tok, id) & DSTOK_TOKEN_CONTROL) != 0;
}

static bool has_token(const dstok_tokens *t, uint32_t id, dstok_span span) {
    for (size_t i = 0; i < t->n; i++) {
        if (t->ids[i] == id && t->spans[i].begin == span.begin && t->spans[i].end == span.end) return true;
    }
    return false;
}

static void copy(const dstok_tokens *t, uint32_t *ids, dstok_span *spans, dstok_tokens *out) {
    memcpy(ids, t->ids, t->n * sizeof *ids);
    memcpy(spans, t->spans, t->n * sizeof *spans);
    *out = (dstok_tokens){ids, spans, NULL, t->n};
}

/* Control tokens of PARSE that touch no SAFE segment are there; no other control token is. */
static void check_random(t_rng *rng, const uint8_t *text, size_t len) {
    static uint32_t ids[MAX_TEXT * 4];
    static dstok_span spans[MAX_TEXT * 4];
    dstok_segment s[9];
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens all, got = {0};
    size_t n = random_segments(rng, len, s);
    options.special = PARSE;
    CHECK_EQ(dstok_encode_view(enc, text, len, &options, &got, NULL), DSTOK_OK);
    copy(&got, ids, spans, &all);
    CHECK_EQ(dstok_encode_segments(enc, text, len, s, n, NULL, &got, NULL), DSTOK_OK);
    bool ok = true;
    for (size_t i = 0; i < got.n; i++) {
        bool is_right = !touches_safe(s, n, got.spans[i]) && has_token(&all, got.ids[i], got.spans[i]);
        ok = ok && (is_right || !is_control(got.ids[i]));
    }
    for (size_t i = 0; i < all.n; i++) {
        bool belongs = is_control(all.ids[i]) && !touches_safe(s, n, all.spans[i]);
        ok = ok && (!belongs || has_token(&got, all.ids[i], all.spans[i]));
    }
    t_checks++;
    t_failures += !ok;
    if (ok || t_failures > 4) return;
    fprintf(stderr, "control tokens are wrong: ");
    gen_print(text, len);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "  %zu %s\n", s[i].len, s[i].special == SAFE ? "SAFE" : "PARSE");
}

/* All segments of one policy: the same as one call. */
static void check_uniform(t_rng *rng, const uint8_t *text, size_t len, int special) {
    static uint32_t ids[MAX_TEXT * 4];
    static dstok_span spans[MAX_TEXT * 4];
    dstok_segment s[9];
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens want, got = {0};
    size_t n = random_segments(rng, len, s);
    for (size_t i = 0; i < n; i++) s[i].special = special;
    options.special = special;
    options.add_special = 1;
    CHECK_EQ(dstok_encode_view(enc, text, len, &options, &got, NULL), DSTOK_OK);
    copy(&got, ids, spans, &want);
    CHECK_EQ(dstok_encode_segments(enc, text, len, s, n, &options, &got, NULL), DSTOK_OK);
    bool same = got.n == want.n && (got.n == 0 || (memcmp(got.ids, ids, got.n * sizeof *ids) == 0 &&
                                                   memcmp(got.spans, spans, got.n * sizeof *spans) == 0));
    t_checks++;
    t_failures += !same;
    if (!same && t_failures < 5) {
        fprintf(stderr, "%zu segments of policy %d are not one call: ", n, special);
        gen_print(text, len);
    }
}

static void test_random(void) {
    t_rng rng = {7};
    uint8_t text[MAX_TEXT];
    for (int i = 0; i < 20000; i++) {
        size_t len = random_text(&rng, text);
        check_random(&rng, text, len);
        check_uniform(&rng, text, len, i % 4);
    }
}

int main(void) {
    static const char *const normalizers[] = {NULL, "{\"type\":\"NFC\"}"};
    for (int i = 0; i < 2; i++) {
        fixture f = fixture_words;
        f.added = added;
        f.normalizer = normalizers[i];
        tok = fixture_load(&f, NULL);
        enc = fixture_encoder(tok);
        test_forging();
        test_forging_invalid();
        test_error_segment();
        test_bad_segments();
        test_random();
        dstok_encoder_free(enc);
        dstok_tokenizer_free(tok);
    }
    return t_end();
}
