/* SPDX-License-Identifier: MIT */
/* How well scores foretell what the model does when sentences are taken out. All removals are read together:
 *   random ones            LDS: rank correlation of the sum of kept scores with the log-probability
 *   the best 1, 3, 5 out   how far the log-probability falls
 *   the best r % out, or alone (ERASER: DeYoung et al. 2020), rounded up
 *   each of the best few, and each two of them: where two together are worth much more than one and the other, one
 *                          says what the other says
 *   no source at all */
#include "base.h"
#include "explain/fit.h"
#include "explain/texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK = 2, BEST = 8, PAIRS = BEST * (BEST - 1) / 2, SHARES = 5 };

static const size_t tops[3] = {1, 3, 5};
static const double shares[SHARES] = {0.01, 0.05, 0.1, 0.2, 0.5};

typedef struct plan {
    dsx__texts t;
    size_t *order; /* sentences from the best on */
    uint8_t *mask;
    size_t *random; /* which texts are what */
    uint32_t n_random;
    size_t all, none, without[3], share_without[SHARES], share_alone[SHARES], single[BEST], pair[PAIRS];
    size_t n_best;
    double *kept, *logprobs; /* [n_random] */
} plan;

static int compare(const void *a, const void *b) {
    const dsx__unit *const *x = a, *const *y = b;

    if ((*x)->score != (*y)->score) return (*x)->score < (*y)->score ? 1 : -1;
    return *x < *y ? -1 : 1;
}

static bool sort_units(plan *p) {
    const dsx__unit **by = malloc((p->t.n_units + 1) * sizeof *by);

    if (by == NULL) return false;
    for (size_t i = 0; i < p->t.n_units; i++) by[i] = &p->t.units[i];
    qsort(by, p->t.n_units, sizeof *by, compare);
    for (size_t i = 0; i < p->t.n_units; i++) p->order[i] = (size_t)(by[i] - p->t.units);
    free(by);
    return true;
}

static bool room(plan *p, uint32_t n) {
    size_t units = p->t.n_units;

    if (units < 32 && n > (uint64_t)1 << units) n = 1u << units;
    p->n_random = n;
    p->n_best = units < BEST ? units : BEST;
    p->order = malloc((units + 1) * sizeof *p->order);
    p->mask = malloc(units + 1);
    p->random = malloc((n + 1) * sizeof *p->random);
    p->kept = malloc((n + 1) * sizeof *p->kept);
    p->logprobs = malloc((n + 1) * sizeof *p->logprobs);
    return p->order && p->mask && p->random && p->kept && p->logprobs && sort_units(p);
}

static void free_plan(plan *p) {
    dsx__texts_free(&p->t);
    free(p->order);
    free(p->mask);
    free(p->random);
    free(p->kept);
    free(p->logprobs);
}

/* ---- what is read */

/* The best n sentences have this in the mask, the others the opposite. */
static bool add_best(plan *p, size_t n, uint8_t kept, size_t *index) {
    memset(p->mask, !kept, p->t.n_units);
    for (size_t i = 0; i < n && i < p->t.n_units; i++) p->mask[p->order[i]] = kept;
    return dsx__texts_add(&p->t, p->mask, index);
}

static bool add_two(plan *p, size_t a, size_t b, size_t *index) {
    memset(p->mask, 1, p->t.n_units);
    p->mask[p->order[a]] = p->mask[p->order[b]] = 0;
    return dsx__texts_add(&p->t, p->mask, index);
}

static bool add_texts(plan *p) {
    const dsx_explain_options *o = p->t.e->options;
    bool ok = add_best(p, 0, 0, &p->all) && add_best(p, 0, 1, &p->none);
    size_t k = 0;

    for (int i = 0; ok && i < 3; i++) ok = add_best(p, tops[i], 0, &p->without[i]);
    for (int i = 0; ok && i < SHARES; i++) {
        size_t n = (size_t)ceil(shares[i] * (double)p->t.n_units);

        ok = add_best(p, n, 0, &p->share_without[i]) && add_best(p, n, 1, &p->share_alone[i]);
    }
    for (size_t a = 0; ok && a < p->n_best; a++) {
        ok = add_two(p, a, a, &p->single[a]);
        for (size_t b = 0; ok && b < a; b++) ok = add_two(p, a, b, &p->pair[k++]);
    }
    return ok && dsx__texts_add_random(&p->t, p->n_random, o->seed, CHECK, p->random);
}

/* ---- what it says */

static bool rank_correlation(plan *p) {
    const dsx__texts *t = &p->t;

    for (uint32_t i = 0; i < p->n_random; i++) {
        p->logprobs[i] = t->logprobs[p->random[i]];
        p->kept[i] = 0;
        for (size_t k = 0; k < t->n_units; k++)
            p->kept[i] += t->masks[p->random[i] * t->n_units + k] ? t->units[k].score : 0;
    }
    return dsx__spearman(p->kept, p->logprobs, p->n_random, &t->e->out.trust.lds);
}

static void measure(const plan *p) {
    dsx_trust *out = &p->t.e->out.trust;
    const double *logprobs = p->t.logprobs;
    double all = logprobs[p->all], whole = all - logprobs[p->none];

    out->n_masks = p->n_random;
    out->n_forward = (uint32_t)p->t.n;
    out->prior = logprobs[p->none];
    for (int i = 0; i < 3; i++) out->drop[i] = all - logprobs[p->without[i]];
    if (!(whole > 0)) return; /* shares of nothing */
    out->comprehensiveness = out->sufficiency = 0;
    for (int i = 0; i < SHARES; i++) {
        out->comprehensiveness += (all - logprobs[p->share_without[i]]) / whole / SHARES;
        out->sufficiency += (all - logprobs[p->share_alone[i]]) / whole / SHARES;
    }
}

static size_t root(const size_t *parent, size_t i) {
    while (parent[i] != i) i = parent[i];
    return i;
}

/* Two of the best sentences belong together where both are worth twice what they are one by one, and a nat
 * more. */
static void find_groups(const plan *p, size_t parent[BEST]) {
    const double *logprobs = p->t.logprobs;
    double all = logprobs[p->all];
    size_t k = 0;

    for (size_t a = 0; a < p->n_best; a++) {
        parent[a] = a;
        for (size_t b = 0; b < a; b++, k++) {
            double one = fmax(all - logprobs[p->single[a]], 0), other = fmax(all - logprobs[p->single[b]], 0),
                   both = all - logprobs[p->pair[k]];

            if (both > 2 * (one + other) && both > one + other + 1) parent[root(parent, a)] = root(parent, b);
        }
    }
}

/* Numbers of groups of more than one, from 1 on, by the place of their first sentence; how many. */
static uint32_t number_groups(const plan *p, const size_t parent[BEST], uint32_t *redundant) {
    uint32_t number[BEST] = {0}, n = 0, size[BEST] = {0};

    for (size_t i = 0; i < p->n_best; i++) size[root(parent, i)]++;
    for (size_t unit = 0; unit < p->t.n_units; unit++)
        for (size_t i = 0; i < p->n_best; i++) {
            size_t of = root(parent, i);

            if (p->order[i] != unit || size[of] < 2) continue;
            if (number[of] == 0) number[of] = ++n;
            redundant[unit] = number[of];
        }
    return n;
}

static bool keep(plan *p) {
    dsx__explaining *e = p->t.e;
    size_t parent[BEST], n = p->t.n_units;
    bool has_worth = e->worth != NULL;

    free(e->units);
    e->out.units = e->units = malloc((n + 1) * sizeof *e->units);
    e->out.redundant = e->redundant = calloc(n + 1, sizeof *e->redundant);
    if (!has_worth) e->out.worth = e->worth = malloc((n + 1) * sizeof *e->worth);
    if (e->units == NULL || e->redundant == NULL || e->worth == NULL) return false;
    e->out.n_units = n;
    for (size_t i = 0; i < n; i++) {
        e->units[i] = p->t.units[i].bytes;
        if (!has_worth) e->worth[i] = NAN;
    }
    for (size_t i = 0; i < p->n_best; i++)
        e->worth[p->order[i]] = p->t.logprobs[p->all] - p->t.logprobs[p->single[i]];
    find_groups(p, parent);
    (void)number_groups(p, parent, e->redundant);
    return true;
}

static bool warn(const plan *p) {
    dsx__explaining *e = p->t.e;
    const dsx_trust *out = &e->out.trust;
    bool repeated = e->redundant[p->order[0]] > 0, ok = true;

    if (out->prior >= p->t.logprobs[p->all] - 0.5)
        ok = dsx__explain_warn(e, "SOURCES_NOT_NEEDED",
                               "the answer would be about as likely without any source");
    else if (repeated)
        ok = dsx__explain_warn(e, "REDUNDANT",
                               "more than one sentence says the same: none of them alone is needed");
    else if (out->drop[0] < 0.1)
        ok = dsx__explain_warn(e, "TOP_NOT_NEEDED",
                               "the answer is as likely without the sentence of the highest score");
    if (isfinite(out->lds) && out->lds < 0.5)
        ok = ok &&
             dsx__explain_warn(e, "LDS_LOW",
                               "scores hardly foretell what the model does when sentences are taken out");
    return ok;
}

dstok_status dsx__trust(dsx_prompt *prompt, dsx__explaining *e, dstok_error *err) {
    plan p = {0};
    dstok_status status = dsx__texts_new(prompt, e, &p.t, err);

    if (status == DSTOK_OK && p.t.n_units > 0) {
        status =
            room(&p, e->options->verify) && add_texts(&p) ? dsx__texts_read(&p.t, err) : dsx__no_memory(err);
        if (status == DSTOK_OK) {
            measure(&p);
            if (!rank_correlation(&p) || !keep(&p) || !warn(&p)) status = dsx__no_memory(err);
        }
    }
    free_plan(&p);
    return status;
}
