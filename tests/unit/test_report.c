/* SPDX-License-Identifier: MIT */
/* Prompts, explanations and reports of all forms: every allocation fails once, sinks stop, arguments are wrong. */
#include "removals.h"

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text) {
    return ++calls == fail_at ? NULL : (live++, __real_strdup(text));
}

void *__real_aligned_alloc(size_t alignment, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);

void *__wrap_aligned_alloc(size_t alignment, size_t n) {
    return ++calls == fail_at ? NULL : (live++, __real_aligned_alloc(alignment, n));
}

static const dsx_source sources[] = {{"a.txt", "The cat sat on the mat. A dog ran, and had that hat.", 52},
                                     {NULL, "Cold.\nRed ants are at the hut.", 30}};

typedef struct bytes {
    char *p; /* of enough room */
    size_t n, most;
} bytes;

static int take(void *context, const void *p, size_t n) {
    bytes *b = context;

    if (n > b->most - b->n) return 1;
    memcpy(b->p + b->n, p, n);
    b->n += n;
    return 0;
}

static dsx_prompt_options prompt_options(void) {
    dsx_prompt_options o = DSX_PROMPT_OPTIONS_INIT;

    o.sources = sources;
    o.n_sources = 2;
    o.question = "Who sat there?";
    o.prefix = "It was ";
    return o;
}

/* A prompt, two explanations of it, and a report. */
static dstok_status run(int format, bytes *out, dstok_error *err) {
    dsx_prompt_options po = prompt_options();
    dsx_explain_options eo = DSX_EXPLAIN_OPTIONS_INIT;
    dsx_report_options ro = DSX_REPORT_OPTIONS_INIT;
    const dsx_explanation *x[2] = {NULL, NULL};
    dsx_prompt *p = NULL;
    dstok_status status = dsx_prompt_new(model, tok, &po, &p, err);

    eo.hops = 2;
    ro.format = format;
    ro.colours = 256;
    out->n = 0;
    if (status == DSTOK_OK) status = dsx_prompt_generate(p, 3, NULL, NULL, err);
    if (status == DSTOK_OK) status = dsx_prompt_answer(p, "that cat, not an ant", 20, err);
    if (status == DSTOK_OK) status = dsx_explain(p, &eo, &x[0], err);
    eo.foil = "the";
    if (status == DSTOK_OK) status = dsx_explain(p, &eo, &x[1], err);
    for (int i = 0; i < 2 && status == DSTOK_OK; i++) ((dsx_explanation *)(uintptr_t)x[i])->seconds = 0;
    if (status == DSTOK_OK) status = dsx_report_write(p, x, 2, &ro, take, out, err);
    for (int i = 0; i < 2; i++) dsx_explanation_free(x[i]);
    dsx_prompt_free(p);
    return status;
}

static void each_allocation(int format) {
    bytes want = {calloc(1, 1 << 20), 0, 1 << 20}, got = {calloc(1, 1 << 20), 0, 1 << 20};
    dstok_error err = {0};
    size_t n;

    calls = fail_at = 0;
    CHECK_EQ(run(format, &want, &err), DSTOK_OK);
    CHECK(want.n > 200);
    n = calls;
    for (size_t k = 1; k <= n; k++) {
        dstok_status status;

        calls = 0;
        fail_at = k;
        status = run(format, &got, &err);
        fail_at = 0;
        if (status != DSTOK_OK) { /* the tokenizer may do without some */
            CHECK_EQ(status, DSTOK_E_NOMEM);
            CHECK_EQ(err.status, DSTOK_E_NOMEM);
        } else {
            CHECK_MEM(got.p, want.p, want.n);
        }
    }
    free(want.p);
    free(got.p);
}

/* Wherever the sink stops, the call says so, and nothing more is given to it. */
static void each_byte(int format) {
    bytes out = {malloc(1 << 20), 0, 1 << 20};
    size_t n;

    CHECK_EQ(run(format, &out, NULL), DSTOK_OK);
    n = out.n;
    for (out.most = 0; out.most < n; out.most += 1 + n / 5) CHECK_EQ(run(format, &out, NULL), DSTOK_E_IO);
    free(out.p);
}

static int stop(void *context, uint64_t done, uint64_t all) {
    CHECK(done <= all);
    return ++*(int *)context == 1;
}

static void arguments(void) {
    dsx_prompt_options po = prompt_options();
    dsx_source none = {"a", NULL, 3}, got;
    dsx_report_options ro = DSX_REPORT_OPTIONS_INIT;
    dsx_prompt_view v = DSX_PROMPT_VIEW_INIT;
    dsx_prompt *p = NULL, *q = NULL;
    bytes out = {NULL, 0, 0};
    int n = 0;

    CHECK_EQ(dsx_prompt_new(model, tok, NULL, &q, NULL), DSTOK_E_INVAL);
    po.sources = &none;
    po.n_sources = 1;
    CHECK_EQ(dsx_prompt_new(model, tok, &po, &q, NULL), DSTOK_E_INVAL);
    po.sources = NULL;
    CHECK_EQ(dsx_prompt_new(model, tok, &po, &q, NULL), DSTOK_E_INVAL);
    CHECK(q == NULL);
    po = prompt_options();
    CHECK_EQ(dsx_prompt_new(model, tok, &po, &p, NULL), DSTOK_OK);
    CHECK_EQ(dsx_prompt_source(p, 2, &got), DSTOK_E_RANGE);
    CHECK_EQ(dsx_prompt_source(p, 1, &got), DSTOK_OK);
    CHECK_STR(got.name, "source 2");
    CHECK(got.len == sources[1].len && memcmp(got.text, sources[1].text, got.len) == 0);
    CHECK_EQ(dsx_prompt_generate(p, 9, stop, &n, NULL), DSTOK_E_CANCELED);
    CHECK_EQ(n, 1);
    CHECK_EQ(dsx_prompt_describe(p, &v), DSTOK_OK);
    CHECK_EQ(v.len, v.answer);
    CHECK_EQ(dsx_report_write(p, NULL, 1, NULL, take, &out, NULL), DSTOK_E_INVAL);
    CHECK_EQ(dsx_report_write(p, NULL, 0, NULL, NULL, NULL, NULL), DSTOK_E_INVAL);
    ro.format = DSX_N_REPORTS;
    CHECK_EQ(dsx_report_write(p, NULL, 0, &ro, take, &out, NULL), DSTOK_E_INVAL);
    dsx_prompt_free(p);
}

int main(void) {
    make_model(make_vocabulary());
    for (int format = 0; format < DSX_N_REPORTS; format++) {
        each_allocation(format);
        each_byte(format);
    }
    arguments();
    dsx_model_free(model);
    dstok_tokenizer_free(tok);
    CHECK_EQ(live, 0); /* pages of texts that were read stay with the model until then */
    return t_end();
}
