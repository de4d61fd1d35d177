/* SPDX-License-Identifier: MIT */
/* SentencePiece models: the wire format beneath, what a model says, each refusal, damage, real files. */
#include "load_damage.h"

#include "tokenizer/load/protobuf.h"

/* ---- writing messages ---- */

typedef struct message {
    char data[1 << 14];
    size_t n;
} message;

static void put_raw(message *m, const void *bytes, size_t n) {
    if (n > sizeof m->data - m->n) exit(1);
    memcpy(m->data + m->n, bytes, n);
    m->n += n;
}

static void put_varint(message *m, uint64_t v) {
    for (; v >= 0x80; v >>= 7) put_raw(m, &(char){(char)(v | 0x80)}, 1);
    put_raw(m, &(char){(char)v}, 1);
}

static void put_number(message *m, uint32_t field, uint64_t v) {
    put_varint(m, field << 3);
    put_varint(m, v);
}

static void put_bytes(message *m, uint32_t field, const void *bytes, size_t n) {
    put_varint(m, field << 3 | 2);
    put_varint(m, n);
    put_raw(m, bytes, n);
}

static void put_text(message *m, uint32_t field, const char *text) {
    put_bytes(m, field, text, strlen(text));
}

static void put_float(message *m, uint32_t field, float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_varint(m, field << 3 | 5);
    for (int i = 0; i < 4; i++) put_raw(m, &(char){(char)(bits >> 8 * i)}, 1);
}

/* ---- writing models ---- */

enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER_DEFINED = 4, UNUSED = 5, BYTE = 6 };

static void put_piece(message *m, const char *text, float score, unsigned type) {
    message p = {.n = 0};
    put_text(&p, 1, text);
    put_float(&p, 2, score);
    if (type != NORMAL) put_number(&p, 3, type);
    put_bytes(m, 1, p.data, p.n);
}

static void put_trainer(message *m, unsigned model, bool byte_fallback) {
    message t = {.n = 0};
    put_number(&t, 3, model);
    put_number(&t, 35, byte_fallback);
    put_bytes(m, 2, t.data, t.n);
}

static void put_pieces(message *m) {
    put_piece(m, "<unk>", 0, UNKNOWN);
    put_piece(m, "<s>", 0, CONTROL);
    put_piece(m, "[A\xE2\x96\x81]", 0, USER_DEFINED);
    put_piece(m, "\xE2\x96\x81", -1, NORMAL);
    put_piece(m, "a\xE2\x96\x81\xE2\x96\x81", -2.5f, NORMAL);
    put_piece(m, "aa", -3, UNUSED);
}

static void put_byte_pieces(message *m) {
    for (unsigned b = 0; b < 256; b++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", b);
        put_piece(m, text, 0, BYTE);
    }
}

static message small_model(void) {
    message m = {.n = 0};
    put_pieces(&m);
    put_trainer(&m, 2, false);
    return m;
}

static message byte_model(void) {
    message m = {.n = 0};
    put_pieces(&m);
    put_byte_pieces(&m);
    put_trainer(&m, 2, true);
    return m;
}

typedef struct loaded {
    dstok__spec s;
    dstok_error err;
    dstok_status status;
} loaded;

static void load(loaded *l, const message *m) {
    l->err = (dstok_error){0};
    dstok__spec_init(&l->s, &dstok__default_alloc);
    l->status = dstok__load_sentencepiece(&l->s, m->data, m->n, &l->err);
    if (l->status != DSTOK_OK) CHECK_EQ(l->err.status, l->status);
}

/* ---- the wire format ---- */

#define WIRE(text) text, sizeof text - 1

static const struct wire_case {
    const char *data;
    size_t n;
    dstok_status status;
    uint64_t offset;
    const char *says;
} wire_cases[] = {
    {WIRE("\x08\x96\x01"), DSTOK_OK, 0, ""},
    {WIRE("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), DSTOK_OK, 0, ""},
    {WIRE("\x08\x80\x80\x00"), DSTOK_OK, 0, ""}, /* longer than need be */
    {WIRE("\x09\1\2\3\4\5\6\7\x80\x0D\1\2\3\x84\x12\0\x12\2ab"), DSTOK_OK, 0, ""},
    {WIRE("\xFA\xFF\xFF\xFF\x0F\1x"), DSTOK_OK, 0, ""}, /* the largest number of a field */
    {WIRE("\x08\x01\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"), DSTOK_E_FORMAT, 2, "more than 64 bits"},
    {WIRE("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), DSTOK_E_FORMAT, 0, "more than 64 bits"},
    {WIRE("\x08\1\x00\1"), DSTOK_E_FORMAT, 2, "out of range"},
    {WIRE("\x88\x80\x80\x80\x10\1"), DSTOK_E_FORMAT, 0, "out of range"},
    {WIRE("\x0B\x0C"), DSTOK_E_FORMAT, 0, "not known, or a group"},
    {WIRE("\x08\1\x0E"), DSTOK_E_FORMAT, 2, "not known, or a group"},
    {WIRE("\x08\1\x0F"), DSTOK_E_FORMAT, 2, "not known, or a group"},
    {WIRE("\x08\1\x08"), DSTOK_E_TRUNCATED, 2, "ends inside"},
    {WIRE("\x08\1\x08\x80"), DSTOK_E_TRUNCATED, 2, "ends inside"},
    {WIRE("\x08\1\x80"), DSTOK_E_TRUNCATED, 2, "ends inside"},
    {WIRE("\x12\3ab"), DSTOK_E_TRUNCATED, 0, "ends inside"},
    {WIRE("\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01xy"), DSTOK_E_TRUNCATED, 0, "ends inside"},
    {WIRE("\x09\1\2\3\4\5\6\7"), DSTOK_E_TRUNCATED, 0, "ends inside"},
    {WIRE("\x0D\1\2\3"), DSTOK_E_TRUNCATED, 0, "ends inside"},
};

static void test_wire(void) {
    for (size_t i = 0; i < sizeof wire_cases / sizeof *wire_cases; i++) {
        const struct wire_case *c = &wire_cases[i];
        dstok__proto p = dstok__proto_file(c->data, c->n);
        dstok__proto_field f;
        dstok_error err = {0};
        dstok_status status;
        int before = t_failures;
        do status = dstok__proto_next(&p, &f, &err);
        while (status == DSTOK_OK && f.number != 0);
        CHECK_EQ(status, c->status);
        CHECK_EQ(err.offset, c->offset);
        CHECK(strstr(err.text, c->says) != NULL);
        if (t_failures > before) fprintf(stderr, "  case %zu: %s\n", i, err.text);
    }
}

static void test_wire_values(void) {
    static const char data[] =
        "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x09\1\2\3\4\5\6\7\x80\x0D\1\2\3\x84\x12\3\x08\5\x10";
    dstok__proto p = dstok__proto_file(data, sizeof data - 1), inside;
    dstok__proto_field f;
    dstok_error err = {0};
    CHECK_EQ(dstok__proto_next(&p, &f, &err), DSTOK_OK);
    CHECK(f.number == 1 && f.wire == DSTOK__WIRE_VARINT && f.value == UINT64_MAX && f.at == 0);
    CHECK_EQ(dstok__proto_want(&f, DSTOK__WIRE_VARINT, "x", &err), DSTOK_OK);
    CHECK_EQ(dstok__proto_want(&f, DSTOK__WIRE_BYTES, "x", &err), DSTOK_E_FORMAT);
    CHECK_EQ(dstok__proto_next(&p, &f, &err), DSTOK_OK);
    CHECK(f.wire == DSTOK__WIRE_FIXED64 && f.value == UINT64_C(0x8007060504030201));
    CHECK_EQ(dstok__proto_next(&p, &f, &err), DSTOK_OK);
    CHECK(f.wire == DSTOK__WIRE_FIXED32 && f.value == 0x84030201);
    CHECK_EQ(dstok__proto_next(&p, &f, &err), DSTOK_OK);
    CHECK(f.number == 2 && f.wire == DSTOK__WIRE_BYTES && f.n == 3 && f.bytes == data + 27);
    inside = dstok__proto_inside(&p, &f);
    CHECK_EQ(dstok__proto_next(&inside, &f, &err), DSTOK_OK);
    CHECK(f.number == 1 && f.value == 5 && f.at == 27);
    CHECK_EQ(dstok__proto_next(&inside, &f, &err),
             DSTOK_E_FORMAT); /* the file goes on, this message does not */
    CHECK(err.offset == 29 && strstr(err.text, "longer than what holds it") != NULL);
    CHECK_EQ(dstok__proto_next(&p, &f, &err), DSTOK_OK);
    CHECK_EQ(f.number, 0);
}

/* ---- a model ---- */

static bool is_token(const dstok__token *t, const char *text, const char *bytes) {
    return t->n == strlen(text) && memcmp(t->text, text, t->n) == 0 && t->bytes_n == strlen(bytes) &&
           memcmp(t->bytes, bytes, t->bytes_n) == 0;
}

static void test_model(void) {
    message m = byte_model();
    loaded l;
    load(&l, &m);
    const dstok__token *t = l.s.tokens;
    CHECK_EQ(l.status, DSTOK_OK);
    CHECK_STR(l.s.format, "sentencepiece");
    CHECK_EQ(l.s.model, DSTOK__MODEL_SCORES);
    CHECK(l.s.char_atoms && l.s.byte_fallback && l.s.late_fallback && l.s.fuse_unk && !l.s.ignore_merges);
    CHECK(l.s.n_tokens == 262 && l.s.unk_id == 0 && l.s.n_merges == 0 && l.s.n_steps == 0 &&
          l.s.n_template == 0);
    CHECK(is_token(&t[0], "<unk>", " \xE2\x81\x87 ") && t[0].literal);
    CHECK(is_token(&t[1], "<s>", "<s>") && t[1].literal);
    CHECK(is_token(&t[2], "[A\xE2\x96\x81]", "[A ]") && !t[2].literal);
    CHECK(is_token(&t[3], "\xE2\x96\x81", " ") && t[3].score == -1 && !t[3].literal && !t[3].is_unused);
    CHECK(is_token(&t[4], "a\xE2\x96\x81\xE2\x96\x81", "a  ") && t[4].score == -2.5f);
    CHECK(is_token(&t[5], "aa", "aa") && t[5].is_unused && !t[5].literal);
    CHECK(is_token(&t[6 + 'A'], "<0x41>", "A") && t[6 + 'A'].literal);
    CHECK(t[6].bytes_n == 1 && t[6].bytes[0] == 0);
    for (unsigned b = 0; b < 256; b++) CHECK(l.s.fallback_ids[b] == 6 + b && t[6 + b].id == 6 + b);
    CHECK_EQ(l.s.n_added, 3);
    CHECK(l.s.added[0].id == 0 && l.s.added[0].special && l.s.added[0].by_name_only &&
          l.s.added[0].bytes_n == 5);
    CHECK(l.s.added[1].id == 1 && l.s.added[1].special && l.s.added[1].by_name_only &&
          !l.s.added[1].normalized);
    CHECK(l.s.added[2].id == 2 && !l.s.added[2].special && !l.s.added[2].by_name_only &&
          l.s.added[2].normalized);
    CHECK(l.s.added[2].n == 6 && l.s.added[2].bytes_n == 4 && memcmp(l.s.added[2].bytes, "[A ]", 4) == 0);
    CHECK_EQ(l.s.n_norms, 1);
    CHECK_EQ(l.s.norms[0].kind, DSTOK__NORM_SPM);
    CHECK_EQ(l.s.norms[0].flags, DSTOK__SPM_DUMMY_PREFIX | DSTOK__SPM_REMOVE_BLANKS | DSTOK__SPM_ESCAPE);
    CHECK(l.s.norms[0].pattern_n == 0 && l.s.norms[0].content_n == 7);
    if (l.s.norms[0].content_n == 7) CHECK_MEM(l.s.norms[0].content, "[A\xE2\x96\x81]\0", 7);
    CHECK_EQ(l.s.n_warnings, 0);
    CHECK(dstok__looks_like_sentencepiece(m.data, m.n));
    dstok__spec_free(&l.s);
}

/* ---- settings ---- */

static const struct settings_case {
    bool suffix, prefix, removes, escapes;
    unsigned flags;
    uint32_t strip; /* `start` of the decoder */
} settings_cases[] = {
    {false, true, true, true, DSTOK__SPM_DUMMY_PREFIX | DSTOK__SPM_REMOVE_BLANKS | DSTOK__SPM_ESCAPE, 2},
    {false, true, false, true, DSTOK__SPM_DUMMY_PREFIX | DSTOK__SPM_ESCAPE, 1},
    {false, false, true, true, DSTOK__SPM_REMOVE_BLANKS | DSTOK__SPM_ESCAPE, 2},
    {false, false, false, true, DSTOK__SPM_ESCAPE, 0},
    {false, true, true, false, DSTOK__SPM_DUMMY_PREFIX | DSTOK__SPM_REMOVE_BLANKS, 2},
    {false, true, false, false, DSTOK__SPM_DUMMY_PREFIX, 1}, /* U+2581 is taken away all the same */
    {true, true, false, true, DSTOK__SPM_SUFFIX | DSTOK__SPM_DUMMY_PREFIX | DSTOK__SPM_ESCAPE, 1},
    {false, false, false, false, 0, 0},
};

static void test_settings(void) {
    for (size_t i = 0; i < sizeof settings_cases / sizeof *settings_cases; i++) {
        const struct settings_case *c = &settings_cases[i];
        message m = small_model(), t = {.n = 0}, z = {.n = 0};
        loaded l;
        int before = t_failures;
        put_number(&t, 24, c->suffix);
        put_bytes(&t, 44, "?\0x", 3); /* cut at NUL, as the reference does */
        put_bytes(&t, 300, "extension", 9);
        put_bytes(&m, 2, t.data, t.n); /* a second trainer_spec: the first one's model_type still counts */
        put_bytes(&z, 2, "map\0", 4);
        put_number(&z, 3, c->prefix);
        put_number(&z, 4, c->removes ? UINT64_MAX : 0);
        put_number(&z, 5, c->escapes);
        put_bytes(&m, 3, z.data, z.n);
        put_bytes(&m, 4, "\xFF", 1); /* self_test_data is not read */
        put_bytes(&m, 5, "", 0);     /* a denormalizer_spec without a map */
        put_number(&m, 201, 7);
        load(&l, &m);
        CHECK_EQ(l.status, DSTOK_OK);
        CHECK_EQ(l.s.norms[0].flags, c->flags);
        CHECK(l.s.norms[0].pattern_n == 4 && memcmp(l.s.norms[0].pattern, "map\0", 4) == 0);
        CHECK(!l.s.byte_fallback && !l.s.late_fallback && l.s.fallback_ids[0] == DSTOK__NO_ID);
        CHECK(is_token(&l.s.tokens[0], "<unk>", "?"));
        CHECK_EQ(l.s.n_decs, 1);
        CHECK_EQ(l.s.decs[0].kind, DSTOK__DEC_SPM);
        CHECK_EQ(l.s.decs[0].start, c->strip);
        if (t_failures > before) fprintf(stderr, "  case %zu: %s\n", i, l.err.text);
        dstok__spec_free(&l.s);
    }
}

/* ---- refusals ---- */

static void check_refused(const message *m, dstok_status status, const char *says) {
    loaded l;
    int before = t_failures;
    load(&l, m);
    CHECK_EQ(l.status, status);
    CHECK(strstr(l.err.text, says) != NULL);
    if (t_failures > before) fprintf(stderr, "  \"%s\" is not \"%s\"\n", l.err.text, says);
    dstok__spec_free(&l.s);
}

/* One more piece makes the small model wrong. */
static const struct piece_case {
    const char *text;
    float score;
    unsigned type;
    dstok_status status;
    const char *says;
} piece_cases[] = {
    {"b", 0, NORMAL, DSTOK_OK, ""},
    {"", 0, NORMAL, DSTOK_E_FORMAT, "piece 6 is empty"},
    {"\xFF", 0, NORMAL, DSTOK_E_UTF8, "piece 6, \"\\xFF\", is not UTF-8"},
    {"aa", 0, NORMAL, DSTOK_E_DUPLICATE, "piece 6, \"aa\", stands twice"},
    {"<s>", 0, NORMAL, DSTOK_E_DUPLICATE, "piece 6, \"<s>\", stands twice"},
    {"aa", 0, CONTROL, DSTOK_E_DUPLICATE, "stands twice"},
    {"b", 0, 7, DSTOK_E_UNSUPPORTED, "not supported: piece 6 is of type 7"},
    {"b", 0, 0, DSTOK_E_UNSUPPORTED, "not supported: piece 6 is of type 0"},
    {"<unk2>", 0, UNKNOWN, DSTOK_E_FORMAT, "second unknown piece"},
    {"<0x41>", 0, BYTE, DSTOK_E_FORMAT, "byte_fallback is not set"},
    {"b", __builtin_nanf(""), NORMAL, DSTOK_E_FORMAT, "no finite number"},
    {"b", __builtin_inff(), NORMAL, DSTOK_E_FORMAT, "no finite number"},
    {"b", -__builtin_inff(), UNUSED, DSTOK_E_FORMAT, "no finite number"},
};

static void test_bad_pieces(void) {
    for (size_t i = 0; i < sizeof piece_cases / sizeof *piece_cases; i++) {
        const struct piece_case *c = &piece_cases[i];
        message m = small_model();
        put_piece(&m, c->text, c->score, c->type);
        check_refused(&m, c->status, c->says);
    }
    message m = small_model();
    put_bytes(&m, 1, "\x0A\3b\0b", 5);
    check_refused(&m, DSTOK_E_FORMAT, "holds a NUL");
    m = small_model();
    put_bytes(&m, 1, "\x0A\1b\x10\1", 5);
    check_refused(&m, DSTOK_E_FORMAT, "the score of a piece (field 2)");
    m = small_model();
    put_bytes(&m, 1, "\x0A\5b", 3);
    check_refused(&m, DSTOK_E_FORMAT, "longer than what holds it");
    m = small_model();
    put_number(&m, 1, 1);
    check_refused(&m, DSTOK_E_FORMAT, "pieces (field 1)");
}

static void test_bad_bytes(void) {
    static const char *const names[] = {"<0xaB>",
                                        "<0x+A>"}; /* which Hugging Face's decoder takes for bytes */
    message m = {.n = 0};
    put_piece(&m, "<unk>", 0, UNKNOWN);
    put_trainer(&m, 2, true);
    check_refused(&m, DSTOK_E_FORMAT, "256 of the 256 bytes have no piece");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        message one = m;
        put_piece(&one, names[i], 0, BYTE);
        check_refused(&one, DSTOK_E_FORMAT, "is to stand for a byte");
    }
    m = byte_model();
    put_piece(&m, "<0x41>", 0, BYTE);
    check_refused(&m, DSTOK_E_DUPLICATE, "stands twice");
}

static void test_bad_models(void) {
    static const char *const names[] = {"of type 0", "Unigram", "", "Word", "Char", "of type 5"};
    for (unsigned model = 0; model < sizeof names / sizeof *names; model++) {
        message m = {.n = 0};
        char says[64];
        put_pieces(&m);
        put_trainer(&m, model, false);
        snprintf(says, sizeof says, "not supported: a SentencePiece ");
        if (model != 2) check_refused(&m, DSTOK_E_UNSUPPORTED, says);
        if (model != 2) check_refused(&m, DSTOK_E_UNSUPPORTED, names[model]);
    }
    message m = {.n = 0};
    check_refused(&m, DSTOK_E_TRUNCATED, "empty");
    put_pieces(&m);
    check_refused(&m, DSTOK_E_UNSUPPORTED, "a SentencePiece Unigram model"); /* as when nothing is said */
    m.n = 0;
    put_trainer(&m, 2, false);
    check_refused(&m, DSTOK_E_FORMAT, "no unknown piece");
    m = small_model();
    put_bytes(&m, 5, "\x12\1x", 3);
    check_refused(&m, DSTOK_E_UNSUPPORTED, "denormalizer_spec");
    m = small_model();
    put_bytes(&m, 2, "\x1A\1x", 3);
    check_refused(&m, DSTOK_E_FORMAT, "model_type (field 3)");
}

/* ---- what it is ---- */

static void test_looks(void) {
    static const char *const texts[] = {
        "",
        "\n",
        "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
        "\n\x07\n\x05hello",
        "\nC\nAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "IQ== 0\n",
        "{\"a\": 1}",
        "GGUF\3",
        "\n\x05\x0D\x01\x02\x03\x04",

        "\n\x06\n\x02\xFF\xFE\x18\x01"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(!dstok__looks_like_sentencepiece(texts[i], strlen(texts[i])));
    message m = {.n = 0};
    put_piece(&m, "a", 0, NORMAL);
    for (size_t n = 0; n < m.n; n++) CHECK(!dstok__looks_like_sentencepiece(m.data, n));
    CHECK(dstok__looks_like_sentencepiece(m.data, m.n));
    m.n = 0;
    put_bytes(&m, 1, "\x0A\1a\x18\2", 5); /* no score */
    CHECK(dstok__looks_like_sentencepiece(m.data, m.n));
    m.n = 0;
    put_bytes(&m, 1, "\x0A\0\x18\2", 4); /* no text */
    CHECK(!dstok__looks_like_sentencepiece(m.data, m.n));
    m = small_model();
    put_raw(&m, "\xFF\xFF", 2); /* what follows is not looked at */
    CHECK(dstok__looks_like_sentencepiece(m.data, m.n));
}

/* ---- damage ---- */

static void test_damage(void) {
    message m = small_model(), z = {.n = 0}, b = byte_model();
    put_bytes(&z, 2, "map\0", 4);
    put_number(&z, 4, 0);
    put_bytes(&m, 3, z.data, z.n);
    put_bytes(&m, 2, "\xE2\2\1?", 4);
    damage_allocations(dstok__load_sentencepiece, m.data, m.n);
    damage_allocations(dstok__load_sentencepiece, b.data, b.n);
    damage_lengths(dstok__load_sentencepiece, b.data, b.n);
    damage_many(dstok__load_sentencepiece, m.data, m.n, 1000, 10000);
    damage_many(dstok__load_sentencepiece, b.data, b.n, 20000, 2000);
}

/* ---- real files ---- */

static void test_mistral(void) {
    const char *path = t_shared("vocab/mistral_v3.spm.model.xz");
    loaded l = {.err = {0}};
    size_t n = 0, user_defined = 0;
    char *data = path != NULL ? t_read(path, &n) : NULL;
    if (data == NULL) {
        fprintf(stderr, "skipped: vocab/mistral_v3.spm.model.xz is not there\n");
        return;
    }
    CHECK(dstok__looks_like_sentencepiece(data, n));
    dstok__spec_init(&l.s, &dstok__default_alloc);
    CHECK_EQ(dstok__load_sentencepiece(&l.s, data, n, &l.err), DSTOK_OK);
    CHECK(l.s.n_tokens == 32768 && l.s.n_added == 771 && l.s.unk_id == 0 && l.s.n_warnings == 0);
    CHECK(l.s.byte_fallback && l.s.fallback_ids[0] == 771 && l.s.fallback_ids[255] == 771 + 255);
    CHECK_EQ(l.s.norms[0].flags, DSTOK__SPM_DUMMY_PREFIX | DSTOK__SPM_ESCAPE);
    CHECK_EQ(l.s.norms[0].pattern_n, 0);
    for (size_t i = 0; i < l.s.n_added; i++) user_defined += !l.s.added[i].by_name_only;
    CHECK_EQ(user_defined, 20);
    dstok__spec_free(&l.s);
    free(data);
}

int main(void) {
    test_wire();
    test_wire_values();
    test_model();
    test_settings();
    test_bad_pieces();
    test_bad_bytes();
    test_bad_models();
    test_looks();
    test_damage();
    test_mistral();
    return t_end();
}
