/* SPDX-License-Identifier: MIT */
/* Texts without some sentences, read together by one session: the same bits as prompts that were made
 * without these sentences and read alone. On a small model with random weights, and with every allocation
 * failing once. */
#include "arch/model.h"
#include "explain/texts.h"
#include "session/session.h"
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
static void add_token(char *json, const char *token, int *n) {
    sprintf(json + strlen(json), "%s\"%s\":%d", *n > 0 ? "," : "", token, *n);
    ++*n;
}

static int make_vocabulary(void) {
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

static void put_floats(FILE *f, t_rng *rng, size_t n, double scale, double mean) {
    for (size_t i = 0; i < n; i++) {
        float x = (float)(mean + scale * ((double)t_below(rng, 2001) / 1000 - 1));

        CHECK(fwrite(&x, sizeof x, 1, f) == 1);
    }
}

static void make_model(int n_vocab) {
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
static void write_source(size_t from, size_t to, const uint8_t *mask, char *out) {
    bool any = false;

    *out = '\0';
    for (size_t i = from; i < to; i++) {
        if (!mask[i]) continue;
        strcat(out, sentences[i] + (any || i == from ? 0 : strspn(sentences[i], " \n")));
        any = true;
    }
}

static dsx_prompt *new_prompt(const prompt_plan *p, const uint8_t *mask, const char *answer,
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

/* The log-probability of bytes [begin, end) of the response, with a session of its own; ids of the response
 * are those of `like`, if it is given. */
static double read_alone(const dsx_prompt *p, const dsx_prompt *like, size_t begin, size_t end) {
    dsx_session_options o = DSX_SESSION_OPTIONS_INIT;
    dsx_session *s = NULL;
    double *lp = malloc(p->n * sizeof *lp), sum = 0;

    for (size_t i = p->n, k = like != NULL ? like->n : 0;
         k > 0 && like->spans[k - 1].begin >= like->response;)
        p->ids[--i] = like->ids[--k];
    o.chunk = 37;
    CHECK_EQ(dsx_session_new(model, &o, &s, NULL), DSTOK_OK);
    CHECK_EQ(dsx_session_score(s, p->ids, p->n, lp, NULL), DSTOK_OK);
    for (size_t i = 1; i < p->n; i++)
        if (p->spans[i].end > p->response + begin && p->spans[i].begin < p->response + end) sum += lp[i];
    if (p->spans[0].end > p->response + begin) sum -= log(model->config.n_vocab);
    dsx_session_free(s);
    free(lp);
    return sum;
}

static const uint8_t whole[UNITS] = {1, 1, 1, 1, 1, 1, 1};

static void explaining(const dsx_prompt *p, const prompt_plan *plan, const dsx_explain_options *o,
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

static void same_as_alone(const prompt_plan *plan) {
    dsx_prompt *p = new_prompt(plan, whole, plan->answer, plan->answer != NULL ? strlen(plan->answer) : 0);
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    bool has_border = plan != &plans[2];
    dsx__explaining e;
    dsx__texts t;
    size_t index[128], n_rows = 0;

    explaining(p, plan, &o, &e);
    CHECK_EQ(dsx__texts_new(p, &e, &t, NULL), DSTOK_OK);
    CHECK_EQ(t.n_units, UNITS);
    CHECK(dsx__texts_add_random(&t, 128, 1, 1, index));
    CHECK_EQ(t.n, 128); /* all there are */
    CHECK_EQ(dsx__texts_read(&t, NULL), DSTOK_OK);
    for (size_t i = 0; i < t.n; i++) {
        dsx_prompt *less = new_prompt(plan, t.masks + i * UNITS, p->text + p->response, p->len - p->response);
        double want = read_alone(less, has_border ? p : NULL, e.out.begin, e.out.end);

        CHECK(t.logprobs[i] == want);
        CHECK(fabs(t.values[i] - (want - log1p(-exp(want)))) < 1e-9);
        n_rows += less->n;
        dsx_prompt_free(less);
    }
    CHECK(t.n_rows * 5 < n_rows * 4); /* what is common is read once */
    dsx__texts_free(&t);
    dsx_prompt_free(p);
}

/* ---- other removals */

static double one(const dsx_prompt *p, int removal, const char *bits, const prompt_plan *plan) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    dsx__explaining e;
    dsx__texts t;
    uint8_t mask[UNITS];
    size_t index;
    double logprob;

    for (size_t i = 0; i < UNITS; i++) mask[i] = bits[i] == '1';
    o.removal = removal;
    explaining(p, plan, &o, &e);
    CHECK_EQ(dsx__texts_new((dsx_prompt *)p, &e, &t, NULL), DSTOK_OK);
    CHECK(dsx__texts_add(&t, mask, &index));
    CHECK_EQ(dsx__texts_read(&t, NULL), DSTOK_OK);
    logprob = t.logprobs[0];
    dsx__texts_free(&t);
    return logprob;
}

static void gaps_and_words(void) {
    prompt_plan plan = plans[0];
    dsx_prompt *p;

    plan.template_text = "{sources}\nQ: {question}";
    p = new_prompt(&plan, whole, plan.answer, strlen(plan.answer));
    /* nothing out: three times the same; what is gone from the front moves all the rest alike: positions
     * say nothing */
    CHECK(one(p, DSX_REMOVE_GAP, "1111111", &plan) == one(p, DSX_REMOVE_DELETE, "1111111", &plan));
    CHECK(one(p, DSX_REMOVE_SWAP, "1111111", &plan) == one(p, DSX_REMOVE_DELETE, "1111111", &plan));
    CHECK(fabs(one(p, DSX_REMOVE_GAP, "0111111", &plan) - one(p, DSX_REMOVE_DELETE, "0111111", &plan)) <
          1e-4);
    CHECK(fabs(one(p, DSX_REMOVE_GAP, "1011111", &plan) - one(p, DSX_REMOVE_DELETE, "1011111", &plan)) >
          1e-3);
    CHECK(fabs(one(p, DSX_REMOVE_SWAP, "1011111", &plan) - one(p, DSX_REMOVE_DELETE, "1011111", &plan)) >
          1e-3);
    dsx_prompt_free(p);
}

/* The oracle for a gap: the same rows at the positions they had, one by one. */
static void gap_by_hand(void) {
    const prompt_plan *plan = &plans[0];
    dsx_prompt *p = new_prompt(plan, whole, plan->answer, strlen(plan->answer));
    size_t begin = p->response, at = (size_t)(strstr(p->text, sentences[3]) - p->text), first = 0, last = 0,
           n = 0;
    dsx_session *s = NULL;
    double lp = 0, sum = 0;

    while (p->spans[first].end <= at) first++;
    for (last = first; p->spans[last].begin < at + strlen(sentences[3]);) last++;
    CHECK_EQ(dsx_session_new(model, NULL, &s, NULL), DSTOK_OK);
    dsx__session_alone(s);
    for (size_t i = 0; i < p->n; i++) {
        if (i >= first && i < last) continue;
        if (p->spans[i].end > begin + plan->begin && p->spans[i].begin < begin + plan->end) {
            CHECK_EQ(dsx_session_next(s, &p->ids[i], 1, &lp, NULL), DSTOK_OK);
            sum += lp;
        }
        dsx__session_work(s)->shift = i - n++;
        CHECK_EQ(dsx_session_feed(s, &p->ids[i], 1, NULL), DSTOK_OK);
    }
    CHECK(one(p, DSX_REMOVE_GAP, "1110111", plan) == sum);
    dsx_session_free(s);
    dsx_prompt_free(p);
}

/* Gaps, read together: where ids are the same, positions may not be. */
static void gaps_together(void) {
    dsx_prompt *p = new_prompt(&plans[0], whole, plans[0].answer, strlen(plans[0].answer));
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    dsx__explaining e;
    dsx__texts t;
    size_t index[128];
    char bits[UNITS + 1] = "";

    o.removal = DSX_REMOVE_GAP;
    explaining(p, &plans[0], &o, &e);
    CHECK_EQ(dsx__texts_new(p, &e, &t, NULL), DSTOK_OK);
    CHECK(dsx__texts_add_random(&t, 128, 1, 1, index));
    CHECK_EQ(dsx__texts_read(&t, NULL), DSTOK_OK);
    for (size_t i = 0; i < t.n; i++) {
        for (size_t k = 0; k < UNITS; k++) bits[k] = t.masks[i * UNITS + k] ? '1' : '0';
        CHECK(t.logprobs[i] == one(p, DSX_REMOVE_GAP, bits, &plans[0]));
    }
    dsx__texts_free(&t);
    dsx_prompt_free(p);
}

/* The last token of the prompt given all before it, by pages that are known where there are some, or by
 * none. */
static double last_token(const dsx_prompt *p, bool anew) {
    dsx_session *s = NULL;
    double lp[512];

    CHECK_EQ(dsx_session_new(model, NULL, &s, NULL), DSTOK_OK);
    if (anew) {
        CHECK_EQ(dsx_session_score(s, p->ids, p->n, lp, NULL), DSTOK_OK);
    } else {
        CHECK_EQ(dsx_session_feed(s, p->ids, p->n - 1, NULL), DSTOK_OK);
        CHECK_EQ(dsx_session_next(s, &p->ids[p->n - 1], 1, &lp[p->n - 1], NULL), DSTOK_OK);
    }
    dsx_session_free(s);
    return lp[p->n - 1];
}

/* Pages are known by their tokens alone: rows at other positions must neither be found nor find any. */
static void gaps_are_alone(void) {
    static const uint8_t mask[UNITS] = {0, 1, 1, 1, 1, 0, 1};
    prompt_plan plan = plans[0];
    dsx_prompt *p, *less;
    double before, found;

    plan.template_text = "{sources}\nQ: {question}";
    p = new_prompt(&plan, whole, plan.answer, strlen(plan.answer));
    less = new_prompt(&plan, mask, plan.answer, strlen(plan.answer));
    CHECK(less->n > DSX__PAGE + 1);
    before = one(p, DSX_REMOVE_GAP, "0111101", &plan);
    found = last_token(less, false);
    CHECK(found == last_token(less, true));
    CHECK(one(p, DSX_REMOVE_GAP, "0111101", &plan) == before);
    dsx_prompt_free(less);
    dsx_prompt_free(p);
}

/* ---- whole explanations */

static int stop_at_five(void *context, uint64_t done, uint64_t all) {
    *(uint64_t *)context = all;
    return done == 5;
}

static const dsx_explanation *explain(dsx_prompt *p, int method, const char *foil, uint32_t masks,
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

/* The sentences that rows gives a tenth of the best or more have what loo says, the others 0. */
static void refined_of(dsx_prompt *p, const dsx_explanation *loo, const dsx_explanation *rows) {
    const dsx_explanation *x = explain(p, DSX_METHOD_REFINE, NULL, 0, 0);
    dsx_row by_rows[UNITS], refined[UNITS];
    double best = 0, sum = 0;
    size_t n, n_out = 0;

    CHECK_EQ(dsx_explain_rows(p, rows, DSTOK_TRACE_SENTENCE, by_rows, UNITS, &n, NULL), DSTOK_OK);
    CHECK_EQ(dsx_explain_rows(p, x, DSTOK_TRACE_SENTENCE, refined, UNITS, &n, NULL), DSTOK_OK);
    for (size_t i = 0; i < UNITS; i++) best = fmax(best, fabs(by_rows[i].score));
    for (size_t i = 0; i < UNITS; i++) {
        bool is_out = fabs(by_rows[i].score) >= best / 10;

        CHECK(is_out ? x->worth[i] == loo->worth[i] : isnan(x->worth[i]));
        CHECK(fabs(refined[i].score - (is_out ? loo->worth[i] : 0)) < 1e-9);
        n_out += is_out;
    }
    for (size_t i = 0; i < x->n; i++) sum += x->scores[i];
    CHECK(n_out > 1 && n_out < UNITS);
    CHECK_EQ(x->n_forward, 2 + n_out);
    CHECK(fabs(sum - x->sums.sources) < 1e-9 && x->value == loo->value && x->routing != NULL);
    dsx_explanation_free(x);
    x = explain(p, DSX_METHOD_REFINE, NULL, 1, 0);
    CHECK_EQ(x->n_forward, 3);
    dsx_explanation_free(x);
}

static void whole_explanations(void) {
    dsx_prompt *p = new_prompt(&plans[0], whole, plans[0].answer, strlen(plans[0].answer));
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    const dsx_explanation *loo = explain(p, DSX_METHOD_LOO, NULL, 0, 8), *fit, *foil;
    dsx_row rows[UNITS];
    size_t n;
    uint64_t all = 0;
    char bits[UNITS + 1];

    CHECK_EQ(loo->n_units, UNITS);
    CHECK_EQ(dsx_explain_rows(p, loo, DSTOK_TRACE_SENTENCE, rows, UNITS, &n, NULL), DSTOK_OK);
    for (size_t i = 0; i < UNITS; i++) {
        prompt_plan whole_answer = plans[0];

        whole_answer.begin = 0;
        whole_answer.end = strlen(plans[0].answer);
        memset(bits, '1', UNITS);
        bits[i] = '0';
        CHECK(loo->worth[i] == loo->logprob - one(p, DSX_REMOVE_DELETE, bits, &whole_answer));
        CHECK(fabs(rows[i].score - loo->worth[i]) < 1e-9); /* tokens' scores add up to it */
    }
    CHECK(loo->value == loo->logprob && loo->sums.template_text == 0);
    CHECK(loo->trust.n_masks == 8 && loo->trust.lds >= -1 && loo->trust.lds <= 1 &&
          isfinite(loo->trust.prior));
    CHECK_EQ(loo->n_forward, 1 + UNITS + loo->trust.n_forward);
    fit = explain(p, DSX_METHOD_ROWS, NULL, 0, 0);
    refined_of(p, loo, fit);
    dsx_explanation_free(fit);
    fit = explain(p, DSX_METHOD_ABLATE, NULL, 0, 0);
    CHECK_EQ(fit->n_forward, 33);
    CHECK(fit->worth == NULL && isnan(fit->trust.lds));
    CHECK(fabs(fit->value - fit->sums.sources - fit->sums.bias - fit->sums.residual) < 1e-9);
    foil = explain(p, DSX_METHOD_ABLATE, " b", 40, 128);
    CHECK_EQ(foil->to, foil->from + 1);
    CHECK_EQ(foil->trust.n_masks, 128);
    dsx_explanation_free(foil);
    foil = explain(p, DSX_METHOD_LOO, " b", 0, 0);
    CHECK(foil->value != foil->logprob);
    o.method = DSX_METHOD_ABLATE;
    o.sink = stop_at_five;
    o.context = &all;
    CHECK_EQ(dsx_explain(p, &o, &foil, NULL), DSTOK_E_CANCELED);
    CHECK_EQ(all, 33);
    dsx_explanation_free(foil);
    dsx_explanation_free(fit);
    dsx_explanation_free(loo);
    dsx_prompt_free(p);
}

/* ---- trust, from a table of all removals */

/* The mask of the n best sentences, by their ranks; as a number, bit i for sentence i. */
static unsigned best_of(const dsx_row *rows, size_t n) {
    unsigned bits = 0;

    for (size_t i = 0; i < UNITS; i++) bits |= (unsigned)(rows[i].rank <= n) << i;
    return bits;
}

static double mean_rank(const double *v, size_t n, double x) {
    double below = 0, same = 0;

    for (size_t i = 0; i < n; i++) {
        below += v[i] < x;
        same += v[i] == x;
    }
    return below + (same + 1) / 2;
}

static void trust_by_hand(void) {
    enum { ALL = 1 << UNITS };
    static const double shares[] = {0.01, 0.05, 0.1, 0.2, 0.5};
    dsx_prompt *p = new_prompt(&plans[0], whole, plans[0].answer, strlen(plans[0].answer));
    const dsx_explanation *x = explain(p, DSX_METHOD_ROWS, NULL, 0, ALL);
    prompt_plan all = {.end = 0};
    dsx_row rows[UNITS];
    double table[ALL], kept[ALL] = {0}, out = 0, in = 0, ab = 0, aa = 0, bb = 0, mean = (ALL + 1) / 2.0,
                       whole_fall;
    size_t n;

    CHECK_EQ(dsx_explain_rows(p, x, DSTOK_TRACE_SENTENCE, rows, UNITS, &n, NULL), DSTOK_OK);
    for (unsigned m = 0; m < ALL; m++) {
        char bits[UNITS + 1] = "";

        for (size_t i = 0; i < UNITS; i++) {
            bits[i] = m >> i & 1 ? '1' : '0';
            kept[m] += m >> i & 1 ? rows[i].score : 0;
        }
        table[m] = one(p, DSX_REMOVE_DELETE, bits, &all);
    }
    for (unsigned m = 0; m < ALL; m++) {
        double a = mean_rank(kept, ALL, kept[m]) - mean, b = mean_rank(table, ALL, table[m]) - mean;

        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    whole_fall = table[ALL - 1] - table[0];
    for (size_t i = 0; i < 5; i++) {
        unsigned best = best_of(rows, (size_t)ceil(shares[i] * UNITS));

        out += (table[ALL - 1] - table[(ALL - 1) & ~best]) / whole_fall / 5;
        in += (table[ALL - 1] - table[best]) / whole_fall / 5;
    }
    CHECK_EQ(x->trust.n_masks, ALL);
    CHECK_EQ(x->trust.n_forward, ALL);
    CHECK(fabs(x->trust.lds - ab / sqrt(aa * bb)) < 1e-9);
    CHECK(x->trust.prior == table[0]);
    for (size_t i = 0; i < 3; i++)
        CHECK(x->trust.drop[i] == table[ALL - 1] - table[(ALL - 1) & ~best_of(rows, 2 * i + 1)]);
    CHECK(whole_fall > 0
              ? fabs(x->trust.comprehensiveness - out) < 1e-9 && fabs(x->trust.sufficiency - in) < 1e-9
              : isnan(x->trust.comprehensiveness) && isnan(x->trust.sufficiency));
    for (unsigned i = 0; i < UNITS; i++) CHECK(x->worth[i] == table[ALL - 1] - table[(ALL - 1) & ~(1U << i)]);
    dsx_explanation_free(x);
    dsx_prompt_free(p);
}

/* ---- weights of heads */

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
    FILE *f = fopen("removals_heads.json", "w");

    CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
    return dsx_at2_read("removals_heads.json", 1, 2, weights, err);
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

    CHECK_EQ(dsx_at2_write("removals_heads.json", "a \"model\"", some, 1, 2, NULL), DSTOK_OK);
    CHECK_EQ(dsx_at2_read("removals_heads.json", 1, 2, weights, NULL), DSTOK_OK);
    CHECK_MEM(weights, some, sizeof some);
    CHECK_EQ(dsx_at2_read("removals_heads.json", 2, 2, weights, &err), DSTOK_E_FORMAT);
    CHECK_STR(err.text, "removals_heads.json: is for a model of 1 layers, not 2");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(read_text(bad[i], weights, &err), DSTOK_E_FORMAT);
        CHECK(strncmp(err.text, "removals_heads.json: ", 21) == 0);
    }
    (void)remove("removals_heads.json");
    CHECK_EQ(dsx_at2_read("removals_heads.json", 1, 2, weights, &err), DSTOK_E_IO);
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

static void refining_without_memory(dsx_prompt *p) {
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    const dsx_explanation *x = NULL;
    dstok_status status;
    size_t k = 0, before = live;

    o.method = DSX_METHOD_REFINE;
    do {
        calls = 0;
        fail_at = ++k;
        status = dsx_explain(p, &o, &x, NULL);
        if (status == DSTOK_OK) dsx_explanation_free(x);
        CHECK(status == DSTOK_OK || status == DSTOK_E_NOMEM);
        CHECK(live <= before);
    } while (calls >= fail_at && k < 1000);
    fail_at = 0;
    CHECK(status == DSTOK_OK && k > 30 && k < 1000);
}

static void every_allocation(void) {
    dsx_prompt *p = new_prompt(&plans[0], whole, plans[0].answer, strlen(plans[0].answer));
    const dsx_explanation *want = explain(p, DSX_METHOD_ABLATE, NULL, 3, 2), *x = NULL;
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    dstok_error err = {0};
    size_t before = live, k = 0;
    dstok_status status;

    o.method = DSX_METHOD_ABLATE;
    o.masks = 3;
    o.verify = 2;
    do {
        calls = 0;
        fail_at = ++k;
        status = dsx_explain(p, &o, &x, &err);
        CHECK(status == DSTOK_OK || status == DSTOK_E_NOMEM);
        if (status == DSTOK_OK) {
            CHECK_MEM(x->scores, want->scores, want->n * sizeof *want->scores);
            dsx_explanation_free(x);
        }
        CHECK(live <= before);
    } while (calls >= fail_at && k < 1000);
    fail_at = 0;
    CHECK(status == DSTOK_OK && k > 30 && k < 1000);
    dsx_explanation_free(want);
    learning_without_memory(p);
    refining_without_memory(p);
    dsx_prompt_free(p);
}

static void odds(void) {
    CHECK(fabs(dsx__log_odds(log(0.5))) < 1e-15);
    CHECK(fabs(dsx__log_odds(log(0.9)) - log(9)) < 1e-12);
    CHECK(fabs(dsx__log_odds(-1000) + 1000) < 1e-12);
    CHECK(isfinite(dsx__log_odds(0)) && dsx__log_odds(0) > 27 && dsx__log_odds(-1e-3) < dsx__log_odds(-1e-6));
}

int main(void) {
    make_model(make_vocabulary());
    gaps_are_alone(); /* first: no page is known yet */
    odds();
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) same_as_alone(&plans[i]);
    gaps_and_words();
    gap_by_hand();
    gaps_together();
    whole_explanations();
    trust_by_hand();
    heads_are_learned();
    head_files();
    every_allocation();
    dsx_model_free(model);
    dstok_tokenizer_free(tok);
    return t_end();
}
