/* SPDX-License-Identifier: MIT */
/* The quick part of decoding: a copy of fixed length for each token, whose surplus the next one covers. */
#include "decode_rows.h"

#include <string.h>

/* Rows are asked for so many ids ahead: the list is known, the caches are too small for all rows of a large
 * vocabulary. */
#define AHEAD 256u

/* ---- making rows ---- */

static bool is_plain(uint8_t flags) {
    return (flags & (DSTOK_TOKEN_EXISTS | DSTOK_TOKEN_SPECIAL | DSTOK__TOKEN_BYTE)) == DSTOK_TOKEN_EXISTS;
}

void dstok__rows_fill(const dstok__tables *t, dstok__row *rows, size_t n) {
    size_t n_strings = dstok__tables_n(t, DSTOK__S_STRINGS);
    for (size_t id = 0; id < n; id++) {
        dstok__ref ref = t->tokens[id];
        bool is_short = ref.n <= DSTOK__ROW_BYTES && is_plain(t->flags[id]);
        if (n_strings >= sizeof *rows && ref.at <= n_strings - sizeof *rows) {
            memcpy(&rows[id], t->strings + ref.at, sizeof *rows); /* of fixed length, then cut */
        } else {
            memset(&rows[id], 0, sizeof *rows);
            memcpy(&rows[id], t->strings + ref.at, is_short ? ref.n : 0);
        }
        rows[id].n = (uint8_t)(is_short ? ref.n : DSTOK__ROW_OTHER);
    }
}

/* ---- using them ---- */

/* Any number may stand here: no pointer to a row is made. */
static inline void ask_for(const dstok__row *rows, uint32_t id) {
    __builtin_prefetch((const void *)((uintptr_t)rows + id * sizeof *rows));
}

void dstok__rows_begin(const dstok__rows *r) {
    for (size_t i = 0; i < AHEAD && i < r->n; i++) ask_for(r->rows, r->ids[i]);
}

/* The bytes of an id whose row says nothing, or NULL when it is not for us. */
static const uint8_t *other(const dstok__rows *r, uint32_t id, size_t *n) {
    if ((r->t->flags[id] & (r->stop | DSTOK_TOKEN_EXISTS)) != DSTOK_TOKEN_EXISTS) return NULL;
    *n = r->t->tokens[id].n;
    return r->t->strings + r->t->tokens[id].at;
}

size_t dstok__rows_copy(const dstok__rows *r, size_t i, size_t end, uint8_t *out, size_t cap, size_t *n_out) {
    const uint32_t *ids =
        r->ids; /* in variables of our own: out might be *r, for all that the compiler knows */
    const dstok__row *rows = r->rows;
    size_t n_rows = r->n_rows, n_ids = r->n, at = 0, last = cap - DSTOK__ROW_ROOM;
    for (; cap >= DSTOK__ROW_ROOM && i < end; i++) {
        uint32_t id = ids[i];
        ask_for(rows, ids[n_ids - i > AHEAD ? i + AHEAD : i]);
        if (id >= n_rows || at > last) break;
        size_t n = rows[id].n;
        memcpy(out + at, &rows[id], DSTOK__ROW_ROOM);
        if (n == DSTOK__ROW_OTHER) {
            const uint8_t *bytes = other(r, id, &n);
            if (bytes == NULL || n > cap - at) break;
            memcpy(out + at, bytes, n);
        }
        at += n;
    }
    *n_out = at;
    return i;
}

size_t dstok__rows_count(const dstok__rows *r, size_t i, size_t end, size_t *n_out) {
    size_t sum = 0;
    for (; i < end; i++) {
        uint32_t id = r->ids[i];
        ask_for(r->rows, r->ids[r->n - i > AHEAD ? i + AHEAD : i]);
        if (id >= r->n_rows) break;
        size_t n = r->rows[id].n;
        if (n == DSTOK__ROW_OTHER && other(r, id, &n) == NULL) break;
        sum += n;
    }
    *n_out = sum;
    return i;
}
