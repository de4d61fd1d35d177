/* SPDX-License-Identifier: MIT */
/* What opening a model and planning for it have in common. */
#ifndef DSX_ARCH_OPEN_H
#define DSX_ARCH_OPEN_H

#include "arch/model.h"
#include "base.h"

bool dsx__options_are_valid(const dsx_model_options *o);
const dsx__backend_ops *dsx__backend_of(const dsx_model_options *o);
dsx__backend_options dsx__backend_options_of(const dsx_model_options *o);

/* Calls f for each part of a model that a backend loads; quantise: the part is a large matrix, not a norm,
 * bias, router or embedding. */
void dsx__parts_each(const dsx__config *c, const dsx__parts *parts,
                     void (*f)(void *context, const dsx__part *part, bool quantise), void *context);

uint64_t dsx__plan_weights(const dsx__config *c, const dsx__parts *parts, const dsx__backend_ops *ops,
                           const dsx__backend_options *options, uint64_t *n_parameters);

#endif
