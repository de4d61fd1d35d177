/* SPDX-License-Identifier: MIT */
/* Reports as one page of HTML. */
#include "base.h"
#include "explain/report.h"

dstok_status dsx__write_html(dsx__report *r, dstok_error *err) {
    (void)r;
    return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, "no HTML in this version");
}
