/* SPDX-License-Identifier: MIT */
/* Not there yet. */
#include "base.h"
#include "explain/report.h"

dstok_status dsx__write_ansi(dsx__report *r, dstok_error *err) {
    (void)r;
    return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, "not in this version");
}
