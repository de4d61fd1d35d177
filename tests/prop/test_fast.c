/* SPDX-License-Identifier: MIT */
/* The fast way against the slow way: ids, spans, flags and reports of every kind of call, on every tier, with
 * caches of several sizes that earlier calls have filled. The slow way has PCRE2 for the pattern and merges
 * piece by piece. Made vocabularies of every family, the embedded one, and shared ones.
 *
 * test_fast [MB [SEED [NAME...]]]: so many megabytes of text for each vocabulary (0: a short run), each text on
 * every tier. NAME is one of the table `reals`, "made", "embedded", or a vocabulary file. */
#include "../../data/vocab/default_vocab.h"
#include "../../tokenizer/bpe/encoder.h"
#include "../harness/t.h"
#include "../oracle/gen.h"
#include "../oracle/hard.h"

#include <stdlib.h>
#include <time.h>

#define MAX_TEXT   ((size_t)1 << 16)
#define SHORT_MADE 1500000u /* bytes of text for each made vocabulary in a short run */
#define SHORT_REAL 2000000u

static uint64_t seed = 20261202;
static size_t long_bytes; /* 0: a short run */

/* ---- an answer ---- */

typedef struct answer {
    dstok_status status;
    uint64_t offset; /* of an error */
    uint32_t *ids;
    dstok_span *spans;
    uint8_t *flags;
    size_t n;
    dstok_report report;
} answer;

static void *copy(const void *p, size_t n, size_t size) {
    void *q = malloc(n * size + 1);
    if (q == NULL) exit(1);
    if (n > 0) memcpy(q, p, n * size);
    return q;
}

static void answer_free(answer *a) {
    free(a->ids);
    free(a->spans);
    free(a->flags);
}

/* ---- a call ---- */

typedef enum way { ALL, IDS_ONLY, IDS, COUNT, SEGMENTS, N_WAYS } way;
static const char *const way_names[] = {"view", "view, ids only", "ids", "count", "segments"};

typedef struct call {
    const uint8_t *text;
    size_t len;
    dstok_encode_options options;
    dstok_segment segments[3];
} call;

static dstok_status run_view(dstok_encoder *enc, const call *c, way how, dstok_tokens *t, dstok_error *err) {
    dstok_encode_options options = c->options;
    if (how == SEGMENTS) return dstok_encode_segments(enc, c->text, c->len, c->segments, 3, &options, t, err);
    options.ids_only = how == IDS_ONLY;
    return dstok_encode_view(enc, c->text, c->len, &options, t, err);
}

static answer ask(dstok_encoder *enc, const call *c, way how) {
    answer a = {0};
    dstok_tokens t = {0};
    dstok_error err = {.status = DSTOK_OK};
    if (how == COUNT) {
        a.status = dstok_count(enc, c->text, c->len, &c->options, &a.n, &err);
    } else if (how == IDS) {
        size_t cap = dstok_encode_bound(enc->tok, c->len, &c->options);
        a.ids = malloc(cap * sizeof *a.ids + 1);
        if (a.ids == NULL) exit(1);
        a.status = dstok_encode(enc, c->text, c->len, &c->options, a.ids, NULL, NULL, cap, &a.n, &err);
    } else {
        a.status = run_view(enc, c, how, &t, &err);
        a.n = t.n;
        a.ids = copy(t.ids, t.n, sizeof *t.ids);
        if (t.spans != NULL) a.spans = copy(t.spans, t.n, sizeof *t.spans);
        if (t.flags != NULL) a.flags = copy(t.flags, t.n, 1);
    }
    if (a.status != DSTOK_OK) a.offset = err.offset;
    a.report = *dstok_encode_report(enc);
    return a;
}

/* What differs, or NULL. What got does not have is not compared, but for ids and what a view must have. */
static const char *difference(const answer *want, const answer *got, way how) {
    if (got->status != want->status) return "status";
    if (got->status != DSTOK_OK) return got->offset == want->offset ? NULL : "offset of the error";
    if (got->n != want->n) return "number of tokens";
    if (how != COUNT && memcmp(got->ids, want->ids, want->n * sizeof *want->ids) != 0) return "ids";
    bool has_all = how == ALL || how == SEGMENTS;
    if (want->n > 0 && has_all != (got->spans != NULL && got->flags != NULL)) return "arrays";
    for (size_t i = 0; has_all && i < want->n; i++)
        if (got->spans[i].begin != want->spans[i].begin || got->spans[i].end != want->spans[i].end)
            return "spans";
    if (has_all && memcmp(got->flags, want->flags, want->n) != 0) return "flags";
    return memcmp(&got->report, &want->report, sizeof want->report) == 0 ? NULL : "report";
}

/* ---- encoders ---- */

#define N_TIERS  (DSTOK_SIMD_NEON + 1)
#define N_CACHES 3u
static const size_t cache_sizes[N_CACHES] = {DSTOK_CACHE_DEFAULT, 0, 90000};

/* simd: DSTOK_SIMD_*, one that this machine has. */
static dstok_encoder *make_encoder(const dstok_tokenizer *tok, int simd, unsigned cache) {
    dstok_encoder_options options = DSTOK_ENCODER_OPTIONS_INIT;
    dstok_encoder *enc = NULL;
    options.cache_bytes = cache_sizes[cache];
    options.simd = simd;
    CHECK_EQ(dstok_encoder_new_with(tok, &options, &enc, NULL), DSTOK_OK);
    if (enc == NULL) exit(1);
    CHECK(enc->fast != NULL && strcmp(enc->fast->simd->name, dstok_simd_name(simd)) == 0);
    return enc;
}

/* A vocabulary under test. */
typedef struct subject {
    const char *name;
    dstok_tokenizer *fast, *slow;
    dstok_encoder *slow_enc;
    dstok_encoder *encs[N_TIERS][N_CACHES]; /* by DSTOK_SIMD_*; NULL where this machine has no such tier */
    const uint8_t *real;                    /* text to change, or NULL */
    size_t real_n;
    size_t n_texts, n_bytes, n_tokens, n_calls;
    size_t by_tier[N_TIERS], by_cache[N_CACHES]; /* bytes of text compared */
    int n_before;                                /* failures before it */
} subject;

static void subject_open(subject *s) {
    s->slow_enc = fixture_encoder(s->slow);
    CHECK(s->slow_enc->fast == NULL);
    for (int tier = DSTOK_SIMD_SCALAR; tier < N_TIERS; tier++) {
        if (dstok_simd_name(tier) == NULL) continue;
        for (unsigned cache = 0; cache < N_CACHES; cache++)
            s->encs[tier][cache] = make_encoder(s->fast, tier, cache);
    }
}

static void subject_close(subject *s) {
    for (int tier = 0; tier < N_TIERS; tier++)
        for (unsigned cache = 0; cache < N_CACHES; cache++) dstok_encoder_free(s->encs[tier][cache]);
    dstok_encoder_free(s->slow_enc);
    dstok_tokenizer_free(s->slow);
    dstok_tokenizer_free(s->fast);
}

/* ---- when they differ ---- */

/* The same with encoders that have seen nothing; what differs, or NULL. */
static const char *differs_fresh(const subject *s, const call *c, way how, int tier, unsigned cache) {
    dstok_encoder *slow = fixture_encoder(s->slow), *fast = make_encoder(s->fast, tier, cache);
    answer want = ask(slow, c, how == SEGMENTS ? SEGMENTS : ALL), got = ask(fast, c, how);
    const char *what = difference(&want, &got, how);
    answer_free(&want);
    answer_free(&got);
    dstok_encoder_free(slow);
    dstok_encoder_free(fast);
    return what;
}

/* Leaves out what is not needed for the difference. Segments would have to shrink, too: not for them. */
static size_t shrink(const subject *s, const call *c, way how, int tier, unsigned cache, uint8_t *text) {
    size_t len = c->len;
    call smaller = *c;
    smaller.text = text;
    memcpy(text, c->text, len);
    for (size_t size = len / 2; size > 0; size = size > 1 ? size / 2 : 0) {
        for (size_t at = 0; at + size <= len;) {
            uint8_t *rest = copy(text + at, len - at, 1);
            memmove(text + at, rest + size, len - at - size);
            smaller.len = len - size;
            if (differs_fresh(s, &smaller, how, tier, cache) != NULL) {
                len -= size;
            } else {
                memcpy(text + at, rest, len - at);
                at += size;
            }
            free(rest);
        }
    }
    return len;
}

static void complain(const subject *s, const call *c, way how, int tier, unsigned cache, const char *what) {
    static uint8_t text[MAX_TEXT];
    if (t_failures > s->n_before + 4) return;
    bool stays = how != SEGMENTS && differs_fresh(s, c, how, tier, cache) != NULL;
    size_t len = stays ? shrink(s, c, how, tier, cache, text) : c->len;
    fprintf(stderr,
            "%s: %s differ: %s, %s, cache of %zu bytes, special %d, invalid %d; %s, %zu bytes: ", s->name,
            what, way_names[how], dstok_simd_name(tier), cache_sizes[cache], c->options.special,
            c->options.invalid,
            stays             ? "at once"
            : how == SEGMENTS ? "not shrunk"
                              : "after other texts",
            len);
    gen_print(stays ? text : c->text, len < 400 ? len : 400);
}

/* ---- one text ---- */

static bool check(subject *s, dstok_encoder *enc, const call *c, const answer *want, way how, int tier,
                  unsigned cache) {
    answer got = ask(enc, c, how);
    const char *what = difference(want, &got, how);
    answer_free(&got);
    s->n_calls++;
    s->by_tier[tier] += c->len;
    s->by_cache[cache] += c->len;
    CHECK(what == NULL);
    if (what != NULL) complain(s, c, how, tier, cache, what);
    return what == NULL;
}

static int draw_tier(const subject *s, t_rng *rng) {
    int tier;
    do tier = (int)t_below(rng, N_TIERS);
    while (s->encs[tier][0] == NULL);
    return tier;
}

/* The first tokens only. The report is that of less text. */
static void check_first(const subject *s, dstok_encoder *enc, const call *c, const answer *want, way how,
                        size_t max) {
    call first = *c;
    answer some = *want;
    first.options.max_tokens = max;
    if (some.n > max) some.n = max;
    answer got = ask(enc, &first, how);
    some.report = got.report;
    const char *what = difference(&some, &got, how);
    CHECK(what == NULL);
    if (what != NULL && t_failures < s->n_before + 5)
        fprintf(stderr, "first %zu tokens, %s: %s differ\n", max, way_names[how], what);
    answer_free(&got);
}

/* On encoders that have seen other texts: two calls on any tiers, in a long run one on each tier. */
static void check_ways(subject *s, const call *c, const answer *want, bool in_segments, t_rng *rng) {
    int n = long_bytes > 0 ? N_TIERS : 2;
    for (int i = 0; i < n; i++) {
        way how = in_segments ? SEGMENTS : (way)t_below(rng, SEGMENTS);
        int tier = long_bytes > 0 ? i : draw_tier(s, rng);
        unsigned cache = t_below(rng, N_CACHES);
        if (s->encs[tier][cache] != NULL) check(s, s->encs[tier][cache], c, want, how, tier, cache);
    }
}

/* Sometimes also on a new encoder, the first tokens only, and ids by the scanner, which spans in the style of
 * Hugging Face ask for. */
static void check_call(subject *s, const call *c, t_rng *rng) {
    bool in_segments = t_below(rng, 8) == 0;
    answer want = ask(s->slow_enc, c, in_segments ? SEGMENTS : ALL);
    s->n_tokens += want.n;
    check_ways(s, c, &want, in_segments, rng);
    int tier = draw_tier(s, rng);
    unsigned cache = t_below(rng, N_CACHES);
    if (!in_segments && t_below(rng, 16) == 0) {
        dstok_encoder *fresh = make_encoder(s->fast, tier, cache);
        check(s, fresh, c, &want, ALL, tier, cache);
        dstok_encoder_free(fresh);
    }
    if (!in_segments && t_below(rng, 4) == 0 && want.status == DSTOK_OK)
        check_first(s, s->encs[tier][cache], c, &want, (way)t_below(rng, SEGMENTS),
                    1 + t_below(rng, (uint32_t)want.n + 2));
    if (!in_segments && t_below(rng, 8) == 0 && want.status == DSTOK_OK) {
        call by_scanner = *c;
        by_scanner.options.span_style = DSTOK_SPANS_HF;
        answer got = ask(s->encs[tier][cache], &by_scanner, ALL);
        CHECK(got.n == want.n && memcmp(got.ids, want.ids, want.n * sizeof *want.ids) == 0);
        answer_free(&got);
    }
    answer_free(&want);
}

/* ---- texts ---- */

static const char *const added_texts[] = {"<|sys|>",     " <|sys|>",      "[END]",
                                          "caf\xC3\xA9", "<|endoftext|>", "<|im_start|>"};

/* Puts texts of added tokens between the characters of text[0, len). */
static size_t sprinkle(t_rng *rng, uint8_t *text, size_t len, size_t max) {
    for (uint32_t n = 1 + t_below(rng, 4); n > 0; n--) {
        const char *added = added_texts[t_below(rng, sizeof added_texts / sizeof *added_texts)];
        size_t at = t_below(rng, (uint32_t)len + 1), k = strlen(added);
        while (at < len && (text[at] & 0xC0) == 0x80) at++;
        if (len + k > max) break;
        memmove(text + at + k, text + at, len - at);
        memcpy(text + at, added, k);
        len += k;
    }
    return len;
}

static size_t make_text(const subject *s, t_rng *rng, uint8_t *text) {
    unsigned kind = t_below(rng, HARD_KINDS + 2);
    size_t max = t_below(rng, 40) == 0 ? MAX_TEXT - 64 : t_below(rng, 4) == 0 ? 9000 : 700;
    if (kind == HARD_KINDS) return gen_tokens(rng, s->fast, text, max);
    if (kind == HARD_KINDS + 1 && s->real != NULL) return gen_mutant(rng, s->real, s->real_n, text, max);
    return hard_text(rng, kind, text, max);
}

/* Bytes at random, of all or of some: mostly no UTF-8, and short stretches of text between. */
static size_t make_bytes(t_rng *rng, uint8_t *text) {
    uint32_t from = t_below(rng, 3) * 64, range = 1 + t_below(rng, 256 - from);
    size_t len = t_below(rng, t_below(rng, 20) == 0 ? 9000 : 300);
    for (size_t i = 0; i < len; i++)
        text[i] = (uint8_t)(t_below(rng, 8) == 0 ? t_below(rng, 256) : from + t_below(rng, range));
    return len;
}

static void set_segments(t_rng *rng, call *c) {
    size_t first = t_below(rng, (uint32_t)c->len + 1),
           second = first + t_below(rng, (uint32_t)(c->len - first) + 1);
    c->segments[0] = (dstok_segment){.len = first, .special = (int)t_below(rng, 4)};
    c->segments[1] = (dstok_segment){.len = second - first, .special = (int)t_below(rng, 4)};
    c->segments[2] = (dstok_segment){.len = c->len - second, .special = (int)t_below(rng, 4)};
}

static void check_texts(subject *s, size_t n_bytes, uint64_t state) {
    static uint8_t text[MAX_TEXT];
    t_rng rng = {state};
    while (s->n_bytes < n_bytes && t_failures < s->n_before + 20) {
        call c = {.options = DSTOK_ENCODE_OPTIONS_INIT};
        size_t len = t_below(&rng, 8) == 0 ? make_bytes(&rng, text) : make_text(s, &rng, text);
        if (t_below(&rng, 4) == 0) len = sprinkle(&rng, text, len, sizeof text);
        if (t_below(&rng, 4) == 0) len = hard_damage(&rng, text, len);
        c.text = copy(text, len, 1); /* in memory that ends with it */
        c.len = len;
        c.options.special = (int)t_below(&rng, 5);
        c.options.invalid = (int)t_below(&rng, 8) == 0 ? DSTOK_INVALID_ERROR
                            : t_below(&rng, 2) == 0    ? DSTOK_INVALID_REPLACE
                                                       : DSTOK_INVALID_RAW;
        c.options.add_special = t_below(&rng, 4) == 0;
        set_segments(&rng, &c);
        check_call(s, &c, &rng);
        s->n_texts++;
        s->n_bytes += len;
        free((void *)(uintptr_t)c.text);
    }
}

static void print_compared(const subject *s) {
    printf("; compared");
    for (int tier = 0; tier < N_TIERS; tier++)
        if (s->encs[tier][0] != NULL)
            printf(" %s %.1f MB", dstok_simd_name(tier), (double)s->by_tier[tier] / 1e6);
    printf("; cache");
    for (unsigned cache = 0; cache < N_CACHES; cache++)
        printf(" %zu: %.1f MB", cache_sizes[cache], (double)s->by_cache[cache] / 1e6);
}

static void check_subject(subject *s, size_t n_bytes) {
    clock_t start = clock();
    s->n_before = t_failures;
    subject_open(s);
    check_texts(s, n_bytes, seed + strlen(s->name));
    CHECK(s->n_tokens > 0);
    printf("%-22s %6.2f MB in %6zu texts, %8zu tokens, %7zu calls, %d failed, %5.1f s", s->name,
           (double)s->n_bytes / 1e6, s->n_texts, s->n_tokens, s->n_calls, t_failures - s->n_before,
           (double)(clock() - start) / CLOCKS_PER_SEC);
    if (long_bytes > 0) print_compared(s);
    printf("\n");
    fflush(stdout);
    subject_close(s);
}

/* ---- made vocabularies ---- */

#define BYTE_LEVEL(use_regex)                                                                                \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":" use_regex "}"
#define DEEPSEEK_3                                                                                           \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"        \
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"

#define BAILING                                                                                              \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"            \
    "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"
#define SEED_CODER                                                                                           \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+"       \
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define MINICPM5                                                                                             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"      \
    "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* A pre_tokenizer: the patterns, each Isolated, then ByteLevel. */
static char *pre_tokenizer(const char *const *patterns, const char *first, const char *last) {
    char *out = malloc(1 << 13);
    if (out == NULL) exit(1);
    int n = snprintf(out, 1 << 13, "{\"type\":\"Sequence\",\"pretokenizers\":[%s", first);
    for (; *patterns != NULL; patterns++) {
        char *text = hard_json_string(*patterns);
        n += snprintf(
            out + n, (size_t)((1 << 13) - n),
            "{\"type\":\"Split\",\"pattern\":{\"Regex\":%s},\"behavior\":\"Isolated\",\"invert\":false},",
            text);
        free(text);
    }
    snprintf(out + n, (size_t)((1 << 13) - n), "%s]}", last);
    return out;
}

static const char added[] = "sl:<|sys|>\nn:caf\xC3\xA9\nr:[END]\nsw:<|endoftext|>\n";

static const struct family {
    const char *name;        /* what the library calls it */
    const char *pattern;     /* by name, of those that are one pattern */
    const char *patterns[4]; /* else */
    const char *first, *last;
    const char *normalizer;
    enum { JSON, RANKS, TEKKEN } file;
} families[] = {
    {"gpt2", NULL, {NULL}, "", BYTE_LEVEL("true"), NULL, JSON},
    {"smollm",
     NULL,
     {NULL},
     "{\"type\":\"Digits\",\"individual_digits\":true},",
     BYTE_LEVEL("true"),
     NULL,
     JSON},
    {"smollm_split", NULL, {"\\p{N}", NULL}, "", BYTE_LEVEL("true"), NULL, JSON},
    {"cl100k", "llama3", {NULL}, "", BYTE_LEVEL("false"), NULL, JSON},
    {"cl100k_tiktoken", "cl100k", {NULL}, NULL, NULL, NULL, RANKS},
    {"qwen2", "qwen2", {NULL}, "", BYTE_LEVEL("false"), "{\"type\":\"NFC\"}", JSON},
    {"qwen2", NULL, {BAILING, NULL}, "", BYTE_LEVEL("false"), "{\"type\":\"NFC\"}", JSON},
    {"seed_coder", NULL, {SEED_CODER, NULL}, "", BYTE_LEVEL("false"), "{\"type\":\"NFC\"}", JSON},
    {"minicpm5", NULL, {"\\p{N}{1,3}", MINICPM5, NULL}, "", BYTE_LEVEL("false"), NULL, JSON},
    {"qwen35", "qwen3.5", {NULL}, "", BYTE_LEVEL("false"), "{\"type\":\"NFC\"}", JSON},
    {"o200k", "o200k", {NULL}, "", BYTE_LEVEL("false"), NULL, JSON},
    {"o200k", "o200k", {NULL}, NULL, NULL, NULL, RANKS},
    {"tekken", "tekken", {NULL}, "", BYTE_LEVEL("false"), NULL, JSON},
    {"tekken", "tekken", {NULL}, NULL, NULL, NULL, TEKKEN},
    {"deepseek_v3",
     NULL,
     {"\\p{N}{1,3}", "[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+",
      DEEPSEEK_3, NULL},
     "",
     BYTE_LEVEL("false"),
     NULL,
     JSON},
};
#define N_FAMILIES (sizeof families / sizeof *families)

static void load(const char *data, size_t n, const char *pattern, uint32_t flags, dstok_tokenizer **out) {
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    dstok_error err = {.status = DSTOK_OK};
    options.pattern = pattern;
    options.flags = flags;
    dstok_status status = dstok_tokenizer_load_memory(data, n, NULL, 0, &options, out, &err);
    CHECK_EQ(status, DSTOK_OK);
    if (status == DSTOK_OK) return;
    fprintf(stderr, "%s\n", err.text);
    exit(1);
}

/* model: more of "model" in the file; without: bytes that get no token. */
static void check_family(const struct family *f, const hard_merges *m, const char *model, const char *without,
                         const char *what) {
    static const char *const files[] = {"", ", ranks", ", tekken.json"};
    char name[48];
    const char *one[] = {f->pattern != NULL ? dstok__pattern_by_name(f->pattern) : NULL, NULL};
    subject s = {.name = name};
    size_t n;
    snprintf(name, sizeof name, "%s%s, %s", f->name, files[f->file], what);
    char *steps = NULL, *data;
    if (f->file == RANKS) {
        data = hard_ranks(m, &n);
    } else if (f->file == TEKKEN) {
        data = hard_tekken(m, one[0], &n);
    } else {
        fixture file = hard_fixture(m);
        steps = pre_tokenizer(f->pattern != NULL ? one : f->patterns, f->first, f->last);
        file.pre_tokenizer = steps;
        file.normalizer = f->normalizer;
        file.model = model;
        file.without = without;
        file.added = added;
        data = fixture_json(&file, &n);
    }
    load(data, n, f->file == RANKS ? f->pattern : NULL, 0, &s.fast);
    load(data, n, f->file == RANKS ? f->pattern : NULL, DSTOK_LOAD_NO_SCANNER, &s.slow);
    CHECK(dstok__pretok_family(s.fast->pretok) != NULL);
    if (dstok__pretok_family(s.fast->pretok) != NULL)
        CHECK_STR(dstok__pretok_family(s.fast->pretok)->name, f->name);
    check_subject(&s, long_bytes > 0 ? long_bytes / 20 : SHORT_MADE);
    free(data);
    free(steps);
}

/* Bytes that no merge needs: some are in hard text, some in no text. */
static const char *without(const hard_merges *m, char out[16]) {
    static const char candidates[] = "\x04\x16\x0B~^|\xF1\xF2\xC0\xFF";
    size_t n = 0;
    for (const char *c = candidates; *c != '\0'; c++) {
        bool is_used = false;
        for (size_t i = 256; i < 256 + m->n; i++) is_used |= strchr(m->texts[i], *c) != NULL;
        if (!is_used) out[n++] = *c;
    }
    out[n] = '\0';
    return out;
}

static void test_made(void) {
    for (size_t i = 0; i < N_FAMILIES; i++) {
        hard_merges m;
        char bytes[16];
        t_rng rng = {seed + 1000 * i};
        static const char *const models[] = {"\"ignore_merges\":true,", "\"unk_token\":\"a\",", NULL};
        bool is_shuffled = i % 2 == 0;
        hard_merges_make(&m, &rng, 450, is_shuffled);
        check_family(&families[i], &m, models[i % 3], i % 4 == 3 ? without(&m, bytes) : NULL,
                     is_shuffled ? "any order" : "in order");
        hard_merges_free(&m);
    }
}

/* ---- real vocabularies ---- */

/* All of ../shared that have a fast way; in a short run the first N_SHORT. */
static const struct real {
    const char *name, *file, *side, *pattern;
} reals[] = {
    {"o200k", "o200k_base.tiktoken", NULL, NULL},
    {"cl100k", "cl100k_base.tiktoken", NULL, NULL},
    {"qwen3", "qwen3.tokenizer.json", NULL, NULL},
    {"deepseek_v3", "deepseek_v3.tokenizer.json", NULL, NULL},
    {"llama3", "llama3_1.tokenizer.json", NULL, NULL},
    {"qwen3_6", "qwen3_6.tiktoken", "qwen3_6.tiktoken.meta.json", NULL},
    {"tekken", "tekken_240911.json", NULL, NULL},
    {"tekken_v3", "tekken_v3_ranks.tiktoken", NULL, "tekken"},
    {"claude", "claude_nfkc.tokenizer.json", NULL, NULL},
    {"deepseek_v4", "deepseek_v4.tokenizer.json", NULL, NULL},
    {"gpt35turbo", "gpt35turbo.tokenizer.json", NULL, NULL},
    {"gptoss", "gptoss.tokenizer.json", NULL, NULL},
    {"p50k", "p50k_base.tiktoken", NULL, NULL},
    {"phi-2", "phi-2.tokenizer.json", NULL, NULL},
    {"qwen2_5", "qwen2_5.tokenizer.json", NULL, NULL},
    {"r50k", "r50k_base.tiktoken", NULL, NULL},
    {"smollm2", "smollm2.tokenizer.json", NULL, NULL},
    {"whisper", "whisper_large_v3.tokenizer.json", NULL, NULL},
};
#define N_REALS (sizeof reals / sizeof *reals)
#define N_SHORT 5u

static char *read_shared(const char *folder, const char *file, size_t *n) {
    char name[128];
    snprintf(name, sizeof name, "%s/%s.xz", folder, file);
    const char *path = t_shared(name);
    return path == NULL ? NULL : t_read(path, n);
}

/* The slow one from the compiled bytes of the fast one: those load at once. */
static void check_real(const char *name, dstok_tokenizer *tok, const char *real, size_t real_n) {
    subject s = {.name = name, .fast = tok, .real = (const uint8_t *)real, .real_n = real_n};
    size_t n;
    const void *compiled = dstok_tokenizer_compiled(tok, &n);
    load(compiled, n, NULL, DSTOK_LOAD_NO_SCANNER, &s.slow);
    check_subject(&s, long_bytes > 0 ? long_bytes : SHORT_REAL);
}

/* Parts of all three texts, one behind the other; in a long run all of them. */
static char *read_texts(size_t *n) {
    static const char *const files[] = {"en.txt", "zh.txt", "code.txt"};
    size_t most = long_bytes > 0 ? 10u << 20 : 1u << 20;
    char *all = malloc(3 * most);
    *n = 0;
    for (size_t i = 0; i < 3 && all != NULL; i++) {
        size_t len = 0;
        char *text = read_shared("text", files[i], &len);
        if (len > most) len = most;
        while (len > 0 && ((uint8_t)text[len - 1] & 0xC0) == 0x80) len--; /* whole characters */
        if (len > 0 && (uint8_t)text[len - 1] >= 0xC0) len--;
        if (text != NULL) memcpy(all + *n, text, len);
        *n += len;
        free(text);
    }
    if (*n > 0) return all;
    free(all);
    return NULL;
}

static void test_real(const struct real *r, const char *text, size_t text_n) {
    size_t n = 0, side_n = 0;
    dstok_tokenizer *tok = NULL;
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    char *data = read_shared("vocab", r->file, &n),
         *side = r->side ? read_shared("vocab", r->side, &side_n) : NULL;
    if (data == NULL) {
        fprintf(stderr, "%s SKIPPED: not in ../shared\n", r->name);
        return;
    }
    options.pattern = r->pattern;
    CHECK_EQ(dstok_tokenizer_load_memory(data, n, side, side_n, &options, &tok, NULL), DSTOK_OK);
    free(data);
    free(side);
    if (tok != NULL) check_real(r->name, tok, text, text_n);
}

/* Any other vocabulary. */
static void test_file(const char *path, const char *text, size_t text_n) {
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.status = DSTOK_OK};
    if (dstok_tokenizer_load(path, NULL, &tok, &err) != DSTOK_OK) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        exit(1);
    }
    if (dstok__fast_knows(tok)) {
        check_real(path, tok, text, text_n);
    } else {
        fprintf(stderr, "%s SKIPPED: it has no fast way\n", path);
        dstok_tokenizer_free(tok);
    }
}

static void test_embedded(const char *text, size_t text_n) {
    dstok_tokenizer *tok = NULL;
    if (dstok__default_vocab_size == 0) {
        fprintf(stderr, "embedded default SKIPPED: built without it\n");
        return;
    }
    CHECK_EQ(dstok_tokenizer_load_default(NULL, &tok, NULL), DSTOK_OK);
    if (tok != NULL) check_real("embedded", tok, text, text_n);
}

static void test_named(const char *name, const char *text, size_t text_n) {
    if (strcmp(name, "made") == 0) {
        test_made();
    } else if (strcmp(name, "embedded") == 0) {
        test_embedded(text, text_n);
    } else {
        size_t i = 0;
        while (i < N_REALS && strcmp(reals[i].name, name) != 0) i++;
        if (i < N_REALS)
            test_real(&reals[i], text, text_n);
        else
            test_file(name, text, text_n);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) long_bytes = (size_t)(strtod(argv[1], NULL) * 1e6);
    if (argc > 2) seed = strtoull(argv[2], NULL, 0);
    printf("seed %llu; tiers:", (unsigned long long)seed);
    for (int tier = DSTOK_SIMD_SCALAR; tier < N_TIERS; tier++)
        if (dstok_simd_name(tier) != NULL) printf(" %s", dstok_simd_name(tier));
    printf("\n");
    size_t text_n, n = long_bytes > 0 ? N_REALS : N_SHORT;
    char *text = read_texts(&text_n);
    for (int i = 3; i < argc; i++) test_named(argv[i], text, text_n);
    if (argc <= 3) {
        test_made();
        test_embedded(text, text_n);
        for (size_t i = 0; i < n; i++) test_real(&reals[i], text, text_n);
    }
    free(text);
    return t_end();
}
