/* SPDX-License-Identifier: MIT */
/* Mixture of experts: which experts a token goes to, and with what weight. */
#ifndef DSX_ARCH_ROUTE_H
#define DSX_ARCH_ROUTE_H

#include "arch/config.h"

/* Chooses m->n_used experts for one token.
 *  logits   [n_experts] of the router; overwritten
 *  bias     [n_experts], added for choosing only; NULL: none
 *  scratch  [n_experts + n_groups]
 *  experts, weights  [n_used], best first; of equal ones the lowest number */
void dsx__route(const dsx__moe *m, double *logits, const double *bias, double *scratch, uint32_t *experts,
                double *weights);

#endif
