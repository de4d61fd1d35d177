/* SPDX-License-Identifier: MIT */
/* Steps that rewrite a piece: the texts they make, and the way back to the text of the run. */
#include "run.h"
#include "../load/bytelevel.h"

#include <dstok/tokenizer.h>

/* ---- scratch ---- */

dstok_status dstok__pretok_scratch_new(const dstok_alloc *al, dstok__pretok_scratch **out) {
    dstok__pretok_scratch *s = dstok__alloc_zeroed(al, 1, sizeof *s);
    if (s == NULL) return DSTOK_E_NOMEM;
    s->al = *al;
    for (size_t i = 0; i < DSTOK__MAX_STEPS; i++) dstok__normalized_init(&s->levels[i].text, &s->al);
    dstok_status status = dstok__regex_scratch_new(al, &s->regex);
    if (status != DSTOK_OK) {
        dstok__pretok_scratch_free(s);
        return status;
    }
    *out = s;
    return DSTOK_OK;
}

void dstok__pretok_scratch_free(dstok__pretok_scratch *s) {
    if (s == NULL) return;
    for (size_t i = 0; i < DSTOK__MAX_STEPS; i++) dstok__normalized_free(&s->levels[i].text);
    dstok__regex_scratch_free(s->regex);
    dstok_alloc al = s->al;
    dstok__free(&al, s->mapped, s->cap_mapped);
    dstok__free(&al, s, sizeof *s);
}

dstok__regex_scratch *dstok__pretok_scratch_regex(dstok__pretok_scratch *s) {
    return s->regex;
}

size_t dstok__pretok_scratch_open(dstok__pretok_scratch *s, bool is_open) {
    s->is_open = is_open;
    size_t end = s->open_end;
    s->open_end = 0;
    return end;
}

bool dstok__pretok_scratch_begins(dstok__pretok_scratch *s) {
    bool is_begin = s->is_begin;
    s->is_begin = false;
    return is_begin;
}

void dstok__pretok_scratch_want_from(dstok__pretok_scratch *s, bool want) {
    for (size_t i = 0; i < DSTOK__MAX_STEPS; i++) s->levels[i].text.want_from = want;
}

/* ---- the way back ---- */

dstok_span dstok__level_map(const dstok__level *level, size_t begin, size_t end) {
    dstok_span s = {begin, end};
    for (; level != NULL; level = level->below) {
        s = dstok__map_range_at(&level->text, (size_t)s.begin, (size_t)s.end);
        s.begin += level->base;
        s.end += level->base;
    }
    return s;
}

/* Moves the cursor of a byte map forwards, to a character's begin. */
static size_t byte_of(dstok__view *v, size_t at) {
    for (; v->at < at; v->byte++) v->at += v->text[v->at] < 0x80 ? 1 : 2;
    return v->byte;
}

size_t dstok__run_place(dstok__view *v, size_t at) {
    if (v->below != NULL) at = byte_of(v, at);
    return (size_t)dstok__level_map(v->level, at, at).begin;
}

dstok_status dstok__run_emit(const dstok__pretok_pass *r, dstok__view *v, size_t begin, size_t end) {
    dstok__pretoken piece = {v->text, begin, end, v->level};
    if (v->below != NULL) {
        piece.text = v->below;
        piece.begin = byte_of(v, begin);
        piece.end = byte_of(v, end);
    }
    return r->emit(r->ctx, &piece);
}

/* ---- PREFIX and META ---- */

/* Does this piece begin in the first n bytes of the run? What stands behind a prefix that was cut off is at the place
 * of the prefix. */
static bool is_among_first(const dstok__view *v, size_t begin, size_t n) {
    if (v->level == NULL) return begin < n;
    return dstok__level_map(v->level, begin, begin + 1).begin < n;
}

static bool wants_prefix(const dstok__pretok_pass *r, const dstok__view *v, const dstok__step *step,
                         size_t begin) {
    if (step->kind == DSTOK__STEP_META) {
        if (step->prepend == DSTOK__PREPEND_NEVER) return false;
        if (step->prepend == DSTOK__PREPEND_FIRST)
            return !r->no_prefix && is_among_first(v, begin, r->n_first);
    }
    return !r->no_prefix || !is_among_first(v, begin, 1);
}

static bool begins_with(const uint8_t *text, size_t len, const char *mark) {
    size_t n = strlen(mark);
    return len >= n && memcmp(text, mark, n) == 0;
}

static dstok_status make_level(const dstok__pretok_pass *r, const dstok__view *v, size_t i, size_t begin,
                               size_t end, const char *blank, const char *prefix) {
    dstok__level *level = &r->scratch->levels[i];
    level->below = v->level;
    level->base = begin;
    level->len = end - begin;
    dstok_status status =
        dstok__normalize_piece(&level->text, v->text + begin, end - begin, blank, prefix, DSTOK_MAX_INPUT);
    if (status == DSTOK_E_LIMIT)
        return dstok__fail(r->err, status, dstok__level_map(v->level, begin, begin).begin, 0,
                           "a pretokenizer makes more than %zu bytes of the text from here on",
                           DSTOK_MAX_INPUT);
    if (status == DSTOK_E_NOMEM)
        return dstok__fail(r->err, status, DSTOK_NO_OFFSET, 0, "out of memory for a pretokenizer's text");
    return status;
}

/* A piece that stays as it is needs no level. */
static dstok_status rewrite(const dstok__pretok_pass *r, dstok__view *v, size_t i, size_t begin, size_t end) {
    const dstok__step *step = &r->p->steps[i];
    const uint8_t *text = v->text + begin;
    size_t len = end - begin;
    bool is_meta = step->kind == DSTOK__STEP_META;
    const char *mark = is_meta ? r->p->runners[i].mark : " ";
    const char *blank = is_meta && memchr(text, ' ', len) != NULL ? mark : NULL;
    bool has_prefix = begins_with(text, len, mark) || (is_meta && text[0] == ' ');
    const char *prefix = !has_prefix && wants_prefix(r, v, step, begin) ? mark : NULL;
    if (blank == NULL && prefix == NULL) return dstok__run_step(r, v, i + 1, begin, end);

    DSTOK_TRY(make_level(r, v, i, begin, end, blank, prefix));
    const dstok__level *level = &r->scratch->levels[i];
    dstok__view next = {.text = level->text.text, .level = level};
    return dstok__run_step(r, &next, i + 1, 0, level->text.len);
}

/* ---- BYTE_MAP ---- */

static dstok_status map_bytes(const dstok__pretok_pass *r, dstok__view *v, size_t i, size_t begin,
                              size_t end) {
    dstok__pretok_scratch *s = r->scratch;
    size_t len = end - begin, n = 0;
    dstok_status status =
        dstok__grow(&s->al, (void **)&s->mapped, &s->cap_mapped, 2 * len, 1, 2 * DSTOK_MAX_INPUT);
    if (status != DSTOK_OK)
        return dstok__fail(r->err, status, dstok__level_map(v->level, begin, begin).begin, 0,
                           "no room for the byte-level characters of %zu bytes", len);
    for (size_t k = begin; k < end; k++) {
        uint32_t c = dstok__bytelevel_char(v->text[k]);
        if (c >= 0x80) {
            s->mapped[n++] = (uint8_t)(0xC0 | c >> 6);
            c = 0x80 | (c & 0x3F);
        }
        s->mapped[n++] = (uint8_t)c;
    }
    dstok__view next = {.text = s->mapped, .level = v->level, .below = v->text, .byte = begin};
    return dstok__run_step(r, &next, i + 1, 0, n);
}

dstok_status dstok__run_rewrite(const dstok__pretok_pass *r, dstok__view *v, size_t step, size_t begin,
                                size_t end) {
    if (r->p->steps[step].kind == DSTOK__STEP_BYTE_MAP) return map_bytes(r, v, step, begin, end);
    return rewrite(r, v, step, begin, end);
}
