/* SPDX-License-Identifier: MIT */
/* Not there yet. */
#include "explain/explain.h"

#include "base.h"

dstok_status dsx__ablate(dsx_prompt *p, dsx__explaining *e, dstok_error *err) {
    (void)p;
    (void)e;
    return dsx__fail(err, DSTOK_E_UNSUPPORTED, DSTOK_NO_OFFSET, "not in this version");
}

dstok_status dsx__trust(dsx_prompt *p, dsx__explaining *e, dstok_error *err) {
    return dsx__ablate(p, e, err);
}
