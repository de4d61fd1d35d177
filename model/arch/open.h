/* SPDX-License-Identifier: MIT */
/* What opening a model and planning for it have in common. */
#ifndef DSX_ARCH_OPEN_H
#define DSX_ARCH_OPEN_H

#include "arch/model.h"
#include "base.h"

bool dsx__options_are_valid(const dsx_model_options *o);
/* Opens the checkpoint; its configuration gets what options say of it. */
dstok_status dsx__open(const char *path, const dsx_model_options *o, dsx__archive *out, dstok_error *err);
const dsx__backend_ops *dsx__backend_of(const dsx_model_options *o);

/* E_INVAL: the policy of options is not for a model of so many layers. */
dstok_status dsx__policy_fits(const dsx_model_options *o, uint32_t n_layers, dstok_error *err);

/* The format of a map: what options say of op in this layer. */
dsx_format dsx__format_of(const dsx_model_options *o, uint32_t layer, int op);

/* Calls f for each part of a model that a backend loads; format as of its load. */
void dsx__parts_each(const dsx__config *c, const dsx__parts *parts, const dsx_model_options *o,
                     void (*f)(void *context, const dsx__part *part, const dsx_format *format),
                     void *context);

uint64_t dsx__plan_weights(const dsx__config *c, const dsx__parts *parts, const dsx_model_options *o,
                           uint64_t *n_parameters);

#endif
