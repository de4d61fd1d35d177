/* SPDX-License-Identifier: MIT */
/* Training of byte-level BPE vocabularies. NULL where a pointer is wanted is E_INVAL. */
#ifndef DSTOK_TRAINER_H
#define DSTOK_TRAINER_H

#include <dstok/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A training run: one owner, one thread. */
typedef struct dstok_trainer dstok_trainer;

enum {
    DSTOK_TRAIN_ORDER_HF = 0,  /**< byte ids in the order of their byte-level characters (Hugging Face) */
    DSTOK_TRAIN_ORDER_BYTE = 1 /**< byte ids 00-FF (tiktoken-style files) */
};

/** How to train. Zero is the default of every field but vocab_size.
 *  vocab_size      ids in all: special tokens, the 256 bytes and the merges
 *  min_frequency   a pair that occurs less often is not merged; 0 = 2
 *  pattern         name (dstok_pattern_name) or regular expression of the pretokenizer; NULL = "o200k_base"
 *  specials        special tokens, first ids in the given order; shape (n_specials,), NUL-terminated
 *  max_token_length  a pair whose bytes add up to this or more is never merged; 0 = no limit
 *  order           DSTOK_TRAIN_ORDER_*
 *  progress        called now and then with (ctx, merges done, merges wanted); non-zero stops with E_CANCELED
 */
typedef struct dstok_train_options {
    size_t struct_size;
    const dstok_alloc *alloc;
    uint32_t vocab_size;
    uint64_t min_frequency;
    const char *pattern;
    const char *const *specials;
    size_t n_specials;
    size_t max_token_length;
    int order;
    int (*progress)(void *ctx, uint64_t done, uint64_t wanted);
    void *progress_ctx;
} dstok_train_options;
#define DSTOK_TRAIN_OPTIONS_INIT                                                                             \
    { sizeof(dstok_train_options), NULL, 0, 0, NULL, NULL, 0, 0, 0, NULL, NULL }

/** Start a run. Strings of the options are copied.
 *  Returns: DSTOK_OK; E_INVAL (struct_size, vocab_size too small or above 2^24, unknown order or pattern name, a
 *           special token that is empty, double, not UTF-8 or like a token: docs/training.md); E_LIMIT; E_FORMAT
 *           or E_UNSUPPORTED (pattern); E_NOMEM.
 *  Owns: out, to be given to dstok_trainer_free.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_trainer_new(const dstok_train_options *options,
                                                         dstok_trainer **out, dstok_error *err);
DSTOK_API void dstok_trainer_free(dstok_trainer *trainer);

/** Count the pretokens of one document. Special tokens in the text are cut out and not counted.
 *  text    [in] UTF-8, shape (len,)
 *  weight  [in] how often the document counts, > 0
 *  Returns: DSTOK_OK; E_UTF8 (err->offset) and E_INVAL (weight 0), nothing counted; E_STATE after
 *           dstok_trainer_run; E_LIMIT and E_NOMEM, after which every call but free answers E_STATE.
 *  Cost: O(len), memory for distinct pretokens.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_trainer_feed(dstok_trainer *trainer, const void *text,
                                                          size_t len, uint64_t weight, dstok_error *err);

/** Add count occurrences of one pretoken (word lists). Not cut by the pattern; special tokens are cut out.
 *  Returns: DSTOK_OK; E_STATE; E_LIMIT; E_NOMEM.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_trainer_feed_word(dstok_trainer *trainer, const void *word,
                                                               size_t n, uint64_t count, dstok_error *err);

/** Learn the merges. The result depends on the counts only, not on the order of feeding.
 *  Returns: DSTOK_OK; E_CANCELED; E_STATE (called twice); E_NOMEM.   Cost: docs/training.md.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_trainer_run(dstok_trainer *trainer, dstok_error *err);

/** What a run learnt. Merges are ids in order of creation. */
typedef struct dstok_train_result {
    size_t struct_size;
    uint64_t n_pretokens; /**< occurrences counted */
    uint64_t n_words;     /**< distinct pretokens */
    uint64_t n_ids;       /**< ids of the vocabulary */
    uint64_t n_merges;
    uint64_t last_count; /**< count of the last merge */
    int full;            /**< vocab_size was reached; else no pair met min_frequency */
} dstok_train_result;
#define DSTOK_TRAIN_RESULT_INIT                                                                              \
    { sizeof(dstok_train_result), 0, 0, 0, 0, 0, 0 }

/** Results of dstok_trainer_run.
 *  result  [in,out] made with DSTOK_TRAIN_RESULT_INIT; fields up to its struct_size are filled
 *  Returns: DSTOK_OK; E_INVAL (struct_size, NULL; *result untouched), the only way to fail.   Since: 0.1 */
DSTOK_API dstok_status dstok_trainer_result(const dstok_trainer *trainer, dstok_train_result *result);

/** The vocabulary as the text of a tokenizer.json.
 *  out, cap, n  bytes, two-call sizing as dstok_decode
 *  Returns: DSTOK_OK; E_SPACE; E_STATE before a run; E_NOMEM.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_trainer_json(const dstok_trainer *trainer, void *out, size_t cap,
                                                          size_t *n, dstok_error *err);

#ifdef __cplusplus
}
#endif
#endif
