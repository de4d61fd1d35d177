/* SPDX-License-Identifier: MIT */
/* Weights of heads that are learned from removals, and their files. */
#include "removals.h"

enum { ALL_HEADS = LAYERS * HEADS };

static dsx_at2 *learn(dsx_prompt *p, dsx_prompt *other) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    dsx_at2 *a = NULL;

    CHECK_EQ(dsx_at2_new(model, &a, NULL), DSTOK_OK);
    o.masks = 50;
    CHECK_EQ(dsx_at2_add(a, p, &o, NULL), DSTOK_OK);
    if (other != NULL) CHECK_EQ(dsx_at2_add(a, other, &o, NULL), DSTOK_OK);
    return a;
}

/* Pearson's correlation of kept scores of `at2` with the log-odds, over the same removals. */
static double correlation_of(dsx_prompt *p, const float *weights) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    const dsx_explanation *x = NULL;
    dsx__explaining e;
    dsx__texts t;
    dsx_row rows[UNITS];
    size_t index[50], n;
    double mean[2] = {0, 0}, ab = 0, aa = 0, bb = 0, kept[50] = {0};
    prompt_plan all = {.end = 0};

    o.method = DSX_METHOD_AT2;
    o.head_weights = weights;
    CHECK_EQ(dsx_explain(p, &o, &x, NULL), DSTOK_OK);
    CHECK_EQ(dsx_explain_rows(p, x, DSTOK_TRACE_SENTENCE, rows, UNITS, &n, NULL), DSTOK_OK);
    explaining(p, &all, &o, &e);
    CHECK_EQ(dsx__texts_new(p, &e, &t, NULL), DSTOK_OK);
    CHECK(dsx__texts_add_random(&t, 50, 0, 1, index));
    CHECK_EQ(dsx__texts_read(&t, NULL), DSTOK_OK);
    for (size_t i = 0; i < 50; i++) {
        for (size_t u = 0; u < UNITS; u++) kept[i] += t.masks[index[i] * UNITS + u] ? rows[u].score : 0;
        mean[0] += kept[i] / 50;
        mean[1] += t.values[index[i]] / 50;
    }
    for (size_t i = 0; i < 50; i++) {
        double a = kept[i] - mean[0], b = t.values[index[i]] - mean[1];

        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    dsx__texts_free(&t);
    dsx_explanation_free(x);
    return ab / sqrt(aa * bb);
}

static void heads_are_learned(void) {
    dsx_prompt *p = new_prompt(&plans[0], whole, plans[0].answer, strlen(plans[0].answer)),
               *other = new_prompt(&plans[1], whole, " the ant", 8);
    dsx_at2 *a = learn(p, other), *none = NULL;
    float weights[ALL_HEADS], same[ALL_HEADS];
    double found, sum = 0;

    CHECK_EQ(dsx_at2_fit(a, weights, &found, NULL), DSTOK_OK);
    for (size_t h = 0; h < ALL_HEADS; h++) {
        CHECK(weights[h] >= 0);
        sum += (double)weights[h];
        same[h] = 1.0F / ALL_HEADS;
    }
    CHECK(fabs(sum - 1) < 1e-6);
    CHECK(fabs((correlation_of(p, weights) + correlation_of(other, weights)) / 2 - found) < 1e-5);
    CHECK((correlation_of(p, same) + correlation_of(other, same)) / 2 < found - 0.01);
    dsx_at2_free(a);
    CHECK_EQ(dsx_at2_new(model, &none, NULL), DSTOK_OK);
    CHECK_EQ(dsx_at2_fit(none, weights, NULL, NULL), DSTOK_E_STATE);
    dsx_at2_free(none);
    dsx_prompt_free(p);
    dsx_prompt_free(other);
}

static dstok_status read_text(const char *text, float *weights, dstok_error *err) {
    FILE *f = fopen("heads.json", "w");

    CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
    return dsx_at2_read("heads.json", 1, 2, weights, err);
}

static void head_files(void) {
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{\"schema\":\"dsexplain/1\",\"model\":\"\",\"layers\":[[1,2]]}",
        "{\"schema\":\"dsexplain/at2/1\",\"layers\":[[1,2]]}",
        "{\"schema\":\"dsexplain/at2/1\",\"model\":\"\",\"layers\":[[1,2]],\"more\":1}",
        "{\"schema\":\"dsexplain/at2/1\",\"model\":\"\",\"layers\":[[1,2],[1,2]]}",
        "{\"schema\":\"dsexplain/at2/1\",\"model\":\"\",\"layers\":[[1]]}",
        "{\"schema\":\"dsexplain/at2/1\",\"model\":\"\",\"layers\":[[1,null]]}",
        "{\"schema\":\"dsexplain/at2/1\",\"model\":\"\",\"layers\":[[1,1e300]]}",
        "{\"schema\":\"dsexplain/at2/1\",\"model\":\"\",\"layers\":[1]}",
    };
    static const float some[2] = {0.1F, 1e-7F};
    float weights[2] = {0, 0};
    dstok_error err = {0};

    CHECK_EQ(dsx_at2_write("heads.json", "a \"model\"", some, 1, 2, NULL), DSTOK_OK);
    CHECK_EQ(dsx_at2_read("heads.json", 1, 2, weights, NULL), DSTOK_OK);
    CHECK_MEM(weights, some, sizeof some);
    CHECK_EQ(dsx_at2_read("heads.json", 2, 2, weights, &err), DSTOK_E_FORMAT);
    CHECK_STR(err.text, "heads.json: is for a model of 1 layers, not 2");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(read_text(bad[i], weights, &err), DSTOK_E_FORMAT);
        CHECK(strncmp(err.text, "heads.json: ", 12) == 0);
    }
    (void)remove("heads.json");
    CHECK_EQ(dsx_at2_read("heads.json", 1, 2, weights, &err), DSTOK_E_IO);
    CHECK_EQ(dsx_at2_write("no such folder/x", NULL, some, 1, 2, &err), DSTOK_E_IO);
}

/* Learning with the k-th allocation failing, until none does. */
static void learning_without_memory(dsx_prompt *p) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    float weights[ALL_HEADS];
    dstok_error err = {0};
    dstok_status status;
    size_t k = 0, before = live;

    o.masks = 3;
    do {
        dsx_at2 *a = NULL;

        calls = 0;
        fail_at = ++k;
        status = dsx_at2_new(model, &a, &err);
        if (status == DSTOK_OK) status = dsx_at2_add(a, p, &o, &err);
        if (status == DSTOK_OK) status = dsx_at2_fit(a, weights, NULL, &err);
        CHECK(status == DSTOK_OK || status == DSTOK_E_NOMEM);
        dsx_at2_free(a);
        CHECK(live <= before);
    } while (calls >= fail_at && k < 1000);
    fail_at = 0;
    CHECK(status == DSTOK_OK && k > 20 && k < 1000);
}

int main(void) {
    dsx_prompt *p;

    make_model(make_vocabulary());
    p = new_prompt(&plans[0], whole, plans[0].answer, strlen(plans[0].answer));
    heads_are_learned();
    head_files();
    learning_without_memory(p);
    dsx_prompt_free(p);
    dsx_model_free(model);
    dstok_tokenizer_free(tok);
    return t_end();
}
