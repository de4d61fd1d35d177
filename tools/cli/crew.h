/* SPDX-License-Identifier: MIT */
/* Threads that share out the items of a round, and sleep between rounds. */
#ifndef CLI_CREW_H
#define CLI_CREW_H

#include <stddef.h>

struct cli_crew;

/* What is done with item i. `worker`, below cli_crew_size, is the thread that does it: what is kept for each worker
 * needs no lock. */
typedef void cli_task(void *context, size_t worker, size_t i);

/* n_threads > 0 in all, the caller's among them. */
struct cli_crew *cli_crew_new(size_t n_threads);
void cli_crew_free(struct cli_crew *crew); /* NULL allowed */
size_t cli_crew_size(const struct cli_crew *crew);

/* Make the threads now, and not with the first round of two items. Returns how many there are, the caller's among
 * them: what cannot be made is done without. */
size_t cli_crew_start(struct cli_crew *crew);

/* One round: items [0, n), which are taken in their order. Returns when all are done. */
void cli_crew_run(struct cli_crew *crew, size_t n, cli_task *task, void *context);

#endif
