/* SPDX-License-Identifier: MIT */
/* How much memory a model will take, before any is taken. */
#ifndef DSX_PLAN_H
#define DSX_PLAN_H

#include <dsx/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is planned for. Zero is the default of every field.
 *  model    how it would be opened; NULL: the defaults
 *  context  tokens of a session; 0: what the model was made for
 *  chunk, kv, kv_recent  as of dsx_session_options
 *  n_sessions  that are as long as context at once, sharing no pages; 0: 1 */
typedef struct dsx_plan_options {
    size_t struct_size;
    const dsx_model_options *model;
    uint64_t context;
    size_t chunk;
    int kv;
    uint64_t kv_recent;
    uint32_t n_sessions;
} dsx_plan_options;
#define DSX_PLAN_OPTIONS_INIT                                                                                \
    { sizeof(dsx_plan_options), NULL, 0, 0, 0, 0, 0 }

/** Bytes.
 *  file     mapped; read once where weights are kept in another form, else used in place (shared by
 *      processes)
 *  weights  beside the mapped file
 *  kv       keys and values of all sessions
 *  work     rows of one chunk, for each session
 *  total    weights + kv + work */
typedef struct dsx_plan {
    size_t struct_size;
    uint64_t context;
    uint64_t n_parameters;
    uint64_t file, weights, kv, work, total;
} dsx_plan;
#define DSX_PLAN_INIT                                                                                        \
    { .struct_size = sizeof(dsx_plan) }

/** Plan a checkpoint's memory: its headers are read, weights are not touched (but
 *  for a head that is there, though it is said to be the embedding: the two are compared).
 *  options [in]  NULL: the defaults
 *  out     [out] untouched on failure
 *  Returns: DSTOK_OK; as dsx_model_open, E_LIMIT (total above options->model->max_bytes: *out is filled all
 *      the same).
 *  Threads: safe.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_plan_model(const char *path, const dsx_plan_options *options,
                                                      dsx_plan *out, dstok_error *err);

#ifdef __cplusplus
}
#endif
#endif
