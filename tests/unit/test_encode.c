/* SPDX-License-Identifier: MIT */
/* The encoding calls: buffers, counts, reports, templates, strictness, options, ill-formed input, long inputs. */
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#include <stdlib.h>
#include <time.h>

static dstok_tokenizer *tok;
static dstok_encoder *enc;

static void open_fixture(const fixture *f) {
    tok = fixture_load(f, NULL);
    enc = fixture_encoder(tok);
}

static void close_both(void) {
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

/* ---- the calls agree ---- */

static void check_calls(const uint8_t *text, size_t len, const dstok_encode_options *options) {
    dstok_tokens view = {0};
    size_t n = 999, counted = 999;
    CHECK_EQ(dstok_encode_view(enc, text, len, options, &view, NULL), DSTOK_OK);
    size_t total = view.n, bound = dstok_encode_bound(tok, len, options);
    CHECK(total <= bound);
    uint32_t *ids = calloc(total + 1, sizeof *ids), *want = calloc(total + 1, sizeof *want);
    dstok_span *spans = calloc(total + 1, sizeof *spans);
    uint8_t *flags = calloc(total + 1, 1);
    if (total > 0) memcpy(want, view.ids, total * sizeof *want);
    CHECK_EQ(dstok_encode(enc, text, len, options, ids, spans, flags, total, &n, NULL), DSTOK_OK);
    CHECK_EQ(n, total);
    CHECK_MEM(ids, want, total * sizeof *ids);
    CHECK(total == 0 || memcmp(spans, view.spans, total * sizeof *spans) == 0);
    CHECK(total == 0 || memcmp(flags, view.flags, total) == 0);
    CHECK_EQ(dstok_encode(enc, text, len, options, ids, NULL, NULL, total, &n, NULL), DSTOK_OK);
    CHECK_EQ(dstok_count(enc, text, len, options, &counted, NULL), DSTOK_OK);
    CHECK_EQ(counted, total);
    if (total > 0) {
        dstok_error err = {.status = DSTOK_OK};
        ids[total - 1] = 0xAAAAAAAA;
        CHECK_EQ(dstok_encode(enc, text, len, options, ids, NULL, NULL, total - 1, &n, &err), DSTOK_E_SPACE);
        CHECK_EQ(n, total);
        CHECK_EQ(err.status, DSTOK_E_SPACE);
        CHECK_EQ(ids[total - 1], 0xAAAAAAAA);
        CHECK_EQ(dstok_encode(enc, text, len, options, NULL, NULL, NULL, 0, &n, NULL), DSTOK_E_SPACE);
    }
    free(ids);
    free(want);
    free(spans);
    free(flags);
}

static void test_calls(void) {
    t_rng rng = {37};
    uint8_t buf[300];
    for (int i = 0; i < 3000; i++) {
        dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
        options.invalid = i % 2 == 0 ? DSTOK_INVALID_REPLACE : DSTOK_INVALID_RAW;
        options.add_special = i % 3 == 0;
        options.special = i % 4;
        size_t n = gen_bytes(&rng, buf, sizeof buf);
        check_calls(buf, n, &options);
    }
    check_calls((const uint8_t *)"", 0, NULL);
}

/* ---- reports ---- */

static void test_template(void) {
    fixture f = fixture_words;
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    f.added = "s:<s>\ns:</s>\n";
    f.post_processor =
        "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
        "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"</s>\",\"type_id\":0}}],"
        "\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],"
        "\"special_tokens\":{\"<s>\":{\"id\":\"<s>\",\"ids\":[283],\"tokens\":[\"<s>\"]},"
        "\"</s>\":{\"id\":\"</s>\",\"ids\":[284],\"tokens\":[\"</s>\"]}}}";
    open_fixture(&f);
    CHECK_EQ(dstok_encode_view(enc, "hello", 5, &options, &t, NULL), DSTOK_OK);
    CHECK_EQ(t.n, 1);
    options.add_special = 1;
    CHECK_EQ(dstok_encode_view(enc, "hello", 5, &options, &t, NULL), DSTOK_OK);
    CHECK(t.n == 3 && t.ids[0] == 283 && t.ids[1] == 259 && t.ids[2] == 284);
    CHECK(t.n == 3 && t.spans[0].begin == 0 && t.spans[0].end == 0 && t.spans[2].begin == 5 &&
          t.spans[2].end == 5);
    CHECK(t.n == 3 && t.flags[0] == DSTOK_FLAG_TEMPLATE && t.flags[1] == 0 &&
          t.flags[2] == DSTOK_FLAG_TEMPLATE);
    CHECK_EQ(dstok_encode_view(enc, "", 0, &options, &t, NULL), DSTOK_OK);
    CHECK_EQ(t.n, 2);
    CHECK_EQ(dstok_encode_report(enc)->n_dropped, 0);
    test_calls();
    close_both();
}

static void test_unknown(void) {
    fixture f = fixture_words;
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    dstok_error err = {.status = DSTOK_OK};
    f.without = "!?";
    open_fixture(&f);
    CHECK_EQ(dstok_encode_view(enc, "ab!?c!", 6, &options, &t, NULL), DSTOK_OK);
    CHECK(t.n == 2 && t.ids[0] == 271 && t.ids[1] == 'c');
    CHECK(t.n == 2 && t.spans[1].begin == 4 && t.spans[1].end == 5);
    const dstok_report *r = dstok_encode_report(enc);
    CHECK_EQ(r->n_unknown, 3);
    CHECK_EQ(r->first_unknown, 2);
    CHECK_EQ(r->n_dropped, 3);
    options.strict = 1;
    CHECK_EQ(dstok_encode_view(enc, "ab!?c!", 6, &options, &t, &err), DSTOK_E_UNKNOWN);
    CHECK_EQ(err.offset, 2);
    CHECK_EQ(dstok_encode_view(enc, "ab", 2, &options, &t, &err), DSTOK_OK); /* usable again, report reset */
    CHECK_EQ(dstok_encode_report(enc)->n_unknown, 0);
    CHECK_EQ(dstok_encode_report(enc)->first_unknown, DSTOK_NO_OFFSET);
    close_both();
    f.model = "\"unk_token\":\"#\",\"fuse_unk\":true,";
    open_fixture(&f);
    options.strict = 0;
    CHECK_EQ(dstok_encode_view(enc, "a!?c", 4, &options, &t, NULL), DSTOK_OK); /* "!?" is one pretoken */
    CHECK(t.n == 3 && t.ids[1] == '#' && t.flags[1] == DSTOK_FLAG_UNKNOWN && t.spans[1].begin == 1 &&
          t.spans[1].end == 3);
    CHECK_EQ(dstok_encode_report(enc)->n_unknown, 2);
    CHECK_EQ(dstok_encode_report(enc)->n_dropped, 0);
    close_both();
}

static void test_dropped(void) {
    fixture f = fixture_words;
    dstok_tokens t = {0};
    f.pre_tokenizer =
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\" +\"},"
        "\"behavior\":\"Removed\",\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
        "\"use_regex\":false}]}";
    open_fixture(&f);
    CHECK_EQ(dstok_encode_view(enc, "  hello   world ", 16, NULL, &t, NULL), DSTOK_OK);
    CHECK(t.n == 2 && t.ids[0] == 259 && t.ids[1] == 265);
    CHECK(t.n == 2 && t.spans[0].begin == 2 && t.spans[1].begin == 10 && t.spans[1].end == 15);
    CHECK_EQ(dstok_encode_report(enc)->n_dropped, 6);
    close_both();
}

/* ---- ill-formed input ---- */

static void check_ids(const dstok_tokens *t, const uint32_t *want, size_t n) {
    CHECK_EQ(t->n, n);
    CHECK(t->n == n && memcmp(t->ids, want, n * sizeof *want) == 0);
}

static void test_invalid(void) {
    static const char text[] = "ab\xE4\xBD"
                               "c\xFF\xFE hello";
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    dstok_error err = {.status = DSTOK_OK};
    open_fixture(&fixture_words);
    CHECK_EQ(dstok_encode_view(enc, text, sizeof text - 1, &options, &t, &err), DSTOK_E_UTF8);
    CHECK_EQ(err.offset, 2);
    options.invalid = DSTOK_INVALID_REPLACE;
    CHECK_EQ(dstok_encode_view(enc, text, sizeof text - 1, &options, &t, NULL), DSTOK_OK);
    check_ids(&t, (const uint32_t[]){271, 0xEF, 0xBF, 0xBD, 'c', 0xEF, 0xBF, 0xBD, 0xEF, 0xBF, 0xBD, 260},
              12);
    CHECK(t.n == 12 && t.spans[1].begin == 2 && t.spans[1].end == 4 && t.spans[5].begin == 5 &&
          t.spans[5].end == 6);
    CHECK(t.n == 12 && t.spans[11].begin == 7 && t.spans[11].end == 13 && t.flags[1] == DSTOK_FLAG_PARTIAL);
    CHECK_EQ(dstok_encode_report(enc)->n_invalid, 3);
    CHECK_EQ(dstok_encode_report(enc)->first_invalid, 2);
    CHECK_EQ(dstok_encode_report(enc)->n_dropped, 0);
    options.invalid = DSTOK_INVALID_RAW;
    CHECK_EQ(dstok_encode_view(enc, text, sizeof text - 1, &options, &t, NULL), DSTOK_OK);
    check_ids(&t, (const uint32_t[]){271, 277, 'c', 0xFF, 0xFE, 260}, 6);
    CHECK(t.n == 6 && t.spans[1].begin == 2 && t.spans[1].end == 4);
    CHECK_EQ(dstok_encode_report(enc)->n_invalid, 3);
    /* Surrogates, overlong forms, values above U+10FFFF, lone continuations: none is UTF-8. */
    static const char *const bad[] = {"\xED\xAF\x80", "\xC0\x80", "\xF4\x90\x80\x80", "\x80", "\xE2\x82"};
    for (size_t i = 0; i < 5; i++) {
        options.invalid = DSTOK_INVALID_ERROR;
        CHECK_EQ(dstok_encode_view(enc, bad[i], strlen(bad[i]), &options, &t, &err), DSTOK_E_UTF8);
        CHECK_EQ(err.offset, 0);
        options.invalid = DSTOK_INVALID_RAW;
        CHECK_EQ(dstok_encode_view(enc, bad[i], strlen(bad[i]), &options, &t, &err), DSTOK_OK);
        CHECK_EQ(t.n, strlen(bad[i]));
    }
    close_both();
}

/* ---- options ---- */

static void test_options(void) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {.n = 77};
    dstok_error err = {.status = DSTOK_OK};
    open_fixture(&fixture_words);
    options.special = 6;
    CHECK_EQ(dstok_encode_view(enc, "a", 1, &options, &t, &err), DSTOK_E_INVAL);
    CHECK_EQ(t.n, 77); /* untouched */
    options.special = -1;
    CHECK_EQ(dstok_encode_view(enc, "a", 1, &options, &t, NULL), DSTOK_E_INVAL);
    options = (dstok_encode_options)DSTOK_ENCODE_OPTIONS_INIT;
    options.invalid = 3;
    CHECK_EQ(dstok_encode_view(enc, "a", 1, &options, &t, NULL), DSTOK_E_INVAL);
    options = (dstok_encode_options)DSTOK_ENCODE_OPTIONS_INIT;
    CHECK_EQ(dstok_encode_view(enc, "a", DSTOK_MAX_INPUT + 1, &options, &t, NULL), DSTOK_E_LIMIT);
    CHECK_EQ(dstok_encode_view(enc, NULL, 0, NULL, &t, NULL), DSTOK_OK);
    CHECK_EQ(t.n, 0);
    CHECK_EQ(dstok_encode_view(enc, "a\0b", 3, NULL, &t, NULL), DSTOK_OK);
    check_ids(&t, (const uint32_t[]){'a', 0, 'b'}, 3);
    close_both();
}

/* ---- the first tokens, and encoders made with options ---- */

/* The first so many tokens of the result, whatever way leads to it. */
static void check_first(const char *text, const dstok_encode_options *given, size_t max) {
    dstok_encode_options options = *given;
    dstok_tokens all, some;
    size_t n;
    CHECK_EQ(dstok_encode_view(enc, text, strlen(text), &options, &all, NULL), DSTOK_OK);
    uint32_t *ids = malloc((all.n + 1) * sizeof *ids);
    uint64_t *ends = malloc((all.n + 1) * sizeof *ends);
    for (size_t i = 0; i < all.n; i++) {
        ids[i] = all.ids[i];
        ends[i] = all.spans[i].end;
    }
    size_t want = all.n < max ? all.n : max;
    options.max_tokens = max;
    CHECK_EQ(dstok_encode_view(enc, text, strlen(text), &options, &some, NULL), DSTOK_OK);
    CHECK_EQ(some.n, want);
    for (size_t i = 0; i < want && i < some.n; i++)
        CHECK(some.ids[i] == ids[i] && some.spans[i].end == ends[i]);
    CHECK_EQ(dstok_count(enc, text, strlen(text), &options, &n, NULL), DSTOK_OK);
    CHECK_EQ(n, want);
    options.ids_only = 1;
    CHECK_EQ(dstok_encode_view(enc, text, strlen(text), &options, &some, NULL), DSTOK_OK);
    CHECK(some.n == want && some.spans == NULL && some.flags == NULL &&
          memcmp(some.ids, ids, want * sizeof *ids) == 0);
    free(ids);
    free(ends);
}

static void test_first(void) {
    static const char *const texts[] = {"hello world", "<s>hello  \xE4\xB8\x80<s>", "a\xFFxy hello \xC3",
                                        "x"};
    fixture f = fixture_words;
    f.added = "s:<s>\n";
    open_fixture(&f);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t max = 1; max < 12; max++) {
            dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
            options.invalid = DSTOK_INVALID_RAW;
            options.special = DSTOK_SPECIAL_PARSE;
            check_first(texts[i], &options, max);
            options.invalid = DSTOK_INVALID_REPLACE;
            check_first(texts[i], &options, max);
            options.span_style = DSTOK_SPANS_HF;
            check_first(texts[i], &options, max);
        }
    }
    close_both();
}

static void test_encoder_options(void) {
    static const size_t sizes[] = {0, 1, 100000, DSTOK_CACHE_DEFAULT};
    dstok_error err;
    open_fixture(&fixture_words);
    for (int simd = DSTOK_SIMD_BEST; simd <= DSTOK_SIMD_NEON; simd++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            dstok_encoder_options options = DSTOK_ENCODER_OPTIONS_INIT;
            dstok_encoder *other = NULL;
            size_t n = 0;
            options.simd = simd;
            options.cache_bytes = sizes[i];
            dstok_status status = dstok_encoder_new_with(tok, &options, &other, &err);
            CHECK_EQ(status, dstok_simd_name(simd) != NULL ? DSTOK_OK : DSTOK_E_UNSUPPORTED);
            for (int k = 0; k < 3 && status == DSTOK_OK; k++)
                CHECK(dstok_count(other, "hello hello world", 17, NULL, &n, NULL) == DSTOK_OK && n == 3);
            dstok_encoder_free(other);
        }
    }
    CHECK(dstok_simd_name(DSTOK_SIMD_SCALAR) != NULL && dstok_simd_name(-1) == NULL &&
          dstok_simd_name(5) == NULL);
    dstok_encoder_options wrong = DSTOK_ENCODER_OPTIONS_INIT;
    dstok_encoder *none = NULL;
    wrong.simd = 9;
    CHECK_EQ(dstok_encoder_new_with(tok, &wrong, &none, &err), DSTOK_E_INVAL);
    wrong.struct_size = 0;
    CHECK_EQ(dstok_encoder_new_with(tok, &wrong, &none, &err), DSTOK_E_INVAL);
    CHECK(none == NULL);
    close_both();
}

static void test_lookups(void) {
    const void *bytes;
    size_t n;
    uint32_t id = 1;
    dstok_info info = DSTOK_INFO_INIT;
    fixture f = fixture_words;
    f.added = "s:<s>\n:hello\n";
    open_fixture(&f);
    CHECK_EQ(dstok_token_bytes(tok, 260, &bytes, &n), DSTOK_OK);
    CHECK_EQ(n, 6);
    CHECK_MEM(bytes, " hello", 6);
    CHECK_EQ(dstok_token_bytes(tok, 284, &bytes, &n), DSTOK_E_BAD_ID);
    CHECK_EQ(dstok_token_bytes(tok, UINT32_MAX, &bytes, &n), DSTOK_E_BAD_ID);
    CHECK_EQ(dstok_token_flags(tok, UINT32_MAX), 0);
    CHECK_EQ(dstok_token_id(tok, " hello", 6, &id), DSTOK_OK);
    CHECK_EQ(id, 260);
    CHECK_EQ(dstok_token_id(tok, "<s>", 3, &id), DSTOK_OK);
    CHECK_EQ(id, 283);
    CHECK_EQ(dstok_token_id(tok, "hello", 5, &id),
             DSTOK_OK); /* content of an added token that was in the vocabulary */
    CHECK_EQ(id, 259);
    CHECK_EQ(dstok_token_id(tok, "nothing", 7, &id), DSTOK_E_BAD_ID);
    CHECK_EQ(dstok_token_id(tok, "", 0, &id), DSTOK_E_BAD_ID);
    CHECK_EQ(id, 259);
    dstok_tokenizer_info(tok, &info);
    CHECK_EQ(info.n_ids, 284);
    CHECK_EQ(info.n_tokens, 284);
    CHECK_EQ(info.n_added, 2);
    CHECK_EQ(info.n_merges, 27);
    CHECK_EQ(info.n_steps, 1);
    CHECK_EQ(info.has_template, 0);
    CHECK_EQ(info.unk_id, UINT32_MAX);
    CHECK_STR(info.format, "tokenizer.json");
    CHECK_STR(info.normalizer, "none");
    CHECK_STR(info.scanner, "gpt2");
    CHECK(dstok_tokenizer_step(tok, 0) != NULL && dstok_tokenizer_step(tok, 1) == NULL);
    close_both();
}

/* ---- long inputs ---- */

#define LONG          1000000
#define LIMIT_SECONDS 20 /* a sanitizer on a slow machine; a release build needs well under one */

/* 10^6 times one unit: what a program that reads strange files meets. */
static const struct long_text {
    const char *name, *unit;
} long_texts[] = {
    {"a", "a"},
    {"blanks", " "},
    {"=", "="},
    {"line ends", "\n"},
    {"0", "0"},
    {"^", "^"},
    {"Z", "Z"},
    {"CR LF", "\r\n"},
    {"a and blank", "a "},
    {"ab", "ab"},
    {"'", "'"},
    {"U+7684", "\xE7\x9A\x84"},
    {"U+1F600", "\xF0\x9F\x98\x80"},
    {"no-break blanks", "\xC2\xA0"},
    {"U+0301", "\xCC\x81"},
    {"marks out of order", "\xCC\x81\xCC\xA3"},
    {"blank, line end", " \n"},
    {"Aa", "Aa"},
};

static void encode_long(const struct long_text *t, const char *how) {
    dstok_tokens out = {0};
    size_t k = strlen(t->unit);
    char *text = malloc(LONG * k);
    for (size_t i = 0; i < LONG; i++) memcpy(text + i * k, t->unit, k);
    clock_t start = clock();
    CHECK_EQ(dstok_encode_view(enc, text, LONG * k, NULL, &out, NULL), DSTOK_OK);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    CHECK(out.n > 0 && out.spans[out.n - 1].end == LONG * k);
    CHECK_EQ(dstok_encode_report(enc)->n_dropped, 0);
    CHECK(seconds < LIMIT_SECONDS);
    if (seconds > 0.5) fprintf(stderr, "slow: ");
    fprintf(stderr, "10^6 times %-18s %-16s %.2f s, %zu tokens\n", t->name, how, seconds, out.n);
    free(text);
}

/* ---- the segment table ---- */

static bool holds(dstok_span token, dstok_span bytes) {
    return token.begin < token.end && bytes.begin < bytes.end && token.begin < bytes.end &&
           token.end > bytes.begin;
}

/* Each row against every token. */
static void check_table(const dstok_segment *segments, size_t n_segments, const dstok_span *spans, size_t n) {
    dstok_segment_row rows[16];
    uint64_t begin = 0;
    dstok_segment_table(segments, n_segments, spans, n, rows);
    for (size_t k = 0; k < n_segments; begin += segments[k++].len) {
        dstok_span bytes = {begin, begin + segments[k].len};
        size_t first = n, last = 0, behind = 0;
        for (size_t i = 0; i < n; i++) {
            if (holds(spans[i], bytes) && first == n) first = i;
            if (holds(spans[i], bytes)) last = i + 1;
        }
        while (behind < n && (spans[behind].end <= begin || spans[behind].begin == spans[behind].end))
            behind++;
        if (last == 0) first = last = behind;
        CHECK(rows[k].bytes.begin == bytes.begin && rows[k].bytes.end == bytes.end);
        CHECK(rows[k].source == segments[k].source && rows[k].role == segments[k].role);
        CHECK_EQ(rows[k].tokens.begin, first);
        CHECK_EQ(rows[k].tokens.end, last);
    }
}

/* Two bytes of one character that comes from both segments are in both rows. */
static void test_shared_table(void) {
    fixture f = {.normalizer = "{\"type\":\"NFC\"}"};
    dstok_tokenizer *t = fixture_load(&f, NULL);
    dstok_encoder *e = fixture_encoder(t);
    const dstok_segment segments[] = {{.len = 1}, {.len = 2}};
    dstok_tokens out = {0};
    dstok_segment_row rows[2];
    CHECK_EQ(dstok_encode_segments(e, "e\xCC\x81", 3, segments, 2, NULL, &out, NULL), DSTOK_OK);
    CHECK_EQ(out.n, 2);
    dstok_segment_table(segments, 2, out.spans, out.n, rows);
    for (int k = 0; k < 2; k++) CHECK(rows[k].tokens.begin == 0 && rows[k].tokens.end == 2);
    dstok_encoder_free(e);
    dstok_tokenizer_free(t);
}

static void test_table(void) {
    for (uint64_t seed = 0; seed < 3000; seed++) {
        t_rng rng = {seed};
        dstok_segment segments[16];
        dstok_span spans[16];
        size_t n_segments = 1 + t_below(&rng, 15), n = t_below(&rng, 16);
        uint64_t begin = 0, end = 0;
        for (uint32_t k = 0; k < n_segments; k++)
            segments[k] = (dstok_segment){.len = t_below(&rng, 4), .source = k, .role = t_below(&rng, 5)};
        for (size_t i = 0; i < n; i++) { /* side by side, shared, apart, without width */
            if (t_below(&rng, 3) != 0) begin = end + (t_below(&rng, 6) == 0);
            if (begin >= end) end = begin + t_below(&rng, 4);
            spans[i] = (dstok_span){begin, end};
        }
        int before = t_failures;
        check_table(segments, n_segments, spans, n);
        if (t_failures > before) fprintf(stderr, "  seed %llu\n", (unsigned long long)seed);
    }
}

static void test_long(const char *how, const char *split, const char *normalizer, uint32_t flags) {
    fixture f = fixture_words;
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    size_t n;
    f.normalizer = normalizer;
    f.pre_tokenizer = split;
    options.flags = flags;
    char *json = fixture_json(&f, &n);
    CHECK_EQ(dstok_tokenizer_load_memory(json, n, NULL, 0, &options, &tok, NULL), DSTOK_OK);
    enc = fixture_encoder(tok);
    for (size_t i = 0; i < sizeof long_texts / sizeof *long_texts; i++) encode_long(&long_texts[i], how);
    close_both();
    free(json);
}

#define SPLIT(regex)                                                                                         \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" regex          \
    "\"},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"    \
    "\"use_regex\":false}]}"
#define CL100K                                                                                               \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}|"                    \
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

int main(void) {
    open_fixture(&fixture_words);
    test_calls();
    close_both();
    test_template();
    test_unknown();
    test_dropped();
    test_invalid();
    test_options();
    test_first();
    test_encoder_options();
    test_lookups();
    test_table();
    test_shared_table();
    test_long("GPT-2", NULL, NULL, 0);
    test_long("GPT-2, NFC", NULL, "{\"type\":\"NFC\"}", 0);
    test_long("cl100k", SPLIT(CL100K), NULL, 0);
    test_long("cl100k by PCRE2", SPLIT(CL100K), NULL, DSTOK_LOAD_NO_SCANNER);
    return t_end();
}
