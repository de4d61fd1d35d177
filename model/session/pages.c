/* SPDX-License-Identifier: MIT */
/* The pool: pages in use, and known pages that nobody uses. When memory is short of those the one goes
 * whose last use but one lies longest ago (LRU-2, O'Neil et al. 1993): a page used once makes room before
 * one that is used again and again. */
#include "session/pages.h"

#include "arch/model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Pages that nobody uses are kept up to this number; and memory of pages whose packed form alone is left: a
 * chunk gives back as many as the next one takes. */
enum { MAX_IDLE = 256, MAX_SPARE = 8 };

struct dsx__pool {
    const dsx__backend_ops *ops;
    void *be;
    size_t page_reals;
    uint64_t max_bytes, bytes, charged; /* bytes: of pages, and what is charged */
    pthread_mutex_t lock;
    dsx__page *known; /* a list */
    uint64_t n_idle, clock, serial;
    dsx__real *spare[MAX_SPARE];
    size_t n_spare;
};

dstok_status dsx__pool_new(const dsx_model *model, uint64_t max_bytes, dsx__pool **out) {
    dsx__pool *p = calloc(1, sizeof *p);

    if (p == NULL) return DSTOK_E_NOMEM;
    if (pthread_mutex_init(&p->lock, NULL) != 0) {
        free(p);
        return DSTOK_E_NOMEM;
    }
    p->ops = model->ops;
    p->be = model->be;
    p->page_reals = dsx__kv_page_reals(&model->kv);
    p->max_bytes = max_bytes;
    *out = p;
    return DSTOK_OK;
}

static void lock(dsx__pool *p) {
    (void)pthread_mutex_lock(&p->lock);
}

static void unlock(dsx__pool *p) {
    (void)pthread_mutex_unlock(&p->lock);
}

/* The caller holds the lock in all that follow, down to the next head line. */

static void free_reals(dsx__pool *p, dsx__real *data) {
    if (data == NULL) return;
    p->ops->free(p->be, data, p->page_reals);
    p->bytes -= dsx__page_bytes(p);
}

static void destroy(dsx__pool *p, dsx__page *page) {
    free_reals(p, page->data);
    if (page->packed != NULL) p->bytes -= page->n_packed;
    free(page->packed);
    free(page);
}

static void forget(dsx__pool *p, dsx__page *page) {
    dsx__page **at = &p->known;

    while (*at != page) at = &(*at)->next;
    *at = page->next;
}

/* Frees spare memory, or the idle page that LRU-2 gives up; false when there is neither. */
static bool evict(dsx__pool *p) {
    dsx__page *worst = NULL;

    if (p->n_spare > 0) {
        free_reals(p, p->spare[--p->n_spare]);
        return true;
    }
    for (dsx__page *i = p->known; i != NULL; i = i->next) {
        if (i->n_refs > 0) continue;
        if (worst == NULL || i->used_before < worst->used_before ||
            (i->used_before == worst->used_before && i->used < worst->used))
            worst = i;
    }
    if (worst == NULL) return false;
    forget(p, worst);
    p->n_idle--;
    destroy(p, worst);
    return true;
}

/* Makes room for n more bytes, as far as that can be done. */
static bool room(dsx__pool *p, uint64_t n) {
    while (p->max_bytes - p->bytes < n)
        if (!evict(p)) return false;
    return true;
}

static dsx__page *take(dsx__pool *p) {
    dsx__page *page;

    if (p->n_spare == 0 && !room(p, dsx__page_bytes(p))) return NULL;
    page = calloc(1, sizeof *page);
    if (page == NULL) return NULL;
    if (p->n_spare > 0) {
        page->data = p->spare[--p->n_spare];
    } else {
        while ((page->data = p->ops->alloc(p->be, p->page_reals)) == NULL)
            if (!evict(p)) {
                free(page);
                return NULL;
            }
        p->bytes += dsx__page_bytes(p);
    }
    page->n_refs = 1;
    page->serial = ++p->serial;
    return page;
}

static void drop(dsx__pool *p, dsx__page *page) {
    if (--page->n_refs > 0) return;
    if (!page->is_known) {
        destroy(p, page);
        return;
    }
    p->n_idle++;
    if (p->n_idle > MAX_IDLE) (void)evict(p);
}

/* ---- entry points */

void dsx__pool_free(dsx__pool *p) {
    if (p == NULL) return;
    while (p->n_spare > 0) free_reals(p, p->spare[--p->n_spare]);
    while (p->known != NULL) {
        dsx__page *next = p->known->next;

        destroy(p, p->known);
        p->known = next;
    }
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

dsx__page *dsx__page_take(dsx__pool *p) {
    dsx__page *page;

    lock(p);
    page = take(p);
    unlock(p);
    return page;
}

dsx__page *dsx__page_share(dsx__pool *p, dsx__page *page) {
    lock(p);
    page->n_refs++;
    unlock(p);
    return page;
}

void dsx__page_drop(dsx__pool *p, dsx__page *page) {
    if (page == NULL) return;
    lock(p);
    drop(p, page);
    unlock(p);
}

dsx__page *dsx__page_own(dsx__pool *p, dsx__page *page) {
    dsx__page *own = page;

    lock(p);
    if (page->n_refs > 1 || page->is_known) {
        own = take(p);
        if (own != NULL) {
            /* the whole page, as rows of DSX__PAGE numbers */
            p->ops->copy(p->be, page->data, p->page_reals / DSX__PAGE, DSX__PAGE, DSX__PAGE, own->data,
                         DSX__PAGE);
            drop(p, page);
        }
    }
    unlock(p);
    return own;
}

bool dsx__page_packed(dsx__pool *p, dsx__page *page, size_t n_bytes) {
    bool ok = page->packed != NULL;

    lock(p);
    if (!ok && room(p, n_bytes)) {
        page->packed = malloc(n_bytes);
        ok = page->packed != NULL;
        if (ok) p->bytes += page->n_packed = n_bytes;
    }
    unlock(p);
    return ok;
}

void dsx__page_drop_reals(dsx__pool *p, dsx__page *page) {
    lock(p);
    if (page->n_refs == 1 && page->data != NULL) {
        if (p->n_spare < MAX_SPARE)
            p->spare[p->n_spare++] = page->data;
        else
            free_reals(p, page->data);
        page->data = NULL;
    }
    unlock(p);
}

size_t dsx__page_bytes(const dsx__pool *p) {
    return p->page_reals * p->ops->real_bytes;
}

void dsx__page_publish(dsx__pool *p, dsx__page *page, uint64_t parent, const uint32_t *ids) {
    lock(p);
    if (!page->is_known) {
        memcpy(page->ids, ids, sizeof page->ids);
        page->parent = parent;
        page->used = ++p->clock;
        page->is_known = true;
        page->next = p->known;
        p->known = page;
    }
    unlock(p);
}

dsx__page *dsx__page_find(dsx__pool *p, uint64_t parent, const uint32_t *ids) {
    dsx__page *page;

    lock(p);
    for (page = p->known; page != NULL; page = page->next)
        if (page->parent == parent && memcmp(page->ids, ids, sizeof page->ids) == 0) break;
    if (page != NULL) {
        if (page->n_refs++ == 0) p->n_idle--;
        page->used_before = page->used;
        page->used = ++p->clock;
    }
    unlock(p);
    return page;
}

bool dsx__pool_charge(dsx__pool *p, uint64_t n_bytes) {
    bool ok;

    lock(p);
    ok = room(p, n_bytes);
    if (ok) p->bytes += n_bytes, p->charged += n_bytes;
    unlock(p);
    return ok;
}

void dsx__pool_discharge(dsx__pool *p, uint64_t n_bytes) {
    lock(p);
    p->bytes -= n_bytes;
    p->charged -= n_bytes;
    unlock(p);
}

bool dsx__pool_is_full(dsx__pool *p, uint64_t n_bytes) {
    bool is_full;

    lock(p);
    is_full = p->max_bytes - p->bytes < n_bytes;
    unlock(p);
    return is_full;
}

uint64_t dsx__pool_bytes(dsx__pool *p) {
    uint64_t bytes;

    lock(p);
    bytes = p->bytes - p->charged;
    unlock(p);
    return bytes;
}
