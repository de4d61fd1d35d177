/* SPDX-License-Identifier: MIT */
/* Decoding: four modes against a naive decoder, on ids that cut characters, on unknown ids, with little room; decoders
 * of files against recorded answers. */
#define _DEFAULT_SOURCE /* MAP_ANON */
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"

#include "../../simd/simd.h"

#include "decode_util.h"

#define MAX_IDS   40
#define MAX_BYTES 4000

static dstok_tokenizer *tok;

/* ---- the naive decoder ---- */

/* U+FFFD for each maximal ill-formed subpart. */
static size_t replace(const uint8_t *s, size_t n, uint8_t *out) {
    size_t k = 0;
    for (size_t i = 0; i < n;) {
        size_t width, bad = dstok__utf8_ill_formed(s + i, n - i, &width);
        memcpy(out + k, bad > 0 ? (const uint8_t *)"\xEF\xBF\xBD" : s + i, bad > 0 ? 3 : width);
        k += bad > 0 ? 3 : width;
        i += bad > 0 ? bad : width;
    }
    return k;
}

typedef struct result {
    dstok_status status;
    uint8_t bytes[MAX_BYTES];
    size_t n, unknown;
} result;

/* Joins the tokens; in mode replace an unknown id ends what stands before it. */
static void naive(const uint32_t *ids, size_t n, int mode, int skip_special, result *r) {
    uint8_t part[MAX_BYTES];
    size_t n_part = 0;
    *r = (result){.status = DSTOK_OK};
    for (size_t i = 0; i <= n; i++) {
        const void *bytes = NULL;
        size_t k = 0;
        bool known = i < n && dstok_token_bytes(tok, ids[i], &bytes, &k) == DSTOK_OK;
        if (known && !(skip_special && (dstok_token_flags(tok, ids[i]) & DSTOK_TOKEN_SPECIAL))) {
            memcpy(part + n_part, bytes, k);
            n_part += k;
        }
        if (known) continue;
        if (i == n || mode == DSTOK_DECODE_REPLACE) {
            if (mode == DSTOK_DECODE_REPLACE) {
                r->n += replace(part, n_part, r->bytes + r->n);
            } else {
                memcpy(r->bytes + r->n, part, n_part);
                r->n += n_part;
            }
            n_part = 0;
        }
        if (i == n) break;
        r->unknown++;
        if (mode == DSTOK_DECODE_REPLACE) {
            memcpy(r->bytes + r->n, "\xEF\xBF\xBD", 3);
            r->n += 3;
        }
    }
    if (r->unknown > 0 && mode <= DSTOK_DECODE_STRICT) {
        r->status = DSTOK_E_BAD_ID;
    } else if (mode == DSTOK_DECODE_STRICT && dstok__utf8_check(r->bytes, r->n) != r->n) {
        r->status = DSTOK_E_UTF8;
    }
}

/* ---- comparison ---- */

static void check(const uint32_t *ids, size_t n, int mode, int skip_special) {
    static result want;
    size_t got_n = 12345, unknown = 12345;
    dstok_error err = {.status = DSTOK_OK};
    naive(ids, n, mode, skip_special, &want);
    uint8_t *out = malloc(want.n + 1);
    dstok_status status = dstok_decode(tok, ids, n, mode, skip_special, out, want.n, &got_n, &unknown, &err);
    bool same = status == want.status;
    if (status == DSTOK_OK)
        same = same && got_n == want.n && unknown == want.unknown && memcmp(out, want.bytes, want.n) == 0;
    CHECK(same);
    if (!same && t_failures < 4) {
        fprintf(stderr, "mode %d skip %d: ", mode, skip_special);
        gen_print(out, status == DSTOK_OK && got_n <= want.n ? got_n : 0);
        for (size_t i = 0; i < n; i++) fprintf(stderr, " %u", ids[i]);
        fputc('\n', stderr);
    }
    if (status == DSTOK_E_UTF8) CHECK_EQ(err.offset, dstok__utf8_check(want.bytes, want.n));
    if (want.n > 0 && status == DSTOK_OK) { /* one byte too little */
        uint8_t *less = malloc(want.n);
        less[want.n - 1] = 0xAA;
        CHECK_EQ(dstok_decode(tok, ids, n, mode, skip_special, less, want.n - 1, &got_n, NULL, NULL),
                 DSTOK_E_SPACE);
        CHECK_EQ(got_n, want.n);
        CHECK_EQ(less[want.n - 1], 0xAA);
        free(less);
    }
    free(out);
}

static void check_all(const uint32_t *ids, size_t n) {
    for (int mode = DSTOK_DECODE_LOSSLESS; mode <= DSTOK_DECODE_RAW; mode++) {
        check(ids, n, mode, 0);
        check(ids, n, mode, 1);
    }
}

/* Byte tokens, tokens that cut characters, words, specials, ids without a token. */
static uint32_t random_id(t_rng *rng) {
    switch (t_below(rng, 8)) {
    case 0:
        return 256 + t_below(rng, 29);
    case 1:
        return 277 + t_below(rng, 3); /* E4 BD, A0 E5, E4 BD A0 */
    case 2:
        return 0xC2 + t_below(rng, 0x33);
    case 3:
    case 4:
        return 0x80 + t_below(rng, 0x40);
    case 5:
        return (uint32_t)t_random(rng);
    case 6:
        return 285 + t_below(rng, 3);
    default:
        return t_below(rng, 256);
    }
}

static void test_random(void) {
    t_rng rng = {31};
    uint32_t ids[MAX_IDS];
    for (int i = 0; i < 30000; i++) {
        size_t n = t_below(&rng, MAX_IDS);
        bool known_only = i % 2 == 0;
        for (size_t k = 0; k < n; k++) {
            do {
                ids[k] = random_id(&rng);
            } while (known_only && dstok_token_flags(tok, ids[k]) == 0);
        }
        check_all(ids, n);
    }
}

/* Every way to cut a character of each length into tokens, with something before and behind. */
static void test_cut_characters(void) {
    static const char *const characters[] = {"\xC3\xA9", "\xE4\xBD\xA0", "\xF0\x9F\x98\x80"};
    static const uint32_t around[] = {'a', 0xE4, 0x80, 283, 99999};
    for (size_t c = 0; c < 3; c++) {
        size_t n = strlen(characters[c]);
        for (size_t keep = 1; keep <= n; keep++) {
            for (size_t a = 0; a < 25; a++) {
                uint32_t ids[8] = {around[a % 5]};
                for (size_t i = 0; i < keep; i++) ids[1 + i] = (uint8_t)characters[c][i];
                ids[1 + keep] = around[a / 5];
                check_all(ids, keep + 2);
                check_all(ids, keep + 1);
                check_all(ids + 1, keep + 1);
            }
        }
    }
}

static void test_made(void) {
    const uint32_t ids[] = {259, 283, 0xE4, 284, 0xBD, 0xA0};
    char out[64];
    size_t n, unknown;
    /* A special token between the bytes of a character: skipped, they come together again. */
    CHECK_EQ(dstok_decode(tok, ids, 6, DSTOK_DECODE_STRICT, 1, out, sizeof out, &n, &unknown, NULL),
             DSTOK_E_UTF8);
    CHECK_EQ(dstok_decode(tok, ids, 6, DSTOK_DECODE_LOSSLESS, 0, out, sizeof out, &n, &unknown, NULL),
             DSTOK_OK);
    CHECK_EQ(n, 5 + 7 + 1 + 3 + 2);
    CHECK_MEM(out,
              "hello<|sys|>\xE4"
              "cat\xBD\xA0",
              n);
    const uint32_t split[] = {0xE4, 283, 0xBD, 0xA0};
    CHECK_EQ(dstok_decode(tok, split, 4, DSTOK_DECODE_STRICT, 1, out, sizeof out, &n, &unknown, NULL),
             DSTOK_OK);
    CHECK_EQ(n, 3);
    CHECK_MEM(out, "\xE4\xBD\xA0", 3);
}

static void test_errors(void) {
    const uint32_t ids[] = {97, 98, 300, 99}, text[] = {'a', 0xFF};
    dstok_error err = {.status = DSTOK_OK};
    size_t n = 0, unknown = 0;
    char out[8];
    CHECK_EQ(dstok_decode(tok, ids, 4, DSTOK_DECODE_LOSSLESS, 0, out, 8, &n, &unknown, &err), DSTOK_E_BAD_ID);
    CHECK_EQ(err.offset, 2); /* the index */
    CHECK_EQ(dstok_decode(tok, text, 2, DSTOK_DECODE_STRICT, 0, out, 8, &n, &unknown, &err), DSTOK_E_UTF8);
    CHECK_EQ(err.offset, 1);
    CHECK_EQ(dstok_decode(tok, ids, 4, DSTOK_DECODE_RAW, 0, out, 8, &n, &unknown, NULL), DSTOK_OK);
    CHECK_EQ(unknown, 1);
    CHECK_EQ(n, 3);
    CHECK_EQ(dstok_decode(tok, ids, 4, 4, 0, out, 8, &n, &unknown, &err), DSTOK_E_INVAL);
    CHECK_EQ(dstok_decode(tok, ids, 4, -1, 0, out, 8, &n, &unknown, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_decode(tok, NULL, 0, DSTOK_DECODE_STRICT, 0, NULL, 0, &n, NULL, NULL), DSTOK_OK);
    CHECK_EQ(n, 0);
    CHECK_EQ(dstok_decode(tok, ids, 2, DSTOK_DECODE_STRICT, 0, NULL, 0, &n, NULL, &err), DSTOK_E_SPACE);
    CHECK_EQ(n, 2);
}

/* ---- decoders of files: what tokenizers 0.23.3 gave ---- */

#define FALLBACK           "{\"type\":\"ByteFallback\"}"
#define FUSE               "{\"type\":\"Fuse\"}"
#define BLANKS             "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xE2\x96\x81\"},\"content\":\" \"}"
#define META               "{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\",\"prepend_scheme\":\"always\"}"
#define BPE                "{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}"
#define FLAGS              "\"single_word\":false,\"lstrip\":false,\"rstrip\":false"
#define LIST(decoders)     "{\"type\":\"Sequence\",\"decoders\":[" decoders "]}"
#define STRIP(start, stop) "{\"type\":\"Strip\",\"content\":\" \",\"start\":" start ",\"stop\":" stop "}"
#define GEMMA              LIST(BLANKS "," FALLBACK "," FUSE)
#define LLAMA              LIST(BLANKS "," FALLBACK "," FUSE "," STRIP("1", "0"))
#define CHATGLM            LIST(FALLBACK "," META)
#define ENDS               LIST(FUSE "," STRIP("2", "1"))
#define LATE               LIST(FALLBACK "," FUSE "," BLANKS)
#define CHANGE(from, to)   "{\"type\":\"Replace\",\"pattern\":{\"String\":\"" from "\"},\"content\":\"" to "\"}"
#define BYTE               LIST(CHANGE("b\xE2\x96\x81", "<0xBD>") "," FALLBACK)
#define NO_BYTE            LIST(CHANGE("<0x61>", "x") "," FALLBACK)
#define MAPPED             LIST("{\"type\":\"ByteLevel\"}," STRIP("1", "0"))
#define BOTH               LIST(FALLBACK "," META "," FUSE "," STRIP("0", "1"))

static const char words[] =
    "{\"model\":{\"type\":\"BPE\",\"end_of_word_suffix\":\"</w>\",\"merges\":[],\"vocab\":{"
    "\"<0xE2>\":0,\"<0x96>\":1,\"<0x81>\":2,\"<0xE4>\":3,\"<0xBD>\":4,\"<0xA0>\":5,\"<0x20>\":6,\"<0x61>\":7,"
    "\"\xE2\x96\x81\x61\":8,\"b\xE2\x96\x81\":9,\"\xE2\x96\x81\":10,\"x</w>\":11,\"\xC3\xA9\":12,\"a\":13,\" "
    "a \":14}},"
    "\"added_tokens\":["
    "{\"id\":15,\"content\":\"<s>\",\"special\":true,\"normalized\":false," FLAGS "},"
    "{\"id\":16,\"content\":\"\xE2\x96\x81s\",\"special\":false,\"normalized\":false," FLAGS "},"
    "{\"id\":17,\"content\":\"<0xF0>\",\"special\":true,\"normalized\":false," FLAGS "},"
    "{\"id\":18,\"content\":\" x \",\"special\":false,\"normalized\":false," FLAGS "}],"
    "\"decoder\":%s}";

static const struct {
    const char *decoder;
    uint32_t ids[8];
    size_t n;
    int skip_special;
    const char *want;
} decoders[] = {
    {GEMMA,
     {3, 4, 5, 8},
     4,
     0,
     "\xE4\xBD\xA0"
     " a"},
    {GEMMA,
     {3, 4, 8},
     3,
     0,
     "\xEF\xBF\xBD\xEF\xBF\xBD"
     " a"},
    {GEMMA,
     {3, 15, 4, 5},
     4,
     0,
     "\xEF\xBF\xBD"
     "<s>\xEF\xBF\xBD\xEF\xBF\xBD"},
    {GEMMA, {3, 15, 4, 5}, 4, 1, "\xE4\xBD\xA0"},
    {GEMMA, {3, 12}, 2, 0, "\xEF\xBF\xBD\xC3\xA9"},
    {GEMMA, {12, 3, 4, 5}, 4, 0, "\xC3\xA9\xE4\xBD\xA0"},
    {GEMMA, {3, 17, 17, 4}, 4, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {GEMMA, {3, 17, 17, 4}, 4, 1, "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {GEMMA, {0, 1, 2}, 3, 0, "\xE2\x96\x81"},
    {GEMMA, {17}, 1, 0, "\xEF\xBF\xBD"},
    {GEMMA, {7, 17}, 2, 0, "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {GEMMA, {7, 17}, 2, 1, "a"},
    {GEMMA, {7, 17, 7}, 3, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {GEMMA, {7, 17, 7}, 3, 1, "aa"},
    {GEMMA, {7, 3, 7}, 3, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {LLAMA, {8, 8}, 2, 0, "a a"},
    {LLAMA, {6, 6, 8}, 3, 0, "  a"},
    {LLAMA, {10, 10, 9}, 3, 0, " b "},
    {LLAMA, {15, 8}, 2, 0, "<s> a"},
    {LLAMA, {15, 8}, 2, 1, "a"},
    {LLAMA,
     {3, 8},
     2,
     0,
     "\xEF\xBF\xBD"
     " a"},
    {CHATGLM, {0, 1, 2, 8}, 4, 0, " a"},
    {CHATGLM, {7, 0, 1, 2, 7, 8}, 6, 0, "aa a"},
    {CHATGLM, {8, 0, 1, 2}, 4, 0, "a "},
    {CHATGLM, {15, 0, 1, 2, 9}, 5, 0, "<s> b "},
    {CHATGLM, {15, 0, 1, 2, 9}, 5, 1, "b "},
    {CHATGLM, {16, 16}, 2, 0, "s s"},
    {CHATGLM,
     {3, 8},
     2,
     0,
     "\xEF\xBF\xBD"
     " a"},
    {CHATGLM, {15, 16, 9}, 3, 0, "<s> sb "},
    {CHATGLM, {15, 16, 9}, 3, 1, "sb "},
    {META, {10, 8}, 2, 0, " a"},
    {META, {16, 8}, 2, 0, "s a"},
    {META,
     {12, 9},
     2,
     0,
     "\xC3\xA9"
     "b "},
    {META, {15, 9}, 2, 0, "<s>b "},
    {META, {15, 9}, 2, 1, "b"},
    {BPE, {11, 11}, 2, 0, "x x"},
    {BPE, {11, 15}, 2, 0, "x <s>"},
    {BPE, {11, 15}, 2, 1, "x"},
    {BPE, {11, 12}, 2, 0, "x \xC3\xA9"},
    {ENDS, {14, 14}, 2, 0, "a  a"},
    {ENDS, {6, 14, 14, 14}, 4, 0, "<0x20> a  a  a"},
    {LATE, {0, 1, 2, 8, 9}, 5, 0, "  ab "},
    {LATE,
     {0, 1, 8},
     3,
     0,
     "\xEF\xBF\xBD\xEF\xBF\xBD"
     " a"},
    {BYTE, {3, 9, 5}, 3, 0, "\xE4\xBD\xA0"},
    {MAPPED, {18, 18}, 2, 0, "x  x "},
    {NO_BYTE, {7, 3, 7}, 3, 0, "x\xEF\xBF\xBDx"},
    {BOTH, {8, 9}, 2, 0, "ab"},
    {BOTH, {0, 1, 2, 9, 9}, 5, 0, "b b"},
};

static dstok_tokenizer *load_words(const char *decoder) {
    char file[4096];
    dstok_tokenizer *out = NULL;
    dstok_error err = {.status = DSTOK_OK};
    int n = snprintf(file, sizeof file, words, decoder);
    if (dstok_tokenizer_load_memory(file, (size_t)n, NULL, 0, NULL, &out, &err) == DSTOK_OK) return out;
    fprintf(stderr, "%s: %s\n", decoder, err.text);
    exit(1);
}

/* Where all of it is text the other modes give the same, else bytes that are not UTF-8. */
static void check_decoder(const dstok_tokenizer *t, size_t i) {
    char out[64], raw[64];
    size_t n = 0, raw_n = 0, want_n = strlen(decoders[i].want), k = decoders[i].n;
    const uint32_t *ids = decoders[i].ids;
    int skip = decoders[i].skip_special;
    CHECK_EQ(dstok_decode(t, ids, k, DSTOK_DECODE_REPLACE, skip, out, sizeof out, &n, NULL, NULL), DSTOK_OK);
    bool same = n == want_n && memcmp(out, decoders[i].want, n) == 0;
    CHECK(same);
    if (!same) fprintf(stderr, "%s, case %zu: got %.*s\n", decoders[i].decoder, i, (int)n, out);
    CHECK_EQ(dstok_decode(t, ids, k, DSTOK_DECODE_LOSSLESS, skip, raw, sizeof raw, &raw_n, NULL, NULL),
             DSTOK_OK);
    if (strstr(decoders[i].want, "\xEF\xBF\xBD") == NULL) {
        CHECK_EQ(raw_n, n);
        CHECK_MEM(raw, out, n);
    } else {
        CHECK(dstok__utf8_check((const uint8_t *)raw, raw_n) < raw_n);
    }
    CHECK_EQ(dstok_decode(t, ids, k, DSTOK_DECODE_REPLACE, skip, out, want_n - 1, &n, NULL, NULL),
             DSTOK_E_SPACE);
    CHECK_EQ(n, want_n);
}

/* Ids of that vocabulary, few kinds to a list, and some that are none. */
static size_t random_words(t_rng *rng, uint32_t *ids) {
    size_t n = t_below(rng, 12);
    uint32_t from = t_below(rng, 20), kinds = 1 + t_below(rng, 6);
    for (size_t k = 0; k < n; k++)
        ids[k] = t_below(rng, 3) == 0 ? t_below(rng, 20) : (from + t_below(rng, kinds)) % 20;
    return n;
}

/* Every rule of a decoder that looks at a token's place, alone and together: many tokens at once are as one
 * after another. */
static void test_plans(void) {
    dstok_tokenizer *t = load_words(LLAMA);
    t_rng rng = {11};
    uint32_t ids[12];
    for (int i = 0; i < 3000; i++) {
        dstok_tokenizer other = *t;
        dstok__dec_plan plan = {.strip_char = ' ', .first_drops = i % 2 == 0 ? 0 : 0x2581};
        if (i % 3 == 0) plan.strip_start = t_below(&rng, 3), plan.strip_stop = t_below(&rng, 3);
        if (i % 4 == 0) plan.last_suffix_n = (uint32_t)t->suffix_n;
        if (i % 5 == 0) plan.spm_strip = t_below(&rng, 3), plan.spm_bytes = 1;
        if (i % 7 == 0) plan.run_char = 0x2581;
        other.plan = &plan;
        util_check_list(&other, ids, random_words(&rng, ids), &rng);
    }
    dstok_tokenizer_free(t);
}

static void test_decoders(void) {
    t_rng rng = {13};
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        dstok_tokenizer *t = load_words(decoders[i].decoder);
        check_decoder(t, i);
        util_check_list(t, decoders[i].ids, decoders[i].n, &rng);
        dstok_tokenizer_free(t);
    }
}

/* A long run of byte tokens with tokens between them that are left out takes no longer than any other. */
static void test_long_run(void) {
    enum { N = 200000 };
    dstok_tokenizer *t = load_words(CHATGLM);
    uint32_t *ids = malloc(N * sizeof *ids);
    uint8_t *out = malloc(3 * N);
    size_t n = 0;
    for (size_t i = 0; i < N; i++) ids[i] = i % 2 == 0 ? 3 : 15;
    CHECK_EQ(dstok_decode(t, ids, N, DSTOK_DECODE_REPLACE, 1, out, 3 * N, &n, NULL, NULL), DSTOK_OK);
    CHECK_EQ(n, 3 * N / 2);
    for (size_t i = 0; i < N; i++) ids[i] = 15;
    for (uint32_t i = 0; i < 3; i++) ids[i] = ids[N - 3 + i] = 3 + i;
    CHECK_EQ(dstok_decode(t, ids, N, DSTOK_DECODE_STRICT, 1, out, 3 * N, &n, NULL, NULL), DSTOK_OK);
    CHECK_EQ(n, 6);
    CHECK_MEM(out, "\xE4\xBD\xA0\xE4\xBD\xA0", 6);
    free(ids);
    free(out);
    dstok_tokenizer_free(t);
}

int main(void) {
    fixture f = fixture_words;
    f.added = "s:<|sys|>\n:cat\n:\xE4\xBD\xA0\n";
    tok = fixture_load(&f, NULL);
    test_random();
    test_cut_characters();
    test_made();
    test_errors();
    dstok_tokenizer_free(tok);
    test_decoders();
    test_plans();
    test_long_run();
    return t_end();
}
