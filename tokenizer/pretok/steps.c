/* SPDX-License-Identifier: MIT */
/* The runner: cuts a text by a list of steps, each inside each piece of the one before, without storing
 * pieces. */
#include "run.h"

/* ---- what becomes of matches and gaps ---- */

/* Joins the stretches of one piece, which come in order and without holes, into the pieces of the next step. */
typedef struct joiner {
    const dstok__pretok_pass *r;
    dstok__view *v;
    size_t step;
    size_t begin, end; /* the piece that may still grow */
    bool has_piece;
    bool was_match; /* of the stretch before; false at the start */
} joiner;

static dstok_status flush(joiner *j) {
    if (!j->has_piece) return DSTOK_OK;
    j->has_piece = false;
    return dstok__run_step(j->r, j->v, j->step + 1, j->begin, j->end);
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

static bool is_word_or_space(uint32_t cp) {
    return (dstok__uc_record(cp) & (DSTOK_UC_WORD | DSTOK_UC_SPACE)) != 0;
}

/* \w+|[^\w\s]+ */
static void find_words(const uint8_t *text, size_t len, size_t pos, size_t *begin, size_t *end) {
    size_t next;
    *begin = SIZE_MAX;
    while (pos < len && dstok__uc_is_space(dstok__decode(text, pos, &next))) pos = next;
    if (pos == len) return;
    *begin = pos;
    bool is_word = dstok__uc_is_word(dstok__decode(text, pos, &next));
    for (*end = next; *end < len; *end = next) {
        uint32_t cp = dstok__decode(text, *end, &next);
        if (is_word ? !dstok__uc_is_word(cp) : is_word_or_space(cp)) break;
    }
}

static dstok_status find(const dstok__pretok_pass *r, size_t i, bool is_open, const uint8_t *text, size_t len,
                         size_t pos, size_t *begin, size_t *end) {
    const dstok__step *step = &r->p->steps[i];
    const dstok__step_runner *runner = &r->p->runners[i];
    if (runner->scan != NULL) {
        *begin = pos < len ? pos : SIZE_MAX;
        if (pos < len) *end = runner->scan(text, len, pos);
        return DSTOK_OK;
    }
    if (runner->regex != NULL && is_open)
        return dstok__regex_find_open(runner->regex, r->scratch->regex, text, len, pos, begin, end, r->err);
    if (runner->regex != NULL)
        return dstok__regex_find(runner->regex, r->scratch->regex, text, len, pos, begin, end, r->err);
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
    case DSTOK__STEP_BLANK:
        find_class(dstok__uc_is_space, text, len, pos, begin, end);
        break;
    default: /* STEP_WORDS: a regular expression has a scanner or a regex, and the others search for nothing */
        find_words(text, len, pos, begin, end);
        break;
    }
    return DSTOK_OK;
}

/* ---- texts that go on ---- */

size_t dstok__run_first_cut(const dstok__pretok *p) {
    size_t i = 0;
    while (i < p->n_steps && p->steps[i].kind >= DSTOK__STEP_PREFIX) i++;
    return i;
}

dstok__prefixes dstok__pretok_prefixes(const dstok__pretok *p) {
    size_t first = dstok__run_first_cut(p), before = 0, behind = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        const dstok__step *step = &p->steps[i];
        bool puts = step->kind == DSTOK__STEP_PREFIX ||
                    (step->kind == DSTOK__STEP_META && step->prepend != DSTOK__PREPEND_NEVER);
        if (puts && i < first) before++;
        if (puts && i > first) behind++;
    }
    if (before == 0) return DSTOK__PREFIXES_BEHIND;
    return behind == 0 ? DSTOK__PREFIXES_BEFORE : DSTOK__PREFIXES_BOTH;
}

bool dstok__pretok_is_whole(const dstok__pretok *p) {
    return dstok__run_first_cut(p) == p->n_steps;
}

/* Does the text go on behind the one that this step looks at? Steps behind the first one that cuts see
 * pieces that are complete. */
static bool is_open_at(const dstok__pretok_pass *r, size_t step) {
    return r->scratch != NULL && r->scratch->is_open && step == dstok__run_first_cut(r->p);
}

/* From text[at] of the view on nothing is sure. */
static void leave_out(const dstok__pretok_pass *r, dstok__view *v, size_t at) {
    r->scratch->open_end = dstok__run_place(v, at);
}

/* Is this answer sure where text follows that is not known? A scanner's (n: of the text behind the match
 * that is known) is where that holds four runs of one kind: none looks further than to the end of the
 * second one. */
static bool is_sure(const dstok__pretok_pass *r, size_t step, const uint8_t *text, size_t len, size_t begin,
                    size_t end) {
    if (begin == SIZE_MAX || end == len) return false;
    if (r->p->runners[step].scan == NULL) return true;
    unsigned before = 0;
    for (size_t n = 0; end < len;) {
        unsigned kind = dstok__kind_at(text, len, end, &end);
        if (kind != before && ++n == 5) return true;
        before = kind;
    }
    return false;
}

/* What was found up to `done` is sure; the piece that may still grow is not. */
static dstok_status stop_open(joiner *j, size_t done) {
    dstok__behavior behavior = j->r->p->steps[j->step].behavior;
    if (behavior == DSTOK__ISOLATED || behavior == DSTOK__REMOVED) {
        DSTOK_TRY(flush(j));
    } else if (j->has_piece) {
        done = j->begin;
    }
    leave_out(j->r, j->v, done);
    return DSTOK_OK;
}

/* ---- steps ---- */

/* Cuts by what a step finds. An empty match right behind the match before it does not count: the search
 * goes on one code point later, as in the engine that the reference uses. */
static dstok_status split(const dstok__pretok_pass *r, dstok__view *v, size_t step, size_t begin,
                          size_t end) {
    const uint8_t *text = v->text + begin;
    size_t len = end - begin, pos = 0, done = 0, last_match = SIZE_MAX, b = SIZE_MAX, e = 0;
    joiner j = {.r = r, .v = v, .step = step};
    bool is_open = is_open_at(r, step);
    while (pos <= len) {
        dstok_status status = find(r, step, is_open, text, len, pos, &b, &e);
        if (status == DSTOK__FIND_MORE ||
            (is_open && status == DSTOK_OK && !is_sure(r, step, text, len, b, e)))
            return stop_open(&j, begin + done);
        if (status != DSTOK_OK) {
            if (r->err != NULL && r->err->offset != DSTOK_NO_OFFSET)
                r->err->offset = dstok__run_place(v, begin + (size_t)r->err->offset);
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

/* Cuts before each code point of another script than the last one that had one. What stands before the
 * first such code point is lost, as in the reference. */
static dstok_status split_scripts(const dstok__pretok_pass *r, dstok__view *v, size_t step, size_t begin,
                                  size_t end) {
    size_t piece = end, next;
    unsigned last = 0;
    for (size_t pos = begin; pos < end; pos = next) {
        unsigned script = dstok__uc_script(dstok__decode(v->text, pos, &next));
        if (script == 0 || script == last) continue;
        if (last != 0) DSTOK_TRY(dstok__run_step(r, v, step + 1, piece, pos));
        piece = pos;
        last = script;
    }
    if (is_open_at(r, step)) {
        leave_out(r, v, piece < end ? piece : begin);
        return DSTOK_OK;
    }
    return dstok__run_step(r, v, step + 1, piece, end);
}

static dstok_status split_fixed(const dstok__pretok_pass *r, dstok__view *v, size_t step, size_t begin,
                                size_t end) {
    uint32_t length = r->p->steps[step].length;
    while (begin < end) {
        size_t pos = begin;
        uint32_t n = 0;
        for (; n < length && pos < end; n++) (void)dstok__decode(v->text, pos, &pos);
        if (n < length && is_open_at(r, step)) break;
        DSTOK_TRY(dstok__run_step(r, v, step + 1, begin, pos));
        begin = pos;
    }
    if (is_open_at(r, step)) leave_out(r, v, begin);
    return DSTOK_OK;
}

/* Recursion goes as deep as there are steps, DSTOK__MAX_STEPS at most. */
dstok_status dstok__run_step(const dstok__pretok_pass *r, dstok__view *v, size_t step, size_t begin,
                             size_t end) {
    if (begin == end) return DSTOK_OK;
    if (step > 0 && is_open_at(r, step - 1)) r->scratch->is_begin = true;
    if (step == r->p->n_steps) return dstok__run_emit(r, v, begin, end);
    switch (r->p->steps[step].kind) {
    case DSTOK__STEP_PREFIX:
    case DSTOK__STEP_META:
    case DSTOK__STEP_BYTE_MAP:
        return dstok__run_rewrite(r, v, step, begin, end);
    case DSTOK__STEP_SCRIPTS:
        return split_scripts(r, v, step, begin, end);
    case DSTOK__STEP_FIXED:
        return split_fixed(r, v, step, begin, end);
    default:
        return split(r, v, step, begin, end);
    }
}

static dstok_status run_family(const dstok__family *family, const uint8_t *text, size_t len,
                               dstok__piece_fn *emit, void *ctx) {
    dstok__scan_fn *scan = family->scan;
    dstok__pretoken piece = {.text = text};
    for (; piece.begin < len; piece.begin = piece.end) {
        piece.end = scan(text, len, piece.begin);
        DSTOK_TRY(emit(ctx, &piece));
    }
    return DSTOK_OK;
}

dstok_status dstok__pretok_run(const dstok__pretok *p, dstok__pretok_scratch *scratch, const uint8_t *text,
                               size_t len, size_t n_first, bool no_prefix, dstok__piece_fn *emit, void *ctx,
                               dstok_error *err) {
    if (p->family != NULL) return run_family(p->family, text, len, emit, ctx);
    dstok__pretok_pass r = {p, scratch, n_first, no_prefix, emit, ctx, err};
    dstok__view v = {.text = text};
    return dstok__run_step(&r, &v, 0, 0, len);
}
