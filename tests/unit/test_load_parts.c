/* SPDX-License-Identifier: MIT */
/* tokenizer.json, part by part: expected is what tokenizers 0.23.3 does with the same files. */
#include "load_hf.h"

/* ---- the fixtures ---- */

static const dstok__token *find_token(const dstok__spec *s, const char *text) {
    for (size_t i = 0; i < s->n_tokens; i++) {
        if (s->tokens[i].n == strlen(text) && memcmp(s->tokens[i].text, text, s->tokens[i].n) == 0)
            return &s->tokens[i];
    }
    return NULL;
}

/* The token of this text decodes to these bytes. */
static void check_decoded(const dstok__spec *s, const char *text, const char *bytes) {
    const dstok__token *t = find_token(s, text);
    CHECK(t != NULL);
    if (t == NULL) return;
    CHECK(!t->literal);
    CHECK_EQ(t->bytes_n, strlen(bytes));
    if (t->bytes_n == strlen(bytes)) CHECK_MEM(t->bytes, bytes, t->bytes_n);
}

static void check_added_bytes(const dstok__spec *s, const char *content, const char *bytes) {
    const dstok__added *a = util_added(s, content);
    CHECK(a != NULL && a->bytes != NULL);
    if (a == NULL || a->bytes == NULL) return;
    CHECK_EQ(a->bytes_n, strlen(bytes));
    if (a->bytes_n == strlen(bytes)) CHECK_MEM(a->bytes, bytes, a->bytes_n);
}

static void test_chars(void) {
    static const dstok__norm_kind norms[] = {DSTOK__NORM_PRECOMPILED, DSTOK__NORM_NMT,
                                             DSTOK__NORM_STRIP,       DSTOK__NORM_REPLACE_REGEX,
                                             DSTOK__NORM_PREPEND,     DSTOK__NORM_REPLACE};
    static const dstok__dec_kind decs[] = {DSTOK__DEC_REPLACE, DSTOK__DEC_BYTE_FALLBACK, DSTOK__DEC_FUSE,
                                           DSTOK__DEC_STRIP};
    loaded l;
    size_t n;
    char *text = util_fixture("chars.json", &n);
    load(&l, text, n, NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_warnings, 0);
    CHECK(l.s.char_atoms && l.s.byte_fallback && !l.s.late_fallback && l.s.fuse_unk);
    CHECK(l.s.unk_id == 0 && l.s.prefix_n == 0 && l.s.suffix_n == 0 && l.s.n_merges == 11);
    CHECK(l.s.fallback_ids[0x0A] == 3 && l.s.fallback_ids[0xFF] == 10 &&
          l.s.fallback_ids[0x0B] == DSTOK__NO_ID);
    CHECK_EQ(l.s.n_norms, 6);
    for (size_t i = 0; i < 6; i++) CHECK_EQ(l.s.norms[i].kind, norms[i]);
    CHECK(l.s.norms[2].flags == DSTOK__STRIP_RIGHT);
    CHECK(l.s.norms[0].pattern_n == 4 + 1024 + 2);
    CHECK_EQ(l.s.n_decs, 4);
    for (size_t i = 0; i < 4; i++) CHECK_EQ(l.s.decs[i].kind, decs[i]);
    CHECK(l.s.decs[3].start == 1 && l.s.decs[3].stop == 0);
    check_decoded(&l.s, "<0xE4>", "\xE4");
    check_decoded(&l.s, "\xE2\x96\x81hello", " hello");
    check_decoded(&l.s, "\xE2\x96\x81\xE2\x96\x81", "  ");
    check_decoded(&l.s, "<s>", "<s>");
    /* These are looked for behind the normalizer, which puts a blank before each. */
    check_decoded(&l.s, "</s>", " </s>");
    check_added_bytes(&l.s, "<Z>", " <Z>");
    check_added_bytes(&l.s, "[X\xE2\x96\x81Y]", "[X Y]");
    CHECK(!l.s.trim_offsets && l.s.n_template == 2);
    dstok__spec_free(&l.s);
    free(text);
}

static void test_words(void) {
    static const dstok__step_kind steps[] = {
        DSTOK__STEP_BLANK,       DSTOK__STEP_PUNCTUATION, DSTOK__STEP_WORDS,   DSTOK__STEP_BLANK,
        DSTOK__STEP_LITERAL,     DSTOK__STEP_META,        DSTOK__STEP_LITERAL, DSTOK__STEP_DIGITS,
        DSTOK__STEP_PUNCTUATION, DSTOK__STEP_SCRIPTS,     DSTOK__STEP_FIXED};
    loaded l;
    size_t n;
    char *text = util_fixture("words.json", &n);
    load(&l, text, n, NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_warnings, 0);
    CHECK(l.s.char_atoms && !l.s.byte_fallback && l.s.ignore_merges);
    CHECK(l.s.prefix_n == 2 && strcmp(l.s.prefix, "##") == 0);
    CHECK(l.s.suffix_n == 4 && strcmp(l.s.suffix, "</w>") == 0);
    CHECK_EQ(l.s.n_merges, 7);
    if (l.s.n_merges == 7) CHECK_EQ(l.s.merges[6].product, find_token(&l.s, "xyz</w>")->id);
    CHECK(l.s.norms[0].flags ==
          (DSTOK__BERT_CLEAN | DSTOK__BERT_CHINESE | DSTOK__BERT_STRIP_ACCENTS | DSTOK__BERT_LOWERCASE));
    CHECK_EQ(l.s.n_steps, 11);
    for (size_t i = 0; i < 11; i++) CHECK_EQ(l.s.steps[i].kind, steps[i]);
    CHECK(l.s.steps[2].invert && l.s.steps[2].behavior == DSTOK__REMOVED);
    CHECK(l.s.steps[4].behavior == DSTOK__REMOVED && l.s.steps[4].pattern[0] == '_');
    CHECK(l.s.steps[5].prepend == DSTOK__PREPEND_NEVER && l.s.steps[6].behavior == DSTOK__MERGED_WITH_NEXT);
    CHECK_EQ(l.s.steps[10].length, 9);
    check_decoded(&l.s, "abc</w>", "abc ");
    check_decoded(&l.s, "##bc", "##bc");
    CHECK(l.s.trim_offsets && !l.s.trim_keeps_prefix && l.s.n_template == 3);
    dstok__spec_free(&l.s);
    free(text);
}

/* ---- parts, one at a time ---- */

static void test_normalizers(void) {
    loaded l;
    load_part(&l, "chars.json", "{\"type\": \"Nmt\"}",
              "{\"type\":\"BertNormalizer\",\"clean_text\":false,\"handle_chinese_chars\":true,"
              "\"strip_accents\":true,\"lowercase\":false},{\"type\":\"BertNormalizer\",\"clean_text\":true,"
              "\"handle_chinese_chars\":false,\"lowercase\":false},{\"type\":\"StripAccents\"},"
              "{\"type\":\"Prepend\",\"prepend\":\"\"},{\"type\":\"ByteLevel\"},{\"type\":\"Replace\","
              "\"pattern\":{\"String\":\"a\\u0000\"},\"content\":\"\"}",
              NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_norms, 10);
    CHECK(l.s.norms[1].flags == (DSTOK__BERT_CHINESE | DSTOK__BERT_STRIP_ACCENTS));
    CHECK(l.s.norms[2].flags == DSTOK__BERT_CLEAN);
    CHECK(l.s.norms[4].kind == DSTOK__NORM_BYTE_LEVEL && l.s.char_atoms);
    CHECK(l.s.norms[5].pattern_n == 2 && l.s.norms[5].content_n == 0);
    dstok__spec_free(&l.s);
}

static void check_meta(const char *members, dstok__prepend prepend, size_t n_steps) {
    char part[256];
    loaded l;
    snprintf(part, sizeof part, "{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\"%s}", members);
    load_part(&l, "chars.json",
              "{\"type\": \"Split\", \"pattern\": {\"String\": \"!\"}, \"behavior\": \"MergedWithPrevious\", "
              "\"invert\": false}",
              part, NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_steps, n_steps);
    CHECK(l.s.steps[0].kind == DSTOK__STEP_META && l.s.steps[0].prepend == prepend && l.s.steps[0].n == 3);
    dstok__spec_free(&l.s);
}

static void test_metaspace(void) {
    check_meta("", DSTOK__PREPEND_ALWAYS, 2);
    check_meta(",\"prepend_scheme\":\"first\"", DSTOK__PREPEND_FIRST, 2);
    check_meta(",\"prepend_scheme\":\"never\",\"split\":false", DSTOK__PREPEND_NEVER, 1);
    check_meta(",\"prepend_scheme\":\"never\",\"add_prefix_space\":false", DSTOK__PREPEND_NEVER, 2);
    check_meta(",\"prepend_scheme\":\"never\",\"add_prefix_space\":true", DSTOK__PREPEND_NEVER, 2);
    check_meta(",\"add_prefix_space\":true,\"str_rep\":\"x\",\"split\":null", DSTOK__PREPEND_ALWAYS, 2);
}

/* Of two trimming parts the first counts; ids do not depend on them. */
static void test_trim(void) {
    static const char roberta[] =
        "{\"type\": \"RobertaProcessing\", \"sep\": [\"[SEP]\", 2], \"cls\": [\"[CLS]\", "
        "1], \"trim_offsets\": true, \"add_prefix_space\": false}";
    loaded l;
    load_part(&l, "words.json", ", \"trim_offsets\": true, \"add_prefix_space\": false}", "}", NULL);
    CHECK(l.status == DSTOK_OK && l.s.trim_offsets && l.s.trim_keeps_prefix);
    dstok__spec_free(&l.s);
    load_part(
        &l, "words.json", roberta,
        "{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\",\"trim_offsets\":false,\"add_prefix_"
        "space\":true},{\"type\":\"ByteLevel\",\"trim_offsets\":true,\"add_prefix_space\":false},"
        "{\"type\":\"ByteLevel\",\"trim_offsets\":true,\"add_prefix_space\":true}]}",
        NULL);
    CHECK(l.status == DSTOK_OK && l.s.trim_offsets && !l.s.trim_keeps_prefix && l.s.n_template == 0);
    CHECK(util_warning(&l.s, "trims offsets twice") != NULL);
    dstok__spec_free(&l.s);
    load_part(&l, "words.json", roberta,
              "{\"type\":\"ByteLevel\",\"trim_offsets\":false,\"add_prefix_space\":true}", NULL);
    CHECK(l.status == DSTOK_OK && !l.s.trim_offsets && !l.s.trim_keeps_prefix);
    dstok__spec_free(&l.s);
}

static void test_decoders(void) {
    static const char bpe[] = "{\"type\": \"BPEDecoder\", \"suffix\": \"</w>\"}";
    loaded l;
    load_part(&l, "words.json", bpe,
              "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"##\"},"
              "\"content\":\"\"},{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Strip\",\"content\":\"a\","
              "\"start\":2,\"stop\":1}]}]}",
              NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_EQ(l.s.n_decs, 2);
    check_decoded(&l.s, "##bc", "bc");
    check_decoded(&l.s, "abc", "bc");
    check_decoded(&l.s, "##a", "");
    dstok__spec_free(&l.s);
    load_part(&l, "words.json", bpe,
              "{\"type\":\"Metaspace\",\"replacement\":\"b\",\"prepend_scheme\":\"never\"}", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(!l.s.decs[0].flag);
    check_decoded(&l.s, "ab", "a ");
    dstok__spec_free(&l.s);
    load_part(&l, "words.json", bpe, "{\"type\":\"ByteLevel\"}", NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    check_decoded(&l.s, "abc", "abc");
    dstok__spec_free(&l.s);
    load_part(&l, "words.json", bpe, "null", NULL);
    CHECK(l.status == DSTOK_OK && l.s.n_decs == 0);
    check_decoded(&l.s, "abc</w>", "abc</w>");
    dstok__spec_free(&l.s);
}

/* A key with byte-level characters decodes through all steps, but an added token's text is plain. */
static void test_byte_level_decoder(void) {
    loaded l;
    load_part(
        &l, "mini.json", "\"decoder\": {\"type\": \"ByteLevel\", ",
        "\"decoder\": {\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":"
        "\"\xC4\xA0\"},\"content\":\"\xC4\x8A\"},{\"type\":\"ByteLevel\"}]}, \"x\": {",
        NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(!l.s.char_atoms);
    check_decoded(&l.s, " hello", "\nhello");
    dstok__spec_free(&l.s);
    load_part(&l, "mini.json", "\"<b>\"", "\"\xC4\xA0x\"", NULL);
    CHECK(l.status == DSTOK_OK && util_added(&l.s, "\xC4\xA0x")->bytes == NULL);
    dstok__spec_free(&l.s);
}

/* The product of a merge leaves out as many bytes of its right part as the prefix has. */
static void test_prefix(void) {
    static const char file[] =
        "{\"model\":{\"continuing_subword_prefix\":\"\xE2\x96\x81\",\"end_of_word_suffix\":\"\","
        "\"vocab\":{\"a\":0,\"\xE2\x96\x81\x62\":1,\"ab\":2,\"xyzc\":3,\"ac\":4},"
        "\"merges\":[[\"a\",\"\xE2\x96\x81\x62\"],\"a xyzc\"]}}";
    loaded l;
    load(&l, file, sizeof file - 1, NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.n_merges == 2 && l.s.merges[0].product == 2 && l.s.merges[1].product == 4);
    CHECK(l.s.prefix_n == 3 && l.s.suffix_n == 0);
    dstok__spec_free(&l.s);
    /* Byte-level keys: the prefix has two bytes there and stands for one. */
    load_part(&l, "mini.json", "\"continuing_subword_prefix\": \"\"",
              "\"continuing_subword_prefix\": \"\xC4\xA0\"", NULL);
    CHECK_EQ(l.status, DSTOK_E_FORMAT); /* "h" + "e" */
    dstok__spec_free(&l.s);
    static const char bytes[] =
        "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
        "\"model\":{\"continuing_subword_prefix\":\"\xC4\xA0\",\"end_of_word_suffix\":\"\xC4\xA0\","
        "\"vocab\":{\"a\":0,\"\xC4\xA0\x62\":1,\"ab\":2},\"merges\":[[\"a\",\"\xC4\xA0\x62\"]]}}";
    load(&l, bytes, sizeof bytes - 1, NULL);
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK(l.s.prefix_n == 1 && l.s.prefix[0] == ' ' && l.s.suffix_n == 1 && l.s.n_merges == 1);
    dstok__spec_free(&l.s);
}

/* With byte atoms byte_fallback looks for the bytes of the byte-level character: without byte tokens it never acts. */
static void test_fallback(void) {
    static const char head[] =
        "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"model\":{"
        "\"byte_fallback\":true,\"merges\":[],\"vocab\":{\"a\":0,\"";
    static const struct {
        const char *key;
        dstok_status status;
    } keys[] = {{"b", DSTOK_OK}, {"<0xc4>", DSTOK_OK}, {"<0xC4>", DSTOK_E_UNSUPPORTED}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char text[256];
        loaded l;
        snprintf(text, sizeof text, "%s%s\":1}}}", head, keys[i].key);
        load(&l, text, strlen(text), NULL);
        CHECK_EQ(l.status, keys[i].status);
        CHECK(!l.s.byte_fallback);
        dstok__spec_free(&l.s);
    }
}

/* ---- refusals ---- */

static const refusal chars_refusals[] = {
    {"\"precompiled_charsmap\": \"AAQA", "\"precompiled_charsmap\": \"AQQA", DSTOK_E_FORMAT,
     "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Precompiled\"", "character map"},
    {"\"precompiled_charsmap\": \"", "\"precompiled_charsmap\": \"?", DSTOK_E_FORMAT, "\"?", "is not base64"},
    {"{\"Regex\": \" {3,}\"}", "{\"Regex\": \"(\"}", DSTOK_E_FORMAT,
     "{\"type\": \"Sequence\", \"normalizers\"", "a pattern has a ( without a )"},
    {"\"prepend\": \"\xE2\x96\x81\"", "\"prepend\": 5", DSTOK_E_FORMAT, "5}", "\"prepend\" must be a string"},
    {"\"strip_left\": false", "\"strip_left\": null", DSTOK_E_FORMAT, "{\"type\": \"Strip\", \"strip_left\"",
     "\"strip_left\" is missing"},
    {"\"normalizers\": [{", "\"normalizers\": [null, {", DSTOK_E_FORMAT, "null, {",
     "normalizer must be an object"},
    {"\"type\": \"Nmt\"", "\"type\": \"nmt\"", DSTOK_E_UNSUPPORTED, "{\"type\": \"nmt\"", "type \"nmt\""},
    {"\"byte_fallback\": true", "\"byte_fallback\": \"yes\"", DSTOK_E_FORMAT, "\"yes\"",
     "byte_fallback must be"},
    {"\"unk_token\": \"<unk>\"", "\"unk_token\": 0", DSTOK_E_FORMAT, "0,\n  \"cont",
     "unk_token must be a string"},
    {"{\"type\": \"Replace\", \"pattern\": {\"String\": \"\xE2\x96\x81\"}",
     "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"a\"}", DSTOK_E_UNSUPPORTED,
     "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"a\"}",
     "decoder \"Replace\" by a regular expression"},
    {"{\"type\": \"Fuse\"}", "{\"type\": \"Fuse\"}, {\"type\": \"ByteFallback\"}", DSTOK_E_UNSUPPORTED,
     "{\"type\": \"Sequence\", \"decoders\"", "decoder \"ByteFallback\" behind Fuse"},
    {"{\"type\": \"Fuse\"}", "{\"type\": \"Fuse\"}, {\"type\": \"ByteLevel\"}", DSTOK_E_UNSUPPORTED,
     "{\"type\": \"Sequence\", \"decoders\"", "decoder \"ByteLevel\" behind Fuse"},
    {"\"start\": 1, ", "", DSTOK_E_FORMAT, "{\"type\": \"Strip\", \"content\"", "Strip needs"},
    {"\"start\": 1", "\"start\": -1", DSTOK_E_FORMAT, "-1, \"stop\"", "\"start\" must be a whole number"},
    {"\"start\": 1", "\"start\": 4294967296", DSTOK_E_FORMAT, "4294967296", "from 0 to 4294967295"},
    {"\"decoders\": [", "\"decodars\": [", DSTOK_E_FORMAT, "{\"type\": \"Sequence\", \"decodars\"",
     "decoders is missing"},
    {"\"decoders\": [", "\"decoders\": [{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},",
     DSTOK_E_UNSUPPORTED, "{\"type\": \"Sequence\", \"decoders\"", "decoder \"WordPiece\""},
    {"{\"type\": \"Split\", ", "{\"type\": \"Metaspace\", \"replacement\": \"_\", \"str_rep\": 5, ",
     DSTOK_E_FORMAT, "5, \"pattern\"", "\"str_rep\" must be a string"},
    {"{\"type\": \"Split\", ", "{\"type\": \"FixedLength\", \"length\": 2.5, ", DSTOK_E_FORMAT, "2.5",
     "\"length\" must be a whole number"},
    {"{\"type\": \"Split\", ", "{\"type\": \"CharDelimiterSplit\", \"delimiter\": \"\", ", DSTOK_E_FORMAT,
     "\"\", \"pattern\"", "\"delimiter\" must be one character"},
    {"{\"type\": \"TemplateProcessing\"", "{\"type\": \"ByteLevel\", \"add_prefix_space\": true",
     DSTOK_E_FORMAT, "{\"type\": \"ByteLevel\"", "\"trim_offsets\" is missing"},
};

static const refusal words_refusals[] = {
    {"[\"a\", \"##b\"]", "[\"a\", \"x\"]", DSTOK_E_FORMAT, "[\"a\", \"x\"]",
     "merge 0: its right part does not begin with the continuing_subword_prefix"},
    {"\"suffix\": \"</w>\"", "\"suffix\": \"\"", DSTOK_E_UNSUPPORTED, "{\"type\": \"BPEDecoder\"",
     "\"BPEDecoder\" with an empty suffix"},
    {"\"suffix\": \"</w>\"", "\"suffix\": \"@@\"", DSTOK_E_UNSUPPORTED, "\"@@\"",
     "whose suffix is not the end_of_word_suffix"},
    {"\"end_of_word_suffix\": \"</w>\"", "\"end_of_word_suffix\": 4", DSTOK_E_FORMAT, "4,",
     "end_of_word_suffix must be a string"},
    {"\"cls\": [\"[CLS]\", 1]", "\"cls\": [\"[CLS]\"]", DSTOK_E_FORMAT, "[\"[CLS]\"]",
     "\"cls\" must be [text, id]"},
    {"{\"type\": \"FixedLength\"", "{\"type\": \"ByteLevel\", \"add_prefix_space\": false",
     DSTOK_E_UNSUPPORTED, "{\"type\": \"BPEDecoder\"", "decoder \"BPEDecoder\" of a byte-level vocabulary"},
};

static void test_refusals(void) {
    size_t n;
    char *base = util_fixture("chars.json", &n);
    for (size_t i = 0; i < sizeof chars_refusals / sizeof *chars_refusals; i++)
        check_refusal(base, &chars_refusals[i]);
    free(base);
    base = util_fixture("words.json", &n);
    for (size_t i = 0; i < sizeof words_refusals / sizeof *words_refusals; i++)
        check_refusal(base, &words_refusals[i]);
    free(base);
}

/* ---- members that stand twice, and large things ---- */

static void test_twice(void) {
    loaded l;
    load_part(&l, "chars.json", "\"prepend\": \"\xE2\x96\x81\"", "\"prepend\": \"x\", \"prepend\": \"y\"",
              NULL);
    CHECK(l.status == DSTOK_OK && strcmp(l.s.norms[4].content, "y") == 0);
    CHECK(util_warning(&l.s, "\"prepend\" stands twice") != NULL);
    dstok__spec_free(&l.s);
    load_part(&l, "chars.json", "\"<0xFF>\": 10", "\"<0xFF>\": 99, \"<0xFF>\": 10", NULL);
    CHECK(l.status == DSTOK_OK && l.s.fallback_ids[0xFF] == 10);
    CHECK(util_warning(&l.s, "vocab has \"<0xFF>\" twice") != NULL);
    dstok__spec_free(&l.s);
}

/* n times `unit`, in quotes, put in place of find. */
static void load_long(loaded *l, const char *fixture, const char *find, const char *before, const char *unit,
                      size_t n, const char *after) {
    size_t unit_n = strlen(unit);
    char *text = malloc(strlen(before) + n * unit_n + strlen(after) + 1);
    if (text == NULL) exit(1);
    char *p = text + sprintf(text, "%s", before);
    for (size_t i = 0; i < n; i++, p += unit_n) memcpy(p, unit, unit_n);
    strcpy(p, after);
    load_part(l, fixture, find, text, NULL);
    free(text);
}

static void check_long(const char *find, const char *before, const char *unit, size_t n, const char *after,
                       dstok_status status, const char *says) {
    loaded l;
    load_long(&l, "chars.json", find, before, unit, n, after);
    CHECK_EQ(l.status, status);
    CHECK(status == DSTOK_OK || (strstr(l.err.text, says) != NULL && l.err.line > 0));
    dstok__spec_free(&l.s);
}

static void test_large(void) {
    static const char pattern[] =
        "\"decoders\": [{\"type\": \"Replace\", \"pattern\": {\"String\": \"\xE2\x96\x81\"}",
                      head[] = "\"decoders\": [{\"type\": \"Replace\", \"pattern\": {\"String\": \"";
    check_long("\"\xE2\x96\x81world\"", "\"", "w", 65536, "\"", DSTOK_E_FORMAT, "is not in vocab");
    check_long("\"<0xFF>\": 10", "\"", "w", 65536, "\": 10", DSTOK_OK, "");
    check_long("\"<0xFF>\": 10", "\"", "w", 65537, "\": 10", DSTOK_E_LIMIT, "a token has 65537 bytes");
    check_long(pattern, head, "w", 256, "\"}", DSTOK_OK, "");
    check_long(pattern, head, "w", 257, "\"}", DSTOK_E_LIMIT, "a decoder looks for 257 bytes");
    /* Each step makes ten of one: too much in all, whatever the tokens are. */
    check_long("\"decoders\": [", "\"decoders\": [",
               "{\"type\":\"Replace\",\"pattern\":{\"String\":\"o\"},\"content\":\"oooooooooo\"},", 8, "",
               DSTOK_E_LIMIT, "Replace steps could make");
    /* Two of them may be too much for one token. */
    check_long("\"decoders\": [", "\"decoders\": [",
               "{\"type\":\"Replace\",\"pattern\":{\"String\":\"o\"},\"content\":\"oooooooooo\"},", 2, "",
               DSTOK_OK, "");
    check_long("\"normalizers\": [", "\"normalizers\": [", "{\"type\":\"NFC\"},", 11, "", DSTOK_E_LIMIT,
               "more than 16 normalizers");
    check_long("\"decoders\": [", "\"decoders\": [", "{\"type\":\"Fuse\"},", 13, "", DSTOK_E_LIMIT,
               "more than 16 decoders");
    check_long("\"normalizers\": [", "\"normalizers\": [", "{\"type\":\"Sequence\",\"normalizers\":[", 40, "",
               DSTOK_E_LIMIT, "nested deeper than 64");
}

/* A token that decodes to more than a token may have, by itself. */
static void test_grown(void) {
    size_t n;
    char *base = util_fixture("chars.json", &n);
    char *some =
        util_replace(base, "\"decoders\": [",
                     "\"decoders\": [{\"type\":\"Replace\",\"pattern\":{\"String\":\"w\"},\"content\":"
                     "\"wwwwwwwwwwwwwwww\"},");
    char *key = malloc(8192);
    if (key == NULL) exit(1);
    memset(key, 'w', 4200);
    key[0] = '"';
    strcpy(key + 4199, "\": 10");
    char *text = util_replace(some, "\"<0xFF>\": 10", key);
    loaded l;
    load(&l, text, strlen(text), NULL);
    CHECK_EQ(l.status, DSTOK_E_LIMIT);
    CHECK(strstr(l.err.text, "decodes to too many bytes") != NULL && l.err.line > 0);
    dstok__spec_free(&l.s);
    free(base);
    free(some);
    free(key);
    free(text);
}

int main(void) {
    test_chars();
    test_words();
    test_normalizers();
    test_metaspace();
    test_trim();
    test_decoders();
    test_byte_level_decoder();
    test_prefix();
    test_fallback();
    test_refusals();
    test_twice();
    test_large();
    test_grown();
    return t_end();
}
