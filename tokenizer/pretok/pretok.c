/* SPDX-License-Identifier: MIT */
/* The runner: cuts a text by a list of steps, each inside each piece of the one before, without storing pieces. */
#include "pretok.h"
#include "scan.h"

#include <string.h>

/* A plain-string pattern is searched for by comparing at each place, so its length is bounded. */
#define MAX_LITERAL 4096u

/* One of scan, regex is set for STEP_REGEX, none for the other kinds. */
typedef struct step_runner {
    dstok__scan_fn *scan;
    dstok__regex *regex;
} step_runner;

struct dstok__pretok {
    dstok_alloc al;
    const dstok__family *family;
    size_t n_steps;
    dstok__step steps[DSTOK__MAX_STEPS];
    step_runner runners[DSTOK__MAX_STEPS];
};

/* ---- life ---- */

static dstok_status add_step(dstok__pretok *p, const dstok__step *step, bool use_scanners, dstok_error *err) {
    size_t i = p->n_steps;
    if (step->kind == DSTOK__STEP_LITERAL && step->n > MAX_LITERAL)
        return dstok__fail(
            err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
            "pretokenizer step %zu: a plain-string pattern of %zu bytes, at most %u are allowed", i + 1,
            step->n, MAX_LITERAL);
    char *copy = dstok__alloc(&p->al, step->n);
    if (copy == NULL && step->n > 0)
        return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0,
                           "out of memory for a pretokenizer pattern");
    if (step->n > 0) memcpy(copy, step->pattern, step->n);
    p->steps[i] = *step;
    p->steps[i].pattern = copy;
    p->n_steps++;

    if (step->kind != DSTOK__STEP_REGEX || p->family != NULL) return DSTOK_OK;
    const dstok__family *alone = use_scanners ? dstok__family_find(step, 1) : NULL;
    if (alone != NULL) {
        p->runners[i].scan = alone->scan;
        return DSTOK_OK;
    }
    return dstok__regex_new(&p->al, copy, step->n, step->dialect, &p->runners[i].regex, err);
}

dstok_status dstok__pretok_new(const dstok_alloc *al, const dstok__step *steps, size_t n, bool use_scanners,
                               dstok__pretok **out, dstok_error *err) {
    if (n > DSTOK__MAX_STEPS)
        return dstok__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
                           "%zu pretokenizer steps, at most %d are allowed", n, DSTOK__MAX_STEPS);
    dstok__pretok *p = dstok__alloc_zeroed(al, 1, sizeof *p);
    if (p == NULL)
        return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for the pretokenizer");
    p->al = *al;
    p->family = use_scanners ? dstok__family_find(steps, n) : NULL;
    for (size_t i = 0; i < n; i++) {
        dstok_status status = add_step(p, &steps[i], use_scanners, err);
        if (status != DSTOK_OK) {
            dstok__pretok_free(p);
            return status;
        }
    }
    *out = p;
    return DSTOK_OK;
}

void dstok__pretok_free(dstok__pretok *p) {
    if (p == NULL) return;
    dstok_alloc al = p->al;
    for (size_t i = 0; i < p->n_steps; i++) {
        dstok__regex_free(p->runners[i].regex);
        dstok__free(&al, (void *)p->steps[i].pattern, p->steps[i].n);
    }
    dstok__free(&al, p, sizeof *p);
}

const dstok__family *dstok__pretok_family(const dstok__pretok *p) {
    return p->family;
}
size_t dstok__pretok_step_count(const dstok__pretok *p) {
    return p->n_steps;
}
const dstok__step *dstok__pretok_step(const dstok__pretok *p, size_t i) {
    return &p->steps[i];
}

/* ---- one run ---- */

typedef struct run {
    const dstok__pretok *p;
    dstok__regex_scratch *scratch;
    const uint8_t *text;
    dstok__piece_fn *emit;
    void *ctx;
    dstok_error *err;
} run;

static dstok_status run_step(const run *r, size_t step, size_t begin, size_t end);

/* ---- what becomes of matches and gaps ---- */

/* Joins the stretches of one piece, which come in order and without holes, into the pieces of the next step. */
typedef struct joiner {
    const run *r;
    size_t step;
    size_t begin, end; /* the piece that may still grow */
    bool has_piece;
    bool was_match; /* of the stretch before; false at the start */
} joiner;

static dstok_status flush(joiner *j) {
    if (!j->has_piece) return DSTOK_OK;
    j->has_piece = false;
    return run_step(j->r, j->step + 1, j->begin, j->end);
}

/* Does this stretch go to the piece before it? */
static bool joins(const joiner *j, dstok__behavior behavior, bool is_match) {
    if (!j->has_piece) return false;
    switch (behavior) {
    case DSTOK__MERGED_WITH_PREVIOUS:
        return is_match && !j->was_match;
    case DSTOK__MERGED_WITH_NEXT:
        return !is_match && j->was_match;
    case DSTOK__CONTIGUOUS:
        return is_match == j->was_match;
    case DSTOK__REMOVED:
    case DSTOK__ISOLATED:
        break;
    }
    return false;
}

static dstok_status add(joiner *j, size_t begin, size_t end, bool is_match) {
    const dstok__step *step = &j->r->p->steps[j->step];
    if (step->invert) is_match = !is_match;
    if (step->behavior == DSTOK__REMOVED && is_match) return DSTOK_OK;
    if (joins(j, step->behavior, is_match)) {
        j->end = end;
    } else {
        DSTOK_TRY(flush(j));
        j->begin = begin;
        j->end = end;
        j->has_piece = true;
    }
    j->was_match = is_match;
    return DSTOK_OK;
}

/* ---- matches ---- */

/* *begin = SIZE_MAX when nothing is found at or after pos. */
static void find_literal(const dstok__step *step, const uint8_t *text, size_t len, size_t pos, size_t *begin,
                         size_t *end) {
    *begin = SIZE_MAX;
    while (step->n <= len - pos) {
        const uint8_t *at = text + pos;
        if (step->n > 0) at = memchr(at, step->pattern[0], len - pos - (step->n - 1));
        if (at == NULL) return;
        pos = (size_t)(at - text);
        if (step->n == 0 || memcmp(at, step->pattern, step->n) == 0) {
            *begin = pos;
            *end = pos + step->n;
            return;
        }
        pos++;
    }
}

static void find_class(bool (*is_match)(uint32_t cp), const uint8_t *text, size_t len, size_t pos,
                       size_t *begin, size_t *end) {
    *begin = SIZE_MAX;
    while (pos < len) {
        uint32_t cp = dstok__decode(text, pos, end);
        if (is_match(cp)) {
            *begin = pos;
            return;
        }
        pos = *end;
    }
}

static dstok_status find(const run *r, size_t i, const uint8_t *text, size_t len, size_t pos, size_t *begin,
                         size_t *end) {
    const dstok__step *step = &r->p->steps[i];
    const step_runner *runner = &r->p->runners[i];
    if (runner->scan != NULL) {
        *begin = pos < len ? pos : SIZE_MAX;
        if (pos < len) *end = runner->scan(text, len, pos);
        return DSTOK_OK;
    }
    if (runner->regex != NULL)
        return dstok__regex_find(runner->regex, r->scratch, text, len, pos, begin, end, r->err);
    switch (step->kind) {
    case DSTOK__STEP_LITERAL:
        find_literal(step, text, len, pos, begin, end);
        break;
    case DSTOK__STEP_DIGITS:
        find_class(dstok__is_digits_step, text, len, pos, begin, end);
        break;
    case DSTOK__STEP_PUNCTUATION:
        find_class(dstok__is_punctuation_step, text, len, pos, begin, end);
        break;
    case DSTOK__STEP_REGEX:
        break; /* has a scanner or a regex */
    }
    return DSTOK_OK;
}

/* ---- steps ---- */

/* Cuts text[begin, end) of the run by one step. An empty match right behind the match before it does not count: the
 * search goes on one code point later, as in the engine that the reference uses. */
static dstok_status split(const run *r, size_t step, size_t begin, size_t end) {
    const uint8_t *text = r->text + begin;
    size_t len = end - begin, pos = 0, done = 0, last_match = SIZE_MAX, b, e;
    joiner j = {.r = r, .step = step};
    while (pos <= len) {
        dstok_status status = find(r, step, text, len, pos, &b, &e);
        if (status != DSTOK_OK) {
            if (r->err != NULL && r->err->offset != DSTOK_NO_OFFSET) r->err->offset += begin;
            return status;
        }
        if (b == SIZE_MAX) break;
        if (b == e && e == last_match) {
            if (pos == len) break;
            (void)dstok__decode(text, pos, &pos);
            continue;
        }
        if (done != b) DSTOK_TRY(add(&j, begin + done, begin + b, false));
        DSTOK_TRY(add(&j, begin + b, begin + e, true));
        done = pos = last_match = e;
    }
    if (done != len) DSTOK_TRY(add(&j, begin + done, end, false));
    return flush(&j);
}

/* Recursion goes as deep as there are steps, DSTOK__MAX_STEPS at most. */
static dstok_status run_step(const run *r, size_t step, size_t begin, size_t end) {
    if (begin == end) return DSTOK_OK;
    if (step == r->p->n_steps) return r->emit(r->ctx, begin, end);
    return split(r, step, begin, end);
}

dstok_status dstok__pretok_run(const dstok__pretok *p, dstok__regex_scratch *scratch, const uint8_t *text,
                               size_t len, dstok__piece_fn *emit, void *ctx, dstok_error *err) {
    if (p->family != NULL) {
        for (size_t pos = 0, end; pos < len; pos = end) {
            end = p->family->scan(text, len, pos);
            DSTOK_TRY(emit(ctx, pos, end));
        }
        return DSTOK_OK;
    }
    run r = {.p = p, .scratch = scratch, .text = text, .emit = emit, .ctx = ctx, .err = err};
    return run_step(&r, 0, 0, len);
}
