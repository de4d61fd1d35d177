/* SPDX-License-Identifier: MIT */
/* A session from inside, for those who look into its rows. */
#ifndef DSX_SESSION_SESSION_H
#define DSX_SESSION_SESSION_H

#include "arch/forward.h"

#include <dsx/session.h>

/* The room of its chunks, free between two calls. While its record or its watch is set, every row is read, not
 * found again among the known pages. */
dsx__work *dsx__session_work(dsx_session *session);
/* Keys and values of all that was read. */
dsx__page_table dsx__session_pages(const dsx_session *session);

#endif
