/* SPDX-License-Identifier: MIT */
/* Streams: a text in feeds of any sizes gives the ids, spans, flags, report and error of one call. Sizes
 * inside of the stream are made small, so that short texts are broken everywhere; then as they are.
 * Arguments: rounds, seed, vocabulary files. */
#include "../../tokenizer/stream/inside.h"
#include "../harness/heap.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"
#include "../oracle/hard.h"
#include "../oracle/vary.h"

#include <stdlib.h>

#define MAX_TEXT 6000u

static t_rng rng;
static size_t n_texts, n_limits, n_errors, n_broken;
static const char *name;

/* ---- one call: what is right ---- */

typedef struct result {
    dstok_status status;
    dstok_error err;
    uint32_t *ids;
    dstok_span *spans;
    uint8_t *flags;
    size_t n, cap;
    dstok_report report;
} result;

static void append(result *r, const dstok_tokens *t) {
    if (t->n == 0) return;
    if (r->n + t->n > r->cap) {
        r->cap = 2 * (r->n + t->n);
        r->ids = realloc(r->ids, r->cap * sizeof *r->ids);
        r->spans = realloc(r->spans, r->cap * sizeof *r->spans);
        r->flags = realloc(r->flags, r->cap);
        if (r->ids == NULL || r->spans == NULL || r->flags == NULL) exit(1);
    }
    memcpy(r->ids + r->n, t->ids, t->n * sizeof *t->ids);
    if (t->spans != NULL) memcpy(r->spans + r->n, t->spans, t->n * sizeof *t->spans);
    if (t->flags != NULL) memcpy(r->flags + r->n, t->flags, t->n);
    r->n += t->n;
}

static void encode_whole(dstok_encoder *enc, const uint8_t *text, size_t n, const dstok_encode_options *o,
                         result *r) {
    dstok_tokens t = {0};
    r->n = 0;
    r->status = dstok_encode_view(enc, text, n, o, &t, &r->err);
    if (r->status == DSTOK_OK) append(r, &t);
    r->report = *dstok_encode_report(enc);
}

/* ---- a stream ---- */

/* Sizes of feeds: 0: single bytes, 1: small, 2: all at once. */
static void encode_stream(dstok_stream *s, const uint8_t *text, size_t n, unsigned sizes, result *r) {
    dstok_tokens t = {0};
    r->n = 0;
    r->status = DSTOK_OK;
    for (size_t i = 0, k; i < n && r->status == DSTOK_OK; i += k) {
        k = sizes == 0 ? 1 : sizes == 1 ? t_below(&rng, 300) : n;
        if (k > n - i) k = n - i;
        r->status = dstok_stream_feed(s, text + i, k, &t, &r->err);
        if (r->status == DSTOK_OK) append(r, &t);
    }
    if (r->status == DSTOK_OK && r->n > 0) n_broken++;
    if (r->status == DSTOK_OK) r->status = dstok_stream_finish(s, &t, &r->err);
    if (r->status == DSTOK_OK) append(r, &t);
    r->report = *dstok_stream_report(s);
    if (r->status != DSTOK_OK) dstok_stream_reset(s);
}

static bool same_tokens(const result *want, const result *got, bool ids_only) {
    if (want->n != got->n) return false;
    if (want->n == 0) return true;
    return memcmp(want->ids, got->ids, want->n * sizeof *want->ids) == 0 &&
           (ids_only || (memcmp(want->spans, got->spans, want->n * sizeof *want->spans) == 0 &&
                         memcmp(want->flags, got->flags, want->n) == 0));
}

static bool same_report(const dstok_report *a, const dstok_report *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static void show(const uint8_t *text, size_t n, const dstok_encode_options *o, const result *want,
                 const result *got, size_t step, size_t hold) {
    size_t i = 0;
    while (i < want->n && i < got->n && want->ids[i] == got->ids[i] &&
           (o->ids_only || (memcmp(&want->spans[i], &got->spans[i], sizeof *want->spans) == 0 &&
                            want->flags[i] == got->flags[i])))
        i++;
    fprintf(stderr,
            "%s: special %d invalid %d add %d strict %d ids_only %d max %zu step %zu hold %zu: status %d %d, "
            "offset %lld %lld, n %zu %zu, token %zu",
            name, o->special, o->invalid, o->add_special, o->strict, o->ids_only, o->max_tokens, step, hold,
            want->status, got->status, want->status ? (long long)want->err.offset : 0,
            got->status ? (long long)got->err.offset : 0, want->n, got->n, i);
    if (i < want->n)
        fprintf(stderr, " id %u at %zu", want->ids[i], o->ids_only ? 0 : (size_t)want->spans[i].begin);
    if (i < got->n)
        fprintf(stderr, ", got %u at %zu", got->ids[i], o->ids_only ? 0 : (size_t)got->spans[i].begin);
    fprintf(stderr,
            "\n unknown %llu %llu dropped %llu %llu invalid %llu %llu special %llu %llu first %lld %lld %lld "
            "%lld\n",
            (unsigned long long)want->report.n_unknown, (unsigned long long)got->report.n_unknown,
            (unsigned long long)want->report.n_dropped, (unsigned long long)got->report.n_dropped,
            (unsigned long long)want->report.n_invalid, (unsigned long long)got->report.n_invalid,
            (unsigned long long)want->report.n_special_text, (unsigned long long)got->report.n_special_text,
            (long long)want->report.first_unknown, (long long)got->report.first_unknown,
            (long long)want->report.first_special, (long long)got->report.first_special);
    if (got->status) fprintf(stderr, " %s\n", got->err.text);
    if (n < 400) {
        gen_print(text, n);
    } else if (i < want->n && !o->ids_only) {
        size_t at = want->spans[i].begin, from = at > 100 ? at - 100 : 0;
        gen_print(text + from, at + 100 < n ? 200 : n - from);
    }
    fprintf(stderr, "\n");
}

/* The same for this text, or an error that the documentation allows. */
static void check(dstok_encoder *enc, dstok_stream *s, const dstok_encode_options *o, const uint8_t *text,
                  size_t n, bool is_small) {
    static result want, got;
    n_texts++;
    if (is_small) {
        s->step = 16 + t_below(&rng, 200);
        s->hold = 8 + t_below(&rng, 100);
        s->max_held = 2 * MAX_TEXT;
    }
    dstok_stream_reset(s);
    encode_whole(enc, text, n, o, &want);
    encode_stream(s, text, n, t_below(&rng, 8) < 6 ? 1 : t_below(&rng, 2) * 2, &got);
    bool is_good = want.status == got.status;
    if (got.status == DSTOK_E_LIMIT && is_small && want.status == DSTOK_OK) {
        n_limits++;
        return;
    }
    if (want.status != DSTOK_OK && o->max_tokens > 0 && got.status == DSTOK_OK) {
        is_good = got.n == o->max_tokens; /* what stands behind them was not looked at */
    } else if (want.status != DSTOK_OK) {
        n_errors++;
        /* of several errors a stream meets the first one, and the message is the same where it is the same
         * one */
        is_good =
            got.status != DSTOK_OK && (want.status == got.status ? got.err.offset <= want.err.offset : true);
        if (want.status == got.status && o->strict + (o->special == DSTOK_SPECIAL_ERROR) <= 1 &&
            (o->invalid != DSTOK_INVALID_ERROR || want.status == DSTOK_E_UTF8))
            is_good = is_good && (got.err.offset == want.err.offset || want.status == DSTOK_E_SPECIAL);
    } else {
        is_good = is_good && same_tokens(&want, &got, o->ids_only != 0);
        if (o->max_tokens == 0) is_good = is_good && same_report(&want.report, &got.report);
    }
    t_checks++;
    if (is_good) return;
    t_failures++;
    if (t_failures < 12) show(text, n, o, &want, &got, s->step, s->hold);
}

static dstok_encode_options any_options(const dstok_tokenizer *tok) {
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    static uint32_t allowed[1];
    dstok_info info = DSTOK_INFO_INIT;
    (void)dstok_tokenizer_info(tok, &info);
    o.special = (int)t_below(&rng, 6);
    o.invalid = (int)t_below(&rng, 3);
    o.add_special = t_below(&rng, 2) == 0;
    o.strict = t_below(&rng, 8) == 0;
    o.ids_only = t_below(&rng, 3) == 0;
    o.max_tokens = t_below(&rng, 10) == 0 ? 1 + t_below(&rng, 400) : 0;
    for (uint32_t i = 0; i < info.n_ids && o.special == DSTOK_SPECIAL_LIST && o.n_allowed == 0; i++) {
        if (!(dstok_token_flags(tok, i) & DSTOK_TOKEN_ADDED)) continue;
        allowed[0] = i;
        o.allowed = allowed;
        o.n_allowed = 1;
    }
    return o;
}

/* ---- texts ---- */

static size_t any_text(const dstok_tokenizer *tok, uint8_t *out, size_t max) {
    size_t n = 0;
    unsigned kind = t_below(&rng, 5);
    max = max < 64 ? 64 : max;
    if (kind == 0) n = hard_text(&rng, t_below(&rng, HARD_KINDS), out, max);
    if (kind == 1) n = gen_text(&rng, out, max);
    if (kind == 2) n = gen_tokens(&rng, tok, out, max);
    if (kind == 3) {
        while (n + 80 < max && t_below(&rng, 60) > 0) {
            switch (t_below(&rng, 3)) {
            case 0:
                n += gen_tokens(&rng, tok, out + n, 16 + t_below(&rng, 40));
                break;
            case 1:
                n += gen_text(&rng, out + n, 16 + t_below(&rng, 60));
                break;
            default:
                for (unsigned k = t_below(&rng, 30); k > 0; k--)
                    out[n++] = (uint8_t)("ab  e1\n,ABl<|>.'o"[t_below(&rng, 17)]);
            }
        }
    }
    if (kind == 4) { /* runs, with now and then something else */
        while (n + 10 < max && t_below(&rng, 10) > 0) {
            static const char *const units[] = {"a",  "A",  " ",        "\n", "1",  "(",  "\xE6\x97\xA5",
                                                "aB", "12", "\xC3\xA9", "ab", "lo", "'s", "e\xCC\x81",
                                                " a"};
            const char *unit = units[t_below(&rng, 15)];
            for (unsigned k = t_below(&rng, 900); k > 0 && n + 10 < max; k--, n += strlen(unit))
                memcpy(out + n, unit, strlen(unit));
        }
    }
    return n;
}

static void test_vocabulary(const dstok_tokenizer *tok, unsigned rounds, size_t max, bool is_small) {
    static uint8_t text[1 << 20];
    dstok_encoder *enc = fixture_encoder(tok);
    for (unsigned i = 0; i < rounds; i++) {
        dstok_encode_options o = any_options(tok);
        dstok_stream *s = NULL;
        dstok_status status = dstok_stream_new(tok, &o, NULL, &s, NULL);
        if (status == DSTOK_E_UNSUPPORTED && o.invalid != DSTOK_INVALID_ERROR) continue;
        CHECK_EQ(status, DSTOK_OK);
        if (status != DSTOK_OK) break;
        for (unsigned k = 0; k < 3; k++) {
            size_t n = any_text(tok, text, 64 + t_below(&rng, (uint32_t)max));
            if (o.invalid != DSTOK_INVALID_ERROR || t_below(&rng, 10) == 0) {
                if (t_below(&rng, 2) == 0) n = hard_damage(&rng, text, n);
            }
            check(enc, s, &o, text, n, is_small);
        }
        dstok_stream_free(s);
    }
    dstok_encoder_free(enc);
}

/* ---- vocabularies ---- */

#define SPLIT(pattern, behavior)                                                                             \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" pattern "\"},\"behavior\":\"" behavior                   \
    "\",\"invert\":false}"
#define CL100K                                                                                               \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}| "                   \
    "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define BAILING                                                                                              \
    "'(?i:[sdmt]|ll|ve|re)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?+\\\\p{L}+|\\\\p{N}"                                \
    "| ?[^\\\\s\\\\p{L}\\\\p{N}]++[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]|\\\\s+(?!\\\\S)|\\\\s+"
#define SEED_CODER                                                                                           \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1}"                       \
    "| ?[^\\\\s\\\\p{L}\\\\p{N}\\\\r\\\\n]+|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define MINICPM5                                                                                             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}+"                         \
    "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define META "\xE2\x96\x81"
#define LEVEL(prefix, regex)                                                                                 \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":" prefix ",\"trim_offsets\":true,\"use_regex\":" regex "}"

static const char *const pretokenizers[] = {
    NULL,
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT(CL100K, "Isolated") "," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT("[a-z]+(?!x)| ?\\\\p{L}+|\\\\s+$|[^a-z]",
                                                       "Isolated") "," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT("(?<=a)b|l+",
                                                       "MergedWithPrevious") "," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT("l+", "MergedWithNext") "," LEVEL("false",
                                                                                         "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT("[ab]", "Contiguous") "," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT("\\\\s+", "Removed") "," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true}," LEVEL(
        "false", "true") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Punctuation\",\"behavior\":\"Isolated\"}," LEVEL(
        "true", "true") "]}",
    LEVEL("true", "true"),
    LEVEL("true", "false"),
    LEVEL("false", "false"),
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"}," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Whitespace\"}," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"UnicodeScripts\"}," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT(BAILING, "Isolated") "," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT(SEED_CODER, "Isolated") "," LEVEL("false",
                                                                                         "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT("\\\\p{N}{1,3}", "Isolated") "," SPLIT(
        MINICPM5, "Isolated") "," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Metaspace\",\"replacement\":\"" META
    "\",\"prepend_scheme\":\"first\",\"split\":true}," LEVEL("false", "false") "]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Metaspace\",\"replacement\":\"" META
    "\",\"prepend_scheme\":\"always\",\"split\":false}," LEVEL("false", "false") "]}",
};
static const char *const normalizers[] = {
    NULL,
    NULL,
    "{\"type\":\"NFC\"}",
    "{\"type\":\"NFKC\"}",
    "{\"type\":\"NFD\"}",
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":"
    "\"\\\\s+\"},\"content\":\" \"},{\"type\":\"Lowercase\"}]}",
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"" META
    "\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" META "\"}]}",
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},{"
    "\"type\":\"StripAccents\"}]}",
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"ab\"},\"content\":\"x\"}",
    "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a+b\"},\"content\":\"x\"}",
    "{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":null,"
    "\"lowercase\":true}",
    "{\"type\":\"Nmt\"}",
};
static const char *const added[] = {
    NULL,
    "s:<|a|>\ns:<|a|><|b|>\n:  \n:lo",
    "slr:<|a|>\nn:lo\nnw:ab\nrn:e1\nw:ha",
    "sn:<|a|>\nnl:,\nnr:.\n:((",
};
#define N(a) (sizeof(a) / sizeof *(a))

static void test_made(unsigned rounds) {
    size_t n_seed = 0, n_mini = 0;
    for (unsigned i = 0; i < rounds; i++) {
        hard_merges m;
        char label[80];
        hard_merges_make(&m, &rng, 20 + t_below(&rng, 200), t_below(&rng, 2) == 0);
        fixture f = hard_fixture(&m);
        unsigned p = t_below(&rng, N(pretokenizers)), z = t_below(&rng, N(normalizers)),
                 a = t_below(&rng, N(added));
        f.pre_tokenizer = pretokenizers[p];
        f.normalizer = normalizers[z];
        f.added = added[a];
        if (t_below(&rng, 3) == 0) f.model = "\"ignore_merges\":true,";
        snprintf(label, sizeof label, "made: pre_tokenizer %u, normalizer %u, added %u", p, z, a);
        name = label;
        dstok_tokenizer *tok = fixture_load(&f, NULL);
        dstok_info info = DSTOK_INFO_INIT;
        CHECK_EQ(dstok_tokenizer_info(tok, &info), DSTOK_OK);
        n_seed += strcmp(info.scanner, "seed_coder") == 0;
        n_mini += strcmp(info.scanner, "minicpm5") == 0;
        test_vocabulary(tok, 10, MAX_TEXT - 100, true);
        dstok_tokenizer_free(tok);
        hard_merges_free(&m);
    }
    CHECK(rounds < 100 || (n_seed > 0 && n_mini > 0));
}

static void test_varied(unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++) {
        size_t n;
        char *json = vary_json(&rng, &n);
        dstok_tokenizer *tok = NULL;
        name = "varied";
        if (dstok_tokenizer_load_memory(json, n, NULL, 0, NULL, &tok, NULL) == DSTOK_OK) {
            test_vocabulary(tok, 10, 2000, true);
            dstok_tokenizer_free(tok);
        }
        free(json);
    }
}

/* Each pattern that has a name, with bytes and a few words. */
static void test_patterns(unsigned rounds) {
    size_t n, n_patterns = 0;
    char *ranks = fixture_ranks(&n);
    for (const char *pattern; (pattern = dstok__pattern_name_at(n_patterns)) != NULL; n_patterns++) {
        dstok_load_options o = DSTOK_LOAD_OPTIONS_INIT;
        dstok_tokenizer *tok = NULL;
        o.pattern = name = pattern;
        CHECK_EQ(dstok_tokenizer_load_memory(ranks, n, NULL, 0, &o, &tok, NULL), DSTOK_OK);
        if (tok == NULL) continue;
        test_vocabulary(tok, rounds, MAX_TEXT - 100, true);
        dstok_tokenizer_free(tok);
    }
    CHECK(n_patterns > 8);
    free(ranks);
}

static void test_file(const char *path, unsigned rounds) {
    dstok_tokenizer *tok = NULL;
    dstok_load_options o = DSTOK_LOAD_OPTIONS_INIT;
    dstok_error err;
    name = path;
    if (strstr(path, ".tiktoken") != NULL && strstr(path, "qwen") == NULL)
        o.pattern = strstr(path, "o200k")    ? "o200k_base"
                    : strstr(path, "cl100k") ? "cl100k_base"
                                             : "p50k_base";
    dstok_status status = path[0] == 0 ? dstok_tokenizer_load_default(NULL, &tok, &err)
                                       : dstok_tokenizer_load(path, &o, &tok, &err);
    if (status != DSTOK_OK) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        return;
    }
    size_t before = n_limits;
    test_vocabulary(tok, rounds, MAX_TEXT - 100, true);
    test_vocabulary(tok, rounds / 8, 600000, false);
    printf("%s: %zu limits\n", path, n_limits - before);
    dstok_tokenizer_free(tok);
}

/* NULL: it is not there. */
static dstok_tokenizer *load_shared(const char *path) {
    size_t n;
    dstok_tokenizer *tok = NULL;
    const char *full = t_shared(path);
    char *data = full != NULL ? t_read(full, &n) : NULL;
    if (data == NULL) {
        fprintf(stderr, "%-36s SKIPPED: not in ../shared\n", path);
        return NULL;
    }
    name = path;
    CHECK_EQ(dstok_tokenizer_load_memory(data, n, NULL, 0, NULL, &tok, NULL), DSTOK_OK);
    free(data);
    return tok;
}

static void test_shared(unsigned rounds) {
    static const char *const names[] = {"qwen3.tokenizer.json",      "gemma3.tokenizer.json",
                                        "clip.tokenizer.json",       "deepseek_v3.tokenizer.json",
                                        "mistral_v3.spm.model",      "claude_nfkc.tokenizer.json",
                                        "phi-3-mini.tokenizer.json", "chatglm3.tokenizer.json"};
    for (size_t i = 0; i < N(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "vocab/%s.xz", names[i]);
        dstok_tokenizer *tok = load_shared(path);
        if (tok == NULL) continue;
        test_vocabulary(tok, rounds, MAX_TEXT - 100, true);
        test_vocabulary(tok, 2, 300000, false);
        dstok_tokenizer_free(tok);
    }
}

/* Small ones, each odd in its own way. */
static void test_tiny(unsigned rounds) {
    static const char *const names[] = {"base",
                                        "collide",
                                        "dupmerge",
                                        "dupspecial",
                                        "gap",
                                        "ignore_off",
                                        "ignore_on",
                                        "lrstrip",
                                        "lstrip",
                                        "nfc",
                                        "nfkc",
                                        "overlap",
                                        "rstrip",
                                        "single",
                                        "strmerge",
                                        "normalized_lower",
                                        "tie",
                                        "splitregex",
                                        "special_in_vocab"};
    for (size_t i = 0; i < N(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "cases/tiny/%s.json", names[i]);
        dstok_tokenizer *tok = load_shared(path);
        if (tok == NULL) continue;
        test_vocabulary(tok, rounds, MAX_TEXT - 100, true);
        dstok_tokenizer_free(tok);
    }
}

/* ---- long texts ---- */

/* Endless texts that have no place where every family begins a pretoken, in bounded memory; the tokens are
 * those of a whole text of the first megabytes, as far as that goes. */
static void test_long(size_t mib) {
    static const char *const units[] = {"a", " ",  "(", "7",  "\n",  "\xE6\x97\xA5",
                                        "A", "ab", "'", "!?", "x1(", "\xC3\xA9"};
    static uint8_t block[(size_t)1 << 20];
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok_load_options load = DSTOK_LOAD_OPTIONS_INIT;
    dstok_tokenizer *tok = NULL;
    load.alloc = &al;
    name = "long";
    fixture f = fixture_words;
    if (dstok_tokenizer_load_default(&load, &tok, NULL) != DSTOK_OK) tok = fixture_load(&f, &al);
    dstok_encoder *enc = fixture_encoder(tok);
    for (size_t u = 0; u < N(units); u++) {
        size_t k = strlen(units[u]), n = sizeof block / k * k, most = 0, got = 0, at = 0;
        dstok_tokens want = {0}, t = {0};
        dstok_stream *s = NULL;
        dstok_error err = {0};
        for (size_t i = 0; i < n; i++) block[i] = (uint8_t)units[u][i % k];
        CHECK_EQ(dstok_encode_view(enc, block, n, NULL, &want, NULL), DSTOK_OK);
        size_t before = heap.live_bytes;
        dstok_status status = dstok_stream_new(tok, NULL, NULL, &s, NULL);
        for (size_t i = 0; i < mib * n && status == DSTOK_OK; i += n / 4) {
            status = dstok_stream_feed(s, block, n / 4 / k * k, &t, &err);
            if (heap.live_bytes - before > most) most = heap.live_bytes - before;
            if (status != DSTOK_OK) break;
            got += t.n;
            /* all but the end of the whole text, whose last tokens know of it */
            for (size_t j = 0; j < t.n && at + 64 < want.n; j++, at++)
                if (t.ids[j] != want.ids[at]) status = DSTOK_E_STATE;
        }
        if (status == DSTOK_OK) status = dstok_stream_finish(s, &t, &err);
        CHECK_EQ(status, DSTOK_OK);
        if (status != DSTOK_OK) fprintf(stderr, "unit %zu: %s, at token %zu\n", u, err.text, at);
        CHECK(at + 64 >= want.n);
        CHECK(most < (size_t)64 << 20);
        printf("%zu MiB of unit %zu: %zu tokens, at most %.1f MB\n", mib, u, got + t.n, (double)most / 1e6);
        dstok_stream_free(s);
    }
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

/* ---- how much memory: the figures of <dstok/stream.h> ---- */

/* Feeds of 64 KB until the stream fails or has n bytes. Bytes of memory at most, those of the tokenizer not
 * counted. */
static size_t most_memory(const fixture *f, const uint8_t *text, size_t n, dstok_status want) {
    t_heap heap = {0};
    dstok_alloc al = t_heap_alloc(&heap);
    dstok_load_options load = DSTOK_LOAD_OPTIONS_INIT;
    dstok_tokenizer *tok = NULL;
    dstok_stream *s = NULL;
    dstok_tokens t;
    load.alloc = &al;
    if (f != NULL || dstok_tokenizer_load_default(&load, &tok, NULL) != DSTOK_OK)
        tok = fixture_load(f != NULL ? f : &fixture_words, &al);
    size_t before = heap.live_bytes;
    heap.peak_bytes = before;
    dstok_status status = dstok_stream_new(tok, NULL, NULL, &s, NULL);
    for (size_t i = 0; i < n && status == DSTOK_OK; i += 65536)
        status = dstok_stream_feed(s, text + i, n - i < 65536 ? n - i : 65536, &t, NULL);
    if (status == DSTOK_OK) status = dstok_stream_finish(s, &t, NULL);
    CHECK_EQ(status, want);
    size_t most = heap.peak_bytes - before;
    dstok_stream_free(s);
    dstok_tokenizer_free(tok);
    return most;
}

static void test_figures(void) {
    size_t n = (size_t)8 << 20, k;
    uint8_t *text = malloc(n);
    if (text == NULL) exit(1);
    for (size_t i = 0; i < n; i++) text[i] = (uint8_t)(t_below(&rng, 6) == 0 ? ' ' : 'a' + t_below(&rng, 26));
    k = most_memory(NULL, text, n, DSTOK_OK);
    printf("words: at most %.1f MB\n", (double)k / 1e6);
    CHECK(k < 20000000);
    fixture f = fixture_words; /* all is kept, each byte changes, and all of it is one pretoken */
    f.normalizer = "{\"type\":\"Lowercase\"}";
    f.pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[" SPLIT("(?<=a)b", "Isolated") "," LEVEL(
        "false", "false") "]}";
    memset(text, 'H', n);
    for (int i = 0; i < 2; i++) { /* up to what may be kept; and beyond */
        k = most_memory(&f, text, DSTOK_STREAM_HELD - (i == 0), i == 0 ? DSTOK_OK : DSTOK_E_LIMIT);
        printf("a megabyte that is kept: at most %.1f MB\n", (double)k / 1e6);
        CHECK(k < 256000000);
    }
    free(text);
}

/* ---- memory that is refused ---- */

static dstok_status stream_with(const dstok_alloc *al, const fixture *f, const uint8_t *text, size_t n,
                                dstok_error *err) {
    dstok_tokens t = {0};
    dstok_stream *s = NULL;
    dstok_tokenizer *tok = NULL;
    dstok_load_options load = DSTOK_LOAD_OPTIONS_INIT;
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    size_t json_n;
    char *json = fixture_json(f, &json_n);
    load.alloc = al;
    o.invalid = DSTOK_INVALID_REPLACE;
    dstok_status status = dstok_tokenizer_load_memory(json, json_n, NULL, 0, &load, &tok, err);
    free(json);
    if (status == DSTOK_OK) status = dstok_stream_new(tok, &o, NULL, &s, err);
    if (s != NULL) {
        s->step = 64;
        s->hold = 20;
        dstok_stream_reset(s);
    }
    for (size_t i = 0; i < n && status == DSTOK_OK; i += 50)
        status = dstok_stream_feed(s, text + i, n - i < 50 ? n - i : 50, &t, err);
    if (status == DSTOK_OK) status = dstok_stream_finish(s, &t, err);
    dstok_stream_free(s);
    dstok_tokenizer_free(tok);
    return status;
}

static void test_memory(void) {
    static const unsigned pairs[][2] = {{0, 2}, {2, 0}, {11, 6}};
    for (size_t i = 0; i < N(pairs); i++) {
        uint8_t text[600];
        size_t n = hard_text(&rng, 3, text, 300);
        memset(text + n, 'o', 290);
        n += 290;
        fixture f = fixture_words;
        f.pre_tokenizer = pretokenizers[pairs[i][0]];
        f.normalizer = normalizers[pairs[i][1]];
        t_heap heap = {0};
        for (size_t k = 1; heap.calls + 1 >= k; k++) {
            dstok_error err = {0};
            heap = (t_heap){.fail_at = k};
            dstok_alloc al = t_heap_alloc(&heap);
            dstok_status status = stream_with(&al, &f, text, n, &err);
            CHECK_EQ(heap.live, 0);
            CHECK(status == DSTOK_OK || (status == DSTOK_E_NOMEM && err.status == DSTOK_E_NOMEM) ||
                  status == DSTOK_E_LIMIT);
            if (heap.calls < k) break;
        }
    }
}

/* ---- misuse ---- */

static void test_misuse(void) {
    fixture f = fixture_words;
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_stream_options so = DSTOK_STREAM_OPTIONS_INIT;
    dstok_stream *s = NULL;
    dstok_tokens t = {0};
    dstok_error err;
    CHECK_EQ(dstok_stream_new(NULL, NULL, NULL, &s, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_stream_new(tok, NULL, NULL, NULL, NULL), DSTOK_E_INVAL);
    o.span_style = DSTOK_SPANS_HF;
    CHECK_EQ(dstok_stream_new(tok, &o, NULL, &s, &err), DSTOK_E_UNSUPPORTED);
    CHECK(strstr(err.text, "DSTOK_SPANS_HF") != NULL);
    o.span_style = 77;
    CHECK_EQ(dstok_stream_new(tok, &o, NULL, &s, &err), DSTOK_E_INVAL);
    so.max_held = 100;
    CHECK_EQ(dstok_stream_new(tok, NULL, &so, &s, &err), DSTOK_E_INVAL);
    CHECK(s == NULL);
    so.max_held = 0;
    CHECK_EQ(dstok_stream_new(tok, NULL, &so, &s, &err), DSTOK_OK);
    if (s == NULL) exit(1);
    CHECK_EQ(dstok_stream_feed(s, NULL, 1, &t, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_stream_feed(s, "hello \xFF", 7, &t, NULL), DSTOK_OK);
    CHECK_EQ(dstok_stream_finish(s, &t, &err), DSTOK_E_UTF8);
    CHECK_EQ(err.offset, 6);
    CHECK_EQ(dstok_stream_feed(s, "a", 1, &t, &err), DSTOK_E_STATE);
    dstok_stream_reset(s);
    for (int i = 0; i < 2; i++) { /* a stream is used again */
        CHECK_EQ(dstok_stream_feed(s, "hello", 5, &t, NULL), DSTOK_OK);
        CHECK_EQ(t.n, 0);
        CHECK_EQ(dstok_stream_finish(s, &t, NULL), DSTOK_OK);
        CHECK(t.n > 0 && t.spans[t.n - 1].end == 5);
        CHECK_EQ(dstok_stream_report(s)->n_unknown, 0);
    }
    dstok_stream_free(s);
    dstok_stream_free(NULL);
    dstok_tokenizer_free(tok);
}

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 150;
    rng.state = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    if (argc <= 3) {
        test_misuse();
        test_memory();
        test_figures();
        test_made(rounds);
        test_varied(rounds);
        test_patterns(rounds / 4);
        test_file("", rounds);
        test_shared(rounds / 8);
        test_tiny(rounds / 4);
        test_long(rounds > 1000 ? 300 : 3);
    }
    for (int i = 3; i < argc; i++) test_file(argv[i], rounds);
    printf("%zu texts, %zu broken, %zu errors, %zu limits\n", n_texts, n_broken, n_errors, n_limits);
    CHECK(argc > 3 || n_broken > n_texts / 4);
    CHECK(n_limits < n_texts / 100);
    return t_end();
}
