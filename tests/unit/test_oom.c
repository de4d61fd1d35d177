/* SPDX-License-Identifier: MIT */
/* Every allocation of loading and encoding fails once: E_NOMEM, nothing lives on, the object stays usable. */
#include "../harness/heap.h"
#include "../harness/t.h"
#include "../oracle/fixture.h"

#include <stdlib.h>

#define SPLIT                                                                                                \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a-z\\\\p{Lu}]+" \
    "|\\\\s\"},"                                                                                             \
    "\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"        \
    "\"use_regex\":false}]}"

typedef struct input {
    const char *name;
    char *data, *side;
    size_t n, side_n;
    const char *pattern;
    uint32_t flags;
    bool uses_pcre2;
} input;

static dstok_status load(const input *in, const dstok_alloc *al, dstok_tokenizer **tok, dstok_error *err) {
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    options.alloc = al;
    options.pattern = in->pattern;
    options.flags = in->flags;
    return dstok_tokenizer_load_memory(in->data, in->n, in->side, in->side_n, &options, tok, err);
}

/* ---- loading ---- */

/* Without memory for machine code PCRE2 runs the pattern as it is: slower, and the one failure that loading
 * survives. */
static void check_without_jit(const input *in, const dstok_tokenizer *tok) {
    dstok_tokenizer *whole = NULL;
    dstok_tokens want = {0}, got = {0};
    CHECK_EQ(load(in, NULL, &whole, NULL), DSTOK_OK);
    dstok_encoder *a = fixture_encoder(whole), *b = fixture_encoder(tok);
    CHECK_EQ(dstok_encode_view(a, "hello World  123", 16, NULL, &want, NULL), DSTOK_OK);
    CHECK_EQ(dstok_encode_view(b, "hello World  123", 16, NULL, &got, NULL), DSTOK_OK);
    CHECK(got.n == want.n && memcmp(got.ids, want.ids, got.n * sizeof *got.ids) == 0);
    dstok_encoder_free(a);
    dstok_encoder_free(b);
    dstok_tokenizer_free(whole);
}

static size_t check_load(const input *in) {
    size_t k = 0, n_slow = 0;
    for (;;) {
        t_heap heap = {0};
        dstok_alloc al = t_heap_alloc(&heap);
        dstok_tokenizer *const none = (dstok_tokenizer *)(void *)&heap;
        dstok_tokenizer *tok = none;
        dstok_error err = {.status = DSTOK_OK};
        heap.fail_at = ++k;
        dstok_status status = load(in, &al, &tok, &err);
        bool failed = heap.calls >= heap.fail_at;
        if (status == DSTOK_OK) {
            heap.fail_at = 0;
            if (failed) check_without_jit(in, tok);
            n_slow += failed;
            dstok_tokenizer_free(tok);
        } else {
            CHECK_EQ(status, DSTOK_E_NOMEM);
            CHECK_EQ(err.status, DSTOK_E_NOMEM);
            CHECK(err.text[0] != '\0');
            CHECK(tok == none); /* untouched */
        }
        CHECK_EQ(heap.live, 0);
        CHECK_EQ(heap.live_bytes, 0);
        if (heap.live > 0) fprintf(stderr, "%s: allocation %zu: %zu left\n", in->name, k, heap.live);
        if (failed) continue;
        CHECK_EQ(status, DSTOK_OK);
        CHECK(n_slow == 0 ||
              (in->uses_pcre2 && n_slow < k / 5)); /* else a failure was passed over in silence */
        return k - 1;
    }
}

/* ---- encoding ---- */

static const char text[] = "hello  <|sys|> caf\xC3\xA9 e\xCC\x81 \xFF\xE4\xBD Wor\xC5\x81"
                           "d [END] 123aaaaaaa\n\n <|sys|>";

typedef dstok_status call_fn(dstok_encoder *enc, dstok_tokens *out, dstok_error *err);

static dstok_status encode_replace(dstok_encoder *enc, dstok_tokens *out, dstok_error *err) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.special = DSTOK_SPECIAL_PARSE;
    options.invalid = DSTOK_INVALID_REPLACE;
    return dstok_encode_view(enc, text, sizeof text - 1, &options, out, err);
}

static dstok_status encode_raw(dstok_encoder *enc, dstok_tokens *out, dstok_error *err) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.add_special = 1;
    options.invalid = DSTOK_INVALID_RAW;
    return dstok_encode_view(enc, text, sizeof text - 1, &options, out, err);
}

static dstok_status encode_segments(dstok_encoder *enc, dstok_tokens *out, dstok_error *err) {
    dstok_segment s[] = {{.len = 10, .special = DSTOK_SPECIAL_SAFE},
                         {.len = 20, .special = DSTOK_SPECIAL_PARSE},
                         {.len = sizeof text - 31, .special = DSTOK_SPECIAL_SAFE}};
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.invalid = DSTOK_INVALID_REPLACE;
    return dstok_encode_segments(enc, text, sizeof text - 1, s, 3, &options, out, err);
}

/* A long pretoken, which merges in another way. */
static dstok_status encode_long(dstok_encoder *enc, dstok_tokens *out, dstok_error *err) {
    static char line[3000];
    memset(line, 'a', sizeof line);
    return dstok_encode_view(enc, line, sizeof line, NULL, out, err);
}

static dstok_status count(dstok_encoder *enc, dstok_tokens *out, dstok_error *err) {
    static uint32_t id;
    static dstok_span span;
    size_t n = 0;
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    options.invalid = DSTOK_INVALID_RAW;
    dstok_status status = dstok_count(enc, text, sizeof text - 1, &options, &n, err);
    id = (uint32_t)n;
    if (status == DSTOK_OK) *out = (dstok_tokens){&id, &span, NULL, 1};
    return status;
}

static call_fn *const calls[] = {encode_replace, encode_raw, encode_segments, encode_long, count};

static uint32_t *copy_ids(const dstok_tokens *t) {
    uint32_t *ids = calloc(t->n + 1, sizeof *ids);
    memcpy(ids, t->ids, t->n * sizeof *ids);
    return ids;
}

static size_t n_without_cache; /* calls that got on without the memory they asked for */

/* The call fails with its k-th allocation; then it is made again with memory enough. */
static bool check_call_once(const input *in, const dstok_tokenizer *tok, t_heap *heap, call_fn *call,
                            size_t k, const uint32_t *want, size_t n_want) {
    dstok_encoder *enc = NULL;
    dstok_tokens got = {.n = 4711};
    dstok_error err = {.status = DSTOK_OK};
    size_t live = heap->live;
    heap->calls = 0;
    heap->fail_at = k;
    dstok_status status = dstok_encoder_new(tok, &enc);
    if (status == DSTOK_OK) status = call(enc, &got, &err);
    bool failed = heap->calls >= k;
    bool is_cache = failed && status == DSTOK_OK; /* the encoder goes on without a larger cache */
    if (is_cache) n_without_cache++;
    CHECK_EQ(status, failed && !is_cache ? DSTOK_E_NOMEM : DSTOK_OK);
    if (is_cache) CHECK(got.n == n_want && memcmp(got.ids, want, n_want * sizeof *want) == 0);
    if (failed && !is_cache) CHECK_EQ(got.n, 4711); /* untouched */
    if (failed && !is_cache && enc != NULL) CHECK_EQ(err.status, DSTOK_E_NOMEM);
    heap->fail_at = 0;
    if (enc == NULL) CHECK_EQ(dstok_encoder_new(tok, &enc), DSTOK_OK);
    CHECK_EQ(call(enc, &got, &err), DSTOK_OK);
    bool same = got.n == n_want && memcmp(got.ids, want, n_want * sizeof *want) == 0;
    CHECK(same);
    if (!same)
        fprintf(stderr, "%s: after allocation %zu failed: %zu tokens, want %zu\n", in->name, k, got.n,
                n_want);
    dstok_encoder_free(enc);
    CHECK_EQ(heap->live, live);
    return failed;
}

static size_t check_calls(const input *in) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok_tokenizer *tok = NULL;
    size_t total = 0;
    CHECK_EQ(load(in, &al, &tok, NULL), DSTOK_OK);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        dstok_encoder *enc = fixture_encoder(tok);
        dstok_tokens t = {0};
        CHECK_EQ(calls[c](enc, &t, NULL), DSTOK_OK);
        uint32_t *want = copy_ids(&t);
        size_t n_want = t.n, k = 1;
        dstok_encoder_free(enc);
        n_without_cache = 0;
        while (check_call_once(in, tok, &heap, calls[c], k, want, n_want)) k++;
        CHECK(n_without_cache <= 3); /* the three blocks of a cache */
        total += k - 1;
        free(want);
    }
    dstok_tokenizer_free(tok);
    CHECK_EQ(heap.live, 0);
    return total;
}

/* ---- inputs ---- */

static input json_input(const char *name, const fixture *f, uint32_t flags, bool uses_pcre2) {
    input in = {.name = name, .flags = flags, .uses_pcre2 = uses_pcre2};
    in.data = fixture_json(f, &in.n);
    return in;
}

static input rank_input(void) {
    static const char meta[] =
        "{\"pattern\":\"\\\\p{L}+| ?[^\\\\p{L}]+\",\"special_tokens\":{\"<|sys|>\":300},"
        "\"normalizer\":\"NFC\"}";
    input in = {.name = "ranks", .side = malloc(sizeof meta), .side_n = sizeof meta - 1, .uses_pcre2 = true};
    in.data = fixture_ranks(&in.n);
    memcpy(in.side, meta, sizeof meta);
    return in;
}

int main(void) {
    fixture plain = fixture_words, full = fixture_words;
    full.added = "sl:<|sys|>\nln:[END]\n";
    full.normalizer = "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Lowercase\"}]}";
    full.pre_tokenizer = SPLIT;
    full.post_processor =
        "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<|sys|>\",\"type_id\":0}},"
        "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<|sys|>\":"
        "{\"id\":\"<|sys|>\",\"ids\":[283],\"tokens\":[\"<|sys|>\"]}}}";
    full.without = "z";
    fixture prefix = fixture_words;
    prefix.pre_tokenizer = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":true}";
    static const char config[] = "{\"add_bos_token\":true,\"bos_token\":{\"content\":\"<|sys|>\"},"
                                 "\"chat_template\":\"{{ '<|sys|>' }}\\u00e9\"}";
    input inputs[] = {json_input("GPT-2", &plain, 0, false),
                      json_input("GPT-2 by PCRE2", &plain, DSTOK_LOAD_NO_SCANNER, true),
                      json_input("all parts", &full, 0, true), json_input("prefix", &prefix, 0, false),
                      rank_input()};
    inputs[2].side = malloc(sizeof config);
    inputs[2].side_n = sizeof config - 1;
    memcpy(inputs[2].side, config, sizeof config);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        size_t loads = check_load(&inputs[i]), encodes = check_calls(&inputs[i]);
        fprintf(stderr, "%-16s %zu allocations of loading failed, %zu of encoding\n", inputs[i].name, loads,
                encodes);
        free(inputs[i].data);
        free(inputs[i].side);
    }
    return t_end();
}
