/* SPDX-License-Identifier: MIT */
/* Number formats of a model's maps, layer by layer: how weights are kept, and how rows are rounded before they
 * are multiplied with them. */
#ifndef DSX_POLICY_H
#define DSX_POLICY_H

#include <dsx/model.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The maps of a layer. Maps of experts belong to the same op as those of a dense layer, the maps around the
 *  latent of DeepSeek to DSX_OP_QKV; norms, biases, routers and embeddings to none: they are never rounded.
 *  */
enum {
    DSX_OP_QKV = 0,  /**< queries, keys and values */
    DSX_OP_OUT = 1,  /**< behind attention */
    DSX_OP_UP = 2,   /**< gate and up */
    DSX_OP_DOWN = 3, /**< down */
    DSX_OP_HEAD = 4, /**< of the model, not of a layer */
    DSX_N_OPS = 5
};

/** How a row is rounded before it is multiplied: to steps of greatest / 127 (int8) or greatest / 7 (int4),
 *  where greatest is that of the row itself, or one that was found before (_FIXED). Int8 rows are meant for
 *  use, the others for trying out. DSX_ROWS_INT4_HADAMARD turns row and weights by a Hadamard matrix first,
 *  in blocks of the greatest power of two that divides their length; a map's result is the same but for
 *  rounding. */
enum {
    DSX_ROWS_FLOAT = 0, /**< not at all */
    DSX_ROWS_INT8 = 1,
    DSX_ROWS_INT4 = 2,
    DSX_ROWS_INT4_HADAMARD = 3,
    DSX_ROWS_INT8_FIXED = 4,
    DSX_ROWS_INT4_FIXED = 5
};

/** The number format of a map.
 *  weights  DSX_WEIGHTS_*
 *  group    weights of a row that share a scale. W8, W4: 32, 64, 128; 0: 64. FP8: 0: the row; 128: squares of
 *      128 x 128. Others: 0
 *  rows     DSX_ROWS_*
 *  limit    greatest |x| that a row of _FIXED can hold, above 0; what is beyond is cut. Others: 0 */
typedef struct dsx_format {
    int weights;
    uint32_t group;
    int rows;
    float limit;
} dsx_format;

/** A table in which all maps of layers have one format, and the head is as in the file.
 *  n_layers  [in]  1 to 1,024
 *  all       [in]  NULL: as in the file, rows are not rounded
 *  out       [out] untouched on failure
 *  Returns: DSTOK_OK; E_INVAL (err says what is wrong); E_NOMEM.
 *  Owns: out, to be given to dsx_policy_free.   Threads: safe.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_policy_new(uint32_t n_layers, const dsx_format *all,
                                                      dsx_policy **out, dstok_error *err);
/** Free it. NULL is accepted.   Since: 0.2 */
DSTOK_API void dsx_policy_free(dsx_policy *policy);

/** The number of layers.   Since: 0.2 */
DSTOK_API uint32_t dsx_policy_layers(const dsx_policy *policy);
/** Set the format of one map; of the head whatever layer is.   Returns: DSTOK_OK; E_INVAL.   Since: 0.2 */
DSTOK_API dstok_status dsx_policy_set(dsx_policy *policy, uint32_t layer, int op, const dsx_format *format);
/** The format of one map; of the head whatever layer is.   Returns: DSTOK_OK; E_INVAL.   Since: 0.2 */
DSTOK_API dstok_status dsx_policy_get(const dsx_policy *policy, uint32_t layer, int op, dsx_format *out);

/** Read a table from a JSON file, as dsx_policy_write makes it: an object of "layers", a list of objects of
 *  "qkv", "out", "up" and "down", and "head". Each is an object of - weights: "file", "f32", "w8", "w4" or
 *  "fp8"; must be there - group: a number; 0 without - rows: "float", "int8", "int4", "int4-hadamard",
 *  "int8-fixed" or "int4-fixed"; "float" without - limit: a number, with _FIXED alone. Every map must be
 *  there, and nothing else.
 *  out  [out] untouched on failure
 *  err  [out] names the file, and the layer and map or the byte that is wrong; NULL allowed
 *  Returns: DSTOK_OK; E_IO; E_FORMAT; E_NOMEM; E_INVAL.
 *  Owns: out, to be given to dsx_policy_free.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_policy_read(const char *path, dsx_policy **out, dstok_error *err);
/** Write a table to a file, which appears whole or stays as it was.   Returns: DSTOK_OK; E_IO; E_NOMEM;
 *  E_INVAL.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_policy_write(const dsx_policy *policy, const char *path,
                                                        dstok_error *err);

/** How a fixed limit is chosen from rows that were seen. */
enum {
    DSX_LIMIT_EMA = 0, /**< averages of the rows' least and greatest numbers, new rows with weight 0.01 */
    DSX_LIMIT_PERCENTILE = 1, /**< of |x| */
    DSX_LIMIT_MSE = 2         /**< of 128 even parts of the greatest |x|, that of the least square error */
};

/** Choose the limits of all maps whose rows are DSX_ROWS_*_FIXED, from the rows before them while a model
 *  reads a text (docs/quantisation.md). A map that saw nothing but zeros gets 1.
 *  policy   [in,out] unchanged but for limits, on failure perhaps for some of them
 *  model    [in]  of as many layers; its rows count as they are: open it without rounding
 *  ids      [in]  shape (n,), n > 0; read in windows of what the model was made for
 *  rule     [in]  DSX_LIMIT_*
 *  percent  [in]  of DSX_LIMIT_PERCENTILE: above 0, to 100 (the greatest |x|)
 *  Returns: DSTOK_OK; E_INVAL; E_BAD_ID; E_NOMEM.
 *  Threads: safe, but for policy.   Cost: as dsx_session_feed; 82 KB a map.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_policy_calibrate(dsx_policy *policy, const dsx_model *model,
                                                            const uint32_t *ids, size_t n, int rule,
                                                            double percent, dstok_error *err);

#ifdef __cplusplus
}
#endif
#endif
