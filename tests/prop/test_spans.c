/* SPDX-License-Identifier: MIT */
/* Spans: they tile the text but for what the report counts, hold the bytes of their tokens, and snap to
 * characters. */
#include "../harness/t.h"
#include "../oracle/fixture.h"
#include "../oracle/gen.h"
#include "../oracle/vary.h"

#include "../../data/vocab/default_vocab.h"

#include <dstok/align.h>

#include <stdlib.h>

#define MAX_TEXT 300
static const char added[] = "slr:<|sys|>\n"
                            "n:caf\xC3\xA9\n";

typedef struct kind {
    const char *name;
    fixture f;
    bool exact; /* no normaliser, no strip: a token's span holds the token's bytes */
    bool drops; /* the pattern removes text, or bytes have no token */
} kind;

static void complain(const char *name, const char *what, const uint8_t *text, size_t n) {
    t_failures++;
    if (t_failures > 4) return;
    fprintf(stderr, "%s: %s: ", name, what);
    gen_print(text, n);
}

/* ---- one text ---- */

static void check_tiling(const char *name, const uint8_t *text, size_t n, const dstok_tokens *t,
                         const dstok_report *report) {
    uint64_t covered = 0, left_out = 0, begin = 0;
    for (size_t i = 0; i < t->n; i++) {
        dstok_span s = t->spans[i];
        t_checks++;
        if (s.begin < begin || s.end < s.begin || s.end < covered || s.end > n) {
            complain(name, "spans go back or out", text, n);
            return;
        }
        begin = s.begin;
        if (s.begin > covered) left_out += s.begin - covered;
        covered = s.end;
    }
    t_checks++;
    if (left_out + n - covered != report->n_dropped)
        complain(name, "n_dropped is not what spans leave out", text, n);
}

static bool is_border(const uint8_t *text, size_t n, uint64_t at) {
    return at >= n || (text[at] & 0xC0) != 0x80;
}

/* Without normaliser and on valid text: bytes, adjacency and the flag PARTIAL. */
static void check_exact(const dstok_tokenizer *tok, const char *name, const uint8_t *text, size_t n,
                        const dstok_tokens *t) {
    for (size_t i = 0; i < t->n; i++) {
        dstok_span s = t->spans[i];
        const void *bytes;
        size_t k;
        bool has = dstok_token_bytes(tok, t->ids[i], &bytes, &k) == DSTOK_OK && k == s.end - s.begin;
        t_checks++;
        if (!has || memcmp(bytes, text + s.begin, k) != 0) complain(name, "a span is not its token", text, n);
        bool partial = !is_border(text, n, s.begin) || !is_border(text, n, s.end);
        if (partial != ((t->flags[i] & DSTOK_FLAG_PARTIAL) != 0)) complain(name, "PARTIAL is wrong", text, n);
        if (i > 0 && s.begin != t->spans[i - 1].end) complain(name, "a gap", text, n);
    }
}

/* In characters and UTF-16 the spans still go forward, and no character is left out that bytes do not leave out. */
static void check_units(const char *name, const uint8_t *text, size_t n, const dstok_tokens *t) {
    static dstok_span spans[MAX_TEXT * 20];
    if (t->n == 0) return;
    for (int unit = DSTOK_UNIT_CHAR; unit <= DSTOK_UNIT_UTF16; unit++) {
        memcpy(spans, t->spans, t->n * sizeof *spans);
        t_checks++;
        if (dstok_spans_convert(text, n, spans, t->n, unit) != DSTOK_OK) {
            complain(name, "spans cannot be converted", text, n);
            return;
        }
        for (size_t i = 0; i < t->n; i++) {
            bool tight =
                i == 0 || t->spans[i].begin > t->spans[i - 1].end || spans[i].begin <= spans[i - 1].end;
            bool empty = t->spans[i].begin == t->spans[i].end;
            if (!tight || (empty != (spans[i].begin == spans[i].end)))
                complain(name, "a character is lost", text, n);
        }
        if (t->spans[t->n - 1].end == n && spans[t->n - 1].end != dstok_text_length(text, n, unit)) {
            complain(name, "the end is not the length", text, n);
        }
    }
}

static void check_text(const dstok_tokenizer *tok, dstok_encoder *enc, const kind *k, const uint8_t *text,
                       size_t n, int special, int invalid) {
    dstok_encode_options options = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens t = {0};
    options.special = special;
    options.invalid = invalid;
    uint8_t *exact = malloc(n > 0 ? n : 1);
    memcpy(exact, text, n);
    dstok_status status = dstok_encode_view(enc, exact, n, &options, &t, NULL);
    bool is_valid = dstok_utf8_check(exact, n) == n;
    CHECK_EQ(status, is_valid || invalid != DSTOK_INVALID_ERROR ? DSTOK_OK : DSTOK_E_UTF8);
    if (status == DSTOK_OK) {
        check_tiling(k->name, exact, n, &t, dstok_encode_report(enc));
        check_units(k->name, exact, n, &t);
        t_checks++;
        if (!k->drops && dstok_encode_report(enc)->n_dropped > 0)
            complain(k->name, "bytes are lost", exact, n);
        if (k->exact && is_valid) check_exact(tok, k->name, exact, n, &t);
    }
    free(exact);
}

/* ---- vocabularies ---- */

static void check_texts(const kind *k, dstok_tokenizer *tok, uint64_t seed, int rounds) {
    t_rng rng = {seed};
    uint8_t text[MAX_TEXT];
    dstok_encoder *enc = fixture_encoder(tok);
    for (int i = 0; i < rounds; i++) {
        size_t n = i % 3 == 0   ? gen_bytes(&rng, text, MAX_TEXT)
                   : i % 3 == 1 ? gen_text(&rng, text, MAX_TEXT)
                                : gen_tokens(&rng, tok, text, MAX_TEXT);
        check_text(tok, enc, k, text, n, i % 4, i / 4 % 3);
    }
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

static void check_kind(const kind *k, dstok_tokenizer *tok) {
    check_texts(k, tok, 43, 12000);
    fprintf(stderr, "%s\n", k->name);
}

/* Made-up vocabularies of the SentencePiece kind: affixes, byte tokens that overtake, prefixes inside of
 * changed text. */
static void check_made_up(void) {
    t_rng rng = {44};
    for (int i = 0; i < 300; i++) {
        const kind k = {.name = "made up", .drops = true};
        dstok_tokenizer *tok = NULL;
        size_t n;
        char *json = vary_json(&rng, &n);
        dstok_status status = dstok_tokenizer_load_memory(json, n, NULL, 0, NULL, &tok, NULL);
        CHECK(status == DSTOK_OK ||
              status == DSTOK_E_UNSUPPORTED); /* an added token that is normalised away */
        if (tok != NULL) check_texts(&k, tok, 45 + (uint64_t)i, 120);
        free(json);
    }
    fprintf(stderr, "made up\n");
}

/* Precomposed and loose marks: the hull of what a token came from, marks and all. */
static void test_hulls(void) {
    static const struct {
        const char *normalizer, *text;
        dstok_span want[8];
        size_t n;
    } cases[] = {
        {"{\"type\":\"NFC\"}",
         "cafe\xCC\x81 x",
         {{0, 1}, {1, 2}, {2, 3}, {3, 6}, {6, 7}, {7, 8}},
         6}, /* one token: e-acute */
        {"{\"type\":\"NFC\"}",
         "\xE2\x84\xAB"
         "b",
         {{0, 3}, {0, 3}, {3, 4}},
         3}, /* U+212B becomes C3 85 */
        {"{\"type\":\"NFKC\"}", "\xEF\xAC\x81 x", {{0, 3}, {0, 3}, {3, 4}, {4, 5}}, 4}, /* fi ligature */
        {"{\"type\":\"Lowercase\"}",
         "\xC4\xB0"
         "b",
         {{0, 2}, {0, 2}, {0, 2}, {2, 3}},
         4}, /* I with dot: 3 bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = fixture_words;
        dstok_tokens t = {0};
        f.normalizer = cases[i].normalizer;
        dstok_tokenizer *tok = fixture_load(&f, NULL);
        dstok_encoder *enc = fixture_encoder(tok);
        CHECK_EQ(dstok_encode_view(enc, cases[i].text, strlen(cases[i].text), NULL, &t, NULL), DSTOK_OK);
        CHECK_EQ(t.n, cases[i].n);
        bool same = t.n == cases[i].n && memcmp(t.spans, cases[i].want, t.n * sizeof *t.spans) == 0;
        CHECK(same);
        for (size_t k = 0; !same && k < t.n; k++) {
            fprintf(stderr, " %u[%d,%d]", t.ids[k], (int)t.spans[k].begin, (int)t.spans[k].end);
        }
        dstok_encoder_free(enc);
        dstok_tokenizer_free(tok);
    }
}

#define SPLIT(regex, behavior)                                                                               \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" regex          \
    "\"},\"behavior\":\"" behavior                                                                           \
    "\",\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"                               \
    "\"use_regex\":false}]}"

/* Marks stand alone, so that a normaliser may swap them over the border of pretokens. */
#define PATTERN "\"pattern\":\"\\\\p{L}+|\\\\s+|[^\\\\p{L}\\\\s]\",\"special_tokens\":{\"<|a|>\":300}"

int main(void) {
    check_made_up();
    kind kinds[] = {{"plain", fixture_words, true, false},
                    {"added tokens", fixture_words, false, false},
                    {"NFC", fixture_words, false, false},
                    {"NFKC, Lowercase", fixture_words, false, false},
                    {"missing bytes", fixture_words, false, true},
                    {"removed blanks", fixture_words, false, true},
                    {"prefix space", fixture_words, false, false},
                    {"NFD, unknown token", fixture_words, false, false},
                    {"NFD, marks cut off, prefix", fixture_words, false, false},
                    {"marks left out", fixture_words, false, true},
                    {"blanks stripped, 'a' left out", fixture_words, false, true}};
    kinds[1].f.added = kinds[2].f.added = kinds[3].f.added = added;
    kinds[2].f.normalizer = "{\"type\":\"NFC\"}";
    kinds[3].f.normalizer =
        "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":\"Lowercase\"}]}";
    kinds[4].f.without = "xyz \n\xE2\x80";
    kinds[4].f.merges = NULL;
    kinds[4].f.n_merges = 0;
    kinds[5].f.pre_tokenizer = SPLIT("\\\\s+", "Removed");
    kinds[6].f.pre_tokenizer = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":true}";
    kinds[7].f.normalizer = "{\"type\":\"NFD\"}";
    kinds[7].f.model = "\"unk_token\":\"!\",\"fuse_unk\":true,";
    kinds[7].f.without = "xyz";
    kinds[8].f.normalizer = "{\"type\":\"NFD\"}";
    kinds[8].f.pre_tokenizer =
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":"
        "\"\\\\p{M}\"},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\","
        "\"add_prefix_space\":true,\"use_regex\":false}]}";
    kinds[9].f.normalizer =
        "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFD\"},{\"type\":\"StripAccents\"}]}";
    kinds[10].f.normalizer =
        "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Strip\",\"strip_left\":true,"
        "\"strip_right\":true},{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"\"}]}";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_kind(&kinds[i], fixture_load(&kinds[i].f, NULL));
    const kind ranks = {.name = "rank file", .exact = true}, ranks_nfc = {.name = "rank file, NFC"};
    check_kind(&ranks, fixture_load_ranks("{" PATTERN "}"));
    check_kind(&ranks_nfc, fixture_load_ranks("{" PATTERN ",\"normalizer\":\"NFC\"}"));
    test_hulls();
    if (dstok__default_vocab_size > 0) {
        dstok_tokenizer *tok = NULL;
        const kind k = {.name = "embedded default", .exact = true};
        CHECK_EQ(dstok_tokenizer_load_default(NULL, &tok, NULL), DSTOK_OK);
        if (tok != NULL) check_kind(&k, tok);
    } else {
        fprintf(stderr, "embedded default SKIPPED: built without it\n");
    }
    return t_end();
}
