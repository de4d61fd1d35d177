/* SPDX-License-Identifier: MIT */
/* A pretokenizer: its steps checked and compiled. */
#include "run.h"

/* A plain-string pattern is searched for by comparing at each place, so its length is bounded. */
#define MAX_LITERAL 4096u

/* ---- checks ---- */

static dstok_status refuse(dstok_error *err, size_t i, const char *what) {
    return dstok__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, 0, "pretokenizer step %zu: %s", i + 1,
                       what);
}

static bool is_one_character(const char *text, size_t n) {
    uint8_t lead = n > 0 ? (uint8_t)text[0] : 0; /* a NUL cannot stand in a mark */
    size_t width = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if (((uint8_t)text[i] & 0xC0) != 0x80) return false;
    return lead != 0 && n == width;
}

static dstok_status check_meta(const dstok__pretok *p, const dstok__step *step, size_t i, dstok_error *err) {
    if (!is_one_character(step->pattern, step->n))
        return refuse(err, i, "Metaspace with a replacement that is not one character");
    if (p->has_byte_map && step->prepend != DSTOK__PREPEND_NEVER)
        return refuse(err, i, "Metaspace that puts a prefix behind ByteLevel");
    return DSTOK_OK;
}

static dstok_status check_step(const dstok__pretok *p, const dstok__step *step, size_t i, dstok_error *err) {
    switch (step->kind) {
    case DSTOK__STEP_LITERAL:
        if (step->n <= MAX_LITERAL) return DSTOK_OK;
        return dstok__fail(
            err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, 0,
            "pretokenizer step %zu: a plain-string pattern of %zu bytes, at most %u are allowed", i + 1,
            step->n, MAX_LITERAL);
    case DSTOK__STEP_FIXED:
        return step->length > 0 ? DSTOK_OK : refuse(err, i, "FixedLength of length 0");
    case DSTOK__STEP_META:
        return check_meta(p, step, i, err);
    case DSTOK__STEP_PREFIX:
    case DSTOK__STEP_BYTE_MAP:
        return p->has_byte_map ? refuse(err, i, "a second ByteLevel behind ByteLevel") : DSTOK_OK;
    default:
        return DSTOK_OK;
    }
}

/* ---- life ---- */

static dstok_status add_step(dstok__pretok *p, const dstok__step *step, bool use_scanners, dstok_error *err) {
    size_t i = p->n_steps;
    DSTOK_TRY(check_step(p, step, i, err));
    p->steps[i] = *step;
    p->n_steps++;
    dstok__step_runner *runner = &p->runners[i];
    switch (step->kind) {
    case DSTOK__STEP_META:
        memcpy(runner->mark, step->pattern, step->n); /* with the NUL behind it that was there */
        p->needs_scratch = true;
        return DSTOK_OK;
    case DSTOK__STEP_BYTE_MAP:
        p->has_byte_map = true;
        p->needs_scratch = true;
        return DSTOK_OK;
    case DSTOK__STEP_PREFIX:
        p->needs_scratch = true;
        return DSTOK_OK;
    case DSTOK__STEP_REGEX:
        break;
    default:
        return DSTOK_OK;
    }
    if (p->family != NULL) return DSTOK_OK;
    const dstok__family *alone = use_scanners ? dstok__family_find(step, 1) : NULL;
    if (alone != NULL) {
        runner->scan = alone->scan;
        return DSTOK_OK;
    }
    p->needs_scratch = true;
    return dstok__regex_new(&p->al, step->pattern, step->n, step->dialect, &runner->regex, err);
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
    for (size_t i = 0; i < p->n_steps; i++) dstok__regex_free(p->runners[i].regex);
    dstok_alloc al = p->al;
    dstok__free(&al, p, sizeof *p);
}

/* ---- what it is ---- */

const dstok__family *dstok__pretok_family(const dstok__pretok *p) {
    return p->family;
}
bool dstok__pretok_needs_scratch(const dstok__pretok *p) {
    return p->needs_scratch;
}

/* size * factor + more, or SIZE_MAX. */
static size_t grown(size_t size, size_t factor, size_t more) {
    return size <= (SIZE_MAX - more) / factor ? size * factor + more : SIZE_MAX;
}

/* A prefix is put once while the text is whole, and may be put before every byte behind a step that cuts. */
size_t dstok__pretok_bound(const dstok__pretok *p, size_t len) {
    bool is_cut = false;
    if (len == 0) return 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        const dstok__step *step = &p->steps[i];
        bool is_meta = step->kind == DSTOK__STEP_META;
        if (!is_meta && step->kind != DSTOK__STEP_PREFIX) {
            is_cut = true; /* nothing is put before a piece behind a byte map */
            continue;
        }
        size_t factor = is_meta ? step->n : 1;
        size_t prefix = !is_meta ? 1 : step->prepend == DSTOK__PREPEND_NEVER ? 0 : step->n;
        len = is_cut ? grown(len, factor + prefix, 0) : grown(len, factor, prefix);
    }
    return len;
}
