/* SPDX-License-Identifier: MIT */
/* tokenizer.json and tokenizer_config.json: what is read from a small file, and each refusal with its place. */
#include "load_hf.h"

#include "tokenizer/load/bytelevel.h"

static void load_changed(loaded *l, const char *find, const char *replace, const char *config) {
    load_part(l, "mini.json", find, replace, config);
}

/* ---- the fixture itself ---- */

static void check_token(const dstok__spec *s, size_t i, const char *bytes, size_t n, uint32_t id,
                        bool literal) {
    CHECK_EQ(s->tokens[i].id, id);
    CHECK_EQ(s->tokens[i].n, n);
    CHECK_EQ(s->tokens[i].literal, literal);
    if (s->tokens[i].n == n) CHECK_MEM(s->tokens[i].bytes, bytes, n);
}

static void check_added(const dstok__spec *s, const char *text, uint32_t id, bool special, bool normalized,
                        bool lstrip) {
    const dstok__added *a = util_added(s, text);
    CHECK(a != NULL);
    if (a == NULL) return;
    CHECK_EQ(a->id, id);
    CHECK_EQ(a->special, special);
    CHECK_EQ(a->normalized, normalized);
    CHECK_EQ(a->lstrip, lstrip);
    CHECK(!a->rstrip && !a->single_word);
}

static void test_mini(void) {
    size_t n;
    char *text = util_fixture("mini.json", &n);
    loaded l;
    load(&l, text, n, NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_STR(l.s.format, "tokenizer.json");
    CHECK_EQ(l.s.model, DSTOK__MODEL_MERGES);
    CHECK_EQ(l.s.n_tokens, 263);
    for (unsigned b = 0; b < 256; b++) check_token(&l.s, b, (const char[]){(char)b}, 1, b, false);
    check_token(&l.s, 259, "hello", 5, 259, false);
    check_token(&l.s, 260, " hello", 6, 260, false);
    check_token(&l.s, 261, "<|end|>", 7, 261, false);
    check_token(&l.s, 262, "<\xEF\xBD\x9Cuser\xEF\xBD\x9C>", 12, 262, true);
    static const dstok__merge merges[] = {
        {104, 101, 256}, {108, 108, 257}, {256, 257, 258}, {258, 111, 259}, {32, 259, 260}};
    CHECK_EQ(l.s.n_merges, 5);
    if (l.s.n_merges == 5) CHECK_MEM(l.s.merges, merges, sizeof merges);
    CHECK(!l.s.ignore_merges && !l.s.fuse_unk && !l.s.char_atoms && l.s.unk_id == DSTOK__NO_ID);
    CHECK_EQ(l.s.n_added, 5);
    check_added(&l.s, "<|end|>", 261, true, false, false);
    check_added(&l.s, "<\xEF\xBD\x9Cuser\xEF\xBD\x9C>", 262, false, false, false);
    check_added(&l.s, "<pad>", 263, true, false, false);
    check_added(&l.s, "<b>", 264, false, true, true);
    CHECK_EQ(l.s.n_norms, 1);
    CHECK_EQ(l.s.norms[0].kind, DSTOK__NORM_NFC);
    CHECK_EQ(l.s.n_steps, 2);
    CHECK_EQ(l.s.steps[0].kind, DSTOK__STEP_REGEX);
    CHECK_EQ(l.s.steps[0].behavior, DSTOK__ISOLATED);
    CHECK_EQ(l.s.steps[0].dialect, DSTOK__DIALECT_ONIG);
    CHECK_STR(l.s.steps[0].pattern, "\\p{N}{1,3}");
    CHECK(strncmp(l.s.steps[1].pattern, "'s|'t|", 6) == 0);
    CHECK_EQ(l.s.n_template, 2);
    CHECK(!l.s.template_items[0].is_text && l.s.template_items[0].id == 265 && l.s.template_items[1].is_text);
    CHECK_EQ(util_named(&l.s), 0);
    CHECK_EQ(l.s.n_warnings, 0);
    dstok__spec_free(&l.s);
    free(text);
}

static void test_alphabet(void) {
    bool seen[256] = {false};
    for (uint32_t c = 0; c < 0x500; c++) {
        int b = dstok__bytelevel_byte(c);
        if (b < 0) continue;
        CHECK(!seen[b]);
        seen[b] = true;
        CHECK_EQ(dstok__bytelevel_char((uint8_t)b), c);
    }
    for (unsigned b = 0; b < 256; b++) CHECK(seen[b]);
    uint8_t out[8];
    size_t n;
    CHECK(dstok__bytelevel_decode("\xC4\xA0h\xC3\xA9", 5, out, &n) && n == 3 &&
          memcmp(out, " h\xE9", 3) == 0);
    CHECK(!dstok__bytelevel_decode("h\xE4\xB8\xB8", 4, out, &n)); /* three bytes */
    CHECK(!dstok__bytelevel_decode("h l", 3, out, &n));
    CHECK(!dstok__bytelevel_decode("\xC5\x84", 2, out, &n)); /* U+0144, the first behind */
    CHECK_EQ(dstok__bytelevel_char(' '), 0x120);
    CHECK_EQ(dstok__bytelevel_char('\n'), 0x10A);
    CHECK_EQ(dstok__bytelevel_char(0x7F), 0x121);
    CHECK_EQ(dstok__bytelevel_char(0xAD), 0x143);
}

/* ---- refusals ---- */

static const refusal refusals[] = {
    {"\"1.0\"", "\"2.0\"", DSTOK_E_VERSION, "\"2.0\"", "version \"2.0\""},
    {"\"1.0\"", "1.0", DSTOK_E_FORMAT, "1.0,", "version must be a string"},
    {"\"model\"", "\"madel\"", DSTOK_E_FORMAT, "{", "\"model\" is missing"},
    {"\"BPE\"", "\"Wat\"", DSTOK_E_UNSUPPORTED, "\"Wat\"", "not supported: model type \"Wat\""},
    {"\"BPE\"", "\"Unigram\"", DSTOK_E_UNSUPPORTED, "\"Unigram\"", "model type \"Unigram\""},
    {"\"dropout\": null", "\"dropout\": 0.1", DSTOK_E_UNSUPPORTED, "0.1,", "dropout"},
    {"\"continuing_subword_prefix\": \"\"", "\"continuing_subword_prefix\": \"##\"", DSTOK_E_FORMAT,
     "[\"h\", \"e\"]", "merge 0: its right part does not begin with the continuing_subword_prefix"},
    {"\"end_of_word_suffix\": null", "\"end_of_word_suffix\": \"\xE2\x96\x81\"", DSTOK_E_UNSUPPORTED,
     "\"\xE2\x96\x81\"", "suffix of subwords outside the byte-level alphabet"},
    {"\"fuse_unk\": false", "\"fuse_unk\": 0", DSTOK_E_FORMAT, "0,\n  \"byte_f",
     "fuse_unk must be true or false"},
    {"{\"type\": \"NFC\"}", "{\"type\": \"Wat\"}", DSTOK_E_UNSUPPORTED, "{\"type\": \"Wat\"}",
     "not supported: normalizer type \"Wat\""},
    {"{\"type\": \"NFC\"}", "{\"type\": \"Prepend\"}", DSTOK_E_FORMAT, "{\"type\": \"Prepend\"}",
     "\"prepend\" is missing"},
    {"{\"type\": \"NFC\"}", "{\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}}", DSTOK_E_FORMAT,
     "{\"type\": \"Replace\"", "\"content\" is missing"},
    {"{\"type\": \"NFC\"}", "{\"type\": \"Strip\", \"strip_left\": true}", DSTOK_E_FORMAT,
     "{\"type\": \"Strip\"", "\"strip_right\" is missing"},
    {"{\"type\": \"NFC\"}", "{\"type\": \"BertNormalizer\", \"clean_text\": 1}", DSTOK_E_FORMAT, "1}]",
     "\"clean_text\" must be true or false"},
    {"{\"type\": \"NFC\"}", "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"A\"}", DSTOK_E_FORMAT,
     "\"A\"}", "is not base64"},
    {"{\"type\": \"NFC\"}", "{\"tipe\": \"NFC\"}", DSTOK_E_FORMAT, "{\"tipe\": \"NFC\"}", "no \"type\""},
    {"[{\"type\": \"NFC\"}]", "null", DSTOK_E_FORMAT, "{\"type\": \"Sequence\", \"normalizers\"",
     "normalizers is missing"},
    {"\"Split\"", "\"Wat\"", DSTOK_E_UNSUPPORTED, "{\"type\": \"Wat\"",
     "not supported: pre_tokenizer type \"Wat\""},
    {"\"Split\"", "\"Metaspace\"", DSTOK_E_FORMAT, "{\"type\": \"Metaspace\"", "\"replacement\" is missing"},
    {"\"Split\"", "\"Metaspace\", \"replacement\": \"__\"", DSTOK_E_FORMAT, "\"__\"",
     "\"replacement\" must be one character"},
    {"\"Split\"", "\"Metaspace\", \"prepend_scheme\": \"last\"", DSTOK_E_FORMAT, "\"last\"",
     "prepend_scheme \"last\" is unknown"},
    {"\"Split\"", "\"Metaspace\", \"add_prefix_space\": false", DSTOK_E_FORMAT, "{\"type\": \"Metaspace\"",
     "add_prefix_space is false"},
    {"\"Split\"", "\"CharDelimiterSplit\"", DSTOK_E_FORMAT, "{\"type\": \"CharDelimiterSplit\"",
     "\"delimiter\" is missing"},
    {"\"Split\"", "\"FixedLength\", \"length\": 0", DSTOK_E_UNSUPPORTED, "{\"type\": \"FixedLength\"",
     "FixedLength of 0"},
    {"\"Split\"", "\"ByteLevel\"", DSTOK_E_FORMAT, "{\"type\": \"ByteLevel\", \"pattern\"",
     "add_prefix_space\" is missing"},
    {"{\"Regex\": \"\\\\p{N}{1,3}\"}", "\"x\"", DSTOK_E_FORMAT, "\"x\"", "\"pattern\" must be an object"},
    {"{\"Regex\": \"\\\\p{N}{1,3}\"}", "{}", DSTOK_E_FORMAT, "{}, \"behavior\"",
     "either \"Regex\" or \"String\""},
    {"{\"Regex\": \"\\\\p{N}{1,3}\"}", "{\"Regex\":\"a\",\"String\":\"b\"}", DSTOK_E_FORMAT, "{\"Regex\"",
     "either"},
    {"{\"Regex\": \"\\\\p{N}{1,3}\"}", "{\"String\":\"\"}", DSTOK_E_UNSUPPORTED, "{\"String\"",
     "empty pattern"},
    {"\"Isolated\"", "\"isolated\"", DSTOK_E_UNSUPPORTED, "\"isolated\"", "behavior \"isolated\""},
    {"\"invert\": false", "\"invert\": \"no\"", DSTOK_E_FORMAT, "\"no\"", "\"invert\" must be true or false"},
    {", \"invert\": false", "", DSTOK_E_FORMAT, "{\"type\": \"Split\"", "\"invert\" is missing"},
    {"\"use_regex\": true}]}",
     "\"use_regex\": true}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false}]}", DSTOK_E_UNSUPPORTED,
     "{\"type\": \"ByteLevel\", \"add_prefix_space\": false}", "a second ByteLevel"},
    {"\"use_regex\": true}]}", "\"use_regex\": true}, {\"type\": \"Metaspace\", \"replacement\": \"_\"}]}",
     DSTOK_E_UNSUPPORTED, "{\"type\": \"Sequence\", \"pretokenizers\"", "Metaspace behind ByteLevel"},
    {"{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": true}",
     "", DSTOK_E_FORMAT, "]},\n \"post", "expected a value"},
    {"\"decoder\": {\"type\": \"ByteLevel\"", "\"decoder\": {\"type\": \"CTC\"", DSTOK_E_UNSUPPORTED,
     "{\"type\": \"CTC\"", "not supported: decoder \"CTC\""},
    {"\"decoder\": {\"type\": \"ByteLevel\"", "\"decoder\": {\"type\": \"Strip\", \"content\": \"  \"",
     DSTOK_E_FORMAT, "\"  \"", "\"content\" must be one character"},
    {"\"decoder\": {\"type\": \"ByteLevel\"", "\"decoder\": {\"type\": \"Wat\"", DSTOK_E_UNSUPPORTED,
     "{\"type\": \"Wat\"", "not supported: decoder type \"Wat\""},
    {"\"TemplateProcessing\"", "\"Wat\"", DSTOK_E_UNSUPPORTED, "{\"type\": \"Wat\"",
     "post_processor type \"Wat\""},
    {"\"Sequence\": {\"id\": \"A\"", "\"Sequence\": {\"id\": \"B\"", DSTOK_E_FORMAT, "\"B\"",
     "only the sequence \"A\""},
    {"[{\"SpecialToken\": {\"id\": \"<|start|>\"", "[{\"SpecialToken\": {\"id\": \"<s>\"", DSTOK_E_FORMAT,
     "{\"id\": \"<s>\"", "the template uses \"<s>\""},
    {"\"ids\": [265]", "\"ids\": [-1]", DSTOK_E_FORMAT, "-1]", "whole number"},
    {", {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}", "", DSTOK_E_UNSUPPORTED,
     "{\"type\": \"TemplateProcessing\"", "leaves the text out"},
    {"\"special\": true", "\"spezial\": true", DSTOK_E_FORMAT, "{\"id\": 261",
     "\"special\" of an added token is missing"},
    {"\"content\": \"<|end|>\"", "\"content\": 5", DSTOK_E_FORMAT, "5, \"single",
     "\"content\" of an added token must be"},
    {"\"id\": 261", "\"id\": -1", DSTOK_E_FORMAT, "-1,", "\"id\" of an added token must be a whole number"},
    {"\"he\": 256", "\"he\": -33", DSTOK_E_FORMAT, "-33", "an id in vocab must be a whole number"},
    {"\"he\": 256", "\"he\": 33.5", DSTOK_E_FORMAT, "33.5", "an id in vocab must be a whole number"},
    {"\"he\": 256", "\"he\": 4294967296", DSTOK_E_FORMAT, "4294967296",
     "an id in vocab must be a whole number"},
    {"\"he\": 256", "\"he\": 16777216", DSTOK_E_LIMIT, "16777216", "ids must be below 16777216"},
    {"\"he\": 256", "\"he\": null", DSTOK_E_FORMAT, "null, \"ll\"", "an id in vocab"},
    {"\"he\": 256", "\"he\": 257", DSTOK_E_DUPLICATE, "\"ll\": 257", "id 257 to \"he\" and to \"ll\""},
    {"\"he\": 256", "\"\\ud83d\": 256", DSTOK_E_FORMAT, "\\ud83d", "half of a surrogate pair"},
    {"[\"h\", \"e\"]", "[\"h\", \"x\"]", DSTOK_E_FORMAT, "[\"h\", \"x\"]",
     "merge 0, \"h\" + \"x\": \"hx\" is not in vocab"},
    {"[\"h\", \"e\"]", "[\"hh\", \"e\"]", DSTOK_E_FORMAT, "[\"hh\", \"e\"]", "\"hh\" is not in vocab"},
    {"[\"h\", \"e\"]", "\"h e l\"", DSTOK_E_FORMAT, "\"h e l\"",
     "merge 0, \"h e l\", must hold exactly one blank"},
    {"[\"h\", \"e\"]", "\"he\"", DSTOK_E_FORMAT, "\"he\",\n   [\"l\"", "must hold exactly one blank"},
    {"[\"h\", \"e\"]", "[\"h\"]", DSTOK_E_FORMAT, "[\"h\"]", "merge 0 must be"},
    {"[\"h\", \"e\"]", "[\"h\", \"e\", \"l\"]", DSTOK_E_FORMAT, "[\"h\", \"e\", \"l\"]", "merge 0 must be"},
    {"[\"h\", \"e\"]", "5", DSTOK_E_FORMAT, "5,\n   [\"l", "merge 0 must be"},
    {"\"vocab\"", "\"vocob\"", DSTOK_E_FORMAT, "{\n  \"type\": \"BPE\"", "the model has no vocab"},
    {"\"merges\"", "\"merches\"", DSTOK_E_FORMAT, "{\n  \"type\": \"BPE\"", "the model has no merges"},
    {"}\n}\n", "}\n} x", DSTOK_E_FORMAT, "x", "behind the end"},
    {"}\n}\n", "}\n", DSTOK_E_TRUNCATED, "", "the file ends inside an object"},
};

static void test_refusals(void) {
    size_t n;
    char *base = util_fixture("mini.json", &n);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) check_refusal(base, &refusals[i]);
    free(base);
}

/* ---- what is read ---- */

static void test_model_options(void) {
    loaded l;
    load_changed(&l, "\"unk_token\": null", "\"unk_token\": \"he\"", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.unk_id, 256);
    dstok__spec_free(&l.s);
    load_changed(&l, "\"unk_token\": null", "\"unk_token\": \"<unk>\"", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.unk_id, DSTOK__NO_ID);
    CHECK(util_warning(&l.s, "unk_token \"<unk>\"") != NULL);
    dstok__spec_free(&l.s);
    load_changed(&l, "\"ignore_merges\": false", "\"ignore_merges\": true", NULL);
    CHECK(l.status == DSTOK_OK && l.s.ignore_merges);
    dstok__spec_free(&l.s);
    load_changed(&l, "\"fuse_unk\": false", "\"fuse_unk\": true, \"dropout\": 0.0", NULL);
    CHECK(l.status == DSTOK_OK && l.s.fuse_unk);
    dstok__spec_free(&l.s);
    load_changed(&l, "\"type\": \"BPE\",", "", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    dstok__spec_free(&l.s);
    load_changed(&l, "\"truncation\": null", "\"truncation\": {\"max_length\": 5}", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(util_warning(&l.s, "truncation") != NULL);
    dstok__spec_free(&l.s);
    /* byte_fallback is of no effect while all bytes have tokens, and refused when one has none. */
    load_changed(&l, "\"byte_fallback\": false", "\"byte_fallback\": true", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    dstok__spec_free(&l.s);
    size_t n;
    char *base = util_fixture("mini.json", &n),
         *some = util_replace(base, "\"byte_fallback\": false", "\"byte_fallback\": true");
    char *text = util_replace(some, "\"\\u0100\"", "\"<0xC4>\"");
    load(&l, text, strlen(text), NULL);
    CHECK_EQ(l.status, DSTOK_E_UNSUPPORTED);
    CHECK(strstr(l.err.text, "byte_fallback") != NULL);
    dstok__spec_free(&l.s);
    free(base);
    free(some);
    free(text);
}

static void test_keys(void) {
    loaded l;
    /* A key of one NUL is a key; it stands for itself, as it is outside the alphabet. */
    load_changed(&l, "\"<|end|>\": 261", "\"\\u0000\": 261", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    check_token(&l.s, 261, "\0", 1, 261, true);
    dstok__spec_free(&l.s);
    load_changed(&l, "\"<|end|>\": 261", "\"\": 261", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    check_token(&l.s, 261, "", 0, 261, false);
    dstok__spec_free(&l.s);
    /* A blank is no character of the alphabet, a mapped one is. */
    load_changed(&l, "\"<|end|>\": 261", "\"h l\": 261", NULL);
    check_token(&l.s, 261, "h l", 3, 261, true);
    dstok__spec_free(&l.s);
    load_changed(&l, "\"<|end|>\": 261", "\"h\\u0120l\": 261", NULL);
    check_token(&l.s, 261, "h l", 3, 261, false);
    dstok__spec_free(&l.s);
    /* The last of two equal keys counts, however it is written; holes are fine. */
    load_changed(&l, "\"<|end|>\": 261", "\"h\\u0065\": 300", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_tokens, 262);
    check_token(&l.s, 256, "he", 2, 300, false);
    CHECK(util_warning(&l.s, "vocab has \"he\" twice; the last id, 300, counts (not 256)") != NULL);
    CHECK_EQ(l.s.merges[0].product, 300);
    CHECK_EQ(l.s.merges[2].left, 300);
    CHECK_EQ(util_added(&l.s, "<|end|>")->id,
             262); /* new texts go on from the number of keys, not of entries */
    dstok__spec_free(&l.s);
    load_changed(&l, "\"ignore_merges\": false", "\"ignore_merges\": true, \"ignore_merges\": false", NULL);
    CHECK(l.status == DSTOK_OK && !l.s.ignore_merges);
    CHECK(util_warning(&l.s, "\"ignore_merges\" stands twice") != NULL);
    dstok__spec_free(&l.s);
}

static void test_merges(void) {
    loaded l;
    load_changed(&l, "[\"h\", \"e\"],\n   [\"l\", \"l\"]", "\"#version: 0.2\", \"h e\", \"l l\"", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_merges, 5);
    CHECK_EQ(l.s.merges[0].product, 256);
    CHECK_EQ(l.s.n_warnings, 0);
    dstok__spec_free(&l.s);
    load_changed(&l, "[\"l\", \"l\"]", "[\"l\", \"l\"], [\"h\", \"e\"]", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_merges, 6);
    CHECK(util_warning(&l.s, "merge 2, \"h\" + \"e\", stands twice; its last rank counts") != NULL);
    dstok__spec_free(&l.s);
    /* Both parts written with escapes: neither may overwrite the other. */
    load_changed(&l, "[\"h\", \"e\"]", "[\"\\u0068\", \"\\u0065\"]", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.merges[0].left == 104 && l.s.merges[0].right == 101 && l.s.merges[0].product == 256);
    dstok__spec_free(&l.s);
}

static void test_steps(void) {
    loaded l;
    load_changed(
        &l,
        "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\p{N}{1,3}\"}, \"behavior\": \"Isolated\", "
        "\"invert\": false}",
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":false},"
        "{\"type\":\"Sequence\",\"pretokenizers\":[]},{\"type\":\"Digits\",\"individual_digits\":true},"
        "{\"type\":\"Punctuation\"},{\"type\":\"Punctuation\",\"behavior\":\"MergedWithNext\"},"
        "{\"type\":\"Split\",\"pattern\":{\"String\":\"a\\u0000\"},\"behavior\":\"Removed\",\"invert\":true}]"
        "}",
        NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_steps, 6);
    CHECK(l.s.steps[0].kind == DSTOK__STEP_DIGITS && l.s.steps[0].behavior == DSTOK__CONTIGUOUS);
    CHECK(l.s.steps[1].kind == DSTOK__STEP_DIGITS && l.s.steps[1].behavior == DSTOK__ISOLATED);
    CHECK(l.s.steps[2].kind == DSTOK__STEP_PUNCTUATION && l.s.steps[2].behavior == DSTOK__ISOLATED);
    CHECK(l.s.steps[3].behavior == DSTOK__MERGED_WITH_NEXT);
    CHECK(l.s.steps[4].kind == DSTOK__STEP_LITERAL && l.s.steps[4].behavior == DSTOK__REMOVED &&
          l.s.steps[4].invert);
    CHECK(l.s.steps[4].n == 2 && memcmp(l.s.steps[4].pattern, "a\0", 2) == 0);
    dstok__spec_free(&l.s);
    load_changed(
        &l,
        "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"\\\\p{N}{1,3}\"}, \"behavior\": \"Isolated\", "
        "\"invert\": false}, "
        "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": true}",
        "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"use_regex\": false}", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.n_steps == 1 && l.s.steps[0].kind == DSTOK__STEP_PREFIX);
    dstok__spec_free(&l.s);
    load_changed(&l, "[{\"type\": \"NFC\"}]",
                 "[{\"type\":\"NFKD\"},{\"type\":\"Lowercase\"},{\"type\":\"NFD\"},{\"type\":\"NFKC\"}]",
                 NULL);
    CHECK_EQ(l.s.n_norms, 4);
    CHECK(l.s.norms[0].kind == DSTOK__NORM_NFKD && l.s.norms[1].kind == DSTOK__NORM_LOWERCASE &&
          l.s.norms[3].kind == DSTOK__NORM_NFKC);
    dstok__spec_free(&l.s);
    load_changed(&l, "[{\"type\": \"NFC\"}]", "[]", NULL);
    CHECK(l.status == DSTOK_OK && l.s.n_norms == 0);
    dstok__spec_free(&l.s);
}

/* Steps behind ByteLevel see its characters. */
static void test_behind_byte_level(void) {
    loaded l;
    load_changed(&l, "\"use_regex\": true}]}",
                 "\"use_regex\": true}, {\"type\": \"Digits\", \"individual_digits\": true}, "
                 "{\"type\": \"WhitespaceSplit\"}, {\"type\": \"UnicodeScripts\"}, "
                 "{\"type\": \"FixedLength\"}, {\"type\": \"Whitespace\"}, {\"type\": \"BertPreTokenizer\"}, "
                 "{\"type\": \"CharDelimiterSplit\", \"delimiter\": \"_\"}]}",
                 NULL);
    static const dstok__step_kind want[] = {DSTOK__STEP_REGEX,       DSTOK__STEP_REGEX,  DSTOK__STEP_BYTE_MAP,
                                            DSTOK__STEP_DIGITS,      DSTOK__STEP_BLANK,  DSTOK__STEP_SCRIPTS,
                                            DSTOK__STEP_FIXED,       DSTOK__STEP_WORDS,  DSTOK__STEP_BLANK,
                                            DSTOK__STEP_PUNCTUATION, DSTOK__STEP_LITERAL};
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_steps, sizeof want / sizeof *want);
    for (size_t i = 0; i < l.s.n_steps; i++) CHECK_EQ(l.s.steps[i].kind, want[i]);
    CHECK(!l.s.char_atoms && l.s.steps[6].length == 5);
    dstok__spec_free(&l.s);
}

/* A vocabulary of characters: keys stand for themselves, byte tokens and blanks decode to what they stand for. */
static const char chars[] =
    "{\"added_tokens\":[{\"id\":3,\"content\":\"<\xE2\x96\x81>\",\"single_word\":false,\"lstrip\":false,"
    "\"rstrip\":false,\"normalized\":true,\"special\":false}],\"normalizer\":{\"type\":\"Sequence\","
    "\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"\xE2\x96\x81\"},{\"type\":\"Replace\",\"pattern\":"
    "{\"String\":\" \"},\"content\":\"\xE2\x96\x81\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a+\"},"
    "\"content\":\"\"}]},\"post_processor\":{\"type\":\"ByteLevel\",\"trim_offsets\":true,\"add_prefix_"
    "space\":"
    "false},\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":"
    "\"\xE2\x96\x81\"},\"content\":\" "
    "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\","
    "\"content\":\" "
    "\",\"start\":1,\"stop\":0}]},\"model\":{\"byte_fallback\":true,\"end_of_word_suffix\":\"$\","
    "\"vocab\":{\"\xE2\x96\x81\":0,\"<0xE4>\":1,\"\xE2\x96\x81\xE2\x96\x81\":2},\"merges\":[["
    "\"\xE2\x96\x81\","
    "\"\xE2\x96\x81\"]]}}";

static void test_chars(void) {
    loaded l;
    load(&l, chars, sizeof chars - 1, NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.char_atoms && l.s.byte_fallback && !l.s.late_fallback);
    CHECK(l.s.suffix_n == 1 && l.s.suffix[0] == '$');
    CHECK(l.s.fallback_ids[0xE4] == 1 && l.s.fallback_ids[0xE5] == DSTOK__NO_ID);
    CHECK_EQ(l.s.n_norms, 3);
    CHECK(l.s.norms[0].kind == DSTOK__NORM_PREPEND && l.s.norms[1].kind == DSTOK__NORM_REPLACE &&
          l.s.norms[2].kind == DSTOK__NORM_REPLACE_REGEX && l.s.norms[2].content_n == 0);
    CHECK_EQ(l.s.n_decs, 4);
    CHECK(l.s.trim_offsets && !l.s.trim_keeps_prefix);
    if (l.s.n_tokens == 3) {
        CHECK(l.s.tokens[1].n == 6 && l.s.tokens[1].bytes_n == 1 && (uint8_t)l.s.tokens[1].bytes[0] == 0xE4);
        CHECK(l.s.tokens[2].n == 6 && l.s.tokens[2].bytes_n == 2 &&
              memcmp(l.s.tokens[2].bytes, "  ", 2) == 0);
        CHECK(!l.s.tokens[2].literal && l.s.merges[0].product == 2);
    }
    CHECK(l.s.n_added == 1 && l.s.added[0].bytes_n == 4 && memcmp(l.s.added[0].bytes, " < >", 4) == 0);
    dstok__spec_free(&l.s);
}

/* More of one thing than there is room for: a limit of its own, not a crash. */
static void test_many(void) {
    loaded l;
    char part[4096] = "{\"type\": \"NFC\"}", digits[4096] = "";
    for (int i = 0; i < 16; i++) strcat(part, ",{\"type\":\"NFC\"}");
    load_changed(&l, "{\"type\": \"NFC\"}", part, NULL);
    CHECK_EQ(l.status, DSTOK_E_LIMIT);
    dstok__spec_free(&l.s);
    for (int i = 0; i < 15; i++) strcat(digits, "{\"type\":\"Digits\",\"individual_digits\":true},");
    strcat(digits, "{\"type\": \"Split\"");
    load_changed(&l, "{\"type\": \"Split\"", digits, NULL); /* 15 + Split + GPT-2 */
    CHECK_EQ(l.status, DSTOK_E_LIMIT);
    dstok__spec_free(&l.s);
    char longest[DSTOK__MAX_ADDED_BYTES + 16] = "<";
    memset(longest + 1, 'x', DSTOK__MAX_ADDED_BYTES - 1);
    load_changed(&l, "<pad>", longest, NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    dstok__spec_free(&l.s);
    strcat(longest, ">");
    load_changed(&l, "<pad>", longest, NULL);
    CHECK_EQ(l.status, DSTOK_E_LIMIT);
    dstok__spec_free(&l.s);
}

/* ---- added tokens: the numbers are Hugging Face's (tokenizers 0.23.3), whatever the file says ---- */

#define FLAGS "\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false"

static void test_numbering(void) {
    loaded l;
    load_changed(&l, "\"id\": 263", "\"id\": 5", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    check_added(&l.s, "<pad>", 263, true, false, false);
    CHECK(util_warning(&l.s, "\"<pad>\" has id 5 in the file") != NULL &&
          util_warning(&l.s, "gets 263") != NULL);
    dstok__spec_free(&l.s);
    /* In file order: in vocab (104), new, empty, again, new. */
    load_changed(&l, "\"added_tokens\": [",
                 "\"added_tokens\": [{\"id\":9,\"content\":\"h\",\"special\":true," FLAGS "},"
                 "{\"id\":263,\"content\":\"<1>\",\"special\":true," FLAGS
                 "},{\"id\":8,\"content\":\"\",\"special\":true," FLAGS "},"
                 "{\"id\":7,\"content\":\"<1>\",\"special\":false,\"single_word\":true,\"lstrip\":true,"
                 "\"rstrip\":true,\"normalized\":true},",
                 NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_added, 7);
    check_added(&l.s, "h", 104, true, false, false);
    check_added(&l.s, "<pad>", 264, true, false, false);
    check_added(&l.s, "<|start|>", 266, true, false, false);
    const dstok__added *twice = util_added(&l.s, "<1>");
    CHECK(twice != NULL && twice->id == 263 && twice->special && twice->single_word && twice->rstrip &&
          twice->normalized);
    CHECK(util_warning(&l.s, "\"<1>\" stands twice") != NULL);
    CHECK(util_warning(&l.s, "without text") != NULL);
    CHECK(util_warning(&l.s, "\"h\" has id 9 in the file") != NULL);
    dstok__spec_free(&l.s);
    /* A hole in the vocabulary: counting its keys meets an id that one of them has. */
    load_changed(&l, "\"<|end|>\": 261", "\"<|end|>\": 264", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    check_added(&l.s, "<b>", 264, false, true, true);
    CHECK(util_added(&l.s, "<b>")->shadows && !util_added(&l.s, "<|end|>")->shadows);
    CHECK(util_warning(&l.s, "\"<b>\" gets id 264, which vocab gives to another text") != NULL);
    dstok__spec_free(&l.s);
}

/* 20,000 tokens: warnings stay bounded, and the last counts the rest. */
static void test_many_added(void) {
    enum { N = 20000 };
    size_t n, len = 0;
    char *base = util_fixture("mini.json", &n), *list = malloc(N * 160);
    loaded l;
    if (list == NULL) exit(1);
    len += (size_t)sprintf(list, "\"added_tokens\": [");
    for (int i = 0; i < N; i++)
        len += (size_t)sprintf(list + len,
                               "{\"id\":%d,\"content\":\"<extra_%d>\",\"special\":true," FLAGS "},", i, i);
    char *text = util_replace(base, "\"added_tokens\": [", list);
    load(&l, text, strlen(text), NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_added, N + 5);
    check_added(&l.s, "<extra_19999>", 263 + 19999, true, false, false);
    CHECK_EQ(l.s.n_warnings, DSTOK__MAX_WARNINGS);
    /* All N are renumbered, and so are the last three of the fixture's own. The template's id 265 still exists. */
    char want[64];
    sprintf(want, "... and %d more warnings", N + 3 - (int)(DSTOK__MAX_WARNINGS - 1));
    CHECK_STR(l.s.warnings[DSTOK__MAX_WARNINGS - 1], want);
    dstok__spec_free(&l.s);
    free(base);
    free(list);
    free(text);
}

/* ---- templates ---- */

static void check_template(const dstok__spec *s, const char *want) {
    char got[256] = "";
    for (size_t i = 0; i < s->n_template; i++) {
        if (s->template_items[i].is_text) {
            strcat(got, "A ");
        } else {
            sprintf(got + strlen(got), "%u ", s->template_items[i].id);
        }
    }
    CHECK_STR(got, want);
}

static void test_templates(void) {
    static const char tail[] = "{\"type\": \"TemplateProcessing\"";
    loaded l;
    load_changed(&l, "\"ids\": [265]", "\"ids\": [104, 101]", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    check_template(&l.s, "104 101 A ");
    dstok__spec_free(&l.s);
    load_changed(&l, "\"ids\": [265]", "\"ids\": [999]", NULL);
    check_template(&l.s, "999 A ");
    CHECK(util_warning(&l.s, "adds id 999, which has no token") != NULL);
    dstok__spec_free(&l.s);
    load_changed(&l, "{\"SpecialToken\": {\"id\": \"<|start|>\", \"type_id\": 0}}, ", "", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    check_template(&l.s, "");
    dstok__spec_free(&l.s);
    load_changed(
        &l, tail,
        "{\"type\":\"BertProcessing\",\"sep\":[\"s\",1],\"cls\":[\"c\",2]},{\"type\": \"TemplateProcessing\"",
        NULL);
    CHECK_EQ(l.status, DSTOK_E_UNSUPPORTED);
    CHECK(strstr(l.err.text, "more than one template") != NULL);
    dstok__spec_free(&l.s);
    load_changed(
        &l, tail,
        "{\"type\":\"RobertaProcessing\",\"sep\":[\"s\",1],\"cls\":[\"c\",2], \"x\": \"TemplateProcessing\"",
        NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    check_template(&l.s, "2 A 1 ");
    dstok__spec_free(&l.s);
}

/* ---- tokenizer_config.json ---- */

static void check_config(const char *config, const char *want_template) {
    loaded l;
    size_t n;
    char *text = util_fixture("mini.json", &n);
    load(&l, text, n, config);
    CHECK_EQ(l.status, DSTOK_OK);
    check_template(&l.s, want_template);
    dstok__spec_free(&l.s);
    free(text);
}

static void check_bad_config(const char *config, dstok_status status, uint64_t offset, const char *says) {
    loaded l;
    size_t n;
    char *text = util_fixture("mini.json", &n);
    load(&l, text, n, config);
    CHECK_EQ(l.status, status);
    CHECK(strncmp(l.err.text, "tokenizer_config.json: ", 23) == 0);
    CHECK(strstr(l.err.text, says) != NULL);
    CHECK_EQ(l.err.offset, offset);
    dstok__spec_free(&l.s);
    free(text);
}

static void test_config(void) {
    loaded l;
    size_t n, config_n;
    char *text = util_fixture("mini.json", &n), *config = util_fixture("mini_config.json", &config_n);
    load(&l, text, n, config);
    CHECK_EQ(l.status, DSTOK_OK);
    check_template(&l.s, "265 A 261 "); /* BOS stood there already and is not doubled */
    CHECK_EQ(util_named(&l.s), 4);      /* two in the chat template, BOS and EOS */
    for (size_t i = 0; i < l.s.n_added; i++) {
        const char *text_i = l.s.added[i].content;
        bool used = strcmp(text_i, "<\xEF\xBD\x9Cuser\xEF\xBD\x9C>") == 0 || strcmp(text_i, "<b>") == 0 ||
                    strcmp(text_i, "<|start|>") == 0 || strcmp(text_i, "<|end|>") == 0;
        CHECK_EQ(l.s.added[i].is_named, used);
    }
    dstok__spec_free(&l.s);
    free(text);
    free(config);
    check_config("{}", "265 A ");
    check_config("{\"add_bos_token\": null, \"bos_token\": null, \"chat_template\": null}", "265 A ");
    check_config("{\"add_bos_token\": false, \"bos_token\": \"<|start|>\"}", "");
    check_config("{\"add_bos_token\": false, \"bos_token\": \"<pad>\"}", "265 A ");
    check_config("{\"add_bos_token\": false, \"bos_token\": \"<none>\"}", "265 A ");
    check_config("{\"add_bos_token\": true, \"bos_token\": \"<pad>\"}", "263 265 A ");
    check_config("{\"add_bos_token\": true}", "265 A ");
    check_config("{\"add_eos_token\": true, \"eos_token\": {\"content\": \"<pad>\"}}", "265 A 263 ");
    check_config("{\"add_eos_token\": false, \"eos_token\": \"<pad>\"}", "265 A ");
    check_config("{\"chat_template\": \"none of them\"}", "265 A ");
    check_bad_config("{\"add_bos_token\": 1}", DSTOK_E_FORMAT, 18, "add_bos_token must be true or false");
    check_bad_config("{\"add_bos_token\": true, \"bos_token\": \"<none>\"}", DSTOK_E_FORMAT, 37,
                     "\"<none>\" is no token");
    check_bad_config("{\"add_bos_token\": true, \"bos_token\": {}}", DSTOK_E_FORMAT, 37,
                     "bos_token is missing");
    check_bad_config("{\"chat_template\": 5}", DSTOK_E_FORMAT, 18, "chat_template must be a string");
    check_bad_config("{\"chat_template\": [5]}", DSTOK_E_FORMAT, 19, "must be an object");
    check_bad_config("[]", DSTOK_E_FORMAT, 0, "must be an object");
    check_bad_config("{", DSTOK_E_TRUNCATED, 1, "ends inside an object");
}

static void test_bom(void) {
    loaded l;
    load_changed(&l, "{\n \"version\"", "\xEF\xBB\xBF{\n \"version\"", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(util_warning(&l.s, "byte order mark") != NULL);
    dstok__spec_free(&l.s);
}

int main(void) {
    test_mini();
    test_alphabet();
    test_refusals();
    test_model_options();
    test_keys();
    test_merges();
    test_steps();
    test_behind_byte_level();
    test_chars();
    test_many();
    test_numbering();
    test_many_added();
    test_templates();
    test_config();
    test_bom();
    return t_end();
}
