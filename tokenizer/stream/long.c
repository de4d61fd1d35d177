/* SPDX-License-Identifier: MIT */
/* Texts without a place where every family begins a pretoken: a megabyte of signs, of digits, or of one
 * word.  Where the family's scanner ends pretokens, they are final as soon as the text behind them holds a
 * few runs of characters. Inside of a pretoken that goes on, tokens are final as run.c says; what is left
 * to know is how the scanner's pattern goes on. Its state after a text is all that counts for that, and two
 * texts that no continuation of a list tells apart have left it in the same one: so the text that was given
 * out is replaced by its first bytes where that changes nothing. */
#include "inside.h"

#include "../pretok/scan.h"

#include <string.h>

/* One for each way a pattern of a family can go on: letters of each kind, marks, numbers, signs, blanks,
 * line ends, contractions, and what may follow a run of capitals. */
static const char *const continuations[] = {"",    "a",  "A",    "Aa",           "1",        "(",       " ",
                                            "x y", "\n", " \n",  " (",           " a",       "'",       "'s",
                                            "'ll", "/",  "\r\n", "\xE6\x97\xA5", "\xCC\x81", "\xC2\xA0"};
#define N_CONTINUATIONS (sizeof continuations / sizeof *continuations)

#define NEAR 64u /* bytes at the end of a text that its last pretoken may leave over */

/* The ends of the pretoken that text[0, len) begins with, DSTOK__STREAM_ROOM bytes of room behind it, with
 * each of the continuations. */
typedef struct ends {
    size_t at[N_CONTINUATIONS], least, most;
} ends;

static ends find_ends(dstok__scan_fn *scan, uint8_t *text, size_t len) {
    ends e = {.least = SIZE_MAX};
    for (size_t i = 0; i < N_CONTINUATIONS; i++) {
        size_t n = strlen(continuations[i]);
        memcpy(text + len, continuations[i], n);
        e.at[i] = scan(text, len + n, 0);
        if (e.at[i] < e.least) e.least = e.at[i];
        if (e.at[i] > e.most) e.most = e.at[i];
    }
    return e;
}

static bool are_alike(const ends *a, size_t len_a, const ends *b, size_t len_b) {
    for (size_t i = 0; i < N_CONTINUATIONS; i++)
        if (a->at[i] - len_a != b->at[i] - len_b) return false; /* modulo 2^64 */
    return true;
}

static dstok__scan_fn *scanner(const dstok_stream *s) {
    return dstok__pretok_family(s->tok->pretok)->scan;
}

/* ---- the normalised text ---- */

/* What is kept up to a place, as the scanner sees it: ill-formed bytes replaced, then normalised. */
typedef struct view {
    const uint8_t *text;
    size_t len;
    const dstok__normalized *n; /* NULL: the normaliser changed nothing */
} view;

/* text[0, *len) as it is replaced, to the encoder's memory for that. */
static dstok_status replace(dstok_stream *s, const uint8_t **text, size_t *len) {
    dstok__buf *b = &s->enc->valid.buf;
    b->len = 0;
    b->max = DSTOK_MAX_INPUT;
    for (size_t i = 0; i < *len;) {
        size_t good = dstok__utf8_check(*text + i, *len - i);
        DSTOK_TRY(dstok__buf_append(b, *text + i, good));
        i += good;
        if (i == *len) break;
        DSTOK_TRY(dstok__buf_append(b, "\xEF\xBF\xBD", 3));
        i += dstok__utf8_ill_formed(*text + i, *len - i, NULL);
    }
    *text = b->data;
    *len = b->len;
    return DSTOK_OK;
}

static dstok_status make_view(dstok_stream *s, size_t len, view *v, dstok_error *err) {
    dstok__normalized *n = &s->enc->stretch;
    dstok__pretok_scratch *scratch = s->enc->scratch;
    const uint8_t *text = s->text;
    size_t good = dstok__utf8_check(text, len);
    if (good < len && s->opt.invalid == DSTOK_INVALID_REPLACE) {
        if (replace(s, &text, &len) != DSTOK_OK)
            return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for a long pretoken");
    } else {
        len = good; /* raw bytes are pretokens of their own */
    }
    *v = (view){text, len, NULL};
    if (s->tok->normalizer == NULL) return DSTOK_OK;
    n->want_from = false;
    n->goes_on = s->at > 0 && !s->is_fresh;
    DSTOK_TRY(dstok__normalize(n, s->tok->normalizer,
                               scratch != NULL ? dstok__pretok_scratch_regex(scratch) : NULL, text, len,
                               DSTOK_MAX_INPUT, err));
    *v = (view){n->text, n->len, n->n_edits > 0 ? n : NULL};
    return DSTOK_OK;
}

static size_t to_source(const view *v, size_t at) {
    return v->n == NULL ? at : (size_t)dstok__map_range_at(v->n, at, at).begin;
}

/* ---- whole pretokens ---- */

/* Where the last but four runs of characters of one kind begin: pretokens up to there are final. No scanner
 * looks beyond the end of the second run behind the pretoken. */
static size_t settled(const view *v) {
    size_t begins[5] = {0}, n = 0;
    unsigned before = 0;
    for (size_t at = 0, next; at < v->len; at = next) {
        unsigned kind = dstok__kind_at(v->text, v->len, at, &next);
        if (kind & DSTOK__K_SPACE) kind = DSTOK__K_SPACE; /* one run for scanners */
        if (kind != before) begins[n++ % 5] = at;
        before = kind;
    }
    return n < 5 ? 0 : begins[n % 5];
}

/* The last place up to `most` where a pretoken begins and the text may be broken; those before it must be
 * the same when the text ends there. *at  [out] in the source; 0: none. */
static void last_begin(const dstok_stream *s, const view *v, size_t most, size_t *at) {
    dstok__scan_fn *scan = scanner(s);
    size_t found = 0, end;
    *at = 0;
    for (size_t i = 0; i < most && (end = scan(v->text, v->len, i)) <= most; i = end) {
        if (end + 4 * NEAR <= most || !dstok__seam_at(&s->seams, s->text, s->len, to_source(v, end)))
            continue;
        found = end;
    }
    for (size_t i = 0; i < found; i = end)
        if ((end = scan(v->text, found, i)) != scan(v->text, v->len, i)) return;
    if (found > 0) *at = to_source(v, found);
}

/* Numbers end after one or three, whatever follows them: up to where all pretokens are final for that. 0:
 * GPT-2, or there are not so many. */
static size_t settled_numbers(const dstok_stream *s, const view *v) {
    size_t end = v->len > NEAR ? v->len - NEAR : 0, at, next;
    while (end > 0 && dstok__is_continuation(v->text[end])) end--;
    for (at = end; at > 0 && end - at < 4 * NEAR;) {
        size_t before = at;
        do before--;
        while (before > 0 && dstok__is_continuation(v->text[before]));
        if (dstok__kind_at(v->text, v->len, before, &next) != DSTOK__K_NUMBER) break;
        at = before;
    }
    if (end - at < 4 * NEAR) return 0;
    return scanner(s)(v->text, v->len, at) - at <= 3 * 4 ? end : 0;
}

/* ---- inside of one ---- */

/* Where the pretoken ends of which the head and v->text[from, ...) are what is left, as places of these two. */
static dstok_status look(const dstok_stream *s, const view *v, size_t from, ends *e, dstok_error *err) {
    size_t n = v->len - from, room = s->n_head + n + DSTOK__STREAM_ROOM;
    uint8_t *copy = dstok__alloc(&s->tok->al, room);
    if (copy == NULL)
        return dstok__fail(err, DSTOK_E_NOMEM, DSTOK_NO_OFFSET, 0, "out of memory for a long pretoken");
    memcpy(copy, s->head, s->n_head);
    memcpy(copy + s->n_head, v->text + from, n);
    *e = find_ends(scanner(s), copy, s->n_head + n);
    dstok__free(&s->tok->al, copy, room);
    return DSTOK_OK;
}

/* Text that begins inside of a pretoken, n bytes of which (of the normalised text) go to that. */
static dstok_status encode_from_inside(dstok_stream *s, size_t len, size_t n, bool is_open,
                                       dstok_error *err) {
    size_t first = s->enc->out.n;
    dstok__part part = dstok__stream_part(s, is_open);
    part.is_piece = true;
    part.n_one = n;
    DSTOK_TRY(dstok__stream_encode(s, len, &part, true, err));
    return dstok__stream_goes_on(s, first, err);
}

/* The pretoken that goes on ends in the first len bytes, behind which the text may be broken, or ends
 * itself. */
static dstok_status put_end(dstok_stream *s, size_t len, bool is_last, dstok_error *err) {
    view v;
    ends e;
    DSTOK_TRY(make_view(s, len, &v, err));
    DSTOK_TRY(look(s, &v, 0, &e, err));
    DSTOK_TRY(encode_from_inside(s, len, e.at[0] > s->n_head ? e.at[0] - s->n_head : 0, !is_last, err));
    dstok__stream_add_report(s, &s->enc->report);
    s->is_within = false;
    s->n_head = 0;
    dstok__stream_drop(s, len, false);
    return DSTOK_OK;
}

static bool has_added(const dstok_stream *s, size_t first) {
    const dstok__sink *out = &s->enc->out;
    for (size_t i = first; i < out->n; i++)
        if (out->flags[i] & DSTOK_FLAG_ADDED) return true;
    return false;
}

/* The head for what is kept from the source's `done` on: *fits  [out] the pretoken goes on as before. */
static dstok_status shorten(dstok_stream *s, const view *v, size_t done, const ends *now, bool *fits,
                            dstok_error *err) {
    size_t before = s->n_head, from = done;
    ends later;
    if (v->n != NULL) { /* the place is none that the normaliser changed */
        for (from = 0; from < v->len && to_source(v, from) < done;) from++;
    }
    if (before == 0) {
        for (s->n_head = DSTOK__STREAM_HEAD; dstok__is_continuation(v->text[s->n_head]);) s->n_head--;
        memcpy(s->head, v->text, s->n_head);
    }
    DSTOK_TRY(look(s, v, from, &later, err));
    *fits = are_alike(now, before + v->len, &later, s->n_head + v->len - from);
    return DSTOK_OK;
}

/* Tokens of a pretoken that goes on behind what is kept. */
static dstok_status put_middle(dstok_stream *s, view *v, size_t len, const ends *now, size_t *done,
                               dstok_error *err) {
    size_t first = s->enc->out.n, n_before = s->n_head;
    bool fits = false;
    if (now->least <= n_before) return DSTOK_OK;
    size_t sure = now->least - n_before,
           most = to_source(v, sure); /* all of this belongs to it in any case */
    if (most > len - s->hold) most = len - s->hold;
    DSTOK_TRY(encode_from_inside(s, len, sure, true, err));
    if (has_added(s, first)) { /* it ends there, but how what is behind that is cut is not known yet */
        s->enc->out.n = first;
        return DSTOK_OK;
    }
    DSTOK_TRY(dstok__stream_keep_tokens(s, first, most, done, err));
    if (*done == 0) return DSTOK_OK;
    DSTOK_TRY(make_view(s, len, v, err)); /* encoding used its memory */
    DSTOK_TRY(shorten(s, v, *done, now, &fits, err));
    if (fits) {
        dstok__stream_drop(s, *done, false);
        return DSTOK_OK;
    }
    s->n_head = n_before;
    return dstok__fail(
        err, DSTOK_E_LIMIT, s->at, 0,
        "a pretoken of more than %zu bytes begins here, and its end depends on all of it; a larger "
        "max_held keeps more of the text",
        s->len);
}

/* Does nothing unless a pretoken begins with what is kept. */
static dstok_status put_whole(dstok_stream *s, const view *v, size_t *done, dstok_error *err) {
    dstok__part part = dstok__stream_part(s, true);
    size_t sure = settled(v), numbers = settled_numbers(s, v);
    last_begin(s, v, sure > numbers ? sure : numbers, done);
    if (*done == 0) return DSTOK_OK;
    DSTOK_TRY(dstok__stream_encode(s, *done, &part, false, err));
    dstok__stream_drop(s, *done, false);
    return DSTOK_OK;
}

dstok_status dstok__stream_long(dstok_stream *s, size_t *done, dstok_error *err) {
    size_t len;
    view v;
    ends e;
    *done = s->n_head == 0 ? 0 : dstok__seam_last(&s->seams, s->text, s->len);
    if (*done > 0) return put_end(s, *done, false, err); /* behind it a pretoken begins in any case */
    len = dstok__stream_last_break(s);
    if (s->tok->prefix_n > 0 || s->tok->suffix_n > 0 || dstok__utf8_check(s->text, len) != len)
        return DSTOK_OK;
    DSTOK_TRY(make_view(s, len, &v, err));
    if (s->n_head == 0) DSTOK_TRY(put_whole(s, &v, done, err));
    if (*done > 0 || len <= 2 * s->hold || v.len <= 2 * DSTOK__STREAM_HEAD) return DSTOK_OK;
    DSTOK_TRY(look(s, &v, 0, &e, err));
    if (e.least + NEAR < s->n_head + v.len) return DSTOK_OK;
    return put_middle(s, &v, len, &e, done, err);
}

dstok_status dstok__stream_end_long(dstok_stream *s, dstok_error *err) {
    bool is_good = s->opt.invalid != DSTOK_INVALID_ERROR || dstok__utf8_check(s->text, s->len) == s->len;
    if (is_good) return put_end(s, s->len, true, err);
    s->n_head = 0; /* the usual way finds what to say of it */
    return DSTOK_OK;
}
