/* SPDX-License-Identifier: MIT */
/* A large document by many threads: its plain text is cut where a pretoken begins whatever stands before
 * it, and ends whatever follows. */
#include "pool.h"

#include "../pretok/scan.h"

#include <string.h>

static size_t part_size(const dstok_pool *p, uint64_t n) {
    uint64_t size = n / (8 * p->n_workers);
    if (size < p->sizes.least) return p->sizes.least;
    return size < p->sizes.most ? (size_t)size : p->sizes.most;
}

bool dstok__share_pays(const dstok__worker *w, size_t n) {
    return !w->pool->call.is_alone && n >= w->pool->sizes.share && w->enc->out.enough == SIZE_MAX;
}

/* ---- one part ---- */

/* Where part i begins; false: nowhere, its text belongs to the part before. */
static bool find_begin(const dstok__share *s, size_t i, size_t *at) {
    size_t from = s->begin + i * s->part, to = s->end - from < s->part ? s->end : from + s->part;
    *at = i == 0 ? s->begin : dstok__sure_begin(s->j->norm, s->end, from, to);
    return *at < to;
}

static size_t find_end(const dstok__share *s, size_t i) {
    size_t at;
    while (++i < s->n_parts)
        if (find_begin(s, i, &at)) return at;
    return s->end;
}

/* The job as it is when it comes to norm[at]. */
static job at_part(const dstok__share *s, dstok_encoder *enc, size_t at) {
    job j = *s->j;
    uint64_t place = at;
    j.enc = enc;
    if (j.is_edited) {
        place = dstok__map_range_at(j.edits.n, at, at).begin;
        dstok__map_cursor_seek(&j.edits, at);
    }
    if (j.is_replaced) dstok__map_cursor_seek(&j.replaced, (size_t)place + j.base);
    return j;
}

/* Tokens of part i to the worker's sink. */
static dstok_status encode_part(dstok__worker *w, const dstok__share *s, size_t i) {
    dstok__sink *out = &w->enc->out;
    const dstok__sink *like = &s->j->enc->out;
    size_t begin;
    if (w->first == NULL) out->n = 0;
    if (w->enc != s->j->enc) {
        out->store = like->store;
        out->ids_only = like->ids_only;
        out->enough = like->enough;
    }
    if (!find_begin(s, i, &begin)) return DSTOK_OK;
    job j = at_part(s, w->enc, begin);
    return dstok__job_fast(&j, begin, find_end(s, i));
}

/* ---- all parts; the lock is held ---- */

static bool has_parts(const dstok__share *s) {
    return s->next_part < s->n_parts && s->status == DSTOK_OK;
}

dstok__share *dstok__share_find(const dstok_pool *p) {
    for (dstok__share *s = p->call.shares; s != NULL; s = s->next)
        if (has_parts(s) && atomic_load(&p->call.failed) > s->doc) return s;
    return NULL;
}

static void take_part(dstok__worker *w, dstok__share *s) {
    size_t i = s->next_part++;
    dstok__pool_unlock(w->pool);
    size_t from = w->first == NULL ? 0 : w->enc->out.n;
    dstok_status status = encode_part(w, s, i);
    dstok__pool_lock(w->pool);
    if (status != DSTOK_OK) {
        s->status = status;
        return;
    }
    s->n_tokens += w->enc->out.n - from;
    if (s->units != NULL) dstok__unit_done(w, &s->units[i], from);
    while (dstok__unit_copy(w)) {
    }
}

void dstok__share_help(dstok__worker *w, dstok__share *s) {
    s->n_helpers++;
    while (has_parts(s) && atomic_load(&w->pool->call.failed) > s->doc) take_part(w, s);
    s->n_helpers--;
    dstok__pool_tell(w->pool);
}

/* ---- the owner ---- */

static void begin(dstok__worker *w, dstok__share *s) {
    dstok__call *c = &w->pool->call;
    w->doc_n += w->enc->out.n - w->doc_from;
    if (s->units != NULL) dstok__unit_break(w, s->units, s->n_parts);
    s->next = c->shares;
    c->shares = s;
    dstok__pool_tell(w->pool);
}

static void end(dstok__worker *w, dstok__share *s) {
    while (s->n_helpers > 0)
        if (!dstok__unit_copy(w)) dstok__pool_wait(w->pool);
    dstok__share **at = &w->pool->call.shares;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    if (w->first == NULL) w->enc->out.n = 0;
    w->doc_n += s->n_tokens;
    w->doc_from = w->enc->out.n;
    if (w->unit != NULL) w->unit->from = w->enc->out.n;
}

dstok_status dstok__share_run(job *j, size_t from, size_t to) {
    dstok__worker *w = j->enc->worker;
    dstok__share s = {.j = j, .begin = from, .end = to, .doc = w->doc};
    s.part = part_size(w->pool, to - from);
    s.n_parts = (to - from + s.part - 1) / s.part;
    if (w->unit != NULL) {
        s.units = dstok__arena_alloc(&w->units, (s.n_parts + 1) * sizeof *s.units);
        if (s.units == NULL) return DSTOK_E_NOMEM;
    }
    dstok__pool_lock(w->pool);
    begin(w, &s);
    dstok__share_help(w, &s);
    end(w, &s);
    dstok__pool_unlock(w->pool);
    return s.status;
}
