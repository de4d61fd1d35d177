/* SPDX-License-Identifier: MIT */
/* Long lists as text: all threads make it, part by part, and one of them writes. */
#include "crew.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

#define PART_ITEMS       ((size_t)1 << 14)
#define PARTS_PER_THREAD 2 /* of a round */

struct rounds {
    cli_put *put;
    const void *context;
    size_t n;                     /* items of the list */
    size_t first;                 /* of the round */
    struct cli_buf *made, *ready; /* by part: what this round makes, what the one before made */
    size_t n_ready;
    int rc;
};

static void write_ready(struct rounds *r) {
    size_t i;

    for (i = 0; i < r->n_ready; i++)
        if (r->rc == 0) r->rc = cli_out_buf(&r->ready[i]);
    r->n_ready = 0;
}

/* Item 0 of a round is to write what the one before made, the others are its parts. */
static void work(void *context, size_t worker, size_t i) {
    struct rounds *r = context;
    size_t from, to;

    (void)worker;
    if (i == 0) {
        write_ready(r);
        return;
    }
    from = r->first + (i - 1) * PART_ITEMS;
    to = r->n - from < PART_ITEMS ? r->n : from + PART_ITEMS;
    r->made[i - 1].n = 0;
    r->put(r->context, from, to, &r->made[i - 1]);
}

static struct cli_buf *new_bufs(size_t n) {
    struct cli_buf *bufs = cli_alloc(n * sizeof *bufs);

    return memset(bufs, 0, n * sizeof *bufs);
}

static void free_bufs(struct cli_buf *bufs, size_t n) {
    size_t i;

    for (i = 0; i < n; i++) cli_buf_free(&bufs[i]);
    free(bufs);
}

int cli_out_list(const struct cli_run *run, size_t n, cli_put *put, const void *context) {
    size_t most = PARTS_PER_THREAD * cli_crew_size(run->crew);
    struct rounds r = {put, context, n, 0, new_bufs(most), new_bufs(most), 0, 0};

    while (r.first < n && r.rc == 0) {
        size_t parts = (n - r.first + PART_ITEMS - 1) / PART_ITEMS;
        struct cli_buf *made = r.made;

        if (parts > most) parts = most;
        cli_crew_run(run->crew, 1 + parts, work, &r);
        r.first += parts * PART_ITEMS;
        r.made = r.ready;
        r.ready = made;
        r.n_ready = parts;
    }
    write_ready(&r);
    free_bufs(r.made, most);
    free_bufs(r.ready, most);
    return r.rc;
}
