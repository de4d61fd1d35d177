/* SPDX-License-Identifier: MIT */
/* Pages of keys and values: DSX__PAGE tokens each, all layers, shared by sessions. Full pages can be found
 * again by the tokens they stand for, so that a prefix that many texts begin with is computed once. */
#ifndef DSX_SESSION_PAGES_H
#define DSX_SESSION_PAGES_H

#include "backend.h"

#include <dsx/model.h>

typedef struct dsx__page {
    dsx__real *data; /* NULL once only the packed form is left */
    uint8_t *packed; /* quant/kv.h, or NULL */
    size_t n_packed; /* bytes of it */
    uint32_t n_refs; /* sessions that hold it */
    bool is_known;   /* full, in the list of those that can be found; never written again */
    uint64_t serial; /* names the page for ever */
    uint64_t parent; /* serial of the page before it; 0: it is the first */
    uint32_t ids[DSX__PAGE];
    uint64_t used, used_before; /* when it was last taken, and the time before that */
    struct dsx__page *next;     /* in the list */
} dsx__page;

typedef struct dsx__pool dsx__pool;

/* Pages take at most max_bytes. */
dstok_status dsx__pool_new(const dsx_model *model, uint64_t max_bytes, dsx__pool **out);
void dsx__pool_free(dsx__pool *pool); /* no session may be left; NULL is accepted */

/* An empty page with one reference; NULL when out of memory, or beyond max_bytes with every page in use. */
dsx__page *dsx__page_take(dsx__pool *pool);
dsx__page *dsx__page_share(dsx__pool *pool, dsx__page *page);
void dsx__page_drop(dsx__pool *pool, dsx__page *page); /* NULL is accepted */

/* A page of one's own to write to: the page itself, or a copy in its place (the reference moves). NULL: no
 * memory, the page is as before. */
dsx__page *dsx__page_own(dsx__pool *pool, dsx__page *page);

/* Memory for the packed form; false when out of memory. And the other form given back, where nobody else
 * has the page. */
bool dsx__page_packed(dsx__pool *pool, dsx__page *page, size_t n_bytes);
void dsx__page_drop_reals(dsx__pool *pool, dsx__page *page);

/* The page has all tokens now: others may find it. */
void dsx__page_publish(dsx__pool *pool, dsx__page *page, uint64_t parent, const uint32_t *ids);
/* The known page behind parent with these tokens, with a reference more; NULL: none. */
dsx__page *dsx__page_find(dsx__pool *pool, uint64_t parent, const uint32_t *ids);

/* Bytes of a session's own, which count as those of pages do; false: there is no room for them. */
bool dsx__pool_charge(dsx__pool *pool, uint64_t n_bytes);
void dsx__pool_discharge(dsx__pool *pool, uint64_t n_bytes);
/* Why n_bytes were not to be had: max_bytes, or the machine's memory. */
bool dsx__pool_is_full(dsx__pool *pool, uint64_t n_bytes);

uint64_t dsx__pool_bytes(dsx__pool *pool);     /* in pages, now */
size_t dsx__page_bytes(const dsx__pool *pool); /* of one, not packed */

#endif
