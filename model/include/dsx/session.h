/* SPDX-License-Identifier: MIT */
/* Sessions: a text that a model has read so far, and what it says comes next. */
#ifndef DSX_SESSION_H
#define DSX_SESSION_H

#include <dsx/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Tokens that were read, as keys and values in pages of 64 tokens. One thread at a time; several sessions of
 *  one model may work at once. */
typedef struct dsx_session dsx_session;

/** How keys and values are kept. */
enum {
    DSX_KV_FLOAT = 0,
    DSX_KV_INT8 = 1, /**< those that lie far back as int8: a quarter of the memory */
    DSX_KV_INT4 = 2  /**< as 4 bits: for trying out */
};

/** Zero is the default of every field.
 *  max_tokens  longest text; 0: what the model was made for
 *  chunk       tokens that pass through the layers together; 0: 512. Results do not depend on it
 *  kv          DSX_KV_*
 *  kv_recent   with DSX_KV_INT8 and INT4: tokens before the one that is read which stay as they are, rounded
 *      up to pages of 64; 0: 128. The first 64 tokens of a text stay, too: attention often rests on them */
typedef struct dsx_session_options {
    size_t struct_size;
    uint64_t max_tokens;
    size_t chunk;
    int kv;
    uint64_t kv_recent;
} dsx_session_options;
#define DSX_SESSION_OPTIONS_INIT                                                                             \
    { sizeof(dsx_session_options), 0, 0, 0, 0 }

/** Make an empty session. model must outlive it.
 *  Returns: DSTOK_OK; E_INVAL; E_NOMEM; E_LIMIT (max_tokens above 2^24; max_bytes of the model);
 *      E_UNSUPPORTED (kv, of this backend).
 *  Owns: out, to be given to dsx_session_free.   Threads: safe.   Cost: buffers of one chunk; pages are taken
 *      as the text
 *  grows.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_session_new(const dsx_model *model,
                                                       const dsx_session_options *options, dsx_session **out,
                                                       dstok_error *err);
/** Another session at the same place; pages are shared until one of the two writes to them.
 *  Owns: out.   Threads: not safe with other calls for session.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_session_fork(const dsx_session *session, dsx_session **out,
                                                        dstok_error *err);
/** NULL is accepted.   Since: 0.2 */
DSTOK_API void dsx_session_free(dsx_session *session);

/** Read n more tokens. Feeding in parts, one by one or all at once gives the same bits.
 *  Returns: DSTOK_OK; E_BAD_ID (err->offset: which of ids; nothing was read); E_LIMIT (max_tokens; nothing
 *      was read); E_LIMIT (max_bytes of the model) and E_NOMEM (dsx_session_length tells how many were read:
 *      chunk by chunk).   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_session_feed(dsx_session *session, const uint32_t *ids, size_t n,
                                                        dstok_error *err);

/** The same, and the log-probability of each token given all before it: logprobs[i] for ids[i]. That of the
 *  first token of a session is NaN: nothing stands before it.   Cost: as feed, and one row of the head a
 *  token; logits are not kept.
 *  Returns: as dsx_session_feed.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_session_score(dsx_session *session, const uint32_t *ids, size_t n,
                                                         double *logprobs, dstok_error *err);

/** Takes the logits behind one token that was read, shape (n_vocab,): those of the token at position + 1.
 *  Non-zero: stop, the call answers DSTOK_E_CANCELED. It must not call the session. */
typedef int dsx_logits_sink(void *context, uint64_t position, const double *logits);

/** Read n more tokens, and show the logits behind each of them.
 *  Returns: as dsx_session_feed; E_CANCELED (tokens to the end of the chunk were read: dsx_session_length).
 *  Cost: as feed, and one row of the head a token; memory for 9 rows of logits.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_session_read(dsx_session *session, const uint32_t *ids, size_t n,
                                                        dsx_logits_sink *sink, void *context,
                                                        dstok_error *err);

/** Logits of the next token, shape (n_vocab,).
 *  Returns: DSTOK_OK; E_STATE (nothing was read yet); E_SPACE (cap < n_vocab).   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_session_logits(dsx_session *session, double *logits, size_t cap,
                                                          dstok_error *err);

/** Log-probabilities of the given next tokens, out[i] for targets[i]: the logits are not kept.
 *  Returns: DSTOK_OK; E_STATE; E_BAD_ID.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_session_next(dsx_session *session, const uint32_t *targets,
                                                        size_t n, double *out, dstok_error *err);

/** Tokens read so far.   Since: 0.2 */
DSTOK_API uint64_t dsx_session_length(const dsx_session *session);

/** Forget all tokens from position n on. Then logits need one feed first.
 *  Returns: DSTOK_OK; E_RANGE (n above the length); E_STATE (keys and values that would be needed as they
 *      were have been rounded: with DSX_KV_INT8 and INT4 a text can go back within its last 64 tokens' page,
 *      to 0, or while it is short). Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_session_truncate(dsx_session *session, uint64_t n,
                                                            dstok_error *err);

#ifdef __cplusplus
}
#endif
#endif
