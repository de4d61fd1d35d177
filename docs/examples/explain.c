/* SPDX-License-Identifier: MIT */
/* What an answer rests on:  explain MODEL QUESTION FILE...  lets the model answer, and prints the sentences of the files
 * that the answer took most from, with their places. */
#include <dsx/dsx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 16, MOST_TOKENS = 64, N_SHOWN = 5 };

static int fail(const char *what, const dstok_error *err) {
    fprintf(stderr, "explain: %s: %s\n", what, err->text);
    return 1;
}

/* A whole file; NULL where it cannot be read. */
static char *read_file(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    size_t cap = 1 << 16, got;
    char *text = malloc(cap);

    *n = 0;
    while (f != NULL && text != NULL && (got = fread(text + *n, 1, cap - *n, f)) > 0) {
        char *more = text;

        *n += got;
        if (*n == cap) more = realloc(text, cap *= 2);
        if (more == NULL) free(text);
        text = more;
    }
    if (f == NULL || text == NULL || ferror(f)) {
        fprintf(stderr, "explain: %s cannot be read\n", path);
        free(text);
        text = NULL;
    }
    if (f != NULL) fclose(f);
    return text;
}

/* The best sentences, one a line. */
static dstok_status print_rows(const dsx_prompt *prompt, const dsx_explanation *x, dstok_error *err) {
    dsx_row *rows = NULL;
    size_t n = 0;
    dstok_status status = dsx_explain_rows(prompt, x, DSTOK_TRACE_SENTENCE, NULL, 0, &n, err);

    if (status == DSTOK_E_SPACE) rows = malloc(n * sizeof *rows);
    if (rows == NULL) return status;
    status = dsx_explain_rows(prompt, x, DSTOK_TRACE_SENTENCE, rows, n, &n, err);
    for (size_t rank = 1; status == DSTOK_OK && rank <= N_SHOWN; rank++)
        for (size_t i = 0; i < n; i++) {
            dsx_source source;

            if (rows[i].rank != rank || dsx_prompt_source(prompt, rows[i].source, &source) != DSTOK_OK)
                continue;
            printf("%s:%llu:%llu: %+.3f\t%.*s\n", source.name, (unsigned long long)rows[i].line,
                   (unsigned long long)rows[i].column, rows[i].score,
                   (int)(rows[i].core.end - rows[i].core.begin),
                   (const char *)source.text + rows[i].core.begin);
        }
    free(rows);
    return status;
}

/* The answer, what it rests on, and warnings. */
static dstok_status explain(dsx_prompt *prompt, dstok_error *err) {
    dsx_prompt_view view = DSX_PROMPT_VIEW_INIT;
    const dsx_explanation *x = NULL;
    dstok_status status = dsx_prompt_generate(prompt, MOST_TOKENS, NULL, NULL, err);

    if (status == DSTOK_OK) status = dsx_explain(prompt, NULL, &x, err);
    if (status != DSTOK_OK) return status;
    dsx_prompt_describe(prompt, &view);
    printf("answer: %.*s\n", (int)(view.len - view.answer), view.text + view.answer);
    status = print_rows(prompt, x, err);
    printf("value %.4f = sources %.4f + the rest %.4f\n", x->value, x->sums.sources,
           x->value - x->sums.sources);
    for (size_t i = 0; i < x->n_warnings; i++) printf("warning: %s\n", x->warnings[i].text);
    dsx_explanation_free(x);
    return status;
}

int main(int argc, char **argv) {
    dstok_error err = {0, 0, DSTOK_NO_OFFSET, ""};
    dsx_model_info info = DSX_MODEL_INFO_INIT;
    dsx_prompt_options options = DSX_PROMPT_OPTIONS_INIT;
    dsx_source sources[MOST_FILES];
    char *texts[MOST_FILES] = {NULL};
    dstok_tokenizer *tok = NULL;
    dsx_prompt *prompt = NULL;
    dsx_model *model = NULL;
    int rc = 0;

    if (argc < 4 || argc > 3 + MOST_FILES) {
        fprintf(stderr, "usage: explain MODEL QUESTION FILE...\n");
        return 2;
    }
    for (int i = 3; i < argc && rc == 0; i++) {
        sources[i - 3].name = argv[i];
        sources[i - 3].text = texts[i - 3] = read_file(argv[i], &sources[i - 3].len);
        rc = texts[i - 3] == NULL;
    }
    options.sources = sources;
    options.n_sources = (size_t)argc - 3;
    options.question = argv[2];
    if (rc == 0 && dsx_model_open(argv[1], NULL, &model, &err) != DSTOK_OK) rc = fail(argv[1], &err);
    if (rc == 0) dsx_model_describe(model, &info);
    if (rc == 0 && info.tokenizer == NULL) rc = fail(argv[1], &(dstok_error){.text = "it has no vocabulary"});
    if (rc == 0 && dstok_tokenizer_load(info.tokenizer, NULL, &tok, &err) != DSTOK_OK)
        rc = fail(info.tokenizer, &err);
    if (rc == 0 && dsx_prompt_new(model, tok, &options, &prompt, &err) != DSTOK_OK)
        rc = fail("the prompt", &err);
    if (rc == 0 && explain(prompt, &err) != DSTOK_OK) rc = fail("the answer", &err);
    dsx_prompt_free(prompt);
    dstok_tokenizer_free(tok);
    dsx_model_free(model);
    for (int i = 0; i < argc - 3; i++) free(texts[i]);
    return rc;
}
