/* SPDX-License-Identifier: MIT */
/* Texts and lists of ids that come bit by bit: what is final is given out at once, the rest is kept.
 *
 *     dstok_stream *stream;
 *     dstok_tokens t;
 *     int status = dstok_stream_new(tok, NULL, NULL, &stream, NULL);
 *     while (status == DSTOK_OK && (n = fread(bytes, 1, sizeof bytes, file)) > 0) {
 *         status = dstok_stream_feed(stream, bytes, n, &t, NULL);
 *         if (status == DSTOK_OK) fwrite(t.ids, sizeof *t.ids, t.n, out);
 *     }
 *     if (status == DSTOK_OK) status = dstok_stream_finish(stream, &t, NULL);
 *     if (status == DSTOK_OK) fwrite(t.ids, sizeof *t.ids, t.n, out);
 *
 * docs/streams.md says how it is done, docs/examples/stream.c is a program around it. */
#ifndef DSTOK_STREAM_H
#define DSTOK_STREAM_H

#include <dstok/base.h>
#include <dstok/tokenizer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------ encoding */

/** A text of any length that is encoded while it comes. Ids, spans (bytes of the whole text, 64 bits), flags and
 *  the report are those of one dstok_encode_view for the whole text, however it is cut into feeds.
 *
 *  The text is kept until it is sure what its tokens are: as a rule the last 64 KB. Where it has no place that
 *  can be cut (a word of a megabyte), more is kept, up to max_held bytes. What cannot be decided within
 *  them is E_LIMIT, never a wrong id. docs/streams.md says which texts these are: long runs of letters, blanks or
 *  signs are not among them where a scanner of ours cuts the text or nothing does (dstok_info.scanner is not "pcre2").
 *
 *  Errors are those of the whole text, too, but of several errors the first in the text is met, and tokens before
 *  it have been given out.
 *
 *  Memory, m being max_held, f the longest feed: the text kept, m; where the vocabulary has a normaliser, or ill-formed
 *  bytes are replaced, twice what they make of it and 96 bytes for each change; 32 bytes a token (6 with ids_only)
 *  of at most f + m tokens; 48 bytes a byte of the longest pretoken; and the cache (encoder->cache_bytes). As a
 *  rule no more than 64 KB + f are kept: with the defaults and feeds of 64 KB that is below 20 MB, 14 of them the
 *  cache. Where a text makes a stream keep all of m and change each byte, it is below 256 MB. */
typedef struct dstok_stream dstok_stream;

#define DSTOK_STREAM_HELD ((size_t)1 << 20) /**< default of max_held */

/** How to make a stream. Zero is the default of every field.
 *  max_held  bytes of text that are kept at most; 0: DSTOK_STREAM_HELD. At least 64 KB, at most DSTOK_MAX_INPUT / 4
 *  encoder   how its encoder is made, read during dstok_stream_new; NULL: the defaults */
typedef struct dstok_stream_options {
    size_t struct_size;
    size_t max_held;
    const dstok_encoder_options *encoder;
} dstok_stream_options;
#define DSTOK_STREAM_OPTIONS_INIT                                                                            \
    { sizeof(dstok_stream_options), 0, NULL }

/** Make a stream. tok must outlive it.
 *  encode   [in]  as for dstok_encode_view; NULL = defaults. `allowed` is copied. max_tokens counts over the whole
 *      text: feeds behind them are not looked at
 *  options  [in]  NULL = defaults
 *  out      [out] untouched on failure
 *  Returns: DSTOK_OK; E_INVAL (NULL, struct_size, options); E_UNSUPPORTED (DSTOK_SPANS_HF: they need the whole text;
 *      DSTOK_INVALID_RAW with a rank file: there one bad byte changes how all behind it is cut; DSTOK_INVALID_REPLACE
 *      where an added token holds U+FFFD); what dstok_encoder_new_with returns; E_NOMEM.
 *  Owns: out, to be given to dstok_stream_free.   Threads: safe.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_stream_new(const dstok_tokenizer *tok,
                                                        const dstok_encode_options *encode,
                                                        const dstok_stream_options *options,
                                                        dstok_stream **out, dstok_error *err);

/** Free a stream; NULL allowed.   Since: 0.1 */
DSTOK_API void dstok_stream_free(dstok_stream *stream);

/** Go on with the text.
 *  bytes  [in]  shape (len,); may end anywhere, also inside of a character; NULL allowed with len = 0
 *  out    [out] the tokens that are final now and were not given out before, maybe none; valid until the next call;
 *      untouched on failure
 *  Returns: DSTOK_OK; E_STATE (after a failure: dstok_stream_reset first); E_INVAL (NULL); E_LIMIT (max_held is too
 *      small for what stands at err->offset); what dstok_encode_view returns, err->offset in bytes of the whole text.
 *  Owns: the stream owns the arrays.   Threads: one call at a time.
 *  Cost: as dstok_encode_view for the bytes, whatever the sizes of feeds.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_stream_feed(dstok_stream *stream, const void *bytes, size_t len,
                                                         dstok_tokens *out, dstok_error *err);

/** End the text: the rest of its tokens. The next feed begins a new text; dstok_stream_report still tells of this one.
 *  Returns, Owns, Threads: as dstok_stream_feed.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_stream_finish(dstok_stream *stream, dstok_tokens *out,
                                                           dstok_error *err);

/** Drop the text: the next feed begins a new one, also after a failure.   Since: 0.1 */
DSTOK_API void dstok_stream_reset(dstok_stream *stream);

/** What dstok_encode_report would say of the text up to the last token given out.
 *  Owns: lives until the next call.   Since: 0.1 */
DSTOK_API const dstok_report *dstok_stream_report(const dstok_stream *stream);

/* ------------------------------------------------------------------------------------------ decoding */

/** A list of ids that is decoded while it comes: what was given out is never taken back, and all of it one behind
 *  the other is what dstok_decode makes of the whole list.
 *
 *  Each piece given out ends with a whole character, so that it can be shown: up to three bytes of one that is not
 *  complete are kept, in all modes. So is a run of byte tokens ("<0xE4>") where the mode or the vocabulary
 *  looks at all of it together (DSTOK_DECODE_REPLACE), to its end; and the last token where the vocabulary shows the
 *  last one in its own way (CLIP).
 *
 *  Memory: what one push gives out, and 4 bytes for each id kept. */
typedef struct dstok_decoder dstok_decoder;

/** Make a decoder. tok must outlive it.
 *  mode          [in]  DSTOK_DECODE_*
 *  skip_special  [in]  non-zero: tokens marked special give nothing
 *  out           [out] untouched on failure
 *  Returns: DSTOK_OK; E_INVAL (NULL, unknown mode); E_NOMEM.
 *  Owns: out, to be given to dstok_decoder_free.   Threads: safe.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_decoder_new(const dstok_tokenizer *tok, int mode,
                                                         int skip_special, dstok_decoder **out,
                                                         dstok_error *err);

/** Free a decoder; NULL allowed.   Since: 0.1 */
DSTOK_API void dstok_decoder_free(dstok_decoder *decoder);

/** Go on with the list.
 *  ids    [in]  shape (n,); NULL allowed with n = 0
 *  bytes  [out] what is final now and was not given out before: n_bytes of it, whole characters as far as the
 *      tokens hold such; valid until the next call; untouched on failure
 *  Returns: DSTOK_OK; E_BAD_ID (lossless and strict: err->offset = number of the id in the whole list, from 0); E_UTF8
 *      (strict: err->offset = byte of the whole result); E_INVAL (NULL); E_NOMEM. After a failure the
 *      decoder is as before the call: the ids of it were not taken.
 *  Owns: the decoder owns the bytes.   Threads: one call at a time.   Cost: O(n + bytes).   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_decoder_push(dstok_decoder *decoder, const uint32_t *ids,
                                                          size_t n, const void **bytes, size_t *n_bytes,
                                                          dstok_error *err);

/** End the list: what was kept. A character that is not complete comes as it is (lossless, raw), as U+FFFD
 *  (replace), or is E_UTF8 (strict). The next push begins a new list.
 *  Returns, Owns: as dstok_decoder_push.   Since: 0.1 */
DSTOK_API DSTOK_NODISCARD dstok_status dstok_decoder_finish(dstok_decoder *decoder, const void **bytes,
                                                            size_t *n_bytes, dstok_error *err);

/** Drop what is kept: the next push begins a new list.   Since: 0.1 */
DSTOK_API void dstok_decoder_reset(dstok_decoder *decoder);

/** Unknown ids of the list so far (modes replace and raw).
 *  first  [out] the number of the first one in the list; DSTOK_NO_OFFSET: there is none; or NULL
 *  Returns how many. Those of a list stay until the next push.   Since: 0.1 */
DSTOK_API uint64_t dstok_decoder_unknown(const dstok_decoder *decoder, uint64_t *first);

#ifdef __cplusplus
}
#endif
#endif
