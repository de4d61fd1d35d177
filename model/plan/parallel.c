/* SPDX-License-Identifier: MIT */
/* One text over several devices, and one model over a device and its host. */
#include <dsx/cost.h>

#include <math.h>
#include <string.h>

/* Messages of a ring: each has `bytes`, and waits for the one before it. */
static double messages(const dsx_machine *m, double n, double bytes) {
    return n * (m->link_delay + bytes / m->link);
}

void dsx_cost_parallel(const dsx_cost_model *c, const dsx_machine *m, uint64_t n, uint32_t n_devices,
                       dsx_parallel *out) {
    double p = n_devices > 0 ? n_devices : 1, tokens = (double)n;
    double stream = tokens * c->width * c->number_bytes; /* what one sum is over */
    double share = c->kv * tokens / p; /* keys and values of one device's tokens, all layers */
    dsx_point whole;

    dsx_cost_point(c, m, 1, n, &whole);
    *out = (dsx_parallel){
        .tensor_bytes = 2.0 * c->n_layers * 2 * (p - 1) / p * stream,
        .tensor_seconds = 2.0 * c->n_layers * messages(m, 2 * (p - 1), stream / p),
        .tensor_memory = c->weights / p,
        .sequence_bytes = (p - 1) * share,
        .sequence_seconds = c->n_layers * messages(m, p - 1, share / c->n_layers),
        .sequence_memory = c->weights,
        .compute = whole.prefill / p,
    };
}

/* ---- layers on the host */

/* k of n layers, evenly: layer i is the last of its share. */
static void spread(uint32_t n, uint32_t k, int *offload) {
    for (uint32_t i = 0; i < n; i++) offload[i] = (uint64_t)(i + 1) * k / n > (uint64_t)i * k / n;
}

/* Time lost in one pass of many. A copy begins when the copy before it is done and one of the two buffers
 * is free, that is when the layer before the one before has computed. After a few passes the pattern
 * repeats. */
static double simulate(uint32_t n, const int *offload, double copy, double compute) {
    double copied = 0, now = 0, freed[2] = {0, 0}, before = 0;
    uint64_t k = 0;

    for (int pass = 0; pass < 4; pass++) {
        before = now;
        for (uint32_t i = 0; i < n; i++) {
            if (offload[i]) {
                copied = fmax(copied, freed[k % 2]) + copy;
                now = fmax(now, copied) + compute;
                freed[k++ % 2] = now;
            } else {
                now += compute;
            }
        }
    }
    return now - before - n * compute;
}

dstok_status dsx_offload(uint32_t n_layers, double layer_bytes, double layer_seconds, double fixed_bytes,
                         double budget, double host_link, int *offload, double *resident, double *stall) {
    if (offload == NULL || resident == NULL || stall == NULL || !(layer_bytes >= 0) ||
        !(layer_seconds >= 0) || !(host_link > 0))
        return DSTOK_E_INVAL;
    for (uint32_t k = 0; k <= n_layers; k++) {
        double buffers = k < 2 ? k : 2, bytes = fixed_bytes + (n_layers - k + buffers) * layer_bytes;

        if (!(bytes <= budget)) continue;
        spread(n_layers, k, offload);
        *resident = bytes;
        *stall = fmax(0, simulate(n_layers, offload, layer_bytes / host_link, layer_seconds));
        return DSTOK_OK;
    }
    return DSTOK_E_LIMIT;
}
