/* SPDX-License-Identifier: MIT */
/* What the sentences of the sources are worth, by taking them out.
 *
 *   loo     the fall of the log-probability without a sentence, one after the other
 *   ablate  ContextCite (Cohen-Wang et al. 2024, arXiv 2409.00729): random removals z, each sentence kept with
 *           probability 1/2; f(z) = log p - log(1 - p), p the probability of all tokens that are explained; and the
 *           sparse linear fit of it: LASSO of f by the number of tokens, on standardised columns. Their alpha is 0.01;
 *           with 0.1 small weights, which say little, are 0 more often, and ranks are a little better
 *   refine  loo for those sentences alone whose score of `rows` is at least a tenth of the best one's; the others get
 *           0, as most of what they have is noise. Within a sentence tokens keep their shares
 *
 * f(all kept) is what is explained: the sum of the sentences' scores, the fit's constant (what it gives without any
 * source), and a residual. */
#include "base.h"
#include "explain/fit.h"
#include "explain/texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double alpha = 0.1, least_share = 0.1;

enum { MASKS = 32, FIT = 1 };

/* The sentence's score to the tokens that lie in it as a whole, by bytes: sums over sentences, which share
 * out tokens by bytes, give it back. Where there is none, to those that touch it. */
static void spread(const dsx_prompt *p, const dsx__unit *u, double score, double *scores, size_t n) {
    for (int touching = 0; touching < 2; touching++) {
        double all = 0;

        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < n && p->spans[i].begin < u->bytes.end; i++) {
                double some = dsx__share(p->spans[i], u->bytes);

                if (!touching && some < 1) continue;
                some *= (double)(p->spans[i].end - p->spans[i].begin);
                if (pass == 0) all += some;
                if (pass == 1 && some > 0) scores[i] += score * some / all;
            }
        if (all > 0) return;
    }
}

/* What the caller sees of the sentences. */
static bool keep_units(const dsx__texts *t) {
    dsx__explaining *e = t->e;

    free(e->units);
    e->out.units = e->units = malloc((t->n_units + 1) * sizeof *e->units);
    for (size_t i = 0; e->units != NULL && i < t->n_units; i++) e->units[i] = t->units[i].bytes;
    e->out.n_units = t->n_units;
    return e->units != NULL;
}

/* What sentences are worth one by one says nothing where several say the same. */
static bool warn_of_small(dsx__explaining *e, const double *w, size_t n) {
    double best = 0;

    for (size_t i = 0; i < n; i++) best = fmax(best, w[i]);
    return n == 0 || best >= 0.1 ||
           dsx__explain_warn(
               e, "NONE_NEEDED",
               "without any one sentence the answer is as likely: several may say the same, or the "
               "model knows it");
}

static bool add_masks(dsx__texts *t, size_t *index, uint32_t n) {
    uint8_t *mask = malloc(t->n_units + 1);
    bool ok = mask != NULL;
    size_t one;

    if (ok) memset(mask, 1, t->n_units + 1);
    ok = ok && dsx__texts_add(t, mask, &one);
    if (t->e->options->method == DSX_METHOD_ABLATE) {
        free(mask);
        return ok && dsx__texts_add_random(t, n, t->e->options->seed, FIT, index);
    }
    for (size_t i = 0; ok && i < t->n_units; i++) {
        mask[i] = 0;
        ok = dsx__texts_add(t, mask, &one);
        mask[i] = 1;
    }
    free(mask);
    return ok;
}

/* Scores of sentences from the removals that were read. */
static bool fit(const dsx__texts *t, const size_t *index, uint32_t n, double *w) {
    double *y = malloc((n + 1) * sizeof *y), n_tokens = (double)(t->e->out.to - t->e->out.from);
    uint8_t *x = malloc(n * t->n_units + 1);
    bool ok = y != NULL && x != NULL;

    for (uint32_t i = 0; ok && i < n; i++) {
        y[i] = t->values[index[i]] / n_tokens;
        memcpy(x + i * t->n_units, t->masks + index[i] * t->n_units, t->n_units);
    }
    ok = ok && dsx__lasso(x, y, n, t->n_units, alpha, w, &t->e->out.sums.bias);
    for (size_t k = 0; ok && k < t->n_units; k++) w[k] *= n_tokens;
    if (ok) t->e->out.sums.bias *= n_tokens;
    free(x);
    free(y);
    return ok;
}

static bool keep_worth(const dsx__texts *t, double *w) {
    dsx__explaining *e = t->e;
    bool by_logprob = e->foil < 0;

    e->out.worth = e->worth = malloc((t->n_units + 1) * sizeof *e->worth);
    for (size_t i = 0; e->worth != NULL && i < t->n_units; i++) {
        e->worth[i] = t->logprobs[0] - t->logprobs[i + 1];
        w[i] = by_logprob ? e->worth[i] : t->values[0] - t->values[i + 1];
    }
    return e->worth != NULL && warn_of_small(e, w, t->n_units);
}

static dstok_status score(dsx__texts *t, size_t *index, double *w, dstok_error *err) {
    dsx__explaining *e = t->e;
    bool loo = e->options->method == DSX_METHOD_LOO, ok;
    uint32_t n = e->options->masks > 0 ? e->options->masks : MASKS;

    if (t->n_units < 32 && n > (uint64_t)1 << t->n_units) n = 1u << t->n_units;
    ok = add_masks(t, index, n);
    if (ok) DSX_TRY(dsx__texts_read(t, err));
    e->out.logprob = ok ? t->logprobs[0] : 0;
    e->out.value = ok && loo && e->foil < 0 ? t->logprobs[0] : ok ? t->values[0] : 0;
    ok = ok && (loo ? keep_worth(t, w) : fit(t, index, n, w));
    for (size_t i = 0; ok && i < t->n_units; i++) spread(t->p, &t->units[i], w[i], e->scores, e->out.n);
    return ok && keep_units(t) ? DSTOK_OK : dsx__no_memory(err);
}

dstok_status dsx__ablate(dsx_prompt *p, dsx__explaining *e, dstok_error *err) {
    size_t n = e->options->masks > 0 ? e->options->masks : MASKS;
    size_t *index = malloc(n * sizeof *index);
    dsx__texts t;
    dstok_status status = dsx__texts_new(p, e, &t, err);
    double *w = malloc((t.n_units + 1) * sizeof *w);

    e->out.n = e->out.to - 1;
    e->scores = calloc(e->out.n + 1, sizeof *e->scores);
    if (status == DSTOK_OK && (index == NULL || w == NULL || e->scores == NULL)) status = dsx__no_memory(err);
    if (status == DSTOK_OK) status = score(&t, index, w, err);
    dsx__texts_free(&t);
    free(index);
    free(w);
    return status;
}

/* ---- refine */

typedef struct found {
    double score;
    size_t unit;
} found;

static int compare(const void *a, const void *b) {
    const found *x = a, *y = b;

    if (fabs(x->score) != fabs(y->score)) return fabs(x->score) < fabs(y->score) ? 1 : -1;
    return x->unit < y->unit ? -1 : 1;
}

/* The sentences that are taken out, from the best on; how many. */
static size_t find_best(const dsx__texts *t, found *list) {
    size_t n = 0, most = t->e->options->masks > 0 ? t->e->options->masks : MASKS;

    for (size_t i = 0; i < t->n_units; i++) list[i] = (found){t->units[i].score, i};
    qsort(list, t->n_units, sizeof *list, compare);
    while (n < t->n_units && n < most && list[n].score != 0 &&
           fabs(list[n].score) >= least_share * fabs(list[0].score))
        n++;
    return n;
}

/* Scores of tokens in each of the sentences times a factor, so that the sentence has its own. */
static void scale(const dsx__texts *t, const found *list, size_t n, const double *w, double *scores) {
    const dsx_prompt *p = t->p;

    for (size_t k = 0; k < n; k++) {
        const dsx__unit *u = &t->units[list[k].unit];

        double sum = 0, worth = w[list[k].unit];

        for (size_t i = 0; i < t->e->out.n && p->spans[i].begin < u->bytes.end; i++) {
            if (dsx__share(p->spans[i], u->bytes) < 1) continue;
            scores[i] = t->e->scores[i] * worth / u->score;
            sum += scores[i];
        }
        spread(p, u, worth - sum, scores, t->e->out.n); /* what tokens across its borders had */
    }
}

static dstok_status refine(dsx__texts *t, found *list, double *scores, double *w, dstok_error *err) {
    dsx__explaining *e = t->e;
    size_t n = find_best(t, list), all;
    uint8_t *mask = malloc(t->n_units + 1);
    bool ok = mask != NULL;

    if (ok) memset(mask, 1, t->n_units + 1);
    ok = ok && dsx__texts_add(t, mask, &all);
    for (size_t k = 0; ok && k < n; k++) {
        mask[list[k].unit] = 0;
        ok = dsx__texts_add(t, mask, &all);
        mask[list[k].unit] = 1;
    }
    free(mask);
    free(e->worth);
    e->out.worth = e->worth = malloc((t->n_units + 1) * sizeof *e->worth);
    if (!ok || e->worth == NULL || !keep_units(t)) return dsx__no_memory(err);
    DSX_TRY(dsx__texts_read(t, err));
    for (size_t i = 0; i < t->n_units; i++) e->worth[i] = NAN;
    for (size_t k = 0; k < n; k++) {
        e->worth[list[k].unit] = t->logprobs[0] - t->logprobs[k + 1];
        w[list[k].unit] = e->foil < 0 ? e->worth[list[k].unit] : t->values[0] - t->values[k + 1];
    }
    scale(t, list, n, w, scores);
    e->out.value = e->foil < 0 ? t->logprobs[0] : t->values[0];
    e->out.sums.bias = 0;
    return warn_of_small(e, w, t->n_units) ? DSTOK_OK : dsx__no_memory(err);
}

dstok_status dsx__refine(dsx_prompt *p, dsx__explaining *e, dstok_error *err) {
    dsx__texts t;
    dstok_status status = dsx__texts_new(p, e, &t, err);
    found *list = malloc((t.n_units + 1) * sizeof *list);
    double *scores = calloc(e->out.n + 1, sizeof *scores), *w = calloc(t.n_units + 1, sizeof *w);

    if (status == DSTOK_OK && (list == NULL || scores == NULL || w == NULL)) status = dsx__no_memory(err);
    if (status == DSTOK_OK) status = refine(&t, list, scores, w, err);
    if (status == DSTOK_OK) {
        free(e->scores);
        e->scores = scores;
        scores = NULL;
    }
    free(scores);
    free(list);
    free(w);
    dsx__texts_free(&t);
    return status;
}
