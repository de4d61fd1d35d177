/* SPDX-License-Identifier: MIT */
/* What hostile text and hostile files must not do: forge control tokens, hide them, take unbounded time to load. */
#include "../harness/t.h"
#include "../oracle/fixture.h"

#include <stdlib.h>
#include <time.h>

static const char plain_bos[] = ":[BOS]";
static const char template_bos[] =
    "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"[BOS]\",\"type_id\":0}},"
    "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],"
    "\"special_tokens\":{\"[BOS]\":{\"id\":\"[BOS]\",\"ids\":[256],\"tokens\":[\"[BOS]\"]}}}";

static void check_not_forged(dstok_tokenizer *tok, const char *text, uint32_t control) {
    dstok_encoder *enc = fixture_encoder(tok);
    dstok_tokens got = {0};
    CHECK(dstok_token_flags(tok, control) & DSTOK_TOKEN_CONTROL);
    CHECK_EQ(dstok_encode_view(enc, text, strlen(text), NULL, &got, NULL), DSTOK_OK);
    for (size_t i = 0; i < got.n; i++) CHECK(got.ids[i] != control);
    CHECK_EQ(dstok_encode_report(enc)->n_special_text, 1);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

/* A token that the template adds is a control token, though the file does not call it special. */
static void test_template(void) {
    fixture f = {.added = plain_bos, .post_processor = template_bos};
    check_not_forged(fixture_load(&f, NULL), "a[BOS]b", 256);
}

/* So is what tokenizer_config.json calls BOS, and what its chat template uses. */
static void test_config(void) {
    static const char *const configs[] = {"{\"bos_token\":\"[BOS]\"}",
                                          "{\"pad_token\":{\"content\":\"[BOS]\"}}",
                                          "{\"chat_template\":\"{{ '[BOS]' }}\"}"};
    fixture f = {.added = plain_bos};
    size_t n;
    char *json = fixture_json(&f, &n);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        dstok_tokenizer *tok = NULL;
        CHECK_EQ(dstok_tokenizer_load_memory(json, n, configs[i], strlen(configs[i]), NULL, &tok, NULL),
                 DSTOK_OK);
        if (tok != NULL) check_not_forged(tok, "a[BOS]b", 256);
    }
    free(json);
}

#define BAR "\xEF\xBD\x9C"
#define ADDED(content)                                                                                       \
    "{\"added_tokens\":[{\"id\":3,\"content\":\"" content "\",\"single_word\":false,\"lstrip\":false,"       \
    "\"rstrip\":false,\"normalized\":false,\"special\":true}],"                                              \
    "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"byte_fallback\":true,\"merges\":[],"              \
    "\"vocab\":{\"<unk>\":0,\"a\":1,"

/* Nor does a character give one, or a byte that falls back to the id of one: they have no token then. */
static void test_atoms(void) {
    static const struct {
        const char *json, *text;
        uint32_t safe, parse;
    } rows[] = {
        {ADDED("<s>") "\"<0x62>\":3}}}", "b", 0, 3},
        {ADDED("<s>") "\"<0x62>\":2}}}", "b", 2, 2},
        {ADDED(BAR) "\"" BAR "\":2}}}", BAR, 0, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dstok_tokenizer *tok = NULL;
        dstok_error err = {.status = DSTOK_OK};
        CHECK_EQ(dstok_tokenizer_load_memory(rows[i].json, strlen(rows[i].json), NULL, 0, NULL, &tok, &err),
                 DSTOK_OK);
        if (tok == NULL) continue;
        dstok_encoder *enc = fixture_encoder(tok);
        fixture_check_ids(enc, rows[i].text, DSTOK_SPECIAL_SAFE, &rows[i].safe, 1, "safe");
        fixture_check_ids(enc, rows[i].text, DSTOK_SPECIAL_PARSE, &rows[i].parse, 1, "parse");
        dstok_encoder_free(enc);
        dstok_tokenizer_free(tok);
    }
}

/* A rank file: 256 bytes and the special token <|x|>. */
static dstok_tokenizer *load_ranks(const char *more, dstok_status want) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char meta[] = "{\"pattern\":\"\\\\s+|\\\\S+\",\"special_tokens\":{\"<|x|>\":70000}}";
    char *file = malloc(8192 + strlen(more));
    size_t n = 0;
    for (unsigned b = 0; b < 256 && file != NULL; b++) {
        n += (size_t)sprintf(file + n, "%c%c== %u\n", digits[b >> 2], digits[(b & 3) << 4], b);
    }
    n += (size_t)sprintf(file + n, "%s", more);
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.status = DSTOK_OK};
    CHECK_EQ(dstok_tokenizer_load_memory(file, n, meta, sizeof meta - 1, NULL, &tok, &err), want);
    CHECK(want == DSTOK_OK || err.text[0] != '\0');
    free(file);
    return tok;
}

/* Raw bytes before it do not hide control text from `error`, nor from the report. */
static void test_behind_bad_bytes(void) {
    static const char text[] = "ok\xFF<|x|>\xFFz";
    dstok_tokenizer *tok = load_ranks("", DSTOK_OK);
    dstok_encoder *enc = fixture_encoder(tok);
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens got = {0};
    dstok_error err = {.status = DSTOK_OK};
    o.invalid = DSTOK_INVALID_RAW;
    CHECK_EQ(dstok_encode_view(enc, text, sizeof text - 1, &o, &got, &err), DSTOK_OK);
    CHECK_EQ(dstok_encode_report(enc)->n_special_text, 1);
    CHECK_EQ(dstok_encode_report(enc)->first_special, 3);
    CHECK_EQ(dstok_encode_report(enc)->n_invalid, 2);
    o.special = DSTOK_SPECIAL_ERROR;
    CHECK_EQ(dstok_encode_view(enc, text, sizeof text - 1, &o, &got, &err), DSTOK_E_SPECIAL);
    CHECK_EQ(err.offset, 3);
    /* An empty list of segments fits an empty text only: it is not "no segments". */
    CHECK_EQ(dstok_encode_segments(enc, text, 2, NULL, 0, &o, &got, &err), DSTOK_E_INVAL);
    CHECK_EQ(dstok_encode_segments(enc, text, 0, NULL, 0, &o, &got, &err), DSTOK_OK);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

/* With a blank before the text, raw mode puts none into its middle. */
static void test_raw_prefix(void) {
    static const char text[] = "a\xFF"
                               "b",
                      want[] = " a\xFF"
                               "b";
    fixture f = {.pre_tokenizer = "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":true}"};
    dstok_tokenizer *tok = fixture_load(&f, NULL);
    dstok_encoder *enc = fixture_encoder(tok);
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    dstok_tokens got = {0};
    char back[16];
    size_t n = 0;
    o.invalid = DSTOK_INVALID_RAW;
    CHECK_EQ(dstok_encode_view(enc, text, sizeof text - 1, &o, &got, NULL), DSTOK_OK);
    CHECK_EQ(dstok_decode(tok, got.ids, got.n, 0, 0, back, sizeof back, &n, NULL, NULL), DSTOK_OK);
    CHECK_EQ(n, sizeof want - 1);
    CHECK_MEM(back, want, sizeof want - 1);
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
}

/* Twenty tokens of 40 KB: every split of each would be looked at. Refused, and at once. */
static void test_long_ranks(void) {
    enum { LENGTH = 40000, TOKENS = 20 };
    char *more = malloc((size_t)TOKENS * (LENGTH / 3 * 4 + 32));
    size_t n = 0;
    for (unsigned k = 0; k < TOKENS && more != NULL; k++) {
        for (unsigned i = 0; i < LENGTH / 3; i++) n += (size_t)sprintf(more + n, "YWF%c", 'h' + (int)(k % 8));
        n += (size_t)sprintf(more + n, "YWE%c %u\n", k < 8 ? '=' : k < 16 ? 'h' : 'i', 256 + k);
    }
    clock_t before = clock();
    dstok_tokenizer *tok = load_ranks(more == NULL ? "" : more, DSTOK_E_LIMIT);
    CHECK((double)(clock() - before) / CLOCKS_PER_SEC < 20);
    dstok_tokenizer_free(tok);
    free(more);
}

/* Each script in a pattern is measured anew: many of them are refused, at once. */
static void test_many_scripts(void) {
    enum { USES = 3000 };
    static const char head[] =
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"",
                      tail[] = "\"},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\","
                               "\"add_prefix_space\":false,\"trim_offsets\":false,\"use_regex\":false}]}";
    char *steps = malloc(sizeof head + sizeof tail + USES * 9);
    size_t n = (size_t)sprintf(steps, "%s", head), json_n;
    for (int i = 0; i < USES; i++) n += (size_t)sprintf(steps + n, "\\\\p{Lao}");
    sprintf(steps + n, "%s", tail);
    fixture f = {.pre_tokenizer = steps};
    char *json = fixture_json(&f, &json_n);
    dstok_tokenizer *tok = NULL;
    dstok_error err = {.status = DSTOK_OK};
    CHECK_EQ(dstok_tokenizer_load_memory(json, json_n, NULL, 0, NULL, &tok, &err), DSTOK_E_LIMIT);
    CHECK_EQ(err.status, DSTOK_E_LIMIT);
    CHECK(err.text[0] != '\0');
    fprintf(stderr, "%s\n", err.text);
    dstok_tokenizer_free(tok);
    free(json);
    free(steps);
}

int main(void) {
    test_template();
    test_config();
    test_atoms();
    test_behind_bad_bytes();
    test_raw_prefix();
    test_long_ranks();
    test_many_scripts();
    return t_end();
}
