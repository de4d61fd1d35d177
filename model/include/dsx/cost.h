/* SPDX-License-Identifier: MIT */
/* What a model would cost on a machine that is not there: memory, time, traffic, and which choices are
 * worth a look. Times are those of a roofline: the greater of bytes through memory and operations through
 * the arithmetic. Real programs take longer; figures are for comparing choices, and as a floor. Units:
 * bytes, seconds, operations (2 for each multiply-add). */
#ifndef DSX_COST_H
#define DSX_COST_H

#include <dsx/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device, and the link between two of them or to the host. Rates are a second.
 *  memory      bytes
 *  bandwidth   bytes read from memory
 *  operations  of dense matrix products
 *  link        bytes from device to device, one way
 *  link_delay  seconds before the first byte
 *  host_link   bytes from the host's memory */
typedef struct dsx_machine {
    const char *name;
    double memory, bandwidth, operations, link, link_delay, host_link;
} dsx_machine;

/** A machine by name ("h200"), with its maker's nominal figures; NULL for an unknown one. dsx_machine_at
 *  lists them: NULL behind the last.   Owns: static.   Threads: safe.   Since: 0.2 */
DSTOK_API const dsx_machine *dsx_machine_find(const char *name);
DSTOK_API const dsx_machine *dsx_machine_at(size_t i);

/** What counts of a model for its cost.
 *  weights        bytes of all weights
 *  active_weights bytes that one token passes through: without experts it does not use, and the embedding it
 *      looks up
 *  token_operations   of one token but for attention
 *  pair_operations    of attention, for each token before it
 *  kv             bytes of keys and values of a token
 *  window         tokens that attention sees at most; 0: all
 *  n_layers, width    of the residual stream, which devices exchange as numbers of number_bytes */
typedef struct dsx_cost_model {
    double weights, active_weights, token_operations, pair_operations, kv, window;
    uint32_t n_layers, width;
    double number_bytes;
} dsx_cost_model;

/** The cost model of a checkpoint whose weights take bits_per_weight each (0: as in the file) and whose keys
 *  and values take kv_bits a number.   Returns: as dsx_plan_model.   Threads: safe.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_cost_of(const char *path, double bits_per_weight, double kv_bits,
                                                   dsx_cost_model *out, dstok_error *err);

/** One way to run: batch texts of length tokens each. */
typedef struct dsx_point {
    uint32_t batch;
    uint64_t length;
    double memory;            /**< bytes */
    double prefill;           /**< seconds for all texts */
    double step;              /**< seconds for one more token of each text: the latency of a token */
    double tokens_per_second; /**< batch / step */
    int fits;                 /**< memory is not above the machine's */
    int is_best;              /**< see dsx_pareto */
} dsx_point;

/** The roofline of one point.   Threads: safe.   Since: 0.2 */
DSTOK_API void dsx_cost_point(const dsx_cost_model *model, const dsx_machine *machine, uint32_t batch,
                              uint64_t length, dsx_point *out);

/** Which of n points no other one beats. values has n rows of n_objectives numbers, the smaller the better. A
 *  point is beaten by one that is nowhere worse and somewhere better: of equal points all stay. A point with
 *  a NaN is never best, and beats none. best gets 1 or 0 for each.   Threads: safe.   Cost: O(n^2
 *  n_objectives).   Since: 0.2 */
DSTOK_API void dsx_pareto(const double *values, size_t n, size_t n_objectives, int *best);

/** One text of n tokens over n_devices. In tensor parallelism each has a part of every matrix, and two sums
 *  over all devices are made in every layer. In sequence parallelism each has a part of the text and all
 *  weights, and gets the keys and values of all others. Bytes are those that one device sends; a sum over p
 *  devices by a ring sends 2 (p - 1) / p of its size in 2 (p - 1) messages. */
typedef struct dsx_parallel {
    double tensor_bytes, tensor_seconds; /**< communication of one pass */
    double tensor_memory;                /**< weights on a device */
    double sequence_bytes, sequence_seconds, sequence_memory;
    double compute; /**< seconds of one device's share */
} dsx_parallel;
DSTOK_API void dsx_cost_parallel(const dsx_cost_model *model, const dsx_machine *machine, uint64_t n,
                                 uint32_t n_devices, dsx_parallel *out);

/** Layers kept on the host and copied to the device while those before them compute.
 *  n_layers, layer_bytes, layer_seconds  of one pass through a layer
 *  fixed_bytes   what is on the device in any case
 *  budget        bytes of the device
 *  host_link     bytes a second
 *  offload       gets 1 for each layer that stays on the host; room for n_layers
 *  resident      gets the bytes on the device, two buffers for layers that come and go included
 *  stall         gets the seconds of a pass in which the device waits for copies: 0 where all are hidden
 *  Layers are taken evenly over the model, as few as the budget needs.
 *  Returns: DSTOK_OK; E_LIMIT (not even with all layers on the host); E_INVAL.   Threads: safe.   Since: 0.2
 *      */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_offload(uint32_t n_layers, double layer_bytes,
                                                   double layer_seconds, double fixed_bytes, double budget,
                                                   double host_link, int *offload, double *resident,
                                                   double *stall);

#ifdef __cplusplus
}
#endif
#endif
