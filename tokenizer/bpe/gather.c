/* SPDX-License-Identifier: MIT */
/* The tokens of many sinks in one array: where each unit comes to stand, and copying it there. */
#include "pool.h"

#include <string.h>

/* Gives places to all units up to the first one that is not done. */
static void place(dstok__call *c) {
    for (; c->open != NULL && c->open->is_done; c->open = c->open->next) {
        c->open->is_placed = true;
        if (c->open->next != NULL) c->open->next->at = c->open->at + c->open->n;
    }
}

void dstok__unit_done(dstok__worker *w, dstok__unit *u, size_t from) {
    u->from = from;
    u->n = w->enc->out.n - from;
    u->is_done = true;
    place(&w->pool->call);
    if (u->n == 0) return;
    u->waiting = NULL;
    if (w->first == NULL) {
        w->first = u;
    } else {
        w->last->waiting = u;
    }
    w->last = u;
}

void dstok__unit_break(dstok__worker *w, dstok__unit *units, size_t n) {
    dstok__unit *before = w->unit;
    for (size_t i = 0; i <= n; i++) units[i] = (dstok__unit){.doc = w->doc, .next = &units[i + 1]};
    units[n].next = before->next;
    before->next = units;
    dstok__unit_done(w, before, before->from);
    w->unit = &units[n];
}

static bool fits(const dstok__sink *out, size_t n) {
    return n <= out->cap_ids && (out->ids_only || (n <= out->cap_spans && n <= out->cap_flags));
}

/* Room for n tokens in the result. It moves when it grows: nobody may write to it then. */
static dstok_status reserve(dstok_pool *p, size_t n) {
    uint64_t guess = p->call.n_bytes / 4;
    while (!fits(&p->out, n) && p->call.n_copying > 0) dstok__pool_wait(p);
    if (fits(&p->out, n)) return DSTOK_OK;
    if (guess > n && guess < SIZE_MAX && dstok__sink_reserve(&p->out, (size_t)guess) == DSTOK_OK)
        return DSTOK_OK;
    return dstok__sink_reserve(&p->out, n);
}

static void copy(const dstok__sink *from, const dstok__unit *u, dstok__sink *to) {
    memcpy(to->ids + u->at, from->ids + u->from, u->n * sizeof *to->ids);
    if (to->ids_only) return;
    memcpy(to->spans + u->at, from->spans + u->from, u->n * sizeof *to->spans);
    memcpy(to->flags + u->at, from->flags + u->from, u->n);
}

bool dstok__unit_copy(dstok__worker *w) {
    dstok_pool *p = w->pool;
    dstok__unit *u = w->first;
    if (u == NULL || !u->is_placed || atomic_load(&p->call.failed) != SIZE_MAX) return false;
    w->first = u->waiting;
    dstok_status status = reserve(p, u->at + u->n);
    if (status != DSTOK_OK) {
        dstok_error err;
        dstok__fail(&err, status, DSTOK_NO_OFFSET, 0, "out of memory for the tokens of all documents");
        dstok__pool_fail(p, u->doc, &err);
        return true; /* the call's end may have come: nobody waits before looking again */
    }
    p->call.n_copying++;
    dstok__pool_unlock(p);
    copy(&w->enc->out, u, &p->out);
    dstok__pool_lock(p);
    if (--p->call.n_copying == 0) dstok__pool_tell(p);
    return true;
}
