/* SPDX-License-Identifier: MIT */
/* Models: opened from a file or folder, what they are, and how much memory they will take. */
#ifndef DSX_MODEL_H
#define DSX_MODEL_H

#include <dstok/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A model. Immutable once opened: any number of sessions and threads may use it. */
typedef struct dsx_model dsx_model;

/** Where numbers are computed. */
typedef struct dsx_backend dsx_backend;

/** float on the CPU, with AVX2 or AVX-512 where there is.   Owns: static.   Threads: safe.   Since: 0.2 */
DSTOK_API const dsx_backend *dsx_backend_cpu(void);
/** double on the CPU, by plain loops: slow, for checking others.   Owns: static.   Threads: safe.   Since:
 *  0.2 */
DSTOK_API const dsx_backend *dsx_backend_float64(void);

/** A table of number formats: n_layers x 4 maps, and the head: <dsx/policy.h>. */
typedef struct dsx_policy dsx_policy;

/** How weights are kept in memory. */
enum {
    DSX_WEIGHTS_FILE = 0, /**< as they stand in the file, quantised or not */
    DSX_WEIGHTS_F32 = 1,  /**< as float */
    DSX_WEIGHTS_W8 = 2,   /**< int8, in groups */
    DSX_WEIGHTS_W4 = 3,   /**< 4 bits, in groups */
    DSX_WEIGHTS_FP8 = 4   /**< E4M3, a scale for each row or for squares of 128 x 128 */
};

/** Instructions a backend may use at most. */
enum { DSX_SIMD_AUTO = 0, DSX_SIMD_SCALAR = 1, DSX_SIMD_AVX2 = 2, DSX_SIMD_AVX512 = 3 };

/** What is kept of a token that was read, in models of DeepSeek. Both give the same sums in another order, so
 *  the numbers differ in their last digits; each gives the same bits however a text is fed. */
enum {
    DSX_MLA_LATENT = 0, /**< the latent row that all heads share */
    DSX_MLA_HEADS = 1   /**< keys and values of each head: many times the memory, but long texts are read in
                             fewer operations */
};

/** Zero is the default of every field.
 *  backend    NULL: dsx_backend_cpu()
 *  n_threads  0: as many as the process has CPUs
 *  simd       DSX_SIMD_*
 *  weights    DSX_WEIGHTS_*
 *  group      of W8 and W4: 32, 64 or 128; 0: 64. Of FP8: 128: squares; 0: rows
 *  max_bytes  refuse to take more memory than that; 0: no limit
 *  alibi      slope of a linear bias by distance on top of the model's positions; 0: none (experimental)
 *  policy     formats of the single maps, in place of weights and group; it must have the model's number of
 *      layers, and is not needed any more once the model is open. NULL: weights and group apply to all maps
 *      of layers (F32: to the head as well)
 *  mla        DSX_MLA_*; without effect on other models */
typedef struct dsx_model_options {
    size_t struct_size;
    const dsx_backend *backend;
    size_t n_threads;
    int simd;
    int weights;
    uint32_t group;
    uint64_t max_bytes;
    double alibi;
    const dsx_policy *policy;
    int mla;
} dsx_model_options;
#define DSX_MODEL_OPTIONS_INIT                                                                               \
    { sizeof(dsx_model_options), NULL, 0, 0, 0, 0, 0, 0.0, NULL, 0 }

/** Open a checkpoint: a folder with config.json and .safetensors files, a .safetensors file in such a folder,
 *  a .gguf file, or a .bin file of llama2.c.
 *  options  [in]  NULL: the defaults
 *  out      [out] untouched on failure
 *  err      [out] names the file, the tensor or key, and what is wrong; NULL allowed
 *  Returns: DSTOK_OK; E_IO; E_FORMAT; E_TRUNCATED; E_UNSUPPORTED (an architecture or number format that is
 *      not known); E_LIMIT (max_bytes); E_NOMEM; E_INVAL (also: a policy for another number of layers).
 *  Owns: out, to be given to dsx_model_free.   Threads: safe.   Cost: reads the file's headers; weights are
 *      read
 *  once, for packing.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_model_open(const char *path, const dsx_model_options *options,
                                                      dsx_model **out, dstok_error *err);
/** Free it; no session may be left. NULL is accepted.   Threads: not safe for one model.   Since: 0.2 */
DSTOK_API void dsx_model_free(dsx_model *model);

/** What a model is.
 *  arch        "llama", "mistral", "qwen2", "qwen3", "qwen3_moe", "deepseek"
 *  tokenizer   path for dstok_tokenizer_load; NULL: the checkpoint has none
 *  chat        template, as it stands in the checkpoint (Jinja); NULL: none
 *  bos, eos    ids; -1: none. eos: n_eos of them */
typedef struct dsx_model_info {
    size_t struct_size;
    const char *arch;
    const char *backend;
    const char *tokenizer;
    const char *chat;
    uint32_t n_layers, width, n_heads, n_kv_heads, head_dim, ffn, n_vocab, context, window;
    uint32_t n_experts, n_experts_used, kv_rank;
    int tied_head;
    uint64_t n_parameters;
    uint64_t file_bytes, weight_bytes, kv_bytes_per_token;
    int64_t bos;
    int64_t eos[8];
    uint32_t n_eos;
} dsx_model_info;
#define DSX_MODEL_INFO_INIT                                                                                  \
    { .struct_size = sizeof(dsx_model_info) }

/** Fill *info. Strings live as long as the model.   Returns: DSTOK_OK; E_INVAL.   Threads: safe.   Since: 0.2
 *  */
DSTOK_API dstok_status dsx_model_describe(const dsx_model *model, dsx_model_info *info);

#ifdef __cplusplus
}
#endif
#endif
