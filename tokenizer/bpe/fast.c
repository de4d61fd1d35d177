/* SPDX-License-Identifier: MIT */
/* The fast way: a window of text at a time from bytes to ids. */
#include "fast.h"
#include "cuts.h"
#include "job.h"
#include "misses.h"
#include "run.h"

#include "../text/utf8.h"

#define FEW_BLOCKS                                                                                           \
    4u /* the size of a window behind a place that the masks do not know; it doubles from there */

typedef dstok__run run;

/* ---- pieces that are not in the cache ---- */

/* Merges the bytes of a piece; *n ids to r->at. */
static dstok_status merge_bytes(run *r, const uint8_t *text, size_t len, size_t *n) {
    const dstok__tables *t = &r->tok->t;
    dstok__merge_scratch *m = &r->j->enc->merge;
    DSTOK_TRY(dstok__merge_reserve(m, len));
    static const dstok__atoms bytes_only = {.pages = NULL};
    size_t symbols =
        dstok__atoms_of(r->is_raw ? &bytes_only : &t->atoms, t->head->byte_ids, text, len, r->at);
    for (size_t i = 0; i < symbols; i++)
        m->symbols[i] = (dstok__symbol){r->at[i], 0, 0}; /* places are not asked for */
    dstok__merge_rules rules = {.pairs = &r->tok->t.pairs, .flags = r->tok->flags, .simd = r->f->simd};
    DSTOK_TRY(dstok__merge_run(m, &rules, symbols, n));
    for (size_t i = 0; i < *n; i++) r->at[i] = m->symbols[i].id;
    return DSTOK_OK;
}

/* The ids of a piece to r->at. is_whole: it is a pretoken and no part of one. *keep: they depend on the
 * bytes alone. */
static dstok_status encode_piece(run *r, const uint8_t *text, size_t len, bool is_whole, size_t *n,
                                 bool *keep) {
    bool whole_first = (r->tok->options & DSTOK__T_WHOLE_FIRST) != 0;
    *keep = true;
    uint32_t id = dstok__tables_find(&r->tok->t, text, len);
    if (id < r->tok->n_ids) {
        bool merges = (r->tok->flags[id] & DSTOK__TOKEN_WHOLE) != 0;
        *keep = merges || !whole_first;
        if (merges || (whole_first && is_whole)) {
            r->at[0] = id;
            *n = 1;
            return DSTOK_OK;
        }
    }
    return merge_bytes(r, text, len, n);
}

static void put_ids(run *r, const uint32_t *ids, size_t n) {
    memcpy(r->at, ids, n * sizeof *ids);
    r->at += n;
}

/* A piece that the cache does not know. */
static dstok_status put_unknown(run *r, const uint8_t *text, size_t len, bool is_whole, dstok__key key) {
    size_t n;
    bool keep;
    DSTOK_TRY(encode_piece(r, text, len, is_whole, &n, &keep));
    if (keep) dstok__cache_put(&r->f->cache, key, text, len, r->at, n);
    r->at += n;
    return DSTOK_OK;
}

/* A piece of which no byte behind it may be read. */
static dstok_status put_any(run *r, const uint8_t *text, size_t len, bool is_whole) {
    dstok__cache *c = &r->f->cache;
    uint8_t copy[16] = {0};
    memcpy(copy, text, len < sizeof copy ? len : sizeof copy);
    dstok__key key = dstok__key_of(copy, len);
    if (c->slots != NULL) {
        size_t n;
        dstok__cached *slot = dstok__cache_at(c->slots, c->bits, dstok__key_hash(key));
        const uint32_t *ids = dstok__cache_find(c, slot, key, text, len, &n);
        if (ids != NULL) {
            put_ids(r, ids, n);
            return DSTOK_OK;
        }
    }
    return put_unknown(r, text, len, is_whole, key);
}

static bool has_bit(const uint64_t *words, size_t at) {
    return (words[at / 64] >> (at % 64)) & 1;
}

/* ---- windows ---- */

/* Makes the keys of the pieces of the window before the one numbered end, from the begin of each of which
 * 16 bytes can be read; their slots are on the way from memory then. */
static void fetch(dstok__fast *f, size_t end) {
    size_t at = f->n_fetched;
    if (end <= at) return;
    f->simd->keys(f->window.text, f->places + at, end - at, f->cache.slots, f->cache.bits, f->keys + at,
                  f->slots + at);
    f->n_fetched = end;
}

/* Is the piece of the window, which ends at end, a whole pretoken? */
static bool is_pretoken(const dstok__window *w, size_t begin, size_t end) {
    return has_bit(w->starts, begin) && (end >= w->limit || has_bit(w->starts, end));
}

/* Pieces of the window that are answered by the cache. */
typedef struct asked {
    size_t n;
    bool learns; /* what the cache lacks of them may be learned together; that was done when it is false */
} asked;

/* Piece i, which its first slot does not answer. Returns how many pieces are done by that: 0 when the slots
 * are to be asked again. */
static dstok_status put_aside(run *r, asked *a, size_t i, size_t *n_done) {
    dstok__fast *f = r->f;
    const uint8_t *text = f->window.text + f->places[i];
    size_t len = f->places[i + 1] - f->places[i], n;
    const uint32_t *ids = dstok__cache_find(&f->cache, f->slots[i], f->keys[i], text, len, &n);
    *n_done = 1;
    if (ids != NULL) {
        put_ids(r, ids, n);
    } else if (a->learns) {
        fetch(f, a->n);
        dstok__learn_missed(f, r->tok, i, a->n);
        a->learns = false;
        *n_done = 0;
    } else {
        return put_unknown(r, text, len, is_pretoken(&f->window, f->places[i], f->places[i + 1]), f->keys[i]);
    }
    return DSTOK_OK;
}

/* Puts out the ids of the pieces [i, end). */
static dstok_status answer(run *r, asked *a, size_t i, size_t end) {
    dstok__fast *f = r->f;
    for (size_t n;; i += n) {
        i += f->simd->hits(f->keys + i, f->slots + i, end - i, &r->at);
        if (i == end) return DSTOK_OK;
        DSTOK_TRY(put_aside(r, a, i, &n));
    }
}

/* The pieces of the window up to end, which is the begin of a pretoken or the end of the text, as places.
 * Returns how many. */
static size_t find_pieces(run *r, size_t end) {
    dstok__fast *f = r->f;
    memcpy(f->pieces, f->window.starts, f->window.n * sizeof *f->pieces);
    if (f->window.has_high && r->tok->t.cuts.pairs != NULL)
        dstok__cut_window(&r->tok->t.cuts, f->simd, &f->window, f->pieces, f->places);
    if (end % 64 != 0) f->pieces[end / 64] &= ((uint64_t)1 << (end % 64)) - 1;
    size_t n = f->simd->positions(f->pieces, (end + 63) / 64, f->places);
    f->places[n] = (uint32_t)end;
    return n;
}

/* Puts out the ids of the n pieces of the window, a batch at a time. */
static dstok_status put_pieces(run *r, size_t n) {
    dstok__fast *f = r->f;
    asked a = {n, r->tok->t.pairs.packed != NULL};
    while (a.n > 0 && (f->cache.slots == NULL || f->places[a.n - 1] + 16 > f->window.len)) a.n--;
    f->n_fetched = 0;
    for (size_t i = 0, end; i < a.n; i = end) {
        end = a.n - i < DSTOK__BATCH ? a.n : i + DSTOK__BATCH;
        fetch(f, a.n - i < 2 * DSTOK__BATCH ? a.n : i + 2 * DSTOK__BATCH);
        DSTOK_TRY(answer(r, &a, i, end));
    }
    for (size_t i = a.n; i < n; i++) {
        bool is_whole = is_pretoken(&f->window, f->places[i], f->places[i + 1]);
        DSTOK_TRY(put_any(r, f->window.text + f->places[i], f->places[i + 1] - f->places[i], is_whole));
    }
    return DSTOK_OK;
}

/* Where the last pretoken begins that the window is sure of, or the end of the text; 0 when that is its
 * only one. */
static size_t sure_end(const dstok__window *w) {
    if (w->limit == w->len) return w->len;
    for (size_t i = w->limit / 64 + 1; i-- > 0;) {
        uint64_t starts = i < w->n ? w->starts[i] : 0;
        if (64 * i + 64 > w->limit) starts &= ((uint64_t)1 << (w->limit % 64)) - 1;
        if (starts != 0) return 64 * i + 63 - (size_t)__builtin_clzll(starts);
    }
    return 0;
}

static bool is_ascii(const uint8_t *text, size_t len) {
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++) any |= text[i];
    return any < 0x80;
}

/* A pretoken of any length, cut where it may be. */
static dstok_status put_pretoken(run *r, const uint8_t *text, size_t len) {
    bool has_cuts = !is_ascii(text, len);
    for (size_t at = 0, end; at < len; at = end) {
        end = has_cuts ? dstok__next_cut(&r->tok->t.cuts, text, at, len) : len;
        DSTOK_TRY(put_any(r, text + at, end - at, at == 0 && end == len));
    }
    return DSTOK_OK;
}

/* Room for n more ids and what is written behind the last one. */
static dstok_status reserve(run *r, size_t n) {
    dstok__sink *out = &r->j->enc->out;
    size_t used = out->store ? out->n : 0;
    DSTOK_TRY(
        dstok__grow(out->al, (void **)&out->ids, &out->cap_ids, used + n + 4, sizeof *out->ids, SIZE_MAX));
    r->at = out->ids + used;
    return DSTOK_OK;
}

static void commit(run *r) {
    dstok__sink *out = &r->j->enc->out;
    out->n += (size_t)(r->at - (out->ids + (out->store ? out->n : 0)));
}

/* Reads a window of at most *blocks blocks at text[at] and finds its pretokens. Returns its sure_end; *blocks
 * is what the next one may have. */
static size_t read_window(run *r, size_t at, size_t *blocks) {
    dstok__fast *f = r->f;
    size_t len = r->len - at;
    dstok__window_read(&f->window, f->simd, r->text + at, len, *blocks);
    f->block(&f->window);
    bool is_cut_short = f->window.limit < len && f->window.limit < 64 * f->window.n;
    *blocks = is_cut_short ? FEW_BLOCKS : 2 * *blocks < DSTOK__WINDOW ? 2 * *blocks : DSTOK__WINDOW;
    return sure_end(&f->window);
}

/* The pretoken at text[at] by the scanner: its end, counted from there. */
static size_t scan_one(const run *r, size_t at) {
    return dstok__pretok_family(r->tok->pretok)->scan(r->text + at, r->len - at, 0);
}

/* One window at text[at]. Returns how far it came. */
static dstok_status run_window(run *r, size_t at, size_t *blocks, size_t *done) {
    dstok__cache_grow(&r->f->cache);
    size_t end = read_window(r, at, blocks);
    bool is_known = end > 0;
    if (!is_known) end = scan_one(r, at);
    DSTOK_TRY(reserve(r, end));
    DSTOK_TRY(is_known ? put_pieces(r, find_pieces(r, end)) : put_pretoken(r, r->text + at, end));
    commit(r);
    *done = end;
    return DSTOK_OK;
}

/* ---- a text ---- */

/* Bytes without a token, but for those that no UTF-8 has; the first ones to bare. Returns how many there
 * are. */
static size_t bare_bytes(const dstok_tokenizer *tok, uint8_t bare[DSTOK__FAST_BARE]) {
    size_t n = 0;
    for (unsigned i = 0; i < 0xF5; i++) {
        if (tok->t.head->byte_ids[i] != DSTOK__NO_ID || i == 0xC0 || i == 0xC1) continue;
        if (n < DSTOK__FAST_BARE) bare[n] = (uint8_t)i;
        n++;
    }
    return n;
}

static bool has_all_bytes(const dstok_tokenizer *tok) {
    for (unsigned i = 0; i < 256; i++)
        if (tok->t.head->byte_ids[i] == DSTOK__NO_ID) return false;
    return true;
}

bool dstok__fast_knows(const dstok_tokenizer *tok) {
    const dstok__family *family = dstok__pretok_family(tok->pretok);
    uint8_t bare[DSTOK__FAST_BARE];
    if (family == NULL || family->block == NULL) return false;
    if (!(tok->options & DSTOK__T_PLAIN_ATOMS) || (tok->options & DSTOK__T_UNUSED)) return false;
    return bare_bytes(tok, bare) <= DSTOK__FAST_BARE;
}

bool dstok__fast_takes(const dstok__fast *f, const uint8_t *text, size_t len) {
    for (size_t i = 0, n; i < f->n_bare; i += n) {
        n = f->n_bare - i < 4 ? f->n_bare - i : 4;
        if (f->simd->find_byte(text, len, f->bare + i, n) < len) return false;
    }
    return true;
}

#define FAST_BYTES (sizeof(dstok__fast) + _Alignof(dstok__fast) - 1)

dstok_status dstok__fast_new(const dstok_tokenizer *tok, const dstok__simd *simd, size_t cache_bytes,
                             dstok__fast **out) {
    void *memory = dstok__alloc(&tok->al, FAST_BYTES);
    if (memory == NULL) return DSTOK_E_NOMEM;
    *out =
        (void *)(((uintptr_t)memory + _Alignof(dstok__fast) - 1) & ~(uintptr_t)(_Alignof(dstok__fast) - 1));
    (*out)->memory = memory;
    (*out)->simd = simd;
    (*out)->block = dstok__pretok_family(tok->pretok)->block;
    (*out)->n_bare = bare_bytes(tok, (*out)->bare);
    (*out)->knows_bytes = tok->t.joins != NULL && has_all_bytes(tok);
    dstok__cache_init(&(*out)->cache, &tok->al, cache_bytes);
    return DSTOK_OK;
}

void dstok__fast_free(const dstok_alloc *al, dstok__fast *f) {
    if (f == NULL) return;
    dstok__cache_free(&f->cache);
    dstok__free(al, f->memory, FAST_BYTES);
}

static run start(job *j, const uint8_t *text, size_t len) {
    run r = {.j = j, .f = j->enc->fast, .tok = j->tok, .text = text, .len = len};
    return r;
}

dstok_status dstok__fast_ids(job *j, const uint8_t *text, size_t len) {
    run r = start(j, text, len);
    size_t blocks = DSTOK__WINDOW;
    for (size_t at = 0, done; at < len; at += done) {
        DSTOK_TRY(run_window(&r, at, &blocks, &done));
        if (j->enc->out.n >= j->enc->out.enough) return DSTOK__ENOUGH;
    }
    return DSTOK_OK;
}

/* ---- for raw.c ---- */

dstok__run dstok__run_start(job *j, const uint8_t *text, size_t len) {
    return start(j, text, len);
}

dstok_status dstok__run_reserve(dstok__run *r, size_t n) {
    dstok__cache_grow(&r->f->cache);
    return reserve(r, n);
}

void dstok__run_commit(dstok__run *r) {
    commit(r);
    if (!r->j->enc->out.store) r->at = r->j->enc->out.ids;
}

dstok_status dstok__run_put(dstok__run *r, const uint8_t *text, size_t len, bool is_whole) {
    return put_any(r, text, len, is_whole);
}

/* ---- stages, for measuring ---- */

/* The classes of one window and nothing else. Returns how far it came: to the begin of a character. */
static size_t classify_window(run *r, size_t at, size_t *n) {
    dstok__window *w = &r->f->window;
    size_t end = r->len - at;
    dstok__window_read(w, r->f->simd, r->text + at, end, DSTOK__WINDOW);
    *n += w->n;
    if (64 * w->n < end) end = 64 * w->n;
    while (at + end < r->len && dstok__is_continuation(r->text[at + end])) end--;
    return end;
}

/* The pretokens of one window, or its pieces. Returns how far it came. */
static size_t cut_up_window(run *r, size_t at, bool as_pieces, size_t *blocks, size_t *n) {
    size_t end = read_window(r, at, blocks);
    if (end == 0) {
        end = scan_one(r, at);
        for (size_t i = 0; i < end; (*n)++)
            i += as_pieces ? dstok__next_cut(&r->tok->t.cuts, r->text + at + i, 0, end - i) : end;
    } else if (as_pieces) {
        *n += find_pieces(r, end);
    } else {
        for (size_t i = 0; i < (end + 63) / 64; i++) {
            uint64_t past = 64 * i + 64 > end ? UINT64_MAX << (end % 64) : 0;
            *n += (size_t)__builtin_popcountll(r->f->window.starts[i] & ~past);
        }
    }
    return end;
}

size_t dstok__fast_stage(job *j, int stage, const uint8_t *text, size_t len) {
    run r = start(j, text, len);
    size_t blocks = DSTOK__WINDOW, n = 0;
    for (size_t at = 0; at < len;)
        at += stage == DSTOK_STAGE_CLASSIFY ? classify_window(&r, at, &n)
                                            : cut_up_window(&r, at, stage == DSTOK_STAGE_PIECES, &blocks, &n);
    return n;
}
