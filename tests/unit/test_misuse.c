/* SPDX-License-Identifier: MIT */
/* Wrong arguments: sizes of structures, NULL, ids and flags that do not exist. Each must be told, none passed over. */
#include "../harness/t.h"
#include "../oracle/fixture.h"

#include <dstok/trainer.h>
#include <dstok/version.h>

#include <stdio.h>
#include <stdlib.h>

static dstok_tokenizer *tok;
static dstok_encoder *enc;

/* Sizes that no version of a structure has had; the last is one byte less than the first version's last field. */
static size_t bad_size(size_t i, size_t enough) {
    const size_t sizes[] = {0, 1, sizeof(size_t), enough - 1};
    return sizes[i];
}

#define ENOUGH(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

static void check_told(dstok_status status, const dstok_error *err, const char *word) {
    CHECK_EQ(status, DSTOK_E_INVAL);
    CHECK_EQ(err->status, DSTOK_E_INVAL);
    CHECK_EQ(err->offset, DSTOK_NO_OFFSET);
    CHECK(strstr(err->text, word) != NULL);
}

static void test_encode_size(void) {
    for (size_t i = 0; i < 4; i++) {
        dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
        dstok_error err = {0};
        dstok_tokens t = {.n = 77};
        size_t n = 77;
        o.struct_size = bad_size(i, ENOUGH(dstok_encode_options, span_style));
        check_told(dstok_encode_view(enc, "hello", 5, &o, &t, &err), &err, "DSTOK_ENCODE_OPTIONS_INIT");
        CHECK_EQ(t.n, 77);
        err = (dstok_error){0};
        check_told(dstok_count(enc, "hello", 5, &o, &n, &err), &err, "encode_options.struct_size");
        CHECK_EQ(n, 77);
        CHECK(dstok_encode_bound(tok, 5, &o) == SIZE_MAX);
        CHECK_EQ(dstok_encode_view(enc, "hello", 5, NULL, &t, NULL), DSTOK_OK); /* still usable */
    }
}

/* What a later version appends is not looked at. */
static void test_larger_sizes(void) {
    struct {
        dstok_encode_options o;
        char more[16];
    } later = {DSTOK_ENCODE_OPTIONS_INIT, "whatever"};
    dstok_tokens t;
    later.o.struct_size = sizeof later;
    later.o.invalid = DSTOK_INVALID_RAW;
    CHECK_EQ(dstok_encode_view(enc, "a\xFF", 2, &later.o, &t, NULL), DSTOK_OK);
    CHECK_EQ(t.n, 2);
    struct {
        dstok_info info;
        char more[16];
    } info = {DSTOK_INFO_INIT, "whatever"};
    info.info.struct_size = sizeof info;
    CHECK_EQ(dstok_tokenizer_info(tok, &info.info), DSTOK_OK);
    CHECK_EQ(info.info.struct_size, sizeof info);
    CHECK_EQ(info.info.n_ids, 283);
    CHECK_STR(info.more, "whatever");
}

static void test_info(void) {
    dstok_info info = DSTOK_INFO_INIT;
    CHECK_EQ(dstok_tokenizer_info(tok, &info), DSTOK_OK);
    CHECK_EQ(info.n_ids, 283);
    CHECK_EQ(dstok_tokenizer_info(NULL, &info), DSTOK_E_INVAL);
    CHECK_EQ(dstok_tokenizer_info(tok, NULL), DSTOK_E_INVAL);
    for (size_t i = 0; i < 4; i++) {
        memset(&info, 0x55, sizeof info);
        info.struct_size = bad_size(i, ENOUGH(dstok_info, is_compiled));
        CHECK_EQ(dstok_tokenizer_info(tok, &info), DSTOK_E_INVAL);
        CHECK_EQ(info.n_ids, 0x5555555555555555);
    }
}

static void test_load_options(void) {
    size_t n;
    char *json = fixture_json(&fixture_words, &n);
    for (size_t i = 0; i < 5; i++) {
        dstok_load_options o = DSTOK_LOAD_OPTIONS_INIT;
        dstok_error err = {0};
        dstok_tokenizer *out = NULL;
        if (i < 4)
            o.struct_size = bad_size(i, ENOUGH(dstok_load_options, flags));
        else
            o.flags = 2;
        const char *word = i < 4 ? "DSTOK_LOAD_OPTIONS_INIT" : "unknown flags 0x2";
        check_told(dstok_tokenizer_load_memory(json, n, NULL, 0, &o, &out, &err), &err, word);
        err = (dstok_error){0};
        check_told(dstok_tokenizer_load("absent", &o, &out, &err), &err, word);
        CHECK(out == NULL);
    }
    free(json);
}

static void test_load_null(void) {
    dstok_error err = {0};
    dstok_tokenizer *out = NULL;
    check_told(dstok_tokenizer_load(NULL, NULL, &out, &err), &err, "NULL");
    CHECK_EQ(dstok_tokenizer_load("absent", NULL, NULL, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_tokenizer_load_memory(NULL, 5, NULL, 0, NULL, &out, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_tokenizer_load_memory("{}", 2, NULL, 5, NULL, &out, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_tokenizer_load_memory(NULL, 0, NULL, 0, NULL, &out, NULL), DSTOK_E_TRUNCATED);
    CHECK(out == NULL);
}

/* The built-in vocabulary has its own pretokenizer, as a file has that says how text is cut. */
static void test_default_with_pattern(void) {
    dstok_load_options o = DSTOK_LOAD_OPTIONS_INIT;
    dstok_error err = {0};
    dstok_tokenizer *out = NULL;
    dstok_status status = dstok_tokenizer_load_default(NULL, &out, NULL);
    if (status == DSTOK_E_UNSUPPORTED) return; /* built without one */
    CHECK_EQ(status, DSTOK_OK);
    dstok_tokenizer_free(out);
    out = NULL;
    o.pattern = "gpt2";
    check_told(dstok_tokenizer_load_default(&o, &out, &err), &err, "has its own pretokenizer");
    CHECK(out == NULL);
    CHECK_EQ(dstok_tokenizer_load_default(NULL, NULL, NULL), DSTOK_E_INVAL);
}

static void test_encode_null(void) {
    dstok_encoder *other = NULL;
    dstok_error err = {0};
    dstok_tokens t = {.n = 77};
    size_t n = 77;
    CHECK_EQ(dstok_encoder_new(NULL, &other), DSTOK_E_INVAL);
    CHECK_EQ(dstok_encoder_new(tok, NULL), DSTOK_E_INVAL);
    check_told(dstok_encode_view(enc, NULL, 5, NULL, &t, &err), &err, "NULL");
    CHECK_EQ(dstok_encode_view(NULL, "hello", 5, NULL, &t, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_encode_segments(enc, "hello", 5, NULL, 1, NULL, &t, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_count(NULL, "hello", 5, NULL, &n, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_encode(enc, NULL, 5, NULL, NULL, NULL, NULL, 0, &n, NULL), DSTOK_E_INVAL);
    CHECK_EQ(t.n, 77);
    CHECK_EQ(n, 77);
    CHECK_EQ(dstok_encode_view(enc, NULL, 0, NULL, &t, NULL), DSTOK_OK);
    CHECK_EQ(t.n, 0);
}

/* Ids that no text could give are refused also where the policy does not ask for the list. */
static void test_allowed(void) {
    const uint32_t good[] = {283, 284}, model[] = {283, 97}, beyond[] = {285}, none[] = {UINT32_MAX};
    const struct {
        const uint32_t *ids;
        size_t n;
        const char *word;
    } bad[] = {{model, 2, "allowed[1]"},
               {beyond, 1, "allowed[0]"},
               {none, 1, "allowed[0]"},
               {NULL, 1, "allowed[0]"}};
    dstok_tokens t = {.n = 77};
    fixture f = fixture_words;
    f.added = "s:<|a|>\n:<b>\n";
    dstok_tokenizer *with = fixture_load(&f, NULL);
    dstok_encoder *other = fixture_encoder(with);
    dstok_encode_options o = DSTOK_ENCODE_OPTIONS_INIT;
    o.special = DSTOK_SPECIAL_LIST;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dstok_error err = {0};
        o.allowed = bad[i].ids;
        o.n_allowed = bad[i].n;
        check_told(dstok_encode_view(other, "<|a|>", 5, &o, &t, &err), &err, bad[i].word);
        CHECK_EQ(t.n, 77);
    }
    o.allowed = good;
    o.n_allowed = 2;
    CHECK_EQ(dstok_encode_view(other, "<|a|>", 5, &o, &t, NULL), DSTOK_OK);
    CHECK_EQ(t.n, 1);
    dstok_encoder_free(other);
    dstok_tokenizer_free(with);
}

static void test_trainer_options(void) {
    const char *const none[] = {NULL};
    dstok_trainer *t = NULL;
    dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
    o.vocab_size = 300;
    for (size_t i = 0; i < 4; i++) {
        dstok_error err = {0};
        o.struct_size = bad_size(i, ENOUGH(dstok_train_options, progress_ctx));
        check_told(dstok_trainer_new(&o, &t, &err), &err, "DSTOK_TRAIN_OPTIONS_INIT");
    }
    o.struct_size = sizeof o;
    dstok_error err = {0};
    check_told(dstok_trainer_new(NULL, &t, &err), &err, "NULL");
    CHECK_EQ(dstok_trainer_new(&o, NULL, NULL), DSTOK_E_INVAL);
    o.n_specials = 1;
    CHECK_EQ(dstok_trainer_new(&o, &t, NULL), DSTOK_E_INVAL);
    o.specials = none;
    CHECK_EQ(dstok_trainer_new(&o, &t, NULL), DSTOK_E_INVAL);
    CHECK(t == NULL);
}

static void test_pattern_errors(void) {
    const char *const patterns[] = {"foo", "qwen2.6", "", "[", "(a)\\1"},
                      *const words[] = {"gpt2, r50k_base", "o200k_base", "qwen3", "byte 0 of the pattern",
                                        "of the pattern: a backreference"};
    for (size_t i = 0; i < 5; i++) {
        dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
        dstok_trainer *t = NULL;
        dstok_error err = {0};
        o.vocab_size = 300;
        o.pattern = patterns[i];
        CHECK(dstok_trainer_new(&o, &t, &err) != DSTOK_OK && t == NULL);
        CHECK_EQ(err.offset, DSTOK_NO_OFFSET);
        CHECK(strstr(err.text, words[i]) != NULL);
    }
}

static void test_trainer_null(void) {
    dstok_train_options o = DSTOK_TRAIN_OPTIONS_INIT;
    dstok_train_result r = DSTOK_TRAIN_RESULT_INIT;
    dstok_trainer *t = NULL;
    dstok_error err = {0};
    size_t n;
    o.vocab_size = 256;
    CHECK_EQ(dstok_trainer_new(&o, &t, NULL), DSTOK_OK);
    check_told(dstok_trainer_feed(t, NULL, 5, 1, &err), &err, "NULL");
    CHECK_EQ(dstok_trainer_feed(NULL, "a", 1, 1, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_feed_word(t, NULL, 5, 1, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_feed_word(NULL, "a", 1, 1, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_run(NULL, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_json(NULL, NULL, 0, &n, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_run(t, NULL), DSTOK_OK);
    CHECK_EQ(dstok_trainer_json(t, NULL, 0, NULL, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_json(t, NULL, 5, &n, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_result(t, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_result(NULL, &r), DSTOK_E_INVAL);
    CHECK_EQ(dstok_trainer_result(t, &r), DSTOK_OK);
    CHECK_EQ(r.n_ids, 256);
    CHECK_EQ(r.struct_size, sizeof r);
    for (size_t i = 0; i < 4; i++) {
        memset(&r, 0x55, sizeof r);
        r.struct_size = bad_size(i, ENOUGH(dstok_train_result, full));
        CHECK_EQ(dstok_trainer_result(t, &r), DSTOK_E_INVAL);
        CHECK_EQ(r.n_ids, 0x5555555555555555);
    }
    dstok_trainer_free(t);
}

static void test_version(void) {
    char want[32];
    snprintf(want, sizeof want, "%d.%d.%d", DSTOK_VERSION_MAJOR, DSTOK_VERSION_MINOR, DSTOK_VERSION_PATCH);
    CHECK_STR(dstok_version(), want);
}

int main(void) {
    tok = fixture_load(&fixture_words, NULL);
    enc = fixture_encoder(tok);
    test_encode_size();
    test_larger_sizes();
    test_info();
    test_load_options();
    test_load_null();
    test_default_with_pattern();
    test_encode_null();
    test_allowed();
    test_trainer_options();
    test_pattern_errors();
    test_trainer_null();
    test_version();
    dstok_encoder_free(enc);
    dstok_tokenizer_free(tok);
    return t_end();
}
