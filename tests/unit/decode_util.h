/* SPDX-License-Identifier: MIT */
/* Decoding with rows against decoding one token after another: the same in every mode, with any room, and
 * nothing is read or written outside. */
#ifndef DSTOK_TESTS_DECODE_UTIL_H
#define DSTOK_TESTS_DECODE_UTIL_H

#include "../harness/t.h"

#include "../../tokenizer/bpe/model.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define UTIL_ROOM ((size_t)1 << 21)

/* Memory with a page without access behind it. */
static inline uint8_t *util_edge(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *base = mmap(NULL, UTIL_ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (base == MAP_FAILED || mprotect(base + UTIL_ROOM, page, PROT_NONE) != 0) {
        perror("mmap");
        exit(1);
    }
    return base + UTIL_ROOM;
}

typedef struct util_decoded {
    dstok_status status;
    size_t n, unknown;
    dstok_error err;
    uint8_t *out; /* ends at an edge */
} util_decoded;

static inline void util_decode(const dstok_tokenizer *tok, const uint32_t *ids, size_t n, int mode, int skip,
                               size_t cap, util_decoded *d) {
    static uint8_t *edges[2];
    static unsigned turn; /* the two last results stay */
    if (edges[0] == NULL) edges[0] = util_edge(), edges[1] = util_edge();
    uint8_t *edge = edges[turn++ % 2];
    *d = (util_decoded){.n = 7777, .unknown = 7777, .out = edge - cap};
    edge[-1 - (ptrdiff_t)cap] = 0xAA;
    if (cap > 0) memset(d->out, 0xAA, cap < 64 ? cap : 64);
    d->status =
        dstok_decode(tok, ids, n, mode, skip, cap == 0 ? NULL : d->out, cap, &d->n, &d->unknown, &d->err);
    CHECK_EQ(edge[-1 - (ptrdiff_t)cap], 0xAA);
}

static inline bool util_same(const util_decoded *a, const util_decoded *b) {
    if (a->status != b->status || a->n != b->n || a->unknown != b->unknown) return false;
    if (a->status == DSTOK_OK) return memcmp(a->out, b->out, a->n) == 0;
    return a->err.offset == b->err.offset && strcmp(a->err.text, b->err.text) == 0;
}

/* With `rows` of its rows and with none. ids end at an edge, too. */
static inline size_t util_check_rows(const dstok_tokenizer *tok, size_t n_rows, const uint32_t *ids, size_t n,
                                     int mode, int skip, size_t cap) {
    util_decoded want, got;
    dstok_tokenizer one = *tok, many = *tok;
    one.n_rows = 0;
    many.n_rows = n_rows;
    util_decode(&one, ids, n, mode, skip, cap, &want);
    util_decode(&many, ids, n, mode, skip, cap, &got);
    bool same = util_same(&want, &got);
    CHECK(same);
    if (same || t_failures > 4) return want.status == DSTOK_E_BAD_ID ? 0 : want.n;
    fprintf(stderr, "mode %d, skip %d, %zu rows, room %zu: %d with %zu bytes, want %d with %zu; ids", mode,
            skip, n_rows, cap, got.status, got.n, want.status, want.n);
    for (size_t i = 0; i < n && i < 60; i++) fprintf(stderr, " %u", ids[i]);
    fputc('\n', stderr);
    return want.n;
}

/* All modes; small results with every room from none to more than needed, others with some. */
static inline void util_check_list(const dstok_tokenizer *tok, const uint32_t *list, size_t n, t_rng *rng) {
    static uint8_t *edge;
    if (edge == NULL) edge = util_edge();
    uint32_t *ids = (uint32_t *)(void *)edge - n;
    if (n > 0) memcpy(ids, list, n * sizeof *ids);
    for (int k = 0; k < 8; k++) {
        int mode = k / 2, skip = k % 2;
        size_t need = util_check_rows(tok, tok->n_rows, ids, n, mode, skip, UTIL_ROOM / 2);
        util_check_rows(tok, t_below(rng, (uint32_t)tok->n_rows + 1), ids, n, mode, skip, UTIL_ROOM / 2);
        size_t caps[] = {0, need - (need > 0), need, need + 1 + t_below(rng, 40),
                         t_below(rng, (uint32_t)need + 1)};
        for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
            util_check_rows(tok, tok->n_rows, ids, n, mode, skip, caps[i]);
        for (size_t cap = 0; need <= 48 && cap <= need + 20; cap++)
            util_check_rows(tok, tok->n_rows, ids, n, mode, skip, cap);
    }
}

#endif
