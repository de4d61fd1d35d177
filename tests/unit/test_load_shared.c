/* SPDX-License-Identifier: MIT */
/* The loaders on the shared files: small ones made to be wrong in one way each, and real vocabularies. */
#include "load_util.h"

typedef struct loaded {
    dstok__spec s;
    dstok_error err;
    dstok_status status;
    size_t n;
} loaded;

static char *read_shared(const char *name, size_t *n) {
    const char *path = t_shared(name);
    char *text = path != NULL ? t_read(path, n) : NULL;
    if (text == NULL) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(1);
    }
    return text;
}

/* side may be NULL; ranks by the name's ending. */
static void load(loaded *l, const char *name, const char *side_name) {
    size_t side_n = 0;
    char *data = read_shared(name, &l->n), *side = side_name != NULL ? read_shared(side_name, &side_n) : NULL;
    l->err = (dstok_error){0};
    dstok__spec_init(&l->s, &dstok__default_alloc);
    if (strstr(name, ".tiktoken") != NULL) {
        l->status = dstok__load_tiktoken(&l->s, data, l->n, NULL, side, side_n, &l->err);
    } else {
        l->status = dstok__load_hf(&l->s, data, l->n, side, side_n, &l->err);
    }
    free(data);
    free(side);
}

/* ---- cases/tiny ---- */

static const struct tiny {
    const char *name;
    dstok_status status;
    long long offset; /* of a refusal; -1: do not look */
    const char *says; /* in the error or in a warning */
} tiny[] = {
    {"base", DSTOK_OK, -1, NULL},
    {"collide", DSTOK_OK, -1, "\"<|clash|>\" has id 5 in the file"},
    {"dupmerge", DSTOK_OK, -1, "\"a\" + \"b\", stands twice; its last rank counts"},
    {"dupspecial", DSTOK_OK, -1, "\"<|y|>\" has id 261 in the file"},
    {"gap", DSTOK_OK, -1, "\"<|gap|>\" has id 400 in the file"},
    {"ignore_off", DSTOK_OK, -1, NULL},
    {"ignore_on", DSTOK_OK, -1, NULL},
    {"lrstrip", DSTOK_OK, -1, NULL},
    {"lstrip", DSTOK_OK, -1, NULL},
    {"nfc", DSTOK_OK, -1, NULL},
    {"nfkc", DSTOK_OK, -1, NULL},
    {"normalized_lower", DSTOK_OK, -1, NULL},
    {"overlap", DSTOK_OK, -1, NULL},
    {"rstrip", DSTOK_OK, -1, NULL},
    {"single", DSTOK_OK, -1, NULL},
    {"special_in_vocab", DSTOK_OK, -1, NULL},
    {"splitregex", DSTOK_OK, -1, NULL},
    {"strmerge", DSTOK_OK, -1, NULL},
    {"tie", DSTOK_OK, -1, NULL},
    {"bad_nulkey", DSTOK_OK, -1, NULL},
    {"bad_big_id", DSTOK_E_FORMAT, 988, "whole number"},
    {"bad_deep", DSTOK_E_LIMIT, DSTOK__MAX_JSON_DEPTH, "nested deeper than 64"},
    {"bad_dupkey", DSTOK_E_DUPLICATE, -1, "id 34"},
    {"bad_empty", DSTOK_E_TRUNCATED, 0, "empty"},
    {"bad_float_id", DSTOK_E_FORMAT, 988, "whole number"},
    {"bad_merge_oov", DSTOK_E_FORMAT, 3805, "\"ello\" is not in vocab"},
    {"bad_merge_too_long", DSTOK_E_FORMAT, -1, "\"ab\" is not in vocab"},
    {"bad_neg_id", DSTOK_E_FORMAT, 988, "whole number"},
    {"bad_null", DSTOK_E_FORMAT, 0, "must be an object"},
    {"bad_strmerge_space", DSTOK_E_FORMAT, 3805, "merge 0, \"a b c\""},
    {"bad_surrogate", DSTOK_E_FORMAT, -1, "surrogate"},
    {"bad_trunc", DSTOK_E_TRUNCATED, 3000, "ends inside"},
    {"bad_unktype", DSTOK_E_UNSUPPORTED, -1, "\"Wat\""},
};

static void test_tiny(void) {
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
        char name[128];
        loaded l;
        int before = t_failures;
        snprintf(name, sizeof name, "cases/tiny/%s.json", tiny[i].name);
        load(&l, name, NULL);
        CHECK_EQ(l.status, tiny[i].status);
        if (l.status != DSTOK_OK) {
            util_check_error(l.status, &l.err, l.n);
            CHECK(l.err.offset != DSTOK_NO_OFFSET);
            CHECK(strstr(l.err.text, tiny[i].says) != NULL);
        } else if (tiny[i].says != NULL) {
            CHECK(util_warning(&l.s, tiny[i].says) != NULL);
        } else {
            CHECK_EQ(l.s.n_warnings, 0);
        }
        if (tiny[i].offset >= 0) CHECK_EQ(l.err.offset, tiny[i].offset);
        if (t_failures > before) fprintf(stderr, "  %s: %s\n", name, l.err.text);
        dstok__spec_free(&l.s);
    }
    loaded l;
    load(&l, "cases/tiny/bad_nulkey.json", NULL);
    bool found = false;
    for (size_t i = 0; i < l.s.n_tokens; i++)
        found |= l.s.tokens[i].n == 1 && l.s.tokens[i].bytes[0] == 0 && l.s.tokens[i].literal;
    CHECK(found);
    dstok__spec_free(&l.s);
    load(&l, "cases/tiny/dupspecial.json", NULL);
    CHECK(util_added(&l.s, "<|x|>")->id == 261 && util_added(&l.s, "<|y|>")->id == 262);
    dstok__spec_free(&l.s);
}

/* ---- real vocabularies ---- */

static const struct real {
    const char *name, *side;
    dstok_status status;
    size_t tokens, merges, added, norms, steps, template_items, control;
    const char *says;
} reals[] = {
    {"qwen3.tokenizer.json", NULL, DSTOK_OK, 151643, 151387, 26, 1, 1, 0, 0, NULL},
    {"deepseek_v3.tokenizer.json", "deepseek_v3.tokenizer_config.json", DSTOK_OK, 128000, 127741, 818, 0, 3,
     2, 13, NULL},
    {"deepseek_v4.tokenizer.json", "deepseek_v4.tokenizer_config.json", DSTOK_OK, 128000, 127741, 1283, 0, 3,
     0, 2, NULL},
    {"whisper_large_v3.tokenizer.json", NULL, DSTOK_OK, 50257, 50000, 1609, 0, 1, 4, 0, NULL},
    {"smollm2.tokenizer.json", NULL, DSTOK_OK, 49152, 48900, 17, 0, 2, 0, 0, NULL},
    {"clip.tokenizer.json", NULL, DSTOK_OK, 49408, 48894, 2, 3, 2, 3, 0, "pcre2"},
    {"falcon.tokenizer.json", NULL, DSTOK_OK, 65024, 64784, 12, 0, 5, 0, 0, "pcre2"},
    {"claude_nfkc.tokenizer.json", NULL, DSTOK_OK, 65000, 64739, 5, 1, 1, 0, 0, NULL},
    {"phi-3-mini.tokenizer.json", NULL, DSTOK_OK, 32000, 61249, 14, 2, 0, 0, 0, "none"},
    {"mistral_v0_1_spm.tokenizer.json", NULL, DSTOK_OK, 32000, 58980, 3, 2, 0, 2, 0, "none"},
    {"gemma3.tokenizer.json", NULL, DSTOK_OK, 262144, 514906, 6415, 1, 1, 2, 0, "pcre2"},
    {"chatglm3.tokenizer.json", NULL, DSTOK_OK, 64789, 90061, 12, 2, 1, 3, 0, "pcre2"},
    {"nmt_unigram.tokenizer.json", NULL, DSTOK_E_UNSUPPORTED, 0, 0, 0, 0, 0, 0, 0, "model type \"Unigram\""},
    {"r50k_base.tiktoken", NULL, DSTOK_OK, 50256, 0, 1, 0, 1, 0, 0, NULL},
    {"p50k_base.tiktoken", NULL, DSTOK_OK, 50280, 0, 1, 0, 1, 0, 0, NULL},
    {"cl100k_base.tiktoken", NULL, DSTOK_OK, 100256, 0, 5, 0, 1, 0, 0, NULL},
    {"o200k_base.tiktoken", NULL, DSTOK_OK, 199998, 0, 2, 0, 1, 0, 0, NULL},
    {"qwen3_6.tiktoken", NULL, DSTOK_OK, 248044, 0, 33, 0, 1, 0, 0, NULL},
    {"qwen3_6.tiktoken", "qwen3_6.tiktoken.meta.json", DSTOK_OK, 248044, 0, 33, 0, 1, 0, 0, NULL},
};

static void check_real(const struct real *r) {
    char name[128], side[128] = "";
    loaded l;
    int before = t_failures;
    snprintf(name, sizeof name, "vocab/%s.xz", r->name);
    if (r->side != NULL) snprintf(side, sizeof side, "vocab/%s.xz", r->side);
    load(&l, name, r->side != NULL ? side : NULL);
    CHECK_EQ(l.status, r->status);
    if (l.status == DSTOK_OK) {
        CHECK_EQ(l.s.n_tokens, r->tokens);
        CHECK_EQ(l.s.n_merges, r->merges);
        CHECK_EQ(l.s.n_added, r->added);
        CHECK_EQ(l.s.n_norms, r->norms);
        CHECK_EQ(l.s.n_steps, r->steps);
        CHECK_EQ(l.s.n_template, r->template_items);
        CHECK_EQ(util_named(&l.s), r->control);
        CHECK_EQ(l.s.n_warnings, 0);
        CHECK((dstok__family_find(l.s.steps, l.s.n_steps) != NULL) ==
              (r->says == NULL)); /* else no scanner */
    } else {
        util_check_error(l.status, &l.err, l.n);
        CHECK(r->says != NULL && strstr(l.err.text, r->says) != NULL);
    }
    if (t_failures > before) fprintf(stderr, "  %s: %s\n", name, l.err.text);
    dstok__spec_free(&l.s);
}

int main(void) {
    if (t_shared("cases/tiny/base.json") == NULL)
        return t_skip("the shared cases and vocabularies are not here");
    test_tiny();
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) check_real(&reals[i]);
    return t_end();
}
