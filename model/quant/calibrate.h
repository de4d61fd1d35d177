/* SPDX-License-Identifier: MIT */
/* Fixed limits for rows of activations, chosen from rows that were seen.
 *
 * A row that is rounded with a fixed limit L to whole numbers from -n to n (127 of int8, 7 of int4) becomes
 * Q(x) = s * clamp(nearest(x / s), -n, n) with s = L / n: inside [-L, L] it is rounded, outside it is clipped. In
 * training with such numbers ("fake quantisation") the gradient is passed straight through inside and is 0
 * outside (Jacob et al. 2018, arXiv 1712.05877); this library does not train, it only chooses L:
 *
 *  EMA         least and greatest number of each row, averaged over rows with weights that fade:
 *              m = 0.99 * m + 0.01 * row, the first row as it is; L = max(|least|, |greatest|). Jacob et al.
 *  percentile  |x| <= L holds for that share of the numbers (Wu et al. 2020, arXiv 2004.09602, section 3);
 *              100: the greatest |x|
 *  MSE         of L = k / 128 of the greatest |x|, k = 1 .. 128, the one with the least sum of (Q(x) - x)^2
 *              (Banner et al. 2019, arXiv 1810.05723, search for it by a formula) */
#ifndef DSX_QUANT_CALIBRATE_H
#define DSX_QUANT_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* |x| is counted in bins, 512 for each power of two from 2^-20 to 2^20; the first and the last have what is
 * beyond. */
#define DSX__BINS (40u * 512u + 1u)

typedef struct dsx__seen { /* numbers before one map */
    uint64_t n_rows;
    double low, high; /* averages of the rows' least and greatest number */
    float most;       /* greatest |x| */
    uint64_t n;       /* numbers */
    uint32_t *bins;   /* [DSX__BINS], counts; they stay at their greatest */
} dsx__seen;

bool dsx__seen_new(dsx__seen *s); /* false: out of memory */
void dsx__seen_free(dsx__seen *s);
/* One row more. Numbers that are not finite do not count. */
void dsx__see_row(dsx__seen *s, const double *row, size_t n);

/* The limits; 0 where nothing but 0 was seen. percent is in (0, 100], steps is the greatest whole number.
 * Percentiles are those of bins, up to 1/512 too great; the MSE is that of the middles of bins. */
float dsx__limit_ema(const dsx__seen *s);
float dsx__limit_percentile(const dsx__seen *s, double percent);
float dsx__limit_mse(const dsx__seen *s, int steps);

#endif
