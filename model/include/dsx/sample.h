/* SPDX-License-Identifier: MIT */
/* Choosing the next token from logits. */
#ifndef DSX_SAMPLE_H
#define DSX_SAMPLE_H

#include <dsx/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How to choose, and the state of the random numbers.
 *  temperature  0: the likeliest token, of equal ones the lowest id
 *  top_k        only the k likeliest, of equal ones the lower ids; 0: all
 *  top_p        only the fewest that reach this probability together; 0 or 1: all
 *  state        of the random numbers: set to a seed before the first call. The same seed gives the same
 *      tokens on every machine, from the same logits */
typedef struct dsx_sampler {
    double temperature;
    uint32_t top_k;
    double top_p;
    uint64_t state;
} dsx_sampler;

/** Choose from logits, shape (n,), n > 0; they are overwritten. NaN is never chosen where there is a number.
 *  Returns: an id below n.   Threads: safe for distinct samplers.   Cost: O(n), with top_k or top_p some 60
 *      times. Takes no memory.   Since: 0.2 */
DSTOK_API uint32_t dsx_sample(dsx_sampler *sampler, double *logits, size_t n);

#ifdef __cplusplus
}
#endif
#endif
