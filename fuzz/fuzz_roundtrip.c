/* SPDX-License-Identifier: MIT */
/* Fuzz target: bytes 0 to 2 choose vocabulary, policies and a failing allocation, the rest is text. What
 * must hold of every encoding holds: tiling spans, equal counts, no control token from untrusted text,
 * decoding gives it back. */
#include "../tokenizer/load/bytelevel.h"
#include "../tokenizer/text/utf8.h"

#include <dstok/align.h>
#include <dstok/tokenizer.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT 4096u

static void require(int condition) {
    if (!condition) abort();
}

/* ---- an allocator that fails once, at a call the input names ---- */

static size_t calls, fail_at;

static void *fuzz_alloc(void *ctx, size_t n) {
    (void)ctx;
    return ++calls == fail_at ? NULL : malloc(n);
}
static void *fuzz_realloc(void *ctx, void *p, size_t old, size_t n) {
    (void)ctx;
    (void)old;
    return ++calls == fail_at ? NULL : realloc(p, n);
}
static void fuzz_free(void *ctx, void *p, size_t n) {
    (void)ctx;
    (void)n;
    free(p);
}
static const dstok_alloc allocator = {fuzz_alloc, fuzz_realloc, fuzz_free, NULL};

/* ---- vocabularies: the embedded one, a rank file of bytes and a few words with each of two meta files, a
 * tokenizer.json with every flag, one of the SentencePiece kind with holes, and a SentencePiece model ---- */

#define SPECIALS "\"special_tokens\":{\"<|a|>\":300,\"<|a|><|b|>\":301,\"<think>\":302}"
static const char *const metas[] = {
    "{" SPECIALS "}",
    "{\"pattern\":\"[a-z]+(?!x)| ?\\\\p{L}+|\\\\s+$|[^a-z]\"," SPECIALS ",\"normalizer\":\"NFC\"}",
};
enum { EMBEDDED, RANKS, RANKS_NFC, FLAGS, CHARACTERS, PIECES, N_VOCABULARIES };
static dstok_tokenizer *vocabularies[N_VOCABULARIES];

static size_t rank_file(char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (unsigned b = 0; b < 256; b++) {
        n += (size_t)sprintf(out + n, "%c%c== %u\n", digits[b >> 2], digits[(b & 3) << 4], b);
    }
    /* aa, aaaa, he, ll, hello, two blanks, E4 BD, A0 E5, <| , |> */
    return n + (size_t)sprintf(
                   out + n, "YWE= 256\nYWFhYQ== 257\naGU= 258\nbGw= 259\naGVsbG8= 260\nICA= 261\n5L0= 262\n"
                            "oOU= 263\nPHw= 264\nfD4= 265\n");
}

#define ADDED(content, special, single, strip, norm)                                                         \
    "{\"id\":0,\"content\":\"" content "\",\"single_word\":" single ",\"lstrip\":" strip                     \
    ",\"rstrip\":" strip ",\"normalized\":" norm ",\"special\":" special "}"

/* Bytes but z, whose id is the byte, and aa, aaaa. */
static size_t flags_file(char *out) {
    static const char head[] =
        "{\"version\":\"1.0\",\"added_tokens\":[" ADDED("<|a|>", "true", "false", "true", "false") "," ADDED(
            "lo", "false", "true", "false",
            "true") "," ADDED("[END]", "true", "false", "false",
                              "true") "],"
                                      "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":"
                                      "\"NFKC\"},{\"type\":\"Lowercase\"}]},"
                                      "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true},"
                                      "\"post_processor\":null,"
                                      "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\","
                                      "\"vocab\":{\"aa\":256,\"aaaa\":257";
    size_t n = (size_t)sprintf(out, "%s", head);
    for (unsigned b = 0; b < 256; b++) {
        uint8_t key[5] = {0};
        if (b == 'z') continue;
        dstok__utf8_put(key, dstok__bytelevel_char((uint8_t)b));
        n += (size_t)sprintf(out + n, ",\"%s%s\":%u", b == '"' || b == '\\' ? "\\" : "", (char *)key, b);
    }
    return n + (size_t)sprintf(out + n, "},\"merges\":[[\"a\",\"a\"],[\"aa\",\"aa\"]]}}");
}

#define META "\xE2\x96\x81"

/* Characters, the bytes but 7A and C3 as tokens, merges across both; the suffix of words has no bytes. */
static size_t characters_file(char *out) {
    static const char head[] =
        "{\"version\":\"1.0\",\"added_tokens\":[" ADDED("<s>", "true", "false", "true", "false") "," ADDED(
            "lo", "false", "true", "false",
            "true") "],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":"
                    "\"Prepend\",\"prepend\":\"" META
                    "\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" META
                    "\"}]},\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"" META
                    "\",\"prepend_scheme\":\"first\","
                    "\"split\":true},\"post_processor\":null,\"decoder\":{\"type\":\"ByteFallback\"},"
                    "\"model\":{\"type\":\"BPE\","
                    "\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true,\"end_of_word_suffix\":"
                    "\"_\",\"vocab\":{"
                    "\"<unk>\":0,\"a\":1,\"b\":2,\"b_\":3,\"" META "\":4,\"e\":5,\"ab_\":6,\"" META
                    "a\":7,\"<0x80><0x81>\":8";
    size_t n = (size_t)sprintf(out, "%s", head);
    for (unsigned b = 0; b < 256; b++) {
        if (b != 0x7A && b != 0xC3) n += (size_t)sprintf(out + n, ",\"<0x%02X>\":%u", b, 9 + b);
    }
    return n + (size_t)sprintf(out + n, "},\"merges\":[[\"a\",\"b_\"],[\"" META
                                        "\",\"a\"],[\"<0x80>\",\"<0x81>\"]]}}");
}

/* One piece of a SentencePiece model: its text, a score of minus its number, its type. */
static size_t put_piece(char *out, const char *text, uint8_t number, char type) {
    size_t k = strlen(text), n = 0;
    const char score[] = {0x15, 0, 0, (char)(number << 4), (char)(number > 7 ? 0xC1 : 0xC0), 0x18, type};
    out[n++] = 0x0A;
    out[n++] = (char)(k + 2 + sizeof score);
    out[n++] = 0x0A;
    out[n++] = (char)k;
    memcpy(out + n, text, k);
    memcpy(out + n + k, score, sizeof score);
    return n + k + sizeof score;
}

/* BPE with byte_fallback, the dummy prefix, and extra blanks taken away; two pieces that are not used. */
static size_t pieces_file(char *out) {
    static const char settings[] = "\x12\x05\x18\x02\x98\x02\x01\x1A\x06\x18\x01\x20\x01\x28\x01";
    static const struct {
        const char *text;
        char type;
    } own[] = {{"<unk>", 2}, {"<s>", 3}, {"<u>", 4},    {META "q", 4},  {"a", 1}, {"b", 5},
               {"ab", 5},    {"abb", 1}, {META "a", 1}, {META META, 1}, {META, 1}};
    size_t n = 0;
    char name[8];
    for (uint8_t i = 0; i < sizeof own / sizeof *own; i++)
        n += put_piece(out + n, own[i].text, i, own[i].type);
    for (unsigned b = 0; b < 256; b++) {
        sprintf(name, "<0x%02X>", b);
        n += put_piece(out + n, name, 0, 6);
    }
    memcpy(out + n, settings, sizeof settings - 1);
    return n + sizeof settings - 1;
}

static void open_one(int which, const char *data, size_t n, const dstok_load_options *options) {
    require(dstok_tokenizer_load_memory(data, n, NULL, 0, options, &vocabularies[which], NULL) == DSTOK_OK);
}

static void open_vocabularies(void) {
    static char ranks[8192], flags[8192], characters[8192], pieces[8192];
    dstok_load_options options = DSTOK_LOAD_OPTIONS_INIT;
    size_t n = rank_file(ranks), n_flags = flags_file(flags);
    options.alloc = &allocator;
    for (int i = 0; i < 2; i++) {
        options.pattern = i == 0 ? "cl100k_base" : NULL;
        require(dstok_tokenizer_load_memory(ranks, n, metas[i], strlen(metas[i]), &options,
                                            &vocabularies[RANKS + i], NULL) == DSTOK_OK);
    }
    options.pattern = NULL;
    open_one(FLAGS, flags, n_flags, &options);
    open_one(CHARACTERS, characters, characters_file(characters), &options);
    open_one(PIECES, pieces, pieces_file(pieces), &options);
    if (dstok_tokenizer_load_default(&options, &vocabularies[EMBEDDED], NULL) != DSTOK_OK) {
        vocabularies[EMBEDDED] = vocabularies[RANKS]; /* a build without it */
    }
}

/* ---- what must hold ---- */

static void check_spans(const dstok_tokens *t, const uint8_t *text, size_t n, const dstok_report *report) {
    uint64_t covered = 0, left_out = 0, begin = 0;
    for (size_t i = 0; i < t->n; i++) {
        dstok_span s = t->spans[i];
        require(s.begin >= begin && s.end >= s.begin && s.end >= covered && s.end <= n);
        begin = s.begin;
        if (s.begin > covered) left_out += s.begin - covered;
        covered = s.end;
    }
    require(left_out + n - covered == report->n_dropped);
    dstok_span *spans = malloc((t->n + 1) * sizeof *spans);
    require(spans != NULL);
    for (int unit = DSTOK_UNIT_CHAR; unit <= DSTOK_UNIT_UTF16; unit++) {
        if (t->n > 0) memcpy(spans, t->spans, t->n * sizeof *spans);
        require(dstok_spans_convert(text, n, spans, t->n, unit) == DSTOK_OK);
        if (covered == n && t->n > 0) require(spans[t->n - 1].end == dstok_text_length(text, n, unit));
    }
    free(spans);
}

static void check_decoding(const dstok_tokenizer *tok, const dstok_tokens *t, const uint8_t *text, size_t n) {
    uint8_t *back = malloc(n + 1);
    size_t back_n = 0;
    require(back != NULL);
    require(dstok_decode(tok, t->ids, t->n, DSTOK_DECODE_LOSSLESS, 0, back, n, &back_n, NULL, NULL) ==
            DSTOK_OK);
    require(back_n == n && memcmp(back, text, n) == 0);
    free(back);
}

static void check_no_control(const dstok_tokenizer *tok, const dstok_tokens *t) {
    for (size_t i = 0; i < t->n; i++) { /* the unknown token stands for a character */
        bool is_control = (dstok_token_flags(tok, t->ids[i]) & DSTOK_TOKEN_CONTROL) != 0;
        require(!is_control || (t->flags[i] & DSTOK_FLAG_UNKNOWN));
    }
}

/* Cut in two anywhere, under one policy: the same as one call. */
static void check_segments(dstok_encoder *enc, const dstok_encode_options *o, const uint8_t *text, size_t n,
                           const dstok_tokens *want) {
    dstok_segment s[] = {{.len = n / 3, .special = o->special}, {.len = n - n / 3, .special = o->special}};
    dstok_tokens got = {0};
    uint32_t *ids = malloc((want->n + 1) * sizeof *ids);
    size_t n_want = want->n;
    require(ids != NULL);
    if (n_want > 0) memcpy(ids, want->ids, n_want * sizeof *ids);
    require(dstok_encode_segments(enc, text, n, s, 2, o, &got, NULL) == DSTOK_OK);
    require(got.n == n_want && (n_want == 0 || memcmp(got.ids, ids, n_want * sizeof *ids) == 0));
    free(ids);
}

static void check_count(dstok_encoder *enc, const dstok_encode_options *o, const uint8_t *text, size_t n,
                        size_t want) {
    size_t counted = 0;
    uint32_t *ids = malloc((want + 1) * sizeof *ids);
    require(ids != NULL);
    require(dstok_count(enc, text, n, o, &counted, NULL) == DSTOK_OK);
    require(counted == want);
    require(dstok_encode(enc, text, n, o, ids, NULL, NULL, want, &counted, NULL) == DSTOK_OK);
    require(counted == want);
    if (want > 0)
        require(dstok_encode(enc, text, n, o, ids, NULL, NULL, want - 1, &counted, NULL) == DSTOK_E_SPACE);
    free(ids);
}

static void check_all(int vocabulary, const dstok_encode_options *o, const uint8_t *text, size_t n) {
    const dstok_tokenizer *tok = vocabularies[vocabulary];
    dstok_encoder *enc = NULL;
    dstok_tokens t = {0};
    int is_valid = dstok_utf8_check(text, n) == n;
    require(dstok_encoder_new(tok, &enc) == DSTOK_OK);
    dstok_status status = dstok_encode_view(enc, text, n, o, &t, NULL);
    if (status == DSTOK_OK) {
        require(t.n <= dstok_encode_bound(tok, n, o));
        check_spans(&t, text, n, dstok_encode_report(enc));
        if (o->special == DSTOK_SPECIAL_SAFE) check_no_control(tok, &t);
        if (vocabulary < RANKS_NFC && (is_valid || o->invalid == DSTOK_INVALID_RAW))
            check_decoding(tok, &t, text, n);
        size_t n_tokens = t.n;
        check_segments(enc, o, text, n, &t);
        check_count(enc, o, text, n, n_tokens);
    } else if (status == DSTOK_E_UTF8) {
        require(!is_valid && o->invalid == DSTOK_INVALID_ERROR);
    } else {
        require(status == DSTOK_E_SPECIAL && o->special == DSTOK_SPECIAL_ERROR);
    }
    dstok_encoder_free(enc);
}

/* The same as what an encoder gives that has all the memory it wants, be it a refusal. */
static void check_same(int vocabulary, const dstok_encode_options *o, const uint8_t *text, size_t n,
                       dstok_status status, const dstok_tokens *got) {
    dstok_encoder *enc = NULL;
    dstok_tokens want = {0};
    require(dstok_encoder_new(vocabularies[vocabulary], &enc) == DSTOK_OK);
    require(dstok_encode_view(enc, text, n, o, &want, NULL) == status);
    require(got->n == want.n && (got->n == 0 || memcmp(got->ids, want.ids, got->n * sizeof *want.ids) == 0));
    dstok_encoder_free(enc);
}

/* The fail_at-th allocation fails: E_NOMEM, or the encoder gets on without a larger cache, as if nothing
 * had happened. */
static void check_no_memory(int vocabulary, const dstok_encode_options *o, const uint8_t *text, size_t n,
                            size_t k) {
    dstok_encoder *enc = NULL;
    dstok_tokens t = {0};
    calls = 0;
    fail_at = k;
    dstok_status status = dstok_encoder_new(vocabularies[vocabulary], &enc);
    if (status == DSTOK_OK) status = dstok_encode_view(enc, text, n, o, &t, NULL);
    bool failed = calls >= k;
    fail_at = 0;
    if (failed && status != DSTOK_E_NOMEM) check_same(vocabulary, o, text, n, status, &t);
    dstok_encoder_free(enc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (vocabularies[0] == NULL) open_vocabularies();
    if (size < 3) return 0;
    int vocabulary = data[0] % N_VOCABULARIES;
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    static const uint32_t some[] = {256, 258, 300};
    uint32_t allowed[3];
    o.special = data[1] % 6;
    o.invalid = data[1] / 6 % 3;
    o.allowed = allowed;
    for (size_t i = 0; i < 3; i++)
        if (dstok_token_flags(vocabularies[vocabulary], some[i]) & DSTOK_TOKEN_ADDED)
            allowed[o.n_allowed++] = some[i];
    const uint8_t *text = data + 3;
    size_t n = size - 3 < MAX_TEXT ? size - 3 : MAX_TEXT;
    check_all(vocabulary, &o, text, n);
    if (data[2] > 0) check_no_memory(vocabulary, &o, text, n, data[2]);
    return 0;
}
