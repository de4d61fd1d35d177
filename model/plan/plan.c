/* SPDX-License-Identifier: MIT */
/* The plan of a model's memory, from its headers. */
#include <dsx/plan.h>

#include "arch/forward.h"
#include "arch/open.h"
#include "quant/kv.h"

typedef struct dsx__sum {
    const dsx__backend_ops *ops;
    uint64_t bytes, parameters;
} dsx__sum;

static void add(void *context, const dsx__part *part, const dsx_format *format) {
    dsx__sum *sum = context;

    sum->bytes += sum->ops->plan(part, format);
    sum->parameters += part->rows * part->columns;
}

uint64_t dsx__plan_weights(const dsx__config *c, const dsx__parts *parts, const dsx_model_options *o,
                           uint64_t *n_parameters) {
    dsx__sum sum = {dsx__backend_of(o), 0, 0};

    dsx__parts_each(c, parts, o, add, &sum);
    *n_parameters = sum.parameters;
    return sum.bytes;
}

/* Pages of one session when it is longest. Packed: the first, the recent ones and that of the last token stay
 * as they are, and those of the chunk that is read come beside. */
static uint64_t kv_bytes(const dsx__kv_shape *s, size_t real_bytes, const dsx_plan_options *o,
                         uint64_t context, uint64_t rows) {
    uint64_t pages = (context + DSX__PAGE - 1) / DSX__PAGE, page = dsx__kv_page_reals(s) * real_bytes,
             kept = 2 + dsx__kv_recent(o->kv_recent), reals = kept + (rows + DSX__PAGE - 1) / DSX__PAGE;

    if (o->kv == DSX_KV_FLOAT) return pages * page;
    return (pages > kept ? pages - kept : 0) * dsx__kv_packed_bytes(s, (dsx__kv_format)o->kv) +
           (reals < pages ? reals : pages) * page;
}

/* Of many long texts: no less than what fits. */
static uint64_t times(uint64_t n, uint64_t bytes) {
    return bytes > 0 && n > UINT64_MAX / 4 / bytes ? UINT64_MAX / 4 : n * bytes;
}

static void fill(const dsx__config *c, const dsx__backend_ops *ops, const dsx_plan_options *o, dsx_plan *p) {
    dsx__kv_shape kv = dsx__kv_shape_of(c);
    uint64_t n = o->n_sessions ? o->n_sessions : 1, rows = o->chunk ? o->chunk : 512;

    p->context = o->context ? o->context : c->context;
    p->kv = times(n, kv_bytes(&kv, ops->real_bytes, o, p->context, rows));
    p->work = times(n, dsx__work_bytes(c, ops->real_bytes, rows) + c->width * ops->real_bytes);
    p->total = p->weights + p->kv + p->work;
}

dstok_status dsx_plan_model(const char *path, const dsx_plan_options *options, dsx_plan *out,
                            dstok_error *err) {
    dsx_plan_options o = DSX_PLAN_OPTIONS_INIT;
    dsx_model_options mo = DSX_MODEL_OPTIONS_INIT;
    dsx_plan plan = DSX_PLAN_INIT;
    dsx__archive archive = {0};
    dsx__parts parts = {0};
    dstok_status status;

    DSX_TRY(dsx__take_options(&o, options, sizeof o, "dsx_plan_options", err));
    DSX_TRY(dsx__take_options(&mo, o.model, sizeof mo, "dsx_model_options", err));
    if (path == NULL || out == NULL || out->struct_size != sizeof *out || o.context > DSX__MAX_CONTEXT ||
        o.chunk > 65536 || o.kv < DSX_KV_FLOAT || o.kv > DSX_KV_INT4 || o.kv_recent > DSX__MAX_CONTEXT ||
        !dsx__options_are_valid(&mo))
        return dsx__fail(err, DSTOK_E_INVAL, DSTOK_NO_OFFSET,
                         "dsx_plan_model: an argument is out of its domain");
    status = dsx__open(path, &mo, &archive, err);
    if (status == DSTOK_OK) status = dsx__policy_fits(&mo, archive.config.n_layers, err);
    if (status == DSTOK_OK) status = dsx__parts_find(&archive, &parts, err);
    if (status == DSTOK_OK) {
        plan.file = archive.file_bytes;
        plan.weights = dsx__plan_weights(&archive.config, &parts, &mo, &plan.n_parameters);
        fill(&archive.config, dsx__backend_of(&mo), &o, &plan);
        *out = plan;
        if (mo.max_bytes > 0 && plan.total > mo.max_bytes)
            status =
                dsx__fail(err, DSTOK_E_LIMIT, DSTOK_NO_OFFSET, "the model needs %llu bytes, %llu are allowed",
                          (unsigned long long)plan.total, (unsigned long long)mo.max_bytes);
    }
    dsx__parts_free(&parts);
    dsx__archive_close(&archive);
    return status;
}
