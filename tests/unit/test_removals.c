/* SPDX-License-Identifier: MIT */
/* Texts without some sentences, read together by one session: the same bits as prompts that were made
 * without these sentences and read alone. On a small model with random weights, and with every allocation
 * failing once. */
#include "removals.h"

#include "session/session.h"

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

/* Each character of the answer: a warning where no sentence has a tenth of a nat, and only there. */
static void warnings_of_small(void) {
    dsx_prompt *p = new_prompt(&plans[0], whole, plans[0].answer, strlen(plans[0].answer));
    dsx_explain_options o = DSX_EXPLAIN_OPTIONS_INIT;
    const dsx_explanation *x = NULL;
    size_t n_warned = 0, n_large = 0;

    o.method = DSX_METHOD_LOO;
    for (o.begin = 0; o.begin < strlen(plans[0].answer); o.begin++) {
        double best = 0;
        bool warned = false;

        o.end = o.begin + 1;
        CHECK_EQ(dsx_explain(p, &o, &x, NULL), DSTOK_OK);
        for (size_t i = 0; i < UNITS; i++) best = fmax(best, x->worth[i]);
        for (size_t i = 0; i < x->n_warnings; i++) warned |= strcmp(x->warnings[i].code, "NONE_NEEDED") == 0;
        CHECK(warned == (best < 0.1));
        n_warned += warned;
        n_large += best >= 0.1;
        dsx_explanation_free(x);
    }
    CHECK(n_warned > 0 && n_large > 0);
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
    warnings_of_small();
    trust_by_hand();
    every_allocation();
    dsx_model_free(model);
    dstok_tokenizer_free(tok);
    return t_end();
}
