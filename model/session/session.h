/* SPDX-License-Identifier: MIT */
/* A session from inside, for those who look into its rows. */
#ifndef DSX_SESSION_SESSION_H
#define DSX_SESSION_SESSION_H

#include "arch/forward.h"

#include <dsx/session.h>

/* The room of its chunks, free between two calls. While its record or its watch is set, every row is read, not
 * found again among the known pages. */
dsx__work *dsx__session_work(dsx_session *session);
/* From now on its pages are not found by other sessions, nor theirs by it: for texts that nobody will read
 * again, and for rows at other positions (dsx__work.shift). */
void dsx__session_alone(dsx_session *session);
/* Tokens ids[0, n) come next; all but the last are read. Log-probabilities of the last n_answer of them,
 * which is at most n - 1. */
dstok_status dsx__session_answer(dsx_session *session, const uint32_t *ids, size_t n, size_t n_answer,
                                 double *logprobs, dstok_error *err);
/* Keys and values of all that was read. */
dsx__page_table dsx__session_pages(const dsx_session *session);

#endif
