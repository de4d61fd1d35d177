/* SPDX-License-Identifier: MIT */
/* For tests of removals: a small model with random weights, prompts of which sentences are left out, and an
 * allocator that fails when it is told to. */
#ifndef DSTOK_TESTS_REMOVALS_H
#define DSTOK_TESTS_REMOVALS_H

#include "arch/model.h"
#include "explain/texts.h"
#include "t.h"

#include <dsx/dsx.h>

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 32, FFN = 48, LAYERS = 2, HEADS = 4, KV_HEADS = 2, CONTEXT = 2048, UNITS = 7 };

/* ---- memory: as in test_model_oom.c */

static size_t calls, fail_at, live;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

void *__wrap_malloc(size_t n) {
    return ++calls == fail_at ? NULL : (live++, __real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size) {
    return ++calls == fail_at ? NULL : (live++, __real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n) {
    if (p == NULL) return __wrap_malloc(n);
    return ++calls == fail_at ? NULL : __real_realloc(p, n);
}

void __wrap_free(void *p) {
    live -= p != NULL;
    __real_free(p);
}

/* ---- model and vocabulary */

static char folder[] = "removals_XXXXXX", path[64];
static dsx_model *model;
static dstok_tokenizer *tok;

/* One token a character, and some that are joined; the next is number n. */
static inline void add_token(char *json, const char *token, int *n) {
    sprintf(json + strlen(json), "%s\"%s\":%d", *n > 0 ? "," : "", token, *n);
    ++*n;
}

static inline int make_vocabulary(void) {
    static const char *const joined[] = {"th", "the", " t", "an", "he", "at", ". "};
    static char json[4096] =
        "{\"version\":\"1.0\",\"added_tokens\":[],\"model\":{\"type\":\"BPE\",\"vocab\":{";
    char one[3] = "";
    int n = 0;
    dstok_error err = {0};

    for (char c = 'a'; c <= 'z'; c++) {
        one[0] = c;
        add_token(json, one, &n);
        one[0] = (char)(c - 'a' + 'A');
        add_token(json, one, &n);
    }
    add_token(json, " ", &n);
    add_token(json, ".", &n);
    add_token(json, "?", &n);
    add_token(json, ":", &n);
    add_token(json, ",", &n);
    add_token(json, "\\n", &n);
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++) add_token(json, joined[i], &n);
    strcat(json, "},\"merges\":[[\"t\",\"h\"],[\"th\",\"e\"],[\"h\",\"e\"],[\"a\",\"n\"],[\"a\",\"t\"],[\"."
                 "\",\" \"]]}}");
    if (dstok_tokenizer_load_memory(json, strlen(json), NULL, 0, NULL, &tok, &err) != DSTOK_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return n;
}

static inline void put_floats(FILE *f, t_rng *rng, size_t n, double scale, double mean) {
    for (size_t i = 0; i < n; i++) {
        float x = (float)(mean + scale * ((double)t_below(rng, 2001) / 1000 - 1));

        CHECK(fwrite(&x, sizeof x, 1, f) == 1);
    }
}

static inline void make_model(int n_vocab) {
    int32_t head[7] = {WIDTH, FFN, LAYERS, HEADS, KV_HEADS, n_vocab, CONTEXT};
    size_t kv = WIDTH / HEADS * KV_HEADS;
    dsx_model_options o = DSX_MODEL_OPTIONS_INIT;
    t_rng rng = {7};
    FILE *f;

    if (mkdtemp(folder) == NULL) exit(1);
    snprintf(path, sizeof path, "%s/model.bin", folder);
    f = fopen(path, "wb");
    if (f == NULL) exit(1);
    CHECK(fwrite(head, sizeof head, 1, f) == 1);
    put_floats(f, &rng, (size_t)n_vocab * WIDTH, 1, 0);
    put_floats(f, &rng, LAYERS * WIDTH, 0.2, 1);
    put_floats(f, &rng, LAYERS * WIDTH * (WIDTH + kv + kv + WIDTH), 0.4, 0);
    put_floats(f, &rng, LAYERS * WIDTH, 0.2, 1);
    put_floats(f, &rng, (size_t)LAYERS * 3 * FFN * WIDTH, 0.4, 0);
    put_floats(f, &rng, WIDTH, 0.2, 1);
    put_floats(f, &rng, (size_t)CONTEXT * (WIDTH / HEADS), 1, 0); /* tables of positions, not used */
    fclose(f);
    o.n_threads = 1;
    CHECK_EQ(dsx_model_open(path, &o, &model, NULL), DSTOK_OK);
    (void)remove(path);
    (void)remove(folder);
}

/* ---- prompts: sentences of two sources, some of them left out */

static const char *const sentences[UNITS] = {
    "The cat sat on the mat.",
    " A dog ran.",
    " A dog ran.",
    "\nBig fish swam",
    "  Red ants are at the hut and they had all of it, as we know from him who was in it.",
    " Cold.",
    " He had that hat"};
static const size_t split = 4; /* sentences of the first source */

typedef struct prompt_plan {
    const char *question, *template_text, *answer; /* answer NULL: generated */
    size_t begin, end;
} prompt_plan;

static const prompt_plan plans[] = {
    {"Who sat there?", NULL, " an ant and the cat", 4, 19},
    {"Who sat there?", NULL, NULL, 0, 0},
    {NULL, "{sources}", "hey. He ran", 0, 0}, /* "t" and "he" are one token across the border */
};

/* Sentence by sentence, as someone would delete them. */
static inline void write_source(size_t from, size_t to, const uint8_t *mask, char *out) {
    bool any = false;

    *out = '\0';
    for (size_t i = from; i < to; i++) {
        if (!mask[i]) continue;
        strcat(out, sentences[i] + (any || i == from ? 0 : strspn(sentences[i], " \n")));
        any = true;
    }
}

static inline dsx_prompt *new_prompt(const prompt_plan *p, const uint8_t *mask, const char *answer,
                                     size_t n_answer) {
    char text[2][512];
    dsx_source sources[2] = {{NULL, text[0], 0}, {NULL, text[1], 0}};
    dsx_prompt_options o = DSX_PROMPT_OPTIONS_INIT;
    dsx_prompt *out = NULL;
    dstok_error err = {0};

    write_source(0, split, mask, text[0]);
    write_source(split, UNITS, mask, text[1]);
    for (int i = 0; i < 2; i++) sources[i].len = strlen(text[i]);
    o.sources = sources;
    o.n_sources = 2;
    o.question = p->question;
    o.template_text = p->template_text;
    if (dsx_prompt_new(model, tok, &o, &out, &err) != DSTOK_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    if (answer != NULL)
        CHECK_EQ(dsx_prompt_answer(out, answer, n_answer, NULL), DSTOK_OK);
    else
        CHECK_EQ(dsx_prompt_generate(out, 9, NULL, NULL, NULL), DSTOK_OK);
    return out;
}

static const uint8_t whole[UNITS] = {1, 1, 1, 1, 1, 1, 1};

static inline void explaining(const dsx_prompt *p, const prompt_plan *plan, const dsx_explain_options *o,
                              dsx__explaining *e) {
    *e = (dsx__explaining){.options = o, .foil = -1};
    e->out.begin = plan->begin;
    e->out.end = plan->end > 0 ? plan->end : p->len - p->response;
    e->out.from = p->n;
    for (size_t i = 0; i < p->n; i++)
        if (p->spans[i].end > p->response + e->out.begin && p->spans[i].begin < p->response + e->out.end) {
            if (e->out.from == p->n) e->out.from = i;
            e->out.to = i + 1;
        }
}

static inline const dsx_explanation *explain(dsx_prompt *p, int method, const char *foil, uint32_t masks,
                                             uint32_t verify) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    const dsx_explanation *x = NULL;
    dstok_error err = {0};

    o.method = method;
    o.masks = masks;
    o.verify = verify;
    o.foil = foil;
    if (dsx_explain(p, &o, &x, &err) != DSTOK_OK) fprintf(stderr, "%s\n", err.text);
    CHECK(x != NULL);
    return x;
}

#endif
